"""Intervals of whole vectors, an end for each number: what the range rule (:mod:`.stopping`) gathers."""

from __future__ import annotations

import numpy as np

from .units import Vector

__all__ = ["BLOCK", "Interval", "holds", "pair", "union", "width"]

Interval = tuple[Vector, Vector]

BLOCK = 4096
"""So many numbers are compared at a time."""


def pair(low: Vector | None, high: Vector | None) -> Interval | None:
    """The interval with these ends, if they are told."""
    return None if low is None or high is None else (low, high)


def union(one: Interval, other: Interval) -> Interval:
    """The least interval that holds both.

    Examples
    --------
    >>> low, high = union((np.array([0, 5]), np.array([1, 6])), (np.array([2, 4]), np.array([3, 5])))
    >>> low.tolist(), high.tolist()
    ([0, 4], [3, 6])
    """
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def width(interval: Interval) -> int:
    """That of the widest number.

    Examples
    --------
    >>> width((np.array([0, 5]), np.array([1, 9])))
    4
    """
    return int((interval[1] - interval[0]).max())


def holds(outer: Interval, inner: Interval) -> bool:
    """Whether one holds the other. Where it does not, that is mostly seen at the first block of numbers.

    Examples
    --------
    >>> outer, inner = (np.array([0, 5]), np.array([9, 9])), (np.array([1, 5]), np.array([3, 9]))
    >>> holds(outer, inner), holds(inner, outer)
    (True, False)
    """
    for start in range(0, len(outer[0]), BLOCK):
        block = slice(start, start + BLOCK)
        if not ((inner[0][block] >= outer[0][block]).all() and (inner[1][block] <= outer[1][block]).all()):
            return False
    return True
