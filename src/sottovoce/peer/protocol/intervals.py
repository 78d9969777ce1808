"""Intervals of whole vectors, an end for each number: what the range rule (:mod:`.stopping`) gathers.

One that is measured from a vector which others hold, too (:mod:`.references`), is two numbers for all coordinates.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .units import Vector

__all__ = ["BLOCK", "Around", "Interval", "Range", "Reference", "ends", "holds", "measured", "pair", "union", "width"]

Interval = tuple[Vector, Vector]

BLOCK = 4096
"""So many numbers are compared at a time."""


class Reference:
    """A vector that intervals are measured from.

    Parameters
    ----------
    owner
        Number of the member that is said to have proposed it.
    vector
        Its numbers, never written to.
    """

    def __init__(self, owner: int, vector: Vector) -> None:
        self.owner, self.vector = owner, vector

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of its numbers: two that have the same are the same, whoever says so."""
        return hashlib.sha256(np.ascontiguousarray(self.vector, dtype="<i8").data).digest()

    def __repr__(self) -> str:
        return f"<Reference of member {self.owner}, {self.vector.size} numbers>"


class Around(NamedTuple):
    """From ``below`` less than the reference to ``above`` more, in all coordinates."""

    reference: Reference
    below: int
    above: int

    def __repr__(self) -> str:
        return f"<Around {self.reference!r}>"


Range = Interval | Around


def pair(low: Vector | None, high: Vector | None) -> Interval | None:
    """The interval with these ends, if they are told."""
    return None if low is None or high is None else (low, high)


def ends(interval: Range) -> Interval:
    """Its two ends as vectors.

    Examples
    --------
    >>> [end.tolist() for end in ends(Around(Reference(0, np.array([5, 50])), below=1, above=2))]
    [[4, 49], [7, 52]]
    """
    if isinstance(interval, Around):
        return interval.reference.vector - interval.below, interval.reference.vector + interval.above
    return interval


def measured(interval: Range, reference: Reference) -> Around:
    """The least interval around the reference that holds this one.

    Examples
    --------
    >>> measured((np.array([4, 51]), np.array([6, 58])), Reference(0, np.array([5, 50])))[1:]
    (1, 8)
    """
    low, high = ends(interval)
    return Around(reference, max(int((reference.vector - low).max()), 0), max(int((high - reference.vector).max()), 0))


def union(one: Range, other: Range) -> Range:
    """The least interval that holds both.

    Examples
    --------
    >>> low, high = union((np.array([0, 5]), np.array([1, 6])), (np.array([2, 4]), np.array([3, 5])))
    >>> low.tolist(), high.tolist()
    ([0, 4], [3, 6])
    """
    if _share_reference(one, other):
        return Around(one.reference, max(one.below, other.below), max(one.above, other.above))  # type: ignore[union-attr]
    (low, high), (other_low, other_high) = ends(one), ends(other)
    return np.minimum(low, other_low), np.maximum(high, other_high)


def width(interval: Range) -> int:
    """That of the widest number.

    Examples
    --------
    >>> width((np.array([0, 5]), np.array([1, 9])))
    4
    """
    if isinstance(interval, Around):
        return interval.below + interval.above
    return int((interval[1] - interval[0]).max())


def holds(outer: Range, inner: Range) -> bool:
    """Whether one holds the other. Where it does not, that is mostly seen at the first block of numbers.

    Examples
    --------
    >>> outer, inner = (np.array([0, 5]), np.array([9, 9])), (np.array([1, 5]), np.array([3, 9]))
    >>> holds(outer, inner), holds(inner, outer)
    (True, False)
    """
    if _share_reference(outer, inner):
        return inner.below <= outer.below and inner.above <= outer.above  # type: ignore[union-attr]
    outer, inner = ends(outer), ends(inner)
    for start in range(0, len(outer[0]), BLOCK):
        block = slice(start, start + BLOCK)
        if not ((inner[0][block] >= outer[0][block]).all() and (inner[1][block] <= outer[1][block]).all()):
            return False
    return True


def _share_reference(one: Range, other: Range) -> bool:
    if not (isinstance(one, Around) and isinstance(other, Around)):
        return False
    return one.reference is other.reference or one.reference.digest == other.reference.digest
