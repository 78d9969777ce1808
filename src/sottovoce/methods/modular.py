"""Modular masks (Gupta, Katz, Chopra 2018, 2019): neighbours exchange numbers that cancel in the sum, modulo p.

Node i draws r_ij uniform in [0, p) for every neighbour and tells it; then s_i = c_i + Σ_j (r_ji − r_ij) mod p. The
s are averaged exactly, in the open; n times their mean is Σ c modulo p, and p is so large that this says which sum it
is. What two neighbours share is the difference of their two numbers, uniform modulo p: one number per edge. Ours is
normal of deviation 2p before it is taken modulo p, which is uniform up to 2·exp(−8π²), below 10^−33.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import InvalidValues
from ..graphs.graph import Graph
from .base import VALUE, Array, Method
from .registry import register
from .released import NotGaussian, Released
from .synchronous import WeightedMethod
from .weights import Weights

__all__ = ["ModularMasks"]

MASKED, ADDED, MASKS, MODULUS = 1, 2, 3, 4
"""Columns: s and its averages, what the masks added to c in all, Σ ±g over edges with standard normals g, and p."""

SPREAD = 2.0
"""Deviation of a mask before it is taken modulo p, in units of p."""
ROOM = 4.0
"""p over n times the largest value. 2 would do for the sum; the rest is for averages that are not exact yet."""


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """In the first round mask the value; tell the masked value."""
    if step == 0:
        modulus = nodes[i, MODULUS]
        masked = nodes[i, VALUE] + SPREAD * modulus * nodes[i, MASKS]
        nodes[i, MASKED] = masked - modulus * math.floor(masked / modulus)
        nodes[i, ADDED] = nodes[i, MASKED] - nodes[i, VALUE]
    return float(nodes[i, MASKED])


def receive(nodes: Array, i: int, sent: float, combined: float, step: int, parameters: Array) -> None:
    """Average what is masked; the value is the mean that goes with it."""
    total, modulus = parameters[0] * combined, nodes[i, MODULUS]
    nodes[i, MASKED] = combined
    nodes[i, VALUE] = (total - modulus * math.floor(total / modulus + 0.5)) / parameters[0]


@register
@dataclass(frozen=True)
class ModularMasks(WeightedMethod):
    """Neighbours mask their values by numbers that cancel modulo p; then plain averaging of what is masked.

    Parameters
    ----------
    largest
        A bound on the size of all private values, agreed on beforehand; p is four times n times this. ``None``: the
        largest size among the values of the run, which a real network does not know.
    weights
        See :class:`~sottovoce.SynchronousAveraging`.

    Notes
    -----
    Until the masked values nearly agree, the values of the nodes are meaningless numbers in ±p/(2n). Doubles hold
    p to sixteen digits, so the error ends at about 10^−16 p.

    Examples
    --------
    >>> import sottovoce as sv
    >>> method = ModularMasks(largest=10.0)
    >>> run = sv.simulate(sv.graphs.complete(4), [1.0, 2.0, 3.0, 6.0], method, num_steps=2, seed=1)
    >>> run.values.round(9).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    largest: float | None = None
    weights: Weights = "metropolis"

    name: ClassVar[str] = "modular-masks"
    num_fields: ClassVar[int] = 5
    mass_field: ClassVar[int] = MASKED
    outstanding_field: ClassVar[int | None] = ADDED
    edge_noise_field: ClassVar[int | None] = MASKS
    send = staticmethod(send)
    receive = staticmethod(receive)

    def __post_init__(self) -> None:
        if self.largest is not None:
            self.check("largest", low=0.0, high=1e150, low_open=True)
        super().__post_init__()

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(),)

    def needs(self) -> str:
        return super().needs() + ", the number of nodes and a bound on all values"

    def initial(self, graph: Graph, private_values: Array) -> Array:
        largest = float(np.abs(private_values).max())
        if self.largest is not None:
            if largest > self.largest:
                raise InvalidValues(
                    f"private_values must be at most largest = {self.largest:g} in size, and some is not: "
                    "their sum could not be told from another one modulo p"
                )
            largest = self.largest
        nodes = super().initial(graph, private_values)
        nodes[:, MASKED] = private_values
        nodes[:, MODULUS] = ROOM * graph.num_nodes * (largest or 1.0)
        return nodes

    def parameters(self, graph: Graph) -> Array:
        return np.array([float(graph.num_nodes)])

    def messages_before(self, graph: Graph) -> int:
        """One each way on every edge, with the two random numbers."""
        return 2 * graph.num_edges

    def releases(self, graph: Graph) -> Released:
        """What colluders hear is uniform but for the sum over each connected part of the others."""
        return NotGaussian("sums modulo p only")

    def label(self) -> str:
        return "modular masks" + ("" if self.largest is None else f", values to {self.largest:g}")
