"""``sottovoce bench``: how fast this machine runs it, as ratios within one run."""

from __future__ import annotations

import click

from .output import json_option, print_json, print_table


@click.command()
@click.option("--large", is_flag=True, help="Also graphs of 10⁶ and 10⁷ nodes: minutes, under 3 GB.")
@json_option
def command(large: bool, as_json: bool) -> None:
    """Measure nanoseconds per step, beside a NumPy loop and beside the same steps without noise, in one run."""
    from ..experiments.bench import machine, measure
    from ..foundation.progress import Progress

    rows = []
    with Progress(20 if large else 16, "measuring", report=False if as_json else None) as progress:
        for row in measure(large=large):
            rows.append(row)
            progress.at(len(rows))
    if as_json:
        print_json({"machine": machine(), "rows": [row.as_dict() for row in rows]})
        return
    about = machine()
    cells = [
        (r.name, f"{r.nanoseconds:,.1f}", f"{r.ratio:.2f} × {r.compared_with}" if r.compared_with else "") for r in rows
    ]
    print_table(f"{about['cpu']}, {about['cores']} cores", ["what", "ns a step", "ratio"], cells)
