"""How much of the spread of an ensemble comes from where: graphs, private values, or schedules.

The three are *nested*: values are given to the nodes of one graph, and a schedule is a list of that graph's edges, so
"the same values on another graph" or "the same schedule on another graph" mean nothing. The variance of an outcome Y
then splits without remainder into

    Var E[Y | graph]  +  E Var(E[Y | graph, values] | graph)  +  E Var(Y | graph, values),

what differs between graphs, between values on one graph, and between schedules of one problem. The estimates are
those of the analysis of variance of a balanced nested design (Searle, Casella, McCulloch, *Variance Components*, 1992,
§3.6), which have no bias whatever the law is. The outermost level is independent draws, so the jackknife over it gives
standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InvalidParameter
from ..foundation.arguments import Array

__all__ = ["Part", "Spread", "split_spread"]


@dataclass(frozen=True)
class Part:
    """What one source gives to the variance, with jackknife standard errors."""

    source: str
    variance: float
    """Without bias; a true value near zero may therefore come out slightly negative."""
    variance_error: float
    share: float
    """Of the sum over all sources."""
    share_error: float

    @property
    def std(self) -> float:
        """Square root of the variance; 0 where the estimate is negative."""
        return float(np.sqrt(max(self.variance, 0.0)))


@dataclass(frozen=True)
class Spread:
    """The variance of an outcome, split by source; returned by :meth:`.ensemble.Ensemble.spread`."""

    parts: tuple[Part, ...]
    """From the outermost source to the innermost; sources that are fixed are left out."""
    std: float
    """Standard deviation of one run of one fresh problem: the root of the sum of all parts."""

    def __getitem__(self, source: str) -> Part:
        for part in self.parts:
            if part.source == source:
                return part
        known = ", ".join(part.source for part in self.parts)
        raise InvalidParameter(f"source must be one of {known}, which vary here; got {source!r}")

    def __str__(self) -> str:
        shares = ", ".join(f"{p.source} {100 * p.share:.0f} ± {100 * p.share_error:.0f} %" for p in self.parts)
        return f"standard deviation {self.std:.3g}; of its square: {shares}"


def split_spread(outcomes: Array, sources: Sequence[str]) -> Spread:
    """Split the variance of ``outcomes``, one axis per source, each nested in those before it.

    Parameters
    ----------
    outcomes
        At least two draws along every axis.
    sources
        A name for each axis, the outermost first.

    Examples
    --------
    Two graphs with two values each and two schedules, where only graphs differ:

    >>> found = split_spread(np.array([[[0.0, 0.0], [0.0, 0.0]], [[2.0, 2.0], [2.0, 2.0]]]), ["graph", "values", "run"])
    >>> [(part.source, part.variance) for part in found.parts]
    [('graph', 2.0), ('values', 0.0), ('run', 0.0)]
    """
    if outcomes.ndim != len(sources) or min(outcomes.shape, default=0) < 2:
        raise InvalidParameter(
            f"outcomes must have an axis with two draws or more for each of {', '.join(sources)}, got {outcomes.shape}"
        )
    squares, others_squares = _mean_squares(np.asarray(outcomes, dtype=np.float64))
    sizes = outcomes.shape[::-1]
    whole, others = _components(squares, sizes), _components(others_squares, sizes)
    shares, other_shares = _shares(whole), _shares(others)
    parts = tuple(
        Part(source, float(whole[k]), _jackknife(others[:, k]), float(shares[k]), _jackknife(other_shares[:, k]))
        for k, source in enumerate(sources)
    )
    return Spread(parts, float(np.sqrt(max(float(whole.sum()), 0.0))))


def _components(between: Array, sizes: Sequence[int]) -> Array:
    """``(…, levels)`` variances from those of means over what lies inside, less what the inside adds to them.

    Both arguments begin with the innermost level; the result begins with the outermost.
    """
    inside = between[..., :-1] / np.array(sizes[:-1], dtype=np.float64)
    found = between.copy()
    found[..., 1:] -= inside
    return found[..., ::-1]


def _mean_squares(outcomes: Array) -> tuple[Array, Array]:
    """``(levels,)`` variance of the means at each level, innermost first; ``(outermost, levels)`` without each draw."""
    means, each = outcomes, []
    while means.ndim > 1:
        inner = np.var(means, axis=-1, ddof=1)
        each.append(inner.reshape(len(inner), -1).mean(axis=1))
        means = means.mean(axis=-1)
    size = len(means)
    off = means - means.mean()
    outer = float(off @ off) / (size - 1)
    # Without draw a the squares around the new mean are those around the old one, less a's share.
    outers = (off @ off - off**2 * size / (size - 1)) / (size - 2) if size > 2 else np.full(size, np.nan)
    without = [(units.sum() - units) / (size - 1) for units in each]
    whole = np.array([*(float(units.mean()) for units in each), outer])
    return whole, np.stack([*without, outers], axis=1)


def _shares(components: Array) -> Array:
    total = components.sum(axis=-1, keepdims=True)
    return components / np.where(total > 0.0, total, np.nan)


def _jackknife(values: Array) -> float:
    size = len(values)
    return float(np.sqrt((size - 1) / size * ((values - values.mean()) ** 2).sum()))
