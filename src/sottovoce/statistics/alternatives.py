"""Whether sums of a column tell, with its histograms, quantiles and extremes, how large a small group is.

They do not if other values give the same report, and have another number in the group. So such values are looked for,
for every group of neighbouring numbers, and of any four, until each small one has had two sizes. A report for which
they are not found is taken to tell. Of columns with few possible numbers all values are whole; of others they are real
numbers, and groups are what lies between edges that are shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from .counting import Extremes, Histogram, Quantiles
from .exact import Whole
from .hiding import withheld
from .same_sums import Interval, counts_with, many, moved, scattered, surely_possible

__all__ = ["Told", "few_follow"]

NARROW = 128
"""Possible numbers of a column up to which values are whole."""
SETS = 20_000
"""Groups of two, three or four numbers that are no neighbours, as many as are looked at."""
TRIES = 40
"""How many values are moved in or out of a group, near ones and others, one after the other, before it is given up."""
TURNS = 2
"""How often others are chosen to make up for it."""

Mask = npt.NDArray[np.bool_]
Secret = tuple[int, Mask]
"""A cell, and which of its slots."""


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
        Of each cell how many rows it has, and the values in each bin of each of them; none if nothing is shown of it.
    total, squares
        Of all these cells together; ``squares`` may be unknown.
    smallest
        The smallest group that may be shown.
    """

    span: int
    binned: tuple[Histogram, ...]
    cells: tuple[tuple[int, tuple[Sequence[int], ...]], ...]
    total: int
    squares: int | None
    smallest: int

    @property
    def narrow(self) -> bool:
        """Whether values are taken to be whole."""
        return self.span < NARROW

    @property
    def all_equal(self) -> bool:
        """Whether the sums tell that all values are the same."""
        return self.squares is not None and self.squares * sum(rows for rows, _ in self.cells) == self.total**2

    @cached_property
    def edges(self) -> Whole:
        """Where slots begin, and one past the last: every number, or the narrowest bins."""
        every = range(self.span + 2) if self.narrow else {0, self.span + 1}
        return np.array(sorted({*every, *(edge for each in self.binned for edge in each.edges)}), dtype=np.int64)

    def bins(self, statistic: Histogram) -> Whole:
        """The first slot of each of its bins, and one past the last."""
        return np.searchsorted(self.edges, statistic.edges)

    def decoded(self, cell: int, slots: Whole) -> list[object]:
        """What is shown of a cell with these values."""
        below = np.concatenate([[0], np.cumsum(slots)])
        counts = [np.diff(below[self.bins(each)]).tolist() for each in self.binned if self.cells[cell][1]]
        rows = self.cells[cell][0]
        return [each.decode(rows, own, self.smallest) for each, own in zip(self.binned, counts, strict=False)]


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
        labels = [self._labels(*cell) for cell in told.cells]
        self.shown = np.array([fixed for fixed, *_ in labels])
        """Slots of which values may not leave for others: of each cell those with another label."""
        self.parts = np.array([parts for _, parts, _ in labels])
        """The same for values that should change nothing of quantiles either."""
        self.left_out = [self._bins_left_out(sums) for _, sums in told.cells]
        """Of each cell, for each histogram that leaves some bins out, the bin of every slot."""
        self.edges = [np.arange(self.slots + 1) if told.narrow else edges for *_, edges in labels]
        """Of each cell, between which edges of slots groups are looked at: all, or those that are shown."""
        self.first = self._first()
        self.reports = [] if self.first is None else [told.decoded(k, own) for k, own in enumerate(self.first)]

    def _labels(self, rows: int, sums: Sequence[Sequence[int]]) -> tuple[Whole, Whole, Whole]:
        fixed = np.zeros(self.slots, dtype=np.int64)
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
        for cell, (rows, sums) in enumerate(self.told.cells):
            below = {0: 0, self.told.span + 1: rows}
            for statistic, own in zip(self.told.binned, sums, strict=False):
                below |= zip(statistic.edges, np.concatenate([[0], np.cumsum(own)]).tolist(), strict=True)
            known += [(cell, (low, high - 1, below[high] - below[low])) for low, high in pairwise(sorted(below))]
        if self.told.narrow:
            return self._placed(known)
        intervals = [interval for _, interval in known]
        return (
            self._in_slots(known)
            if self.told.all_equal or many(intervals, squared=self.told.squares is not None)
            else None
        )

    def _placed(self, parts: Sequence[tuple[int, Interval]]) -> Whole | None:
        """So many values in these parts of cells, with the sums; of wide columns it is not found where in a part."""
        intervals = [interval for _, interval in parts]
        if not self.told.narrow:
            return self._in_slots(parts) if surely_possible(intervals, self.told.total, self.told.squares) else None
        counts = counts_with(intervals, self.told.total, self.told.squares)
        if counts is None:
            return None
        every = zip(parts, counts, strict=True)
        return self._in_slots([(cell, (place, place, n)) for (cell, _), own in every for place, n in own.items()])

    def _in_slots(self, parts: Sequence[tuple[int, Interval]]) -> Whole:
        """The number of values in each slot, all of a part in its first one."""
        found = np.zeros((len(self.told.cells), self.slots), dtype=np.int64)
        for cell, (place, _, number) in parts:
            found[cell, np.searchsorted(self.told.edges, place, side="right") - 1] += number
        return found

    def other(self, before: Whole, secret: Secret) -> Whole | None:
        """Values that give the same report, and another number in a group; ``None``: they were not found."""
        for move in self._moves(before, secret):
            for found in self._made_up(before, secret, *move):
                if found is not None and self._same_report(before, found):
                    return found
        return None

    def _made_up(self, before: Whole, secret: Secret, source: int, target: int) -> Iterator[Whole | None]:
        yield self._within_parts(before, secret, source, target)
        if self.told.narrow:
            yield from (self._in_turn(before, secret, source, target, turn) for turn in range(TURNS))

    def _moves(self, before: Whole, secret: Secret) -> list[tuple[int, int]]:
        """From which slot to which other one value may be moved so that a group grows or shrinks: near and far ones."""
        cell, group = secret
        full = np.flatnonzero(before[cell])
        sources, targets = np.nonzero([(group[one] != group) & self._fit(before, cell, int(one)) for one in full])
        order = np.argsort(np.abs(full[sources] - targets), kind="stable")
        chosen = [*order[:TRIES], *order[TRIES :: max(1, len(order) // TRIES)]]
        return [(int(full[sources[k]]), int(targets[k])) for k in chosen]

    def _fit(self, before: Whole, cell: int, place: int) -> Mask:
        """Where one value may be moved to: bins that are left out stay so, neither empty nor large."""
        smallest = self.told.smallest
        fit: Mask = self.shown[cell] == self.shown[cell][place]
        for bins in self.left_out[cell]:
            counts = np.bincount(bins, before[cell])
            own = bins == bins[place]
            leaves = counts[bins[place]] > 1
            fit &= own | ~np.isin(counts, (0, smallest - 1))[bins] if leaves else own
        return fit

    def _within_parts(self, before: Whole, secret: Secret, source: int, target: int) -> Whole | None:
        """One value is moved, and all others are placed anew: as many in each part, of the group and of what is not."""
        values = before.copy()
        values[secret[0], source] -= 1
        values[secret[0], target] += 1
        edges = self.told.edges
        parts = []
        for cell, own in enumerate(values):
            ways = [self.parts[cell], *self.left_out[cell], *([secret[1]] if cell == secret[0] else [])]
            starts = np.flatnonzero([True, *np.any([way[1:] != way[:-1] for way in ways], axis=0)])
            numbers = np.add.reduceat(own, starts).tolist()
            ends = pairwise([*edges[starts].tolist(), int(edges[-1])])
            parts += [(cell, (low, high - 1, n)) for (low, high), n in zip(ends, numbers, strict=True) if n]
        return self._placed(parts)

    def _in_turn(self, before: Whole, secret: Secret, source: int, target: int, turn: int) -> Whole | None:
        """One value is moved, and a few others make up for that: they stay in the group, or out of it."""
        found = before.copy()
        found[secret[0], source] -= 1
        kinds = [(int(cell), int(place)) for cell, place in np.argwhere(found)]
        chosen = scattered(kinds, [int(found[kind]) for kind in kinds], turn)
        rows = [(place, self._allowed(found, cell, place, secret)) for cell, place in chosen]
        squares = None if self.told.squares is None else source**2 - target**2
        places = moved(rows, source - target, squares)
        if places is None:
            return None
        found[secret[0], target] += 1
        for (cell, place), to in zip(chosen, places, strict=False):
            found[cell, place] -= 1
            found[cell, to] += 1
        return found

    def _allowed(self, values: Whole, cell: int, place: int, secret: Secret) -> list[int]:
        """Where a value may be moved to without a change of what is shown, or of the group."""
        allowed = (self.parts[cell] == self.parts[cell][place]) & self._fit(values, cell, place)
        if cell == secret[0]:
            allowed &= secret[1] == secret[1][place]
        return [int(to) for to in np.flatnonzero(allowed)]

    def _same_report(self, before: Whole, found: Whole) -> bool:
        changed = np.flatnonzero((before != found).any(axis=1))
        return all(self.told.decoded(int(cell), found[cell]) == self.reports[cell] for cell in changed)


def few_follow(told: Told) -> bool:
    """Whether the size of a group smaller than the smallest follows, or no other values were found.

    Examples
    --------
    Ten answers from 0 to 2, and their variance: how many of each there are follows from two sums.

    >>> few_follow(Told(2, (), ((10, ()),), total=12, squares=22, smallest=5))
    True

    From 0 to 4 it does not, and of a hundred in wide bounds neither.

    >>> few_follow(Told(4, (), ((10, ()),), total=20, squares=56, smallest=5))
    False
    >>> few_follow(Told(1000, (), ((100, ()),), total=50_000, squares=30_000_000, smallest=5))
    False
    """
    values = _Values(told)
    if values.first is None:
        return True
    found = [values.first]
    while (secret := _constant(values, found)) is not None:
        other = next((each for one in (found[0], found[-1]) if (each := values.other(one, secret)) is not None), None)
        if other is None:
            return True
        found.append(other)
    return False


def _constant(values: _Values, found: Sequence[Whole]) -> Secret | None:
    """A group that is small in all of these values, and as large in each."""
    smallest = values.told.smallest
    for cell, edges in enumerate(values.edges):
        below = np.array([np.concatenate([[0], np.cumsum(each[cell])])[edges] for each in found])
        for places in (*_neighbours(below, smallest), *_apart(np.diff(below), smallest)):
            chosen = np.isin(np.arange(len(edges) - 1), places)
            if not chosen.all():  # how many rows a cell has is not told by its values
                return cell, np.repeat(chosen, np.diff(edges))
    return None


def _neighbours(below: Whole, smallest: int) -> Iterator[Whole]:
    """Parts in a row, by how many values lie below each edge in all that was found."""
    last: dict[bytes, int] = {}
    differ = (below - below[0]).T
    for edge in range(below.shape[1]):
        before = last.get(differ[edge].tobytes())
        if before is not None and 0 < below[0, edge] - below[0, before] < smallest:
            yield np.arange(before, edge)
        last[differ[edge].tobytes()] = edge


def _apart(numbers: Whole, smallest: int) -> Iterator[Whole]:
    """Two to four parts, by how many values each has in all that was found."""
    few = np.flatnonzero(numbers[0] < smallest)
    for size in (size for size in (2, 3, 4) if math.comb(len(few), size) <= SETS):
        sets = np.array(list(combinations(few, size)), dtype=np.int64).reshape(-1, size)
        sums = numbers[:, sets].sum(axis=2)
        constant = (sums == sums[0]).all(axis=0) & (sums[0] > 0) & (sums[0] < smallest)
        yield from sets[constant][:1]
