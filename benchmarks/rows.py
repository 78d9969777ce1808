"""Rows of measurements, for people and for files, and the memory of a process. Nothing heavy is imported here."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.experiments.bench import Measurement


def main(measurements: Iterable[Measurement]) -> None:
    """Print each as it comes; with ``--json FILE``, write them there as well."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path, metavar="FILE")
    target = parser.parse_args().json
    rows = []
    for row in measurements:
        rows.append(row.as_dict())
        print(line(rows[-1]), flush=True)
    if target is not None:
        target.write_text(json.dumps(rows), encoding="utf-8")


def line(row: dict[str, Any]) -> str:
    """One row of text."""
    return f"{row['name']:<64} {value(row):>24} {ratio(row)}"


def value(row: dict[str, Any]) -> str:
    """Best and worst with their unit; one number where they agree."""
    best, worst = (f"{row[key]:,.3g}" if row[key] < 100 else f"{row[key]:,.0f}" for key in ("value", "worst"))
    return f"{best if best == worst else f'{best} … {worst}'} {row['unit']}"


def ratio(row: dict[str, Any]) -> str:
    """The ratio, and what we set out to reach."""
    text = "" if row["ratio"] is None else f"{row['ratio']:,.2f} × {row['compared_with']}"
    return f"{text} (wanted {row['wanted']})".strip() if row["wanted"] else text


def peak_bytes() -> int:
    """The most memory that this process has had.

    Linux lets ``ru_maxrss`` of a new program begin at the size of the process that started it; ``VmHWM`` does not.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
