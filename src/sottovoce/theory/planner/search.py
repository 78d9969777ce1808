"""The searches behind :func:`sottovoce.theory.plan`: a function for each thing that may be unknown.

=========================  ===============================================================
:func:`steps_for_noise`    σ is given: the steps that accuracy needs, or that privacy allows
:func:`largest_noise`      accuracy and steps are given: the largest σ that fits
:func:`noise_for_privacy`  a privacy wish and φ are given: σ, and the steps if they are open
:func:`decay_for_privacy`  a privacy wish alone: φ as well
=========================  ===============================================================

Every search asks a response (:mod:`.response`) for the expected error at some k and does not know whether that
is exact or a bound. The sentences come from :mod:`.explain`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...foundation.arguments import Array
from . import explain
from .messages import hidden_std_left, variance_to_hide
from .question import Question
from .response import Response

__all__ = ["DecayCost", "Found", "decay_costs", "solve"]

_LONGEST = 1e15
"""No plan is longer than this many steps."""

_LIFETIMES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Lifetimes of noise that are tried when φ is open, in units of the free one."""

_ROUNDING = 1.0 + 1e-9


@dataclass(frozen=True)
class DecayCost:
    """What noise that lives longer costs: 1 − φ² divided by ``slower`` at every node, and the steps then needed."""

    slower: float
    smallest_decay: float
    largest_decay: float
    num_steps: int | None


@dataclass(frozen=True, eq=False)
class Found:
    """Steps and noise that answer a question, whether every wish is met, and what decided."""

    response: Response
    num_steps: int
    variance: Array
    """``(groups,)`` σ²."""
    reasons: tuple[str, ...]
    feasible: bool = True

    @property
    def relative_error(self) -> float:
        """The expected one."""
        return self.response.relative(self.num_steps, self.variance)


def solve(question: Question, response: Response) -> Found:
    """Find what is open; ``response`` has the given φ, or the free ones."""
    if question.noise_std is not None:
        return steps_for_noise(question, response)
    if question.hidden_std is None:
        return largest_noise(question, response)
    if question.noise_decay is not None:
        return noise_for_privacy(question, response)
    return decay_for_privacy(question, response)


def steps_for_noise(question: Question, response: Response) -> Found:
    """σ is given: as many steps as the accuracy needs, or as privacy allows."""
    variance, target = response.groups.std**2, question.target
    allowed, reasons = math.inf, []
    if question.hidden_std is not None:
        hidden, probability = question.hidden_std, question.probability
        allowed = _most_steps(lambda k: hidden_std_left(response.groups, variance, k, probability) >= hidden)
        sentence = explain.LIMITS if allowed < _LONGEST else explain.NEVER_LIMITS
        reasons.append(sentence.format(allowed=allowed, hidden=question.hidden_std))
    steps = question.num_steps
    if steps is None and target is not None:
        steps = settled_steps(partial(response.relative, variance=variance), target)
        if steps is None:
            reasons.append(explain.NEVER_REACHED)
    feasible = steps is not None or target is None
    if steps is None:
        steps = int(min(allowed, _LONGEST))
    if steps > allowed:
        reasons.append(explain.CONTRADICTION.format(steps=steps, allowed=allowed))
        feasible = False
    if target is not None and response.relative(steps, variance) > target * _ROUNDING:
        feasible = False
    return Found(response, steps, variance, tuple(reasons), feasible=feasible)


def largest_noise(question: Question, response: Response) -> Found:
    """Accuracy and steps are given: the largest σ, common to all nodes, with which both are kept."""
    steps, target = question.num_steps, question.target
    assert steps is not None
    assert target is not None
    quiet, per_unit = response.parts(steps)
    left = target * response.initial - quiet
    if left < 0:
        why = explain.TOO_FEW.format(steps=steps, left=quiet / response.initial)
        return Found(response, steps, np.zeros(len(per_unit)), (why,), feasible=False)
    std = math.sqrt(left / float(per_unit.sum()))
    return Found(response, steps, np.full(len(per_unit), std**2), (explain.LARGEST.format(std=std, steps=steps),))


def noise_for_privacy(question: Question, response: Response) -> Found:
    """A privacy wish and φ are given: σ follows from the number of messages, and the steps from the accuracy."""
    assert question.hidden_std is not None
    groups, hidden = response.groups, question.hidden_std

    def needed(k: float) -> Array:
        return variance_to_hide(groups, hidden, k, question.probability)

    def error(k: float) -> float:
        variance = needed(k)
        return response.relative(k, variance) if np.isfinite(variance).all() else math.inf

    steps, target, why = question.num_steps, question.target, explain.JUST_ENOUGH
    if steps is not None:
        variance = needed(steps)
        if not np.isfinite(variance).all():
            reasons = why, explain.TOO_LONG.format(steps=steps)
            return Found(response, steps, np.zeros(len(variance)), reasons, feasible=False)
        met = target is None or error(steps) <= target * _ROUNDING
        return Found(response, steps, variance, (why,), feasible=met)
    assert target is not None
    grid = np.unique(np.round(np.geomspace(1, 100.0 / min(response.gossip_gap, float(groups.gap.min())), 400)))
    reached = np.array([error(k) for k in grid])
    good = np.flatnonzero(reached <= target)
    if len(good):
        first = int(good[0])
        steps = _bisect(lambda k: error(k) <= target, int(grid[first - 1]) if first else 0, int(grid[first]))
        return Found(response, steps, needed(steps), (why,))
    steps = int(grid[int(np.argmin(reached))])
    reasons = why, explain.NOT_BOTH.format(hidden=hidden, smallest=reached.min())
    return Found(response, steps, needed(steps), reasons, feasible=False)


def decay_for_privacy(question: Question, response: Response) -> Found:
    """A privacy wish alone: of noise that lives shorter or longer than the free one, what serves it best.

    Fast noise is gone before it has spread; slow noise is still there at the end. Nodes that happen to speak less
    often than others keep more of it, which is what makes fast noise costly.
    """

    def score(found: Found) -> tuple[bool, float]:
        fewest = found.feasible and question.num_steps is None
        return not found.feasible, float(found.num_steps) if fewest else found.relative_error

    return min(_candidates(question, response), key=score)


def _candidates(question: Question, response: Response) -> Iterator[Found]:
    free, ones = question.free_decay, np.ones(len(question.free_decay))
    for slower in _LIFETIMES:
        fade = (1.0 - free) * (1.0 + free) / slower
        if fade.max() < 1.0:  # no faster than all at once
            yield noise_for_privacy(question, response.with_decay(np.sqrt(1.0 - fade), ones))


def decay_costs(target: float, response: Response, decay: Array, std: Array) -> tuple[DecayCost, ...]:
    """Steps to the wanted error with the plan's φ, and with noise that lives 2, 4 and 10 times as long."""
    found = []
    for slower in (1.0, 2.0, 4.0, 10.0):
        longer = np.sqrt(1.0 - (1.0 - decay) * (1.0 + decay) / slower)
        other = response if slower == 1.0 else response.with_decay(longer, std)
        steps = settled_steps(partial(other.relative, variance=other.groups.std**2), target)
        found.append(DecayCost(slower, float(longer.min()), float(longer.max()), steps))
    return tuple(found)


# -- whole numbers ------------------------------------------------------------------------------------


def settled_steps(error: Callable[[float], float], target: float) -> int | None:
    """The smallest k from which on the error stays at or below the target; it may rise before it falls."""
    end = 1.0
    while max(error(end), error(2 * end), error(4 * end)) > target:
        end *= 2.0
        if end > _LONGEST:
            return None
    grid = np.unique(np.concatenate([[0.0], np.round(np.geomspace(1, 4 * end, 120))]))
    above = [k for k in grid if error(k) > target]
    if not above:
        return 0
    return _bisect(lambda k: error(k) <= target, int(above[-1]), int(grid[np.searchsorted(grid, above[-1]) + 1]))


def _most_steps(allowed: Callable[[float], bool]) -> float:
    """The largest k that is allowed, when small ones are and large ones are not."""
    end = 1.0
    while allowed(end):
        end *= 2.0
        if end > _LONGEST:
            return math.inf
    return _bisect(lambda k: not allowed(k), int(end // 2), int(end)) - 1


def _bisect(good: Callable[[float], bool], low: int, high: int) -> int:
    """The smallest k in (low, high] that is good; low is not, high is."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high
