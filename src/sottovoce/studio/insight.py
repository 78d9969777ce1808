"""What is said beside a run: the threshold of the graph, what was proved, and what an observer can infer.

Everything here calls :mod:`sottovoce.theory` and :mod:`sottovoce.privacy`; a problem too large for an
exact answer gets a sentence that says so instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NumericalFailure, Unsupported
from ..graphs.graph import Graph
from ..methods import Method, StandardGossip
from ..simulation import simulate
from .limits import Limits
from .problem import Problem

__all__ = ["privacy_history", "theory_curves", "threshold"]

LARGEST_THRESHOLD = 20_000
"""Nodes up to which the algebraic connectivity is found while somebody waits."""

LONGEST_AUDIT = 100_000
"""Steps that are followed one by one while somebody waits."""

CURVE_POINTS = 120
HISTORY_POINTS = 250


def threshold(graph: Graph) -> dict[str, Any]:
    """The largest decay that is free on this graph: its range over nodes, and the algebraic connectivity."""
    from ..graphs.spectrum import algebraic_connectivity
    from ..theory import threshold_decay

    if graph.num_nodes > LARGEST_THRESHOLD:
        return {"message": f"the threshold is shown for graphs of up to {LARGEST_THRESHOLD:,} nodes"}
    try:
        free = threshold_decay(graph)
        return {
            "low": float(free.min()),
            "high": float(free.max()),
            "algebraicConnectivity": float(algebraic_connectivity(graph)),
        }
    except NumericalFailure as error:
        return {"message": f"the threshold could not be computed: {error}"}


def theory_curves(problem: Problem, method: Method, limits: Limits) -> dict[str, Any]:
    """Relative error as theory has it: the exact expectation, the corrected bound, and the paper's as printed."""
    from ..theory import error_bound, expected_error

    steps = np.unique(np.linspace(0, problem.num_steps, CURVE_POINTS + 1).round().astype(np.int64))
    spread = problem.private_values - problem.private_values.mean()
    scale = float((spread**2).sum()) / 2
    if scale == 0.0:
        return {"message": "all private values are equal, so there is no relative error to predict"}
    curves: dict[str, Any] = {"steps": steps.tolist()}
    notes = []
    if problem.graph.num_nodes > LARGEST_THRESHOLD:
        return {"message": f"bounds are shown for graphs of up to {LARGEST_THRESHOLD:,} nodes"}
    try:
        for form, name in (("corrected", "bound"), ("sharpened", "sharpened"), ("printed", "printed")):
            bound = error_bound(problem.graph, problem.private_values, method, at=steps, form=form)
            curves[name] = (bound / scale).tolist()
    except (Unsupported, NumericalFailure) as error:
        return {"message": f"no bound: {error}"}
    if problem.graph.num_nodes > limits.exact_nodes:
        notes.append(f"the exact expectation is shown for graphs of up to {limits.exact_nodes:,} nodes")
    else:
        try:
            expected = expected_error(problem.graph, problem.private_values, method, at=steps)
            curves["expected"] = (expected / scale).tolist()
        except (Unsupported, NumericalFailure) as error:
            notes.append(f"no exact expectation: {error}")
    return {**curves, "message": "; ".join(notes)}


def privacy_history(problem: Problem, observer: int, prior_std: float | None, limits: Limits) -> dict[str, Any]:
    """What the curious node can infer about each other one, for every method of the problem and for standard gossip.

    The posterior changes only when the observer takes part in an exchange, so it is computed at those
    steps; of very many, :data:`HISTORY_POINTS` evenly spread ones are kept.
    """
    from ..privacy import CuriousNodes, audit

    graph = problem.graph
    if graph.num_nodes**2 * problem.num_steps > limits.work or problem.num_steps > LONGEST_AUDIT:
        return {"message": "the privacy meter is exact, and this run is too large for it: ask for fewer nodes or steps"}
    fired = simulate(
        graph, problem.private_values, StandardGossip(), num_steps=problem.num_steps, seed=problem.seed,
        record=[0], threads=1, progress=False,
    ).fired_edges()  # fmt: skip
    heard = np.flatnonzero((graph.edges[fired] == observer).any(axis=1)) + 1
    steps = heard[np.unique(np.linspace(0, len(heard) - 1, min(HISTORY_POINTS, len(heard))).astype(int))]
    view = CuriousNodes([observer])
    lanes: list[dict[str, Any]] = []
    for method in (*problem.methods, StandardGossip()):
        try:
            report = audit(graph, method, fired, view, prior_std=prior_std, steps=steps)
            lanes.append({"label": method.label(), "std": report.history.tolist()})
        except Unsupported as error:
            lanes.append({"label": method.label(), "message": str(error)})
    return {"steps": steps.tolist(), "lanes": lanes, "assumptions": list(view.assumptions())}
