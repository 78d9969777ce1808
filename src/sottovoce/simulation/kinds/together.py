"""One run of pairs on several cores, with the bits of the sequential one.

Threads ("members") call the same kernel at the same time. A batch of consecutive steps is shared out between them, each
member a part without gaps, the first member the earliest steps. All draw their steps and mark the nodes of them in a
table of their own. After they have met, a member makes its steps in order; but a step waits if a member before it
marked one of its nodes, or if it shares a node with a step of its own that waits. Members make what waits one after
the other. So of any two steps that share a node the earlier one is made first, and the result is that of the
sequential order. The first member never waits: it begins the next batch while the others finish this one.

Marks are bits, and a table is small enough for the cache of a core: nodes with the same last bits of their number have
one mark between them. That makes a few more steps wait than must, and changes nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from ...methods.base import VALUE, PairMethod
from ..atomics import arrive, wait_for, wait_for_all
from ..random.kernels import WINDOW, fill_edges, fill_normals, fill_words
from ..recording import summed_block, summed_blocks, worth_carrying
from .ends import stored_count, stored_ends

__all__ = ["drive"]

u64 = np.uint64
ONE, SIX, LOW_SIX = u64(1), u64(6), u64(63)

update, uses_noise = PairMethod.update, PairMethod.uses_noise  # a method's own take their place in `drive`
ends_of, count_of = stored_ends, stored_count  # likewise those of the graph


@register_jitable
def mark(table: Any, node: Any) -> None:
    """Mark a node."""
    place = node & u64(64 * len(table) - 1)
    table[place >> SIX] |= ONE << (place & LOW_SIX)


@register_jitable
def marked(table: Any, node: Any) -> Any:
    """1 if the node is marked, or one that shares its mark, and 0 otherwise."""
    place = node & u64(64 * len(table) - 1)
    return (table[place >> SIX] >> (place & LOW_SIX)) & ONE


@register_jitable
def join(tables: Any, member: Any, size: Any) -> None:
    """Add to each table the marks of those before it: a member's share of the words."""
    words = tables.shape[1]
    for later in range(1, size - 1):
        for word in range(words * member // size, words * (member + 1) // size):
            tables[later, word] |= tables[later - 1, word]


@register_jitable
def note_together(nodes: Any, sheet: Any, row: Any, replica: Any, desk: Any, member: Any, size: Any) -> None:
    """Fill a row: each member sums some of the blocks."""
    wait_for_all(desk.here, size)
    for block in range(member, desk.sums.shape[0], size):
        desk.sums[block] = summed_block(nodes, block, sheet.means[0], sheet.mass_field, sheet.outstanding)
    wait_for_all(desk.here, size)
    if member == 0:
        total, lost, mass, mass_lost = summed_blocks(desk.sums)
        sheet.squared[row, replica, 0], sheet.masses[row, replica, 0] = total + lost, mass + mass_lost
        kept, step, following = sheet.carried[replica, 0], sheet.steps[row], sheet.steps[row + 1]
        kept[0], kept[1], kept[2], kept[3], kept[4], kept[5] = total, lost, mass, mass_lost, total, step
        kept[6] = 1.0 if worth_carrying(following - step, nodes.shape[0]) else 0.0


def drive(  # noqa: C901  (one loop)
    member: Any,
    size: Any,
    nodes: Any,
    batch: Any,
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
    """Make the steps of one replica of numbers: what ``member`` of ``size`` has to do of it.

    ``nodes`` is ``(n, fields)``, ``sheet`` is where to record, ``desk`` a :class:`~sottovoce.simulation.team.Desk`; all
    of them are common to all members.
    """
    words = np.empty((4, WINDOW), dtype=np.uint64)
    fired = np.empty(WINDOW, dtype=np.uint64)
    normals = np.zeros((2, WINDOW))
    touched = np.empty(WINDOW)
    share = (batch // WINDOW // size + 1) * WINDOW
    ends = np.empty((2, share), dtype=np.uint64)
    draws = np.zeros((2, share))
    waiting = np.empty(share, dtype=np.int64)
    row, turn, start, done = 0, 0, first, 0
    while start < last:
        count = min(batch, last - start, sheet.steps[row] - start)
        windows = -(-count // WINDOW)
        low, high = windows * member // size * WINDOW, min(count, windows * (member + 1) // size * WINDOW)
        own, before = desk.marks[turn, member], desk.marks[turn, member - 1]
        base = start + low
        own[:] = u64(0)
        for begin in range(0, high - low, WINDOW):
            fill_words(words, base + begin, replica, 0, seed)
            fill_edges(words, fired, count_of(edges), accept, alias)
            for k in range(WINDOW):
                ends[0, begin + k], ends[1, begin + k] = ends_of(edges, fired[k])
            if uses_noise:
                fill_normals(words, normals)
                for k in range(WINDOW):
                    draws[0, begin + k], draws[1, begin + k] = normals[0, k], normals[1, k]
            if member < size - 1:
                for k in range(WINDOW):
                    mark(own, ends[0, begin + k])
                    mark(own, ends[1, begin + k])
        if size > 2:
            wait_for_all(desk.here, size)
            join(desk.marks[turn], member, size)
        wait_for_all(desk.here, size)
        num_waiting = 0
        for begin in range(0, high - low, WINDOW):
            end = min(begin + WINDOW, high - low)
            for k in range(begin, end):
                touched[k - begin] = nodes[ends[0, k], VALUE] + nodes[ends[1, k], VALUE]
            if member == 0:
                for k in range(begin, end):
                    update(nodes, ends[0, k], ends[1, k], draws[0, k], draws[1, k], base + k, parameters)
            else:
                for k in range(begin, end):
                    i, j = ends[0, k], ends[1, k]
                    if marked(before, i) | marked(before, j):
                        mark(before, i)
                        mark(before, j)
                        waiting[num_waiting] = k
                        num_waiting += 1
                    else:
                        update(nodes, i, j, draws[0, k], draws[1, k], base + k, parameters)
        wait_for(desk.done, done + member)
        for place in range(num_waiting):
            k = waiting[place]
            update(nodes, ends[0, k], ends[1, k], draws[0, k], draws[1, k], base + k, parameters)
        arrive(desk.done)
        done += size
        start += count
        turn = 1 - turn
        if start == sheet.steps[row]:
            note_together(nodes, sheet, row, replica, desk, member, size)
            row += 1
