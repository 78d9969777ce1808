"""Whether histograms, quantiles and extremes of a column, and its sums, tell together how large a small group is.

They do not if other values give the same report, and have another number in the group. So such values are looked for,
for every group of neighbouring numbers, and of any four, until each small one has had two sizes. A report for which
they are not found is taken to tell. Of columns with few possible numbers all values are whole; of others they are real
numbers, and groups are what lies between edges that are shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations, pairwise, product

import numpy as np
import numpy.typing as npt

from .counting import Extremes, Histogram, Quantiles
from .exact import Whole
from .hiding import withheld
from .same_sums import Interval, Sums, added, counts_with, many, moved, scattered, shared, surely_possible

__all__ = ["Told", "few_follow"]

NARROW = 128
"""Possible numbers of a column up to which values are whole."""
SETS = 20_000
"""Groups of two, three or four numbers that are no neighbours, as many as are looked at."""
TRIES = 40
"""How many values are moved in or out of a group, near ones and others, one after the other, before it is given up."""
TURNS = 2
"""How often others are chosen to make up for it."""
LARGEST = 8
"""So many other cells make up for it first."""
MOST_EDGES = 2001
"""Edges up to which groups between them are looked at; memory grows with their square."""
WORK = 2_000_000
"""Slots of all values that are tried, up to which others are looked for: a minute at most."""

Mask = npt.NDArray[np.bool_]
Secret = tuple[int, Mask]
"""A cell in which a value is moved, and of every cell which slots are of the group."""


@dataclass(frozen=True)
class Told:
    """What is told of one column.

    Parameters
    ----------
    span
        Units from its lower to its upper bound.
    binned
        Histograms, quantiles and extremes that are shown, by the same columns.
    cells
        Of each cell how many rows it has; the values in each bin of each of them, none if nothing is shown of it; and
        between which numbers it is known to have none: from the first to below the second.
    total, squares
        Of all these cells together; ``squares``, or both, may be unknown.
    smallest
        The smallest group that may be shown.
    """

    span: int
    binned: tuple[Histogram, ...]
    cells: tuple[tuple[int, tuple[Sequence[int], ...], tuple[tuple[int, int], ...]], ...]
    total: int | None
    squares: int | None
    smallest: int

    @property
    def narrow(self) -> bool:
        """Whether values are taken to be whole."""
        return self.span < NARROW

    @property
    def all_equal(self) -> bool:
        """Whether the sums tell that all values are the same."""
        rows = sum(rows for rows, *_ in self.cells)
        return self.total is not None and self.squares is not None and self.squares * rows == self.total**2

    @cached_property
    def edges(self) -> Whole:
        """Where slots begin, and one past the last: every number, or the narrowest bins."""
        every = range(self.span + 2) if self.narrow else {0, self.span + 1}
        return np.array(sorted({*every, *(edge for each in self.binned for edge in each.edges)}), dtype=np.int64)

    def bins(self, statistic: Histogram) -> Whole:
        """The first slot of each of its bins, and one past the last."""
        return np.searchsorted(self.edges, statistic.edges)

    def shown(self, cell: int, slots: Whole) -> list[object]:
        """What is shown of a cell with these values."""
        below = np.concatenate([[0], np.cumsum(slots)])
        counts = [np.diff(below[self.bins(each)]).tolist() for each in self.binned if self.cells[cell][1]]
        return [each.shown(own, self.smallest) for each, own in zip(self.binned, counts, strict=False)]


class _Values:
    """Values of which a report tells, and how they may be moved without a change of it.

    Parameters
    ----------
    told
        What is told.
    """

    def __init__(self, told: Told) -> None:
        self.told = told
        self.slots = len(told.edges) - 1
        self.empty = np.array([self._within(without) for *_, without in told.cells])
        """Slots without values."""
        labels = [self._labels(sums, empty) for (_, sums, _), empty in zip(told.cells, self.empty, strict=True)]
        self.shown = np.array([fixed for fixed, *_ in labels])
        """Slots of which values may not leave for others: of each cell those with another label."""
        self.parts = np.array([parts for _, parts, _ in labels])
        """The same for values that should change nothing of quantiles either."""
        self.left_out = [self._bins_left_out(sums) for _, sums, _ in told.cells]
        """Of each cell, for each histogram that leaves some bins out, the bin of every slot."""
        self.edges = [np.arange(self.slots + 1) if told.narrow else edges for *_, edges in labels]
        """Of each cell, between which edges of slots groups are looked at: all, or those that are shown."""
        self.shares: Sequence[Sums] | None = None
        """Sums that the values of each cell may have, taken to be no whole numbers."""
        self.work = 0
        """Slots of all values that were tried."""
        self.first = self._first()
        self.reports = [] if self.first is None else [told.shown(k, own) for k, own in enumerate(self.first)]

    def _within(self, parts: Sequence[tuple[int, int]]) -> Mask:
        """The slots between these numbers."""
        starts = self.told.edges[:-1, None]
        low, high = np.array([*parts, (0, 0)]).T
        found: Mask = np.any((low <= starts) & (starts < high), axis=1)
        return found

    def _labels(self, sums: Sequence[Sequence[int]], empty: Mask) -> tuple[Whole, Whole, Whole]:
        fixed = empty.astype(np.int64)
        cuts, edges = {0}, {0, self.slots}
        for statistic, own in zip(self.told.binned, sums, strict=False):
            bins = self.told.bins(statistic)
            if isinstance(statistic, Quantiles | Extremes):
                cuts |= {int(bins[place]) for place in statistic.cuts(own, self.told.smallest)}
                edges |= {
                    int(bins[place]) for block in statistic.blocks(own, self.told.smallest) for place in block or ()
                }
                continue
            edges |= set(bins.tolist())
            hidden = np.array(withheld(own, self.told.smallest))
            names = np.where(hidden, 0, np.arange(1, len(own) + 1))
            fixed = fixed * (len(own) + 1) + np.repeat(names, np.diff(bins))
            _, fixed = np.unique(fixed, return_inverse=True)
        above = np.isin(np.arange(self.slots), sorted(cuts)).cumsum()
        parts = np.unique(np.stack([fixed, above]), axis=1, return_inverse=True)[1].ravel()
        return fixed, parts, np.array(sorted(edges))

    def _bins_left_out(self, sums: Sequence[Sequence[int]]) -> list[Whole]:
        return [
            np.repeat(np.arange(each.bins), np.diff(self.told.bins(each)))
            for each, own in zip(self.told.binned, sums, strict=False)
            if not isinstance(each, Quantiles | Extremes) and any(withheld(own, self.told.smallest))
        ]

    def _first(self) -> Whole | None:
        """Values that fit all that parties know; ``None``: they were not found."""
        known = []
        for rows, sums, without in self.told.cells:
            low, high = _ends(self.told.span, without)
            below = {0: 0, low: 0, high: rows, self.told.span + 1: rows}
            for statistic, own in zip(self.told.binned, sums, strict=False):
                below |= zip(statistic.edges, np.concatenate([[0], np.cumsum(own)]).tolist(), strict=True)
            known.append([(low, high - 1, below[high] - below[low]) for low, high in pairwise(sorted(below))])
        if self.told.total is None:
            return np.array([self._anywhere(parts, cell) for cell, parts in enumerate(known)])
        self.shares = shared(known, self.told.total, self.told.squares)
        if not self.told.narrow:
            intervals = [each for parts in known for each in parts]
            possible = self.told.all_equal or many(intervals, squared=self.told.squares is not None)
            return np.array([self._in_slots(parts) for parts in known]) if possible else None
        each = [self._placed([parts], own) for parts, own in zip(known, self.shares or (), strict=False)]
        alone = [own for own in each if own is not None]
        everything = self.told.total, self.told.squares
        found = np.concatenate(alone) if len(alone) == len(known) else self._placed(known, everything)
        return None if found is None or found[self.empty].any() else found

    def _anywhere(self, parts: Sequence[Interval], cell: int) -> Whole:
        """Where no sum is known: all values of a part in the first slot that may have some."""
        free = self.told.edges[:-1][~self.empty[cell]]
        places = [(int(free[np.searchsorted(free, low)]), high, n) for low, high, n in parts if n]
        return self._in_slots(places)

    def _placed(self, parts: Sequence[Sequence[Interval]], sums: Sums) -> Whole | None:
        """So many values in these parts of cells, with the sums; of wide columns it is not found where in a part."""
        intervals = [each for own in parts for each in own]
        if not self.told.narrow:
            return np.array([self._in_slots(own) for own in parts]) if surely_possible(intervals, *sums) else None
        counts = counts_with(intervals, *sums)
        if counts is None:
            return None
        every = iter(counts)
        found = [[(place, place, n) for _ in own for place, n in next(every).items()] for own in parts]
        return np.array([self._in_slots(own) for own in found])

    def _in_slots(self, parts: Sequence[Interval]) -> Whole:
        """The number of values in each slot, all of a part in its first one."""
        found = np.zeros(self.slots, dtype=np.int64)
        for place, _, number in parts:
            found[np.searchsorted(self.told.edges, place, side="right") - 1] += number
        return found

    def other(self, before: Whole, secret: Secret) -> Whole | None:
        """Values that give the same report, and another number in a group; ``None``: they were not found."""
        cell = secret[0]
        moves, exchanged = self._moves(before[cell], secret), self._exchanged(before[cell], secret)
        for cells in self._together(cell):
            changed = chain(
                (self._within_parts(before, own, cells, secret) for own in exchanged),
                (found for move in moves for found in self._made_up(before, cells, secret, *move)),
            )
            for found in changed:
                self.work += self.slots * len(cells)
                if self.work > WORK:
                    return None
                if found is not None and self._same_report(before, found):
                    return found
        return None

    def _together(self, cell: int) -> Iterator[list[int]]:
        """Cells that make up for a change of one: itself, the largest with it, all."""
        number = 1 if self.told.total is None else len(self.told.cells)
        yield [cell]
        if number > 1:
            yield sorted({cell, *_largest(self.told, range(number))})
        if number > LARGEST:
            yield list(range(number))

    def _sums(self, values: Whole, cells: Sequence[int]) -> Sums | None:
        """Of the values of some cells."""
        if self.told.total is None:
            return None
        if len(cells) == len(values):
            return self.told.total, self.told.squares
        if self.told.narrow:
            own, places = values[cells].sum(axis=0), np.arange(self.slots)
            return int(own @ places), None if self.told.squares is None else int(own @ places**2)
        return None if self.shares is None else added([self.shares[cell] for cell in cells])

    def _exchanged(self, own: Whole, secret: Secret) -> list[Whole]:
        """The values of a cell if two bins that are left out, one of a group, have each other's number."""
        cell, group = secret[0], secret[1][secret[0]]
        found = []
        for bins in self.left_out[cell]:
            counts, starts = np.bincount(bins, own).astype(np.int64), np.searchsorted(bins, np.arange(bins[-1] + 1))
            inside = np.bincount(bins, group) / np.bincount(bins)
            for one, other in product(np.flatnonzero((inside == 1) & (counts > 0)), np.flatnonzero(inside == 0)):
                alike = self.shown[cell][starts[one]] == self.shown[cell][starts[other]]
                if alike and counts[other] and counts[one] != counts[other]:
                    swapped = np.where((bins == one) | (bins == other), 0, own)
                    swapped[starts[[one, other]]] = counts[[other, one]]
                    found.append(swapped)
        return found[:TRIES]

    def _made_up(
        self, before: Whole, cells: Sequence[int], secret: Secret, source: int, target: int
    ) -> Iterator[Whole | None]:
        """One value is moved, and others of some cells make up for it."""
        own = before[secret[0]].copy()
        own[source] -= 1
        own[target] += 1
        yield self._within_parts(before, own, cells, secret)
        if self.told.narrow and self.told.total is not None:
            yield from (self._in_turn(before, cells, secret, source, target, turn) for turn in range(TURNS))

    def _moves(self, own: Whole, secret: Secret) -> list[tuple[int, int]]:
        """From which slot to which other one value may be moved so that a group grows or shrinks: near and far ones."""
        cell, group = secret[0], secret[1][secret[0]]
        full = np.flatnonzero(own)
        sources, targets = np.nonzero([(group[one] != group) & self._fit(own, cell, int(one)) for one in full])
        order = np.argsort(np.abs(full[sources] - targets), kind="stable")
        chosen = [*order[:TRIES], *order[TRIES :: max(1, len(order) // TRIES)]]
        return [(int(full[sources[k]]), int(targets[k])) for k in chosen]

    def _fit(self, own: Whole, cell: int, place: int) -> Mask:
        """Where one value may be moved to: bins that are left out stay so, neither empty nor large."""
        smallest = self.told.smallest
        fit: Mask = self.shown[cell] == self.shown[cell][place]
        for bins in self.left_out[cell]:
            counts = np.bincount(bins, own)
            same = bins == bins[place]
            fit &= same | ~np.isin(counts, (0, smallest - 1))[bins] if counts[bins[place]] > 1 else same
        return fit

    def _within_parts(self, before: Whole, own: Whole, cells: Sequence[int], secret: Secret) -> Whole | None:
        """All values of some cells are placed anew: as many in each part, of the group and of what is not."""
        values, edges = before.copy(), self.told.edges
        values[secret[0]] = own
        if self.told.total is None:  # nothing has to be made up for
            return values
        sums = self._sums(before, cells)
        if sums is None:
            return None
        parts = []
        for cell in cells:
            ways = [self.parts[cell], *self.left_out[cell], secret[1][cell]]
            starts = np.flatnonzero([True, *np.any([way[1:] != way[:-1] for way in ways], axis=0)])
            numbers = np.add.reduceat(values[cell], starts).tolist()
            ends = pairwise([*edges[starts].tolist(), int(edges[-1])])
            parts.append([(low, high - 1, n) for (low, high), n in zip(ends, numbers, strict=True) if n])
        placed = self._placed(parts, sums)
        if placed is None:
            return None
        values[cells] = placed
        return values

    def _in_turn(
        self, before: Whole, cells: Sequence[int], secret: Secret, source: int, target: int, turn: int
    ) -> Whole | None:
        """One value is moved, and a few others make up for that: they stay in the group, or out of it."""
        found = before.copy()
        found[secret[0], source] -= 1
        kinds = [(cell, int(place)) for cell in cells for place in np.flatnonzero(found[cell])]
        chosen = scattered(kinds, [int(found[kind]) for kind in kinds], turn)
        rows = [(place, self._allowed(found[cell], cell, place, secret[1][cell])) for cell, place in chosen]
        squares = None if self.told.squares is None else source**2 - target**2
        places = moved(rows, source - target, squares)
        if places is None:
            return None
        found[secret[0], target] += 1
        for (cell, place), to in zip(chosen, places, strict=False):
            found[cell, place] -= 1
            found[cell, to] += 1
        return found

    def _allowed(self, own: Whole, cell: int, place: int, group: Mask) -> list[int]:
        """Where a value may be moved to without a change of what is shown, or of the group."""
        alike = (self.parts[cell] == self.parts[cell][place]) & (group == group[place])
        return [int(to) for to in np.flatnonzero(alike & self._fit(own, cell, place))]

    def _same_report(self, before: Whole, found: Whole) -> bool:
        changed = np.flatnonzero((before != found).any(axis=1))
        shown = all(self.told.shown(int(cell), found[cell]) == self.reports[cell] for cell in changed)
        return shown and not found[self.empty].any()


def few_follow(told: Told) -> bool:
    """Whether the size of a group smaller than the smallest follows, or no other values were found.

    That they were looked for too long, or that bins are too many, is taken to tell where sums are known.

    Examples
    --------
    Ten answers from 0 to 2, and their variance: how many of each there are follows from two sums.

    >>> few_follow(Told(2, (), ((10, (), ()),), total=12, squares=22, smallest=5))
    True

    From 0 to 4 it does not, and of a hundred in wide bounds neither.

    >>> few_follow(Told(4, (), ((10, (), ()),), total=20, squares=56, smallest=5))
    False
    >>> few_follow(Told(1000, (), ((100, (), ()),), total=50_000, squares=30_000_000, smallest=5))
    False
    """
    if len(told.edges) > MOST_EDGES:
        return told.total is not None
    values = _Values(told)
    every = list(range(len(told.cells)))
    some = [[cell] for cell in every] + [every] * (len(every) > 1)
    follows = values.first is None or any(_tells(values, values.first, cells) for cells in some)
    return follows and (values.work <= WORK or told.total is not None)


def _tells(values: _Values, first: Whole, cells: Sequence[int]) -> bool:
    """Whether a small group of one cell, or of all together, has the same number in all values that are found."""
    edges = np.array(sorted({int(edge) for cell in cells for edge in values.edges[cell]}))
    below, last = _below(first[cells])[edges], first
    left = [each[_small(_sizes(below, each), below[-1], values.told.smallest)] for each in _groups(below, values.told)]
    while any(map(len, left)):
        group = np.zeros((len(first), values.slots), dtype=bool)
        for low, high in next(each for each in left if len(each))[0]:
            group[cells, edges[low] : edges[high]] = True
        tried = (values.other(one, (cell, group)) for one in (first, last) for cell in _largest(values.told, cells))
        found = next((each for each in tried if each is not None), None)
        if found is None:
            return True
        now = _below(found[cells])[edges]
        left, last = [each[_sizes(now, each) == _sizes(below, each)] for each in left], found
    return False


def _largest(told: Told, cells: Sequence[int]) -> list[int]:
    return sorted(cells, key=lambda cell: -told.cells[cell][0])[:LARGEST]


def _below(cells: Whole) -> Whole:
    """How many values are below each slot, and all."""
    return np.concatenate([[0], np.cumsum(cells.sum(axis=0))])


def _groups(below: Whole, told: Told) -> Iterator[Whole]:
    """Where groups begin and end: all neighbours, and two to four that are apart; ``(groups, parts, 2)``."""
    yield np.stack(np.triu_indices(len(below), 1), axis=1)[:, None]
    few = np.flatnonzero(np.diff(below) < told.smallest)
    for size in (size for size in (2, 3, 4) if math.comb(len(few), size) <= SETS):
        yield few[_sets(len(few), size)][..., None] + np.arange(2)


@lru_cache(maxsize=64)
def _sets(number: int, size: int) -> Whole:
    return np.array(list(combinations(range(number), size)), dtype=np.int64).reshape(-1, size)


def _sizes(below: Whole, groups: Whole) -> Whole:
    """How many values are in each group."""
    numbers: Whole = (below[groups[..., 1]] - below[groups[..., 0]]).sum(axis=1)
    return numbers


def _small(sizes: Whole, rows: int, smallest: int) -> Mask:
    """Which groups are small, and not all that there is: how many rows a cell has is not told by its values."""
    return (sizes > 0) & (sizes < min(smallest, rows))


def _ends(span: int, without: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Between which numbers values are: from the first to below the second."""
    low, high = 0, span + 1
    for begin, end in sorted(without):
        low = end if begin <= low < end else low
    for begin, end in sorted(without, reverse=True):
        high = begin if begin < high <= end else high
    return low, high
