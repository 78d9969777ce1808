"""Circulant graphs without a stored edge list: node i is joined to i ± each of a few offsets, modulo n.

With a handful of random offsets they mix about as well as a random regular graph, and a billion
nodes take no memory: what huge runs need. :func:`sottovoce.simulate` takes one in the place of a graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from .graph import Graph

__all__ = ["Circulant"]


@dataclass(frozen=True)
class Circulant:
    """n nodes; edge k·n + i joins i and i + offsets[k] modulo n.

    Parameters
    ----------
    num_nodes
        n ≥ 3.
    offsets
        Distinct whole numbers in [1, (n − 1)/2], at most 64, with no common divisor with n.

    Examples
    --------
    >>> ring = Circulant(5, (1,))
    >>> ring.to_graph().edges.tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]]
    """

    num_nodes: int
    offsets: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", tuple(int(o) for o in self.offsets))
        high = (self.num_nodes - 1) // 2
        if self.num_nodes < 3:
            raise InvalidParameter(f"num_nodes must be at least 3, got {self.num_nodes}")
        if not 1 <= len(self.offsets) <= 64 or len(set(self.offsets)) != len(self.offsets):
            raise InvalidParameter(f"offsets must be 1 to 64 distinct whole numbers, got {len(self.offsets)}")
        outside = [o for o in self.offsets if not 1 <= o <= high]
        if outside:
            raise InvalidParameter(f"offsets must be in [1, {high}], got {outside[0]}")
        divisor = int(np.gcd.reduce([self.num_nodes, *self.offsets]))
        if divisor != 1:
            raise InvalidParameter(
                f"offsets and num_nodes must have no common divisor, or the graph falls apart; got {divisor}"
            )

    @classmethod
    def random(cls, num_nodes: int, degree: int, *, seed: int) -> Circulant:
        """1 and degree/2 − 1 random further offsets: connected, and expander-like for moderate degrees."""
        if degree < 2 or degree % 2:
            raise InvalidParameter(f"degree must be even and at least 2, got {degree}")
        high = (num_nodes - 1) // 2
        rng = np.random.default_rng([seed, num_nodes])
        chosen: set[int] = {1}
        while len(chosen) < min(degree // 2, high):
            chosen.add(int(rng.integers(1, high, endpoint=True)))
        return cls(num_nodes, tuple(sorted(chosen)))

    @property
    def num_edges(self) -> int:
        """Number of edges, n × the number of offsets."""
        return self.num_nodes * len(self.offsets)

    @property
    def name(self) -> str:
        """For people."""
        return f"circulant({self.num_nodes}, {len(self.offsets)} offsets)"

    def ends(self, edges: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """``(…, 2)`` the nodes of these edges, the smaller first.

        Examples
        --------
        >>> Circulant(5, (1, 2)).ends(np.array([4, 5])).tolist()
        [[0, 4], [0, 2]]
        """
        k, i = np.divmod(edges, self.num_nodes)
        j = (i + np.array(self.offsets)[k]) % self.num_nodes
        return np.stack([np.minimum(i, j), np.maximum(i, j)], axis=-1)

    def algebraic_connectivity(self, sample: npt.NDArray[np.int64] | None = None) -> float:
        """The smallest of 2 Σ_k (1 − cos(2π j o_k / n)) over j = 1 … n/2, or over the given j (an upper bound)."""
        j = np.arange(1, self.num_nodes // 2 + 1) if sample is None else sample
        total = np.zeros(len(j))
        for offset in self.offsets:
            total += 2.0 * (1.0 - np.cos(2 * np.pi * ((j * offset) % self.num_nodes) / self.num_nodes))
        return float(total.min())

    def to_graph(self) -> Graph:
        """The same graph with its edges stored, in the same order."""
        i = np.arange(self.num_nodes, dtype=np.int64)
        pairs = np.concatenate([np.stack([i, (i + o) % self.num_nodes], axis=1) for o in self.offsets])
        return Graph._trusted(self.num_nodes, np.sort(pairs, axis=1), name=self.name)
