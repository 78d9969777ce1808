"""``sottovoce bound``: what was proved beside what is expected and what happens."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .kinds import Whole
from .output import (
    graph_option,
    json_option,
    method_option,
    plot_option,
    print_json,
    print_table,
    seed_option,
    terminal,
    values_option,
    write_figure,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..graphs import Graph
    from ..methods import Method

    Curves = dict[str, npt.NDArray[np.float64]]

POINTS = 400


@click.command()
@graph_option
@method_option
@click.option("--steps", type=Whole(1), default=1000, show_default=True, help="The last step shown.")
@click.option(
    "--replicas",
    type=Whole(0),
    default=200,
    show_default=True,
    help="Runs to average beside the theory; 0 for none.",
)
@seed_option
@values_option
@plot_option
@json_option
def command(
    graph_spec: str,
    method_spec: str,
    steps: int,
    replicas: int,
    seed: int,
    values_spec: str,
    plot_stem: Path | None,
    as_json: bool,
) -> None:
    """Show Theorem 1 and the resolvent bound beside the exact expectation and simulated runs.

    All numbers are E[½‖x − c̄‖²]. The printed bound is the published one; where it falls below the exact
    expectation it is false. The lower panels of the plot show bounds as multiples of the exact expectation and of the
    corrected bound.

    \b
    sottovoce bound --graph cycle:10 --method noise-insertion:noise_std=1,noise_decay=0.9 --steps 300 --plot bound
    """
    from ..scenario.scenario import Scenario

    asked = Scenario.parse(graph=graph_spec, values=values_spec, methods=[method_spec], seed=seed, num_steps=steps)
    graph, (method,), values = asked.graph, asked.methods, asked.private_values
    at = _points(steps)
    curves = _theory(graph, method, values, at)
    facts = _facts(graph, method)
    if replicas:
        curves |= _simulated(graph, method, values, at, seed=seed, replicas=replicas)
    written: list[Path] = []
    if plot_stem is not None:
        from ..plotting import plot_bounds

        axes = plot_bounds(at, curves, title=f"{graph.name}, {method.label()}", replicas=replicas)
        written = write_figure(axes, plot_stem)
    if as_json:
        payload = {"graph": graph.name, "method": method.label(), "seed": seed, "replicas": replicas}
        print_json({**payload, **facts, "steps": at, **curves, "files": written})
        return
    print_table(f"½‖x − c̄‖² on {graph.name}, {method.label()}", *_table(at, curves), notes=_notes(facts, written))


def _points(steps: int) -> npt.NDArray[np.int64]:
    import numpy as np

    return np.unique(np.linspace(0, steps, min(steps, POINTS) + 1).round().astype(np.int64))


def _theory(graph: Graph, method: Method, values: npt.ArrayLike, at: npt.NDArray[np.int64]) -> Curves:
    """Bounds, and the exact expectation where its matrices fit."""
    from ..errors import Unsupported
    from ..theory import error_bound, expected_error
    from ..theory.gossip.bounds import FORMS

    curves: Curves = {}
    try:
        with _status("the exact expectation"):
            curves["exact"] = expected_error(graph, values, method, at=at)
    except Unsupported as reason:
        click.echo(f"note: {reason}", err=True)
    for form in reversed(FORMS):
        try:
            curves[form] = error_bound(graph, values, method, at=at, form=form)
        except Unsupported as reason:
            if form == "corrected":  # what this form does not cover, no other does
                raise
            click.echo(f"note: no {form} bound: {reason}", err=True)
    return curves


def _status(what: str) -> AbstractContextManager[object]:
    """A spinner for people, on standard error; nothing when nobody watches."""
    return terminal(stderr=True).status(f"computing {what} …")


def _simulated(
    graph: Graph, method: Method, values: npt.ArrayLike, at: npt.NDArray[np.int64], *, seed: int, replicas: int
) -> Curves:
    """The first replica and the mean of all."""
    import numpy as np

    from ..foundation.interrupting import uninterrupted
    from ..simulation import simulate

    run = simulate(graph, values, method, num_steps=int(at[-1]), seed=seed, replicas=replicas, record=at)
    half = 0.5 * np.atleast_2d(uninterrupted(run).squared_error)
    return {"run": half[0], "ensemble": half.mean(axis=0)} if replicas > 1 else {"run": half[0]}


def _facts(graph: Graph, method: Method) -> dict[str, object]:
    from ..errors import Unsupported
    from ..theory import asymptotic_rate, contraction_factor, rate_bounds, slowest_nodes, threshold_decay

    threshold, free = threshold_decay(graph), threshold_decay(graph, form="resolvent")
    facts: dict[str, object] = {
        "contraction_factor": contraction_factor(graph),
        "smallest_threshold_decay": float(threshold.min()),
        "largest_threshold_decay": float(threshold.max()),
        "resolvent_factor": rate_bounds(graph)[1],
        "smallest_free_decay": float(free.min()),
        "largest_free_decay": float(free.max()),
    }
    try:
        with _status("the exact rate"):
            rate = asymptotic_rate(graph, method)
        facts["slowest_nodes"] = slowest_nodes(graph, method)
    except Unsupported:
        return facts
    return facts | {
        "rate": rate.rate,
        "regime": rate.regime,
        "gossip_rate": rate.gossip_rate,
        "noise_rate": rate.noise_rate,
    }


def _table(at: npt.NDArray[np.int64], curves: Curves) -> tuple[list[str], list[list[str]]]:
    import numpy as np

    from ..plotting.theory import CURVES

    names = [name for name in CURVES if name in curves and name != "run"]  # one run is for the figure
    rows = np.unique(np.searchsorted(at, np.concatenate([[0, 1, 2, 5], np.linspace(0, at[-1], 9)])))
    rows = rows[rows < len(at)]
    cells = [[f"{at[row]:,}", *(f"{curves[name][row]:.3g}" for name in names)] for row in rows]
    return ["step", *("runs" if name == "ensemble" else name for name in names)], cells


def _notes(facts: dict[str, object], written: list[Path]) -> list[str]:
    def between(what: str) -> str:
        low, high = (f"{facts[f'{end}_{what}']:.6g}" for end in ("smallest", "largest"))
        return low if low == high else f"{low}…{high}"

    notes = [
        f"proved rates: ρ = {facts['contraction_factor']:.7g}, resolvent {facts['resolvent_factor']:.7g}",
        (
            f"φ up to {between('threshold_decay')} leaves the rate ρ alone; "
            f"φ up to {between('free_decay')} surely leaves the real rate alone"
        ),
    ]
    if "rate" in facts:
        what = {"gossip": "averaging decides", "noise": "the withdrawal of noise decides"}[str(facts["regime"])]
        notes.append(
            f"exact rate {facts['rate']:.7g}: {what} "
            f"(gossip {facts['gossip_rate']:.7g}, noise {facts['noise_rate']:.7g})"
        )
    return notes + [f"wrote {path}" for path in written]
