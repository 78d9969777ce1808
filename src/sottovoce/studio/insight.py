"""What is said beside a run: the threshold of the graph, what was proved, and what an observer can infer.

Everything here calls :mod:`sottovoce.theory` and :mod:`sottovoce.privacy`; a problem too large for an
exact answer gets a sentence that says so instead.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..errors import NumericalFailure, SottovoceError, Unsupported
from ..graphs.graph import Graph
from ..methods import Method, StandardGossip
from ..scenario.scenario import Scenario
from .limits import Limits

__all__ = ["guesses", "heard_steps", "is_small", "privacy_history", "theory_curves", "threshold", "too_large_to_audit"]

Steps = npt.NDArray[np.int64]

LARGEST_THRESHOLD = 100_000
"""Nodes up to which the algebraic connectivity is found while somebody waits."""

LARGEST_RESOLVENT = 1_500
"""Nodes up to which it is also found from which decay on a run really slows."""

LONGEST_AUDIT = 100_000
"""Steps that are followed one by one while somebody waits."""

FORMS: tuple[Literal["corrected", "sharpened", "printed"], ...] = ("corrected", "sharpened", "printed")
"""The bounds that are drawn: as proved after the paper's plan, a tighter one, and as published."""

ROUNDS_FOLLOWED = 120
LARGEST_ROUNDS = 40
"""One round costs about n³; with these it takes seconds at most."""

PATIENCE = 2.0
"""Seconds that an audit may spend on more digits while somebody waits."""

CURVE_POINTS = 120
HISTORY_POINTS = 250


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


def heard_steps(problem: Scenario, fired: Steps, observer: int) -> Steps:
    """The steps at which the observer took part; of very many, :data:`HISTORY_POINTS` evenly spread ones."""
    heard = np.flatnonzero((problem.graph.edges[fired] == observer).any(axis=1)) + 1
    kept: Steps = heard[np.unique(np.linspace(0, len(heard) - 1, min(HISTORY_POINTS, len(heard))).astype(int))]
    return kept


def too_large_to_audit(problem: Scenario, limits: Limits) -> str | None:
    """A sentence for the page if the privacy meter cannot follow this run."""
    if problem.graph.num_nodes**2 * problem.num_steps > limits.work or problem.num_steps > LONGEST_AUDIT:
        return "the privacy meter is exact, and this run is too large for it: ask for fewer nodes or steps"
    return None


def privacy_history(problem: Scenario, fired: Steps, observer: int, prior_std: float | None) -> dict[str, Any]:
    """What the curious node can infer about each other one, for every method of the problem and for standard gossip.

    The posterior changes only when the observer takes part in an exchange, so it is computed at those steps.
    """
    steps = heard_steps(problem, fired, observer)
    lanes = [
        _lane(problem, method, fired, observer, prior_std, steps) for method in (*problem.methods, StandardGossip())
    ]
    assumptions = [lane.pop("assumptions", []) for lane in lanes]
    return {"steps": steps.tolist(), "lanes": lanes, "assumptions": assumptions[-1]}


def _lane(
    problem: Scenario, method: Method, fired: Steps, observer: int, prior_std: float | None, steps: Steps
) -> dict[str, Any]:
    """One method's history; those in rounds are followed for the first :data:`ROUNDS_FOLLOWED` of them."""
    from ..privacy import CuriousNodes, audit
    from ..privacy.gaussian.guessing import whole_candidates

    in_rounds = method.releases(problem.graph).in_rounds
    lane: dict[str, Any] = {"label": method.label()}
    if in_rounds and problem.graph.num_nodes > LARGEST_ROUNDS:
        return lane | {"message": f"methods in rounds are followed on graphs of up to {LARGEST_ROUNDS} nodes"}
    rounds = np.arange(1, min(problem.num_steps, ROUNDS_FOLLOWED) + 1)
    run, times = (len(rounds), rounds) if in_rounds else (fired, steps)
    try:
        report = audit(
            problem.graph, method, run, CuriousNodes([observer]), prior_std,
            steps=times, patience=PATIENCE, progress=False, candidates=whole_candidates(problem.private_values),
        )  # fmt: skip
    except SottovoceError as error:
        return lane | {"message": f"no privacy meter for this method: {error}"}
    lane |= {"std": report.history.tolist(), "assumptions": list(report.assumptions)}
    guess = report.guess_sentence()
    if guess:
        lane["note"] = f"values are whole numbers; in the end the curious node {guess}"
    if in_rounds:
        how = "" if report.exact else "; best linear estimates"
        heard = f"broadcast to all neighbours; followed for {run} rounds{how}"
        lane |= {"steps": times.tolist(), "note": f"{heard}; {lane['note']}" if guess else heard}
    return lane


def guesses(
    problem: Scenario, observer: int, prior_std: float | None, prior_mean: float, step: int
) -> list[list[float] | None]:
    """The curious node's best estimate of every private value after ``step``, in the order of :func:`privacy_history`.

    ``None`` for a method that the attack does not understand; NaN where nothing is known of a value.
    """
    from ..privacy import CuriousNodes, attack
    from ..simulation import simulate

    found: list[list[float] | None] = []
    for method in (*problem.methods, StandardGossip()):
        try:
            run = simulate(
                problem.graph, problem.private_values, method, num_steps=step, seed=problem.seed,
                record=[step], threads=1, progress=False,
            )  # fmt: skip
            answer = attack(run, CuriousNodes([observer]), prior_std, prior_mean=prior_mean)
        except SottovoceError:
            found.append(None)
        else:
            found.append(answer.estimate.tolist())
    return found
