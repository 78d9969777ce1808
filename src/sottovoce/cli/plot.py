"""``sottovoce plot``: figures straight from a sweep's dataset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import InvalidParameter
from ..foundation.extras import require
from .kinds import FigureName, FileName, Number
from .output import FIGURE_FILES, json_option, print_json, say, write_figure

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


@click.command()
@click.argument("dataset", type=FileName())
@click.option(
    "--by", multiple=True, metavar="COLUMN",
    help="Curves: a column to tell them apart; may be given several times. [default: method]",
)  # fmt: skip
@click.option(
    "--pool", multiple=True, metavar="COLUMN",
    help="Put runs that differ in this column into one band; seeds and replicas always share one. Every other "
    "column that varies gets panels of its own.",
)  # fmt: skip
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only these runs; may be given several times.")
@click.option(
    "--against", default="step", show_default=True, type=click.Choice(["step", "transmissions"]),
    help="Curves: what to put on the axis.",
)  # fmt: skip
@click.option("--heatmap", is_flag=True, help="A map over two columns instead of curves.")
@click.option("--x", "x_column", default="noise_decay", show_default=True, metavar="COLUMN", help="Map: across.")
@click.option("--y", "y_column", default="noise_std", show_default=True, metavar="COLUMN", help="Map: up.")
@click.option(
    "--steps-to", type=Number(), metavar="ERROR",
    help="Map: colour by steps to this relative error. [default: what the observer infers]",
)  # fmt: skip
@click.option(
    "--out", type=FigureName(), default=Path("out/sweep"), show_default=True, metavar="FILE",
    help=FIGURE_FILES,
)  # fmt: skip
@json_option
def command(
    dataset: Path, by: tuple[str, ...], pool: tuple[str, ...], where: tuple[str, ...], against: str, heatmap: bool,
    x_column: str, y_column: str, steps_to: float | None, out: Path, as_json: bool,
) -> None:  # fmt: skip
    """Draw the runs of a sweep.

    \b
    sottovoce plot results --by noise_decay                          a panel for each noise_std
    sottovoce plot results --by noise_decay --where noise_std=1      only those runs
    sottovoce plot results --by noise_decay --pool noise_std         all noise_std in one band
    sottovoce plot results --heatmap --steps-to 1e-6 --out map.pdf   a map for each graph
    """
    require("pandas", "pyarrow", by="a figure of a sweep")
    from ..experiments.arranging import chosen_rows
    from ..experiments.store import SweepStore

    frame = chosen_rows(SweepStore(dataset).table().to_pandas(), dict(map(_setting, where)))
    if frame.empty:
        raise InvalidParameter(f"nothing to draw: no run of {dataset} succeeded")
    if heatmap:
        figure, said = _maps(frame, x_column, y_column, pool, steps_to)
    else:
        figure, said = _curves(frame, by or ("method",), pool, against)
    written = write_figure(figure, out)
    if as_json:
        print_json({"shows": said, "files": written})
    else:
        say(said)
        click.echo("wrote " + ", ".join(str(path) for path in written))


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidParameter(f"--where must be COLUMN=VALUE, got {text!r}")
    return name.strip(), value.strip()


def _curves(frame: pandas.DataFrame, by: Sequence[str], pool: Sequence[str], against: str) -> tuple[Figure, str]:
    from ..experiments.arranging import panels_of
    from ..plotting.sweeps import BAND, MOST, draw_panels, plot_curves, pooled_words

    panels, curves = panels_of(frame, by, pool=pool, most_curves=MOST)
    said = BAND + pooled_words([panel.frame for panel in panels], curves)
    figure, all_axes = draw_panels(len(panels), sentence=said)
    for panel, axes in zip(panels, all_axes, strict=True):
        axes.set_title(panel.title or " ", fontsize=10)
        plot_curves(panel.frame, curves, axes, x=against)
    return figure, _counted(said, panels)


def _maps(frame: pandas.DataFrame, x: str, y: str, pool: Sequence[str], accuracy: float | None) -> tuple[Figure, str]:
    from ..experiments.arranging import panels_of, steps_to
    from ..plotting.sweeps import draw_panels, plot_map, pooled_words

    panels, axes_of_map = panels_of(frame, (x, y), pool=pool)
    if accuracy is None:
        tables = [panel.frame.drop_duplicates("run") for panel in panels]
        values, label = "posterior_std", "posterior sd of the most exposed node"
    else:
        tables = [steps_to(panel.frame, accuracy) for panel in panels]
        values, label = "step", f"steps to relative error {accuracy:g}"
    known = [float(each) for table in tables for each in table[values].dropna()]
    if not known:
        what = "no run asked for an audit" if accuracy is None else f"no run reached {accuracy:g}"
        raise InvalidParameter(f"nothing to draw: {what}")
    said = f"{label}: median" + pooled_words([panel.frame for panel in panels], axes_of_map)
    figure, all_axes = draw_panels(len(panels), sentence=said)
    for panel, table, axes in zip(panels, tables, all_axes, strict=True):
        if panel.title:
            axes.set_title(panel.title, fontsize=10)
        plot_map(
            table, x, y, axes, values=values, label=label, limits=(min(known), max(known)),
            thresholds=_thresholds(panel.frame) if x == "noise_decay" else (),
        )  # fmt: skip
    return figure, _counted(said, panels)


def _counted(said: str, panels: Sequence[object]) -> str:
    return said if len(panels) == 1 else f"{len(panels)} panels; {said}"


def _thresholds(frame: pandas.DataFrame) -> tuple[float, ...]:
    """Smallest and largest free decay of the graph; none where there are several, or one for each seed."""
    from ..methods import NoiseInsertion
    from ..scenario.graphs import parse_graph

    graphs = frame.graph.unique()
    if len(graphs) != 1 or "*" in graphs[0]:
        return ()
    free = NoiseInsertion.largest_free(parse_graph(graphs[0]), noise_std=1.0).noise_decay
    return float(free.min()), float(free.max())  # type: ignore[union-attr]
