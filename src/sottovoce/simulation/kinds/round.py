"""Synchronous methods: one step is a round in which every node speaks to all its neighbours.

A round costs O(n + m). Draws for all nodes are made first; then everybody speaks; then everybody listens.
Node i in round k finds its random words at position k·n + i.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from ...graphs.graph import Graph
from ...methods.base import Array, RoundMethod
from ..compiling import Kernel, compiled, specialised
from ..random.aliases import AliasTable
from ..random.kernels import PURPOSE_SHIFT, WINDOW, fill_laplace, fill_normals, fill_words
from ..random.streams import EDGE_NOISE, START_NOISE, Stream, laplace_of, normals_of
from ..recording import as_they_are, note
from . import Kind, parts_of

__all__ = ["KIND", "add_edge_noise", "add_start_noise", "edge_draws", "node_draw"]

u64 = np.uint64
NO_NOISE, NORMAL, LAPLACE = 0, 1, 2
LAWS = {"": NO_NOISE, "normal": NORMAL, "laplace": LAPLACE}

send, receive, law = RoundMethod.send, RoundMethod.receive, NO_NOISE  # a method's own take their place in `drive`
shown = as_they_are  # likewise


@compiled
def unit_draws(out: Any, first: Any, replica: Any, domain: Any, seed: Any, kind: Any) -> None:
    """One draw of unit scale per position from ``first``, as many as ``out`` holds."""
    words = np.empty((4, WINDOW), dtype=np.uint64)
    draws = np.empty((2, WINDOW))
    for start in range(0, len(out), WINDOW):
        fill_words(words, first + start, replica, domain, seed)
        if kind == LAPLACE:
            fill_laplace(words, draws)
        else:
            fill_normals(words, draws)
        for k in range(min(WINDOW, len(out) - start)):
            out[start + k] = draws[0, k]


@compiled
def edge_draws(out: Any, replica: Any, coordinate: Any, seed: Any) -> None:
    """The standard normal that the ends of each edge share."""
    unit_draws(out, 0, replica, u64(coordinate) | (u64(EDGE_NOISE) << PURPOSE_SHIFT), seed, NORMAL)


@compiled
def add_edge_noise(tables: Any, field: Any, std: Any, edges: Any, seed: Any) -> None:
    """Add one normal number of deviation ``std`` per edge to ``field`` at its first end, subtract it at its second."""
    draws = np.empty(edges.shape[0])
    for r in range(tables.shape[0]):
        for c in range(tables.shape[1]):
            edge_draws(draws, r, c, seed)
            for e in range(edges.shape[0]):
                tables[r, c, edges[e, 0], field] += std * draws[e]
                tables[r, c, edges[e, 1], field] -= std * draws[e]


@compiled
def add_start_noise(tables: Any, field: Any, seed: Any) -> None:
    """Add one standard normal per row to ``field``."""
    draws = np.empty(tables.shape[2])
    for r in range(tables.shape[0]):
        for c in range(tables.shape[1]):
            unit_draws(draws, 0, r, u64(c) | (u64(START_NOISE) << PURPOSE_SHIFT), seed, NORMAL)
            for i in range(tables.shape[2]):
                tables[r, c, i, field] += draws[i]


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
    noisy_rounds: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
) -> None:
    """Make the rounds; see :func:`.pair.drive`. The last three arguments are the rows of the mixing matrix."""
    n = tables.shape[2]
    draws = np.zeros(n)
    said = np.empty(n)
    for r in active:
        for c in range(first_coordinate, last_coordinate):
            nodes = tables[r, c]
            row = 0
            for step in range(first, last):
                if law != NO_NOISE and step < noisy_rounds:
                    unit_draws(draws, step * n, r, c, seed, law)
                for i in range(n):
                    said[i] = send(nodes, i, draws[i], step, parameters)
                for i in range(n):
                    combined = 0.0
                    for k in range(indptr[i], indptr[i + 1]):
                        combined += weights[k] * said[indices[k]]
                    receive(nodes, i, said[i], combined, step, parameters)
                if sheet.steps[row] == step + 1:
                    note(sheet, row, r, c, shown(nodes, sheet.steps[row], parameters))
                    row += 1


def node_draw(method: RoundMethod, graph: Graph, stream: Stream, step: int, node: int) -> float:
    """A node's draw of unit scale in one round, by definition."""
    if not method.noise or step >= method.noisy_rounds(graph):
        return 0.0
    words = stream.words(step * graph.num_nodes + node)
    return laplace_of(words) if method.noise == "laplace" else normals_of(words)[0]


class Round(Kind):
    """All nodes speak in a round, then all listen."""

    def driver(self, method: RoundMethod, graph: Graph, aliases: AliasTable) -> tuple[Kernel, tuple[Any, ...]]:
        kernel = specialised(drive, **parts_of(method), law=LAWS[type(method).noise])
        mixing = method.mixing(graph)
        indptr, indices = mixing.indptr.astype(np.int64), mixing.indices.astype(np.int64)
        return kernel, (method.noisy_rounds(graph), indptr, indices, mixing.data)

    def plain(
        self, method: RoundMethod, graph: Graph, nodes: Array, parameters: Array, stream: Stream
    ) -> Iterator[None]:
        everyone, cls, mixing = range(graph.num_nodes), type(method), method.mixing(graph)
        for step in count():
            draws = [node_draw(method, graph, stream, step, i) for i in everyone]
            said = np.array([cls.send(nodes, i, draws[i], step, parameters) for i in everyone])
            for i, combined in enumerate(mixing @ said):
                cls.receive(nodes, i, said[i], combined, step, parameters)
            yield

    def draws(self, method: RoundMethod, graph: Graph, stream: Stream, steps: range) -> Array:
        if not method.noise:
            return super().draws(method, graph, stream, steps)
        out = np.empty(len(steps) * graph.num_nodes)
        first = steps.start * graph.num_nodes
        seed = np.uint64(stream.seed)
        unit_draws(out, first, stream.replica, stream.coordinate, seed, LAWS[method.noise])
        return out.reshape(len(steps), graph.num_nodes)


KIND = Round()
