"""Huang, Mitra and Dullerud (2012): differentially private consensus with Laplace noise of shrinking scale.

Every node says θ + Laplace(b q^t), forms the weighted average y of what it received, and moves there by a share:
θ ← (1 − s)θ + s y. It converges to a random value near the average, not to the average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import InvalidParameter
from ..foundation.arguments import number
from ..foundation.numbers import NEGLIGIBLE
from ..graphs.graph import Graph
from .base import VALUE, Array
from .nozari import laplace_epsilon
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .synchronous import WeightedMethod
from .weights import Weights, check_weights

__all__ = ["Huang"]

KEPT, ADDED, AMPLITUDE = 1, 2, 3
"""Columns: s × (sum of the noise a node has said so far), which is what it put into the total; this round's; b q^t."""

DECAY, SHARE = 0, 1


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """Say the value under fresh noise."""
    nodes[i, ADDED] = nodes[i, AMPLITUDE] * draw
    smaller = nodes[i, AMPLITUDE] * parameters[DECAY]
    nodes[i, AMPLITUDE] = smaller if smaller >= NEGLIGIBLE else 0.0
    return float(nodes[i, VALUE] + nodes[i, ADDED])


def receive(nodes: Array, i: int, sent: float, combined: float, step: int, parameters: Array) -> None:
    """A share of the way towards the average of what was said."""
    share = parameters[SHARE]
    nodes[i, VALUE] = (1.0 - share) * nodes[i, VALUE] + share * combined
    nodes[i, KEPT] += share * nodes[i, ADDED]


@register
@dataclass(frozen=True, eq=False, repr=False)
class Huang(WeightedMethod):
    """Laplace noise on everything said, never withdrawn; the value moves a share of the way in each round.

    Parameters
    ----------
    noise_scale
        b ≥ 0, Laplace scale of the first noise.
    noise_decay
        q in (1 − s, 1), the share of scale kept per round.
    mixing_share
        s in (0, 1], how far towards the average of what was received a node moves.
    weights
        See :class:`~sottovoce.SynchronousAveraging`.

    Notes
    -----
    ε = δ q/(b (q − (1 − s))) differential privacy for values that differ by at most δ.
    """

    noise_scale: float
    noise_decay: float
    mixing_share: float = 0.5
    weights: Weights = "metropolis"

    name: ClassVar[str] = "huang"
    num_fields: ClassVar[int] = 4
    outstanding_field: ClassVar[int | None] = KEPT
    noise: ClassVar[str] = "laplace"
    send = staticmethod(send)
    receive = staticmethod(receive)

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_scale", number("noise_scale", self.noise_scale, low=0.0))
        share = number(
            "mixing_share", self.mixing_share, low=0.0, high=1.0, low_open=True, why="it is a share of the way"
        )
        decay = number("noise_decay", self.noise_decay, low=0.0, high=1.0, high_open=True)
        if decay <= 1.0 - share:
            raise InvalidParameter(
                f"noise_decay must be in (1 − s, 1) = ({1.0 - share:g}, 1) (otherwise ε is infinite: the values "
                f"outlive the noise that hides them), got {decay:g} with mixing_share {share:g}"
            )
        object.__setattr__(self, "noise_decay", decay)
        object.__setattr__(self, "mixing_share", share)
        object.__setattr__(self, "weights", check_weights(self.weights))

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[:, AMPLITUDE] = self.noise_scale
        return nodes

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.noise_decay, self.mixing_share])

    def releases(self, graph: Graph) -> Released:
        """θ ← (1 − share)θ + share·W s."""
        n, share = graph.num_nodes, self.mixing_share
        scale, decay = np.full(n, self.noise_scale), np.full(n, self.noise_decay)
        noise = FadingNoise(np.sqrt(2.0) * scale, decay, np.full(n, np.inf), law="laplace")
        epsilon = laplace_epsilon(scale, decay, np.full(n, 1.0 - share))
        return LinearRounds(np.full(n, 1.0 - share), share * self.mixing(graph), noise, epsilon=epsilon)

    def label(self) -> str:
        return f"Huang, b = {self.noise_scale:g}, q = {self.noise_decay:g}, s = {self.mixing_share:g}"
