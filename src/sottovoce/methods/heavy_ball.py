"""Heavy-ball gossip (Loizou and Richtárik 2018): pairwise gossip with momentum at every node.

x^{k+1} = x^k − ω·½(x_i − x_j)(e_i − e_j) + β(x^k − x^{k−1}). Every node moves in every step, but between two
of its own exchanges only by momentum, and r steps of that have a closed form: with the difference
d = x − x_prev, x → x + β(1 − β^r)/(1 − β)·d and d → β^r d. So a node catches up when it is touched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from ..foundation.arguments import number
from ..foundation.numbers import NEGLIGIBLE
from ..graphs.chances import Chances
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method, PairMethod
from .registry import register
from .released import InTheClear, Released

__all__ = ["HeavyBallGossip", "heavy_ball_factor", "heavy_ball_momentum"]

DIFFERENCE, SETTLED = 1, 2
"""Columns: x − x_prev, and the step at which the row is true."""

MOMENTUM, RELAXATION = 0, 1
between_0_and_2 = partial(number, low=0.0, high=2.0, low_open=True, high_open=True)
SPECTRAL_NODES = 2000
"""Beyond this many nodes, momentum that is too large for any graph of these degrees is reported without a spectrum."""
DENSE_NODES = 500
"""Up to here the largest eigenvalue comes from a dense solver."""


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
    own_rows_only: ClassVar[bool] = True
    update = staticmethod(update)
    settle = staticmethod(settle)

    def __post_init__(self) -> None:
        self.check("momentum", low=0.0, high=1.0, high_open=True, why="momentum that is not damped never ends")
        self.check("relaxation", between_0_and_2, why="outside it a firing edge drives its ends further apart")

    @classmethod
    def for_mean(cls, graph: Graph) -> HeavyBallGossip:
        """ω = 1, β = (1 − √(0.99 λ))² with λ = α/(2m): the *expected value* E x then converges at rate β.

        That is the accelerated rate of Loizou and Richtárik's theorem on E x; it says nothing about E‖x − c̄‖².
        """
        return cls(momentum=heavy_ball_momentum(graph))

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(momentum=0.4),)

    @staticmethod
    def largest_guaranteed(graph: Graph, relaxation: float = 1.0) -> float:
        """Supremum of the β with proved mean-square convergence at this ω.

        The proof (Loizou and Richtárik 2020, Theorem 1) needs a₁ + a₂ < 1 for a₁ = 1 + 3β + 2β² −
        (ω(2 − ω) + ωβ)λ_min and a₂ = β + 2β² + ωβ λ_max, the λ being eigenvalues of L/(2m).
        """
        low, high = _eigenvalues(graph)
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

    def guarantee(self, graph: Graph) -> Guarantee:
        """The factor of Theorem 1 where its conditions hold; for usual momentum nothing is proved in mean square."""
        if self.caveats(graph):
            return Guarantee()
        return Guarantee(heavy_ball_factor(graph, self.momentum, self.relaxation), 0.0)

    def needs(self) -> str:
        return "the number of steps made in the network"

    def label(self) -> str:
        return f"heavy ball, β = {self.momentum:g}" + (f", ω = {self.relaxation:g}" if self.relaxation != 1.0 else "")


def heavy_ball_momentum(graph: Graph, relaxation: float = 1.0, safety: float = 0.99) -> float:
    """β for which the mean of heavy-ball gossip converges at β: (1 − √(safety · ω · λ_min))², λ_min = α/(2m).

    It speaks of ‖E[x] − c̄‖² only; in mean square momentum this large has no guarantee. E x follows
    z ← (1 + β − ωλ) z − β z_prev for each eigenvalue λ of L/(2m), at √β if (1 − √β)² < ωλ < (1 + √β)². The second
    inequality matters for ω > 1 only: then √β is also at least √(ω λ_max/safety) − 1.

    Examples
    --------
    >>> from sottovoce.graphs import complete, cycle
    >>> round(heavy_ball_momentum(cycle(10)), 4)
    0.7439
    >>> round(heavy_ball_momentum(complete(2), 1.5), 4)
    0.0533
    """
    between_0_and_2("relaxation", relaxation)
    number("safety", safety, low=0.0, high=1.0, low_open=True, high_open=True)
    root = max(1.0 - math.sqrt(safety * relaxation * Chances(graph).contraction_gap), 0.0)
    if relaxation > 1.0:
        root = max(root, math.sqrt(relaxation * _eigenvalues(graph)[1] / safety) - 1.0)
    return min(root, 1.0 - 1e-12) ** 2


def heavy_ball_factor(graph: Graph, momentum: float, relaxation: float = 1.0) -> float:
    """The factor q with E‖x^k − c̄‖² ≤ q^k (1 + q − a₁) ‖x^0 − c̄‖² for heavy-ball gossip; at least 1: no guarantee.

    With λ the eigenvalues of L/(2m): a₁ = 1 + 3β + 2β² − (ω(2 − ω) + ωβ)λ_min, a₂ = β + 2β² + ωβλ_max and
    q = (a₁ + √(a₁² + 4a₂))/2 (Loizou and Richtárik 2020, Theorem 1).

    Examples
    --------
    On C₁₀ the guarantee is gone at β = 0.0046.

    >>> from sottovoce.graphs import cycle
    >>> heavy_ball_factor(cycle(10), 0.0045) < 1 < heavy_ball_factor(cycle(10), 0.0046)
    True
    """
    number("momentum", momentum, low=0.0, high=1.0, high_open=True)
    between_0_and_2("relaxation", relaxation)
    low, high = _eigenvalues(graph)
    first = 1.0 + 3.0 * momentum + 2.0 * momentum**2 - (relaxation * (2.0 - relaxation) + relaxation * momentum) * low
    second = momentum + 2.0 * momentum**2 + relaxation * momentum * high
    return 0.5 * (first + math.sqrt(first**2 + 4.0 * second))


def _eigenvalues(graph: Graph) -> tuple[float, float]:
    """The smallest positive and the largest eigenvalue of L/(2m)."""
    chances = Chances(graph)
    if graph.num_nodes <= DENSE_NODES:
        top = np.linalg.eigvalsh(chances.laplacian.toarray())[-1]
    else:
        import scipy.sparse.linalg

        start = np.random.default_rng(0).standard_normal(graph.num_nodes)  # the same every time
        top = scipy.sparse.linalg.eigsh(chances.laplacian, k=1, which="LA", return_eigenvectors=False, v0=start)[0]
    return chances.contraction_gap, 0.5 * float(top)
