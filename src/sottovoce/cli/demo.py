"""``sottovoce demo``: the main job, from nothing to the paper's figure and what it means."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import click

from ..foundation.extras import require
from .kinds import FileName, Whole
from .output import check_place, json_option, print_json, say, seed_option
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
@click.option("--out", type=FileName(), default=Path("out"), show_default=True, help="Folder for figure and data.")
@click.option(
    "--fresh", type=Whole(0), default=100, show_default=True,
    help="Fresh graphs and values to place the runs among; 0: none.",
)  # fmt: skip
@json_option
def command(seed: int, out: Path, fresh: int, as_json: bool) -> None:
    """Make Figure 1 of the paper and say what it shows, in under a minute."""
    require("matplotlib", "numba", "scipy", by="the demonstration")
    check_place(out)
    if not as_json:
        say(EXPLANATION)
        click.echo()
    payload = run_and_write("figure-1", seed=seed, replicas=1, fresh=fresh, out=out, quiet=as_json)
    if as_json:
        print_json(payload)
        return
    rows = [row for panel in payload["panels"].values() for row in panel["rows"] if row["decay"] == "free"]
    worst = max(row["mean_offset"] for row in rows)
    say(
        f"Every φ that leaves the proved rate alone recovered the true mean, off by at most {worst:.1e} "
        "(private values are in [0, 1])."
    )
    click.echo(f"The figure: {out / 'figure-1.png'}")
    click.echo("\nThree things to try next:")
    for line, what in next_commands(program(), out):
        click.echo(f"  {line}\n      {what}")


def next_commands(name: str, out: Path) -> list[tuple[str, str]]:
    """Commands that work at this moment, and what each does."""
    return [
        (f"{name} audit --graph cycle:10 --observer 0 --steps 200", "what a curious node learns about all others"),
        (
            f"{name} simulate --graph grid:5x5 --steps 5000 --plot {shlex.quote(str(out / 'grid.pdf'))}",
            "a run on another graph, with its figure",
        ),
        (f"{name} plan --graph cycle:10 --relative-error 1e-6 --noise-std 1", "steps and noise for a wanted accuracy"),
    ]


def program() -> str:
    """How this command was called, in a form that works again from here."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m sottovoce"
    found = shutil.which("sottovoce")
    if found is not None and Path(found).resolve() == called.resolve():
        return "sottovoce"
    here = called.resolve() if called.exists() else called
    return shlex.quote(str(here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else here))
