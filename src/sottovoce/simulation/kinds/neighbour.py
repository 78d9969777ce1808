"""Nodes that tell each neighbour something else and keep numbers for each: all at once in a round, or one in a step.

After the rows of the nodes the table has one row for every neighbour of every node (:class:`NeighbourMethod`). In a
round everybody speaks, then everybody hears, neighbour by neighbour; row q finds its draw in round k at position
k·rows + q. Where one node acts in a step, it is chosen as edges are (:mod:`.pair`), and its neighbours hear it at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from ...graphs.graph import Graph
from ...methods.base import Array, NeighbourMethod
from ..compiling import Kernel, compiled, specialised
from ..random.aliases import AliasTable
from ..random.kernels import HALF, WINDOW, fill_words
from ..random.streams import Stream, edge_of, normals_of
from ..recording import as_they_are, note
from . import Kind, parts_of
from .round import LAWS, NO_NOISE, unit_draws

__all__ = ["KIND", "acting_node", "reversed_arcs", "row_draws"]

u64 = np.uint64
speak, hear, law = NeighbourMethod.speak, NeighbourMethod.hear, NO_NOISE  # a method's own take their place in `drive`
everyone, num_said, shown = True, 1, as_they_are  # likewise


@compiled
def acting_nodes(out: Any, first: Any, replica: Any, seed: Any, num_nodes: Any) -> None:
    """The nodes that act at steps ``first, first + 1, …``, as many as ``out`` holds."""
    words = np.empty((4, WINDOW), dtype=np.uint64)
    choices = u64(num_nodes)
    for start in range(0, len(out), WINDOW):
        fill_words(words, first + start, replica, 0, seed)
        for k in range(min(WINDOW, len(out) - start)):
            out[start + k] = np.int64((words[1, k] * choices + ((words[0, k] * choices) >> HALF)) >> HALF)


def drive(  # noqa: C901  (two loops of the same kind)
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
    reverse: Any,
) -> None:
    """Make the steps; see :func:`.pair.drive`. ``reverse`` is the place of the same edge in the neighbour's list."""
    n, rows = len(indptr) - 1, tables.shape[2]
    draws = np.zeros(rows)
    chosen = np.empty(WINDOW, dtype=np.int64)
    for r in active:
        for c in range(first_coordinate, last_coordinate):
            table = tables[r, c]
            row = 0
            for step in range(first, last):
                if everyone:
                    if law != NO_NOISE:
                        unit_draws(draws, step * rows, r, c, seed, law)
                    for i in range(n):
                        speak(table, i, n + indptr[i], n + indptr[i + 1], draws, step, parameters)
                    for i in range(n):
                        for k in range(indptr[i], indptr[i + 1]):
                            for part in range(num_said):
                                table[n + k, num_said + part] = table[n + reverse[k], part]
                            hear(table, i, n + k, step, parameters)
                else:
                    if (step - first) % WINDOW == 0:
                        acting_nodes(chosen, step, r, seed, n)
                    i = chosen[(step - first) % WINDOW]
                    speak(table, i, n + indptr[i], n + indptr[i + 1], draws, step, parameters)
                    for k in range(indptr[i], indptr[i + 1]):
                        for part in range(num_said):
                            table[n + reverse[k], num_said + part] = table[n + k, part]
                        hear(table, neighbours[k], n + reverse[k], step, parameters)
                if sheet.steps[row] == step + 1:
                    note(sheet, row, r, c, shown(table[:n], sheet.steps[row], parameters))
                    row += 1


def acting_node(graph: Graph, stream: Stream, step: int) -> int:
    """The node that acts in one step, by definition."""
    return edge_of(stream.common_words(step), graph.num_nodes)[0]


def row_draws(method: NeighbourMethod, graph: Graph, stream: Stream, step: int) -> Array:
    """``(rows,)`` draws of unit scale in one round, by definition."""
    rows = method.num_rows(graph)
    if not method.noise:
        return np.zeros(rows)
    return np.array([normals_of(stream.words(step * rows + row))[0] for row in range(rows)])


def reversed_arcs(graph: Graph) -> npt.NDArray[np.int64]:
    """``(2m,)`` for each entry of ``graph.neighbours`` where the same edge stands in the neighbour's list."""
    both = np.argsort(graph.incident_edges, kind="stable").reshape(-1, 2)
    reverse = np.empty(2 * graph.num_edges, dtype=np.int64)
    reverse[both] = both[:, ::-1]
    return reverse


class Neighbour(Kind):
    """Every node, or one of them, speaks to each of its neighbours."""

    def driver(self, method: NeighbourMethod, graph: Graph, aliases: AliasTable) -> tuple[Kernel, tuple[Any, ...]]:
        cls = type(method)
        kernel = specialised(
            drive, **parts_of(method), law=LAWS[cls.noise], everyone=cls.in_rounds, num_said=cls.num_said
        )
        return kernel, (graph.indptr, graph.neighbours, reversed_arcs(graph))

    def plain(
        self, method: NeighbourMethod, graph: Graph, nodes: Array, parameters: Array, stream: Stream
    ) -> Iterator[None]:
        cls, n, reverse, said = type(method), graph.num_nodes, reversed_arcs(graph), method.num_said
        for step in count():
            acting = range(n) if cls.in_rounds else [acting_node(graph, stream, step)]
            draws = row_draws(method, graph, stream, step)
            for i in acting:
                cls.speak(nodes, i, n + int(graph.indptr[i]), n + int(graph.indptr[i + 1]), draws, step, parameters)
            for k, (i, j) in enumerate(self._listeners(graph)):
                if j in acting:
                    nodes[n + k, said : 2 * said] = nodes[n + reverse[k], :said]
                    cls.hear(nodes, i, n + k, step, parameters)
            yield

    def work(self, method: NeighbourMethod, graph: Graph) -> int:
        rows = graph.num_nodes + 2 * graph.num_edges
        return rows if method.in_rounds else max(1, rows // graph.num_nodes)

    def look_every(self, method: NeighbourMethod, graph: Graph) -> int:
        return 1 if method.in_rounds else max(1, graph.num_nodes // 2)

    def fired(
        self, method: NeighbourMethod, graph: Graph, aliases: AliasTable, stream: Stream, steps: range
    ) -> npt.NDArray[np.int64]:
        if method.in_rounds:
            return super().fired(method, graph, aliases, stream, steps)
        out = np.empty(len(steps), dtype=np.int64)
        acting_nodes(out, steps.start, stream.replica, np.uint64(stream.seed), graph.num_nodes)
        return out

    def taking_part(self, graph: Graph, fired: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return fired

    def _listeners(self, graph: Graph) -> Iterator[tuple[int, int]]:
        """(listener, speaker) of every entry of ``graph.neighbours``."""
        owners = np.repeat(np.arange(graph.num_nodes), graph.degrees)
        return zip(owners.tolist(), graph.neighbours.tolist(), strict=True)


KIND = Neighbour()
