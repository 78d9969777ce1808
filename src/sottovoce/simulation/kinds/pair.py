"""One edge fires per step and its two ends act.

The driver takes a window of steps at a time: first all random words, then all draws (both loops are branch-free and
vectorise), then the updates run in order. In larger networks it is two windows ahead with the draws: while the steps of
one are made, the nodes of the next and the edges of the one after are brought from memory. What comes before the
updates is done by other threads in :mod:`.together`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from ...graphs.circulant import Circulant
from ...graphs.graph import Graph
from ...methods.base import VALUE, Array, PairMethod
from ..compiling import Kernel, compiled, specialised
from ..random.aliases import AliasTable
from ..random.kernels import WINDOW, fill_edges, fill_normals, fill_words
from ..random.streams import Stream, edge_of, normals_of
from ..recording import (
    as_they_are,
    exchanged,
    good_enough,
    keep,
    moved,
    note,
    outstanding_field,
    summed,
    term,
    worth_carrying,
)
from . import Kind, parts_of
from .drawing import bring_ahead, draw, find_ends
from .ends import edges_of, ends_of
from .together import draw_ahead, make
from .vectors import acting
from .vectors import drive as drive_vectors

__all__ = ["KIND", "fired_edge"]

LEAST_COORDINATES, LEAST_NOISY = 16, 64
"""Shorter vectors are run one coordinate after the other: there is not enough to do side by side, and with noise most
of the time goes into the draws."""

update, uses_noise, lazy = PairMethod.update, PairMethod.uses_noise, PairMethod.lazy  # a method's own take
shown, mass_field, outstanding = as_they_are, VALUE, -1  # their place in `drive`

PLACES = 3
"""Windows in the making: that whose steps are made, the next one, and the one after."""
NEAR = 2**12
"""Numbers of nodes that need not be brought near: they are there already."""

u64: Any = np.uint64  # indices without a sign need no check


def drive(  # noqa: C901  (one loop)
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
    accept: Any,
    alias: Any,
) -> None:
    """Make the steps. ``tables`` is ``(replicas, coordinates, nodes, fields)``, ``edges`` is ``(m, 2)``; ``accept``
    and ``alias`` are ``(m,)`` for edges that are not equally likely and empty otherwise.

    Whole windows without a record are made in loops that look at nothing else. A record does not cut a window: it
    interrupts the updates. Up to ``drawn`` it is known which edges fire, up to ``found`` which nodes act.
    """
    words = np.empty((4, WINDOW), dtype=np.uint64)
    fired = np.zeros((PLACES, WINDOW), dtype=np.uint64)
    draws = np.zeros((PLACES, 2, WINDOW))
    ends = np.zeros((PLACES, WINDOW, 2), dtype=np.uint32)
    steps, keeping = sheet.steps, len(sheet.places) > 0
    for r in active:
        for c in range(first_coordinate, last_coordinate):
            nodes, mean, kept = tables[r, c], sheet.means[c], sheet.carried[r, c]
            total, lost, mass, mass_lost = kept[0], kept[1], kept[2], kept[3]
            largest, since, carrying = kept[4], kept[5], kept[6] != 0.0
            squared, masses = sheet.squared[:, r, c], sheet.masses[:, r, c]
            row, due, start, far = 0, steps[0], first, nodes.size > NEAR
            drawn, found, ahead = first, first, WINDOW if far else 0
            while start < last:
                free = 0 if carrying else max(0, min(last, due - 1) - start) // WINDOW  # windows without a record
                if free and not far:
                    edge, here = fired[0], draws[0]
                    for _ in range(free):
                        draw(edge, here, words, start, r, c, seed, edges, accept, alias, uses_noise)
                        for k in range(WINDOW):
                            i, j = ends_of(edges, edge[k])
                            update(nodes, i, j, here[0, k], here[1, k], start + k, parameters)
                        start += WINDOW
                    drawn = found = start
                    continue
                while drawn < min(last, start + 2 * ahead + 1):
                    w = (drawn - first) // WINDOW % PLACES
                    draw(fired[w], draws[w], words, drawn, r, c, seed, edges, accept, alias, uses_noise)
                    drawn += WINDOW
                while found < min(drawn, start + ahead + 1):
                    w = (found - first) // WINDOW % PLACES
                    find_ends(ends[w], fired[w], edges)
                    found += WINDOW
                w = (start - first) // WINDOW % PLACES
                here, pair, coming, later = draws[w], ends[w], ends[(w + 1) % PLACES], fired[(w + 2) % PLACES]
                if free:
                    for k in range(WINDOW):
                        bring_ahead(nodes, edges, coming, later, k)
                        i, j = u64(pair[k, 0]), u64(pair[k, 1])
                        update(nodes, i, j, here[0, k], here[1, k], start + k, parameters)
                    start += WINDOW
                    continue
                k, size = 0, min(WINDOW, last - start)
                while k < size:
                    if carrying:
                        if far:
                            bring_ahead(nodes, edges, coming, later, k)
                        i, j = u64(pair[k, 0]), u64(pair[k, 1])
                        out_i, gone_i = term(nodes, i, mean, mass_field, outstanding)
                        out_j, gone_j = term(nodes, j, mean, mass_field, outstanding)
                        update(nodes, i, j, here[0, k], here[1, k], start + k, parameters)
                        in_i, come_i = term(nodes, i, mean, mass_field, outstanding)
                        in_j, come_j = term(nodes, j, mean, mass_field, outstanding)
                        total, lost = exchanged(total, lost, out_i, out_j, in_i, in_j)
                        mass_lost = moved(mass_lost, gone_i, gone_j, come_i, come_j)
                        largest = max(largest, total)
                        k += 1
                    else:
                        until = min(size, due - start)
                        for q in range(k, until):
                            if far:
                                bring_ahead(nodes, edges, coming, later, q)
                            i, j = u64(pair[q, 0]), u64(pair[q, 1])
                            update(nodes, i, j, here[0, q], here[1, q], start + q, parameters)
                        k = until
                    if start + k < due:
                        continue
                    if lazy:  # every node changes in every step: nothing to carry
                        note(sheet, row, r, c, shown(nodes, due, parameters))
                    else:
                        going_on = worth_carrying(steps[row + 1] - due, nodes.shape[0])
                        if not (carrying and good_enough(total, largest, due - since)):
                            total, lost, mass, mass_lost = summed(nodes, mean, mass_field, outstanding)
                            largest, since = total, float(due)
                        squared[row], masses[row] = total + lost, mass + mass_lost
                        if keeping:
                            keep(sheet, row, r, c, nodes)
                        carrying = going_on
                    row += 1
                    due = steps[row]
                start += WINDOW
            kept[0], kept[1], kept[2], kept[3] = total, lost, mass, mass_lost
            kept[4], kept[5], kept[6] = largest, since, 1.0 if carrying else 0.0


def fired_edge(graph: Graph, stream: Stream, step: int, aliases: AliasTable | None = None) -> int:
    """The edge that fires at one step, by definition."""
    edge, rest = edge_of(stream.common_words(step), graph.num_edges)
    if aliases is not None and len(aliases.accept) and rest >= aliases.accept[edge]:
        return int(aliases.alias[edge])
    return edge


@compiled
def edge_indices(out: Any, first: Any, replica: Any, seed: Any, num_edges: Any, accept: Any, alias: Any) -> None:
    """The edges that fire at steps ``first, first + 1, …`` of one replica, as many as ``out`` holds."""
    words = np.empty((4, WINDOW), dtype=np.uint64)
    fired = np.empty(WINDOW, dtype=np.uint64)
    for start in range(0, len(out), WINDOW):
        fill_words(words, first + start, replica, 0, seed)
        fill_edges(words, fired, num_edges, accept, alias)
        for k in range(min(WINDOW, len(out) - start)):
            out[start + k] = fired[k]


@compiled
def normal_draws(out: Any, first: Any, replica: Any, domain: Any, seed: Any) -> None:
    """The two draws at steps ``first, first + 1, …``: ``out`` is ``(steps, 2)``."""
    words = np.empty((4, WINDOW), dtype=np.uint64)
    draws = np.empty((2, WINDOW))
    for start in range(0, len(out), WINDOW):
        fill_words(words, first + start, replica, domain, seed)
        fill_normals(words, draws)
        for k in range(min(WINDOW, len(out) - start)):
            out[start + k, 0] = draws[0, k]
            out[start + k, 1] = draws[1, k]


def _parts(method: PairMethod) -> dict[str, Any]:
    """What of a method takes its place in `drive`."""
    fields = {"mass_field": method.mass_field, "outstanding": outstanding_field(method)}
    return parts_of(method) | fields | {"uses_noise": type(method).uses_noise, "lazy": method.lazy}


class Pair(Kind):
    """One edge fires per step."""

    weighted = True
    notes_first = True

    def driver(self, method: PairMethod, graph: Graph, aliases: AliasTable) -> tuple[Kernel, tuple[Any, ...]]:
        kernel = specialised(drive, **_parts(method))
        return kernel, (edges_of(graph), aliases.accept, aliases.alias)

    def together(
        self, method: PairMethod, graph: Graph, aliases: AliasTable
    ) -> tuple[Kernel, Kernel, tuple[Any, ...]] | None:
        if method.lazy:
            return None
        uses_noise = type(method).uses_noise
        maker = specialised(make, update=type(method).update, uses_noise=uses_noise)
        return maker, specialised(draw_ahead, uses_noise=uses_noise), (edges_of(graph), aliases.accept, aliases.alias)

    def beside(self, method: PairMethod, num_coordinates: int) -> bool:
        least = LEAST_NOISY if method.uses_noise else LEAST_COORDINATES
        return method.own_rows_only and not method.lazy and num_coordinates >= least

    def vectors(self, method: PairMethod, graph: Graph, aliases: AliasTable) -> tuple[Kernel, tuple[Any, ...]]:
        parts = {"act": acting(type(method).update), "num_fields": method.num_fields}
        kernel = specialised(drive_vectors, **parts, uses_noise=type(method).uses_noise)
        return kernel, (edges_of(graph), aliases.accept, aliases.alias)

    def plain(
        self, method: PairMethod, graph: Graph, nodes: Array, parameters: Array, stream: Stream
    ) -> Iterator[None]:
        for step in count():
            i, j = graph.edges[fired_edge(graph, stream, step)].tolist()
            type(method).update(nodes, i, j, *normals_of(stream.words(step)), step, parameters)
            yield

    def work(self, method: PairMethod, graph: Graph) -> int:
        return 1

    def record_work(self, method: PairMethod, graph: Graph) -> int:
        return graph.num_nodes if method.lazy else 2

    def look_every(self, method: PairMethod, graph: Graph) -> int:
        return max(1, graph.num_nodes // 2) if method.lazy else 1

    def fired(
        self, method: PairMethod, graph: Graph, aliases: AliasTable, stream: Stream, steps: range
    ) -> npt.NDArray[np.int64]:
        out = np.empty(len(steps), dtype=np.int64)
        seed = np.uint64(stream.seed)
        edge_indices(out, steps.start, stream.replica, seed, graph.num_edges, aliases.accept, aliases.alias)
        return out

    def taking_part(self, graph: Graph | Circulant, fired: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return graph.ends(fired).reshape(-1) if isinstance(graph, Circulant) else super().taking_part(graph, fired)

    def draws(self, method: PairMethod, graph: Graph, stream: Stream, steps: range) -> Array:
        out = np.empty((len(steps), 2))
        normal_draws(out, steps.start, stream.replica, stream.coordinate, np.uint64(stream.seed))
        return out


KIND = Pair()
