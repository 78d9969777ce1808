"""Mo and Murray (2017): synchronous averaging under noise that is withdrawn, the model of Algorithm 1.

w(0) = v(0), w(k) = φ^k v(k) − φ^{k−1} v(k−1) with v ~ N(0, σ²); x(k+1) = W (x(k) + w(k)). As in Algorithm 1 the
noise that is put in and not yet withdrawn is u(k) = φ^k v(k), and Σ x − Σ u = Σ c after every round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..foundation.arguments import number
from ..foundation.numbers import NEGLIGIBLE
from ..graphs.graph import Graph
from .base import VALUE, Array
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .synchronous import WeightedMethod, take_combined
from .weights import Weights, check_weights, minus_identity

__all__ = ["MoMurray"]

OUTSTANDING, AMPLITUDE = 1, 2
STD, DECAY = 0, 1


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """Withdraw the last noise, put in fresh noise, tell the sum."""
    fresh = nodes[i, AMPLITUDE] * draw
    shown = nodes[i, VALUE] + (fresh - nodes[i, OUTSTANDING])
    nodes[i, OUTSTANDING] = fresh
    smaller = nodes[i, AMPLITUDE] * parameters[DECAY]
    nodes[i, AMPLITUDE] = smaller if smaller >= NEGLIGIBLE else 0.0
    return float(shown)


@register
@dataclass(frozen=True, eq=False, repr=False)
class MoMurray(WeightedMethod):
    """Synchronous averaging in which every node adds noise of shrinking amplitude and withdraws the previous one.

    Parameters
    ----------
    noise_std
        σ ≥ 0, the standard deviation of the first noise of every node.
    noise_decay
        φ in [0, 1), the share of amplitude kept per round.
    weights
        See :class:`~sottovoce.SynchronousAveraging`.

    Notes
    -----
    Mean-square error shrinks at max(φ², λ₂², λ_n²) a round. Whatever φ, the value of a node all of whose
    neighbours are also neighbours of the observer (or the observer) is disclosed to it in the limit.
    """

    noise_std: float
    noise_decay: float
    weights: Weights = "metropolis"

    name: ClassVar[str] = "mo-murray"
    num_fields: ClassVar[int] = 3
    outstanding_field: ClassVar[int | None] = OUTSTANDING
    noise: ClassVar[str] = "normal"
    send = staticmethod(send)
    receive = staticmethod(take_combined)

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_std", number("noise_std", self.noise_std, low=0.0))
        why = "noise that does not shrink is never withdrawn"
        decay = number("noise_decay", self.noise_decay, low=0.0, high=1.0, high_open=True, why=why)
        object.__setattr__(self, "noise_decay", decay)
        object.__setattr__(self, "weights", check_weights(self.weights))

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[:, AMPLITUDE] = self.noise_std
        return nodes

    def noisy_rounds(self, graph: Graph) -> int:
        if self.noise_std == 0.0:
            return 0
        if self.noise_decay == 0.0:
            return 1
        return 2 + max(0, int(math.log(NEGLIGIBLE / self.noise_std) / math.log(self.noise_decay)))

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.noise_std, self.noise_decay])

    def releases(self, graph: Graph) -> Released:
        """With z for the value less the outstanding noise: s = z + fresh, z ← W s − fresh = z + (W − I)s."""
        n = graph.num_nodes
        noise = FadingNoise.equal(n, std=self.noise_std, decay=self.noise_decay)
        return LinearRounds(np.ones(n), minus_identity(self.mixing(graph)), noise)

    def label(self) -> str:
        return f"Mo–Murray, σ = {self.noise_std:g}, φ = {self.noise_decay:g}"
