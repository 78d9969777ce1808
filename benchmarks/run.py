"""All benchmarks in one run, their numbers in a file, and the page of the documentation made from it.

    python benchmarks/run.py                    everything (`make bench`); half an hour
    python benchmarks/run.py --skip peer        some of it; the page says what is missing
    python benchmarks/run.py --page             only the page, from the numbers that are there

`gpu.py` is not part of it: it needs an NVIDIA device. Its numbers are in results/gpu-h200.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_simulation
import bench_sweeps
import page
from rows import show

from sottovoce.experiments.bench import machine

HERE = Path(__file__).parent
NUMBERS = HERE / "results" / "cpu.json"


def _graphs() -> list[dict[str, Any]]:
    target = HERE / "results" / "graphs.part"
    subprocess.run([sys.executable, HERE / "graphs.py", "--json", target], check=True)
    rows: list[dict[str, Any]] = json.loads(target.read_text(encoding="utf-8"))
    target.unlink()
    return rows


def _printed(script: str) -> Callable[[], str]:
    """What a script prints; that it failed is a result as well."""

    def run() -> str:
        done = subprocess.run([sys.executable, HERE / script], capture_output=True, text=True, check=False)
        print(done.stdout, flush=True)
        why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        failed = f"\n{script} failed: {why}" if done.returncode else ""
        return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines()) + failed

    return run


PARTS: dict[str, Callable[[], Any]] = {
    "simulation": lambda: show(bench_simulation.rows()),
    "sweeps": lambda: show(bench_sweeps.rows()),
    "graphs": _graphs,
    "theory": _printed("bench_theory.py"),
    "privacy": _printed("bench_privacy.py"),
    "peer": _printed("bench_peer.py"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip", nargs="*", default=[], choices=list(PARTS))
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    if not arguments.page:
        load = os.getloadavg()[0]
        numbers: dict[str, Any] = {"machine": machine() | {"load": round(load, 1)}}
        for name, part in PARTS.items():
            if name not in arguments.skip:
                print(f"== {name}", flush=True)
                numbers[name] = part()
                numbers["machine"]["load at the end"] = round(os.getloadavg()[0], 1)
                NUMBERS.write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page.PAGE.write_text(page.render(json.loads(NUMBERS.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"wrote {page.PAGE}")


if __name__ == "__main__":  # sweeps start processes that import this file
    main()
