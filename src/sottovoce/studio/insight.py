"""What theory says beside a run: the threshold of the graph, and what was proved.

Everything here calls :mod:`sottovoce.theory`; a problem too large for an exact answer gets a sentence that says so
instead. What an observer can infer is :mod:`.meter`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..errors import NumericalFailure, Unsupported
from ..graphs.graph import Graph
from ..methods import Method
from ..scenario.scenario import Scenario
from .limits import Limits

__all__ = ["is_small", "theory_curves", "threshold"]

LARGEST_THRESHOLD = 100_000
"""Nodes up to which the algebraic connectivity is found while somebody waits."""

LARGEST_RESOLVENT = 1_500
"""Nodes up to which it is also found from which decay on a run really slows."""

FORMS: tuple[Literal["corrected", "sharpened", "printed"], ...] = ("corrected", "sharpened", "printed")
"""The bounds that are drawn: as proved after the paper's plan, a tighter one, and as published."""

CURVE_POINTS = 120


SMALL_NODES = 300
SMALL_WORK = 50_000_000
"""Up to so many nodes, and nodes × nodes × steps, all questions are answered in a moment."""


def is_small(problem: Scenario) -> bool:
    """Whether what is asked about a problem takes a moment only."""
    nodes = problem.graph.num_nodes
    return nodes <= SMALL_NODES and nodes**2 * problem.num_steps <= SMALL_WORK


def threshold(graph: Graph) -> dict[str, Any]:
    """Up to which decay the proved rate is kept (its range over nodes), and up to which surely no run slows."""
    from ..graphs.spectrum import algebraic_connectivity
    from ..theory import threshold_decay

    if graph.num_nodes > LARGEST_THRESHOLD:
        return {"message": f"the threshold is shown for graphs of up to {LARGEST_THRESHOLD:,} nodes"}
    try:
        free = threshold_decay(graph)
        really = threshold_decay(graph, form="resolvent").min() if graph.num_nodes <= LARGEST_RESOLVENT else None
        return {
            "low": float(free.min()),
            "high": float(free.max()),
            "really": None if really is None else float(really),
            "algebraicConnectivity": float(algebraic_connectivity(graph)),
        }
    except NumericalFailure as error:
        return {"message": f"the threshold could not be computed: {error}"}


def theory_curves(problem: Scenario, method: Method, alpha: float | None, limits: Limits) -> dict[str, Any]:
    """Relative error as theory has it: the exact expectation and the bounds.

    ``alpha`` is the algebraic connectivity as :func:`threshold` found it, or ``None`` if it did not.
    """
    from ..theory import error_bound, expected_error

    steps = np.unique(np.linspace(0, problem.num_steps, CURVE_POINTS + 1).round().astype(np.int64))
    spread = problem.private_values - problem.private_values.mean()
    scale = float((spread**2).sum()) / 2
    if scale == 0.0:
        return {"message": "all private values are equal, so there is no relative error to predict"}
    curves: dict[str, Any] = {"steps": steps.tolist()}
    notes = []
    if alpha is None:
        return {"message": "no bounds: they need the algebraic connectivity of the graph"}
    try:
        for form in FORMS:
            bound = error_bound(problem.graph, problem.private_values, method, at=steps, form=form, connectivity=alpha)
            curves[form] = (bound / scale).tolist()
    except Unsupported:
        return {"message": f"{method.label()}: the theorem and the exact expectation do not cover this method"}
    except NumericalFailure as error:
        return {"message": f"{method.label()}: no bound: {error}"}
    if problem.graph.num_nodes > limits.exact_nodes:
        notes.append(f"the exact expectation is shown for graphs of up to {limits.exact_nodes:,} nodes")
    else:
        try:
            expected = expected_error(problem.graph, problem.private_values, method, at=steps)
            curves["expected"] = (expected / scale).tolist()
        except (Unsupported, NumericalFailure) as error:
            notes.append(f"no exact expectation: {error}")
    return {**curves, "message": "; ".join(notes)}
