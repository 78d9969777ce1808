"""``sottovoce reproduce``: a published experiment, with figure and data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InvalidParameter
from ..foundation.files import written_together
from .kinds import FileName, Whole
from .output import check_place, command_line, json_option, print_json, print_table, say, seed_option, write_figure

if TYPE_CHECKING:
    from ..experiments.panels import PanelResult
    from ..foundation.arguments import Array
    from ..graphs.graph import Graph

NO_NOISE = "no noise"
COLUMNS = ["curve", "φ is", "relative error", "1e-8 at step", "mean off by"]


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="Every experiment.")
@click.option("--list", "only_list", is_flag=True, help="Say which there are.")
@click.option(
    "--replicas", type=Whole(1), default=1, show_default=True,
    help="More than 1: medians with 10–90 % bands instead of the paper's single runs.",
)  # fmt: skip
@click.option(
    "--fresh", type=Whole(0), default=100, show_default=True,
    help="Fresh graphs and values to place the runs among; 0: none.",
)  # fmt: skip
@seed_option
@click.option(
    "--out", type=FileName(), default=Path("out"), show_default=True,
    help="Folder for figures and data.",
)  # fmt: skip
@json_option
def command(
    names: tuple[str, ...], everything: bool, only_list: bool, replicas: int, fresh: int, seed: int, out: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """Redo a published experiment: PNG, SVG and the numbers as CSV.

    Beside it, the same on fresh graphs and private values: a share of 50 % of them that does better than a single run
    means that the run is typical; near 0 % the run is an easy one, near 100 % a hard one.

    \b
    sottovoce reproduce figure-1
    sottovoce reproduce figure-1 --replicas 200 --out ensembles
    """
    from ..experiments.paper import EXPERIMENTS

    if only_list and as_json:
        print_json({each.name: {"title": each.title, "source": each.source} for each in EXPERIMENTS.values()})
        return
    if only_list:
        for experiment in EXPERIMENTS.values():
            click.echo(experiment.name)
            say(f"{experiment.title} ({experiment.source})", bullet="    ")
        return
    chosen = list(EXPERIMENTS) if everything else list(names)
    if not chosen:
        raise InvalidParameter(f"NAME must be one of {', '.join(EXPERIMENTS)} (or use --all)")
    unknown = [name for name in chosen if name not in EXPERIMENTS]
    if unknown:
        raise InvalidParameter(f"NAME must be one of {', '.join(EXPERIMENTS)}, got {unknown[0]!r}")
    how: dict[str, Any] = {"seed": seed, "replicas": replicas, "fresh": fresh, "out": out, "quiet": as_json}
    payload = {name: run_and_write(name, **how) for name in chosen}
    if as_json:
        print_json(payload)


def run_and_write(name: str, *, seed: int, replicas: int, fresh: int, out: Path, quiet: bool) -> dict[str, Any]:
    """Run one experiment, write its files, print a table per panel; return the same for JSON."""
    from ..experiments.paper import BASELINE, EXPERIMENTS, reproduce
    from ..experiments.provenance import Provenance
    from ..plotting.ensembles import draw_beside
    from ..plotting.runs import draw_histogram, draw_panel, draw_rate
    from ..plotting.style import new_figure

    check_place(out)
    experiment = EXPERIMENTS[name]
    figure, all_axes = new_figure(sum(1 + (panel.histogram is not None) for panel in experiment.panels))
    axes = iter(all_axes)
    panels: dict[str, Any] = {}
    results: list[PanelResult] = []
    for result in reproduce(name, seed=seed, replicas=replicas, fresh=fresh):
        results.append(result)
        panel, graph = result.panel, result.graph
        axis = next(axes)
        draw_panel(axis, result.runs, title=panel.title, baseline=BASELINE)
        draw_beside(axis, result.fresh)
        for line in panel.lines:
            draw_rate(axis, line.factor(graph), panel.num_steps, label=line.label)
        if panel.histogram is not None:
            spread = panel.histogram
            draw_histogram(next(axes), spread.values(graph), title=spread.title, unit=spread.unit)
        rows = describe(result)
        ranks = result.ranks() if fresh else []
        panels[panel.name] = {"graph": graph.name, "rows": rows, "published": panel.published, "fresh": ranks}
        if not quiet:
            _print_panel(result, rows)
            _print_fresh(ranks, fresh)
    made = Provenance.of(experiment=experiment.source, seed=seed, replicas=replicas, fresh=fresh).by(command_line())
    with written_together(out) as drafts:
        files = _write_tables(results, drafts / name) + write_figure(figure, drafts / name, made)
    files = [out / file.name for file in files]
    if not quiet:
        say(f"{experiment.source}. Wrote:")
        for path in files:
            click.echo(f"  {path}")
    told = {"source": experiment.source, "seed": seed, "replicas": replicas, "panels": panels, "files": files}
    return told | {"provenance": made.as_dict()}


def _write_tables(results: list[PanelResult], stem: Path) -> list[Path]:
    files = []
    for result in results:
        made = result.provenance.by(command_line())
        path = stem.with_name(f"{stem.name}-{result.panel.name}.csv")
        result.write_csv(path, made)
        files.append(path)
        if result.fresh:
            path = path.with_name(f"{path.stem}-fresh.csv")
            result.write_fresh_csv(path, made)
            files.append(path)
    return files


def describe(result: PanelResult) -> list[dict[str, Any]]:
    """Per curve: how far it got, when it passed 1e−8, where φ stands against the threshold, how far the mean is off."""
    import numpy as np

    rows = []
    for label, run in result.runs:
        error = np.nanmedian(np.atleast_2d(run.relative_error), axis=0)
        passed = np.flatnonzero(error <= 1e-8)
        rows.append(
            {
                "curve": label,
                "decay": _against_threshold(getattr(run.method, "noise_decay", None), result.graph),
                "final_relative_error": float(error[-1]),
                "first_step_at_1e-8": int(run.steps[passed[0]]) if len(passed) else None,
                "mean_offset": float(np.median(np.abs(np.atleast_1d(run.mean_offset)))),
            }
        )
    return rows


def _against_threshold(decay: object, graph: Graph) -> str:
    """Whether φ is at most √(1 − α/(2 d_i)), beyond which node i slows the guaranteed rate."""
    import numpy as np

    from ..experiments.paper import free_decays

    if decay is None:
        return NO_NOISE
    above = int((np.asarray(decay) > free_decays(graph)).sum())
    if above == 0:
        return "free"
    return "too slow" if above == graph.num_nodes else f"slow at {above} of {graph.num_nodes}"


def _between(values: Array) -> str:
    """One number, or from where to where."""
    low, high = float(values.min()), float(values.max())
    return f"{low:.3f}" if high - low < 1e-9 else f"{low:.3f} to {high:.3f}"


def _print_panel(result: PanelResult, rows: list[dict[str, Any]]) -> None:
    from ..experiments.paper import free_decays
    from ..theory import threshold_decay

    noisy = any(row["decay"] != NO_NOISE for row in rows)

    def cells(row: dict[str, Any]) -> list[str]:
        passed = row["first_step_at_1e-8"]
        return [
            row["curve"],
            *([row["decay"]] if noisy else []),
            f"{row['final_relative_error']:.1e}",
            "–" if passed is None else f"{passed:,}",
            f"{row['mean_offset']:.1e}",
        ]

    title = f"{result.panel.title}, {result.panel.num_steps:,} steps"
    notes = [f"the paper: {result.panel.published}", ""]
    if noisy:
        free, real = free_decays(result.graph), threshold_decay(result.graph, form="resolvent")
        title += f"; threshold φ = {_between(free)}"
        notes.insert(
            0, f"free: the proved rate is left alone; up to φ = {_between(real)} surely a run's own rate as well"
        )
    columns = COLUMNS if noisy else [column for column in COLUMNS if column != COLUMNS[1]]
    print_table(title, columns, [cells(row) for row in rows], notes=notes)


def _print_fresh(ranks: list[dict[str, Any]], count: int) -> None:
    """Where our run and the paper's lie among fresh problems."""
    if not ranks:
        return

    def cells(row: dict[str, Any]) -> list[str]:
        paper, theirs = row["published"], row["published_rank"]
        return [
            row["curve"],
            f"{row['step']:,}",
            f"{row['fresh_median']:.1e}",
            f"{row['fresh_low']:.1e}–{row['fresh_high']:.1e}",
            f"{100 * row['ours_rank']:.0f} %",
            "" if paper is None else f"{paper:.0e}",
            "" if theirs is None else f"{100 * theirs:.0f} %",
        ]

    columns = ["curve", "step", "median", "10–90 %", "< ours", "paper", "< paper"]
    notes = ["<: share of them that is below our run, and below the level read from the paper's plot", ""]
    print_table(f"The same on {count} fresh problems", columns, [cells(row) for row in ranks], notes=notes)
