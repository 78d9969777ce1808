"""The graph type: immutable arrays, validated once.

Nothing random and nothing spectral lives here: see :mod:`.generators` and :mod:`.spectrum`.
Section 2 of the paper asks for an undirected connected graph without self-loops; that is what
:class:`Graph` guarantees, so no other module checks again.
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
from ..foundation.extras import installed
from .naming import checked_labels, node_number
from .validation import FEW_EDGES, as_pairs, canonical, check_connected, check_range, chunks

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

__all__ = ["Family", "Graph", "check_graph"]

Edges = npt.NDArray[np.int32]


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
    labels
        The names of the nodes, in the order of their numbers, if they have names.

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
    >>> friends = sv.Graph.from_edges([("ada", "bob"), ("bob", "carol")])
    >>> friends.labels, friends.node("carol")
    (('ada', 'bob', 'carol'), 2)
    """

    num_nodes: int
    edges: Edges
    name: str = "graph"
    family: Family | None = None
    positions: npt.NDArray[np.float64] | None = field(default=None)
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Whoever calls the constructor directly gets the checks of :meth:`from_edges`."""
        checked = Graph.from_edges(self.edges, self.num_nodes, name=self.name)
        positions = self.positions
        if positions is not None:
            positions = np.array(positions, dtype=np.float64)
            if positions.shape != (checked.num_nodes, 2) or not np.isfinite(positions).all():
                raise InvalidGraph(f"positions must be ({checked.num_nodes}, 2) finite numbers, got {positions.shape}")
        labels = checked.labels if self.labels is None else checked_labels(self.labels, checked.num_nodes)
        given = {"family": self.family, "positions": positions, "labels": labels}
        self.__setstate__({**checked.__getstate__(), **given})

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: the fields, not what can be worked out from them."""
        return {key: self.__dict__[key] for key in ("num_nodes", "edges", "name", "family", "positions", "labels")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrays become read-only, also those that come out of a pickle."""
        self.__dict__.update(state)
        for key in ("edges", "positions"):
            if state[key] is not None:
                state[key].flags.writeable = False

    # -- making one ---------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[int, int]] | Iterable[tuple[str, str]] | npt.ArrayLike,
        num_nodes: int | None = None,
        *,
        name: str = "graph",
    ) -> Graph:
        """Validate a list of pairs of numbers, or of names; also a table with two columns, as pandas and polars have.

        Raises
        ------
        InvalidGraph
            On self-loops, repeated edges, nodes out of range, no edges, or more than one component.

        Examples
        --------
        >>> import sottovoce as sv
        >>> sv.Graph.from_edges([(0, 1), (2, 3)])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        sottovoce.errors.InvalidGraph: graph is not connected: it has 2 components; for instance nodes 0 and 2 ...
        """
        pairs, labels = as_pairs(edges)
        nodes = check_range(pairs, num_nodes)
        if labels is not None and len(labels) != nodes:
            raise InvalidGraph(f"num_nodes = {nodes}, but edges name {len(labels)} nodes")
        ends = canonical(pairs, labels)
        check_connected(ends, nodes, name, labels)
        return cls._trusted(nodes, ends, name=name, labels=labels)

    @classmethod
    def _trusted(
        cls,
        num_nodes: int,
        edges: npt.NDArray[Any],
        *,
        name: str = "graph",
        family: Family | None = None,
        positions: npt.NDArray[np.float64] | None = None,
        labels: tuple[str, ...] | None = None,
    ) -> Graph:
        """Wrap arrays that are valid by construction (smaller end first, connected, no repeats)."""
        graph = object.__new__(cls)
        graph.__setstate__(
            {
                "num_nodes": num_nodes,
                "edges": np.ascontiguousarray(edges, dtype=np.int32),
                "name": name,
                "family": family,
                "positions": positions,
                "labels": labels,
            }
        )
        return graph

    @classmethod
    def from_networkx(cls, graph: networkx.Graph[Any]) -> Graph:
        """Convert a networkx graph; nodes are numbered in its iteration order and keep their names."""
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

    def to_networkx(self) -> networkx.Graph[Any]:
        """Convert to networkx, nodes 0..n−1, or by their names."""
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
    def numbers(self) -> dict[str, int]:
        """Name → number, for the nodes that have names."""
        return {label: number for number, label in enumerate(self.labels or ())}

    def node(self, node: int | str) -> int:
        """The number of a node, given by name or number; an error that names the choices if there is none."""
        return node_number(self, node)

    def label(self, node: int) -> str:
        """The name of a node: its label, or ``node 3``."""
        return f"node {node}" if self.labels is None else self.labels[node]

    @cached_property
    def degrees(self) -> npt.NDArray[np.int64]:
        """``(n,)`` number of neighbours of each node, d."""
        degrees = np.bincount(self.edges.reshape(-1), minlength=self.num_nodes)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def _csr(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The ends of all edges sorted by node, those of one node in the order of its edges."""
        indptr = np.concatenate([[0], np.cumsum(self.degrees)])
        swapped = np.ascontiguousarray(self.edges[:, ::-1]).reshape(-1)  # at each end, the number of the other
        if self.num_edges <= FEW_EDGES or not installed("scipy"):  # for the small process of a peer
            order = np.argsort(self.edges.reshape(-1), kind="stable")
            incident, other_end = (order // 2).astype(np.int32), swapped[order]
        else:
            incident, other_end = self._counted(swapped)
        for array in (indptr, other_end, incident):
            array.flags.writeable = False
        return indptr, other_end, incident

    def _counted(self, swapped: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Counting sort, in linear time: the edge-by-node incidence matrix turned from rows into columns."""
        import scipy.sparse

        rows = np.arange(0, 2 * self.num_edges + 1, 2, dtype=np.int32 if self.num_edges < 2**30 else np.int64)
        by_edge: Any = scipy.sparse.csr_array(
            (swapped, self.edges.reshape(-1), rows), shape=(self.num_edges, self.num_nodes)
        )
        by_node = by_edge.tocsc()
        return by_node.indices.astype(np.int32, copy=False), by_node.data

    @property
    def indptr(self) -> npt.NDArray[np.int64]:
        """``(n + 1,)`` node i's neighbours are ``neighbours[indptr[i]:indptr[i + 1]]``."""
        return self._csr[0]

    @property
    def neighbours(self) -> npt.NDArray[np.int32]:
        """``(2m,)`` neighbours of node 0, then of node 1, and so on; each node's in the order of its edges."""
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
        for part in chunks(self.num_edges):
            digest.update(self.edges[part].astype("<i8").tobytes())
        return digest.hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self.num_nodes == other.num_nodes and np.array_equal(self.edges, other.edges)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {self.num_nodes} nodes, {self.num_edges} edges>"


def check_graph(graph: object) -> None:
    """Refuse what is not a graph, at the edge of a public function, and say how to make one."""
    from .circulant import Circulant  # has all of a graph that some need

    if not isinstance(graph, Graph | Circulant):
        hint = f"sv.Graph.from_{type(graph).__module__.partition('.')[0]}"
        known = hint if hint.endswith(("networkx", "scipy")) else "sv.graphs or sv.Graph.from_edges"
        raise InvalidGraph(f"graph must be a sottovoce Graph, got {type(graph).__name__}; make one with {known}")
