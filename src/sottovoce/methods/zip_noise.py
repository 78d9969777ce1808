"""Zip noise (Zip-DL: Biswas et al. 2024): every neighbour hears other noise, and what a node adds cancels at once.

In a round node a tells neighbour v the number x_a + η_av. The noises of a node are made from independent draws Y of
deviation σφ^k, η_av = Y_av − Σ_j W_ja Y_aj/(D_a W_va) over its D_a closed neighbours (itself included), so that
Σ_v W_va η_av = 0: what receivers add up has no noise in sum, in every round. Then x_v ← Σ_a W_va (x_a + η_av).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..errors import InvalidParameter
from ..foundation.numbers import NEGLIGIBLE
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method, NeighbourMethod
from .registry import register
from .released import LinearRound, LinearSystem, Released
from .weights import Weights, check_weights, consensus_factor, mixing_matrix, weight_caveats, weights_apart

__all__ = ["ZipNoise"]

WEIGHT, GIVEN = 2, 3
"""Columns: in a neighbour's row W_iv, by which the node weighs what it hears, and W_vi, by which it is weighed; in a
node's own row W_ii, and its amplitude σφ^k."""

DECAY = 0
DENSE_NODES = 2000
"""Up to here the error that noise without decay leaves is computed."""


def speak(nodes: Array, i: int, first: int, last: int, draws: Array, step: int, parameters: Array) -> None:
    """Noise for every neighbour and for itself, of which the weighted sum is zero."""
    size = nodes[i, GIVEN]
    total = nodes[i, WEIGHT] * draws[i]
    for row in range(first, last):
        total += nodes[row, GIVEN] * draws[row]
    share = total / (last - first + 1.0)
    for row in range(first, last):
        nodes[row, 0] = nodes[i, VALUE] + size * (draws[row] - share / nodes[row, GIVEN])
    own = nodes[i, VALUE] + size * (draws[i] - share / nodes[i, WEIGHT])
    nodes[i, VALUE] = nodes[i, WEIGHT] * own
    smaller = size * parameters[DECAY]
    nodes[i, GIVEN] = smaller if smaller >= NEGLIGIBLE else 0.0


def hear(nodes: Array, i: int, row: int, step: int, parameters: Array) -> None:
    """Add what was heard, by its weight."""
    nodes[i, VALUE] += nodes[row, WEIGHT] * nodes[row, 1]


@register
@dataclass(frozen=True)
class ZipNoise(NeighbourMethod):
    """Synchronous averaging in which every neighbour hears other noise, which cancels in the sum in the same round.

    Parameters
    ----------
    noise_std
        σ ≥ 0, standard deviation of the draws of the first round.
    noise_decay
        φ in [0, 1], the share of amplitude kept per round. 1, as published: the noise never fades, and the
        values end around the average and not at it.
    weights
        See :class:`~sottovoce.SynchronousAveraging`; above 0 on every edge and at every node.

    Examples
    --------
    >>> import sottovoce as sv
    >>> method = ZipNoise(noise_std=5.0, noise_decay=0.5)
    >>> run = sv.simulate(sv.graphs.cycle(4), [1.0, 2.0, 3.0, 6.0], method, num_steps=200, seed=1)
    >>> run.values.round(9).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    noise_std: float
    noise_decay: float
    weights: Weights = "metropolis"

    name: ClassVar[str] = "zip"
    noise_sizes: ClassVar[tuple[str, ...]] = ("noise_std",)
    num_fields: ClassVar[int] = 4
    noise: ClassVar[str] = "normal"
    speak = staticmethod(speak)
    hear = staticmethod(hear)

    def __post_init__(self) -> None:
        self.check("noise_std", low=0.0)
        self.check("noise_decay", low=0.0, high=1.0)
        self.check("weights", check_weights)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(noise_std=1.0, noise_decay=0.9),)

    def validate(self, graph: Graph) -> None:
        super().validate(graph)
        weights = self._weights(graph)
        if min(weights["own"].min(), weights["heard"].min(), weights["given"].min()) <= 0.0:
            raise InvalidParameter(
                "weights must be above 0 on every edge and at every node (noise is divided by them), and some is not"
            )

    def caveats(self, graph: Graph) -> tuple[str, ...]:
        return weight_caveats(self.weights, graph)

    def needs(self) -> str:
        known = {"metropolis": "", "max-degree": " and the largest degree"}
        return super().needs() + (known[self.weights] if isinstance(self.weights, str) else " and the weights")

    def _weights(self, graph: Graph) -> dict[str, Array]:
        """W_ii of every node; W_iv and W_vi in the order of ``graph.neighbours``."""
        mixing: Any = mixing_matrix(self.weights, graph)
        owners = np.repeat(np.arange(graph.num_nodes), graph.degrees)
        return {
            "own": np.asarray(mixing.diagonal()),
            "heard": np.asarray(mixing[owners, graph.neighbours]).reshape(-1),
            "given": np.asarray(mixing[graph.neighbours, owners]).reshape(-1),
        }

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes, weights, n = super().initial(graph, private_values), self._weights(graph), graph.num_nodes
        nodes[:n, WEIGHT], nodes[:n, GIVEN] = weights["own"], self.noise_std
        nodes[n:, WEIGHT], nodes[n:, GIVEN] = weights["heard"], weights["given"]
        return nodes

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.noise_decay])

    def releases(self, graph: Graph) -> Released:
        """Rows x; one message per neighbour; one draw per node and neighbour."""
        import scipy.sparse

        n, mixing = graph.num_nodes, mixing_matrix(self.weights, graph)
        owners = np.repeat(np.arange(n), graph.degrees)
        own, given, heard = self._noise(graph)
        said = scipy.sparse.csr_array((np.ones(len(owners)), (np.arange(len(owners)), owners)), shape=(len(owners), n))
        moved_noise = scipy.sparse.csr_array(own + heard)

        first = LinearRound(said, mixing, said_noise=given, moved_noise=moved_noise)
        none = scipy.sparse.csr_array((n, 0))
        return LinearSystem(
            holders=np.arange(n),
            start=scipy.sparse.csr_array(scipy.sparse.eye_array(n)),
            start_noise=none,
            start_known=np.zeros((0, 2), dtype=np.int64),
            speakers=owners,
            listeners=graph.neighbours.astype(np.int64),
            rounds=lambda k: replace(first, noise_std=self.noise_std * self.noise_decay**k),
            draws_known=np.concatenate([np.arange(n), owners]),
        )

    def _noise(self, graph: Graph) -> tuple[Any, Any, Any]:
        """For σ = 1, of the draws of nodes and then neighbours: W_ii η_ii ``(n, draws)``, η of messages
        ``(2m, draws)``, and what the messages add to each listener, ``(n, draws)``.
        """
        import scipy.sparse

        n, weights = graph.num_nodes, self._weights(graph)
        owners = np.repeat(np.arange(n), graph.degrees)
        arcs = len(owners)
        everyone = np.arange(n)
        # Σ_j W_ja Y_aj of every node, over D_a.
        places = (np.concatenate([everyone, owners]), np.arange(n + arcs))
        sums = scipy.sparse.csr_array((np.concatenate([weights["own"], weights["given"]]), places), shape=(n, n + arcs))
        share = scipy.sparse.diags_array(1.0 / (graph.degrees + 1.0)) @ sums
        mine = scipy.sparse.csr_array((np.ones(n), (everyone, everyone)), shape=(n, n + arcs))
        own = scipy.sparse.diags_array(weights["own"]) @ mine - share
        theirs = scipy.sparse.csr_array((np.ones(arcs), (np.arange(arcs), n + np.arange(arcs))), shape=(arcs, n + arcs))
        given = scipy.sparse.csr_array(theirs - scipy.sparse.diags_array(1.0 / weights["given"]) @ share[owners])
        listening = scipy.sparse.csr_array(
            (weights["given"], (graph.neighbours.astype(np.int64), np.arange(arcs))), shape=(n, arcs)
        )
        return own, given, listening @ given

    def guarantee(self, graph: Graph) -> Guarantee:
        """With noise that fades the limit is exact; without, Σ_k W^k N W^k of a round's noise N is left."""
        mixing = mixing_matrix(self.weights, graph)
        if self.noise_std > 0.0 and self.noise_decay == 1.0:
            return Guarantee(remaining=self._left(graph, mixing) if graph.num_nodes <= DENSE_NODES else None)
        if self.caveats(graph):
            return Guarantee(remaining=0.0)
        decay = self.noise_decay if self.noise_std > 0.0 else 0.0
        return Guarantee(max(decay, consensus_factor(mixing)) ** 2, 0.0, attained=True)

    def _left(self, graph: Graph, mixing: Any) -> float:
        own, _, heard = self._noise(graph)
        noise = (own + heard).toarray()
        eigenvalues, vectors = np.linalg.eigh(mixing.toarray())
        shares = ((vectors.T @ noise) ** 2).sum(axis=1)
        return float(self.noise_std**2 * (shares[:-1] / (1.0 - eigenvalues[:-1] ** 2)).sum())

    def label(self) -> str:
        return f"zip noise, σ = {self.noise_std:g}, φ = {self.noise_decay:g}{weights_apart(self.weights)}"
