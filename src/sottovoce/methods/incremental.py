"""Incremental averaging: a node feeds its value into the average in random parts, one part a round.

y(0) = z_0, y(t) = W y(t−1) + z_t, and Σ_t z_{i,t} = c_i + η_i over K rounds (arXiv 2506.03746). The law of the parts is
ours: normal of deviation σ each, given their sum. Then z_t is the K−t-th part of what is left plus noise, and the last
part is all that is left; so one draw a round is enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from ..foundation.arguments import whole
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method
from .registry import register
from .released import LinearRound, LinearSystem, Released
from .synchronous import WeightedMethod, take_combined
from .weights import Weights, weights_apart

__all__ = ["IncrementalAveraging"]

OUTSTANDING, OWN = 1, 2
"""Columns: what was fed in beyond the private value (less, as a rule: minus what is left), and the draw of η."""

STD, PARTS, OWN_STD = 0, 1, 2


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """Feed in one part of what is left, and tell the sum."""
    if step == 0:
        nodes[i, OWN] *= parameters[OWN_STD]
    left = parameters[PARTS] - step
    if left >= 1.0:
        rest = nodes[i, OWN] - nodes[i, OUTSTANDING]
        part = rest / left + parameters[STD] * math.sqrt((left - 1.0) / left) * draw
        nodes[i, VALUE] += part
        nodes[i, OUTSTANDING] += part
    return float(nodes[i, VALUE])


@register
@dataclass(frozen=True)
class IncrementalAveraging(WeightedMethod):
    """Every node feeds its value into the average in random parts that add up to it, one part a round.

    Parameters
    ----------
    noise_std
        σ ≥ 0, standard deviation of each part before they are made to add up to the value.
    num_parts
        K ≥ 2, in how many parts, and therefore rounds, a value is fed in.
    own_noise_std
        s_η ≥ 0, standard deviation of noise that is part of the sum and stays; it gives differential privacy, and an
        error of variance s_η²/n. 0: the exact average.
    weights
        See :class:`~sottovoce.SynchronousAveraging`.

    Notes
    -----
    A run begins with y = 0: nothing is fed in yet. After K rounds ``outstanding_noise`` is η, before it also lacks
    what is still to be fed in.

    Examples
    --------
    >>> import sottovoce as sv
    >>> method = IncrementalAveraging(noise_std=1.0, num_parts=5)
    >>> run = sv.simulate(sv.graphs.complete(4), [1.0, 2.0, 3.0, 6.0], method, num_steps=5, seed=1)
    >>> run.values.round(9).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    noise_std: float
    num_parts: int
    own_noise_std: float = 0.0
    weights: Weights = "metropolis"

    name: ClassVar[str] = "incremental"
    noise_sizes: ClassVar[tuple[str, ...]] = ("noise_std", "own_noise_std")
    num_fields: ClassVar[int] = 3
    outstanding_field: ClassVar[int | None] = OUTSTANDING
    start_noise_field: ClassVar[int | None] = OWN
    noise: ClassVar[str] = "normal"
    send = staticmethod(send)
    receive = staticmethod(take_combined)

    def __post_init__(self) -> None:
        self.check("noise_std", low=0.0)
        self.check("num_parts", whole, low=2, high=2**31)
        self.check("own_noise_std", low=0.0)
        super().__post_init__()

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(noise_std=1.0, num_parts=10),)

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = np.zeros((graph.num_nodes, self.num_fields))
        nodes[:, OUTSTANDING] = -np.asarray(private_values)
        return nodes

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.noise_std, float(self.num_parts), self.own_noise_std])

    def noisy_rounds(self, graph: Graph) -> int:
        return self.num_parts

    def releases(self, graph: Graph) -> Released:
        """Rows: y, and what is left to feed in. Round k says y + part, of which y ← W (y + part)."""
        import scipy.sparse

        n, mixing = graph.num_nodes, self.mixing(graph)
        one = scipy.sparse.eye_array(n)
        nothing = scipy.sparse.csr_array((n, n))

        @cache
        def played(left: int) -> LinearRound:
            share = 1.0 / left if left else 0.0
            size = self.noise_std * math.sqrt((left - 1.0) / left) if left else 0.0
            said = scipy.sparse.hstack([one, share * one], format="csr")
            fed = scipy.sparse.hstack([nothing, (1.0 - share) * one])
            return LinearRound(
                said=said,
                moved=scipy.sparse.vstack([mixing @ said, fed], format="csr"),
                said_noise=scipy.sparse.csr_array(size * one),
                moved_noise=scipy.sparse.vstack([size * mixing, -size * one], format="csr"),
            )

        return LinearSystem.broadcast(
            start=scipy.sparse.vstack([nothing, one]),
            start_noise=scipy.sparse.vstack([nothing, self.own_noise_std * one]),
            rounds=lambda k: played(max(self.num_parts - k, 0)),
        )

    def guarantee(self, graph: Graph) -> Guarantee:
        """After K rounds it is plain averaging of c + η, from wherever it is then."""
        return Guarantee(remaining=self.own_noise_std**2) if self.own_noise_std > 0.0 else super().guarantee(graph)

    def label(self) -> str:
        own = f", own {self.own_noise_std:g}" if self.own_noise_std else ""
        return (
            f"incremental averaging, σ = {self.noise_std:g}, {self.num_parts} parts{own}{weights_apart(self.weights)}"
        )
