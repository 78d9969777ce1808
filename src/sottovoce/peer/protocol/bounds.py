"""How far an edge's numbers reach, without looking at all of them in every exchange.

The limits of R42 and R47 ask how large the largest coordinate is: two passes over each vector, and over the flow, which
is a vector more. But an exchange adds what it moves and no more: what was the bound before, with the largest step
added, is one now. Only where such a sum comes near a limit are the numbers looked at, and the bound is exact again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .ledger import Edge
from .messages import Vector, farthest

__all__ = ["Bounds", "Movement", "bounds_of"]


class Bounds(NamedTuple):
    """No coordinate of the flow f − g, and of the own register f, is larger. Registers are never written to."""

    f: Any
    g: Any
    flow: int
    register: int

    def of(self, edge: Edge) -> bool:
        """Whether they are those of this record."""
        return self.f is edge.f and self.g is edge.g

    def copied(self, edge: Edge, step: int) -> Bounds:
        """After the other end's register has moved by ``step`` at most."""
        return Bounds(edge.f, edge.g, self.flow + step, self.register)

    def stepped(self, edge: Edge, step: int) -> Bounds:
        """After the own register has moved by ``step`` at most."""
        return Bounds(edge.f, edge.g, self.flow + step, self.register + step)


class Movement(NamedTuple):
    """What the other end's register has moved here, if that has happened: the vector, how far it goes, the bounds."""

    vector: Vector | None
    step: int
    bounds: Bounds | None


def bounds_of(edge: Edge) -> Bounds:
    """Exactly, from all numbers.

    Examples
    --------
    >>> import numpy as np
    >>> found = bounds_of(Edge(1, blank=False, f=np.array([5, -3]), g=np.array([1, 4])))
    >>> found.flow, found.register
    (7, 5)
    """
    return Bounds(edge.f, edge.g, farthest(edge.f - edge.g), farthest(edge.f))
