"""``sottovoce compare``: any methods on one graph, as a table and figures."""

from __future__ import annotations

from pathlib import Path

import click

from .output import (
    graph_option,
    json_option,
    load_option,
    node_named,
    plot_option,
    print_json,
    print_table,
    seed_option,
    values_option,
    write_figure,
)
from .specs import MethodOption

FAST = ["method", "steps", "messages", "relative error", "factor", "guaranteed"]
LEARNT = ["method", "prior left", "a neighbour knows"]
PATH = click.Path(path_type=Path, dir_okay=False)


@click.command()
@graph_option
@click.option(
    "--method", "-m", "method_specs", cls=MethodOption, multiple=True, metavar="SPEC",
    help="name:parameter=value,…; repeat for more.  [default: one setting of every method]",
)  # fmt: skip
@load_option
@click.option(
    "--steps", type=click.IntRange(min=1), default=10_000, show_default=True,
    help="Pairwise exchanges; rounds get as many as the same messages pay for.",
)  # fmt: skip
@click.option(
    "--budget", type=click.Choice(["messages", "steps"]), default="messages", show_default=True,
    help="What all methods get the same number of.",
)  # fmt: skip
@click.option("--replicas", type=click.IntRange(min=1), default=20, show_default=True, help="Independent runs of each.")
@seed_option
@click.option("--observer", default="0", show_default=True, help="The curious node, by number or name.")
@click.option("--prior-std", type=float, help="Its uncertainty beforehand.  [default: that of the private values]")
@values_option
@plot_option
@click.option("--csv", "csv_file", type=PATH, help="Write every number, unrounded.")
@click.option("--curves", "curves_file", type=PATH, help="Write the curves as CSV.")
@click.option("--latex", "latex_file", type=PATH, help="Write a LaTeX table.")
@click.option("--markdown", "markdown_file", type=PATH, help="Write a Markdown table.")
@json_option
def command(
    graph_spec: str, method_specs: tuple[str, ...], steps: int, budget: str, replicas: int, seed: int, observer: str,
    prior_std: float | None, values_spec: str, plot_stem: Path | None, csv_file: Path | None,
    curves_file: Path | None, latex_file: Path | None, markdown_file: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Put methods side by side: accuracy, rate, messages, and what a curious neighbour learns.

    \b
    sottovoce compare --graph cycle:10 --steps 2000
    sottovoce compare --graph rgg:100:seed=3 -m standard -m mo-murray:noise_std=1,noise_decay=0.9 --plot out/compare
    """
    from ..experiments.compare import compare, customary_methods
    from ..scenario.scenario import Scenario

    asked = Scenario.parse(graph=graph_spec, values=values_spec, methods=method_specs, seed=seed, num_steps=steps)
    graph = asked.graph
    found = compare(
        graph, asked.private_values, asked.methods or customary_methods(graph), num_steps=steps, seed=seed,
        replicas=replicas, budget=budget, observer=node_named(graph, observer), prior_std=prior_std,  # type: ignore[arg-type]
    )  # fmt: skip
    written: list[Path] = []
    if plot_stem is not None:
        written += write_figure(found.plot(), plot_stem)
    for path, write in (
        (csv_file, found.to_csv),
        (curves_file, found.curves_csv),
        (latex_file, found.to_latex),
        (markdown_file, found.to_markdown),
    ):
        if path is not None:
            write(path)
            written.append(path)
    if as_json:
        head = {"graph": graph.name, "num_nodes": graph.num_nodes, "num_edges": graph.num_edges, "seed": seed}
        print_json(
            {**head, "replicas": replicas, "observer": found.observer, "rows": found.records(), "files": written}
        )
    else:
        headings, cells = found.cells()
        for title, columns in (("How fast", FAST), ("What a curious neighbour learns", LEARNT)):
            places = [headings.index(column) for column in columns]
            print_table(title, columns, [[row[k] for k in places] for row in cells])
        notes = [f"{run.method.label()}: {note}" for run in found.runs for note in run.notes]
        for line in (found.caption, *found.notes, *notes, *(f"wrote {path}" for path in written)):
            click.echo(line)
