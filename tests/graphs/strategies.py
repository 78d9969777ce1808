"""Random connected graphs for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import sottovoce as sv


@st.composite
def edge_lists(draw: st.DrawFn, min_nodes: int = 2, max_nodes: int = 24) -> tuple[list[tuple[int, int]], int]:
    """A random tree and some further edges, in random order and with ends in random order."""
    n = draw(st.integers(min_nodes, max_nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    label = rng.permutation(n)
    tree = [(int(label[i]), int(label[rng.integers(i)])) for i in range(1, n)]
    extra = rng.integers(n, size=(draw(st.integers(0, 2 * n)), 2)).tolist()
    found: dict[frozenset[int], tuple[int, int]] = {}
    for a, b in [*tree, *((a, b) for a, b in extra)]:
        if a != b:
            found.setdefault(frozenset((a, b)), (a, b))
    edges = list(found.values())
    return [edges[i] for i in rng.permutation(len(edges))], n


def connected_graphs(min_nodes: int = 2, max_nodes: int = 24) -> st.SearchStrategy[sv.Graph]:
    return edge_lists(min_nodes, max_nodes).map(lambda made: sv.Graph.from_edges(made[0], made[1]))


def without_family(graph: sv.Graph) -> sv.Graph:
    """The same nodes and edges, so that no closed form applies and nothing is remembered."""
    return sv.Graph._trusted(graph.num_nodes, graph.edges, name=graph.name)
