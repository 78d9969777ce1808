"""Pairwise-cancelling noise (GOPA: Sabater, Bellet, Ramon 2022; DECOR: Allouah et al. 2024; Zip-DL: Biswas et al.).

Before the first round the ends of every edge agree on one number, Δ_ij = −Δ_ji ~ N(0, s_Δ²), which one adds and the
other subtracts; each node may add noise η_i ~ N(0, s_η²) of its own. Then plain synchronous averaging. The
pairwise noise cancels in the sum at once, so the limit is c̄ + mean(η).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..foundation.arguments import number
from ..graphs.graph import Graph, check_graph
from .base import VALUE, Array, Guarantee, Method
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .synchronous import WeightedMethod, check_node, take_combined
from .weights import Weights, weights_apart

__all__ = ["PairwiseCancelling", "cancelling_covariance", "cancelling_mu"]

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
@dataclass(frozen=True)
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
    noise_sizes: ClassVar[tuple[str, ...]] = ("pair_noise_std", "own_noise_std")
    num_fields: ClassVar[int] = 3
    outstanding_field: ClassVar[int | None] = ADDED
    edge_noise_field: ClassVar[int | None] = PAIRS
    noise: ClassVar[str] = "normal"
    send = staticmethod(send)
    receive = staticmethod(take_combined)

    def __post_init__(self) -> None:
        self.check("pair_noise_std", low=0.0)
        self.check("own_noise_std", low=0.0)
        super().__post_init__()

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(pair_noise_std=1.0),)

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

    def guarantee(self, graph: Graph) -> Guarantee:
        """All noise is in before the first round: its mean stays, the rest contracts with W."""
        return replace(super().guarantee(graph), remaining=self.own_noise_std**2)

    def label(self) -> str:
        own = f", own {self.own_noise_std:g}" if self.own_noise_std else ""
        return f"pairwise cancelling, σ = {self.pair_noise_std:g}{own}{weights_apart(self.weights)}"


def cancelling_covariance(
    graph: Graph, pair_noise_std: float, own_noise_std: float = 0.0, *, curious: Iterable[int] = ()
) -> Array:
    """Pairwise-cancelling noise: covariance of what the honest nodes show, s_η² I + s_Δ² L_H, H the honest subgraph.

    Curious nodes know the numbers they agreed on, so that only noise between two honest nodes hides anything.

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> cancelling_covariance(complete(2), 2.0, 1.0).tolist()
    [[5.0, -4.0], [-4.0, 5.0]]
    """
    check_graph(graph)
    number("pair_noise_std", pair_noise_std, low=0.0)
    number("own_noise_std", own_noise_std, low=0.0)
    honest = _honest(graph, curious)
    place = np.cumsum(honest) - 1
    covariance = own_noise_std**2 * np.eye(int(honest.sum()))
    first, second = place[graph.edges[honest[graph.edges].all(axis=1)]].T
    np.add.at(covariance, (np.r_[first, second], np.r_[first, second]), pair_noise_std**2)
    covariance[first, second] -= pair_noise_std**2
    covariance[second, first] -= pair_noise_std**2
    return covariance


def cancelling_mu(
    graph: Graph,
    pair_noise_std: float,
    own_noise_std: float = 0.0,
    *,
    curious: Iterable[int] = (),
    sensitivity: float = 1.0,
) -> Array:
    """Pairwise-cancelling noise: μ-GDP of every value against an observer of all masked values.

    μ_i² = Δ² [(s_η² I + s_Δ² L_H)^{−1}]_ii. Parameters are those of :class:`sottovoce.PairwiseCancelling`; ``curious``
    nodes tell the observer the numbers they agreed on.

    Returns
    -------
    ndarray
        ``(n,)``; infinite without own noise, as the sum of the honest values is then known exactly; zero for the
        curious nodes themselves.

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> cancelling_mu(complete(3), 10.0, 1.0).round(4).tolist()
    [0.5793, 0.5793, 0.5793]
    """
    check_graph(graph)
    number("sensitivity", sensitivity, low=0.0)
    curious = tuple(curious)
    honest = _honest(graph, curious)
    covariance = cancelling_covariance(graph, pair_noise_std, own_noise_std, curious=curious)
    mu = np.zeros(graph.num_nodes)
    if own_noise_std == 0.0:
        mu[honest] = math.inf if sensitivity > 0.0 else 0.0
    else:
        mu[honest] = sensitivity * np.sqrt(np.linalg.inv(covariance).diagonal())
    return mu


def _honest(graph: Graph, curious: Iterable[int]) -> npt.NDArray[np.bool_]:
    honest = np.ones(graph.num_nodes, dtype=np.bool_)
    for node in curious:
        check_node("curious", node, graph.num_nodes)
        honest[node] = False
    return honest
