"""Rows of measurements, for people and for files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sottovoce.experiments.bench import Measurement


def show(measurements: Iterable[Measurement]) -> list[dict[str, Any]]:
    """Print each as it comes; return them for a file."""
    rows = []
    for row in measurements:
        rows.append(row.as_dict())
        print(line(rows[-1]), flush=True)
    return rows


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
