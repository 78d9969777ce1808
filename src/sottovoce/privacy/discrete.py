"""Whole-number Gaussian noise that is exact: no float takes part, so that no last digit tells anything.

The discrete Gaussian law with variance parameter σ² gives the whole number x a chance proportional to exp(−x²/2σ²)
(Canonne, Kamath, Steinke 2020). It is drawn by rejection from whole random numbers below given limits, and by nothing
else. How long a draw takes depends a little on what is drawn: an observer with a stop-watch at the processor is not
kept out. What the noise protects is computed in :mod:`.releases`.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable

from ..errors import InvalidParameter

__all__ = ["closeness_of_sum", "discrete_gaussian"]

Below = Callable[[int], int]


def discrete_gaussian(variance: int, *, below: Below = secrets.randbelow) -> int:
    """Draw one whole number x with chance proportional to exp(−x²/(2·variance)).

    Parameters
    ----------
    variance
        σ², a whole number, at least 1. From about 2 on it is the law's variance to six digits.
    below
        Gives a uniform whole number in [0, limit). By default the operating system's; anything else is for tests.

    Examples
    --------
    >>> isinstance(discrete_gaussian(10**10), int)
    True
    """
    _check_variance(variance)
    scale = math.isqrt(variance) + 1
    bottom = 2 * variance * scale * scale
    while True:
        found = _laplace(scale, below)
        # exp(−(|x| − σ²/t)²/(2σ²)) is the ratio of the two laws, divided by its maximum.
        if _chance_exp((abs(found) * scale - variance) ** 2, bottom, below):
            return found


def closeness_of_sum(variance: int, count: int) -> float:
    """How far the sum of ``count`` such numbers is from the discrete Gaussian law of the summed variance.

    No whole number's chance differs by more than the factor e^τ in either direction, with
    τ = 10 Σ_{k=1}^{count−1} exp(−2π²σ²k/(k+1)) (Kairouz, Liu, Steinke 2021). One step of the sum: the quotient of the
    two laws is a theta function θ(c) of the place c, divided by a mean of θ; by Poisson's summation formula
    θ lies within a factor 1 ± s of a constant, s = 2 Σ_j exp(−2π²γ²j²), 1/γ² = 1/σ² + 1/(kσ²); and
    log((1 + s)/(1 − s)) < 10 exp(−2π²γ²) as soon as γ² is at least 1/2.

    Examples
    --------
    >>> closeness_of_sum(4, 1), closeness_of_sum(4, 2) < 1e-15
    (0.0, True)
    """
    _check_variance(variance)
    steps = range(1, min(count, 1000))
    first = sum(math.exp(-2.0 * math.pi**2 * variance * k / (k + 1)) for k in steps)
    rest = max(0, count - 1000) * math.exp(-2.0 * math.pi**2 * variance * 1000 / 1001)
    return 10.0 * (first + rest)


def _laplace(scale: int, below: Below) -> int:
    """A whole number x with chance proportional to exp(−|x|/scale)."""
    while True:
        small = below(scale)
        if not _chance_exp(small, scale, below):
            continue
        large = 0
        while _chance_exp(1, 1, below):
            large += 1
        size = small + scale * large
        if below(2) == 0:
            return size
        if size:  # zero has one sign only
            return -size


def _chance_exp(top: int, bottom: int, below: Below) -> bool:
    """True with chance exp(−top/bottom), exactly."""
    whole, rest = divmod(top, bottom)
    return all(_short_chance(1, 1, below) for _ in range(whole)) and _short_chance(rest, bottom, below)


def _short_chance(top: int, bottom: int, below: Below) -> bool:
    """The same for top ≤ bottom, by von Neumann's alternating series: the run of successes has an even length."""
    turn = 1
    while below(bottom * turn) < top:
        turn += 1
    return turn % 2 == 1


def _check_variance(variance: int) -> None:
    given: object = variance
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InvalidParameter(f"variance must be a whole number, at least 1, got {variance!r}")
