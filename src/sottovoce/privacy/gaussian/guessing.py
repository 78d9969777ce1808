"""How often the best guess is right: one value out of a list, seen under Gaussian noise of known precision.

A deviation describes what is known of a normal value. Of a yes or no, or of a whole number, one wants to know how often
an observer that believes in a list of candidates names the right one. All that a view says about one value, the others
integrated out, is one number S ~ N(value, 1/Λ); the audit knows the precision Λ, so the answer is a sum over
candidates.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter

__all__ = ["best_estimate_std", "checked_candidates", "right_guess", "whole_candidates"]

Array = npt.NDArray[np.float64]

MOST_WHOLE = 100
"""Whole numbers further apart are as good as continuous."""

_GRID = np.linspace(-9.0, 9.0, 2401)


def checked_candidates(candidates: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> tuple[Array, Array]:
    """Distinct candidates in increasing order, and how likely each is held to be beforehand (equally, if not said)."""
    values = np.asarray(candidates, dtype=np.float64).ravel()
    chances = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64).ravel()
    if len(values) < 2 or len(np.unique(values)) < len(values) or not np.isfinite(values).all():
        raise InvalidParameter(f"candidates must be two or more different finite numbers, got {len(values)} numbers")
    if chances.shape != values.shape or not (np.isfinite(chances) & (chances > 0.0)).all():
        raise InvalidParameter(f"weights must be one number above 0 for each of {len(values)} candidates")
    order = np.argsort(values)
    return values[order], chances[order] / chances.sum()


def whole_candidates(values: npt.ArrayLike) -> Array | None:
    """All whole numbers from the smallest to the largest value, if values are a few different whole numbers.

    Examples
    --------
    >>> whole_candidates([3, 1, 1, 2]).tolist()
    [1.0, 2.0, 3.0]
    >>> whole_candidates([0.5, 1.0]) is None
    True
    """
    given = np.asarray(values, dtype=np.float64).ravel()
    low, high = float(given.min()), float(given.max())
    if not 0.0 < high - low <= MOST_WHOLE or (given != np.rint(given)).any():
        return None
    return np.arange(low, high + 1.0)


def right_guess(precision: float, candidates: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """Probability that the most likely candidate, given S ~ N(value, 1/precision), is the right one.

    Between neighbours on the line the decision changes where their weighted densities cross: those are straight lines
    in S after their common factor is taken out, so the guess is their upper envelope and the answer
    Σ p_k (Φ(upper end of k) − Φ(lower end of k)), in units of the deviation and from the candidate.

    Examples
    --------
    A bit under noise of deviation ¼ is guessed right with probability Φ(2):

    >>> round(right_guess(16.0, [0, 1]), 6)
    0.97725
    """
    values, chances = checked_candidates(candidates, weights)
    if precision == math.inf:
        return 1.0
    if precision <= 0.0:
        return float(chances.max())
    from scipy.special import ndtr

    root = math.sqrt(precision)
    kept, ends = _envelope(values * root, np.log(chances))
    centre = values[kept] * root
    low, high = np.concatenate([[-math.inf], ends]), np.concatenate([ends, [math.inf]])
    # Whichever tail is the smaller one keeps the digits of the difference.
    inside = np.where(low > centre, ndtr(centre - low) - ndtr(centre - high), ndtr(high - centre) - ndtr(low - centre))
    return float(chances[kept] @ inside)


def best_estimate_std(precision: float, candidates: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """Root mean square error of the best estimate (the mean of the candidates given S), on average over S.

    Bounded data are candidates on a fine grid.

    Examples
    --------
    >>> round(best_estimate_std(16.0, [0, 1]), 3)
    0.131
    >>> round(best_estimate_std(0.0, np.linspace(0, 1, 201)), 3)  # uniform between 0 and 1
    0.29
    """
    values, chances = checked_candidates(candidates, weights)
    if precision == math.inf:
        return 0.0
    density = np.exp(-0.5 * _GRID**2)
    density /= density.sum()
    root, total = math.sqrt(max(precision, 0.0)), 0.0
    for value, chance in zip(values, chances, strict=True):
        seen = _GRID + root * value
        log = np.log(chances) - 0.5 * (seen[:, None] - root * values) ** 2
        share = np.exp(log - log.max(axis=1, keepdims=True))
        mean = share @ values / share.sum(axis=1)
        total += chance * float(density @ (mean - value) ** 2)
    return math.sqrt(total)


def _envelope(slopes: Array, log_chances: Array) -> tuple[list[int], Array]:
    """Which of the lines slope·s + log chance − slope²/2 are highest somewhere, and where they change."""
    heights = log_chances - 0.5 * slopes**2
    kept: list[int] = []
    ends: list[float] = []
    for k in range(len(slopes)):
        while kept:
            cross = (heights[kept[-1]] - heights[k]) / (slopes[k] - slopes[kept[-1]])
            if not ends or cross > ends[-1]:
                break
            kept.pop()
            ends.pop()
        if kept:
            ends.append(cross)
        kept.append(k)
    return kept, np.array(ends)
