"""Push methods: one step is a round in which every node sends something to one node chosen at random.

Node i in round k finds the random words for its choice at position k·n + i.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from ...graphs.graph import Graph
from ...methods.base import Array, PushMethod
from ..compiling import Kernel, compiled, specialised
from ..random.aliases import AliasTable
from ..random.kernels import HALF, WINDOW, fill_words
from ..random.streams import Stream, edge_of
from ..recording import as_they_are, note
from . import Kind, parts_of

__all__ = ["KIND", "push_target"]

u64 = np.uint64
push, collect = PushMethod.push, PushMethod.collect  # a method's own take their place in `drive`
shown = as_they_are  # likewise


@compiled
def push_targets(out: Any, step: Any, replica: Any, seed: Any, indptr: Any, neighbours: Any) -> None:
    """``(n,)`` to whom each node sends in one round: uniform over its neighbours and itself."""
    n = len(out)
    words = np.empty((4, WINDOW), dtype=np.uint64)
    for start in range(0, n, WINDOW):
        fill_words(words, step * n + start, replica, 0, seed)
        for k in range(min(WINDOW, n - start)):
            i = start + k
            degree = indptr[i + 1] - indptr[i]
            choices = u64(degree + 1)
            choice = np.int64((words[1, k] * choices + ((words[0, k] * choices) >> HALF)) >> HALF)
            out[i] = i if choice == degree else neighbours[indptr[i] + choice]


def drive(
    tables: Any,
    active: Any,
    first_coordinate: Any,
    last_coordinate: Any,
    first: Any,
    last: Any,
    seed: Any,
    parameters: Any,
    sheet: Any,
    indptr: Any,
    neighbours: Any,
) -> None:
    """Make the rounds; see :func:`.pair.drive`. The last two arguments are the graph's adjacency lists."""
    n = tables.shape[2]
    targets = np.empty(n, dtype=np.int64)
    for r in active:
        for c in range(first_coordinate, last_coordinate):
            nodes = tables[r, c]
            row = 0
            for step in range(first, last):
                push_targets(targets, step, r, seed, indptr, neighbours)
                for i in range(n):
                    push(nodes, i, targets[i])
                for i in range(n):
                    collect(nodes, i)
                if sheet.steps[row] == step + 1:
                    note(sheet, row, r, c, shown(nodes, sheet.steps[row], parameters))
                    row += 1


def push_target(graph: Graph, stream: Stream, step: int, node: int) -> int:
    """To whom a node sends in one round, by definition: one of its neighbours or itself."""
    neighbours = graph.neighbours_of(node)
    choice, _ = edge_of(stream.common_words(step * graph.num_nodes + node), len(neighbours) + 1)
    return node if choice == len(neighbours) else int(neighbours[choice])


class Push(Kind):
    """All nodes send in a round, each to one node; then all collect."""

    def driver(self, method: PushMethod, graph: Graph, aliases: AliasTable) -> tuple[Kernel, tuple[Any, ...]]:
        return specialised(drive, **parts_of(method)), (graph.indptr, graph.neighbours)

    def plain(
        self, method: PushMethod, graph: Graph, nodes: Array, parameters: Array, stream: Stream
    ) -> Iterator[None]:
        for step in count():
            for i in range(graph.num_nodes):
                type(method).push(nodes, i, push_target(graph, stream, step, i))
            for i in range(graph.num_nodes):
                type(method).collect(nodes, i)
            yield


KIND = Push()
