"""Is this a simple, connected, undirected graph? The checks behind :class:`~sottovoce.graphs.Graph`.

Everything works on whole arrays and in pieces of bounded size, so that 4·10⁷ edges are checked in a
few hundred megabytes. Errors name the first thing that is wrong, in the caller's own node numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..errors import InvalidGraph
from ..foundation.arguments import whole
from ..foundation.extras import installed
from ..foundation.system import memory
from .naming import are_names, numbered

__all__ = [
    "as_pairs",
    "canonical",
    "check_connected",
    "check_fits",
    "check_range",
    "chunks",
    "components",
    "edge_keys",
    "edges_of_keys",
]

CHUNK = 1 << 22
"""Edges handled at a time where a temporary array is needed."""

FEW_EDGES = 10_000
"""So many are joined one by one."""

MAX_NODES = int(np.iinfo(np.int32).max)
"""Nodes are numbered in 32 bits: half the memory, and such a graph already has gigabytes of edges."""

BYTES_PER_EDGE = 24
"""Held while a graph is made, at least."""

Pairs = npt.NDArray[np.int32]


def check_fits(name: str, num_nodes: float, num_edges: float) -> None:
    """Refuse, before anything is made, a graph that this machine's memory does not hold."""
    here = memory()
    if BYTES_PER_EDGE * max(num_nodes, num_edges) > here:
        raise InvalidGraph(
            f"{name} would have {_count(num_nodes)} nodes and {_count(num_edges)} edges; this "
            f"machine's memory ({here / 1e9:.0f} GB) does not hold that"
        )


def _count(number: float) -> str:
    return f"{number:,.0f}" if number < 1e15 else f"{number:.3g}"


def chunks(length: int) -> Iterator[slice]:
    """Consecutive slices of at most :data:`CHUNK` that cover ``range(length)``."""
    for start in range(0, length, CHUNK):
        yield slice(start, min(start + CHUNK, length))


def as_pairs(
    edges: Iterable[tuple[int, int]] | Iterable[tuple[str, str]] | npt.ArrayLike,
) -> tuple[npt.NDArray[Any], tuple[str, ...] | None]:
    """``(m, 2)`` whole numbers from whatever was given, not copied if it is such an array already; and the names.

    Pairs of names are numbered in the order in which the names appear.
    """
    if hasattr(edges, "to_numpy"):  # a table
        edges = edges.to_numpy()
    if not isinstance(edges, np.ndarray | list | tuple):
        try:
            edges = list(cast("Iterable[tuple[int, int]]", edges))
        except TypeError:
            raise InvalidGraph(f"edges must be pairs of node numbers, got {type(edges).__name__}") from None
    try:
        array = np.asarray(edges)
    except (ValueError, OverflowError) as error:
        raise InvalidGraph(f"edges must be pairs of node numbers: {error}") from None
    if array.size == 0:
        raise InvalidGraph("graph is empty: it needs at least one edge")
    if array.ndim != 2 or array.shape[1] != 2:
        raise InvalidGraph(f"edges must have shape (m, 2), got {array.shape}")
    if are_names(array):
        words = array if isinstance(edges, np.ndarray) else np.asarray(edges, dtype=object)  # a number is not a word
        if not are_names(words):
            raise InvalidGraph("edges must be pairs of whole numbers, or of names, got a mixture")
        return numbered(array.tolist())
    if np.issubdtype(array.dtype, np.integer):
        return array, None
    if np.issubdtype(array.dtype, np.floating) and np.isfinite(array).all() and not np.mod(array, 1).any():
        if np.abs(array).max() < 2.0**53:
            return array.astype(np.int64), None
    raise InvalidGraph(f"edges must be pairs of whole numbers, or of names, got entries of type {array.dtype}")


def check_range(pairs: npt.NDArray[Any], num_nodes: int | None) -> int:
    """Number of nodes, given or implied; refuse node numbers outside 0..n−1."""
    lowest, highest = int(pairs.min()), int(pairs.max())
    if lowest < 0:
        raise InvalidGraph(f"edges name node {lowest}; nodes are numbered from 0")
    nodes = highest + 1 if num_nodes is None else whole("num_nodes", num_nodes, low=2)
    if nodes > MAX_NODES:
        raise InvalidGraph(f"num_nodes must be at most {MAX_NODES}, got {nodes}")
    if highest >= nodes:
        raise InvalidGraph(f"edges name node {highest}, but num_nodes = {nodes} allows 0..{nodes - 1}")
    return nodes


def canonical(pairs: npt.NDArray[Any], labels: Sequence[str] | None = None) -> Pairs:
    """A new array with the smaller end first, rows in the order given; refuse loops and repeats, by name if any."""
    called = str if labels is None else labels.__getitem__
    ends: Pairs = np.empty(pairs.shape, dtype=np.int32)
    for part in chunks(len(pairs)):
        first, second = pairs[part, 0], pairs[part, 1]
        loops = first == second
        if loops.any():
            row = int(np.argmax(loops))
            raise InvalidGraph(f"edges contain a self-loop at node {called(int(first[row]))} (row {part.start + row})")
        np.minimum(first, second, out=ends[part, 0], casting="unsafe")
        np.maximum(first, second, out=ends[part, 1], casting="unsafe")
    keys = edge_keys(ends)
    if not np.all(keys[1:] > keys[:-1]):
        keys.sort()
        repeats = np.flatnonzero(keys[1:] == keys[:-1])
        if len(repeats):
            one, other = map(called, divmod(int(keys[repeats[0]]), 1 << 32))
            raise InvalidGraph(f"edges contain ({one}, {other}) more than once; each undirected edge is given once")
    return ends


def edge_keys(edges: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """``(m,)`` one number per pair, smaller · 2³² + larger: equal edges have equal keys.

    Examples
    --------
    >>> edge_keys(np.array([[0, 1], [3, 2]])).tolist() == [1, 2 * 2**32 + 3]
    True
    """
    keys = np.empty(len(edges), dtype=np.int64)
    for part in chunks(len(edges)):
        np.minimum(edges[part, 0], edges[part, 1], out=keys[part], casting="unsafe")
        keys[part] <<= 32
        keys[part] |= np.maximum(edges[part, 0], edges[part, 1])
    return keys


def edges_of_keys(keys: npt.NDArray[np.int64]) -> Pairs:
    """``(m, 2)`` the inverse of :func:`edge_keys`.

    Examples
    --------
    >>> edges_of_keys(edge_keys(np.array([[0, 1], [3, 2]]))).tolist()
    [[0, 1], [2, 3]]
    """
    edges: Pairs = np.empty((len(keys), 2), dtype=np.int32)
    for part in chunks(len(keys)):
        edges[part, 0] = keys[part] >> 32
        edges[part, 1] = keys[part] & 0xFFFFFFFF
    return edges


def components(edges: Pairs, num_nodes: int) -> tuple[int, npt.NDArray[np.int32]]:
    """Number of connected components, and the component of each node.

    Edges are taken in pieces; each piece is contracted to the components found so far, so memory
    stays at a few numbers per node whatever the number of edges. A few edges are joined one by one, without SciPy: the
    process of a peer, which looks at its network's graph, stays small.

    Examples
    --------
    >>> count, label = components(np.array([[0, 1], [2, 3]]), 4)
    >>> count, label.tolist()
    (2, [0, 0, 1, 1])
    """
    if len(edges) <= FEW_EDGES or not installed("scipy"):
        return _joined(edges, num_nodes)
    import scipy.sparse
    import scipy.sparse.csgraph

    count = num_nodes
    label = np.arange(num_nodes, dtype=np.int32)
    for part in chunks(len(edges)):
        first, second = label[edges[part, 0]], label[edges[part, 1]]
        new = first != second
        if not new.any():
            continue
        matrix = scipy.sparse.csr_array((np.ones(int(new.sum())), (first[new], second[new])), shape=(count, count))
        count, merged = scipy.sparse.csgraph.connected_components(matrix, directed=False)
        label = merged[label]
    return int(count), label


def _joined(edges: Pairs, num_nodes: int) -> tuple[int, npt.NDArray[np.int32]]:
    """The same, edge by edge: each node points to a smaller one of its component, the smallest to itself."""
    to = list(range(num_nodes))

    def smallest(node: int) -> int:
        while to[node] != node:
            to[node] = node = to[to[node]]
        return node

    for one, other in edges.tolist():
        first, second = smallest(one), smallest(other)
        to[max(first, second)] = min(first, second)
    roots, label = np.unique([smallest(node) for node in range(num_nodes)], return_inverse=True)
    return len(roots), label.astype(np.int32)


def check_connected(edges: Pairs, num_nodes: int, name: str, labels: Sequence[str] | None = None) -> None:
    """Refuse more than one component; say how many there are and name a node of two of them."""
    mentioned: npt.NDArray[Any] | None = None
    isolated = 0
    if num_nodes > len(edges) + 1:  # surely not connected; numbers may be huge, so renumber: an error, not a crash
        mentioned, renumbered = np.unique(edges, return_inverse=True)
        isolated = num_nodes - len(mentioned)
        count, label = components(renumbered.reshape(edges.shape).astype(np.int32), len(mentioned))
    else:
        count, label = components(edges, num_nodes)
    if count + isolated == 1:
        return
    here, there = 0, int(np.argmax(label != label[0])) if count > 1 else -1
    if mentioned is not None:
        here = int(mentioned[here])
        there = int(mentioned[there]) if count > 1 else _smallest_absent(mentioned)
    first, second = (str(node) if labels is None else labels[node] for node in sorted((here, there)))
    raise InvalidGraph(
        f"{name} is not connected: it has {count + isolated} components; "
        f"for instance nodes {first} and {second} cannot reach each other"
    )


def _smallest_absent(sorted_numbers: npt.NDArray[Any]) -> int:
    gap = np.flatnonzero(sorted_numbers != np.arange(len(sorted_numbers)))
    return int(gap[0]) if len(gap) else len(sorted_numbers)
