"""Pairwise-cancelling noise (GOPA: Sabater, Bellet, Ramon 2022; DECOR: Allouah et al. 2024; Zip-DL: Biswas et al.).

Before the first round the ends of every edge agree on one number, Δ_ij = −Δ_ji ~ N(0, s_Δ²), which one adds and the
other subtracts; each node may add noise η_i ~ N(0, s_η²) of its own. Then plain synchronous averaging. The
pairwise noise cancels in the sum at once, so the limit is c̄ + mean(η).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..foundation.arguments import number
from ..graphs.graph import Graph
from .base import VALUE, Array
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .synchronous import WeightedMethod, take_combined
from .weights import Weights, check_weights

__all__ = ["PairwiseCancelling"]

ADDED, PAIRS = 1, 2
"""Columns: all noise a node added, and Σ ±g over its edges with standard normals g."""

PAIR_STD, OWN_STD = 0, 1


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """In the first round the value under all its noise; then the value."""
    if step == 0:
        nodes[i, ADDED] = parameters[PAIR_STD] * nodes[i, PAIRS] + parameters[OWN_STD] * draw
        return float(nodes[i, VALUE] + nodes[i, ADDED])
    return float(nodes[i, VALUE])


@register
@dataclass(frozen=True, eq=False, repr=False)
class PairwiseCancelling(WeightedMethod):
    """Neighbours add noise that cancels between them, once; then plain averaging.

    Parameters
    ----------
    pair_noise_std
        s_Δ ≥ 0, standard deviation of the number that two neighbours agree on.
    own_noise_std
        s_η ≥ 0, standard deviation of noise that does not cancel; it gives differential privacy, and an error of
        variance s_η²/n. 0: the exact average.
    weights
        See :class:`~sottovoce.SynchronousAveraging`.

    Notes
    -----
    To colluders who leave a connected honest subgraph H the honest values lie under Gaussian noise of
    covariance s_η² I + s_Δ² L_H: a node without an honest neighbour is hidden by its own noise only.
    """

    pair_noise_std: float
    own_noise_std: float = 0.0
    weights: Weights = "metropolis"

    name: ClassVar[str] = "pairwise-cancelling"
    num_fields: ClassVar[int] = 3
    outstanding_field: ClassVar[int | None] = ADDED
    edge_noise_field: ClassVar[int | None] = PAIRS
    noise: ClassVar[str] = "normal"
    send = staticmethod(send)
    receive = staticmethod(take_combined)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pair_noise_std", number("pair_noise_std", self.pair_noise_std, low=0.0))
        object.__setattr__(self, "own_noise_std", number("own_noise_std", self.own_noise_std, low=0.0))
        object.__setattr__(self, "weights", check_weights(self.weights))

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.pair_noise_std, self.own_noise_std])

    def noisy_rounds(self, graph: Graph) -> int:
        return 1

    def messages_before(self, graph: Graph) -> int:
        """One each way on every edge, to agree on the noise."""
        return 2 * graph.num_edges

    def releases(self, graph: Graph) -> Released:
        n = graph.num_nodes
        noise = FadingNoise.equal(n, std=self.own_noise_std, rounds=1)
        return LinearRounds(np.zeros(n), self.mixing(graph), noise, pair_std=self.pair_noise_std)

    def label(self) -> str:
        own = f", own {self.own_noise_std:g}" if self.own_noise_std else ""
        return f"pairwise cancelling, σ = {self.pair_noise_std:g}{own}"
