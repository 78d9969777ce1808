"""Synchronous averaging x ← W x (DeGroot 1974; Xiao and Boyd 2004), and what all methods on weights share.

Also here: how much of the private values lies in what some nodes see of such averaging, which is what a single noisy
start leaks (Muffliato: Cyffers et al. 2022; El Mrini et al. 2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import InvalidParameter
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method, RoundMethod
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .weights import Weights, check_weights, consensus_factor, mixing_matrix, weight_caveats

if TYPE_CHECKING:
    import scipy.sparse

__all__ = [
    "SynchronousAveraging",
    "WeightedMethod",
    "check_node",
    "take_combined",
]


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """Every node tells its value."""
    return float(nodes[i, VALUE])


def take_combined(nodes: Array, i: int, sent: float, combined: float, step: int, parameters: Array) -> None:
    """The new value is the weighted average of all that was said."""
    nodes[i, VALUE] = combined


class WeightedMethod(RoundMethod):
    """A round method with a field ``weights``. Unless it says otherwise it is exact, at the rate of x ← W x."""

    weights: Any

    def __post_init__(self) -> None:
        self.check("weights", check_weights)

    def validate(self, graph: Graph) -> None:
        super().validate(graph)
        self.mixing(graph)

    def caveats(self, graph: Graph) -> tuple[str, ...]:
        return weight_caveats(self.weights, graph)

    def needs(self) -> str:
        known = {"metropolis": "", "max-degree": " and the largest degree"}
        return super().needs() + (known[self.weights] if isinstance(self.weights, str) else " and the weights")

    def mixing(self, graph: Graph) -> scipy.sparse.csr_array:
        return mixing_matrix(self.weights, graph)

    def guarantee(self, graph: Graph) -> Guarantee:
        return Guarantee(consensus_factor(self.mixing(graph)) ** 2, 0.0, attained=not self.caveats(graph))


@register
@dataclass(frozen=True)
class SynchronousAveraging(WeightedMethod):
    """Plain synchronous averaging: x ← W x, all nodes at once. It hides nothing.

    Parameters
    ----------
    weights
        ``"metropolis"``, ``"max-degree"`` or a doubly stochastic ``(n, n)`` matrix that is zero between
        nodes that are not neighbours.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.complete(4), [1.0, 2.0, 3.0, 6.0], SynchronousAveraging(), num_steps=1, seed=1)
    >>> run.values.tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    weights: Weights = "metropolis"

    name: ClassVar[str] = "synchronous"
    num_fields: ClassVar[int] = 1
    follows: ClassVar[tuple[int, ...]] = (VALUE,)
    send = staticmethod(send)
    receive = staticmethod(take_combined)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(),)

    def releases(self, graph: Graph) -> Released:
        return LinearRounds(np.zeros(graph.num_nodes), self.mixing(graph), FadingNoise.none(graph.num_nodes))

    def label(self) -> str:
        named = {"metropolis": "Metropolis", "max-degree": "max-degree"}
        return f"synchronous averaging, {named[self.weights] if isinstance(self.weights, str) else 'given weights'}"


def check_node(name: str, node: int, num_nodes: int) -> None:
    """Refuse a node that is not in the graph."""
    if not 0 <= node < num_nodes:
        raise InvalidParameter(f"{name} must be in 0..{num_nodes - 1}, got {node}")
