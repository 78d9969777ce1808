"""Graphs on which eigensolvers have failed: trees of five kinds, hubs, bottlenecks, weights over many decades.

Each is a function of a size, and gives a graph without a family and its weights (``None`` for ones).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sottovoce import Graph, graphs

Specimen = tuple[Graph, "np.ndarray[Any, Any] | None"]


def _rng() -> np.random.Generator:
    return np.random.default_rng(15)


def _tree(parents: np.ndarray[Any, Any]) -> Graph:
    """Node k + 1 hangs from ``parents[k]``."""
    return Graph.from_edges(np.stack([parents, np.arange(1, len(parents) + 1)], axis=1))


def recursive_tree(n: int) -> Specimen:
    """Each node joins an earlier one chosen at random."""
    return _tree((_rng().random(n - 1) * np.arange(1, n)).astype(np.int64)), None


def uniform_tree(n: int) -> Specimen:
    """Every labelled tree equally likely, by the first entries of a random walk (Aldous, Broder); diameter about √n."""
    walk = _rng().integers(n, size=40 * n)
    _, first = np.unique(walk, return_index=True)
    assert len(first) == n, "the walk must visit every node"
    order = np.sort(first)
    place = np.empty(n, dtype=np.int64)
    place[walk[order]] = np.arange(n)
    return _tree(place[walk[order[1:] - 1]]), None


def binary_tree(n: int) -> Specimen:
    """Node k hangs from (k − 1)//2."""
    return _tree((np.arange(1, n) - 1) // 2), None


def caterpillar(n: int) -> Specimen:
    """A path with two legs at every node."""
    spine = n // 3
    return _tree(np.concatenate([np.arange(spine - 1), np.repeat(np.arange(spine), 2)])), None


def broom(n: int) -> Specimen:
    """A path that ends in a star."""
    handle = n // 2
    return _tree(np.concatenate([np.arange(handle - 1), np.full(n - handle, handle - 1)])), None


def star(n: int) -> Specimen:
    """One hub."""
    return _tree(np.zeros(n - 1, dtype=np.int64)), None


def barbell(n: int) -> Specimen:
    """Two cliques of 60 and a long path between them."""
    clique = graphs.complete(60).edges
    path = np.stack([np.arange(119, n - 1), np.arange(120, n)], axis=1)
    return Graph.from_edges(np.concatenate([clique, clique + 60, path, [[59, n - 1]]])), None


def weighted_tree(n: int) -> Specimen:
    """A recursive tree with weights over six decades."""
    graph, _ = recursive_tree(n)
    return graph, 10 ** _rng().uniform(-3, 3, graph.num_edges)


def weighted_grid(n: int) -> Specimen:
    """A grid with weights over four decades."""
    side = int(np.sqrt(n))
    graph = graphs.grid(side, side)
    return Graph.from_edges(graph.edges), 10 ** _rng().uniform(-2, 2, graph.num_edges)


def nearly_disconnected(n: int) -> Specimen:
    """Two random regular graphs with one edge between them, of weight 10⁻⁷."""
    half = graphs.random_regular(n // 2, 4, seed=1).edges.astype(np.int64)
    edges = np.concatenate([half, half + n // 2, [[0, n // 2]]])
    return Graph.from_edges(edges), np.r_[np.ones(2 * len(half)), 1e-7]


def nearly_disconnected_geometric(n: int) -> Specimen:
    """Two geometric graphs with one edge between them."""
    half = graphs.random_geometric(n // 2, seed=1)
    edges = half.edges.astype(np.int64)
    return Graph.from_edges(np.concatenate([edges, edges + half.num_nodes, [[0, half.num_nodes]]])), None


def hairy_regular(n: int) -> Specimen:
    """A random regular graph with a tail of n/10 nodes."""
    body, tail = n - n // 10, n // 10
    edges = graphs.random_regular(body + body % 2, 3, seed=1).edges
    first = body + body % 2
    path = np.stack([np.r_[0, np.arange(first, first + tail - 1)], np.arange(first, first + tail)], axis=1)
    return Graph.from_edges(np.concatenate([edges, path])), None


ZOO: dict[str, Callable[[int], Specimen]] = {
    make.__name__: make
    for make in (
        recursive_tree, uniform_tree, binary_tree, caterpillar, broom, star, barbell, weighted_tree, weighted_grid,
        nearly_disconnected, nearly_disconnected_geometric, hairy_regular,
    )
}  # fmt: skip
