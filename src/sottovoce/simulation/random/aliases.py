"""Edges that are not equally likely, in constant time per step: Walker's alias method."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...graphs.chances import checked_probabilities
from ...graphs.graph import Graph
from ...methods.base import Array

__all__ = ["AliasTable", "alias_table"]

TABLES_PER_GRAPH = 2
"""Kept with each graph, those used last: 16 bytes for every edge."""


@dataclass(frozen=True, eq=False)
class AliasTable:
    """Edge e, chosen uniformly, is kept with probability ``accept[e]`` and replaced by ``alias[e]`` otherwise.

    Both are empty when all edges are equally likely.
    """

    accept: Array
    alias: npt.NDArray[np.int64]


EQUAL = AliasTable(np.empty(0), np.empty(0, dtype=np.int64))


def alias_table(edge_probabilities: npt.ArrayLike | AliasTable | None, graph: Graph) -> AliasTable:
    """The table (Vose 1991) for checked probabilities; one that was made before is returned as it is.

    The last few are kept with the graph. Making one takes half a second for 10⁶ edges, recognising it by the content
    of the probabilities a hundredth of that.
    """
    if isinstance(edge_probabilities, AliasTable):
        return edge_probabilities
    if edge_probabilities is None:
        return EQUAL
    probabilities = checked_probabilities(edge_probabilities, graph.num_edges)
    known: dict[bytes, AliasTable] = graph.__dict__.setdefault("_alias_tables", {})
    key = hashlib.sha256(probabilities.data).digest()
    table = known.pop(key, None) or _vose(probabilities / float(probabilities.sum()) * graph.num_edges)
    while len(known) >= TABLES_PER_GRAPH:
        known.pop(next(iter(known)), None)
    known[key] = table
    return table


def _vose(share: Array) -> AliasTable:
    """``share`` is probability × number of edges: each cell of size 1 is filled by at most two edges."""
    accept = np.ones(len(share))
    alias = np.arange(len(share))
    small = np.flatnonzero(share < 1.0).tolist()
    large = np.flatnonzero(share >= 1.0).tolist()
    share = share.copy()
    while small and large:
        less, more = small.pop(), large[-1]
        accept[less] = share[less]
        alias[less] = more
        share[more] -= 1.0 - share[less]
        if share[more] < 1.0:
            small.append(large.pop())
    return AliasTable(accept, alias)
