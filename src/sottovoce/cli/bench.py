"""``sottovoce bench``: how fast this machine runs it, as ratios within one run."""

from __future__ import annotations

import click

from .output import json_option, print_json, print_table


@click.command()
@click.option("--large", is_flag=True, help="Also graphs of 10⁶ and 10⁷ nodes: minutes, under 3 GB.")
@json_option
def command(large: bool, as_json: bool) -> None:
    """Measure a step beside a Python loop, a Numba loop and C, in turns and in processor time."""
    from ..experiments.bench import machine, measure
    from ..foundation.progress import Progress

    rows = []
    with Progress(25 if large else 19, "measuring", report=False if as_json else None) as progress:
        for row in measure(large=large):
            rows.append(row)
            progress.at(len(rows))
    about = machine()
    if as_json:
        print_json({"machine": about, "rows": [row.as_dict() for row in rows]})
        return
    cells = [
        (r.name, f"{r.value:,.1f}", f"{r.worst:,.1f}", "" if r.ratio is None else f"{r.ratio:,.2f} × {r.compared_with}")
        for r in rows
    ]
    print_table(f"{about['cpu']}, {about['cores']} cores", ["what", "ns a step", "worst", "ratio"], cells)
