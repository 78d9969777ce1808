"""Pairs of vectors: an edge fires, and all coordinates of its two ends act, one beside the other in memory.

Coordinates are cut into slabs that stay in the cache for all steps of a call. A step takes the rows of its two nodes to
a small desk, a block of coordinates at a time, where the method's update runs over the coordinates; so it is the same
update as for numbers. On the desk the numbers of each field are side by side, as vector instructions take them; its
rows are counted without a sign, since one that might be negative costs them. What a method keeps the same for all
coordinates (:attr:`~sottovoce.methods.base.PairMethod.common_fields`) is stored once for each node.

The draws of all coordinates over a few steps are made together, without gaps, whatever their number is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import register_jitable

from ...methods.base import VALUE, PairMethod
from ..compiling import compiled
from ..random.kernels import WINDOW, fill_draws_at, fill_edges, fill_words
from ..recording import exchanged, good_enough, keep, moved, term, two_sum, worth_carrying
from .ends import count_of, ends_of

__all__ = ["acting", "drive", "note_rows"]

u64 = np.uint64
SLAB = 2**15
"""Numbers of a slab: as many coordinates of all nodes as a core keeps near, at most ``WIDEST``, at least ``BLOCK``."""
WIDEST, BLOCK = 1024, 128
"""Coordinates of a slab, and of the desk."""
LANES = 1024
"""Draws that are made together, about."""

uses_noise, num_fields = PairMethod.uses_noise, 1  # a method's own take their place in `drive`


def acting(update: Callable[..., None]) -> Callable[..., None]:
    """A method's update over a block of coordinates: a function by itself, so that the compiler sees a plain loop."""

    def act(desk: Any, draws_i: Any, draws_j: Any, step: Any, parameters: Any) -> None:
        for c in range(len(draws_i)):
            update(desk, u64(c), u64(BLOCK + c), draws_i[c], draws_j[c], step, parameters)

    return act


act = acting(PairMethod.update)  # likewise


@register_jitable
def fetch(desk: Any, half: Any, rows: Any, common: Any, node: Any, low: Any, width: Any) -> None:
    """Put a block of a node's coordinates on its half of the desk, which begins at ``half``."""
    own = rows.shape[1]
    for field in range(own):
        there = rows[node, field, low : low + width]
        for c in range(width):
            desk[u64(half + c), field] = there[c]
    for field in range(common.shape[1]):
        same = common[node, field]
        for c in range(width):
            desk[u64(half + c), own + field] = same


@register_jitable
def put_back(desk: Any, half: Any, rows: Any, node: Any, low: Any, width: Any) -> None:
    """Take a block of a node's coordinates from its half of the desk."""
    for field in range(rows.shape[1]):
        there = rows[node, field, low : low + width]
        for c in range(width):
            there[c] = desk[u64(half + c), field]


@register_jitable
def add_squares(total: Any, lost: Any, values: Any, means: Any) -> None:
    """Add (x − c̄)² of one node to the sum of each coordinate, and to what rounding lost of it."""
    for c in range(len(total)):
        off = values[c] - means[c]
        total[c], short = two_sum(total[c], off * off)
        lost[c] += short


@register_jitable
def add_mass(total: Any, lost: Any, held: Any, owed: Any) -> None:
    """The same for what a node holds, less what it owes."""
    for c in range(len(total)):
        total[c], short = two_sum(total[c], held[c] - owed[c])
        lost[c] += short


@register_jitable
def sum_slab(kept: Any, rows: Any, means: Any, low: Any, high: Any, mass_field: Any, outstanding: Any) -> None:
    """Error and mass of each coordinate over all nodes, each with what rounding lost of it."""
    kept[:4, low:high] = 0.0
    nothing = np.zeros(high - low)
    for node in range(rows.shape[0]):
        add_squares(kept[0, low:high], kept[1, low:high], rows[node, VALUE, low:high], means[low:high])
        owed = rows[node, outstanding, low:high] if outstanding >= 0 else nothing
        add_mass(kept[2, low:high], kept[3, low:high], rows[node, mass_field, low:high], owed)


@register_jitable
def table_of(rows: Any, common: Any, coordinate: Any) -> Any:
    """``(n, fields)`` the node table of one coordinate, as methods see it: a copy."""
    own = rows.shape[1]
    table = np.empty((rows.shape[0], own + common.shape[1]))
    table[:, :own] = rows[:, :, coordinate]
    table[:, own:] = common
    return table


@compiled
def note_rows(tables: Any, active: Any, sheet: Any) -> None:
    """Fill the first row of each active replica by summing over all nodes."""
    d = tables.shape[3]
    for r in active:
        kept = np.empty((4, d))
        sum_slab(kept, tables[r], sheet.means, 0, d, sheet.mass_field, sheet.outstanding)
        for c in range(d):
            sheet.squared[0, r, c], sheet.masses[0, r, c] = kept[0, c] + kept[1, c], kept[2, c] + kept[3, c]


def drive(  # noqa: C901  (one loop)
    tables: Any,
    commons: Any,
    after: Any,
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
    """Make the steps. ``tables`` is ``(replicas, nodes, own fields, coordinates)``; ``commons`` and ``after`` are
    ``(replicas, nodes, common fields)``: before the first step, and room for those after the last, which whoever has
    the first coordinate fills in. ``sheet.carried`` is ``(replicas, NUM_CARRIED, coordinates)``.
    """
    n, own = tables.shape[1], tables.shape[2]
    widest = max(BLOCK, min(WIDEST, SLAB // (n * own) // BLOCK * BLOCK))
    words = np.empty((4, WINDOW), dtype=np.uint64)
    fired = np.empty(WINDOW, dtype=np.uint64)
    ends = np.empty((2, WINDOW), dtype=np.uint64)
    desk = np.zeros((num_fields, 2 * BLOCK)).T  # each field's numbers side by side
    leaving = np.zeros((4, BLOCK))
    mass_field, outstanding = sheet.mass_field, sheet.outstanding
    for r in active:
        rows, kept = tables[r], sheet.carried[r]
        for low in range(first_coordinate, last_coordinate, widest):
            high = min(low + widest, last_coordinate)
            width = high - low
            group = max(1, min(WINDOW, LANES // width))
            lanes = -(-group * width // WINDOW) * WINDOW
            later, beside = np.empty(lanes, dtype=np.uint64), np.empty(lanes, dtype=np.uint64)
            drawn, draws = np.empty((2, lanes), dtype=np.uint64), np.zeros((2, lanes))
            for lane in range(lanes):
                later[lane], beside[lane] = lane // width, low + lane % width
            common = commons[r].copy()
            row, due, carrying = 0, sheet.steps[0], kept[6, low]
            for start in range(first, last, WINDOW):
                fill_words(words, start, r, 0, seed)
                fill_edges(words, fired, count_of(edges), accept, alias)
                size = min(WINDOW, last - start)
                for k in range(size):
                    ends[0, k], ends[1, k] = ends_of(edges, fired[k])
                for k in range(size):
                    place = k % group
                    if uses_noise and place == 0:
                        fill_draws_at(draws, drawn, start + k, later, beside, r, seed)
                    i, j = ends[0, k], ends[1, k]
                    for block in range(low, high, BLOCK):
                        here = min(BLOCK, high - block)
                        at = place * width + block - low
                        fetch(desk, 0, rows, common, i, block, here)
                        fetch(desk, BLOCK, rows, common, j, block, here)
                        if carrying != 0.0:
                            for c in range(here):
                                mean = sheet.means[block + c]
                                leaving[0, c], leaving[1, c] = term(desk, c, mean, mass_field, outstanding)
                                leaving[2, c], leaving[3, c] = term(desk, BLOCK + c, mean, mass_field, outstanding)
                        act(desk, draws[0, at : at + here], draws[1, at : at + here], start + k, parameters)
                        put_back(desk, 0, rows, i, block, here)
                        put_back(desk, BLOCK, rows, j, block, here)
                        if carrying != 0.0:
                            for c in range(here):
                                mean, b = sheet.means[block + c], block + c
                                in_i, come_i = term(desk, c, mean, mass_field, outstanding)
                                in_j, come_j = term(desk, BLOCK + c, mean, mass_field, outstanding)
                                kept[0, b], kept[1, b] = exchanged(
                                    kept[0, b], kept[1, b], leaving[0, c], leaving[2, c], in_i, in_j
                                )
                                kept[3, b] = moved(kept[3, b], leaving[1, c], leaving[3, c], come_i, come_j)
                                kept[4, b] = max(kept[4, b], kept[0, b])
                    for field in range(common.shape[1]):
                        common[i, field] = desk[0, own + field]
                        common[j, field] = desk[BLOCK, own + field]
                    if start + k + 1 < due:
                        continue
                    if carrying == 0.0:
                        sum_slab(kept, rows, sheet.means, low, high, mass_field, outstanding)
                    for c in range(low, high):
                        if carrying != 0.0 and not good_enough(kept[0, c], kept[4, c], due - kept[5, c]):
                            sum_slab(kept, rows, sheet.means, c, c + 1, mass_field, outstanding)
                            kept[4, c], kept[5, c] = kept[0, c], due
                        elif carrying == 0.0:
                            kept[4, c], kept[5, c] = kept[0, c], due
                        sheet.squared[row, r, c] = kept[0, c] + kept[1, c]
                        sheet.masses[row, r, c] = kept[2, c] + kept[3, c]
                        if len(sheet.places) > 0:
                            keep(sheet, row, r, c, table_of(rows, common, c))
                    carrying = 1.0 if worth_carrying(sheet.steps[row + 1] - due, n) else 0.0
                    row += 1
                    due = sheet.steps[row]
            for c in range(low, high):
                kept[6, c] = carrying
            if low == 0:
                after[r] = common
