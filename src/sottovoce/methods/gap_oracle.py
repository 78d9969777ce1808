"""Private gossip via an ε-gap oracle: the two ends learn only whether they differ by at least ε, and which way.

From the full version of the paper (arXiv 1706.07636). If they do, each moves ε/2 towards the other.
Every move lowers ½‖x − c̄‖² by at least ε²/4, so on every run there are at most 4 G₀/ε² moves; after the
last of them every edge differs by less than ε and nothing moves again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..foundation.arguments import number
from ..graphs.graph import Graph
from ..graphs.spectrum import algebraic_connectivity
from .base import VALUE, Array, Guarantee, Method, PairMethod
from .registry import register
from .released import Comparisons, Released

__all__ = ["MOVES", "GapOracle", "gap_oracle_bound", "gap_oracle_moves"]

MOVES = 1
"""Column that counts a node's moves."""


def update(nodes: Array, i: int, j: int, draw_i: float, draw_j: float, step: int, parameters: Array) -> None:
    """Compare; move half the gap towards each other if the values are at least a gap apart."""
    gap = parameters[0]
    difference = nodes[i, VALUE] - nodes[j, VALUE]
    if abs(difference) >= gap:
        move = -0.5 * gap if difference > 0.0 else 0.5 * gap
        nodes[i, VALUE] += move
        nodes[j, VALUE] -= move
        nodes[i, MOVES] += 1.0
        nodes[j, MOVES] += 1.0


@register
@dataclass(frozen=True)
class GapOracle(PairMethod):
    """The ends move ε/2 towards each other if they differ by at least ε, and otherwise learn just that they do not.

    Parameters
    ----------
    gap
        ε > 0, in the unit of the private values.

    Examples
    --------
    >>> GapOracle(gap=0.02).most_moves(initial_error=1.0)
    10000
    """

    gap: float

    name: ClassVar[str] = "gap-oracle"
    num_fields: ClassVar[int] = 2
    follows: ClassVar[tuple[int, ...]] = (VALUE,)
    own_rows_only: ClassVar[bool] = True
    update = staticmethod(update)

    def __post_init__(self) -> None:
        self.check("gap", low=0.0, low_open=True, why="with a gap of zero every comparison is a move by zero")

    def most_moves(self, initial_error: float) -> int:
        """No run makes more moves than 4 G₀/ε², whatever edges fire; ``initial_error`` is G₀ = ½‖c − c̄‖²."""
        return gap_oracle_moves(initial_error, self.gap)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(gap=0.02),)

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.gap])

    def releases(self, graph: Graph) -> Released:
        return Comparisons()

    def guarantee(self, graph: Graph) -> Guarantee:
        """At rest every edge differs by less than ε, so ‖x − c̄‖² ≤ Σ_e (x_i − x_j)²/α < mε²/α."""
        return Guarantee(remaining=graph.num_edges * self.gap**2 / algebraic_connectivity(graph))

    def label(self) -> str:
        return f"gap oracle, ε = {self.gap:g}"


def gap_oracle_moves(initial_error: float, gap: float) -> int:
    """ε-gap oracle: no run ever moves more than 4G_0/ε² times; after its last move every edge differs by less than ε.

    A move takes at least ε²/4 from G, because the ends differ by ε or more and each goes ε/2 towards the other.

    Examples
    --------
    >>> gap_oracle_moves(1.0, 0.5)
    16
    """
    number("gap", gap, low=0.0, low_open=True)
    return math.floor(4.0 * initial_error / gap**2 * (1.0 + 1e-12))


def gap_oracle_bound(initial_error: float, gap: float, num_steps: int) -> float:
    """ε-gap oracle: (1/k) Σ_{t<k} E Δ^t ≤ 4G_0/(kε²), Δ the share of edges that differ by at least ε.

    Examples
    --------
    >>> gap_oracle_bound(1.0, 0.5, 64)
    0.25
    """
    number("gap", gap, low=0.0, low_open=True)
    return 4.0 * initial_error / (num_steps * gap**2)
