"""Methods that keep numbers for each neighbour, on a network that changes: who does not hear keeps what it heard last.

A node knows which neighbours are gone and drops what it kept for them; it does not know which are down, and does not
learn whether what it said was heard. The rows of the neighbours that a node has in a period stand first among its rows
(:class:`Rows`), so that a method speaks to them as if there were no others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import Unsupported
from ...methods.base import Array, NeighbourMethod
from ..compiling import Kernel, specialised
from ..kinds import parts_of
from ..kinds.neighbour import acting_node, acting_nodes, reversed_arcs, row_draws
from ..kinds.round import LAWS, NO_NOISE, unit_draws
from ..random.kernels import WINDOW
from ..random.streams import Stream
from ..recording import as_they_are
from .fates import arrives, arrives_at
from .noting import note_counted
from .timetable import Period

__all__ = ["Rows", "check", "driver", "plain_step", "rows_of"]

speak, hear, law = NeighbourMethod.speak, NeighbourMethod.hear, NO_NOISE  # a method's own take their place in `drive`
everyone, num_said, shown = True, 1, as_they_are  # likewise


def check(method: NeighbourMethod, period: Period) -> None:
    """Neighbours that come and go must mean something to the method."""
    if not period.live.all() and type(method).part is NeighbourMethod.part:
        raise Unsupported(f"{method.name} does not say what a node does when a neighbour leaves: none may be gone")


@dataclass(frozen=True, eq=False)
class Rows:
    """Where the rows of the present neighbours are, counted from the first row after those of the nodes."""

    first: npt.NDArray[np.int64]
    """``(n + 1,)`` as ``graph.indptr``."""
    last: npt.NDArray[np.int64]
    """``(n,)`` the end of the rows in use."""
    neighbours: npt.NDArray[np.int64]
    """``(2m,)`` whose row it is."""
    reverse: npt.NDArray[np.int64]
    """``(2m,)`` the row of the same edge at the other end."""
    place: npt.NDArray[np.int64]
    """``(2m,)`` the row of each entry of ``graph.neighbours``."""
    used: npt.NDArray[np.bool_]
    """``(2m,)`` whether that entry is a present neighbour."""


def rows_of(period: Period) -> Rows:
    """The rows in use come first at every node, in the order of the graph."""
    graph = period.graph
    used = period.live[graph.incident_edges]
    owners = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    order = np.lexsort((np.arange(len(used)), ~used, owners))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    last = graph.indptr[:-1] + np.bincount(owners[used], minlength=graph.num_nodes)
    there = graph.neighbours[order].astype(np.int64)
    return Rows(graph.indptr, last, there, place[reversed_arcs(graph)[order]], place, used)


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
    begins: Any,
    ends: Any,
    neighbours: Any,
    reverse: Any,
    able: Any,
    counted: Any,
    loss: Any,
) -> None:
    """Make the steps; see :func:`sottovoce.simulation.kinds.neighbour.drive`. A message is addressed by the row in
    which it is heard.
    """
    n, rows = len(begins) - 1, tables.shape[2]
    arcs = rows - n
    draws = np.zeros(rows)
    chosen = np.empty(WINDOW, dtype=np.int64)
    for r in active:
        for c in range(first_coordinate, last_coordinate):
            table, row = tables[r, c], 0
            for step in range(first, last):
                if everyone:
                    if law != NO_NOISE:
                        unit_draws(draws, step * rows, r, c, seed, law)
                    for i in range(n):
                        if able[i]:
                            speak(table, i, n + begins[i], n + ends[i], draws, step, parameters)
                    for i in range(n):
                        if able[i]:
                            for k in range(begins[i], ends[i]):
                                if able[neighbours[k]] and arrives_at(step * arcs + k, r, seed, loss):
                                    for part in range(num_said):
                                        table[n + k, num_said + part] = table[n + reverse[k], part]
                                    hear(table, i, n + k, step, parameters)
                else:
                    if (step - first) % WINDOW == 0:
                        acting_nodes(chosen, step, r, seed, n)
                    i = chosen[(step - first) % WINDOW]
                    if able[i]:
                        speak(table, i, n + begins[i], n + ends[i], draws, step, parameters)
                        for k in range(begins[i], ends[i]):
                            heard = reverse[k]
                            if able[neighbours[k]] and arrives_at(step * arcs + heard, r, seed, loss):
                                for part in range(num_said):
                                    table[n + heard, num_said + part] = table[n + k, part]
                                hear(table, neighbours[k], n + heard, step, parameters)
                if sheet.steps[row] == step + 1:
                    note_counted(sheet, row, r, c, shown(table[:n], sheet.steps[row], parameters), counted)
                    row += 1


def driver(method: NeighbourMethod, period: Period) -> tuple[Kernel, tuple[Any, ...]]:
    """The driver for one period, and its last arguments."""
    cls, rows = type(method), rows_of(period)
    kernel = specialised(drive, **parts_of(method), law=LAWS[cls.noise], everyone=cls.in_rounds, num_said=cls.num_said)
    where = (rows.first, rows.last, rows.neighbours, rows.reverse)
    return kernel, (*where, period.able, period.counted, period.loss)


def plain_step(
    method: NeighbourMethod, period: Period, nodes: Array, parameters: Array, stream: Stream, step: int
) -> None:
    """One step by the interpreter."""
    cls, graph, rows, said = type(method), period.graph, rows_of(period), method.num_said
    n, arcs = graph.num_nodes, 2 * graph.num_edges
    acting = list(range(n)) if cls.in_rounds else [acting_node(graph, stream, step)]
    acting = [i for i in acting if period.able[i]]
    draws = row_draws(method, graph, stream, step)
    for i in acting:
        cls.speak(nodes, i, n + int(rows.first[i]), n + int(rows.last[i]), draws, step, parameters)
    for i in np.flatnonzero(period.able).tolist():
        for k in range(int(rows.first[i]), int(rows.last[i])):
            if rows.neighbours[k] in acting and arrives(stream, step * arcs + k, period.loss):
                nodes[n + k, said : 2 * said] = nodes[n + rows.reverse[k], :said]
                cls.hear(nodes, i, n + k, step, parameters)
