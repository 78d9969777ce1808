"""Which two nodes an edge joins, for the drivers: looked up in a stored list, or computed.

What the functions take as ``edges`` is the ``(m, 2)`` list, or the number of nodes followed by the offsets of a
:class:`~sottovoce.graphs.circulant.Circulant`. The compiler knows which of them it is by its dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from ...graphs.circulant import Circulant
from ...graphs.graph import Graph
from ..atomics import bring

__all__ = ["bring_edge", "count_of", "edges_of", "ends_of"]

STORED = 2  # dimensions of a list

u64 = np.uint64


@register_jitable
def ends_of(edges: Any, edge: Any) -> Any:
    """The two nodes of an edge, in the order in which they are stored.

    Edge k·n + i of a circulant graph joins i and i + offsets[k] modulo n: the smaller one is first.
    """
    if edges.ndim == STORED:
        return u64(edges[edge, 0]), u64(edges[edge, 1])
    n = u64(edges[0])
    k = edge // n
    i = edge - k * n
    j = i + u64(edges[k + u64(1)])
    if j >= n:
        return j - n, i
    return i, j


@register_jitable
def bring_edge(edges: Any, edge: Any) -> None:
    """Have what :func:`ends_of` will look up brought near."""
    if edges.ndim == STORED:
        bring(edges, (edge, 0))


@register_jitable
def count_of(edges: Any) -> Any:
    """How many edges there are."""
    if edges.ndim == STORED:
        return edges.shape[0]
    return edges[0] * (len(edges) - 1)


def edges_of(graph: Graph | Circulant) -> npt.NDArray[Any]:
    """What the drivers take as ``edges``."""
    if isinstance(graph, Circulant):
        return np.array([graph.num_nodes, *graph.offsets], dtype=np.int64)
    return graph.edges
