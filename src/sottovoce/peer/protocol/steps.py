"""What one exchange moves: half a difference in whole units (R44), kept within the limit of the edge (R42, R47)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .messages import Vector, extremes

__all__ = ["half", "kept_within", "reach", "reach_of_half"]

FEW = 64
"""So many numbers are looked at before the others: of numbers that differ by chance every other one is odd."""


def half(difference: Vector, coin: Callable[[int], Vector]) -> Vector:
    """R44: half the difference, in whole units; where it is odd, a fair coin decides between the two halves.

    With a fixed rounding a slope of one unit per edge would stay for ever.

    Examples
    --------
    >>> half(np.array([4, 5, -5]), np.ones), half(np.array([4, 5, -5]), np.zeros)
    (array([ 2,  3, -2]), array([ 2,  2, -3]))
    """
    if not _has_odd(difference):
        return difference >> 1
    moved = difference + coin(len(difference)).astype(np.int64, copy=False)
    moved >>= 1  # an even number stays where it is, whatever the coin says
    return moved


def _has_odd(difference: Vector) -> bool:
    """Whether any of them is odd; of many numbers mostly the first few tell."""
    few = difference[:FEW]
    return bool(np.bitwise_or.reduce(few) & 1) or bool(np.bitwise_or.reduce(difference[FEW:]) & 1)


def kept_within(amount: Vector, flow: Vector, limit: int) -> Vector:
    """R47: at most ``limit`` at once, and not out of [−limit, limit], or towards it from outside.

    Returns ``amount`` itself if nothing had to be kept back.

    Examples
    --------
    >>> kept_within(np.array([9, 9, -9, 3]), np.array([0, 7, 14, -14]), 10)
    array([ 9,  3, -9,  3])
    """
    (least, most), (down, up) = extremes(amount), extremes(flow)
    if max(most, up + most) <= limit and min(least, down + least) >= -limit:  # as in most exchanges: no array is made
        return amount
    lowest = np.maximum(-limit, np.minimum(-limit - flow, 0))
    highest = np.minimum(limit, np.maximum(limit - flow, 0))
    kept = np.clip(amount, lowest, highest)
    return amount if np.array_equal(kept, amount) else kept


def reach(vector: Vector) -> tuple[int, int]:
    """How far it goes up and down in any coordinate."""
    least, most = extremes(vector)
    return max(most, 0), max(-least, 0)


def reach_of_half(least: int, most: int) -> tuple[int, int]:
    """The same of half a vector that goes from ``least`` to ``most``, whatever the coins say.

    Examples
    --------
    >>> reach_of_half(-5, 3), reach_of_half(1, 4)
    ((2, 3), (2, 0))
    """
    return max((most + 1) >> 1, 0), max(-(least >> 1), 0)
