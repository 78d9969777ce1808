"""A set of distinct edges fires per step.

Sets are drawn by Floyd's method: for l = m − b, …, m − 1 a number t uniform in 0..l is taken, or l itself if t
is in the set already. All sets of size b are equally likely, each step uses b blocks of random words, and
with b = 1 the edges are those of :mod:`.pair`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from ...graphs.graph import Graph
from ...methods.base import Array, BlockMethod
from ..compiling import Kernel, compiled, specialised
from ..random.aliases import AliasTable
from ..random.kernels import HALF, WINDOW, fill_words
from ..random.streams import Stream, edge_of
from ..recording import as_they_are, note
from . import Kind, parts_of

__all__ = ["KIND", "fired_set"]

u64 = np.uint64
update = BlockMethod.update  # a method's own takes its place in `drive`
shown = as_they_are  # likewise


@compiled
def block_indices(out: Any, marks: Any, first: Any, replica: Any, seed: Any) -> None:
    """The sets at steps ``first, first + 1, …``: ``out`` is ``(steps, size)``, ``marks`` ``(m,)`` scratch."""
    size, m = out.shape[1], len(marks)
    words = np.empty((4, WINDOW), dtype=np.uint64)
    marks[:] = -1
    begin, end = first * size, (first + out.shape[0]) * size
    for start in range(begin, end, WINDOW):
        fill_words(words, start, replica, 0, seed)
        for k in range(min(WINDOW, end - start)):
            at = start + k - begin
            step, place = at // size, at % size
            last = m - size + place
            choices = u64(last + 1)
            edge = np.int64((words[1, k] * choices + ((words[0, k] * choices) >> HALF)) >> HALF)
            if marks[edge] == step:
                edge = last
            marks[edge] = step
            out[step, place] = edge


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
    edges: Any,
    size: Any,
) -> None:
    """Make the steps; see :func:`.pair.drive`. ``size`` is the number of edges in a set."""
    steps = max(1, 4096 // size)  # sets drawn together
    marks = np.empty(edges.shape[0], dtype=np.int64)
    ends = np.empty((size, 2), dtype=np.int64)
    for r in active:
        for c in range(first_coordinate, last_coordinate):
            nodes = tables[r, c]
            row = 0
            for start in range(first, last, steps):
                sets = np.empty((min(steps, last - start), size), dtype=np.int64)
                block_indices(sets, marks, start, r, seed)
                for k in range(sets.shape[0]):
                    for place in range(size):
                        ends[place, 0] = edges[sets[k, place], 0]
                        ends[place, 1] = edges[sets[k, place], 1]
                    update(nodes, ends, start + k, parameters)
                    if sheet.steps[row] == start + k + 1:
                        note(sheet, row, r, c, shown(nodes, sheet.steps[row], parameters))
                        row += 1


def fired_set(graph: Graph, size: int, stream: Stream, step: int) -> list[int]:
    """The edges of the set that fires at one step, by definition."""
    chosen: list[int] = []
    for place in range(size):
        last = graph.num_edges - size + place
        edge, _ = edge_of(stream.common_words(step * size + place), last + 1)
        chosen.append(last if edge in chosen else edge)
    return chosen


class Block(Kind):
    """A set of edges fires per step."""

    def driver(self, method: BlockMethod, graph: Graph, aliases: AliasTable) -> tuple[Kernel, tuple[Any, ...]]:
        return specialised(drive, **parts_of(method)), (graph.edges, method.block_size)

    def plain(
        self, method: BlockMethod, graph: Graph, nodes: Array, parameters: Array, stream: Stream
    ) -> Iterator[None]:
        for step in count():
            chosen = fired_set(graph, method.block_size, stream, step)
            type(method).update(nodes, graph.edges[chosen].astype(np.int64), step, parameters)
            yield

    def work(self, method: BlockMethod, graph: Graph) -> int:
        return method.block_size

    def look_every(self, method: BlockMethod, graph: Graph) -> int:
        return max(1, graph.num_nodes // (2 * method.block_size))

    def fired(
        self, method: BlockMethod, graph: Graph, aliases: AliasTable, stream: Stream, steps: range
    ) -> npt.NDArray[np.int64]:
        out = np.empty((len(steps), method.block_size), dtype=np.int64)
        marks = np.empty(graph.num_edges, dtype=np.int64)
        block_indices(out, marks, steps.start, stream.replica, np.uint64(stream.seed))
        return out


KIND = Block()
