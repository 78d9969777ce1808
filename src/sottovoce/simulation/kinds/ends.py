"""Which two nodes an edge joins, for the drivers: looked up in a stored list, or computed.

A driver is compiled for one pair of functions. What they take as ``edges`` is theirs: the ``(m, 2)`` list, or the
number of nodes followed by the offsets of a :class:`~sottovoce.graphs.circulant.Circulant`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from ...graphs.circulant import Circulant
from ...graphs.graph import Graph

__all__ = ["circulant_count", "circulant_ends", "edges_of", "stored_count", "stored_ends"]

u64 = np.uint64


@register_jitable
def stored_ends(edges: Any, edge: Any) -> Any:
    """The two nodes of an edge, in the order in which they are stored."""
    return u64(edges[edge, 0]), u64(edges[edge, 1])


@register_jitable
def stored_count(edges: Any) -> Any:
    """How many edges there are."""
    return edges.shape[0]


@register_jitable
def circulant_ends(edges: Any, edge: Any) -> Any:
    """The same for edge k·n + i of a circulant graph, i and i + offsets[k] modulo n: the smaller first."""
    n = u64(edges[0])
    k = edge // n
    i = edge - k * n
    j = i + u64(edges[k + u64(1)])
    if j >= n:
        return j - n, i
    return i, j


@register_jitable
def circulant_count(edges: Any) -> Any:
    """How many edges there are."""
    return edges[0] * (len(edges) - 1)


def edges_of(graph: Graph | Circulant) -> tuple[dict[str, Any], npt.NDArray[Any]]:
    """The functions that take their place in a driver, and what they take as ``edges``."""
    if isinstance(graph, Circulant):
        rule = np.array([graph.num_nodes, *graph.offsets], dtype=np.int64)
        return {"ends_of": circulant_ends, "count_of": circulant_count}, rule
    return {"ends_of": stored_ends, "count_of": stored_count}, graph.edges
