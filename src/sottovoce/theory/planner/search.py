"""The searches behind :func:`sottovoce.theory.plan`: steps for an accuracy, noise for a privacy wish, and both at once.

Every search asks a response (:mod:`.response`) for the expected error at some k; nothing here knows whether that
is exact or a bound. What is found is put into words by :mod:`.explain`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...errors import InvalidParameter
from ...methods.noise_insertion import information
from ..gossip.setting import Floats
from .response import Groups, Response

__all__ = [
    "DecayCost",
    "Wish",
    "best_decay",
    "check_positive",
    "decay_costs",
    "hidden_std_left",
    "settled_steps",
    "solve",
]

_LONGEST = 1e15
"""No plan is longer than this many steps."""


@dataclass(frozen=True)
class DecayCost:
    """What noise that lives longer costs: 1 − φ² divided by ``slower`` at every node, and the steps then needed."""

    slower: float
    smallest_decay: float
    largest_decay: float
    num_steps: int | None


@dataclass(frozen=True)
class Wish:
    """What was asked of the plan, checked."""

    relative_error: float | None
    probability: float | None
    num_steps: int | None
    hidden_std: float | None

    def __post_init__(self) -> None:
        for name in ("relative_error", "hidden_std"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        if self.probability is not None and not 0.0 < self.probability < 1.0:
            raise InvalidParameter(f"probability must be in (0, 1), got {self.probability:g}")
        if self.num_steps is not None and (self.num_steps < 1 or int(self.num_steps) != self.num_steps):
            raise InvalidParameter(f"num_steps must be a whole number ≥ 1, got {self.num_steps}")

    @property
    def target(self) -> float | None:
        """The expected relative error to reach."""
        if self.relative_error is None:
            return None
        return self.relative_error * (1.0 if self.probability is None else 1.0 - self.probability)

    def check(self, std: Floats | None) -> None:
        """Refuse what leaves σ or the steps open."""
        if std is None and self.hidden_std is None and (self.relative_error is None or self.num_steps is None):
            raise InvalidParameter(
                "plan needs noise_std, or hidden_std, or both relative_error and num_steps, to find the noise"
            )
        if self.num_steps is None and self.relative_error is None and (std is None or self.hidden_std is None):
            raise InvalidParameter(
                "plan needs num_steps, or relative_error, or noise_std and hidden_std, to find the steps"
            )


def solve(wish: Wish, response: Response, reasons: list[str], *, std_given: bool) -> tuple[int, Floats, bool]:
    """Steps, σ² of every group, and whether all wishes are met; what decided is appended to ``reasons``."""
    groups = response.groups
    if std_given:
        return _with_known_noise(wish, response, reasons)
    if wish.hidden_std is not None:
        return _with_privacy(wish, response, reasons)
    assert wish.target is not None
    assert wish.num_steps is not None
    quiet, per_unit = response.parts(wish.num_steps)
    left = wish.target * response.initial - quiet
    if left < 0:
        reasons.append(
            f"{wish.num_steps:,} steps are too few even without noise: they leave {quiet / response.initial:.2g}."
        )
        return wish.num_steps, np.zeros(len(groups.chance)), False
    std = math.sqrt(left / float(per_unit.sum()))
    reasons.append(f"σ = {std:.4g} is the largest noise with which {wish.num_steps:,} steps reach the wanted error.")
    return wish.num_steps, np.full(len(groups.chance), std**2), True


def _with_known_noise(wish: Wish, response: Response, reasons: list[str]) -> tuple[int, Floats, bool]:
    """σ is given: as many steps as the accuracy needs, or as privacy allows."""
    groups, variance = response.groups, response.groups.std**2
    steps, feasible = wish.num_steps, True
    allowed = math.inf
    if wish.hidden_std is not None:
        hidden = wish.hidden_std
        allowed = _most_steps(lambda k: hidden_std_left(groups, variance, k, wish.probability) >= hidden)
        reasons.append(
            f"Beyond {allowed:,.0f} steps all others together would know some value better than ± {wish.hidden_std:g}."
            if allowed < _LONGEST
            else f"The wish of ± {wish.hidden_std:g} never limits the number of steps."
        )
    if steps is None and wish.target is not None:
        found = settled_steps(lambda k: response.relative(k, variance), wish.target)
        if found is None:
            reasons.append("The wanted error is not reached within any number of steps.")
        steps, feasible = (found, True) if found is not None else (int(min(allowed, _LONGEST)), False)
    if steps is None:
        steps = max(int(min(allowed, _LONGEST)), 0)
    if steps > allowed:
        reasons.append(
            f"Accuracy and privacy contradict each other: {steps:,} steps are needed or given, {allowed:,.0f} allowed."
        )
        feasible = False
    if wish.target is not None and response.relative(steps, variance) > wish.target * (1.0 + 1e-9):
        feasible = False
    return steps, variance, feasible


def _with_privacy(wish: Wish, response: Response, reasons: list[str]) -> tuple[int, Floats, bool]:
    """σ follows from the wish and the number of messages: σ² = hidden² Σ φ^{−2t} for each group."""
    assert wish.hidden_std is not None
    groups, hidden = response.groups, wish.hidden_std

    def needed(k: float) -> Floats:
        return hidden**2 * information(1.0, groups.decay, _messages(groups, k, wish.probability))

    def error(k: float) -> float:
        variance = needed(k)
        return response.relative(k, variance) if np.isfinite(variance).all() else math.inf

    reasons.append(
        "σ is chosen so that the last message of every node still carries enough noise for the privacy wish; "
        "what is not withdrawn is also what is left of the error."
    )
    if wish.num_steps is not None:
        variance = needed(wish.num_steps)
        if not np.isfinite(variance).all():
            reasons.append(f"No σ hides a value that long: {wish.num_steps:,} steps are too many for this φ.")
            return wish.num_steps, np.zeros(len(groups.chance)), False
        return wish.num_steps, variance, wish.target is None or error(wish.num_steps) <= wish.target * (1.0 + 1e-9)
    assert wish.target is not None
    target = wish.target
    grid = np.unique(np.round(np.geomspace(1, 100.0 / min(response.gossip_gap, float(groups.gap.min())), 400)))
    reached = np.array([error(k) for k in grid])
    good = np.flatnonzero(reached <= target)
    if len(good):
        first = int(good[0])
        low = int(grid[first - 1]) if first else 0
        steps = _bisect(lambda k: error(k) <= target, low, int(grid[first]))
        return steps, needed(steps), True
    steps = int(grid[int(np.argmin(reached))])
    reasons.append(
        f"Not both: with ± {hidden:g} left hidden from all others together the expected relative error cannot go below "
        f"about {reached.min():.2g} here: noise that hides a value to the end is noise still in the values, and nodes "
        "that happened to speak less often carry more of it."
    )
    return steps, needed(steps), False


def best_decay(wish: Wish, response: Response, free: Floats) -> Response:
    """Of noise that lives shorter or longer than the free one, the response that serves the privacy wish best.

    Fast noise is gone before it has spread; slow noise is still there at the end. Nodes that happen to speak less
    often than others keep more of it, which is what makes fast noise costly.
    """
    best, rank = response, (math.inf, math.inf)
    for slower in (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0):
        shrink = (1.0 - free) * (1.0 + free) / slower
        if shrink.max() >= 1.0:
            continue
        other = response.with_decay(np.sqrt(1.0 - shrink), np.ones(len(free)))
        steps, variance, feasible = _with_privacy(wish, other, [])
        score = (0.0, float(steps)) if feasible else (1.0, other.relative(steps, variance))
        if wish.num_steps is not None and feasible:
            score = (0.0, other.relative(steps, variance))
        if score < rank:
            best, rank = other, score
    return best


def _messages(groups: Groups, k: float, probability: float | None) -> Floats:
    """How often each group's nodes speak in k steps: expected, or at most so often with this probability."""
    if probability is None:
        return np.ceil(k * groups.chance)
    import scipy.stats

    return np.asarray(scipy.stats.binom.ppf(probability, np.round(k), groups.chance), dtype=np.float64)


def hidden_std_left(groups: Groups, variance: Floats, k: float, probability: float | None) -> float:
    """The standard deviation of the most exposed node against everyone else."""
    known = information(np.sqrt(variance), groups.decay, _messages(groups, k, probability))
    with np.errstate(divide="ignore"):
        return float(np.min(1.0 / np.sqrt(known)))


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


def decay_costs(wish: Wish, response: Response, decay: Floats, std: Floats) -> tuple[DecayCost, ...]:
    """Steps to the wanted error with the plan's φ, and with noise that lives 2, 4 and 10 times as long."""
    assert wish.target is not None
    found = []
    for slower in (1.0, 2.0, 4.0, 10.0):
        longer = np.sqrt(1.0 - (1.0 - decay) * (1.0 + decay) / slower)
        other = response if slower == 1.0 else response.with_decay(longer, std)
        steps = settled_steps(partial(other.relative, variance=other.groups.std**2), wish.target)
        found.append(DecayCost(slower, float(longer.min()), float(longer.max()), steps))
    return tuple(found)


def check_positive(name: str, value: float) -> None:
    """Refuse what is not finite and > 0."""
    if not (value > 0 and math.isfinite(value)):
        raise InvalidParameter(f"{name} must be finite and > 0, got {value:g}")
