"""Heavy-ball gossip (Loizou and Richtárik 2018): pairwise gossip with momentum at every node.

x^{k+1} = x^k − ω·½(x_i − x_j)(e_i − e_j) + β(x^k − x^{k−1}). Every node moves in every step, but between two
of its own exchanges only by momentum, and r steps of that have a closed form: with the difference
d = x − x_prev, x → x + β(1 − β^r)/(1 − β)·d and d → β^r d. So a node catches up when it is touched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..foundation.arguments import number
from ..foundation.numbers import NEGLIGIBLE
from ..graphs.graph import Graph
from ..graphs.spectrum import algebraic_connectivity, laplacian
from .base import VALUE, Array, PairMethod
from .registry import register
from .released import InTheClear, Released

__all__ = ["HeavyBallGossip"]

DIFFERENCE, SETTLED = 1, 2
"""Columns: x − x_prev, and the step at which the row is true."""

MOMENTUM, RELAXATION = 0, 1
SPECTRAL_NODES = 2000
"""Beyond this a momentum that no graph of these degrees could cover is refused its guarantee without a spectrum."""


def update(nodes: Array, i: int, j: int, draw_i: float, draw_j: float, step: int, parameters: Array) -> None:
    """Both ends catch up to ``step``, then make it."""
    beta = parameters[MOMENTUM]
    for end in range(2):
        own = i if end == 0 else j
        power = beta ** (step - nodes[own, SETTLED])
        nodes[own, VALUE] += beta * (1.0 - power) / (1.0 - beta) * nodes[own, DIFFERENCE]
        left = nodes[own, DIFFERENCE] * power
        nodes[own, DIFFERENCE] = left if abs(left) >= NEGLIGIBLE else 0.0
        nodes[own, SETTLED] = step + 1.0
    pull = 0.5 * parameters[RELAXATION] * (nodes[i, VALUE] - nodes[j, VALUE])
    nodes[i, DIFFERENCE] = beta * nodes[i, DIFFERENCE] - pull
    nodes[j, DIFFERENCE] = beta * nodes[j, DIFFERENCE] + pull
    nodes[i, VALUE] += nodes[i, DIFFERENCE]
    nodes[j, VALUE] += nodes[j, DIFFERENCE]


def settle(nodes: Array, step: int, parameters: Array) -> None:
    """Every node catches up to ``step``."""
    beta = parameters[MOMENTUM]
    for own in range(nodes.shape[0]):
        power = beta ** (step - nodes[own, SETTLED])
        nodes[own, VALUE] += beta * (1.0 - power) / (1.0 - beta) * nodes[own, DIFFERENCE]
        nodes[own, DIFFERENCE] *= power
        nodes[own, SETTLED] = step


@register
@dataclass(frozen=True)
class HeavyBallGossip(PairMethod):
    """Pairwise gossip in which every node also repeats a share β of its last movement.

    Parameters
    ----------
    momentum
        β in [0, 1). Mean-square convergence is proved only for tiny β (see :meth:`largest_guaranteed`);
        experiments use 0.3 to 0.5, which works better and is reported as outside the guarantee.
    relaxation
        ω in (0, 2): 1 is the plain average.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> round(HeavyBallGossip.largest_guaranteed(cycle(10)), 4)
    0.0045
    """

    momentum: float
    relaxation: float = 1.0

    name: ClassVar[str] = "heavy-ball"
    num_fields: ClassVar[int] = 3
    lazy: ClassVar[bool] = True
    assumes_equal_edges: ClassVar[bool] = True
    update = staticmethod(update)
    settle = staticmethod(settle)

    def __post_init__(self) -> None:
        why = "momentum that is not damped never dies out"
        object.__setattr__(
            self, "momentum", number("momentum", self.momentum, low=0.0, high=1.0, high_open=True, why=why)
        )
        why = "outside it a firing edge drives its ends further apart"
        relaxation = number("relaxation", self.relaxation, low=0.0, high=2.0, low_open=True, high_open=True, why=why)
        object.__setattr__(self, "relaxation", relaxation)

    @classmethod
    def for_mean(cls, graph: Graph) -> HeavyBallGossip:
        """ω = 1, β = (1 − √(0.99 λ))² with λ = α/(2m): the *expected value* E x then converges at rate β.

        That is the accelerated rate of Loizou and Richtárik's theorem on E x; it says nothing about E‖x − c̄‖².
        """
        return cls(momentum=(1.0 - math.sqrt(0.99 * _smallest(graph))) ** 2)

    @staticmethod
    def largest_guaranteed(graph: Graph, relaxation: float = 1.0) -> float:
        """Supremum of the β with proved mean-square convergence at this ω.

        The proof (Loizou and Richtárik 2017, Theorem 1) needs a₁ + a₂ < 1 for a₁ = 1 + 3β + 2β² −
        (ω(2 − ω) + ωβ)λ_min and a₂ = β + 2β² + ωβ λ_max, the λ being eigenvalues of L/(2m).
        """
        low, high = _smallest(graph), _largest(graph)
        linear, constant = 4.0 + relaxation * (high - low), relaxation * (2.0 - relaxation) * low
        return (math.sqrt(linear**2 + 16.0 * constant) - linear) / 8.0

    def caveats(self, graph: Graph) -> tuple[str, ...]:
        if self.momentum == 0.0:
            return ()
        largest = self._largest_conceivable(graph)
        if graph.num_nodes <= SPECTRAL_NODES or self.momentum < largest:
            largest = self.largest_guaranteed(graph, self.relaxation)
        if self.momentum < largest:
            return ()
        return (
            f"momentum {self.momentum:g} is outside [0, {largest:.3g}), where mean-square convergence is proved here",
        )

    def _largest_conceivable(self, graph: Graph) -> float:
        """An upper bound on :meth:`largest_guaranteed` without a spectrum: α ≤ n d_min/(n − 1) (Fiedler 1973)."""
        alpha = graph.num_nodes * float(graph.degrees.min()) / (graph.num_nodes - 1)
        return self.relaxation * (2.0 - self.relaxation) * alpha / (8.0 * graph.num_edges)

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.momentum, self.relaxation])

    def releases(self, graph: Graph) -> Released:
        return InTheClear()

    def label(self) -> str:
        return f"heavy ball, β = {self.momentum:g}" + (f", ω = {self.relaxation:g}" if self.relaxation != 1.0 else "")


def _smallest(graph: Graph) -> float:
    """Smallest positive eigenvalue of L/(2m)."""
    return algebraic_connectivity(graph) / (2.0 * graph.num_edges)


def _largest(graph: Graph) -> float:
    """Largest eigenvalue of L/(2m)."""
    import scipy.sparse.linalg

    matrix = laplacian(graph)
    if graph.num_nodes <= 64:
        top = np.linalg.eigvalsh(matrix.toarray())[-1]
    else:
        start = np.cos(np.arange(graph.num_nodes))  # the same every time
        top = scipy.sparse.linalg.eigsh(matrix, k=1, which="LA", v0=start, tol=1e-6, return_eigenvectors=False)[0]
    return float(top) / (2.0 * graph.num_edges)
