"""The searches behind :func:`sottovoce.theory.plan`: a function for each thing that may be unknown.

=============================  ===================================================================
:func:`steps_for_noise`        σ is given: the steps that accuracy needs, or that privacy allows
:func:`slowest_decay`          σ, accuracy and steps are given: the largest φ that fits
:func:`largest_noise`          accuracy and steps are given: the σ (and φ) that hide most
:func:`noise_that_stays`       a wish against everyone else: noise with a budget, or one draw
:func:`noise_for_neighbours`   a wish against neighbours: the smallest σ, and the best φ
=============================  ===================================================================

Every search asks a response (:mod:`.response`) for the expected error at some k and does not know whether that
is exact or a bound. The sentences come from :mod:`.explain`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...errors import InvalidParameter
from ...foundation.arguments import Array
from ...methods import NoiseInsertion
from ...methods.budgeted import BudgetedNoiseInsertion
from . import explain
from .ahead import Neighbours, Planned
from .counting import hidden_left, longest_hiding
from .kept import KeptNoise
from .question import Question
from .response import Response

__all__ = ["DecayCost", "Found", "decay_costs", "solve"]

_LONGEST = 1e15
"""No plan is longer than this many steps."""

_LIFETIMES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Lifetimes of noise that are tried when φ is open, in units of the free one."""

_ROUNDING = 1.0 + 1e-9
_LOUDEST = 1e6
"""No σ is chosen larger than this many times the spread of the values: six digits are left for rounding."""


@dataclass(frozen=True)
class DecayCost:
    """What noise that lives longer costs: 1 − φ² divided by ``slower`` at every node, and the steps then needed."""

    slower: float
    smallest_decay: float
    largest_decay: float
    num_steps: int | None


@dataclass(frozen=True, eq=False)
class Found:
    """Steps and a method that answer a question, whether every wish is met, and what decided."""

    response: Response
    num_steps: int
    method: Planned
    relative_error: float
    """The expected one."""
    reasons: tuple[str, ...]
    feasible: bool = True


def solve(question: Question, response: Response) -> Found:
    """Find what is open; ``response`` has the given φ, or the free ones."""
    if question.noise_std is not None:
        if question.noise_decay is None and question.num_steps is not None and question.target is not None:
            return slowest_decay(question, response)
        return steps_for_noise(question, response)
    if question.hidden_std is not None:
        return noise_that_stays(question, response)
    if question.neighbour_std is not None:
        return noise_for_neighbours(question, response)
    return largest_noise(question, response)


def steps_for_noise(question: Question, response: Response) -> Found:
    """σ is given: as many steps as the accuracy needs, or as privacy allows; where they collide, noise stays."""
    variance, target, hidden = response.groups.std**2, question.target, question.hidden_std
    assert question.noise_std is not None
    decay = response.groups.decay[response.groups.of_node]
    allowed, reasons = math.inf, []
    if hidden is not None:
        allowed = longest_hiding(response.chances, question.noise_std, decay, hidden, question.probability)
        sentence = explain.LIMITS if allowed < _LONGEST else explain.NEVER_LIMITS
        reasons.append(sentence.format(allowed=allowed, hidden=hidden, runs=explain.in_runs(question.probability)))
    steps = question.num_steps
    if steps is None and target is not None:
        steps = settled_steps(partial(response.relative, variance=variance), target)
        if steps is None:
            reasons.append(explain.NEVER_REACHED)
    reached = steps is not None or target is None
    steps = int(min(allowed, _LONGEST)) if steps is None else steps
    if steps > allowed and hidden is not None and hidden <= float(question.noise_std.min()):
        return _frozen(question, response, decay, (*reasons, explain.FREEZES.format(steps=steps)))
    met = target is None or response.relative(steps, variance) <= target * _ROUNDING
    feasible = reached and met and steps <= allowed
    return _withdrawn(response, steps, variance, tuple(reasons), feasible=feasible)


def _frozen(question: Question, response: Response, decay: Array, reasons: tuple[str, ...]) -> Found:
    """The given σ with a budget: nodes keep the last noise that ``hidden_std`` allows."""
    assert question.noise_std is not None
    assert question.hidden_std is not None
    method = BudgetedNoiseInsertion(_brief(question.noise_std), _brief(decay), question.hidden_std)
    kept = KeptNoise(response, method)
    steps = question.num_steps or kept.settled_steps(question.target)
    reached = kept.relative(steps)
    met = question.target is None or reached <= question.target * _ROUNDING
    why = () if met else (_price(question, reached),)
    return Found(response, steps, method, reached, (*reasons, *why), feasible=met)


def slowest_decay(question: Question, response: Response) -> Found:
    """σ, accuracy and steps are given: the φ that hide most and still reach the error, that is the largest."""
    steps, target, std = question.num_steps, question.target, question.noise_std
    assert steps is not None
    assert target is not None
    assert std is not None

    def with_lifetime(slower: float) -> Response:
        return response.with_decay(_slowed(question.free_decay, slower), std)

    def error(slower: float) -> float:
        other = with_lifetime(slower)
        return other.relative(steps, other.groups.std**2)

    low, high = 1.0, 1.0
    while error(low) > target and low > 1e-6:
        low *= 0.5
    if error(low) > target:
        quiet = response.parts(steps)[0] / response.initial
        why = explain.TOO_FEW if quiet > target else explain.TOO_LOUD
        fastest = with_lifetime(low)
        reasons = (why.format(steps=steps, left=error(low)),)
        return _withdrawn(fastest, steps, fastest.groups.std**2, reasons, feasible=False)
    while error(high) <= target and high < 1e12:
        high *= 2.0
    for _ in range(50):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if error(middle) <= target else (low, middle)
    chosen = with_lifetime(low)
    decay = chosen.groups.decay[chosen.groups.of_node]
    why = explain.SLOWEST.format(decay=explain.in_words(decay), steps=steps)
    if question.hidden_std is not None:
        allowed = longest_hiding(response.chances, std, decay, question.hidden_std, question.probability)
        if steps > allowed and question.hidden_std <= float(std.min()):
            return _frozen(question, chosen, decay, (why, explain.FREEZES.format(steps=steps)))
    return _withdrawn(chosen, steps, chosen.groups.std**2, (why,), feasible=True)


def largest_noise(question: Question, response: Response) -> Found:
    """Accuracy and steps are given: the σ, common to all nodes, and the φ, if open, that leave most hidden."""
    steps, target = question.num_steps, question.target
    assert steps is not None
    assert target is not None
    quiet = response.parts(steps)[0]
    left = target * response.initial - quiet
    if left < 0:
        why = explain.TOO_FEW.format(steps=steps, left=quiet / response.initial)
        return _withdrawn(response, steps, np.zeros(len(response.groups.chance)), (why,), feasible=False)

    most = (_LOUDEST * question.value_std) ** 2

    def fitting(other: Response) -> float:
        """σ², as large as fits, and not so large that rounding would drown the values."""
        per_unit = float(other.parts(steps)[1].sum())
        return most if per_unit * most <= left else left / per_unit

    def hiding(other: Response) -> float:
        groups = other.groups
        std, decay = np.full(len(groups.of_node), math.sqrt(fitting(other))), groups.decay[groups.of_node]
        return hidden_left(other.chances, std, decay, steps, question.probability)

    chosen = response
    if question.noise_decay is None:
        chosen = max(_lifetimes(question, response, long=float(steps)), key=hiding)
    variance = fitting(chosen)
    why = explain.LOUDEST if variance == most else explain.LARGEST
    reasons = (why.format(std=math.sqrt(variance), steps=steps), explain.ONE_DRAW.format(hidden=math.sqrt(2.0 * left)))
    return _withdrawn(chosen, steps, np.full(len(chosen.groups.chance), variance), reasons, feasible=True)


def noise_that_stays(question: Question, response: Response) -> Found:
    """A wish against everyone else: one draw that stays costs least; more draws if neighbours shall know less, or if φ
    is given and the accuracy allows it.
    """
    assert question.hidden_std is not None
    best: Found | None = None
    for method in _budgets(question):
        kept = KeptNoise(response, method)
        steps = question.num_steps or kept.settled_steps(question.target)
        reached = kept.relative(steps)
        met = question.target is None or reached <= question.target * _ROUNDING
        shown = question.neighbour_std is None or _kept_from_neighbours(question, method, steps)
        count = int(method.draws(response.chances.graph)[0])
        often = "once" if count == 1 else f"{count} times"
        reasons = (explain.STAYS.format(hidden=question.hidden_std, often=often),)
        if not met:
            why = () if best is not None and best.feasible else (_price(question, reached),)
            return best or Found(response, steps, method, reached, (*reasons, *why), feasible=False)
        found = Found(response, steps, method, reached, reasons, feasible=shown)
        if shown and question.noise_decay is None:
            return found
        if best is None or not best.feasible or shown:
            best = found
        if question.target is None:
            break
    assert best is not None
    return best


def _budgets(question: Question) -> Iterator[BudgetedNoiseInsertion]:
    """1, 2, 3, 4, 6, … draws that spend the same budget; more draws begin with more noise."""
    assert question.hidden_std is not None
    decay = question.free_decay if question.noise_decay is None else question.noise_decay
    usable, draws = _brief(np.maximum(decay, 0.0)), 1
    while draws <= 200:
        if draws > 1 and not np.all(decay > 0.0):
            return
        try:
            method = BudgetedNoiseInsertion.with_draws(
                draws, hidden_std=question.hidden_std, noise_decay=usable if draws > 1 else 0.0
            )
        except InvalidParameter:
            return
        if np.max(method.noise_std) > _LOUDEST * question.value_std:
            return
        yield method
        draws += 1 + draws // 4


def noise_for_neighbours(question: Question, response: Response) -> Found:
    """A wish against neighbours: the smallest σ that is proved to keep it, and of several φ the best one."""
    given = question.noise_decay is not None
    candidates = [response] if given else list(_lifetimes(question, response))[:5]
    tried = [_for_neighbours(question, other) for other in candidates]

    def score(found: Found) -> tuple[bool, float]:
        fewest = found.feasible and question.num_steps is None
        return not found.feasible, float(found.num_steps) if fewest else found.relative_error

    best = min(tried, key=score)
    if best.feasible:
        return best
    # A node with one neighbour, above all, hides no more from it than from everyone: noise that stays hides from all.
    assert question.neighbour_std is not None
    alone = (question.neighbour_std**-2 - question.value_std**-2) ** -0.5
    return noise_that_stays(replace(question, hidden_std=alone, neighbour_std=None), response)


def _for_neighbours(question: Question, response: Response) -> Found:
    """σ for one φ. Steps and σ depend on each other: more noise takes longer, and longer runs may show more."""
    groups = response.groups
    decay = groups.decay[groups.of_node]

    def needed(std: float) -> int | None:
        if question.num_steps is not None:
            return question.num_steps
        assert question.target is not None
        variance = np.full(len(groups.chance), std**2)
        return settled_steps(partial(response.relative, variance=variance), question.target)

    std, steps = question.value_std, needed(question.value_std)
    for _ in range(4):
        if steps is None or steps > 1e9:
            return _withdrawn(response, 1, np.zeros(len(groups.chance)), (explain.NEVER_REACHED,), feasible=False)
        std = _smallest_noise(question, decay, steps)
        before, steps = steps, needed(std)
        if steps is not None and steps <= before:
            break
    if steps is None or steps > 1e9:
        return _withdrawn(response, 1, np.zeros(len(groups.chance)), (explain.NEVER_REACHED,), feasible=False)
    found = _withdrawn(response, steps, np.full(len(groups.chance), std**2), (), feasible=False)
    met = question.target is None or found.relative_error <= question.target * _ROUNDING
    if not (met and _kept_from_neighbours(question, found.method, steps)):
        return found
    why = explain.NEIGHBOURS.format(std=std, neighbour=question.neighbour_std, probability=question.probability)
    return replace(found, reasons=(why,), feasible=True)


def _smallest_noise(question: Question, decay: Array, steps: int) -> float:
    """σ, to one percent."""
    low, high = 1e-3 * question.value_std, question.value_std

    def enough(std: float) -> bool:
        return _kept_from_neighbours(question, NoiseInsertion(std, _brief(decay)), steps)

    while not enough(high) and high < _LOUDEST * question.value_std:
        low, high = high, 4.0 * high
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _kept_from_neighbours(question: Question, method: Planned, steps: int) -> bool:
    assert question.neighbour_std is not None
    assert question.probability is not None
    ahead = Neighbours(question.chances, method, steps, question.value_std, question.coalition_size)
    return ahead.failure(question.neighbour_std) <= 1.0 - question.probability


def _price(question: Question, reached: float) -> str:
    """What everyone else's ignorance costs at the least (:func:`sottovoce.privacy.price_of_hiding`)."""
    assert question.hidden_std is not None
    least = question.hidden_std**2 / ((question.chances.graph.num_nodes - 1.0) * question.value_std**2)
    return explain.PRICE.format(hidden=question.hidden_std, least=least, reached=reached)


def _withdrawn(response: Response, steps: int, variance: Array, reasons: tuple[str, ...], *, feasible: bool) -> Found:
    groups = response.groups
    method = NoiseInsertion(np.sqrt(variance)[groups.of_node], groups.decay[groups.of_node])
    return Found(response, steps, method, response.relative(steps, variance), reasons, feasible)


def _brief(values: Array) -> float | Array:
    """One number where all are equal."""
    return float(values[0]) if np.ptp(values) == 0.0 else values


def _slowed(free: Array, slower: float) -> Array:
    """φ whose noise lives ``slower`` times as long, cut where it would be gone at once."""
    fade = np.minimum((1.0 - free) * (1.0 + free) / slower, 1.0)
    return np.sqrt(1.0 - fade)


def _lifetimes(question: Question, response: Response, long: float = 1.0) -> Iterator[Response]:
    """Noise that lives shorter or longer than the free one; up to ``long`` steps."""
    ones = np.ones(len(question.free_decay))
    longest = 8.0 * long * question.chances.contraction_gap
    further = np.geomspace(2.0 * _LIFETIMES[-1], longest, 8).tolist() if longest > 2.0 * _LIFETIMES[-1] else []
    for slower in (*_LIFETIMES, *further):
        yield response.with_decay(_slowed(question.free_decay, slower), ones)


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


def _bisect(good: Callable[[float], bool], low: int, high: int) -> int:
    """The smallest k in (low, high] that is good; low is not, high is."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high
