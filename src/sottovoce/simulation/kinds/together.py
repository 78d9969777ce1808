"""One run of pairs on two cores, with the bits of the sequential one.

A batch of consecutive steps is shared out: the first thread makes the earlier half, the second the later one, at the
same time. Both draw their steps before they make them, and the first marks the nodes of its steps. A step of the second
waits if the first marked one of its nodes, or if it shares a node with an earlier step that waits; what waits is made
in order when the first has made its half. So of two steps that share a node the earlier one is made first, and the
result is that of the sequential order. The first never waits for steps of the same batch, and draws those of the next
while the second finishes.

Marks are bits in a table that fits the cache of a core: nodes with the same last bits of their number have one mark
between them. That makes a few more steps wait than must, and changes nothing else. There are two tables, for batches
of even and of odd number. Threads talk through counters (:mod:`..atomics`), each of which one of them writes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from ...methods.base import Array, PairMethod
from ..atomics import look, pause, prefetch, put
from ..random.kernels import WINDOW
from ..recording import BLOCK, summed_block, summed_blocks
from .drawing import draw, find_ends
from .ends import STORED

__all__ = ["Desk", "make_first", "make_second"]

BATCH = 128
"""Windows of a batch at most: enough for meeting to cost little, few enough for what was drawn to stay in a cache."""
MOST = 68
"""Windows of the first thread, which has more of them: it has nothing to look up."""
FETCHED = 2
"""Windows after the one whose steps are being made of which the nodes are fetched."""
WORDS = 2**12
"""Words of a table of marks, 64 in each: at most one in 32 is set."""

update, uses_noise = PairMethod.update, PairMethod.uses_noise  # a method's own take their place in both kernels

u64: Any = np.uint64  # indices without a sign need no check
ONE, SIX, LOW_SIX, PLACES = u64(1), u64(6), u64(63), u64(64 * WORDS - 1)


class Desk(NamedTuple):
    """What the threads have beside the nodes; the first axis of what is drawn is the thread."""

    words: npt.NDArray[np.uint64]
    """``(2, 4, WINDOW)``"""
    fired: npt.NDArray[np.uint64]
    """``(2, 2, WINDOW)`` the edges of two windows."""
    ends: npt.NDArray[np.uint32]
    """``(2, MOST, 2, WINDOW)`` the nodes of the steps of a batch."""
    draws: Array
    """The same of their draws."""
    waiting: npt.NDArray[np.int64]
    """``(MOST · WINDOW,)`` steps of the second thread that wait."""
    marks: npt.NDArray[np.uint64]
    """``(2, WORDS)``"""
    sums: Array
    """``(blocks, 4)`` of the nodes, where the error is recorded."""
    counters: npt.NDArray[np.int64]
    """``(5, 8)``, each alone in its cache line; see below."""

    @classmethod
    def empty(cls, num_nodes: int) -> Desk:
        """For a network of so many nodes."""
        return cls(
            np.empty((2, 4, WINDOW), dtype=np.uint64),
            np.empty((2, 2, WINDOW), dtype=np.uint64),
            np.empty((2, MOST, 2, WINDOW), dtype=np.uint32),
            np.zeros((2, MOST, 2, WINDOW)),
            np.zeros(MOST * WINDOW, dtype=np.int64),
            np.zeros((2, WORDS), dtype=np.uint64),
            np.empty((-(-num_nodes // BLOCK), 4)),
            np.zeros((5, 8), dtype=np.int64),
        )


MARKED, MADE_FIRST, MADE_SECOND = 0, 1, 2
"""Counters: batches whose marks are set, and batches of which each thread has made its steps."""
SUMMED_FIRST, SUMMED_SECOND = 3, 4
"""Records for which each thread has summed its blocks."""


@register_jitable
def wait_for(desk: Any, counter: Any, number: Any) -> None:
    """Until a counter is that far."""
    looks = 0
    while look(desk.counters, (counter, 0)) < number:
        looks = pause(looks)


@register_jitable
def mark(table: Any, node: Any) -> None:
    """Mark a node."""
    place = node & PLACES
    table[place >> SIX] |= ONE << (place & LOW_SIX)


@register_jitable
def marked(table: Any, node: Any) -> Any:
    """Odd if the node is marked, or one that shares its mark."""
    place = node & PLACES
    return table[place >> SIX] >> (place & LOW_SIX)


@register_jitable
def shares(start: Any, last: Any, due: Any) -> Any:
    """Steps of the batch that begins at ``start``: of the first thread, and of the second."""
    count = min(BATCH * WINDOW, last - start, due - start)
    first = min(count, -(-count * MOST // (BATCH * WINDOW)) * WINDOW)
    return first, count - first


@register_jitable
def sum_half(nodes: Any, sheet: Any, desk: Any, member: Any) -> None:
    """Sum every other block of nodes."""
    for block in range(member, desk.sums.shape[0], 2):
        desk.sums[block] = summed_block(nodes, block, sheet.means[0], sheet.mass_field, sheet.outstanding)


@register_jitable
def fetch(array: Any, places: Any) -> None:
    """Bring the rows of an array in these places to the cache."""
    for k in range(WINDOW):
        prefetch(array, (u64(places[k]), 0))


def make_first(
    nodes: Any,
    first: Any,
    last: Any,
    replica: Any,
    seed: Any,
    parameters: Any,
    sheet: Any,
    desk: Any,
    edges: Any,
    accept: Any,
    alias: Any,
) -> None:
    """What the first thread does of the steps of one replica of numbers. ``nodes`` is ``(n, fields)``; no record may be
    so near to the next that sums are carried.
    """
    words, fired, ends, draws = desk.words[0], desk.fired[0], desk.ends[0], desk.draws[0]
    row, turn, start = 0, 0, first
    while start < last:
        own, others = shares(start, last, sheet.steps[row])
        table, windows = desk.marks[turn % 2], -(-own // WINDOW)
        table[:] = u64(0)
        for w in range(windows + 1):
            if w < windows:
                begin, drawn = start + w * WINDOW, fired[w % 2]
                draw(drawn, draws[w], words, begin, replica, 0, seed, edges, accept, alias, uses_noise)
                if edges.ndim == STORED:
                    fetch(edges, drawn)
            if w > 0:
                find_ends(ends[w - 1], fired[(w - 1) % 2], edges)
                for k in range(WINDOW):  # if the last window is not full, a few marks too many
                    mark(table, u64(ends[w - 1, 0, k]))
                    mark(table, u64(ends[w - 1, 1, k]))
        put(desk.counters, (MARKED, 0), turn + 1)
        wait_for(desk, MADE_SECOND, turn)
        for w in range(windows):
            if w + FETCHED < windows:
                fetch(nodes, ends[w + FETCHED, 0])
                fetch(nodes, ends[w + FETCHED, 1])
            for k in range(min(WINDOW, own - w * WINDOW)):
                i, j, step = u64(ends[w, 0, k]), u64(ends[w, 1, k]), start + w * WINDOW + k
                update(nodes, i, j, draws[w, 0, k], draws[w, 1, k], step, parameters)
        put(desk.counters, (MADE_FIRST, 0), turn + 1)
        turn += 1
        start += own + others
        if start == sheet.steps[row]:
            wait_for(desk, MADE_SECOND, turn)
            sum_half(nodes, sheet, desk, 0)
            put(desk.counters, (SUMMED_FIRST, 0), row + 1)
            wait_for(desk, SUMMED_SECOND, row + 1)
            total, lost, mass, mass_lost = summed_blocks(desk.sums)
            sheet.squared[row, replica, 0], sheet.masses[row, replica, 0] = total + lost, mass + mass_lost
            row += 1


def make_second(
    nodes: Any,
    first: Any,
    last: Any,
    replica: Any,
    seed: Any,
    parameters: Any,
    sheet: Any,
    desk: Any,
    edges: Any,
    accept: Any,
    alias: Any,
) -> None:
    """The same of the second thread."""
    words, fired, ends, draws = desk.words[1], desk.fired[1], desk.ends[1], desk.draws[1]
    waiting = desk.waiting
    row, turn, start = 0, 0, first
    while start < last:
        others, own = shares(start, last, sheet.steps[row])
        base, num_waiting, table = start + others, 0, desk.marks[turn % 2]
        windows = -(-own // WINDOW)
        for w in range(windows + 1):
            if w < windows:
                begin, drawn = base + w * WINDOW, fired[w % 2]
                draw(drawn, draws[w], words, begin, replica, 0, seed, edges, accept, alias, uses_noise)
                if edges.ndim == STORED:
                    fetch(edges, drawn)
            if w > 0:
                find_ends(ends[w - 1], fired[(w - 1) % 2], edges)
        wait_for(desk, MARKED, turn + 1)
        for w in range(windows):
            if w + FETCHED < windows:
                fetch(nodes, ends[w + FETCHED, 0])
                fetch(nodes, ends[w + FETCHED, 1])
            for k in range(min(WINDOW, own - w * WINDOW)):
                i, j, step = u64(ends[w, 0, k]), u64(ends[w, 1, k]), base + w * WINDOW + k
                if (marked(table, i) | marked(table, j)) & ONE:
                    mark(table, i)
                    mark(table, j)
                    waiting[num_waiting] = w * WINDOW + k
                    num_waiting += 1
                else:
                    update(nodes, i, j, draws[w, 0, k], draws[w, 1, k], step, parameters)
        wait_for(desk, MADE_FIRST, turn + 1)
        for place in range(num_waiting):
            w, k = waiting[place] // WINDOW, waiting[place] % WINDOW
            i, j, step = u64(ends[w, 0, k]), u64(ends[w, 1, k]), base + waiting[place]
            update(nodes, i, j, draws[w, 0, k], draws[w, 1, k], step, parameters)
        turn += 1
        put(desk.counters, (MADE_SECOND, 0), turn)
        start += others + own
        if start == sheet.steps[row]:
            sum_half(nodes, sheet, desk, 1)
            put(desk.counters, (SUMMED_SECOND, 0), row + 1)
            wait_for(desk, SUMMED_FIRST, row + 1)
            row += 1
