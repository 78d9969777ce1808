"""The part of a large graph that lies near an observer, and small graphs that are cut out of it."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..graphs.graph import Graph
from .observing import Observer

__all__ = ["Around", "Nodes"]

Nodes = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Around:
    """The nearest honest nodes, the observer's own, and those just outside."""

    graph: Graph
    own: npt.NDArray[np.bool_]
    nodes: Nodes
    """The honest ones, nearest first."""

    @classmethod
    def of(cls, graph: Graph, observer: Observer, count: int) -> Around:
        """The ``count`` nodes nearest to an observer; the ends of tapped wires are the nearest of all."""
        own = observer.view().observers(graph)
        if observer.but is not None:
            return cls(graph, own, np.array([observer.but]))
        found = np.unique(np.array(observer.edges, dtype=np.int64))
        front = found if observer.edges else np.flatnonzero(own)
        seen = own.copy()
        seen[front] = True
        while len(front) and len(found) < count:
            near = np.unique(np.concatenate([graph.neighbours_of(int(node)) for node in front]))
            front = near[~seen[near]][: count - len(found)]
            seen[front] = True
            found = np.append(found, front)
        return cls(graph, own, found)

    def seen_by(self, nodes: Nodes) -> Around:
        """The same part, with other nodes in the observer's hands."""
        own = np.isin(np.arange(self.graph.num_nodes), nodes)
        return Around(self.graph, own, self.nodes[~own[self.nodes]])

    @cached_property
    def inside(self) -> npt.NDArray[np.bool_]:
        """``(n,)`` which nodes these are."""
        return np.isin(np.arange(self.graph.num_nodes), self.nodes)

    @property
    def touching(self) -> npt.NDArray[np.bool_]:
        """``(m,)`` edges with an end inside."""
        return np.asarray(self.inside[self.graph.edges].any(axis=1))

    def small(self, edges: npt.NDArray[np.bool_]) -> tuple[Graph, Nodes, Nodes]:
        """The graph of some edges: its nodes' and its edges' numbers in the large one.

        It is made one piece by edges that never fire and tell nobody anything, among nodes of the observer if it has
        any.
        """
        chosen = np.flatnonzero(edges)
        nodes = np.unique(self.graph.edges[chosen]).astype(np.int64)
        place = np.searchsorted(nodes, self.graph.edges[chosen])
        links = _links(place, self.inside[nodes])
        built = Graph.from_edges(np.vstack([place, links]).tolist(), num_nodes=len(nodes))
        number = {(int(i), int(j)): k for k, (i, j) in enumerate(built.edges.tolist())}
        order = np.array([number[min(i, j), max(i, j)] for i, j in place.tolist()])
        return built, nodes, order


def _links(edges: Nodes, inside: npt.NDArray[np.bool_]) -> Nodes:
    """Edges that connect all parts of a graph, one after the other; where they can, between nodes not ``inside``."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(inside)
    matrix = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    parts = connected_components(matrix, directed=False)[1]
    outside_first = np.argsort(inside, kind="stable")
    ends = outside_first[np.unique(parts[outside_first], return_index=True)[1]]
    return np.array(list(itertools.pairwise(ends.tolist())), dtype=np.int64).reshape(-1, 2)
