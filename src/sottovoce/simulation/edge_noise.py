"""Numbers drawn once, before the first step, by a node or by the two ends of an edge; for methods of every kind.

A method names the column that takes them (:attr:`~sottovoce.methods.base.Method.edge_noise_field`, with their
deviation, and :attr:`~sottovoce.methods.base.Method.start_noise_field`). They are put into the node tables where these
are made, so no driver needs to know.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graphs.graph import Graph
from ..methods.base import Array, Method
from .random.streams import EDGE_NOISE, START_NOISE, Stream, normals_of

__all__ = ["edge_draw", "edge_numbers", "own_draw", "share_edge_noise", "share_plainly"]


def share_edge_noise(tables: Array, method: Method, graph: Graph, seed: int) -> None:
    """Add ±std·g per edge to its column, and g per row to its own, in place.

    Tables are ``(replicas, coordinates, nodes, fields)``.
    """
    if method.edge_noise_field is not None:
        from .kinds.round import add_edge_noise

        std: Any = method.edge_noise_std(graph)
        add_edge_noise(tables, method.edge_noise_field, std, graph.edges, np.uint64(seed))
    if method.start_noise_field is not None:
        from .kinds.round import add_start_noise

        add_start_noise(tables, method.start_noise_field, np.uint64(seed))


def edge_numbers(method: Method, graph: Graph, stream: Stream) -> Array:
    """``(m,)`` the number that each edge adds at its first end and subtracts at its second; zeros if it adds none."""
    numbers = np.zeros(graph.num_edges)
    if method.edge_noise_field is not None:
        from .kinds.round import edge_draws

        edge_draws(numbers, stream.replica, stream.coordinate, np.uint64(stream.seed))
    return method.edge_noise_std(graph) * numbers


def share_plainly(nodes: Array, method: Method, graph: Graph, stream: Stream) -> None:
    """The same for one node table, by the interpreter."""
    if method.edge_noise_field is not None:
        for edge, (i, j) in enumerate(graph.edges):
            number = method.edge_noise_std(graph) * edge_draw(stream, edge)
            nodes[i, method.edge_noise_field] += number
            nodes[j, method.edge_noise_field] -= number
    if method.start_noise_field is not None:
        for row in range(len(nodes)):
            nodes[row, method.start_noise_field] += own_draw(stream, row)


def edge_draw(stream: Stream, edge: int) -> float:
    """The standard normal that the ends of an edge share, by definition."""
    return normals_of(stream.words(edge, EDGE_NOISE))[0]


def own_draw(stream: Stream, row: int) -> float:
    """The standard normal that is drawn for a row before the first step, by definition."""
    return normals_of(stream.words(row, START_NOISE))[0]
