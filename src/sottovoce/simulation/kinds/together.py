"""One run of pairs on several cores, with the bits of the sequential one.

One thread makes all steps, in order. Which edge fires at a step, which nodes it joins and what noise is drawn depend on
nothing but the number of the step, and finding it out takes half of the time or more: others do that ahead of it. They
lay batches of coming steps on a desk, each in its turn. The numbers of the nodes stay in the cache of the one core that
changes them.

How much there is to find out and how much to do depends on method and network, so that the share of a batch that the
first thread draws by itself is found on the way: a little more if it has to wait for the others, a little less if
they wait for it. Threads talk through counters (:mod:`..atomics`), each of which one of them writes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from ...methods.base import Array, PairMethod
from ..atomics import look, pause, put
from ..random.kernels import WINDOW
from ..recording import BLOCK, summed_block, summed_blocks
from ..state import aligned
from .drawing import bring_nodes, draw_in_turn

__all__ = ["Desk", "draw_ahead", "make"]

BATCH = 16
"""Windows of a batch at most: enough for talking to cost little, few enough to share them out evenly."""
PLACES = 8
"""Batches on the desk, all of which fit a cache."""
EVERY = 2 * PLACES
"""Batches between two changes of the share: so many until a change has had its effect."""
APART = 16
"""Numbers from one counter to the next: two cache lines, wherever the first one begins."""
NEAR = 2**17
"""Numbers of nodes that need not be brought near: they are in the second cache of a core."""

update, uses_noise = PairMethod.update, PairMethod.uses_noise  # a method's own take their place in both kernels

u64: Any = np.uint64  # indices without a sign need no check


class Desk(NamedTuple):
    """What the threads have beside the nodes. The first number of a row of counters counts; no other thread writes to
    the same cache line.
    """

    ends: npt.NDArray[np.uint32]
    """``(PLACES, BATCH, WINDOW, 2)`` the nodes of the steps of a batch."""
    draws: Array
    """``(PLACES, BATCH, 2, WINDOW)`` their draws."""
    shares: npt.NDArray[np.int64]
    """``(PLACES,)`` windows of each batch that the first thread draws by itself."""
    made: npt.NDArray[np.int64]
    """``(1, APART)`` batches of which all steps are made."""
    drawn: npt.NDArray[np.int64]
    """``(helpers, APART)`` batches up to which each helper has drawn its own."""
    sums: Array
    """``(blocks, 4)`` of the nodes, where the error is recorded."""
    summed: npt.NDArray[np.int64]
    """``(helpers, APART)`` records for which each helper has summed its blocks."""

    @classmethod
    def empty(cls, num_nodes: int, num_helpers: int) -> Desk:
        """For a network of so many nodes. Windows begin on cache lines, so that no line has two writers."""
        draws = aligned((PLACES, BATCH, 2, WINDOW))
        draws[...] = 0.0
        return cls(
            aligned((PLACES, BATCH, WINDOW)).view(np.uint32).reshape(PLACES, BATCH, WINDOW, 2),
            draws,
            np.full(PLACES, BATCH // 4, dtype=np.int64),
            np.zeros((1, APART), dtype=np.int64),
            np.zeros((num_helpers, APART), dtype=np.int64),
            np.empty((-(-num_nodes // BLOCK), 4)),
            np.zeros((num_helpers, APART), dtype=np.int64),
        )

    def clear(self) -> None:
        """Before the first step of a call: nothing is drawn or made. The shares are kept."""
        for counters in (self.made, self.drawn, self.summed):
            counters[:] = 0


@register_jitable
def wait_for(counters: Any, which: Any, number: Any) -> None:
    """Until a counter is that far."""
    looks = 0
    while look(counters, (which, 0)) < number:
        looks = pause(looks)


@register_jitable
def size_of(start: Any, last: Any, due: Any) -> Any:
    """Steps of the batch that begins at ``start``: the last one before a record is shorter."""
    return min(BATCH * WINDOW, last - start, due - start)


@register_jitable
def is_drawn(desk: Any, turn: Any) -> Any:
    """Whether its helper has drawn its part of a batch."""
    return look(desk.drawn, (turn % desk.drawn.shape[0], 0)) > turn


@register_jitable
def share_out(desk: Any, turn: Any) -> None:
    """Batch ``turn`` is made: what the first thread will draw of the one that takes its place.

    A little more if the next batch is not drawn yet, a little less if all that have a place are. In between nobody
    waits, and changing the share as soon as helpers gain or lose ground would have it swing about what is right.
    """
    share = desk.shares[(turn - 1) % PLACES]
    if turn % EVERY == 0:
        if not is_drawn(desk, turn + 1):
            share = min(share + 1, BATCH)
        elif is_drawn(desk, turn + PLACES - 1):
            share = max(share - 1, 0)
    desk.shares[turn % PLACES] = share


@register_jitable
def next_ends(desk: Any, turn: Any) -> Any:
    """The nodes of the first window of the next batch; those of this one where it is not drawn yet."""
    return desk.ends[(turn + 1 if is_drawn(desk, turn + 1) else turn) % PLACES, 0]


@register_jitable
def sum_part(nodes: Any, sheet: Any, desk: Any, member: Any) -> None:
    """Sum the blocks of nodes of one of the threads."""
    for block in range(member, desk.sums.shape[0], desk.drawn.shape[0] + 1):
        desk.sums[block] = summed_block(nodes, block, sheet.means[0], sheet.mass_field, sheet.outstanding)


def make(
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
    """Make the steps of one replica of numbers, with the help of others. ``nodes`` is ``(n, fields)``; no record may be
    so near to the next that sums are carried.
    """
    words, fired = np.empty((4, WINDOW), dtype=np.uint64), np.empty((2, WINDOW), dtype=np.uint64)
    num_helpers, far = desk.drawn.shape[0], nodes.size > NEAR
    row, turn, start = 0, 0, first
    while start < last:
        ends, draws = desk.ends[turn % PLACES], desk.draws[turn % PLACES]
        size = size_of(start, last, sheet.steps[row])
        windows = -(-size // WINDOW)
        own = max(0, windows - desk.shares[turn % PLACES])
        draw_in_turn(ends, draws, fired, words, start, own, windows, replica, seed, edges, accept, alias, uses_noise)
        wait_for(desk.drawn, turn % num_helpers, turn + 1)
        for w in range(windows):
            coming = ends[w + 1] if w + 1 < windows else next_ends(desk, turn)
            for k in range(min(WINDOW, size - w * WINDOW)):
                if far:
                    bring_nodes(nodes, coming, k)
                i, j, step = u64(ends[w, k, 0]), u64(ends[w, k, 1]), start + w * WINDOW + k
                update(nodes, i, j, draws[w, 0, k], draws[w, 1, k], step, parameters)
        share_out(desk, turn)
        turn += 1
        put(desk.made, (0, 0), turn)
        start += size
        if start == sheet.steps[row]:
            sum_part(nodes, sheet, desk, num_helpers)
            for helper in range(num_helpers):
                wait_for(desk.summed, helper, row + 1)
            total, lost, mass, mass_lost = summed_blocks(desk.sums)
            sheet.squared[row, replica, 0], sheet.masses[row, replica, 0] = total + lost, mass + mass_lost
            row += 1


def draw_ahead(
    nodes: Any,
    first: Any,
    last: Any,
    replica: Any,
    seed: Any,
    sheet: Any,
    desk: Any,
    helper: Any,
    edges: Any,
    accept: Any,
    alias: Any,
) -> None:
    """What a helper does meanwhile: it draws the batches of its turns, and sums its part of the nodes at records."""
    words, fired = np.empty((4, WINDOW), dtype=np.uint64), np.empty((2, WINDOW), dtype=np.uint64)
    num_helpers = desk.drawn.shape[0]
    row, turn, start = 0, 0, first
    while start < last:
        size = size_of(start, last, sheet.steps[row])
        if turn % num_helpers == helper:
            wait_for(desk.made, 0, turn + 1 - PLACES)
            ends, draws = desk.ends[turn % PLACES], desk.draws[turn % PLACES]
            windows = -(-size // WINDOW) - desk.shares[turn % PLACES]
            draw_in_turn(ends, draws, fired, words, start, 0, windows, replica, seed, edges, accept, alias, uses_noise)
            put(desk.drawn, (helper, 0), turn + 1)
        turn += 1
        start += size
        if start == sheet.steps[row]:
            wait_for(desk.made, 0, turn)
            sum_part(nodes, sheet, desk, helper)
            row += 1
            put(desk.summed, (helper, 0), row)
