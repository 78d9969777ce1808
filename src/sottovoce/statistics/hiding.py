"""Which groups a report leaves out: those that are too small, and others from which these would follow.

Totals are taken to be known, whether or not a study asks for them. So what is left out of a line of a table must
together be as large as the smallest group, and must be more than one group. What one table leaves out must not follow
from a finer one. Small groups that follow from several totals only together are found by solving for them, in tables of
at most ``MOST_AXES`` columns that hide at most ``SOLVED`` groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from .exact import Whole

__all__ = ["MOST_AXES", "SOLVED", "Counts", "few_told", "hidden_in", "withheld"]

Hidden = npt.NDArray[np.bool_]
Line = tuple[int | slice, ...]

MOST_AXES = 6
"""Columns of a table up to which all its totals are looked at together."""
SOLVED = 600
"""Hidden groups of a table up to which they are; the time grows with the third power."""
TURNS = 20
"""Orders in which the smallest of them are tried."""
PRIME = 2**31 - 1
"""Equations are solved modulo it: the same at all parties, on whatever machine."""


@dataclass(frozen=True)
class Counts:
    """A table of counts that is shown, but for what is hidden.

    Parameters
    ----------
    columns
        What its axes are.
    table
        Rows of each group, an axis for each column.
    within
        Columns of a coarser table: where that hides a group, this one hides all parts of it.
    shown
        Whether anybody asks for it; if not, all its groups are hidden, and must not follow from other tables.
    """

    columns: tuple[str, ...]
    table: Whole
    within: tuple[str, ...] | None = None
    shown: bool = True

    def small(self, smallest: int) -> Hidden:
        """Which groups are hidden to begin with."""
        return ((self.table > 0) & (self.table < smallest)) | (not self.shown)


def withheld(counts: Sequence[int], smallest: int, shape: Sequence[int] = ()) -> list[bool]:
    """Which of these groups are not shown: those of 1 to ``smallest`` − 1 rows, and what would give them away.

    In a table of several columns (``shape``: words of each), and in a list, the total of each line may be known. So
    where groups of a line are withheld, the smallest of the others go with them until they are two at least, with as
    many rows as ``smallest`` together. Groups without rows are shown as empty, unless others would follow from that.

    Examples
    --------
    >>> withheld([10, 2, 30, 0], 5)
    [True, True, False, False]
    >>> withheld([10, 2, 3, 0], 5)
    [False, True, True, False]
    >>> withheld([10, 1, 1, 30], 5)
    [True, True, True, False]
    >>> withheld([10, 2, 30, 20, 40, 50], 5, (2, 3))
    [True, True, False, True, True, False]
    >>> withheld([2, 10, 0, 20, 0, 30], 5, (2, 3))
    [True, True, True, True, True, True]
    """
    table = np.array(counts, dtype=np.int64).reshape(tuple(shape) or len(counts))
    columns = tuple(str(axis) for axis in range(table.ndim))
    (hidden,) = hidden_in([Counts(columns, table)], smallest)
    return [bool(each) for each in hidden.ravel()]


def hidden_in(tables: Sequence[Counts], smallest: int, gone: Sequence[Hidden] = ()) -> list[Hidden]:
    """The same for several tables of the same rows, of which each may tell about the others.

    A group that a table hides must not follow from a finer one that has all its parts: one of them at least is hidden.
    What is ``gone``, a table for each, is hidden for another reason.

    Examples
    --------
    The first table hides 10 of a kind together with 2; the second must not show both parts of these 10.

    >>> kinds, both = np.array([2, 10, 20]), np.array([[1, 5, 11], [1, 5, 9]])
    >>> one, other = hidden_in([Counts(("kind",), kinds), Counts(("place", "kind"), both)], 5)
    >>> one.tolist(), other.tolist()
    ([True, True, False], [[True, True, False], [True, True, False]])
    """
    asked, tables = len(tables), [*tables, *_margins(tables)]
    beforehand = [*gone, *(np.zeros(each.table.shape, dtype=bool) for each in tables[len(gone) :])]
    found = [each.small(smallest) | also for each, also in zip(tables, beforehand, strict=True)]
    lines = [[line for axis in range(each.ndim) for line in _lines(each.shape, axis)] for each in found]
    coarser = [
        [k for k, one in enumerate(tables) if one is not each and set(one.columns) <= set(each.columns)]
        for each in tables
    ]
    while True:
        before = sum(int(hidden.sum()) for hidden in found)
        for each, hidden, those in zip(tables, found, lines, strict=True):
            for line in those:
                _complete(each.table[line], hidden[line], smallest)
        for each, hidden, those_coarser in zip(tables, found, coarser, strict=True):
            for k in those_coarser:
                _hide_parts(tables[k], found[k], each, hidden)
        if before == sum(int(hidden.sum()) for hidden in found):
            told = [
                _solve(each, hidden, [(tables[k], found[k]) for k in those_coarser], smallest)
                for each, hidden, those_coarser in zip(tables, found, coarser, strict=True)
            ]
            if not any(told):
                return found[:asked]


def _margins(tables: Sequence[Counts]) -> list[Counts]:
    """The totals of all tables that are not among them."""
    known = {frozenset(each.columns) for each in tables}
    margins = {}
    for each in (one for one in tables if one.shown):
        axes = range(each.table.ndim if each.table.ndim <= MOST_AXES else 0)
        for kept in (kept for size in axes for kept in combinations(axes, size)):
            columns = tuple(each.columns[axis] for axis in kept)
            dropped = tuple(axis for axis in axes if axis not in kept)
            if frozenset(columns) not in known:
                margins[frozenset(columns)] = Counts(columns, np.array(each.table.sum(axis=dropped)))
    return list(margins.values())


def _hide_parts(coarse: Counts, gone: Hidden, fine: Counts, found: Hidden) -> None:
    """See that what a coarser table hides has hidden parts."""
    for place in np.argwhere(gone):
        part = _part(coarse.columns, place.tolist(), fine.columns)
        rows, hidden = fine.table[part], found[part]
        if fine.within is not None and set(fine.within) == set(coarse.columns):
            hidden[...] = True
        elif not hidden.any():
            _hide_smallest(rows, hidden)


def _solve(fine: Counts, hidden: Hidden, coarser: Sequence[tuple[Counts, Hidden]], smallest: int) -> bool:
    """If all totals that are shown tell of a small group together, hide one group more; whether that was needed."""
    unknown = np.flatnonzero(hidden)
    if not 2 < len(unknown) <= SOLVED or fine.table.ndim > MOST_AXES:
        return False
    totals = [total for total in _totals(fine, coarser) if hidden.ravel()[total.parts].any()]
    places = np.zeros(fine.table.size, dtype=np.int64)
    places[unknown] = np.arange(len(unknown))
    equations = np.zeros((len(totals), len(unknown)), dtype=np.int64)
    for equation, total in zip(equations, totals, strict=True):
        equation[places[total.parts[hidden.ravel()[total.parts]]]] = 1
    few = few_told(equations, fine.table.ravel()[unknown], smallest)
    if few is None:
        return False
    near = [total for total, equation in zip(totals, equations, strict=True) if equation[few].any()]
    return _hide_near(fine.table, hidden, near) or _hide_total(near)


@dataclass(frozen=True)
class _Total:
    """A group that a coarser table shows."""

    parts: Whole
    """Of the finer table, by number; an empty group stands for each of its parts."""
    rows: int
    place: tuple[int, ...]
    hidden: Hidden


def _totals(fine: Counts, coarser: Sequence[tuple[Counts, Hidden]]) -> list[_Total]:
    """All groups that coarser tables show."""
    names = np.arange(fine.table.size).reshape(fine.table.shape)
    found: list[_Total] = []
    for coarse, gone in coarser:
        for place in map(tuple, np.argwhere(~gone).tolist()):
            parts = names[_part(coarse.columns, place, fine.columns)].ravel()
            rows = int(coarse.table[place])
            found += [_Total(each, rows, place, gone) for each in ([parts] if rows else parts[:, None])]
    return found


def _hide_near(table: Whole, hidden: Hidden, near: Sequence[_Total]) -> bool:
    """Hide the smallest group that is shown and in one of these parts; if there is none, any; whether there was one."""
    for parts in (*(total.parts for total in near), np.arange(table.size)):
        chosen = np.isin(np.arange(table.size), parts).reshape(table.shape)
        if _hide_smallest(np.where(chosen, table, 0), hidden):
            return True
    left = not hidden.all()
    hidden[...] = True
    return left


def _hide_total(near: Sequence[_Total]) -> bool:
    """Hide the smallest of these totals, but not that of all rows; whether there was one."""
    some = [total for total in near if total.place]
    if some:
        least = min(some, key=lambda total: total.rows or np.inf)
        least.hidden[least.place] = True
    return bool(some)


def few_told(equations: Whole, rows: Whole, smallest: int) -> Hidden | None:
    """Groups, fewer rows than ``smallest`` together, of which a multiple of each is known; ``None``: none were found.

    Parameters
    ----------
    equations
        ``(equations, groups)`` how often each group is in what is known.
    rows
        ``(groups,)`` of each.
    smallest
        The smallest group that may be shown.
    """
    order = np.argsort(-rows, kind="stable")  # large groups are solved for first: what is left is about small ones
    large = int((rows >= smallest).sum())
    left = _solved(equations[:, order])
    left = left[(left[:, :large] == 0).all(axis=1), large:]
    own = order[large:]
    for turn in range(min(len(own), TURNS) if len(left) else 0):  # another order finds others
        turned = np.roll(np.arange(len(own)), turn)
        for row in _solved(left[:, turned]):
            found = own[turned[row > 0]]
            if 0 < rows[found].sum() < smallest:
                return np.isin(np.arange(len(rows)), found)
    return None


def _solved(equations: Whole) -> Whole:
    """Equations solved for as many unknowns as they determine, each in terms of the others; modulo a prime."""
    left, done = equations % PRIME, 0
    for column in range(left.shape[1]):
        below = np.flatnonzero(left[done:, column])
        if not len(below):
            continue
        left[[done, done + below[0]]] = left[[done + below[0], done]]
        left[done] = left[done] * pow(int(left[done, column]), -1, PRIME) % PRIME
        others = np.flatnonzero(left[:, column])
        others = others[others != done]
        left[others] = (left[others] - left[others, column][:, None] * left[done]) % PRIME
        done += 1
        if done == len(left):
            break
    return left[:done]


def _lines(shape: Sequence[int], axis: int) -> list[Line]:
    """The lines of a table along one axis."""
    places = [[slice(None)] if k == axis else range(size) for k, size in enumerate(shape)]
    return list(product(*places))


def _part(columns: Sequence[str], places: Sequence[int], finer: Sequence[str]) -> tuple[Any, ...]:
    """Where the parts of a group are in a finer table."""
    known = dict(zip(columns, places, strict=True))
    return (*(known.get(column, slice(None)) for column in finer), ...)


def _complete(rows: Whole, hidden: Hidden, smallest: int) -> None:
    """Hide more of a line until what is hidden does not follow from its total and from the rule by which it is."""
    while hidden.any() and _follows(rows[hidden], rows[~hidden], smallest):
        if not _hide_smallest(rows, hidden) and (rows.sum() < smallest or not _hide_empty(rows, hidden)):
            return


def _follows(own: Whole, others: Whole, smallest: int) -> bool:
    """Whether the rows of hidden groups follow: from their total, or because all are as few or as many as can be.

    If one that is not small is hidden with them, it tells something that another as large is shown.
    """
    if len(own) == 1 or own.sum() < smallest or (own == 1).all() or (own == smallest - 1).all():
        return True
    small, most = own[own < smallest], own.max()
    no_fewer = most == smallest or (small == smallest - 1).all() or (len(small) > 1 and small.sum() >= smallest - 1)
    return bool(most >= smallest and most in others and no_fewer)


def _hide_smallest(rows: Whole, hidden: Hidden) -> bool:
    """Hide the smallest group with rows that is shown; whether there was one."""
    largest = np.iinfo(np.int64).max
    others = np.where(hidden | (rows == 0), largest, rows)
    place = np.unravel_index(int(others.argmin()), others.shape)
    if others[place] == largest:
        return False
    hidden[place] = True
    return True


def _hide_empty(rows: Whole, hidden: Hidden) -> bool:
    """Hide that one group has no rows: a line whose rows are all in one hidden group would give it away."""
    empty = np.flatnonzero((rows == 0) & ~hidden)
    hidden[empty[:1]] = True
    return len(empty) > 0
