"""A private release: noise that stays, so that the published mean itself is (ε, δ)-differentially private.

Everything else in this package hides values from those who take part and publishes the exact mean. Here each of the
members adds a share of whole-number noise to its value *before* it takes part; the shares stay in the mean.
If at least ``honest`` members do so, the noise in their sum is what (ε, δ) needs, also for whoever knows all other
shares. It is the mean that is private; who takes part also sees what seals let through of single contributions.

Two data sets are neighbours if one member's values differ, anywhere in the declared range. The accounting is in ρ of
zero-concentrated privacy: a discrete Gaussian release of variance σ² and distance Δ has Rényi divergence at most αρ at
every order α, ρ = Δ²/(2σ²); ρ adds up over numbers and releases. Only :mod:`math` is needed: a peer may import it.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, InvalidValues
from .discrete import closeness_of_sum, discrete_gaussian

__all__ = ["Contribution", "Release", "ReleaseCost"]

SMALLEST_SHARE = 4
"""No share has less variance, in squared units: from there on sums of shares are discrete Gaussian to 16 digits."""

_NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?|inf)"
_MARK = re.compile(rf" \[costs ρ={_NUMBER} τ={_NUMBER}\]$")

LARGEST = 2**48
"""Range and share must stay below this many units, so that floats carry whole units exactly; counts, too."""


@dataclass(frozen=True)
class ReleaseCost:
    """What releases tell of one member, and what several tell together: costs are added with ``+``.

    Parameters
    ----------
    rho
        ρ: the Rényi divergence of order α is at most αρ, for every α.
    closeness
        τ: the noise's law is within a factor e^τ of the one for which ρ holds.

    Examples
    --------
    >>> month = ReleaseCost(rho=0.01)
    >>> year = month.times(12)
    >>> round(month.epsilon(1e-6), 3), round(year.epsilon(1e-6), 3)
    (0.622, 2.366)
    >>> month + month == month.times(2)
    True
    """

    rho: float
    closeness: float = 0.0

    def __post_init__(self) -> None:
        if not (self.rho >= 0.0 and self.closeness >= 0.0):
            raise InvalidParameter(f"rho and closeness must be at least 0, got {self.rho:g} and {self.closeness:g}")

    def __add__(self, other: ReleaseCost) -> ReleaseCost:
        return ReleaseCost(self.rho + other.rho, self.closeness + other.closeness)

    def marked(self, name: str) -> str:
        """A topic's name that says what the topic costs, so that it can be read again: see :meth:`marked_in`.

        Examples
        --------
        >>> name = ReleaseCost(0.01).marked("2026-11/ages")
        >>> name, ReleaseCost.marked_in(name) == ReleaseCost(0.01), ReleaseCost.marked_in("2026-11")
        ('2026-11/ages [costs ρ=0.01 τ=0.0]', True, None)
        """
        return f"{name} [costs ρ={self.rho!r} τ={self.closeness!r}]"

    @classmethod
    def marked_in(cls, name: str) -> ReleaseCost | None:
        """The cost that a topic's name says; ``None``: it says none."""
        found = _MARK.search(name)
        return None if found is None else cls(float(found[1]), float(found[2]))

    def times(self, count: int) -> ReleaseCost:
        """The cost of ``count`` such releases."""
        return ReleaseCost(self.rho * count, self.closeness * count)

    def epsilon(self, delta: float) -> float:
        """An ε such that (ε, δ)-differential privacy holds.

        For every order α > 1, ε = αρ + (log(1/δ) + (α−1) log(α−1) − α log α)/(α−1) is one (Canonne, Kamath, Steinke
        2020, proposition 12); the least of them is looked for. A law within e^τ costs 2τ, and a factor e^τ in δ.
        """
        _check_between("delta", delta, 0.0, 1.0)
        if self.rho == 0.0 and self.closeness == 0.0:
            return 0.0
        if math.isinf(self.rho):
            return math.inf
        log_delta = math.log(delta) - self.closeness
        return max(0.0, _least(lambda log_excess: _epsilon_at(log_excess, self.rho, log_delta))) + 2.0 * self.closeness


@dataclass(frozen=True, repr=False)
class Contribution:
    """What a member puts into the average instead of its value.

    Parameters
    ----------
    value
        Value and noise, in the shape of the value: whole multiples of the unit. Draw it once for each release.
        A second draw for the same release is a second release.
    clipped
        How many numbers lay outside of the range and were moved to its end.
    """

    value: Any
    clipped: int


@dataclass(frozen=True)
class Release:
    """An agreement of the members about noise that stays in what they publish.

    Parameters
    ----------
    epsilon, delta
        What all ``releases`` together shall keep to, for each member.
    low, high
        The range of every number that a member contributes. The noise grows with its width.
    unit
        The network's unit, a decimal number as text; values are rounded to it.
    honest
        How many members, oneself included, are relied on to add their share and not to tell it.
    releases
        How many averages of this kind are planned.
    dimension
        How many numbers each of them has.

    Examples
    --------
    >>> agreed = Release(epsilon=1.0, delta=1e-6, low=0.0, high=100.0, unit="0.01", honest=8)
    >>> round(agreed.epsilon_reached(8), 3), round(agreed.epsilon_reached(6), 3), round(agreed.epsilon_reached(1), 2)
    (1.0, 1.167, 3.09)
    >>> round(agreed.error(10), 1), round(agreed.central_error(10), 1)
    (50.7, 45.3)
    """

    epsilon: float
    delta: float
    low: float
    high: float
    unit: str
    honest: int
    releases: int = 1
    dimension: int = 1

    def __post_init__(self) -> None:
        _check_between("epsilon", self.epsilon, 0.0, math.inf)
        _check_between("delta", self.delta, 0.0, 1.0)
        _check_between("low", self.low, -math.inf, math.inf)
        _check_between("high", self.high, -math.inf, math.inf)
        if not self.low < self.high:
            raise InvalidParameter(f"low must be below high, both finite, got {self.low!r} and {self.high!r}")
        for name in ("honest", "releases", "dimension"):
            _check_count(name, getattr(self, name))
        lowest, highest = self._ends
        if not lowest < highest:
            raise InvalidParameter(f"unit must be smaller than the range, got {self.unit}")
        widest = max(abs(lowest), abs(highest))
        if widest > LARGEST or widest + 10 * math.isqrt(self.share_variance) > LARGEST:
            raise InvalidParameter(f"unit must be larger: range and noise exceed 2**48 units of {self.unit}")

    # -- the noise ------------------------------------------------------------------------------

    @cached_property
    def share_variance(self) -> int:
        """Variance of each member's noise in squared units: the least whole number that keeps to (ε, δ)."""
        high = SMALLEST_SHARE
        while self._epsilon_with(high, self.honest) > self.epsilon:
            high *= 2
        low = high // 2 if high > SMALLEST_SHARE else SMALLEST_SHARE - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._epsilon_with(middle, self.honest) <= self.epsilon else (middle, high)
        return high

    @property
    def share_std(self) -> float:
        """Standard deviation of each member's noise, in the values' own measure.

        A network with a declared range must leave room for it: ten of these on both sides.
        """
        return math.sqrt(self.share_variance) * float(self._step)

    def contribution(
        self, value: Any, *, clip: bool = False, below: Callable[[int], int] = secrets.randbelow
    ) -> Contribution:
        """Value and noise, ready for the average.

        Parameters
        ----------
        value
            A number or an array with as many as ``dimension``.
        clip
            Whether numbers outside of the range are moved to its end, and counted. If not, they are refused.
        below
            Where random numbers come from: the operating system. Anything else is for tests.

        Raises
        ------
        InvalidValues
            The value is no number, has another size, is masked or not finite, or lies out of the range. The message
            does not show it.
        """
        given = _floats(value)
        if given.size != self.dimension:
            raise InvalidValues(f"the value must have dimension = {self.dimension} numbers, got {given.size}")
        if not bool(np.isfinite(given).all()):
            raise InvalidValues("every number of the value must be finite")
        inside = np.clip(given, self.low, self.high)
        clipped = int((inside != given).sum())
        if clipped and not clip:
            raise InvalidValues(f"{clipped} numbers lie outside of low = {self.low:g} … high = {self.high:g}")
        noisy = [float(self._noisy_units(number, below) * self._step) for number in inside.ravel().tolist()]
        return Contribution(noisy[0] if given.ndim == 0 else np.reshape(noisy, given.shape), clipped)

    # -- what it gives, and what it costs -------------------------------------------------------

    def cost(self, honest: int) -> ReleaseCost:
        """What one release tells of a member if ``honest`` members, itself included, added their share."""
        _check_count("honest", honest)
        return self._cost_with(self.share_variance, honest)

    def epsilon_reached(self, honest: int, *, releases: int | None = None) -> float:
        """The ε at this δ that really holds after ``releases`` (unless given: all that were planned).

        Parameters
        ----------
        honest
            How many members added their share and keep it to themselves: those who contributed, less those whom one
            suspects. Fewer than agreed means a larger ε.
        releases
            How many there were.
        """
        count = self.releases if releases is None else releases
        _check_count("releases", count)
        return self.cost(honest).times(count).epsilon(self.delta)

    def error(self, contributors: int) -> float:
        """Standard deviation that the noise gives each number of a mean of so many members."""
        _check_count("contributors", contributors)
        return math.sqrt(contributors) * self.share_std / contributors

    def central_error(self, contributors: int) -> float:
        """The same if a trusted server added the noise of ``honest`` members: smaller by √(contributors/honest)."""
        _check_count("contributors", contributors)
        return math.sqrt(self.honest) * self.share_std / contributors

    # -- inside ---------------------------------------------------------------------------------

    @cached_property
    def _step(self) -> Fraction:
        try:
            step = Decimal(self.unit)
        except (InvalidOperation, TypeError, ValueError):
            step = Decimal(0)
        if type(self.unit) is not str or not step.is_finite() or not step > 0 or not -300 < step.adjusted() < 300:
            raise InvalidParameter(f"unit must be a positive decimal number such as '0.01', got {self.unit!r}")
        return Fraction(step)

    @property
    def _ends(self) -> tuple[int, int]:
        """The range in units. Rounding keeps the order, so that no rounded value lies outside."""
        return round(_exactly(self.low) / self._step), round(_exactly(self.high) / self._step)

    def _noisy_units(self, number: float, below: Callable[[int], int]) -> int:
        return round(_exactly(number) / self._step) + discrete_gaussian(self.share_variance, below=below)

    def _cost_with(self, variance: int, honest: int) -> ReleaseCost:
        lowest, highest = self._ends
        rho = float(Fraction(self.dimension * (highest - lowest) ** 2, 2 * honest * variance))
        return ReleaseCost(rho, self.dimension * closeness_of_sum(variance, honest))

    def _epsilon_with(self, variance: int, honest: int) -> float:
        return self._cost_with(variance, honest).times(self.releases).epsilon(self.delta)


def _epsilon_at(log_excess: float, rho: float, log_delta: float) -> float:
    """The ε of order α = 1 + exp(log_excess)."""
    excess = math.exp(log_excess)
    # (α−1) log(α−1) − α log α, without the difference of two large numbers
    entropy = -excess * math.log1p(1.0 / excess) - math.log1p(excess)
    return (1.0 + excess) * rho + (entropy - log_delta) / excess


def _least(function: Callable[[float], float]) -> float:
    """The least value found on [−25, 60] by golden sections; each value is a valid ε, so that none can be wrong."""
    ratio = 0.5 * (math.sqrt(5.0) - 1.0)
    low, high = -25.0, 60.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 1e-9:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return min(at_left, at_right)


def _exactly(number: float) -> Fraction:
    """The shortest decimal number that is read as this float."""
    return Fraction(Decimal(repr(float(number))))


def _floats(value: Any) -> npt.NDArray[np.float64]:
    """A value as floats. What numpy says of one that is none is not passed on: it would show it."""
    if np.ma.is_masked(value):
        raise InvalidValues("the value has masked numbers: fill them in, or leave them out")
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValues("the value must be a number or an array of numbers") from None
    except OverflowError:
        raise InvalidValues("the value has a number that no float can hold") from None


def _check_between(name: str, value: float, low: float, high: float) -> None:
    given: object = value
    number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    try:
        inside = number and low < float(value) < high
    except OverflowError:
        inside = False
    if not inside:
        raise InvalidParameter(f"{name} must lie between {low:g} and {high:g}, got {value!r:.40}")


def _check_count(name: str, value: int) -> None:
    given: object = value
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= LARGEST:
        raise InvalidParameter(f"{name} must be a whole number, at least 1 and at most 2**48, got {value!r:.40}")
