"""Rounds in which nodes remember several numbers: what curious nodes learn of a linear system with Gaussian draws.

The description is :class:`~sottovoce.methods.released.LinearSystem`. What the curious hold themselves follows from what
they know and hear, so only rows and draws of honest nodes are uncertain. A round makes the messages that the curious
hear and the new rows together, for they may share draws; then the messages are taken as known. The arithmetic is
:mod:`..gaussian.knowledge`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...graphs.graph import Graph
from ...methods.base import Array
from ...methods.released import LinearRound, LinearSystem
from ..gaussian.knowledge import Knowledge
from ..prior import given_own
from ..view import View, honest_nodes

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["System"]


class System:
    """Private values, rows and messages of honest nodes, in this order, and what is still uncertain about them."""

    def __init__(self, graph: Graph, released: LinearSystem, view: View, prior: Array | None) -> None:
        self.released = released
        self.honest = honest_nodes(view, graph)
        self.watching = watching = view.observers(graph)
        self.rows = np.flatnonzero(~watching[released.holders])
        self.heard = _heard(graph, released, view)
        self.unknown = ~watching[released.draws_known]
        self._kept: tuple[tuple[Any, ...], scipy.sparse.csr_array, Array] | None = None
        self._acts: dict[int, tuple[Any, Any, Any, Any]] = {}
        values = np.vstack(
            [
                np.eye(len(self.honest)),
                released.start[self.rows][:, self.honest].toarray(),
                np.zeros((len(self.heard), len(self.honest))),
            ]
        )
        hidden = ~watching[released.start_known].any(axis=1)
        noise = np.zeros((len(values), int(hidden.sum())))
        noise[len(self.honest) : len(self.honest) + len(self.rows)] = _part(released.start_noise, self.rows, hidden)
        noise = narrowed(noise)
        if prior is None:
            self.known = Knowledge(factor=noise, diffuse=values)
        else:
            own = prior[self.honest] if prior.ndim == 1 else None
            spread = np.diag(own) if own is not None else _covariance_factor(prior, watching, self.honest)
            self.known = Knowledge(factor=np.hstack([values @ spread, noise]))

    def turn(self) -> None:
        """Describe the same uncertainty by other independent normals: whatever follows rounds in another way."""
        self.known.turn()

    def play(self, k: int) -> None:
        """Round k, or the step in which node k acts: messages and new rows are made, the curious hear theirs."""
        if self.released.by_nodes:
            self._act(k)
            return
        matrix, noise = self._matrices(self.released.rounds(k))
        first = len(self.honest)
        self.known.combine(slice(first, None), matrix)
        for column in noise.T:
            self.known.add_noise({first + int(row): float(column[row]) for row in np.flatnonzero(column)})
        first += len(self.rows)
        for place in range(len(self.heard)):
            self.known.observe(first + place, 0.0)

    def _act(self, node: int) -> None:
        """A step in which ``node`` acts: only rows that change are made anew, and only its messages are heard."""
        if node not in self._acts:
            self._acts[node] = self._step(node)
        changed, matrix, said, heard = self._acts[node]
        first = len(self.honest) + len(self.rows)
        if len(heard):  # before the rows change: what is said follows from them as they are
            self.known.combine(first + heard, said)
            for place in heard:
                self.known.observe(first + int(place), 0.0)
        if len(changed):
            self.known.combine(len(self.honest) + changed, matrix)

    def _step(self, node: int) -> tuple[Any, Any, Any, Any]:
        import scipy.sparse

        matrix, _ = self._matrices(self.released.rounds(node))
        size = len(self.rows)
        same = scipy.sparse.eye_array(size, matrix.shape[1], k=len(self.honest))
        changed = np.flatnonzero(abs(matrix[:size] - same).sum(axis=1))
        heard = np.flatnonzero(self.released.speakers[self.heard] == node)
        return changed, matrix[changed], matrix[size + heard], heard

    def std(self) -> Array:
        """``(n,)`` deviations of the private values."""
        out = np.zeros(len(self.watching))
        out[self.honest] = self.known.std(slice(0, len(self.honest)))
        return out

    def speakers_heard(self) -> Any:
        """Who is heard in a round, in the order in which messages are taken in."""
        return self.released.speakers[self.heard]

    def _matrices(self, played: LinearRound) -> tuple[scipy.sparse.csr_array, Array]:
        """What new rows and messages are of all that is known, and of independent draws; kept for rounds alike."""
        import scipy.sparse

        parts = (played.said, played.moved, played.said_noise, played.moved_noise)
        if self._kept is None or any(one is not other for one, other in zip(parts, self._kept[0], strict=True)):
            inner = scipy.sparse.vstack([played.moved[self.rows], played.said[self.heard]], format="csr")[:, self.rows]
            before = scipy.sparse.csr_array((inner.shape[0], len(self.honest)))
            after = scipy.sparse.csr_array((inner.shape[0], len(self.heard)))
            matrix = scipy.sparse.csr_array(scipy.sparse.hstack([before, inner, after], format="csr"))
            moved = _part(played.moved_noise, self.rows, self.unknown)
            said = _part(played.said_noise, self.heard, self.unknown)
            self._kept = parts, matrix, narrowed(np.vstack([moved, said]))
        return self._kept[1], played.noise_std * self._kept[2]


def narrowed(noise: Array) -> Array:
    """A factor of the same covariance with at most as many columns as rows, without columns of zeros.

    Examples
    --------
    >>> narrowed(np.array([[3.0, 0.0, 4.0]])).round(9).tolist()
    [[5.0]]
    """
    noise = noise[:, noise.any(axis=0)]
    if noise.shape[1] <= noise.shape[0]:
        return noise
    factor = np.asarray(np.linalg.qr(noise.T, mode="r")).T
    return np.asarray(factor * np.where(factor.diagonal() < 0.0, -1.0, 1.0))


def _heard(graph: Graph, released: LinearSystem, view: View) -> Any:
    """The messages of honest nodes that a curious node hears."""
    watching = view.observers(graph)
    near = np.zeros(graph.num_nodes, dtype=np.bool_)
    for node in np.flatnonzero(watching):
        near[graph.neighbours_of(int(node))] = True
    reached = np.where(released.listeners < 0, near[released.speakers], watching[released.listeners])
    return np.flatnonzero(reached & ~watching[released.speakers])


def _part(matrix: Any, rows: Any, columns: Any) -> Array:
    if matrix is None:
        width = int(columns.sum()) if columns.dtype == np.bool_ else len(columns)
        return np.zeros((len(rows), width))
    return np.asarray(matrix[rows][:, columns].toarray())


def _covariance_factor(prior: Array, watching: Any, honest: Any) -> Array:
    return np.asarray(np.linalg.cholesky(given_own(prior, watching)[np.ix_(honest, honest)]))
