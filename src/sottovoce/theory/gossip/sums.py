"""Geometric sums that stay accurate when the ratios nearly coincide or nearly equal one.

With f(z) = z^k, the sums of Theorem 1 are divided differences of f:
Σ_{t=1}^{k} a^{k−t} b^{t−1} = f[a, b] and, one order higher, Σ_{i+j+l=k−2} a^i b^j c^l = f[a, b, c].
Both are sums of positive terms; written as quotients they cancel. Here each argument is given by its
gap 1 − a, and the quotients are formed with ``log1p`` and ``expm1``, or by a series where the
arguments lie closer together than 1/k. Every function broadcasts.
Sums of these over a million nodes are in :mod:`.many`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...foundation.arguments import Array

__all__ = ["geometric_sum", "power", "second_sum"]

_SERIES_TERMS = 20


def power(gap: npt.ArrayLike, exponent: npt.ArrayLike) -> Array:
    """(1 − gap)^exponent for gap in [0, 1] and exponent ≥ 0, with 0⁰ = 1.

    Examples
    --------
    >>> float(power(0.25, 2)), float(power(1.0, 0)), float(power(1.0, 3))
    (0.5625, 1.0, 0.0)
    """
    gap, exponent = np.asarray(gap, dtype=np.float64), np.asarray(exponent, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.exp(exponent * np.log1p(-gap))
    return np.where(exponent == 0, 1.0, result)


def geometric_sum(num_terms: npt.ArrayLike, first_gap: npt.ArrayLike, second_gap: npt.ArrayLike) -> Array:
    """Σ_{t=1}^{k} a^{k−t} b^{t−1} with a = 1 − first_gap, b = 1 − second_gap and k = num_terms ≥ 0.

    Equal to (a^k − b^k)/(a − b), and to k a^{k−1} when a = b.

    Examples
    --------
    >>> float(geometric_sum(3, 0.5, 0.5)), float(geometric_sum(2, 0.5, 0.25))
    (0.75, 1.25)
    >>> float(geometric_sum(10**7, 1e-30, 0.0))
    10000000.0
    """
    k = np.asarray(num_terms, dtype=np.float64)
    small = np.minimum(first_gap, second_gap)
    apart = np.abs(np.subtract(first_gap, second_gap))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio_gap = np.minimum(apart / (1.0 - small), 1.0)
        share = -np.expm1(k * np.log1p(-ratio_gap)) / ratio_gap
    share = np.where(ratio_gap > 0, share, k)
    result = power(small, np.maximum(k - 1, 0)) * share
    return np.where(k == 0, 0.0, result)


def second_sum(num_terms: npt.ArrayLike, gaps: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]) -> Array:
    """Σ_{i+j+l=k−2} a^i b^j c^l, the second divided difference of z^k; zero for k < 2.

    Examples
    --------
    >>> float(second_sum(2, (0.1, 0.2, 0.3))), round(float(second_sum(3, (0.1, 0.2, 0.3))), 12)
    (1.0, 2.4)
    """
    k, *given = np.broadcast_arrays(np.asarray(num_terms, dtype=np.float64), *gaps)
    low, middle, high = np.sort(np.stack(given).astype(np.float64), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = (geometric_sum(k, low, middle) - geometric_sum(k, middle, high)) / (high - low)
    close = k * (high - low) <= 1.0 - low
    result = np.where(close, 0.0, quotient)
    if close.any():
        result[close] = _second_series(k[close], low[close], middle[close], high[close])
    return np.where(k < 2, 0.0, result)


def _second_series(k: Array, low: Array, middle: Array, high: Array) -> Array:
    """Σ_i C(k, i)(−1)^i h_{i−2}(d₁, d₂), with the largest argument factored out and d the relative distances to it.

    With k·d ≤ 1 the terms fall like 1/i! from the first, so nothing cancels.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        near, far = (middle - low) / (1.0 - low), (high - low) / (1.0 - low)
    near, far = np.nan_to_num(near), np.nan_to_num(far)
    binomial = k * (k - 1.0) / 2.0
    homogeneous, near_power = np.ones_like(k), np.ones_like(k)
    total = binomial.copy()
    for i in range(3, _SERIES_TERMS):
        binomial = -binomial * (k - i + 1.0) / i
        near_power = near_power * near
        homogeneous = homogeneous * far + near_power
        total += binomial * homogeneous
    return total * power(low, np.maximum(k - 2.0, 0.0))
