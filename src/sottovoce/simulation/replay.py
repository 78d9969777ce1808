"""What happened in a run, recomputed from its seed: pure functions, no run needed.

(seed, replica, step) decides which edge fires and which numbers are drawn (:mod:`.random.streams`), whatever the
private values are. So whoever wants to know the edges of a run computes them and does not simulate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..foundation.arguments import whole
from ..graphs.graph import Graph, check_graph
from ..methods.base import Array, Method
from ..methods.standard import StandardGossip
from .kinds import kind_of
from .random.aliases import AliasTable, alias_table
from .random.streams import MAX_COORDINATES, MAX_REPLICAS, Stream, check_seed

__all__ = ["activations", "draws", "fired_edges"]

CHUNK = 2**22
"""Steps whose edges are held in memory at a time."""


def fired_edges(
    graph: Graph,
    *,
    num_steps: int,
    seed: int,
    replica: int = 0,
    start: int = 0,
    edge_probabilities: npt.ArrayLike | AliasTable | None = None,
    method: Method | None = None,
) -> npt.NDArray[np.int64]:
    """The edges that :func:`sottovoce.simulate` fires with this seed.

    Parameters
    ----------
    graph
        The network.
    num_steps
        How many steps, ≥ 0.
    seed, replica, edge_probabilities
        As in :func:`sottovoce.simulate`.
    start
        The first step, counted from 0.
    method
        ``None``: any method in which one edge fires per step. They all fire the same edges.

    Returns
    -------
    ndarray
        ``(num_steps,)`` rows of ``graph.edges``, or ``(num_steps, block_size)`` for methods that fire sets of edges.
        For methods in which one node acts with all its neighbours: ``(num_steps,)`` nodes.

    Raises
    ------
    Unsupported
        For synchronous methods and push-sum: all nodes act in every round.

    Examples
    --------
    >>> import sottovoce as sv
    >>> graph = sv.graphs.cycle(10)
    >>> fired = fired_edges(graph, num_steps=6, seed=1)
    >>> run = sv.simulate(graph, range(10), sv.StandardGossip(), num_steps=6, seed=1)
    >>> bool((fired == run.fired_edges()).all())
    True
    """
    check_graph(graph)
    method = StandardGossip() if method is None else method
    aliases = alias_table(edge_probabilities, graph)
    return kind_of(method).fired(method, graph, aliases, _stream(seed, replica), _steps(start, num_steps))


def draws(
    graph: Graph,
    method: Method,
    *,
    num_steps: int,
    seed: int,
    replica: int = 0,
    start: int = 0,
    coordinate: int = 0,
) -> Array:
    """The draws of unit scale behind a method's noise; see :meth:`sottovoce.Solution.draws`."""
    return kind_of(method).draws(method, graph, _stream(seed, replica, coordinate), _steps(start, num_steps))


def activations(
    graph: Graph,
    method: Method,
    *,
    num_steps: int,
    seed: int,
    replica: int = 0,
    edge_probabilities: npt.ArrayLike | AliasTable | None = None,
) -> npt.NDArray[np.int64]:
    """``(n,)`` how often each node took part in the first ``num_steps`` steps."""
    if method.in_rounds:
        return np.full(graph.num_nodes, num_steps)
    counts = np.zeros(graph.num_nodes, dtype=np.int64)
    aliases = alias_table(edge_probabilities, graph)
    for start in range(0, num_steps, CHUNK):
        size = min(CHUNK, num_steps - start)
        fired = fired_edges(
            graph, num_steps=size, seed=seed, replica=replica, start=start, edge_probabilities=aliases, method=method
        )
        counts += np.bincount(kind_of(method).taking_part(graph, fired), minlength=graph.num_nodes)
    return counts


def _steps(start: int, num_steps: int) -> range:
    first = whole("start", start, low=0, high=2**62)
    return range(first, first + whole("num_steps", num_steps, low=0, high=2**62))


def _stream(seed: int, replica: int, coordinate: int = 0) -> Stream:
    return Stream(
        check_seed(seed),
        whole("replica", replica, low=0, high=MAX_REPLICAS - 1),
        whole("coordinate", coordinate, low=0, high=MAX_COORDINATES - 1),
    )
