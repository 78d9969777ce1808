"""What is recorded at a step: compiled, and called by the drivers between two steps.

A sum over all nodes costs as much as the steps of a few of them, so where records are close together a driver of pairs
carries the sums from step to step (:func:`exchanged`, :func:`moved`): the terms of the two nodes that act are taken out
and put in again. A term is rounded in the same way when it comes and when it goes, so that nothing is left of those
that have gone; only the sum rounds, and what it loses is kept in a second number. Before a fall of the error could
bring that forth, all is summed again. Of a sum over all nodes nothing is lost, either: so both round to the same
number, and what is recorded does not depend on how a run is cut into pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from ..methods.base import VALUE, Array, Method
from .atomics import call_at
from .compiling import compiled, specialised

__all__ = [
    "BLOCK",
    "LOOK",
    "NUM_CARRIED",
    "Sheet",
    "as_they_are",
    "exchanged",
    "good_enough",
    "keep",
    "look_at_all",
    "look_at_one",
    "moved",
    "note",
    "note_all",
    "outstanding_field",
    "settled",
    "shown_by",
    "summed",
    "summed_block",
    "summed_blocks",
    "term",
    "two_sum",
    "worth_carrying",
]

CARRYING = 16
"""Carrying the sums over a step costs as much as summing so many nodes."""
FALL = 1e6
"""All is summed again once the error has fallen by this factor …"""
LONGEST = 10**7
"""… or after so many steps."""
BLOCK = 2**14
"""Nodes that are summed by one thread at a time."""
PIECE = 64
"""Nodes whose masses are added plainly."""
NUM_CARRIED = 7
"""Numbers in :attr:`Sheet.carried`: error and what rounding lost of it, mass when all was summed and what came to it
since, largest error and step since then, and 1 if they are carried on."""

u64: Any = np.uint64  # indices without a sign need no check
types: Any = numba.types  # has no types of its own
carray: Any = numba.carray  # type: ignore[attr-defined]
LOOK = types.float64(types.CPointer(types.float64), types.intp, types.intp, types.CPointer(types.int64))
"""The signature of a statistic as a C function: see :func:`look_at_one`."""

settle = Method.settle  # a method's own takes its place in `settle_all`


class Sheet(NamedTuple):
    """Where a driver records, and what it needs for it."""

    steps: npt.NDArray[np.int64]
    """``(rows + 1,)`` the steps to record at, ascending, and the first one after them."""
    squared: Array
    """``(rows, replicas, coordinates)`` for Σ (x − c̄)²."""
    masses: Array
    """``(rows, replicas, coordinates)`` for the sum of ``mass_field`` less that of ``outstanding``."""
    carried: Array
    """``(replicas, coordinates, NUM_CARRIED)`` the sums where the last call ended."""
    means: Array
    """``(coordinates,)`` c̄."""
    mass_field: int
    outstanding: int
    """The field of the outstanding noise, or −1."""
    places: npt.NDArray[np.int64]
    """``(rows, 2)`` the row of ``values`` and that of ``statistics`` to be filled there, −1 for none; or no rows."""
    values: Array
    """``(kept rows, replicas, coordinates, n)``"""
    statistics: Array
    """``(kept rows, replicas, coordinates)``"""
    statistic: int
    """The address of the user's statistic, or 0."""
    failed: npt.NDArray[np.int64]
    """``(1,)`` not 0 once the statistic has failed."""


@register_jitable
def two_sum(a: Any, b: Any) -> Any:
    """a + b and what rounding lost of it, exactly (Knuth)."""
    raised = a + b
    part = raised - a
    return raised, (a - (raised - part)) + (b - part)


@register_jitable
def term(nodes: Any, i: Any, mean: Any, mass_field: Any, outstanding: Any) -> Any:
    """What node i adds to the error and to the mass."""
    off = nodes[i, VALUE] - mean
    held = nodes[i, mass_field]
    if outstanding >= 0:
        held -= nodes[i, outstanding]
    return off * off, held


@register_jitable
def _joined(total: Any, lost: Any, more: Any, more_lost: Any) -> Any:
    """Two sums and what rounding lost of them, together."""
    total, lost_now = two_sum(total, more)
    return total, (lost + more_lost) + lost_now


@register_jitable
def summed_block(nodes: Any, block: Any, mean: Any, mass_field: Any, outstanding: Any) -> Any:
    """Error and mass over the nodes of one block, each with what rounding lost of it.

    Of the error nothing is lost. The mass is exact to some ulps of its largest part: pieces are added plainly.
    """
    error, lost, mass, mass_lost = 0.0, 0.0, 0.0, 0.0
    end = min((block + 1) * BLOCK, nodes.shape[0])
    for first in range(block * BLOCK, end, PIECE):
        held = 0.0
        for i in range(first, min(first + PIECE, end)):
            square, more = term(nodes, u64(i), mean, mass_field, outstanding)
            error, lost = _joined(error, lost, square, 0.0)
            held += more
        mass, mass_lost = _joined(mass, mass_lost, held, 0.0)
    return error, lost, mass, mass_lost


@register_jitable
def summed(nodes: Any, mean: Any, mass_field: Any, outstanding: Any) -> Any:
    """Error and mass over all nodes, each with what rounding lost of it: block by block."""
    total, lost, mass, mass_lost = summed_block(nodes, 0, mean, mass_field, outstanding)
    for block in range(1, -(-nodes.shape[0] // BLOCK)):
        more, more_lost, held, held_lost = summed_block(nodes, block, mean, mass_field, outstanding)
        total, lost = _joined(total, lost, more, more_lost)
        mass, mass_lost = _joined(mass, mass_lost, held, held_lost)
    return total, lost, mass, mass_lost


@register_jitable
def summed_blocks(sums: Any) -> Any:
    """The same from ``(blocks, 4)`` sums that others made."""
    total, lost, mass, mass_lost = sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3]
    for block in range(1, sums.shape[0]):
        total, lost = _joined(total, lost, sums[block, 0], sums[block, 1])
        mass, mass_lost = _joined(mass, mass_lost, sums[block, 2], sums[block, 3])
    return total, lost, mass, mass_lost


@register_jitable
def exchanged(total: Any, lost: Any, out_i: Any, out_j: Any, in_i: Any, in_j: Any) -> Any:
    """A sum without two terms and with two others."""
    gone, lost_1 = two_sum(out_i, out_j)
    come, lost_2 = two_sum(in_i, in_j)
    total, lost_3 = two_sum(total, -gone)
    total, lost_4 = two_sum(total, come)
    return total, lost + ((lost_2 - lost_1) + (lost_3 + lost_4))


@register_jitable
def moved(lost: Any, gone_i: Any, gone_j: Any, come_i: Any, come_j: Any) -> Any:
    """What rounding lost of a mass, and all that changed since it was summed: two terms have taken the place of others.

    Most methods keep the mass, so that changes are of the size of rounding and need no sum of their own.
    """
    gone, lost_1 = two_sum(gone_i, gone_j)
    come, lost_2 = two_sum(come_i, come_j)
    return lost + ((come - gone) + (lost_2 - lost_1))


@register_jitable
def keep(sheet: Any, row: Any, r: Any, c: Any, nodes: Any) -> None:
    """Keep the values, and the user's statistic of a copy of the nodes, if they are asked for at this row."""
    if len(sheet.places) == 0:
        return
    place = sheet.places[row, 0]
    if place >= 0:
        values = sheet.values[place, r, c]
        for i in range(len(values)):
            values[i] = nodes[i, VALUE]
    place = sheet.places[row, 1]
    if place >= 0:
        sheet.statistics[place, r, c] = call_at(sheet.statistic, nodes.copy(), sheet.failed)


@register_jitable
def note(sheet: Any, row: Any, r: Any, c: Any, nodes: Any) -> None:
    """Fill a row by summing over all nodes, and keep what is asked for."""
    keep(sheet, row, r, c, nodes)
    total, lost, mass, mass_lost = summed(nodes, sheet.means[c], sheet.mass_field, sheet.outstanding)
    sheet.squared[row, r, c] = total + lost
    sheet.masses[row, r, c] = mass + mass_lost


def first_value(nodes: Any) -> Any:
    """Takes the place of a statistic in the template."""
    return nodes[0, VALUE]


statistic = first_value  # a user's own takes its place in `look_at_one`


def look_at_one(data: Any, rows: Any, columns: Any, failed: Any) -> Any:
    """The statistic of one table, as a C function."""
    try:
        return float(statistic(carray(data, (rows, columns))))
    except Exception:  # nobody would see that of a C function
        carray(failed, 1)[0] = 1
        return np.nan


@compiled
def look_at_all(tables: Any, replicas: Any, num_nodes: Any, out: Any, address: Any, failed: Any) -> None:
    """The statistic of every coordinate of some replicas; it gets a copy, and so cannot change the run."""
    for k in range(len(replicas)):
        for c in range(tables.shape[1]):
            out[k, c] = call_at(address, tables[replicas[k], c, :num_nodes].copy(), failed)


@compiled
def note_all(tables: Any, active: Any, sheet: Any) -> None:
    """Fill the first row of each active replica."""
    for r in active:
        for c in range(tables.shape[1]):
            note(sheet, 0, r, c, tables[r, c])


@register_jitable
def good_enough(total: Any, largest: Any, steps: Any) -> Any:
    """Whether a carried sum is still exact: not if it fell too far from its largest, nor after too many steps."""
    return total * FALL >= largest and steps <= LONGEST


@register_jitable
def worth_carrying(steps: Any, num_nodes: Any) -> Any:
    """Whether carrying the sums over so many steps is cheaper than summing again after them."""
    return steps < -(-num_nodes // CARRYING)  # after the last record so many follow that their multiple overflows


def outstanding_field(method: Method) -> int:
    """The field of a method's outstanding noise, or −1."""
    return -1 if method.outstanding_field is None else method.outstanding_field


def as_they_are(nodes: Any, step: Any, parameters: Any) -> Any:  # noqa: ARG001
    """The rows of a method that is not lazy."""
    return nodes


def shown_by(method: Method) -> Callable[..., Any]:
    """The function of (nodes, step, parameters) that gives the rows to read: for a lazy method a copy, caught up."""
    if not method.lazy:
        return as_they_are
    settle = type(method).settle

    def caught_up(nodes: Any, step: Any, parameters: Any) -> Any:
        nodes = nodes.copy()
        settle(nodes, step, parameters)
        return nodes

    return caught_up


def settle_all(tables: Any, active: Any, steps: Any, parameters: Any) -> None:
    """Bring every node of each active replica up to the replica's step."""
    for r in active:
        for c in range(tables.shape[1]):
            settle(tables[r, c], steps[r], parameters)


def settled(
    method: Method, tables: Array, steps_done: npt.NDArray[np.int64], parameters: Array, active: npt.NDArray[np.int64]
) -> Array:
    """The node tables of a lazy method with every node up to its replica's step: a copy."""
    tables = tables.copy()
    kernel = specialised(settle_all, settle=type(method).settle)
    with kernel.first_call(f"{method.name} (settling)"):
        kernel.run(tables, active, steps_done.copy(), parameters)  # a read-only array would have another type
    return tables
