"""Push-sum (Kempe, Dobra, Gehrke 2003): halves of a sum and of a weight are sent around; their ratio is the estimate.

In a round every node keeps one half of its pair (s, w) and sends the other to a target chosen uniformly from
its neighbours and itself; on a complete graph that is uniform over all n, as in the published analysis. Σ s and
Σ w never change, so s/w → c̄ although no single round preserves the sum of the estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..errors import InvalidParameter
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method, PushMethod
from .registry import register
from .released import InTheClear, Released

__all__ = ["PushSum", "push_sum_factor"]

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

    One step is one round. It needs no answer from the receiver and no agreement on who talks to whom, but
    what a lost message carried never comes back. It hides nothing.
    """

    name: ClassVar[str] = "push-sum"
    num_fields: ClassVar[int] = 5
    follows: ClassVar[tuple[int, ...]] = (SUM,)
    mass_field: ClassVar[int] = SUM
    push = staticmethod(push)
    collect = staticmethod(collect)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(),)

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[:, SUM] = private_values
        nodes[:, WEIGHT] = 1.0
        return nodes

    def releases(self, graph: Graph) -> Released:
        return InTheClear()

    def guarantee(self, graph: Graph) -> Guarantee:
        """The estimates converge to c̄ on every graph; how fast is proved for complete ones."""
        complete = graph.num_edges == graph.num_nodes * (graph.num_nodes - 1) // 2
        return Guarantee(push_sum_factor(graph.num_nodes) if complete else None, 0.0)

    def label(self) -> str:
        return "push-sum"


def push_sum_factor(num_nodes: int, *, including_self: bool = True) -> float:
    """Push-sum on a complete graph: E[Φ_{t+1} | Φ_t] = factor · Φ_t exactly, Φ = Σ_{ij} (v_ij − w_i/n)².

    v_ij is the share of j's value that i holds, w_i = Σ_j v_ij. With d_i = v_i − w_i/n we have Σ_i d_i = 0; a round
    halves every d_i and hands the other half to a random target. Targets uniform over all n nodes: ½ − 1/(4n)
    (the published lemma has 1/(2n); enumerating the targets of a small network decides). Uniform over the N = n − 1
    others: ½ − 3/(4N) + 1/(4N²).

    Examples
    --------
    >>> push_sum_factor(2), push_sum_factor(2, including_self=False)
    (0.375, 0.0)
    """
    if num_nodes < 2:
        raise InvalidParameter(f"num_nodes must be at least 2, got {num_nodes}")
    if including_self:
        return 0.5 - 0.25 / num_nodes
    others = num_nodes - 1
    return 0.5 - 0.75 / others + 0.25 / others**2
