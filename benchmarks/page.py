"""The page on speed, made from the numbers of one run: `docs/reference/benchmarks.md`. Nobody edits it by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rows import ratio, value

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "reference" / "benchmarks.md"

OPENING = """# Speed

This page is made by `make bench` from one run, whose numbers are in `benchmarks/results/cpu.json`. What is compared was
measured in turns, round after round, in processor time: a busy machine changes it little, and both sides alike. The
best round is given, then the worst. Wall time is named where it is meant. Memory is the most that a process of its own
had. On your machine: `sottovoce bench`, or `make bench` for all of it.

{machine}

## Simulation

One step is one edge firing: two nodes are read, two numbers drawn (not by standard gossip), one average written.
RGG(100) is the paper's second graph. The other programs are in `sottovoce/experiments/rivals.py`: a Python loop over a
list of tuples with a NumPy array and random numbers drawn in bulk; the same loop compiled by Numba; and C, compiled for
this machine in the same run, with a simpler generator than ours (xoshiro256++ and the polar method). Ours draws the
numbers of a step from its address, so that any step can be replayed alone. That costs plain gossip some speed against
C; the normal numbers of Algorithm 1 cost this C program more.
"""

STARTING = """A new process spends most of that time in NumPy and Numba. Before Numba and small graphs were loaded
without SciPy, importing and making the graph took 0.43 CPU s and the first run 0.39, on a machine of this kind. Kernels
come from the cache; the first time ever, each takes a second or two to compile.
"""

PEERSIM = """## PeerSim

PeerSim is a simulator that many people in this field use. These figures were obtained once, by hand, and are not part
of the run above. {how}

It runs arbitrary protocols written in Java, with events and message delays; ours runs one edge firing after another.
"""


def render(numbers: dict[str, Any]) -> str:
    """The page; a part that was not run is named as missing."""
    parts = [OPENING.format(machine=_machine(numbers["machine"]))]
    parts += _section(numbers, "simulation", _measurements)
    parts += [STARTING, _peersim()]
    parts += _section(numbers, "sweeps", _measurements, "## Sweeps\n")
    parts += _section(numbers, "graphs", _graphs, "## Graphs and their algebraic connectivity\n")
    parts += [_gpu(numbers.get("gpu"))]
    for name, title in (("theory", "Theory"), ("privacy", "Privacy"), ("peer", "Peers"), ("topics", "Topics")):
        parts += _section(numbers, name, _printed, f"## {title}\n")
    return "\n".join(parts)


def _section(numbers: dict[str, Any], name: str, render_part: Any, title: str = "") -> list[str]:
    body = render_part(numbers[name]) if name in numbers else "Not part of the last run.\n"
    return [title, body] if title else [body]


def _machine(about: dict[str, Any]) -> str:
    return (
        f"{about['cpu']}, {about['cores']} cores, Python {about['python']}, NumPy {about['numpy']}, "
        f"Numba {about['numba']}, sottovoce {about['sottovoce']}. Load average: {about['load']} at the beginning, "
        f"{about['load at the end']} at the end; {about['cores']} would be a machine that does nothing else."
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 2), "---"], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def _measurements(rows: list[dict[str, Any]]) -> str:
    return _table(["what", "measured", "ratio"], [[row["name"], value(row), ratio(row)] for row in rows])


def _graphs(rows: list[dict[str, Any]]) -> str:
    def cells(row: dict[str, Any]) -> list[str]:
        if "failed" in row:
            return [row["what"], "", "", f"failed: {row['failed']}"]
        found = f"{row['solver']}, {row['digits']} digits" if "solver" in row else row.get("found", "")
        return [row["what"], f"{row['cpu_s']:.1f} s", f"{row['peak_gb']:.2f} GB", found]

    note = "Each in a process of its own, on one core. {doc}`../how-to/large-graphs` explains.\n"
    return note + "\n" + _table(["what", "CPU", "peak memory", "solver of α"], map(cells, rows))


def _peersim() -> str:
    content = json.loads((HERE / "results" / "peersim.json").read_text(encoding="utf-8"))

    def cells(row: dict[str, Any]) -> list[str]:
        faster = "" if row["ratio"] is None else f"{row['ratio']} × the time of our {row['ours']}"
        return [row["name"], f"{row['best']:g} … {row['worst']:g}", faster]

    table = _table(["what", "ns a step", "ratio"], map(cells, content["rows"]))
    return PEERSIM.format(how=content["how"]) + "\n" + table


def _gpu(measured: dict[str, Any] | None) -> str:
    """The rows of this run, or of a run of its own if there was no device."""
    content = measured or json.loads((HERE / "results" / "gpu-h200.json").read_text(encoding="utf-8"))
    rows = [
        [row["what"], f"{row['steps_per_second'] / 1e9:.2f}·10⁹", f"wanted {row['wanted']}" if "wanted" in row else ""]
        for row in content["rows"]
        if "steps_per_second" in row
    ]
    where = "" if measured else ", in a run of its own: the machine of the other figures has none"
    note = f"By `benchmarks/gpu.py` on an {content['device']}{where}; {{doc}}`../how-to/gpu` explains.\n"
    return "## Simulation on a GPU\n\n" + note + "\n" + _table(["what", "steps a second", ""], rows)


def _printed(text: str) -> str:
    return f"```text\n{text}\n```\n"
