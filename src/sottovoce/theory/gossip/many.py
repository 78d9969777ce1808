"""Weighted geometric sums over very many nodes and many k.

Nodes with equal parameters are merged. When a million nodes all differ, their gaps are replaced by
a few thousand with nearly the same sums (:func:`compress`), so that 10⁶ nodes at 10³ values of k do
not cost 10⁹ exponentials. The sums themselves are in :mod:`.sums`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...foundation.arguments import Array
from .sums import geometric_sum, power, second_sum

__all__ = ["compress", "noise_sums", "noise_sums_from_start", "weighted_sums"]

Steps = npt.NDArray[np.int64]

_DIRECT = 2_000_000
"""Up to this many (node group, k) pairs every term is evaluated; beyond, the gaps are compressed."""

_BLOCK = 250_000
"""Terms in flight at once: a few megabytes."""

_TABLE = 1_000_000
_NARROWEST = 64
_BATCH = 64
"""Entries of a block's tables, its fewest steps, and how many blocks share one matrix product."""

_BIN_RATIO = 1.05
_BIN_POINTS = 32

_TINY_DECAY_SQUARED = 1e-6
"""Below this φ² taking the second difference apart would lose more than six digits."""

_FEW = 200
"""So many groups of nodes with tiny φ are summed one by one whatever the number of steps."""


def weighted_sums(term: Callable[[Array, Array], Array], steps: Steps, gaps: Array, weights: Array) -> Array:
    """``(len(steps),)`` Σ_i weights_i · term(k, gaps_i), for a term as smooth in the gap as (1 − gap)^k."""
    (gaps,), weights = merged((gaps,), weights)
    if len(gaps) * len(steps) > _DIRECT:
        fewer, lighter = compress(gaps, weights)
        if len(fewer) < len(gaps):
            gaps, weights = fewer, lighter
    return _blocks(steps, len(gaps), lambda k: term(k, gaps) @ weights)


def noise_sums(
    steps: Steps, rho_gap: float, gaps: Array, chances: Array, weights: Array, saved: Array | None = None
) -> Array:
    """``(len(steps),)`` Σ_i weights_i f[ρ, r_i] − Σ_i saved_i f[ρ, r_i, 1 − p_i], f(z) = z^k.

    Gaps are 1 − r_i, chances p_i.
    For very many different nodes the second difference is taken apart, (f[ρ, r] − f[ρ, 1 − p])/(p φ²), and each half
    is compressed. This cancels at most 1/φ² ≤ 10⁶ times rounding of a quantity that is itself
    1/n of the bound. Nodes with smaller φ are kept whole if few differ; otherwise they count
    as φ = 0, which can only raise the bound.
    """

    def term(k: Array, gap: Array) -> Array:
        return geometric_sum(k, rho_gap, gap)

    if saved is None:
        return weighted_sums(term, steps, gaps, weights)
    if _combinations(gaps, chances) * len(steps) <= _DIRECT:
        (gap, chance), less = merged((gaps, chances), saved)
        savings = _blocks(steps, len(gap), lambda k: second_sum(k, (rho_gap, gap, chance)) @ less)
        return weighted_sums(term, steps, gaps, weights) - savings
    decay_squared = 1.0 - gaps / chances
    usual = decay_squared >= _TINY_DECAY_SQUARED
    shares = np.where(usual, saved / (chances * np.where(usual, decay_squared, 1.0)), 0.0)
    result = weighted_sums(term, steps, gaps, weights - shares) + weighted_sums(term, steps, chances, shares)
    if not usual.all():
        result -= _tiny_decay_sums(steps, rho_gap, gaps[~usual], chances[~usual], saved[~usual])
    return result


def _tiny_decay_sums(steps: Steps, rho_gap: float, gaps: Array, chances: Array, saved: Array) -> Array:
    """Σ_i saved_i f[ρ, r_i, 1 − p_i] for nodes with r_i close to 1 − p_i; as if equal where very many differ."""
    (gap, chance), less = merged((gaps, chances), saved)
    if len(gap) > _FEW:
        return weighted_sums(lambda k, chance: second_sum(k, (rho_gap, chance, chance)), steps, chances, saved)
    return _blocks(steps, len(gap), lambda k: second_sum(k, (rho_gap, gap, chance)) @ less)


def noise_sums_from_start(
    last: int, rho_gap: float, gaps: Array, chances: Array, weights: Array, saved: Array | None = None
) -> Array | None:
    """:func:`noise_sums` at every k = 0..last, a block of steps at a time; ``None`` for too many different nodes.

    From the values at k₀ those at k₀ + s follow with tables of s alone, by splitting the sums at k₀:
    f_{k₀+s}[ρ, r] = ρ^s f_{k₀}[ρ, r] + r^{k₀} f_s[ρ, r], and one order higher likewise. All terms are positive.
    """
    if _combinations(gaps, chances) > _TABLE // _NARROWEST:
        return None
    (gap, chance), weight = merged((gaps, chances), weights)
    width = int(np.clip(_TABLE // len(gap), _NARROWEST, 4096))
    s = np.arange(1.0, width + 1.0)[:, None]
    decay = power(rho_gap, s[:, 0])
    first = geometric_sum(s, rho_gap, gap) * weight
    outer = None
    if saved is not None:
        less = merged((gaps, chances), saved)[1]
        first = first - second_sum(s, (rho_gap, gap, chance)) * less
        outer = geometric_sum(s, rho_gap, chance) * less
    result = np.zeros(last + 1)
    for batch in np.split(starts := np.arange(0, last, width), range(_BATCH, len(starts), _BATCH)):
        pushed = first @ power(gap[:, None], batch)
        if outer is not None:
            pushed -= outer @ geometric_sum(batch, gap[:, None], chance[:, None])
        for begin, push in zip(batch, pushed.T, strict=True):
            count = min(width, last - begin)
            result[begin + 1 : begin + 1 + count] = (decay * result[begin] + push)[:count]
    return result


def merged(keys: tuple[Array, ...], weights: Array) -> tuple[tuple[Array, ...], Array]:
    """Join entries whose keys all agree, adding their weights; left as it is where almost all differ."""
    different = [np.unique(key) for key in keys]
    combinations = int(np.prod([float(len(values)) for values in different]))
    if combinations > max(len(weights) // 2, 1):
        return keys, weights
    code = np.zeros(len(weights), dtype=np.int64)
    for key, values in zip(keys, different, strict=True):
        code = code * len(values) + np.searchsorted(values, key)
    total = np.asarray(np.bincount(code, weights, combinations), dtype=np.float64)
    used = np.flatnonzero(np.bincount(code, minlength=combinations))
    places = np.unravel_index(used, [len(values) for values in different])
    return tuple(values[place] for values, place in zip(different, places, strict=True)), total[used]


def _combinations(*keys: Array) -> int:
    return min(len(keys[0]), int(np.prod([float(len(np.unique(key))) for key in keys])))


def _blocks(steps: Steps, width: int, evaluate: Callable[[Array], Array]) -> Array:
    result = np.empty(len(steps))
    block = max(1, _BLOCK // width)
    for start in range(0, len(steps), block):
        k = steps[start : start + block, None].astype(np.float64)
        result[start : start + block] = evaluate(k)
    return result


def compress(gaps: Array, weights: Array) -> tuple[Array, Array]:
    """Fewer gaps and weights with (nearly) the same Σ w_i F(gap_i) for every sum in this module.

    Gaps are sorted into bins at most 5 % wide; inside a bin F is replaced by its polynomial
    interpolant in 32 Chebyshev points, so the bin's weights turn into 32. F(h) is as smooth as
    exp(−k h): the interpolant's error is below 1e−11 of the bin's largest F for every k
    for which (1 − h)^k has not underflowed.
    """
    order = np.argsort(gaps)
    gaps, weights = gaps[order], weights[order]
    with np.errstate(divide="ignore"):
        label = np.floor(np.log(gaps) / np.log(_BIN_RATIO))
    starts = np.flatnonzero(np.concatenate([[True], label[1:] != label[:-1]]))
    low, high = gaps[starts], gaps[np.concatenate([starts[1:], [len(gaps)]]) - 1]
    counts = np.diff(np.concatenate([starts, [len(gaps)]]))
    half = np.where(high > low, (high - low) / 2.0, 1.0)
    position = (gaps - np.repeat((low + high) / 2.0, counts)) / np.repeat(half, counts)
    moments = _chebyshev_moments(position, weights, starts)
    angles = (np.arange(_BIN_POINTS) + 0.5) * np.pi / _BIN_POINTS
    to_weights = np.cos(np.outer(np.arange(_BIN_POINTS), angles)) * (2.0 / _BIN_POINTS)
    to_weights[0] /= 2.0
    points = ((low + high) / 2.0)[:, None] + np.where(high > low, half, 0.0)[:, None] * np.cos(angles)
    return points.ravel(), (moments.T @ to_weights).ravel()


def _chebyshev_moments(position: Array, weights: Array, starts: npt.NDArray[np.intp]) -> Array:
    """``(points, bins)`` Σ w T_j(position) over each bin, by the three-term recurrence."""
    moments = np.empty((_BIN_POINTS, len(starts)))
    before, now = weights.copy(), weights * position
    twice, spare = 2.0 * position, np.empty_like(position)
    for j in range(_BIN_POINTS):
        moments[j] = np.add.reduceat(before, starts)
        np.multiply(twice, now, out=spare)
        np.subtract(spare, before, out=before)
        before, now = now, before
    return moments
