"""Several cores on one run: helpers draw ahead of the thread that makes the steps.

Drawing a step (its random words, its normals, the ends of its edge in a large list) takes about as long as making it,
and depends on nothing but its number. So helpers draw stretches of coming steps and lay them on a shelf, from which
the driver of :mod:`.pair` takes them in order. All steps are made by that one thread, so that the bits are those of a
run on one core, whatever the method reads and whatever is recorded. If the next stretch is not there yet, the driver
draws as well; if the shelf is full, helpers sum the nodes where the driver records.

Threads talk through counters (:mod:`..atomics`). A stretch is claimed by counting; it may be laid on the shelf when
the one that was in its place has been used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from ...methods.base import Array, PairMethod
from ..atomics import count_one, look, pause, put
from ..random.kernels import WINDOW, fill_edges, fill_normals, fill_words
from ..recording import BLOCK, summed_block, summed_blocks
from .ends import count_of, ends_of

__all__ = ["MOST_HELPERS", "Shelf", "draw", "help_out", "summed_by_all", "take"]

PLACES = 16
"""Stretches that lie on the shelf."""
LENGTH = 16
"""Windows of a stretch: enough for counters to cost little, few enough for the shelf to stay in a cache."""
MOST_HELPERS = 3
"""More would have nothing to do: drawing takes less than three times as long as making the steps."""

uses_noise = PairMethod.uses_noise  # a method's own takes its place in `help_out`


class Shelf(NamedTuple):
    """What driver and helpers share beside the nodes. Counters are alone in their cache lines."""

    ends: npt.NDArray[np.uint32]
    """``(PLACES, LENGTH, 2, WINDOW)`` the nodes of each step."""
    draws: Array
    """The same of its draws."""
    ready: npt.NDArray[np.int64]
    """``(PLACES, 8)`` the stretch that lies in each place, counted from 1."""
    claimed: npt.NDArray[np.int64]
    """Stretches that somebody draws or has drawn."""
    used: npt.NDArray[np.int64]
    """Stretches of which all steps have been made."""
    sums: Array
    """``(blocks, 4)`` of the nodes, where the error is recorded."""
    begun: npt.NDArray[np.int64]
    """Blocks that somebody sums or has summed; at the start none is to be."""
    summed: npt.NDArray[np.int64]
    """Blocks that have been summed."""

    @classmethod
    def empty(cls, num_nodes: int) -> Shelf:
        """For a network of so many nodes."""
        counters = np.zeros((4, 8), dtype=np.int64)
        return cls(
            np.zeros((PLACES, LENGTH, 2, WINDOW), dtype=np.uint32),
            np.zeros((PLACES, LENGTH, 2, WINDOW)),
            np.zeros((PLACES, 8), dtype=np.int64),
            counters[0],
            counters[1],
            np.zeros((-(-num_nodes // BLOCK), 4)),
            counters[2],
            counters[3],
        )

    def clear(self) -> None:
        """Before the first step of a call."""
        self.ready[:] = self.claimed[:] = self.used[:] = 0
        self.begun[:] = len(self.sums)


@register_jitable
def draw(ends: Any, draws: Any, room: Any, start: Any, replica: Any, coordinate: Any, seed: Any, source: Any) -> None:
    """Draw a window of steps: ``ends`` and ``draws`` are ``(2, WINDOW)``.

    ``room`` is for words and edges, ``source`` the edges with what makes them unequally likely, and whether there is
    noise.
    """
    words, fired = room
    edges, accept, alias, uses_noise = source
    fill_words(words, start, replica, 0, seed)
    fill_edges(words, fired, count_of(edges), accept, alias)
    if uses_noise:
        if coordinate > 0:
            fill_words(words, start, replica, coordinate, seed)
        fill_normals(words, draws)
    for k in range(WINDOW):
        ends[0, k], ends[1, k] = ends_of(edges, fired[k])


@register_jitable
def draw_stretch(shelf: Any, stretch: Any, room: Any, first: Any, replica: Any, seed: Any, source: Any) -> None:
    """Draw a stretch and lay it in its place."""
    place = stretch % PLACES
    for window in range(LENGTH):
        start = first + (stretch * LENGTH + window) * WINDOW
        draw(shelf.ends[place, window], shelf.draws[place, window], room, start, replica, 0, seed, source)
    put(shelf.ready, (place, 0), stretch + 1)


@register_jitable
def take(shelf: Any, start: Any, room: Any, first: Any, last: Any, replica: Any, seed: Any, source: Any) -> Any:
    """Ends and draws of the window that begins at step ``start``: of the next one, or of one that was taken last.

    So the stretch before may still be in use.
    """
    window = (start - first) // WINDOW
    stretch = window // LENGTH
    place = stretch % PLACES
    if window % LENGTH == 0:  # the first of a stretch
        put(shelf.used, 0, stretch - 1)
        num_stretches = -(-(last - first) // (LENGTH * WINDOW))
        most = min(num_stretches, stretch - 1 + PLACES - MOST_HELPERS)  # they may claim at the same time
        looks = 0
        while look(shelf.ready, (place, 0)) <= stretch:
            if look(shelf.claimed, 0) < most:
                draw_stretch(shelf, count_one(shelf.claimed), room, first, replica, seed, source)
            else:
                looks = pause(looks)
    return shelf.ends[place, window % LENGTH], shelf.draws[place, window % LENGTH]


@register_jitable
def sum_blocks(nodes: Any, mean: Any, mass_field: Any, outstanding: Any, shelf: Any) -> None:
    """Sum blocks of nodes as long as there are some that nobody has begun."""
    num_blocks = shelf.sums.shape[0]
    while look(shelf.begun, 0) < num_blocks:
        block = count_one(shelf.begun)
        if block < num_blocks:
            shelf.sums[block] = summed_block(nodes, block, mean, mass_field, outstanding)
            count_one(shelf.summed)


@register_jitable
def summed_by_all(nodes: Any, mean: Any, mass_field: Any, outstanding: Any, shelf: Any) -> Any:
    """What :func:`~sottovoce.simulation.recording.summed` gives, with the help of those who have nothing to draw."""
    put(shelf.summed, 0, 0)
    put(shelf.begun, 0, 0)
    sum_blocks(nodes, mean, mass_field, outstanding, shelf)
    looks = 0
    while look(shelf.summed, 0) < shelf.sums.shape[0]:
        looks = pause(looks)
    return summed_blocks(shelf.sums)


def help_out(
    nodes: Any,
    first: Any,
    last: Any,
    replica: Any,
    seed: Any,
    sheet: Any,
    edges: Any,
    accept: Any,
    alias: Any,
    shelf: Any,
) -> None:
    """Draw stretches of the steps of one replica until all are drawn, and sum blocks while there is no place."""
    room = np.empty((4, WINDOW), dtype=np.uint64), np.empty(WINDOW, dtype=np.uint64)
    source = edges, accept, alias, uses_noise
    num_stretches = -(-(last - first) // (LENGTH * WINDOW))
    stretch = count_one(shelf.claimed)
    while stretch < num_stretches:
        looks = 0
        while stretch >= look(shelf.used, 0) + PLACES:
            sum_blocks(nodes, sheet.means[0], sheet.mass_field, sheet.outstanding, shelf)
            looks = pause(looks)
        draw_stretch(shelf, stretch, room, first, replica, seed, source)
        stretch = count_one(shelf.claimed)
