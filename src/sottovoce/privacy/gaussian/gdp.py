"""Gaussian differential privacy arithmetic: from μ to (ε, δ) and back.

A view is μ-GDP for a private value when telling two candidate values apart from it is no easier than
telling N(0, 1) from N(μ, 1) (Dong, Roth, Su 2022). For linear-Gaussian views that is not a bound but
the truth, with μ = Δ·√(Fisher information). Everything here is scalar, uses only :mod:`math` and keeps
its relative precision where δ is tiny or μ is: a peer imports it. What the information *is* lives in
:mod:`.account` and :mod:`.auditing`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ...errors import InvalidParameter

__all__ = ["compose", "delta", "epsilon", "largest_mu"]

_ROOT_HALF = math.sqrt(0.5)
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_SMALL = 1.0
# Gauss–Legendre on [−1, 1], ten points (positive half; the rule is symmetric).
_NODES = (0.14887433898163122, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845, 0.9739065285171717)
_WEIGHTS = (0.29552422471475287, 0.26926671930999636, 0.21908636251598204, 0.1494513491505806, 0.06667134430868814)


def delta(mu: float, epsilon: float) -> float:
    """The δ at which μ-GDP gives (ε, δ)-differential privacy.

    δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2). The two terms are never subtracted where they nearly
    cancel, and e^ε is never formed: with a = ε/μ − μ/2, b = ε/μ + μ/2 and φ, M the normal density and
    its Mills ratio, e^ε φ(b) = φ(a), so δ = φ(a)·(M(a) − M(b)).

    Parameters
    ----------
    mu
        μ ≥ 0; infinity means that the value is disclosed (δ = 1).
    epsilon
        ε ≥ 0.

    Examples
    --------
    >>> [round(delta(1.0, e), 6) for e in (0.5, 1.0, 2.0)]
    [0.238422, 0.126937, 0.020924]
    >>> delta(0.0, 0.0), delta(math.inf, 3.0)
    (0.0, 1.0)
    """
    mu, epsilon = _at_least_zero("mu", mu), _at_least_zero("epsilon", epsilon)
    if mu == 0.0 or math.isinf(epsilon):
        return 1.0 if math.isinf(mu) else 0.0
    if math.isinf(mu):
        return 1.0
    centre = epsilon / mu
    a, b = centre - 0.5 * mu, centre + 0.5 * mu
    if mu < _SMALL:
        return _density(a) * _mills_difference(centre, mu)
    if a <= 0.0:
        return _upper(a) - _density(a) * _mills(b)
    return _density(a) * (_mills(a) - _mills(b))


def epsilon(mu: float, delta: float) -> float:
    """The smallest ε ≥ 0 at which μ-GDP gives (ε, δ)-differential privacy.

    Parameters
    ----------
    mu
        μ ≥ 0.
    delta
        δ in [0, 1]; with δ = 0 only μ = 0 has a finite answer.

    Examples
    --------
    >>> round(epsilon(1.0, 0.126937), 4)
    1.0
    >>> epsilon(1.0, 0.0), epsilon(0.0, 0.0)
    (inf, 0.0)
    """
    mu, wanted = _at_least_zero("mu", mu), _probability("delta", delta)
    if mu == 0.0 or wanted == 1.0:
        return 0.0
    if wanted == 0.0 or math.isinf(mu):
        return math.inf
    if _delta_of(mu, 0.0) <= wanted:
        return 0.0
    # Φ(−z) ≤ ½ exp(−z²/2) makes this end large enough.
    high = mu * (0.5 * mu + math.sqrt(-2.0 * math.log(wanted)))
    return _bisect(lambda e: _delta_of(mu, e) <= wanted, 0.0, high)


def largest_mu(epsilon: float, delta: float) -> float:
    """The largest μ for which μ-GDP implies (ε, δ)-differential privacy: what an (ε, δ) budget allows.

    Parameters
    ----------
    epsilon
        ε ≥ 0.
    delta
        δ in [0, 1).

    Examples
    --------
    >>> round(largest_mu(1.0, 1e-5), 6)
    0.268051
    >>> largest_mu(1.0, 0.0)
    0.0
    """
    limit, wanted = _at_least_zero("epsilon", epsilon), _probability("delta", delta)
    if wanted == 1.0 or math.isinf(limit):
        return math.inf
    if wanted == 0.0:
        return 0.0
    high = 1.0
    while _delta_of(high, limit) <= wanted:
        high *= 2.0
    # Bisect for the smallest μ that breaks the promise and return the last one that keeps it.
    low = 0.0
    while True:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            return low
        low, high = (middle, high) if _delta_of(middle, limit) <= wanted else (low, middle)


def compose(*mus: float) -> float:
    """μ of several releases about one value whose noises are independent: √(Σ μ²).

    It is wrong for messages that share noise, such as the messages of one gossip run: take μ from an
    audit of the whole run, or from an :class:`~sottovoce.privacy.Account`, and compose runs.

    Examples
    --------
    >>> compose(3.0, 4.0)
    5.0
    """
    return math.hypot(*(_at_least_zero("mu", mu) for mu in mus))


# The public names shadow their own parameters, so helpers call the function by another name.
_delta_of = delta


def _bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest point of [low, high] where ``holds`` (false then true) is true, to the last bit."""
    while True:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            return high
        low, high = (low, middle) if holds(middle) else (middle, high)


def _density(x: float) -> float:
    return math.exp(-0.5 * x * x) / _ROOT_TWO_PI


def _upper(x: float) -> float:
    """Φ(−x)."""
    return 0.5 * math.erfc(x * _ROOT_HALF)


def _mills(x: float) -> float:
    """Φ(−x)/φ(x), for x > −30."""
    if x < 5.0:
        return _upper(x) / _density(x)
    return 1.0 / (x + _tail(x))


def _tail(x: float) -> float:
    """K in M(x) = 1/(x + K), K = 1/(x + 2/(x + 3/(x + …))) (Laplace's continued fraction), x ≥ 2."""
    value = x
    for k in range(200 if x < 5.0 else 60, 1, -1):
        value = x + k / value
    return 1.0 / value


def _mills_slope(x: float) -> float:
    """−M′(x) = 1 − x·M(x), positive and without cancellation."""
    if x < 2.0:
        return 1.0 - x * _mills(x)
    tail = _tail(x)
    return tail / (x + tail)


def _mills_difference(centre: float, width: float) -> float:
    """M(centre − width/2) − M(centre + width/2) = ∫ −M′, by quadrature, for narrow intervals."""
    half = 0.5 * width
    total = 0.0
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        total += weight * (_mills_slope(centre - half * node) + _mills_slope(centre + half * node))
    return half * total


def _at_least_zero(name: str, value: float) -> float:
    number = float(value)
    if not number >= 0.0:
        raise InvalidParameter(f"{name} must be at least 0, got {number:g}")
    return number


def _probability(name: str, value: float) -> float:
    number = float(value)
    if not 0.0 <= number <= 1.0:
        raise InvalidParameter(f"{name} must be in [0, 1], got {number:g}")
    return number
