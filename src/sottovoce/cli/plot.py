"""``sottovoce plot``: figures straight from a sweep's dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import InvalidParameter
from .output import json_option, print_json, write_figure

if TYPE_CHECKING:
    import pandas


@click.command()
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--by", multiple=True, help="Curves: a column to tell them apart; may be given several times. [default: method]"
)
@click.option(
    "--against", default="step", show_default=True, type=click.Choice(["step", "transmissions"]),
    help="Curves: what to put on the axis.",
)  # fmt: skip
@click.option("--heatmap", is_flag=True, help="A map over two columns instead of curves.")
@click.option("--x", "x_column", default="noise_decay", show_default=True, help="Map: column across.")
@click.option("--y", "y_column", default="noise_std", show_default=True, help="Map: column up.")
@click.option(
    "--steps-to", type=float, help="Map: colour by steps to this relative error. [default: what the observer infers]"
)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("out/sweep"), show_default=True,
    help="Write FILE.png and FILE.svg.",
)  # fmt: skip
@json_option
def command(
    dataset: Path, by: tuple[str, ...], against: str, heatmap: bool, x_column: str, y_column: str,
    steps_to: float | None, out: Path, as_json: bool,
) -> None:  # fmt: skip
    """Draw the runs of a sweep.

    \b
    sottovoce plot results --by noise_decay
    sottovoce plot results --heatmap --steps-to 1e-6
    """
    from ..experiments.store import SweepStore
    from ..plotting.sweeps import plot_curves, plot_heatmap

    frame = SweepStore(dataset).table().to_pandas()
    if heatmap:
        figure = plot_heatmap(frame, x_column, y_column, accuracy=steps_to, threshold=_threshold(frame))
    else:
        figure = plot_curves(frame, by or ("method",), x=against)
    written = write_figure(figure, out)
    if as_json:
        print_json({"files": written})
    else:
        click.echo("wrote " + ", ".join(str(path) for path in written))


def _threshold(frame: pandas.DataFrame) -> tuple[float, float]:
    """Smallest and largest free decay of the one graph in the dataset."""
    from ..methods import NoiseInsertion
    from ..scenario.graphs import parse_graph

    graphs = frame[frame.status != "failed"].graph.unique()
    if len(graphs) != 1:
        raise InvalidParameter(f"a map is of one graph; the dataset has {len(graphs)}: {', '.join(sorted(graphs))}")
    free = NoiseInsertion.largest_free(parse_graph(graphs[0]), noise_std=1.0).noise_decay
    return float(free.min()), float(free.max())  # type: ignore[union-attr]
