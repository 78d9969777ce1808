"""``sottovoce frontier``: what privacy costs in time, at equal accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .kinds import FileName, Number, Whole
from .output import (
    command_line,
    graph_option,
    json_option,
    plot_option,
    print_json,
    print_table,
    seed_option,
    write_figure,
)

if TYPE_CHECKING:
    from ..privacy import Frontier, Point

COLUMNS = ["method", "σ", "φ", "steps", "± near", "± worst", "ε", "best"]


@click.command()
@graph_option
@click.option(
    "--accuracy", type=Number(), default=0.01, show_default=True,
    help="Wanted root-mean-square deviation of the values from the true mean.",
)  # fmt: skip
@click.option(
    "--noise-std", "stds", type=Number(), multiple=True, default=[0.3, 1.0, 3.0], show_default=True,
    help="σ of noise insertion; repeat for more.",
)  # fmt: skip
@click.option(
    "--noise-decay", "decays", type=Number(), multiple=True, default=[0.5, 0.8, 0.9, 0.95], show_default=True,
    help="φ of noise insertion and of the Laplace methods; repeat for more.",
)  # fmt: skip
@click.option(
    "--prior-std",
    type=Number(),
    default=1.0,
    show_default=True,
    help="Spread of the values, and what observers believe.",
)
@click.option("--max-steps", type=Whole(1), default=20_000, show_default=True, help="Give up on a choice beyond it.")
@click.option("--runs", type=Whole(1), default=4, show_default=True, help="Runs that are audited for each choice.")
@seed_option
@plot_option
@click.option("--csv", "csv_file", type=FileName(dir_okay=False), help="Write the points there.")
@json_option
def command(
    graph_spec: str, accuracy: float, stds: tuple[float, ...], decays: tuple[float, ...], prior_std: float,
    max_steps: int, runs: int, seed: int, plot_stem: Path | None, csv_file: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Steps needed and privacy kept by noise insertion over a grid of σ and φ, beside methods whose noise stays.

    All choices reach the same accuracy. "± near" is what a value is known to by a neighbour, averaged over all;
    "± worst" by whoever knows any value best. "best" marks choices that no other beats in both time and privacy.

    \b
    sottovoce frontier --graph cycle:10 --accuracy 0.02 --plot frontier
    """
    from ..experiments.provenance import Provenance
    from ..privacy import frontier
    from ..scenario.graphs import parse_graph

    graph = parse_graph(graph_spec, seed=seed)
    found = frontier(
        graph, noise_stds=stds, noise_decays=decays, accuracy=accuracy, prior_std=prior_std, max_steps=max_steps,
        runs=runs, seed=seed,
    )  # fmt: skip
    grid = {"noise_std": list(stds), "noise_decay": list(decays), "max_steps": max_steps, "runs": runs}
    made = Provenance.of(graph, seed=seed, accuracy=accuracy, prior_std=prior_std, **grid).by(command_line())
    written = [] if plot_stem is None else write_figure(found.plot(), plot_stem, made)
    if csv_file is not None:
        found.to_csv(csv_file, comments=made.comments())
        written.append(csv_file)
    efficient = found.efficient()
    if as_json:
        asked = {"graph": graph.name, "accuracy": accuracy, "prior_std": prior_std, "seed": seed, "runs": runs}
        points = [dict(vars(point)) | {"efficient": point in efficient} for point in found.points]
        print_json({**asked, "points": points, "files": written, "provenance": made.as_dict()})
        return
    title = f"{graph.name}, root-mean-square error {accuracy:g}, values ± {prior_std:g}"
    print_table(title, COLUMNS, [_cells(point, efficient) for point in found.points], notes=_notes(found, written))


def _cells(point: Point, efficient: list[Point]) -> list[str]:
    return [
        point.method,
        f"{point.noise_std:.3g}",
        f"{point.noise_decay:g}",
        "never" if point.steps is None else f"{point.steps:,}",
        f"{point.neighbour_std:.3g}",
        f"{point.worst_std:.3g}",
        "" if point.epsilon is None else f"{point.epsilon:.3g}",
        "•" if point in efficient else "",
    ]


def _notes(found: Frontier, written: list[Path]) -> list[str]:
    given_up = sum(point.steps is None for point in found.points)
    return [
        "Rounds count as as many steps as exchanges send the same number of messages.",
        "ε: of all messages together, for two values one prior deviation apart; exact methods have none.",
        *([f"{given_up} choices did not get there in --max-steps."] if given_up else []),
        *(f"wrote {path}" for path in written),
    ]
