"""Manitara and Hadjicostis (2013): random offsets in the first rounds, and their sum taken back at once.

Node i adds a fresh offset to what it says in its first L_i rounds and subtracts their sum in the next; from then on
it averages plainly. The average is exact once every node has done so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import InvalidParameter
from ..foundation.arguments import brief, checked
from ..graphs.graph import Graph
from .base import VALUE, Array, Method
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .synchronous import WeightedMethod, take_combined
from .weights import Weights, weights_apart

__all__ = ["ManitaraHadjicostis"]

OUTSTANDING, STD, ROUNDS = 1, 2, 3


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """The value with a fresh offset; then with all offsets taken back; then the value."""
    offset = 0.0
    if step < nodes[i, ROUNDS]:
        offset = nodes[i, STD] * draw
        nodes[i, OUTSTANDING] += offset
    elif step == nodes[i, ROUNDS]:
        offset = -nodes[i, OUTSTANDING]
        nodes[i, OUTSTANDING] = 0.0
    return float(nodes[i, VALUE] + offset)


@register
@dataclass(frozen=True)
class ManitaraHadjicostis(WeightedMethod):
    """Offsets for the first ``num_rounds`` rounds, withdrawn together in the next; then plain averaging.

    Parameters
    ----------
    noise_std
        σ ≥ 0, the standard deviation of every offset. One number, or one per node.
    num_rounds
        L ≥ 1, how many rounds a node adds offsets. One number, or one per node.
    weights
        See :class:`~sottovoce.SynchronousAveraging`.

    Notes
    -----
    A node's value stays hidden from curious nodes exactly if they do not hear the node or do not hear one of its
    neighbours. Otherwise they can compute everything that the node added, and subtract it.
    """

    noise_std: float | Array
    num_rounds: int | Array
    weights: Weights = "metropolis"

    name: ClassVar[str] = "manitara-hadjicostis"
    noise_sizes: ClassVar[tuple[str, ...]] = ("noise_std",)
    num_fields: ClassVar[int] = 4
    outstanding_field: ClassVar[int | None] = OUTSTANDING
    noise: ClassVar[str] = "normal"
    send = staticmethod(send)
    receive = staticmethod(take_combined)

    def __post_init__(self) -> None:
        self.check("noise_std", checked, low=0.0)
        self.check("num_rounds", _whole_rounds, low=1.0, why="with no noisy round nothing is hidden")
        self.check_lengths("noise_std", "num_rounds")
        super().__post_init__()

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(noise_std=1.0, num_rounds=10),)

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[:, STD] = self.each("noise_std", graph)
        nodes[:, ROUNDS] = self.each("num_rounds", graph)
        return nodes

    def noisy_rounds(self, graph: Graph) -> int:
        return int(np.max(self.num_rounds))

    def releases(self, graph: Graph) -> Released:
        n = graph.num_nodes
        rounds = self.each("num_rounds", graph)
        noise = FadingNoise(self.each("noise_std", graph), np.ones(n), rounds)
        return LinearRounds(np.zeros(n), self.mixing(graph), noise, taken_back=rounds)

    def label(self) -> str:
        apart = weights_apart(self.weights)
        return f"Manitara–Hadjicostis, σ = {brief(self.noise_std)}, {brief(self.num_rounds)} rounds{apart}"


def _whole_rounds(name: str, value: object, **limits: Any) -> int | Array:
    rounds = checked(name, value, **limits)
    if np.any(np.mod(rounds, 1.0) != 0.0):
        raise InvalidParameter(f"{name} must be whole numbers, one or one per node, and some is not")
    return int(rounds) if isinstance(rounds, float) else rounds
