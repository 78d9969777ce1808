"""Graphs in and out: networkx and scipy sparse matrices. Files are in :mod:`.files`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidGraph
from ..foundation.extras import require
from .files import read_edges, write_edges
from .graph import Graph

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

__all__ = ["edge_probabilities", "from_networkx", "from_scipy", "read_edges", "to_networkx", "to_scipy", "write_edges"]


def from_networkx(graph: networkx.Graph[Any]) -> Graph:
    """Nodes are numbered in the order networkx iterates them; attributes are left behind.

    Node i of the result is ``list(graph.nodes)[i]``, and its label that as text, unless the nodes are 0, 1, … anyway.
    Errors name the labels, not the numbers.

    Raises
    ------
    InvalidGraph
        For directed graphs and multigraphs, self-loops, graphs without edges or in several components.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = from_networkx(nx.Graph([("anna", "bela"), ("bela", "carl")]))
    >>> graph.edges.tolist(), graph.labels
    ([[0, 1], [1, 2]], ('anna', 'bela', 'carl'))
    """
    if not (hasattr(graph, "is_directed") and hasattr(graph, "is_multigraph")):
        raise InvalidGraph(f"graph must be a networkx graph, got {type(graph).__name__}")
    if graph.is_directed() or graph.is_multigraph():
        raise InvalidGraph("graph must be undirected with single edges; got a directed graph or a multigraph")
    number = {node: index for index, node in enumerate(graph.nodes)}
    pairs = np.array([(number[a], number[b]) for a, b in graph.edges], dtype=np.int64).reshape(-1, 2)
    if len(pairs) == 0:
        raise InvalidGraph("graph is empty: it needs at least one edge")
    _refuse_with_labels(graph, pairs)
    checked = Graph.from_edges(pairs, num_nodes=len(number), name=str(graph.name) or "graph")
    return checked if list(number) == list(number.values()) else replace(checked, labels=tuple(map(str, number)))


def _refuse_with_labels(graph: networkx.Graph[Any], pairs: npt.NDArray[np.int64]) -> None:
    """Self-loops and several components, named as the caller named the nodes."""
    labels = list(graph.nodes)
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        raise InvalidGraph(f"graph has a self-loop at node {labels[pairs[loops[0], 0]]!r}")
    import networkx as nx

    parts = list(nx.connected_components(graph))
    if len(parts) > 1:
        here, there = next(iter(parts[0])), next(iter(parts[1]))
        raise InvalidGraph(
            f"graph is not connected: it has {len(parts)} components; "
            f"for instance nodes {here!r} and {there!r} cannot reach each other"
        )


def to_networkx(graph: Graph) -> networkx.Graph[Any]:
    """Nodes 0..n−1 or their labels, edges in our order, the name kept."""
    require("networkx", by="to_networkx")
    import networkx as nx

    nodes = range(graph.num_nodes) if graph.labels is None else graph.labels
    out: networkx.Graph[Any] = nx.Graph(name=graph.name)
    out.add_nodes_from(nodes)
    out.add_edges_from((nodes[i], nodes[j]) for i, j in graph.edges.tolist())
    return out


def edge_probabilities(graph: networkx.Graph[Any], weight: str = "weight") -> npt.NDArray[np.float64]:
    """The weights of a networkx graph as chances to fire: ``(m,)``, in the order of :func:`from_networkx`, of sum 1.

    Raises
    ------
    InvalidGraph
        If an edge has no such weight, or one that is not a number ≥ 0, or all are 0.

    Examples
    --------
    >>> import networkx as nx
    >>> friends = nx.Graph()
    >>> friends.add_weighted_edges_from([("anna", "bela", 3), ("bela", "carl", 1)])
    >>> edge_probabilities(friends).tolist()
    [0.75, 0.25]
    """
    try:
        weights = np.array([data[weight] for *_, data in graph.edges(data=True)], dtype=np.float64)
    except KeyError:
        raise InvalidGraph(f"every edge must have the attribute {weight!r}, and one has not") from None
    except (TypeError, ValueError):
        raise InvalidGraph(f"the attribute {weight!r} of every edge must be a number") from None
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InvalidGraph(f"the attribute {weight!r} of every edge must be finite and ≥ 0, and not 0 for all")
    chances: npt.NDArray[np.float64] = weights / weights.sum()
    return chances


def from_scipy(matrix: scipy.sparse.sparray | scipy.sparse.spmatrix | npt.ArrayLike) -> Graph:
    """Any non-zero off-diagonal entry of a symmetric matrix is an edge; the diagonal must be zero.

    Stored zeros are not edges. A Laplacian is refused (its diagonal is not zero): give the adjacency.

    Examples
    --------
    >>> from_scipy([[0, 1, 0], [1, 0, 1], [0, 1, 0]]).edges.tolist()
    [[0, 1], [1, 2]]
    """
    require("scipy", by="from_scipy")
    import scipy.sparse

    try:
        given: Any = matrix
        present: Any = scipy.sparse.csr_array(scipy.sparse.coo_array(given))
    except (TypeError, ValueError) as error:
        raise InvalidGraph(f"matrix must be a square matrix of numbers: {error}") from None
    if present.ndim != 2 or present.shape[0] != present.shape[1]:
        raise InvalidGraph(f"matrix must be square, got shape {present.shape}")
    if not np.isfinite(present.data).all():
        raise InvalidGraph("matrix must have finite entries, got NaN or infinity")
    present = present.astype(bool)
    present.eliminate_zeros()
    if present.diagonal().any():
        raise InvalidGraph(f"matrix has a self-loop at node {int(np.argmax(present.diagonal()))}")
    one_way = scipy.sparse.coo_array(present != present.T)
    if one_way.nnz:
        i, j = int(one_way.row[0]), int(one_way.col[0])
        raise InvalidGraph(f"matrix must be symmetric, but only one of its entries ({i}, {j}) and ({j}, {i}) is zero")
    upper = scipy.sparse.triu(present, k=1).tocoo()
    return Graph.from_edges(np.stack([upper.row, upper.col], axis=1), num_nodes=max(present.shape[0], 2))


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """Symmetric 0/1 adjacency in CSR form."""
    require("scipy", by="to_scipy")
    import scipy.sparse

    ones = np.ones(2 * graph.num_edges)
    return scipy.sparse.csr_array((ones, graph.neighbours, graph.indptr), shape=(graph.num_nodes, graph.num_nodes))
