"""Push methods on a network that changes: what a lost message carried is lost.

A node sends to one of its present neighbours or to itself, and does not learn whether it arrived. What it sends to
itself is no message. A node that is down does not send, and what is sent to it is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...methods.base import Array, PushMethod
from ..compiling import Kernel, specialised
from ..kinds import parts_of
from ..kinds.push import push_target, push_targets
from ..random.streams import Stream
from ..recording import as_they_are
from .fates import arrives, arrives_at
from .noting import note_counted
from .timetable import Period

__all__ = ["check", "driver", "plain_step"]

push, collect, shown = PushMethod.push, PushMethod.collect, as_they_are  # a method's own take their place in `drive`


def check(method: PushMethod, period: Period) -> None:
    """Every push method can be run: a lost message is one whose target is as it was."""


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
    able: Any,
    counted: Any,
    loss: Any,
) -> None:
    """Make the rounds; see :func:`sottovoce.simulation.kinds.push.drive`."""
    n = tables.shape[2]
    targets = np.empty(n, dtype=np.int64)
    before = np.empty(tables.shape[3])
    for r in active:
        for c in range(first_coordinate, last_coordinate):
            nodes, row = tables[r, c], 0
            for step in range(first, last):
                push_targets(targets, step, r, seed, indptr, neighbours)
                for i in range(n):
                    target = targets[i]
                    if not able[i]:
                        continue
                    if target == i or (able[target] and arrives_at(step * n + i, r, seed, loss)):
                        push(nodes, i, target)
                        continue
                    for field in range(len(before)):
                        before[field] = nodes[target, field]
                    push(nodes, i, target)
                    for field in range(len(before)):
                        nodes[target, field] = before[field]
                for i in range(n):
                    if able[i]:
                        collect(nodes, i)
                if sheet.steps[row] == step + 1:
                    note_counted(sheet, row, r, c, shown(nodes, sheet.steps[row], parameters), counted)
                    row += 1


def driver(method: PushMethod, period: Period) -> tuple[Kernel, tuple[Any, ...]]:
    """The driver for one period, and its last arguments."""
    graph = period.live_graph
    kernel = specialised(drive, **parts_of(method))
    return kernel, (graph.indptr, graph.neighbours, period.able, period.counted, period.loss)


def plain_step(method: PushMethod, period: Period, nodes: Array, parameters: Array, stream: Stream, step: int) -> None:
    """One round by the interpreter."""
    del parameters  # a push method has none
    graph = period.live_graph
    working = np.flatnonzero(period.able).tolist()
    for i in working:
        target = push_target(graph, stream, step, i)
        before = nodes[target].copy()
        type(method).push(nodes, i, target)
        lost = not (period.able[target] and arrives(stream, step * graph.num_nodes + i, period.loss))
        if target != i and lost:
            nodes[target] = before
    for i in working:
        type(method).collect(nodes, i)
