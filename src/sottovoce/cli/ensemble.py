"""``sottovoce ensemble``: methods on many problems, and how much of the spread comes from where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .kinds import FileName, Whole
from .output import (
    command_line,
    json_option,
    load_option,
    plot_option,
    print_json,
    print_table,
    seed_option,
    values_option,
    write_figure,
)
from .specs import GraphOption, MethodOption

if TYPE_CHECKING:
    from ..experiments import Ensemble

SHORT = {"graph": "graph", "values": "val.", "schedule": "sched."}
"""Column headings that leave room for the names of methods at 80 columns."""
DRAWS = Whole(1)


@click.command()
@click.option(
    "--graph", "graph_spec", cls=GraphOption, default="rgg:100", show_default=True, metavar="SPEC",
    help="A random family without a seed (rgg:100, random-regular:50:3, …) is drawn again for every problem.",
)  # fmt: skip
@values_option
@click.option(
    "--method", "-m", "method_specs", cls=MethodOption, multiple=True, metavar="SPEC", default=["standard"],
    show_default=True,
    help="name:parameter=value,…; repeat for more, on the same problems.",
)  # fmt: skip
@load_option
@click.option("--steps", type=Whole(1), default=6_000, show_default=True, help="Length of every run.")
@click.option("--graphs", type=DRAWS, help="Graphs to draw.  [default: 250, or 1 if they do not vary]")
@click.option("--value-draws", type=DRAWS, help="Sets of private values for each graph.  [default: 2]")
@click.option("--schedules", type=DRAWS, help="Runs of each problem.  [default: 2]")
@seed_option
@plot_option
@click.option("--csv", "csv_file", type=FileName(dir_okay=False), help="Write every error; one method only.")
@json_option
def command(
    graph_spec: str, values_spec: str, method_specs: tuple[str, ...], steps: int, graphs: int | None,
    value_draws: int | None, schedules: int | None, seed: int, plot_stem: Path | None, csv_file: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Draw graphs, private values and schedules again and again: how typical is one run, and what makes the difference?

    The variance of log₁₀ of the error is split into what differs between graphs, between values on one graph, and
    between schedules of one problem.

    \b
    sottovoce ensemble --graph rgg:100 --steps 6000
    sottovoce ensemble --graph cycle:10 --steps 300 -m standard -m noise-insertion:noise_std=1,noise_decay=0.9
    """
    from ..errors import InvalidParameter
    from ..experiments.ensemble import ensemble

    if csv_file is not None and len(method_specs) > 1:
        raise InvalidParameter(f"--csv writes one ensemble, got {len(method_specs)} methods")
    found = [
        ensemble(
            graph_spec, values_spec, method, num_steps=steps, seed=seed, graphs=graphs, values=value_draws,
            schedules=schedules,
        )
        for method in method_specs
    ]  # fmt: skip
    written: list[Path] = []
    if plot_stem is not None:
        from ..plotting.style import new_figure, tidy

        figure, (axes,) = new_figure()
        tidy(axes, title=f"{graph_spec}, fresh problems", x="step", y="relative error")
        for each in found:
            each.plot(axes)
        written += write_figure(figure, plot_stem, found[0].provenance.by(command_line()))
    if csv_file is not None:
        found[0].to_csv(csv_file, provenance=found[0].provenance.by(command_line()))
        written.append(csv_file)
    if as_json:
        rows = [{"method": each.method, **each.summary()} for each in found]
        print_json({**found[0].provenance.by(command_line()).as_dict(), "rows": rows, "files": written})
        return
    drawn = ", ".join(f"{size} × {source}" for source, size in found[0].problems.sizes.items())
    sources = found[0].problems.varying
    print_table(
        f"{graph_spec}, {values_spec} values, {steps:,} steps: {drawn}",
        ["method", "median", "10–90 %", "±", *(SHORT[source] for source in sources)],
        [_cells(each) for each in found],
        notes=["±: standard deviation of log₁₀ of the error. Then, in %, how much of its square comes from where.",
               *(f"wrote {path}" for path in written)],
    )  # fmt: skip


def _cells(found: Ensemble) -> list[str]:
    told = found.summary()
    parts = told.get("parts", [])
    shares = [f"{100 * part['share']:.0f}" for part in parts] or ["–"] * len(found.problems.varying)
    spread = f"{told['log10_std']:.2f}" if parts else "–"
    return [found.method, f"{told['median']:.1e}", f"{told['low']:.1e}–{told['high']:.1e}", spread, *shares]
