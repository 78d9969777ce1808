"""What theory says beside a run: the threshold of the graph, and what was proved.

Everything here calls :mod:`sottovoce.theory`; a problem too large for an exact answer gets a sentence that says so
instead. What an observer can infer is :mod:`.meter`.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any, Literal

import numpy as np

from ..errors import NumericalFailure, Unsupported
from ..graphs.graph import Graph
from ..methods import Method, StandardGossip
from ..methods.base import Array
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

LARGEST_COST = 150
"""Nodes up to which the steps to an accuracy are expected exactly while somebody waits."""

COST_ERROR = 1e-6

SLIDER = (0.5, 0.7, 0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.997, 0.998, 0.999)
"""Decays whose cost is told."""


SMALL_NODES = 300
SMALL_WORK = 50_000_000
"""Up to so many nodes, and nodes × nodes × steps, all questions are answered in a moment."""


def is_small(problem: Scenario) -> bool:
    """Whether what is asked about a problem takes a moment only."""
    nodes = problem.graph.num_nodes
    return nodes <= SMALL_NODES and nodes**2 * problem.num_steps <= SMALL_WORK


def threshold(graph: Graph, chances: Array | None = None) -> dict[str, Any]:
    """Up to which decay the proved rate is kept (over nodes), up to which no run slows, and what more costs."""
    from ..graphs.spectrum import algebraic_connectivity
    from ..theory import threshold_decay

    if graph.num_nodes > LARGEST_THRESHOLD:
        return {"message": f"the threshold is shown for graphs of up to {LARGEST_THRESHOLD:,} nodes"}
    try:
        free = threshold_decay(graph, edge_probabilities=chances)
        known = graph.num_nodes <= LARGEST_RESOLVENT
        really = threshold_decay(graph, form="resolvent", edge_probabilities=chances) if known else None
        return {
            "low": float(free.min()),
            "high": float(free.max()),
            "really": None if really is None else float(really.min()),
            "algebraicConnectivity": float(algebraic_connectivity(graph)),
            "costs": _costs(graph, chances) if known else [],
        }
    except NumericalFailure as error:
        return {"message": f"the threshold could not be computed: {error}"}


def _costs(graph: Graph, chances: Array | None) -> list[dict[str, float]]:
    """For decays over the slider, how many times as many steps each further digit takes as in standard gossip.

    In the long run the error falls by the slower of two rates: that of gossip, and that of the noise still out at the
    node that acts most rarely, 1 − p (1 − φ²), p its share of steps (:func:`sottovoce.theory.asymptotic_rate`).
    """
    from ..theory import rate_bounds, second_moment_rate

    if graph.num_nodes == 2:
        return []  # without noise two nodes agree after one step: no ratio says how much longer noise takes
    exact = graph.num_nodes <= LARGEST_COST
    rate = second_moment_rate if exact else lambda *given, **more: rate_bounds(*given, **more)[1]
    gossip = math.log(rate(graph, edge_probabilities=chances))
    weights = np.full(graph.num_edges, 1.0 / graph.num_edges) if chances is None else chances
    rarest = float(np.bincount(graph.edges.ravel(), np.repeat(weights, 2)).min())
    noise = {decay: math.log1p(-rarest * (1.0 - decay**2)) for decay in SLIDER}
    return [{"decay": decay, "ratio": max(1.0, gossip / slower)} for decay, slower in noise.items()]


def cost(problem: Scenario, method: Method) -> dict[str, Any] | None:
    """Expected steps until the error is a millionth of what it was, and those of standard gossip.

    ``None`` where the exact expectation is not known, or takes long, or there is no error at the start.
    """
    from ..theory import asymptotic_rate

    if problem.graph.num_nodes > LARGEST_COST or np.ptp(problem.private_values) == 0.0:
        return None
    slowest = asymptotic_rate(problem.graph, method, edge_probabilities=problem.edge_probabilities).rate
    if not 0.0 < slowest < 1.0:
        return None
    longest = math.ceil(4.0 * math.log(COST_ERROR) / math.log(slowest)) + 50
    steps, standard = (_steps_needed(problem, each, longest) for each in (method, StandardGossip()))
    if steps is None or standard is None:
        return None
    ratio = steps / standard
    times = "as many" if ratio < 1.05 else f"{ratio:.1f} times as many"
    text = f"about {_about(steps)} steps to a millionth of the error; standard gossip: {_about(standard)} ({times})"
    return {"steps": steps, "standard": standard, "ratio": ratio, "text": text}


def _steps_needed(problem: Scenario, method: Method, longest: int) -> int | None:
    """From which step on the expected relative error stays at a millionth; interpolated between computed ones."""
    from ..theory import expected_error

    grid = np.unique(np.geomspace(1, longest, 160).round().astype(np.int64))
    error = expected_error(
        problem.graph, problem.private_values, method, at=grid, edge_probabilities=problem.edge_probabilities
    )
    spread = problem.private_values - problem.private_values.mean()
    share = np.log(np.maximum(error / (0.5 * float((spread**2).sum())), 1e-300)) - math.log(COST_ERROR)
    above = np.flatnonzero(share > 0.0)
    if len(above) == 0 or above[-1] == len(grid) - 1:
        return None
    k = int(above[-1])
    part = share[k] / (share[k] - share[k + 1])
    return round(float(grid[k] + part * (grid[k + 1] - grid[k])))


def _about(steps: int) -> str:
    """Two digits of a large number are enough."""
    return f"{round(steps, 2 - len(str(steps))):,}" if steps >= 100 else str(steps)


def theory_curves(problem: Scenario, method: Method, alpha: float | None, limits: Limits) -> dict[str, Any]:
    """Relative error as theory has it: the exact expectation and the bounds.

    ``alpha`` is the algebraic connectivity as :func:`threshold` found it, or ``None`` if it did not.
    """
    from ..theory import error_bound, expected_error

    steps = np.unique(np.linspace(0, problem.num_steps, CURVE_POINTS + 1).round().astype(np.int64))
    spread = problem.private_values - problem.private_values.mean()
    scale = float((spread**2).sum()) / 2
    if np.ptp(problem.private_values) == 0.0:
        return {"message": "all private values are equal, so there is no relative error to predict"}
    curves: dict[str, Any] = {"steps": steps.tolist()}
    notes = []
    if alpha is None:
        return {"message": "no bounds: they need the algebraic connectivity of the graph"}
    try:
        for form in FORMS:
            bound = error_bound(
                problem.graph,
                problem.private_values,
                method,
                at=steps,
                form=form,
                connectivity=alpha if problem.chances is None else None,
                edge_probabilities=problem.edge_probabilities,
            )
            curves[form] = (bound / scale).tolist()
    except Unsupported:
        return {"message": f"{method.label()}: the theorem and the exact expectation do not cover this method"}
    except NumericalFailure as error:
        return {"message": f"{method.label()}: no bound: {error}"}
    if problem.graph.num_nodes > limits.exact_nodes:
        notes.append(f"the exact expectation is shown for graphs of up to {limits.exact_nodes:,} nodes")
    else:
        try:
            expected = expected_error(
                problem.graph, problem.private_values, method, at=steps, edge_probabilities=problem.edge_probabilities
            )
            curves["expected"] = (expected / scale).tolist()
        except (Unsupported, NumericalFailure) as error:
            notes.append(f"no exact expectation: {error}")
    with contextlib.suppress(Unsupported, NumericalFailure):
        curves["cost"] = cost(problem, method)
    return {**curves, "message": "; ".join(notes)}
