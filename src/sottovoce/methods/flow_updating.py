"""Flow updating (Jesus, Baquero, Almeida 2009, 2015): averages that heal by themselves when messages are lost.

Node i keeps for each neighbour j a flow f_ij and the last estimate e_ij that it heard. Its own estimate is
c_i − Σ_j f_ij. When it acts, it takes a = (estimate + Σ_j e_ij)/(d_i + 1), raises every flow by a − e_ij, sets
e_ij = a, and tells j both; j then has f_ji = −f_ij and e_ji = a. Messages carry whole flows and not changes of them, so
one that arrives replaces all that were lost, and one that arrives twice does nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method, NeighbourMethod
from .registry import register
from .released import InTheClear, Released

__all__ = ["FlowUpdating"]

FLOW, ESTIMATE = 4, 5
"""Columns of a neighbour's row after what is said (flow, estimate) and what was heard (the same)."""


def speak(nodes: Array, i: int, first: int, last: int, draws: Array, step: int, parameters: Array) -> None:
    """Average with what the neighbours said last, and give each the flow that would bring it there."""
    total = nodes[i, VALUE]
    for row in range(first, last):
        total += nodes[row, ESTIMATE]
    average = total / (last - first + 1.0)
    for row in range(first, last):
        nodes[row, FLOW] += average - nodes[row, ESTIMATE]
        nodes[row, ESTIMATE] = average
        nodes[row, 0] = nodes[row, FLOW]
        nodes[row, 1] = average
    nodes[i, VALUE] = average


def hear(nodes: Array, i: int, row: int, step: int, parameters: Array) -> None:
    """Take over the neighbour's flow, with the other sign; the estimate changes by as much as the flow does."""
    nodes[i, VALUE] += nodes[row, FLOW] + nodes[row, 2]
    nodes[row, FLOW] = -nodes[row, 2]
    nodes[row, ESTIMATE] = nodes[row, 3]


@register
@dataclass(frozen=True)
class FlowUpdating(NeighbourMethod):
    """One random node a step averages with all its neighbours, by flows that survive lost messages. It hides nothing.

    Notes
    -----
    A neighbour that was never heard is taken to have one's own value: the first message of a node is its private
    value, and moves nothing.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.complete(4), [1.0, 2.0, 3.0, 6.0], FlowUpdating(), num_steps=200, seed=1)
    >>> run.values.round(9).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    name: ClassVar[str] = "flow-updating"
    num_fields: ClassVar[int] = 6
    in_rounds: ClassVar[bool] = False
    num_said: ClassVar[int] = 2
    follows: ClassVar[tuple[int, ...]] = (VALUE,)
    speak = staticmethod(speak)
    hear = staticmethod(hear)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(),)

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[graph.num_nodes :, ESTIMATE] = np.repeat(private_values, graph.degrees)
        return nodes

    def part(self, nodes: Array, i: int, row: int) -> None:
        """What flowed to the neighbour comes back."""
        nodes[i, VALUE] += nodes[row, FLOW]

    def meet(self, nodes: Array, i: int, row: int) -> None:
        """Nothing has flowed; the neighbour is taken to have one's own value."""
        nodes[row, ESTIMATE] = nodes[i, VALUE]

    def releases(self, graph: Graph) -> Released:
        return InTheClear()

    def guarantee(self, graph: Graph) -> Guarantee:
        """The sum of the estimates never changes, and they converge to c̄; no rate is proved."""
        return Guarantee(remaining=0.0)

    def label(self) -> str:
        return "flow updating"
