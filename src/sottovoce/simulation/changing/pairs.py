"""Pairs on a network that changes: an edge fires, and its ends act as far as they are there and messages arrive.

The end that calls shows its number, the other answers with its own. If the call is lost, nothing happens. If the answer
is lost, the end that was called has acted and the caller has not: its row is as if it had never called. A method that
averages in place so loses or gains mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import Unsupported
from ...methods.base import Array, PairMethod
from ..compiling import Kernel, compiled, specialised
from ..kinds import parts_of
from ..kinds.pair import fired_edge
from ..random.kernels import WINDOW, fill_edges, fill_normals, fill_words
from ..random.streams import Stream, normals_of
from ..recording import as_they_are
from .fates import BOTH, DOMAIN, FIRST, NOTHING, SECOND, fate, fate_of
from .noting import note_counted
from .timetable import Period

__all__ = ["check", "driver", "fates_of", "plain_step"]

update, uses_noise, shown = PairMethod.update, PairMethod.uses_noise, as_they_are  # a method's own take their place


def check(method: PairMethod, period: Period) -> None:
    """Half an exchange is undone in the caller's row, so the update must not write anywhere else."""
    if not period.plain and not method.own_rows_only:
        raise Unsupported(f"{method.name} is not run where messages or nodes fail: an update reads more than two nodes")


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
    able: Any,
    counted: Any,
    loss: Any,
    first_calls: Any,
) -> None:
    """Make the steps; see :func:`sottovoce.simulation.kinds.pair.drive`. The last four are as in :class:`Period`."""
    words = np.empty((4, WINDOW), dtype=np.uint64)
    fates = np.empty((4, WINDOW), dtype=np.uint64)
    fired = np.empty(WINDOW, dtype=np.uint64)
    draws = np.zeros((2, WINDOW))
    before = np.empty(tables.shape[3])
    for r in active:
        for c in range(first_coordinate, last_coordinate):
            nodes, row = tables[r, c], 0
            for start in range(first, last, WINDOW):
                fill_words(words, start, r, 0, seed)
                fill_edges(words, fired, edges.shape[0], accept, alias)
                if uses_noise:
                    if c > 0:
                        fill_words(words, start, r, c, seed)
                    fill_normals(words, draws)
                if loss > 0.0:
                    fill_words(fates, start, r, DOMAIN, seed)
                for k in range(min(WINDOW, last - start)):
                    i, j = edges[fired[k], 0], edges[fired[k], 1]
                    if able[i] and able[j]:
                        act = BOTH
                        if loss > 0.0:
                            calls = first_calls[fired[k]] if len(first_calls) > 0 else 0.5
                            act = fate_of(fates[0, k], fates[1, k], fates[2, k], loss, calls)
                        if act != NOTHING:
                            undone = j if act == FIRST else i
                            if act != BOTH:
                                for field in range(len(before)):
                                    before[field] = nodes[undone, field]
                            update(nodes, i, j, draws[0, k], draws[1, k], start + k, parameters)
                            if act != BOTH:
                                for field in range(len(before)):
                                    nodes[undone, field] = before[field]
                    if sheet.steps[row] == start + k + 1:
                        note_counted(sheet, row, r, c, shown(nodes, sheet.steps[row], parameters), counted)
                        row += 1


def driver(method: PairMethod, period: Period) -> tuple[Kernel, tuple[Any, ...]]:
    """The driver for one period, and its last arguments."""
    kernel = specialised(drive, **parts_of(method), uses_noise=type(method).uses_noise)
    clocks = (period.graph.edges, period.aliases.accept, period.aliases.alias)
    return kernel, (*clocks, period.able, period.counted, period.loss, period.first_calls)


def plain_step(method: PairMethod, period: Period, nodes: Array, parameters: Array, stream: Stream, step: int) -> None:
    """One step by the interpreter."""
    edge = fired_edge(period.graph, stream, step, period.aliases)
    ends = period.graph.edges[edge].tolist()
    if not period.able[ends].all():
        return
    calls = float(period.first_calls[edge]) if len(period.first_calls) else 0.5
    act = fate(stream, step, period.loss, calls)
    after = nodes.copy()
    type(method).update(after, ends[0], ends[1], *normals_of(stream.words(step)), step, parameters)
    for end, node in zip((FIRST, SECOND), ends, strict=True):
        if act & end:
            nodes[node] = after[node]


@compiled
def fill_fates(out: Any, fired: Any, first: Any, replica: Any, seed: Any, edges: Any, able: Any, loss: Any,
               first_calls: Any) -> None:  # fmt: skip
    """Who acts at steps ``first, first + 1, …``, where these edges fire."""
    words = np.empty((4, WINDOW), dtype=np.uint64)
    for start in range(0, len(out), WINDOW):
        fill_words(words, first + start, replica, DOMAIN, seed)
        for k in range(min(WINDOW, len(out) - start)):
            edge = fired[start + k]
            calls = first_calls[edge] if len(first_calls) > 0 else 0.5
            out[start + k] = NOTHING
            if able[edges[edge, 0]] and able[edges[edge, 1]]:
                out[start + k] = fate_of(words[0, k], words[1, k], words[2, k], loss, calls)


def fates_of(period: Period, fired: npt.NDArray[np.int64], stream: Stream, first: int) -> npt.NDArray[np.int8]:
    """``(steps,)`` who acts: 0 nobody, 1 the first end of the edge alone, 2 the second alone, 3 both."""
    out = np.empty(len(fired), dtype=np.int8)
    how = (period.graph.edges, period.able, period.loss, period.first_calls)
    fill_fates(out, fired, first, stream.replica, np.uint64(stream.seed), *how)
    return out
