"""The graph type: immutable arrays, validated once.

Nothing random and nothing spectral lives here: see :mod:`.generators` and :mod:`.spectrum`.
Section 2 of the paper asks for an undirected connected graph without self-loops; that is what
:class:`Graph` guarantees, so nothing downstream checks again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidGraph

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

__all__ = ["Family", "Graph"]

Edges = npt.NDArray[np.int32] | npt.NDArray[np.int64]


@dataclass(frozen=True)
class Family:
    """What a generator knows about the graph it made: its name and its sizes.

    Closed forms (algebraic connectivity, diameter) are looked up by it. A graph read from anywhere
    else has none and is treated numerically.
    """

    name: str
    sizes: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A simple, connected, undirected graph.

    Make one with :meth:`from_edges`, :meth:`from_networkx`, :meth:`from_scipy`, :meth:`from_file`
    or a generator of :mod:`sottovoce.graphs`.

    Parameters
    ----------
    num_nodes
        Number of nodes n ≥ 2; nodes are 0..n−1.
    edges
        ``(m, 2)`` integers, each undirected edge once with the smaller end first. Row order is kept:
        it is what edge indices (``fired_edges``, ``edge_probabilities``) refer to.
    name
        For people: shown in reprs, tables and figures.
    family
        Set by generators with closed forms.
    positions
        ``(n, 2)`` coordinates for drawing, where the graph has natural ones.

    Examples
    --------
    >>> import sottovoce as sv
    >>> graph = sv.Graph.from_edges([(0, 1), (2, 1)])
    >>> graph.num_nodes, graph.num_edges
    (3, 2)
    >>> graph.degrees.tolist()
    [1, 2, 1]
    >>> graph.edges.tolist()
    [[0, 1], [1, 2]]
    """

    num_nodes: int
    edges: Edges
    name: str = "graph"
    family: Family | None = None
    positions: npt.NDArray[np.float64] | None = field(default=None)

    # -- making one ---------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls, edges: Iterable[tuple[int, int]] | npt.ArrayLike, num_nodes: int | None = None, *, name: str = "graph"
    ) -> Graph:
        """Validate a list of pairs.

        Raises
        ------
        InvalidGraph
            On self-loops, repeated edges, nodes out of range, no edges, or more than one component.

        Examples
        --------
        >>> import sottovoce as sv
        >>> sv.Graph.from_edges([(0, 1), (2, 3)])
        Traceback (most recent call last):
        ...
        sottovoce.errors.InvalidGraph: graph is not connected: it has 2 components; for instance nodes 0 and 2 cannot reach each other
        """
        pairs = _as_pairs(edges)
        nodes = _check_range(pairs, num_nodes)
        pairs = _canonical(pairs, nodes)
        graph = cls._trusted(nodes, pairs, name=name)
        _check_connected(graph)
        return graph

    @classmethod
    def _trusted(
        cls,
        num_nodes: int,
        edges: npt.NDArray[Any],
        *,
        name: str = "graph",
        family: Family | None = None,
        positions: npt.NDArray[np.float64] | None = None,
    ) -> Graph:
        """Wrap arrays that are valid by construction (smaller end first, connected, no repeats)."""
        dtype = np.int32 if num_nodes <= np.iinfo(np.int32).max else np.int64
        edges = np.ascontiguousarray(edges, dtype=dtype)
        edges.flags.writeable = False
        return cls(num_nodes=num_nodes, edges=edges, name=name, family=family, positions=positions)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph[Any]) -> Graph:
        """Convert a networkx graph; nodes are numbered in its iteration order."""
        from .convert import from_networkx

        return from_networkx(graph)

    @classmethod
    def from_scipy(cls, matrix: scipy.sparse.sparray | scipy.sparse.spmatrix | npt.ArrayLike) -> Graph:
        """Convert a symmetric adjacency matrix; any non-zero off-diagonal entry is an edge."""
        from .convert import from_scipy

        return from_scipy(matrix)

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Graph:
        """Read an edge list: text with two integers a line, or Parquet with columns source, target."""
        from .convert import read_edges

        return read_edges(path)

    def to_networkx(self) -> networkx.Graph[int]:
        """Convert to networkx, nodes 0..n−1."""
        from .convert import to_networkx

        return to_networkx(self)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Symmetric 0/1 adjacency matrix in CSR form."""
        from .convert import to_scipy

        return to_scipy(self)

    def to_file(self, path: str | PathLike[str]) -> None:
        """Write the edge list as text, or as Parquet if the name ends in ``.parquet``."""
        from .convert import write_edges

        write_edges(self, path)

    # -- reading it ---------------------------------------------------------------------------

    @property
    def num_edges(self) -> int:
        """Number of edges m."""
        return len(self.edges)

    @cached_property
    def degrees(self) -> npt.NDArray[np.int64]:
        """``(n,)`` number of neighbours of each node, d."""
        degrees = np.bincount(self.edges.reshape(-1), minlength=self.num_nodes)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def _csr(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        order = np.argsort(self.edges.T.reshape(-1), kind="stable")
        indptr = np.concatenate([[0], np.cumsum(self.degrees)])
        other_end = np.concatenate([self.edges[:, 1], self.edges[:, 0]])[order]
        edge_of = (order % self.num_edges).astype(np.int32)
        for array in (indptr, other_end, edge_of):
            array.flags.writeable = False
        return indptr, other_end.astype(np.int32, copy=False), edge_of

    @property
    def indptr(self) -> npt.NDArray[np.int64]:
        """``(n + 1,)`` node i's neighbours are ``neighbours[indptr[i]:indptr[i + 1]]``."""
        return self._csr[0]

    @property
    def neighbours(self) -> npt.NDArray[np.int32]:
        """``(2m,)`` neighbours of node 0, then of node 1, and so on."""
        return self._csr[1]

    @property
    def incident_edges(self) -> npt.NDArray[np.int32]:
        """``(2m,)`` the edge index that leads to each entry of :attr:`neighbours`."""
        return self._csr[2]

    def neighbours_of(self, node: int) -> npt.NDArray[np.int32]:
        """The neighbours of one node."""
        indptr, neighbours, _ = self._csr
        return neighbours[indptr[node] : indptr[node + 1]]

    @cached_property
    def fingerprint(self) -> str:
        """Hexadecimal digest of the nodes and edges: equal graphs, equal digest."""
        digest = hashlib.sha256(str(self.num_nodes).encode())
        digest.update(self.edges.astype("<i8").tobytes())
        return digest.hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self.num_nodes == other.num_nodes and np.array_equal(self.edges, other.edges)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {self.num_nodes} nodes, {self.num_edges} edges>"


def _as_pairs(edges: Iterable[tuple[int, int]] | npt.ArrayLike) -> npt.NDArray[np.int64]:
    """``(m, 2)`` integers from whatever was given."""
    if not isinstance(edges, np.ndarray | list | tuple):
        edges = list(edges)  # type: ignore[arg-type]
    try:
        array = np.asarray(edges)
    except ValueError as error:
        raise InvalidGraph(f"edges must be pairs of node numbers: {error}") from None
    if array.size == 0:
        raise InvalidGraph("graph is empty: it needs at least one edge")
    if array.ndim != 2 or array.shape[1] != 2:
        raise InvalidGraph(f"edges must have shape (m, 2), got {array.shape}")
    if not np.issubdtype(array.dtype, np.integer):
        if not np.issubdtype(array.dtype, np.floating) or not np.all(np.mod(array, 1) == 0):
            raise InvalidGraph(f"edges must be pairs of whole numbers, got entries of type {array.dtype}")
    return array.astype(np.int64)


def _check_range(pairs: npt.NDArray[np.int64], num_nodes: int | None) -> int:
    lowest, highest = int(pairs.min()), int(pairs.max())
    if lowest < 0:
        raise InvalidGraph(f"edges name node {lowest}; nodes are numbered from 0")
    if num_nodes is None:
        return highest + 1
    if num_nodes < 2:
        raise InvalidGraph(f"num_nodes must be at least 2, got {num_nodes}")
    if highest >= num_nodes:
        raise InvalidGraph(f"edges name node {highest}, but num_nodes = {num_nodes} allows 0..{num_nodes - 1}")
    return int(num_nodes)


def _canonical(pairs: npt.NDArray[np.int64], num_nodes: int) -> npt.NDArray[np.int64]:
    """Smaller end first; refuse loops and repeats."""
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        raise InvalidGraph(f"edges contain a self-loop at node {int(pairs[loops[0], 0])} (row {int(loops[0])})")
    pairs = np.sort(pairs, axis=1)
    keys = np.sort(pairs[:, 0] * num_nodes + pairs[:, 1])
    repeats = np.flatnonzero(keys[1:] == keys[:-1])
    if len(repeats):
        first = divmod(int(keys[repeats[0]]), num_nodes)
        raise InvalidGraph(f"edges contain {first} more than once; each undirected edge is given once")
    return pairs


def components(graph: Graph) -> tuple[int, npt.NDArray[np.int32]]:
    """Number of connected components, and the component of each node."""
    import scipy.sparse
    import scipy.sparse.csgraph

    ends = graph.edges
    matrix = scipy.sparse.csr_array(
        (np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(graph.num_nodes, graph.num_nodes)
    )
    count, labels = scipy.sparse.csgraph.connected_components(matrix, directed=False)
    return int(count), labels


def _check_connected(graph: Graph) -> None:
    count, labels = components(graph)
    if count > 1:
        here = 0
        there = int(np.argmax(labels != labels[here]))
        raise InvalidGraph(
            f"{graph.name} is not connected: it has {count} components; "
            f"for instance nodes {here} and {there} cannot reach each other"
        )
