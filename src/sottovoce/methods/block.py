"""Block gossip: a set of edges fires at once and every connected component of it takes its average.

Block randomized Kaczmarz on the system x_i = x_j (Loizou and Richtárik 2016, 2021). One edge per set is
standard gossip; a connected set is averaged in a single step. A set of b edges shrinks the expected error more than b
single edges, one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import whole
from ..graphs.graph import Graph
from .base import VALUE, Array, BlockMethod, Guarantee, Method
from .registry import register
from .released import InTheClear, Released
from .standard import StandardGossip

__all__ = ["BlockGossip"]

PARENT, TOTAL, COUNT = 1, 2, 3
"""Scratch columns of the forest that finds the components: they mean nothing between steps."""


def update(nodes: Array, ends: npt.NDArray[np.int64], step: int, parameters: Array) -> None:
    """Union–find over the ends of the set, then every end takes its component's average."""
    size = ends.shape[0]
    for k in range(2 * size):
        node = ends[k // 2, k % 2]
        nodes[node, PARENT] = node
        nodes[node, TOTAL] = nodes[node, VALUE]
        nodes[node, COUNT] = 1.0
    for k in range(size):
        a = ends[k, 0]
        while int(nodes[a, PARENT]) != a:
            nodes[a, PARENT] = nodes[int(nodes[a, PARENT]), PARENT]
            a = int(nodes[a, PARENT])
        b = ends[k, 1]
        while int(nodes[b, PARENT]) != b:
            nodes[b, PARENT] = nodes[int(nodes[b, PARENT]), PARENT]
            b = int(nodes[b, PARENT])
        if a != b:
            if nodes[a, COUNT] < nodes[b, COUNT]:
                a, b = b, a
            nodes[b, PARENT] = a
            nodes[a, TOTAL] += nodes[b, TOTAL]
            nodes[a, COUNT] += nodes[b, COUNT]
    for k in range(2 * size):
        node = ends[k // 2, k % 2]
        root = node
        while int(nodes[root, PARENT]) != root:
            root = int(nodes[root, PARENT])
        nodes[node, VALUE] = nodes[root, TOTAL] / nodes[root, COUNT]


@register
@dataclass(frozen=True)
class BlockGossip(BlockMethod):
    """A set of distinct edges, uniform among the sets of its size, fires per step; its components average.

    Parameters
    ----------
    block_size
        Edges per step, from 1 (standard gossip) to m (exact after one step).
    """

    block_size: int

    name: ClassVar[str] = "block"
    num_fields: ClassVar[int] = 4
    update = staticmethod(update)

    def __post_init__(self) -> None:
        self.check("block_size", whole, low=1, high=2**62)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        """A tenth of the edges."""
        return (cls(block_size=min(graph.num_edges, max(2, graph.num_edges // 10))),)

    def validate(self, graph: Graph) -> None:
        super().validate(graph)
        if self.block_size > graph.num_edges:
            raise InvalidParameter(
                f"block_size must be in [1, {graph.num_edges}] (the number of edges), got {self.block_size}"
            )

    def releases(self, graph: Graph) -> Released:
        return InTheClear()

    def guarantee(self, graph: Graph) -> Guarantee:
        """ρ of standard gossip: a set of edges contracts at least as much as any one edge of it."""
        return StandardGossip().guarantee(graph)

    def needs(self) -> str:
        return "an agreement on the edges of every step"

    def label(self) -> str:
        return f"block gossip, {self.block_size} edges"
