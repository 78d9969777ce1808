"""What an observer believes before it hears anything, and what the answer alone tells it."""

from __future__ import annotations

import math
from typing import Any

from ..foundation.numbers import spread_of
from ..privacy.gaussian.guessing import right_guess, whole_candidates
from ..scenario.scenario import Scenario
from .observing import Observer
from .verdicts import EXACTLY, Yardstick, closeness, guess_text

__all__ = ["answer_alone", "centre_of", "precision_of", "yardstick"]


def centre_of(problem: Scenario) -> float:
    """What an observer takes a value to be beforehand: the mean, as roughly as values spread around it.

    Examples
    --------
    >>> from sottovoce.scenario.values import ValuesSpec
    >>> from sottovoce.scenario.graphs import describe_graph
    >>> warm = ValuesSpec.of([292.9, 293.1, 293.4])
    >>> centre_of(Scenario(describe_graph("path:3"), warm, (), 1, 10))
    293.1
    """
    values = problem.private_values
    spread, mean = spread_of(values), float(values.mean())
    if not spread > 0.0:
        return mean
    return round(mean, -math.floor(math.log10(spread)))


def yardstick(problem: Scenario, observer: Observer, prior: float | None) -> Yardstick:
    """What this observer's deviations are compared with."""
    honest = int((~observer.view().observers(problem.graph)).sum())
    spread = spread_of(problem.private_values) or 1.0
    before = math.inf if prior is None else prior
    left = 0.0 if honest == 1 else before * math.sqrt(1.0 - 1.0 / honest)
    candidates = whole_candidates(problem.private_values)
    scale = spread if prior is None else prior
    if candidates is None:
        return Yardstick(before, left, scale)
    return Yardstick(before, left, scale, len(candidates), right_guess(precision_of(left, before), candidates))


def precision_of(std: float, before: float) -> float:
    """Of all that was learned about a value: its deviation fell from ``before`` to ``std``."""
    if std == 0.0:
        return math.inf
    if not math.isfinite(std):
        return 0.0
    return max(0.0, 1.0 / std**2 - (0.0 if math.isinf(before) else 1.0 / before**2))


def answer_alone(problem: Scenario, observer: Observer, stick: Yardstick) -> dict[str, Any]:
    """What the mean of all values, with the observer's own, tells of each other value."""
    own = observer.view().observers(problem.graph)
    values = problem.private_values
    rest = float(values[~own].mean())
    if stick.answer <= EXACTLY * stick.scale:
        sentence = "The answer alone reveals the last value to all others together: no method can hide it from them."
    elif math.isinf(stick.answer):
        sentence = "The answer alone tells the mean of the other values, and nothing of a single one."
    else:
        left = closeness(stick.answer)
        sentence = f"The answer alone, which everybody is to know, leaves ± {left} of each other value."
    return {
        "std": stick.answer,
        "estimate": rest,
        "text": guess_text(rest, stick.answer, scale=stick.scale),
        "sentence": sentence,
    }
