"""Push-sum (Kempe, Dobra, Gehrke 2003): halves of a sum and of a weight wander; their ratio is the estimate.

In a round every node keeps one half of its pair (s, w) and sends the other to a target chosen uniformly from
its neighbours and itself; on a complete graph that is uniform over all n, as in the published analysis. Σ s and
Σ w never change, so s/w → c̄ although no single round preserves the sum of the estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..graphs.graph import Graph
from .base import VALUE, Array, PushMethod
from .registry import register
from .released import InTheClear, Released

__all__ = ["PushSum"]

SUM, WEIGHT, SUM_INBOX, WEIGHT_INBOX = 1, 2, 3, 4


def push(nodes: Array, i: int, target: int) -> None:
    """Half stays, half goes."""
    nodes[i, SUM] *= 0.5
    nodes[i, WEIGHT] *= 0.5
    nodes[target, SUM_INBOX] += nodes[i, SUM]
    nodes[target, WEIGHT_INBOX] += nodes[i, WEIGHT]


def collect(nodes: Array, i: int) -> None:
    """Add what arrived; the estimate is the ratio."""
    nodes[i, SUM] += nodes[i, SUM_INBOX]
    nodes[i, WEIGHT] += nodes[i, WEIGHT_INBOX]
    nodes[i, SUM_INBOX] = 0.0
    nodes[i, WEIGHT_INBOX] = 0.0
    nodes[i, VALUE] = nodes[i, SUM] / nodes[i, WEIGHT]


@register
@dataclass(frozen=True)
class PushSum(PushMethod):
    """Every node sends half of its sum and half of its weight to a random neighbour (or itself), every round.

    One step is one round. It needs no answer from the receiver and no agreement on who talks to whom, but a
    lost message loses mass for good. It hides nothing.
    """

    name: ClassVar[str] = "push-sum"
    num_fields: ClassVar[int] = 5
    mass_field: ClassVar[int] = SUM
    push = staticmethod(push)
    collect = staticmethod(collect)

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[:, SUM] = private_values
        nodes[:, WEIGHT] = 1.0
        return nodes

    def releases(self, graph: Graph) -> Released:
        return InTheClear()

    def label(self) -> str:
        return "push-sum"
