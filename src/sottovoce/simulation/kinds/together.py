"""One run of pairs on several cores, with the bits of the sequential one.

Threads ("members") call the same kernel at the same time. A batch of consecutive steps is shared out between them, each
member a part without gaps. All first draw their steps and mark the two nodes of each. After they have met, a member
makes its steps in order, but those wait of which another member marked a node too, and those of which a node belongs to
one that waits already. What waits is made after the next meeting by the first member, in order, while the others draw
the next batch. A step that does not wait shares no node with the steps of others, nor with an earlier one that waits.
So it makes no difference that it is made before them, and the result is that of the sequential order.

A mark is the number of the batch, 15 bits, in a place of the member's own beside the node's numbers: in the cache line
that the step needs anyway, and written by nobody else. The sixteenth bit says that a step waits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from ...methods.base import PairMethod
from ..atomics import peek, poke, wait_for_all
from ..random.kernels import WINDOW, fill_edges, fill_normals, fill_words
from ..recording import BLOCK, summed_block, summed_blocks, worth_carrying
from .ends import stored_count, stored_ends

__all__ = ["LAST_TAG", "MARKS_A_WORD", "drive"]

u64 = np.uint64
MARKS_A_WORD = 4
LAST_TAG = 2**15 - 1
WAITS = np.uint16(2**15)
ONES, TAGS, TOPS = u64(0x0001000100010001), u64(0x7FFF7FFF7FFF7FFF), u64(0x8000800080008000)
LANE = u64(0xFFFF)

update, uses_noise = PairMethod.update, PairMethod.uses_noise  # a method's own take their place in `drive`
ends_of, count_of = stored_ends, stored_count  # likewise those of the graph


@register_jitable
def others(word: Any, tag: Any, own: Any) -> Any:
    """Not zero where one of four marks is this batch's; ``own`` has ones where the member's own is."""
    away = ((word & TAGS) ^ (tag * ONES)) | own  # a lane is zero where the mark is this batch's
    return ~(away + TAGS) & TOPS


@register_jitable
def clear(slots: Any, first: Any, last: Any, member: Any, size: Any) -> None:
    """Wipe the marks of a member's share of the nodes."""
    for node in range(slots.shape[0] * member // size, slots.shape[0] * (member + 1) // size):
        for slot in range(first, last):
            slots[node, slot] = 0


def drive(  # noqa: C901  (one loop)
    member: Any,
    size: Any,
    nodes: Any,
    marks: Any,
    slots: Any,
    columns: Any,
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

    ``nodes`` is ``(n, fields and more)``, ``marks`` and ``slots`` are the same memory as numbers of 64 and of 16 bits;
    ``columns`` says from where to where it is free. ``sheet`` is where to record, ``desk`` a
    :class:`~sottovoce.simulation.team.Desk`; all of them are common to all members.
    """
    words = np.empty((4, WINDOW), dtype=np.uint64)
    fired = np.empty(WINDOW, dtype=np.uint64)
    normals = np.zeros((2, WINDOW))
    touched = np.empty(WINDOW)
    num_blocks = -(-nodes.shape[0] // BLOCK)
    slot = columns[0] * MARKS_A_WORD + member
    low_mark, high_mark = columns
    column, lane = low_mark + member // MARKS_A_WORD, LANE << u64(16 * (member % MARKS_A_WORD))
    tag = desk.tags[0]
    row, turn, start = 0, 0, first
    while start < last:
        count = min(batch, last - start, sheet.steps[row] - start)
        windows = -(-count // WINDOW)
        low, high = windows * member // size * WINDOW, min(count, windows * (member + 1) // size * WINDOW)
        ends, draws, waiting = desk.ends[turn], desk.draws[turn], desk.waiting[turn]
        tag += 1
        if tag > desk.tags[1]:
            clear(slots, low_mark * MARKS_A_WORD, high_mark * MARKS_A_WORD, member, size)
            tag = 1
            wait_for_all(desk.here, size)
        for begin in range(low, high, WINDOW):
            fill_words(words, start + begin, replica, 0, seed)
            fill_edges(words, fired, count_of(edges), accept, alias)
            here = min(WINDOW, high - begin)
            for k in range(here):
                ends[0, begin + k], ends[1, begin + k] = ends_of(edges, fired[k])
            for k in range(here):
                touched[k] = nodes[ends[0, begin + k], 0] + nodes[ends[1, begin + k], 0]
            if uses_noise:
                fill_normals(words, normals)
                for k in range(here):
                    draws[0, begin + k], draws[1, begin + k] = normals[0, k], normals[1, k]
            for k in range(here):
                poke(slots, (ends[0, begin + k], slot), tag)
                poke(slots, (ends[1, begin + k], slot), tag)
        wait_for_all(desk.here, size)
        num_waiting = 0
        own, wanted = np.uint16(tag), u64(tag)
        for k in range(low, high):
            i, j = ends[0, k], ends[1, k]
            word_i, word_j = peek(marks, (i, column)), peek(marks, (j, column))
            shared = others(word_i, wanted, lane & TAGS) | others(word_j, wanted, lane & TAGS)
            for further in range(low_mark, high_mark):
                if further != column:
                    shared |= others(peek(marks, (i, further)), wanted, u64(0))
                    shared |= others(peek(marks, (j, further)), wanted, u64(0))
            if shared | ((word_i | word_j) & lane & TOPS):
                poke(slots, (i, slot), own | WAITS)
                poke(slots, (j, slot), own | WAITS)
                waiting[low + num_waiting] = k
                num_waiting += 1
            else:
                update(nodes, i, j, draws[0, k], draws[1, k], start + k, parameters)
        desk.num_waiting[turn, member] = num_waiting
        wait_for_all(desk.here, size)
        if member == 0:
            for other in range(size):
                begin = windows * other // size * WINDOW
                for place in range(begin, begin + desk.num_waiting[turn, other]):
                    k = waiting[place]
                    update(nodes, ends[0, k], ends[1, k], draws[0, k], draws[1, k], start + k, parameters)
        start += count
        turn = 1 - turn
        if start == sheet.steps[row]:
            wait_for_all(desk.here, size)
            for block in range(member, num_blocks, size):
                desk.sums[block] = summed_block(nodes, block, sheet.means[0], sheet.mass_field, sheet.outstanding)
            wait_for_all(desk.here, size)
            if member == 0:
                total, short, mass, mass_short = summed_blocks(desk.sums)
                sheet.squared[row, replica, 0], sheet.masses[row, replica, 0] = total + short, mass + mass_short
                kept = sheet.carried[replica, 0]
                kept[0], kept[1], kept[2], kept[3], kept[4], kept[5] = total, short, mass, mass_short, total, start
                kept[6] = 1.0 if worth_carrying(sheet.steps[row + 1] - start, nodes.shape[0]) else 0.0
            row += 1
    if member == 0:  # all have read it before they met
        desk.tags[0] = tag
