"""The privacy meter: what an observer learns of every value, beside what it believed and what the answer alone tells.

Three marks for each value: *before* (what was believed), *the answer alone* (the mean, with the observer's own values),
and *this run*. All numbers come from :mod:`sottovoce.privacy`; the words from :mod:`.verdicts`. A method that has no
analysis is *not analysed*, and a run too large to be followed wholly is told about near the observer
(:mod:`.neighbourhood`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import SottovoceError
from ..foundation.numbers import spread_of
from ..methods import Method, StandardGossip
from ..methods.base import Array
from ..privacy.gaussian.guessing import whole_candidates
from ..scenario.scenario import Scenario
from . import knowing, neighbourhood
from .believing import answer_alone, centre_of, precision_of, yardstick
from .limits import Limits
from .observing import Observer
from .playing import simulated
from .verdicts import EXACTLY, WORDS, Verdict, Yardstick, guess_text, value_text

__all__ = ["guesses", "heard_steps", "is_too_large", "privacy_history"]

Steps = npt.NDArray[np.int64]

LONGEST_AUDIT = 100_000
"""Steps that are followed one by one while somebody waits."""

ROUNDS_FOLLOWED = 120
LARGEST_ROUNDS = 40
"""One round costs about n³; with these it takes seconds at most."""

PATIENCE = 2.0
"""Seconds that an audit may spend on more digits while somebody waits."""

HISTORY_POINTS = 250


def is_too_large(problem: Scenario, limits: Limits) -> bool:
    """Whether a run cannot be followed wholly while somebody waits."""
    return problem.graph.num_nodes**2 * problem.num_steps > limits.work or problem.num_steps > LONGEST_AUDIT


def heard_steps(problem: Scenario, fired: Steps, observer: Observer) -> Steps:
    """The steps at which it heard somebody else; of very many, :data:`HISTORY_POINTS` evenly spread ones."""
    view, graph = observer.view(), problem.graph
    tells = view.heard_edges(graph) & ~view.observers(graph)[graph.edges].all(axis=1)
    heard = np.flatnonzero(tells[fired]) + 1
    kept: Steps = heard[np.unique(np.linspace(0, len(heard) - 1, min(HISTORY_POINTS, len(heard))).astype(int))]
    return kept


def privacy_history(problem: Scenario, fired: Steps | None, observer: Observer, prior: float | None) -> dict[str, Any]:
    """What the observer can infer of every value, for every method of the problem and for standard gossip.

    Its knowledge changes only when it hears somebody, so it is computed at those steps. ``fired=None``: the run is too
    large, and only those near the observer are looked at, at the end of the run.
    """
    stick = yardstick(problem, observer, prior)
    methods = (*problem.methods, StandardGossip())
    told: dict[str, Any] = {
        "who": observer.words(problem.graph),
        "own": np.flatnonzero(observer.view().observers(problem.graph)).tolist(),
        "scale": stick.scale,
        "before": stick.before,
        "centre": centre_of(problem),
        "answer": answer_alone(problem, observer, stick),
        "assumptions": [],
    }
    if fired is None:
        near = [neighbourhood.near(problem, method, observer, prior, problem.num_steps) for method in methods]
        lanes = [{"label": method.label()} | part for method, part in zip(methods, near, strict=True)]
        return told | {"steps": [], "lanes": lanes}
    steps = heard_steps(problem, fired, observer)
    lanes = [_history(problem, method, fired, observer, prior, steps, stick) for method in methods]
    assumptions = [lane.pop("assumptions", []) for lane in lanes]
    return told | {"steps": steps.tolist(), "lanes": lanes, "assumptions": assumptions[-1]}


def _history(
    problem: Scenario, method: Method, fired: Steps, observer: Observer, prior: float | None, steps: Steps,
    stick: Yardstick,
) -> dict[str, Any]:  # fmt: skip
    """One method's history; those in rounds are followed for the first :data:`ROUNDS_FOLLOWED` of them."""
    in_rounds = method.releases(problem.graph).in_rounds
    lane: dict[str, Any] = {"label": method.label(), "analysed": False}
    run, times = _followed(problem, method, fired, len(fired))
    try:
        report = _audit(problem, method, run, observer, prior, steps if times is None else times)
    except SottovoceError as error:
        return lane | {"message": _not_analysed(error)}
    exactly = report.history if report.flat_history is None else report.flat_history
    known = (exactly <= EXACTLY * stick.scale) & ~report.observers
    lane |= {
        "analysed": True,
        "exact": report.exact,
        "std": report.history.tolist(),
        "undecided": np.flatnonzero(report.undecided).tolist(),
        "knownFrom": _first(known, report.steps),
        "verdict": vars(_verdict(problem, method, run, observer, report, stick)[1]),
        "assumptions": list(report.assumptions),
    }
    notes = []
    if in_rounds:
        how = "" if report.exact else "; best linear estimates"
        notes.append(f"broadcast to all neighbours; followed for {run} rounds{how}")
        lane["steps"] = report.steps.tolist()
    if report.candidates is not None:
        notes.append(f"values are whole numbers; in the end the observer {report.guess_sentence()}")
    return lane | ({"note": "; ".join(notes)} if notes else {})


def _followed(problem: Scenario, method: Method, fired: Steps, step: int) -> tuple[Steps | int, Steps | None]:
    """What an audit must know of the run until ``step``, and the times to record if they are not those of exchanges."""
    released = method.releases(problem.graph)
    if released.in_rounds:
        rounds = min(step, ROUNDS_FOLLOWED)
        return rounds, np.arange(1, rounds + 1)
    if released.by_nodes:
        from ..privacy.auditing import simulated_run

        run = simulated_run(problem.graph, method, num_steps=step, seed=problem.seed)
        times = np.unique(np.linspace(1, step, min(step, HISTORY_POINTS)).round().astype(np.int64))
        return run, times
    return fired[:step], None


def _audit(
    problem: Scenario, method: Method, run: Steps | int, observer: Observer, prior: float | None, times: Steps
) -> Any:
    from ..errors import Unsupported
    from ..privacy import audit

    released = method.releases(problem.graph)
    if (released.in_rounds or released.by_nodes) and problem.graph.num_nodes > LARGEST_ROUNDS:
        raise Unsupported(f"{method.name}: methods in rounds are followed on graphs of up to {LARGEST_ROUNDS} nodes")
    return audit(
        problem.graph, method, run, observer.view(), prior, steps=times, patience=PATIENCE, progress=False,
        tolerance=_tolerance(problem, method, prior), candidates=whole_candidates(problem.private_values),
    )  # fmt: skip


def _tolerance(problem: Scenario, method: Method, prior: float | None) -> float:
    """A share of the prior; with a flat one audits take shares of the largest noise, and we want one of the spread."""
    if prior is not None:
        return EXACTLY
    noise = getattr(method.releases(problem.graph), "noise_std", np.zeros(1))
    unit = float(np.max(noise)) or 1.0
    return min(0.5, EXACTLY * (spread_of(problem.private_values) or 1.0) / unit)


def _first(known: npt.NDArray[np.bool_], steps: Steps) -> list[int | None]:
    """Per node the first recorded step at which it is known."""
    if len(steps) == 0:
        return [None] * known.shape[1]
    first, ever = known.argmax(axis=0).tolist(), np.asarray(known.any(axis=0)).tolist()
    return [int(steps[row]) if found else None for row, found in zip(first, ever, strict=True)]


def _not_analysed(error: SottovoceError) -> str:
    text = str(error)
    return text if "not analysed" in text else f"not analysed here: {text}"


def _verdict(
    problem: Scenario, method: Method, run: Steps | int, observer: Observer, report: Any, stick: Yardstick
) -> tuple[list[str], Verdict, list[dict[str, Any]], Array | None]:
    """Kinds of all nodes at the end of ``run``, a sentence, the sums that are known, and chances of guesses."""
    sums = []
    if problem.graph.num_nodes <= knowing.LARGEST:
        sums = knowing.known_sums(problem.graph, method, run, observer.view(), stick.scale)
    in_sum = {node for each in sums if not each["all"] for node in each["nodes"]}
    right = report.guess_probability() if report.candidates is not None else None
    flat = report.posterior_std if report.flat_std is None else report.flat_std
    kinds = []
    for node, std in enumerate(report.posterior_std.tolist()):
        if report.observers[node]:
            kinds.append("own")
        elif right is not None and not report.undecided[node]:
            kinds.append(stick.kind_of_guess(float(right[node])))
        else:
            known = bool(flat[node] <= EXACTLY * stick.scale)
            undecided = bool(report.undecided[node])
            kinds.append(stick.kind(std, known=known, undecided=undecided, in_sum=node in in_sum))
    partial = sum(not each["all"] for each in sums)
    return kinds, Verdict.of(kinds, partial), sums, right


def guesses(
    problem: Scenario, fired: Steps | None, observer: Observer, prior: float | None, centre: float, step: int
) -> list[dict[str, Any] | None]:
    """What the observer believes of every value after ``step``, in the order of :func:`privacy_history`.

    ``None`` for a method that is not analysed. ``fired``: which edges fired until then; ``None``: the run is too large.
    """
    stick = yardstick(problem, observer, prior)
    methods = (*problem.methods, StandardGossip())
    if fired is None:
        return [neighbourhood.near(problem, method, observer, prior, step) for method in methods]
    return [_guess(problem, method, fired, observer, prior, centre, step, stick) for method in methods]


def _guess(
    problem: Scenario, method: Method, fired: Steps, observer: Observer, prior: float | None, centre: float, step: int,
    stick: Yardstick,
) -> dict[str, Any] | None:  # fmt: skip
    run, times = _followed(problem, method, fired, step)
    try:
        report = _audit(problem, method, run, observer, prior, np.array([step]) if times is None else times[-1:])
    except SottovoceError:
        return None
    estimate = _estimates(problem, method, observer, prior, centre, run if isinstance(run, int) else step)
    kinds, verdict, sums, right = _verdict(problem, method, run, observer, report, stick)
    texts = _texts(problem, report, estimate, kinds, stick, centre, right)
    words = [WORDS.get(kind, text) for kind, text in zip(kinds, texts, strict=True)]
    return {
        "estimate": estimate.tolist(),
        "std": report.posterior_std.tolist(),
        "text": texts,
        "kind": kinds,
        "words": words,
        "right": None if right is None else right.tolist(),
        "sums": sums,
        "verdict": vars(verdict),
        "sentence": verdict.sentence,
    }


def _estimates(
    problem: Scenario, method: Method, observer: Observer, prior: float | None, centre: float, steps: int
) -> Array:
    """``(n,)`` best estimates; NaN where there is none, or the attack does not understand the method."""
    from ..privacy import attack

    run = simulated(problem, method, steps, [steps])
    try:
        return attack(run, observer.view(), prior, prior_mean=centre).estimate
    except SottovoceError:
        return np.full(problem.graph.num_nodes, math.nan)


def _texts(
    problem: Scenario, report: Any, estimate: Array, kinds: list[str], stick: Yardstick, centre: float,
    right: Array | None,
) -> list[str]:  # fmt: skip
    """A number with its deviation for each node; of a whole number, the best guess and how often it is right."""
    found = []
    for node, (guess, std) in enumerate(zip(estimate.tolist(), report.posterior_std.tolist(), strict=True)):
        if kinds[node] == "own":
            value = float(problem.private_values[node])
            found.append(f"{value:g}" if right is not None else value_text(value, stick.scale))
        elif right is None or kinds[node] == "undecided":
            found.append(guess_text(guess, std, scale=stick.scale))
        else:
            found.append(_named(report.candidates, guess, std, stick, centre, float(right[node])))
    return found


def _named(candidates: Array, guess: float, std: float, stick: Yardstick, centre: float, right: float) -> str:
    """The most likely candidate: the one nearest to what was heard, the belief taken out of it."""
    chance = f"right in {100 * right:.3g} % of cases"
    precision = precision_of(std, stick.before)
    if math.isnan(guess) or precision == 0.0:
        return chance
    believed = 0.0 if math.isinf(stick.before) else 1.0 / stick.before**2
    heard = guess if math.isinf(precision) else guess + (guess - centre) * believed / precision
    nearest = float(candidates[np.argmin(np.abs(candidates - heard))])
    return f"{nearest:g}, {chance}".replace("-", "−")
