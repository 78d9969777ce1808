"""``sottovoce simulate``: one method on one graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .kinds import FileName, Number, Whole
from .output import (
    graph_option,
    json_option,
    method_option,
    plot_option,
    print_json,
    print_table,
    seed_option,
    values_option,
    without_suffix,
    write_figure,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..simulation import Solution, Stage


ROUNDING = 1e-12
"""Masses below it are not shown: they are rounding, and other ones on every machine."""


@click.command()
@graph_option
@method_option
@click.option("--steps", type=Whole(1), default=10_000, show_default=True, help="How many edges fire.")
@click.option("--replicas", type=Whole(1), default=1, show_default=True, help="Independent runs.")
@seed_option
@values_option
@click.option("--stop-at", type=Number(), help="Stop a replica once its relative error is at most this.")
@click.option("--loss", type=Number(), help="Probability that a message does not arrive.")
@click.option(
    "--stages", "stages_file", type=FileName(),
    help="A TOML file that says how the network changes: a table [[stage]] for each stage.",
)  # fmt: skip
@plot_option
@click.option(
    "--save", "save_file", type=FileName(),
    help="Write the whole run as FILE.npz (private values included).",
)  # fmt: skip
@json_option
def command(
    graph_spec: str, method_spec: str, steps: int, replicas: int, seed: int, values_spec: str, stop_at: float | None,
    loss: float | None, stages_file: Path | None, plot_stem: Path | None, save_file: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Run one method on one graph and say how far it got.

    \b
    sottovoce simulate --graph rgg:100:seed=3 --method noise-insertion:noise_std=1,noise_decay=0.9 --steps 50000
    """
    from ..scenario.scenario import Scenario
    from ..simulation import Status, simulate

    asked = Scenario.parse(graph=graph_spec, values=values_spec, methods=[method_spec], seed=seed, num_steps=steps)
    graph, (method,) = asked.graph, asked.methods
    run = simulate(
        graph, asked.private_values, method, num_steps=steps, seed=seed, replicas=replicas, stop_at=stop_at,
        stages=_stages(loss, stages_file),
    )  # fmt: skip
    written: list[Path] = []
    if plot_stem is not None:
        written += write_figure(run.plot(), plot_stem)
    if save_file is not None:
        stem = without_suffix(save_file, ".npz")
        written.append(stem.with_name(f"{stem.name}.npz"))
        run.save(written[-1])
    if as_json:
        print_json(
            {
                "graph": {"name": graph.name, "num_nodes": graph.num_nodes, "num_edges": graph.num_edges},
                "method": method.label(),
                "seed": run.seed,
                "replicas": replicas,
                "num_steps": run.num_steps,
                "status": str(run.status),
                "notes": run.notes,
                "messages": run.transmissions[-1] if run.steps.size else None,
                "elapsed": run.elapsed,
                "final_relative_error": run.final_relative_error,
                "average": _average(run),
                "true_mean": run.true_mean,
                "mean_offset": run.mean_offset,
                "largest_mass_error": run.mass_error.max(initial=0.0),
                "steps": run.steps,
                "relative_error": run.relative_error,
                "files": written,
            }
        )
    else:
        print_table("", ["", "value"], _summary(run), notes=[*run.notes, *(f"wrote {path}" for path in written)])
    if run.status is Status.INTERRUPTED:
        raise click.Abort


def _average(run: Solution) -> Any:
    """Mean of the values of the nodes that are there, over all replicas: a float, or ``(d,)``."""
    values = run.values if run.replicas > 1 else run.values[None]
    mean = values[:, run.present].mean(axis=(0, 1))
    return float(mean) if run.private_values.ndim == 1 else mean


def _shown(mean: Any) -> str:
    """A number, or the first few of a vector."""
    import numpy as np

    each = [f"{number:.8g}" for number in np.atleast_1d(mean)[:3]]
    return ", ".join(each) + (f", … ({np.size(mean)} coordinates)" if np.size(mean) > 3 else "")


def _stages(loss: float | None, path: Path | None) -> Sequence[Stage] | None:
    from ..errors import InvalidParameter
    from ..simulation.changing import Stage
    from ..simulation.changing.saving import read_stages

    if loss is not None and path is not None:
        raise InvalidParameter("--loss must not be given together with --stages: the file says what is lost, and when")
    if path is not None:
        return read_stages(path)
    return None if loss is None else [Stage(loss=loss)]


def _summary(run: Solution) -> list[tuple[str, str]]:
    import numpy as np

    final = np.atleast_1d(run.final_relative_error)
    offset = np.abs(np.atleast_1d(run.mean_offset)).max()
    lost = run.mass_error.max(initial=0.0)
    many = run.replicas > 1
    rate = run.steps_done.sum() * run.num_coordinates / max(run.elapsed, 1e-9)
    return [
        ("graph", f"{run.graph.name}, {run.graph.num_nodes} nodes, {run.graph.num_edges} edges"),
        ("method", run.method.label()),
        ("steps", f"{run.num_steps:,}" + (f" × {run.replicas} replicas" if many else "")),
        ("messages", f"{run.transmissions[-1]:,}" + (" each" if many else "")),
        ("status", str(run.status)),
        (
            "relative error",
            f"{np.median(final):.3g}"
            + (f" (median; 10–90 %: {np.quantile(final, 0.1):.2g}–{np.quantile(final, 0.9):.2g})" if many else ""),
        ),
        ("average", _shown(_average(run)) + (" (mean over replicas)" if many else "")),
        ("true mean", _shown(run.true_mean)),
        ("average − true mean", f"{offset:.2g}" + (" (largest)" if many else "")),
        ("mass not accounted for", f"{lost:.2g}" if not lost < ROUNDING else f"below {ROUNDING:g}"),
        ("seed", str(run.seed)),
        ("time", f"{run.elapsed:.3g} s, {rate:,.0f} steps/s"),
    ]
