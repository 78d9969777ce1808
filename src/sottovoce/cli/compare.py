"""``sottovoce compare``: any methods on one graph, as a table and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .kinds import FileName, Number, Whole
from .output import (
    command_line,
    graph_option,
    json_option,
    load_option,
    node_named,
    plot_option,
    print_json,
    print_table,
    say,
    seed_option,
    values_option,
    without_suffix,
    write_figure,
)
from .specs import MethodOption

if TYPE_CHECKING:
    from ..experiments import Comparison, Provenance


TABLES = (
    ("How fast", ["method", "steps", "messages", "relative error", "factor"]),
    ("At equal privacy or accuracy", ["method", "noise ×", "accuracy", "messages needed"]),
    ("What a curious neighbour learns", ["method", "prior left", "worst", "ε"]),
)
PATH = FileName(dir_okay=False)
SHARE = Number(low=0.0, high=1.0, low_open=True, high_open=True)


@click.command()
@graph_option
@click.option(
    "--method", "-m", "method_specs", cls=MethodOption, multiple=True, metavar="SPEC",
    help="name:parameter=value,…; repeat for more.  [default: one setting of a few that matter]",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="One setting of every method; the first time it takes minutes.")
@load_option
@click.option(
    "--steps", type=Whole(1), default=10_000, show_default=True,
    help="Pairwise exchanges; rounds get as many as the same messages pay for.",
)  # fmt: skip
@click.option(
    "--budget", type=click.Choice(["messages", "steps"]), default="messages", show_default=True,
    help="What all methods get the same number of.",
)  # fmt: skip
@click.option("--replicas", type=Whole(1), default=20, show_default=True, help="Independent runs of each.")
@click.option(
    "--prior-left", "targets", type=SHARE, multiple=True,
    help="Equal privacy: multiply each method's noise until curious nodes are left with this share of what they did "
    "not know; repeat for more.",
)  # fmt: skip
@click.option(
    "--prior-left-of", type=click.Choice(["median", "worst"]), default="median", show_default=True,
    help="Over pairs of a curious node and a neighbour.",
)  # fmt: skip
@click.option(
    "--accuracy", type=Number(), help="Equal accuracy: count messages until a run stays within this of the mean."
)
@seed_option
@click.option(
    "--observer", "observers", multiple=True,
    help="A curious node, by number or name; repeat for more.  [default: all, or some drawn]",
)  # fmt: skip
@click.option("--schedules", type=Whole(1), default=6, show_default=True, help="In how many they listen.")
@click.option(
    "--heard", type=Whole(1),
    help="For how many messages each way on an edge they listen.  [default: 40; 20 beyond 50 nodes]",
)  # fmt: skip
@click.option("--prior-std", type=Number(), help="Their uncertainty beforehand.  [default: that of the private values]")
@values_option
@plot_option
@click.option("--csv", "csv_file", type=PATH, help="Write every number, unrounded.")
@click.option("--curves", "curves_file", type=PATH, help="Write the curves as CSV.")
@click.option("--latex", "latex_file", type=PATH, help="Write a LaTeX table.")
@click.option("--markdown", "markdown_file", type=PATH, help="Write a Markdown table.")
@json_option
def command(
    graph_spec: str, method_specs: tuple[str, ...], everything: bool, steps: int, budget: str, replicas: int,
    targets: tuple[float, ...], prior_left_of: str, accuracy: float | None, seed: int, observers: tuple[str, ...],
    schedules: int, heard: int | None, prior_std: float | None, values_spec: str, plot_stem: Path | None,
    csv_file: Path | None, curves_file: Path | None, latex_file: Path | None, markdown_file: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Put methods side by side: accuracy, rate, messages, and what curious neighbours learn.

    All get the same number of messages. With --prior-left they also hide equally much, with --accuracy the messages
    that each needs are counted; with both, --plot also draws what privacy costs.

    \b
    sottovoce compare --graph cycle:10 --steps 2000
    sottovoce compare --graph rgg:100:seed=3 -m standard -m mo-murray:noise_std=1,noise_decay=0.9 --plot out/compare
    sottovoce compare --graph cycle:10 --steps 2000 --prior-left 0.8 --accuracy 0.01
    """
    from ..errors import InvalidParameter
    from ..experiments.compare import compare, customary_methods, leading_methods
    from ..scenario.scenario import Scenario

    if everything and method_specs:
        raise InvalidParameter("--all and --method exclude each other")
    asked = Scenario.parse(graph=graph_spec, values=values_spec, methods=method_specs, seed=seed, num_steps=steps)
    graph = asked.graph
    methods = customary_methods(graph) if everything else asked.methods or leading_methods(graph)
    found = compare(
        graph, asked.private_values, methods, num_steps=steps, seed=seed, replicas=replicas, budget=budget,  # type: ignore[arg-type]
        prior_left=targets or None, prior_left_of=prior_left_of, accuracy=accuracy, schedules=schedules,  # type: ignore[arg-type]
        observers=[node_named(graph, node) for node in observers] or None, heard=heard, prior_std=prior_std,
    )  # fmt: skip
    made = found.provenance.by(command_line())
    written: list[Path] = []
    if plot_stem is not None:
        written += _write_figures(found, plot_stem, made)
    for path, write in (
        (csv_file, found.to_csv),
        (curves_file, found.curves_csv),
        (latex_file, found.to_latex),
        (markdown_file, found.to_markdown),
    ):
        if path is not None:
            write(path, provenance=made)
            written.append(path)
    if as_json:
        head = {"graph": graph.name, "num_nodes": graph.num_nodes, "num_edges": graph.num_edges, "seed": seed}
        observing = [graph.label(node) for node in found.observers.nodes]
        told = {**head, "replicas": replicas, "observers": observing, "rows": found.records(), "notes": found.notes}
        print_json({**told, "files": written, "provenance": made.as_dict()})
        return
    _print(found)
    for path in written:
        click.echo(f"wrote {path}")


def _write_figures(found: Comparison, path: Path, made: Provenance) -> list[Path]:
    written = write_figure(found.plot(), path, made)
    if any(found.calibrations):
        bare = without_suffix(path, ".png", ".svg", ".pdf")
        beside = bare.with_name(f"{bare.name}-frontier{path.name.removeprefix(bare.name)}")
        written += write_figure(found.plot_frontier(), beside, made)
    return written


def _print(found: Comparison) -> None:
    headings, cells = found.cells()
    for title, wanted in TABLES:
        columns = [column for column in wanted if column in headings]
        if columns != ["method", "accuracy"]:  # nothing was asked to be equal
            places = [headings.index(column) for column in columns]
            print_table(title, columns, [[row[k] for k in places] for row in cells])
    notes = [f"{run.method.label()}: {note}" for run in found.runs for note in run.notes]
    for line in (found.caption, *found.notes, *dict.fromkeys(notes)):
        say(line)
