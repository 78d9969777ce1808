"""Standard pairwise gossip (Boyd, Ghosh, Prabhakar, Shah 2006): the paper's baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..graphs.graph import Graph
from .base import VALUE, Array, PairMethod
from .registry import register
from .released import Released, WithdrawnNoise

__all__ = ["StandardGossip"]


def update(nodes: Array, i: int, j: int, draw_i: float, draw_j: float, step: int, parameters: Array) -> None:
    """Both ends take their average."""
    average = 0.5 * (nodes[i, VALUE] + nodes[j, VALUE])
    nodes[i, VALUE] = average
    nodes[j, VALUE] = average


@register
@dataclass(frozen=True)
class StandardGossip(PairMethod):
    """Both ends of the firing edge replace their values by the average of the two.

    It hides nothing: the first neighbour to call learns a node's private value exactly.
    """

    name: ClassVar[str] = "standard"
    num_fields: ClassVar[int] = 1
    update = staticmethod(update)

    def releases(self, graph: Graph) -> Released:
        return WithdrawnNoise(np.zeros(graph.num_nodes), np.zeros(graph.num_nodes))

    def label(self) -> str:
        return "standard gossip"
