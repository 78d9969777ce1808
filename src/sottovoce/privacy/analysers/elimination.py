"""Which private values follow from linear messages, in arithmetic modulo a prime.

Leave all noise out: then every message of a run of exchanges is a combination of private values whose weights are
fractions with powers of two below. Modulo a prime they are whole numbers, and ranks need no tolerance, also where
weights range over 2^−60 … 1. A rank modulo a prime is never too large; it is too small only if the prime divides a
minor of the matrix, a chance of about 2^−31, and 2^−62 for both of :data:`PRIMES`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...graphs.graph import Graph
from ..view import View, honest_nodes

__all__ = ["PRIMES", "Elimination", "recovered_after"]

PRIMES = (2_147_483_647, 2_147_483_629)

Integers = npt.NDArray[np.int64]


def recovered_after(graph: Graph, edges: Integers, view: View) -> npt.NDArray[np.float64]:
    """``(n,)`` after how many steps each value follows from noise-free messages; 0 for the observer's own, ∞ if never.

    Examples
    --------
    >>> import sottovoce as sv
    >>> recovered_after(sv.graphs.path(3), np.array([0, 1, 0]), sv.privacy.CuriousNodes([0])).tolist()
    [0.0, 1.0, 3.0]
    """
    heard, honest = view.heard_edges(graph), honest_nodes(view, graph)
    found = [Elimination(graph, edges, heard, honest, prime).recovered_after for prime in PRIMES]
    return np.asarray(np.max(found, axis=0))


class Elimination:
    """Reduced row echelon form, modulo a prime, of the rows on the edges that are heard."""

    def __init__(
        self, graph: Graph, edges: Integers, heard: npt.NDArray[np.bool_], honest: Integers, prime: int = PRIMES[0]
    ) -> None:
        self.prime = prime
        self.honest = honest
        self.basis = np.zeros((0, len(self.honest)), dtype=np.int64)
        self.pivots: list[int] = []
        self.used: list[tuple[int, int]] = []
        """(step from 0, side) of the messages that added to the rank."""
        self.recovered_after = np.where(np.isin(np.arange(graph.num_nodes), self.honest), math.inf, 0.0)
        half = (prime + 1) // 2
        rows = np.eye(graph.num_nodes, dtype=np.int64)[:, self.honest]
        ends = graph.edges
        for step, edge in enumerate(edges.tolist()):
            pair = ends[edge]
            if heard[edge]:
                added = [self._add(rows[node]) for node in pair]
                self.used += [(step, side) for side in range(2) if added[side]]
                if any(added):
                    self._note(step + 1)
                if len(self.pivots) == len(self.honest):
                    break
            rows[pair] = (rows[pair].sum(axis=0) % prime) * half % prime

    def _note(self, step: int) -> None:
        alone = np.count_nonzero(self.basis, axis=1) == 1
        known = self.honest[np.array(self.pivots, dtype=np.int64)[alone]]
        self.recovered_after[known] = np.minimum(self.recovered_after[known], step)

    def _add(self, row: Integers) -> bool:
        """Reduce a row by the basis; keep it if something is left."""
        prime = self.prime
        if self.pivots:
            shares = row[self.pivots][:, None]
            row = (row - (shares * self.basis % prime).sum(axis=0)) % prime
        if not row.any():
            return False
        pivot = int(np.argmax(row != 0))
        row = row * pow(int(row[pivot]), -1, prime) % prime
        self.basis = (self.basis - self.basis[:, pivot : pivot + 1] * row % prime) % prime
        self.basis = np.vstack([self.basis, row])
        self.pivots.append(pivot)
        return True
