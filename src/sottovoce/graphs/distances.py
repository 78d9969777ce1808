"""How far apart nodes are: breadth-first distances, the diameter, and bounds on it where it is too large to compute."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.extras import installed
from .closed_forms import closed_forms
from .graph import Graph, check_graph

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["diameter", "diameter_bounds", "distances_from"]

EXACT_NODES = 2000
"""Up to here the diameter is found from every node; above, it is bounded from a few."""

FEW_NODES = 500
"""Up to here never with SciPy: the process of a peer, which needs its network's diameter, stays small."""

SWEEPS = 4


def distances_from(graph: Graph, node: int) -> npt.NDArray[np.int64]:
    """``(n,)`` number of edges on a shortest way from ``node`` to each node.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> distances_from(cycle(6), 0).tolist()
    [0, 1, 2, 3, 2, 1]
    """
    check_graph(graph)
    if isinstance(node, bool) or int(node) != node or not 0 <= node < graph.num_nodes:
        raise InvalidParameter(f"node must be in 0..{graph.num_nodes - 1}, got {node!r}")
    return _searcher(graph)(int(node))


def diameter(graph: Graph) -> int:
    """The largest distance between two nodes, or a safe upper bound on it for large graphs.

    Exact for families with a closed form and for up to 2000 nodes; above, the upper end of
    :func:`diameter_bounds`, which is never below the diameter and at most twice it. A rule that waits for
    news to cross the network may use it as it is: too large only costs time.

    Examples
    --------
    >>> from sottovoce.graphs import barbell, cycle, torus
    >>> diameter(cycle(10)), diameter(torus(4, 5)), diameter(barbell(3, 1))
    (5, 4, 4)
    """
    check_graph(graph)
    return diameter_bounds(graph)[1]


def diameter_bounds(graph: Graph) -> tuple[int, int]:
    """(lower, upper) bounds on the diameter; equal where it is known exactly.

    For large graphs: breadth-first searches from a far end find a long shortest path (lower bound); a search from
    its middle gives the largest distance e from there, and no two nodes are further apart than 2e.

    Examples
    --------
    >>> from sottovoce.graphs import path
    >>> diameter_bounds(path(10**6))
    (999999, 999999)
    """
    check_graph(graph)
    known = graph.__dict__.get("_diameter_bounds")
    if known is None:
        forms = closed_forms(graph.family)
        if graph.family is not None and forms is not None:
            known = (forms.diameter(*graph.family.sizes),) * 2
        else:
            known = _every_node(graph) if graph.num_nodes <= EXACT_NODES else _sweeps(graph)
        graph.__dict__["_diameter_bounds"] = known
    return int(known[0]), int(known[1])


def _adjacency(graph: Graph) -> scipy.sparse.csr_array:
    """One direction of each edge; searches treat it as undirected."""
    import scipy.sparse

    ones = np.ones(graph.num_edges)
    entries: Any = (ones, (graph.edges[:, 0], graph.edges[:, 1]))
    return scipy.sparse.csr_array(entries, shape=(graph.num_nodes, graph.num_nodes))


def _searcher(graph: Graph) -> Callable[[int], npt.NDArray[np.int64]]:
    """Node → its distances: what several searches of one graph share is made once."""
    return partial(_search, graph, _adjacency(graph)) if installed("scipy") else partial(_walk, graph)


def _search(graph: Graph, adjacency: scipy.sparse.csr_array, node: int) -> npt.NDArray[np.int64]:
    from scipy.sparse.csgraph import breadth_first_order

    order, before = breadth_first_order(adjacency, node, directed=False)
    distance = np.zeros(graph.num_nodes, dtype=np.int64)
    # A node's predecessor comes earlier in the order, one level up: settle level by level.
    rank = np.empty(graph.num_nodes, dtype=np.int64)
    rank[order] = np.arange(len(order))
    parent = rank[before[order[1:]]]
    start, level = 1, 0
    while start < len(order):
        level += 1
        stop = int(np.searchsorted(parent, start, side="left")) + 1
        distance[order[start:stop]] = level
        start = stop
    return distance


def _walk(graph: Graph, node: int) -> npt.NDArray[np.int64]:
    """The same, node by node, for an installation without SciPy."""
    starts, near = graph.indptr.tolist(), graph.neighbours.tolist()
    distance = [-1] * graph.num_nodes
    distance[node] = 0
    order = [node]
    for here in order:
        for other in near[starts[here] : starts[here + 1]]:
            if distance[other] < 0:
                distance[other] = distance[here] + 1
                order.append(other)
    return np.array(distance, dtype=np.int64)


def _every_node(graph: Graph) -> tuple[int, int]:
    if graph.num_nodes <= FEW_NODES or not installed("scipy"):
        return (_rounds_until_all_reached(graph),) * 2
    from scipy.sparse.csgraph import shortest_path

    adjacency = _adjacency(graph)
    largest = 0
    for start in range(0, graph.num_nodes, 200):
        nodes = np.arange(start, min(start + 200, graph.num_nodes))
        largest = max(largest, int(shortest_path(adjacency, directed=False, unweighted=True, indices=nodes).max()))
    return largest, largest


def _rounds_until_all_reached(graph: Graph) -> int:
    """The diameter: nodes tell their neighbours whom they reach, bits of a whole number, until nobody learns more."""
    around = [graph.neighbours_of(node).tolist() for node in range(graph.num_nodes)]
    reached = [1 << node for node in range(graph.num_nodes)]
    for rounds in range(graph.num_nodes):
        told = list(reached)
        for node, near in enumerate(around):
            for other in near:
                told[node] |= reached[other]
        if told == reached:
            return rounds
        reached = told
    raise AssertionError("no node is further away than there are nodes")


def _sweeps(graph: Graph) -> tuple[int, int]:
    search = _searcher(graph)
    lower, upper = 0, 2 * graph.num_nodes
    node = int(np.argmax(graph.degrees))
    for _ in range(SWEEPS):
        away = search(node)
        far = int(np.argmax(away))
        back = search(far)
        end = int(np.argmax(back))
        lower = max(lower, int(away[far]), int(back[end]))
        upper = min(upper, 2 * int(away[far]), 2 * int(back[end]))
        if lower == upper:
            break
        other = search(end)
        # Halfway along a shortest path between the two far ends: the nodes with equal distance to both.
        between = np.flatnonzero(back + other == back[end])
        node = int(between[np.argmin(np.abs(back[between] - other[between]))])
        upper = min(upper, 2 * int(search(node).max()))
        if lower == upper:
            break
    return lower, upper
