"""The plain attack on noise-free gossip: which private values are in the row space of what was heard.

Without noise every message is a known combination of private values, so that a value can be recovered
exactly when its unit vector is a combination of those rows (El Mrini, Cyffers, Bellet 2024). Ranks are decided without
a tolerance by :mod:`.elimination`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
import numpy.typing as npt

from ...errors import Unsupported
from ...graphs.graph import Graph, check_graph
from ...methods.base import Array
from ...methods.released import Released, WithdrawnNoise
from ..view import View, honest_nodes
from .elimination import PRIMES, Elimination, recovered_after
from .exchanges import checked_run
from .transcripts import transcript

if TYPE_CHECKING:
    from ...simulation import Solution

__all__ = ["Reconstruction", "reconstruct", "recoverable", "supports"]

_TRUSTED = 1e-6
"""A floating-point combination is used if it gives the unit vector to this accuracy."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Reconstruction:
    """What the row-space attack recovers; returned by :func:`reconstruct`."""

    recoverable: npt.NDArray[np.bool_]
    """``(n,)`` whether the value follows exactly from what was heard (own values included)."""
    estimate: Array
    """``(n,)`` or ``(n, d)`` the recovered values; NaN where not recoverable, or only from exact messages."""
    amplification: Array
    """``(n,)`` by how much rounding errors of messages are magnified in the estimate; infinite where there is none."""

    def __repr__(self) -> str:
        count = int(self.recoverable.sum())
        return f"<Reconstruction: {count} of {len(self.recoverable)} values follow from what was heard>"


def supports(released: Released, view: View) -> TypeGuard[WithdrawnNoise]:
    """Exchanges whose noise is zero, and every view."""
    return isinstance(released, WithdrawnNoise) and not np.any(released.noise_std) and isinstance(view, View)


def recoverable(graph: Graph, fired_edges: npt.ArrayLike, view: View) -> npt.NDArray[np.bool_]:
    """Which private values an observer of noise-free gossip can compute exactly.

    Examples
    --------
    >>> import sottovoce as sv
    >>> recoverable(sv.graphs.path(3), [0, 1, 0], sv.privacy.CuriousNodes([0])).tolist()
    [True, True, True]
    >>> recoverable(sv.graphs.path(3), [1, 0, 1], sv.privacy.CuriousNodes([0])).tolist()
    [True, False, False]
    """
    check_graph(graph)
    edges = checked_run(fired_edges, graph)
    return np.isfinite(recovered_after(graph, edges, view))


def reconstruct(run: Solution, view: View) -> Reconstruction:
    """Recover private values from one replica of a noise-free run by linear algebra on the messages heard.

    Raises
    ------
    Unsupported
        If the method does not state exchanges without noise: under noise, use :func:`attack`.
    """
    graph, released, honest = run.graph, run.method.releases(run.graph), honest_nodes(view, run.graph)
    if not supports(released, view):
        raise Unsupported(f"reconstruction by row space is for noise-free gossip, got {run.method.label()}; use attack")
    edges = run.fired_edges()
    columns = run.private_values.reshape(graph.num_nodes, -1)
    heard_edges = view.heard_edges(graph)
    eliminations = [Elimination(graph, edges, heard_edges, honest, prime) for prime in PRIMES]
    exact = np.isfinite(np.max([each.recovered_after for each in eliminations], axis=0))
    useful = eliminations[0].used
    own = np.flatnonzero(view.observers(graph))
    weights = _weights(graph, edges, useful)
    shown = transcript(graph, released, edges, np.zeros((len(edges), 2, 1)), columns)
    heard = np.array([shown[step, side] for step, side in useful]).reshape(len(useful), columns.shape[1])
    inverse = np.linalg.pinv(weights[:, honest]) if len(useful) else np.zeros((len(honest), 0))
    found = inverse @ (heard - weights[:, own] @ columns[own])
    off = np.abs(inverse @ weights[:, honest] - np.eye(len(honest))).max(axis=1, initial=0.0)
    estimate = np.full(columns.shape, np.nan)
    amplification = np.full(graph.num_nodes, np.inf)
    estimate[own], amplification[own] = columns[own], 0.0
    good = exact[honest] & (off <= _TRUSTED)
    estimate[honest[good]] = found[good]
    amplification[honest[good]] = np.abs(inverse[good]).sum(axis=1)
    return Reconstruction(exact, estimate if run.private_values.ndim == 2 else estimate[:, 0], amplification)


def _weights(graph: Graph, edges: Integers, wanted: list[tuple[int, int]]) -> Array:
    """``(len(wanted), n)`` weights of the private values in the messages (step, side)."""
    rows = np.eye(graph.num_nodes)
    places = {message: k for k, message in enumerate(wanted)}
    out = np.zeros((len(wanted), graph.num_nodes))
    for step, edge in enumerate(edges):
        for side, node in enumerate(graph.edges[edge]):
            if (step, side) in places:
                out[places[step, side]] = rows[node]
        rows[graph.edges[edge]] = 0.5 * rows[graph.edges[edge]].sum(axis=0)
    return out
