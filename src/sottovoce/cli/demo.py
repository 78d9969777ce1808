"""``sottovoce demo``: the main job, from nothing to the paper's figure and what it means."""

from __future__ import annotations

from pathlib import Path

import click

from .output import json_option, print_json, seed_option
from .reproduce import run_and_write

EXPLANATION = """\
Each node holds a private number. Pairs of neighbours average, each under noise that it later takes back.
A decay φ up to the threshold √(1 − α/(2d)) of the graph leaves the proved rate as it is ("free"); far below it,
as here, the curves run beside the baseline, which hides nothing at all. Runs are faster than what is proved, so
noise is felt somewhat before the threshold (`sottovoce bound` says from where); beyond it, noise sets the pace.
"Mean off by" is how far the mean of all values still is from the true mean: exactly the noise not yet withdrawn.
"""


@click.command()
@seed_option
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("out"), show_default=True, help="Folder for figure and data."
)
@click.option(
    "--fresh", type=click.IntRange(min=0), default=100, show_default=True,
    help="Fresh graphs and values to place the runs among; 0: none.",
)  # fmt: skip
@json_option
def command(seed: int, out: Path, fresh: int, as_json: bool) -> None:
    """Make Figure 1 of the paper and say what it shows, in under a minute."""
    if not as_json:
        click.echo(EXPLANATION)
    payload = run_and_write("figure-1", seed=seed, replicas=1, fresh=fresh, out=out, quiet=as_json)
    if as_json:
        print_json(payload)
        return
    rows = [row for panel in payload["panels"].values() for row in panel["rows"] if row["decay"] == "free"]
    worst = max(row["mean_offset"] for row in rows)
    click.echo(
        f"Every φ that leaves the proved rate alone recovered the true mean, off by at most {worst:.1e} "
        "(private values are in [0, 1])."
    )
    click.echo(f"The figure: {out / 'figure-1.png'}")
