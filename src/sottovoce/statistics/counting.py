"""Histograms, quantiles and extremes from histograms, and shares of words: from counts."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import ClassVar

import numpy as np

from .base import Cell, Row, Summed
from .columns import Categories, Numbers
from .exact import Whole, rounded
from .hiding import withheld
from .table import Table

__all__ = ["Extremes", "Histogram", "Proportion", "Quantiles"]


@dataclass(frozen=True)
class Histogram(Summed):
    """How many values lie in each of ``bins`` equal parts of the declared range; the upper bound is in the last.

    With one more bin than there are units between the bounds, each value has a bin of its own.
    """

    column: Numbers
    bins: int

    kind: ClassVar[str] = "histogram"
    exclusive: ClassVar[bool] = True

    @cached_property
    def edges(self) -> list[int]:
        """Units at which the bins begin, and one past the last: bin b has those from edge b to below edge b + 1."""
        parts = min(self.bins, self.column.span)
        return [*(-(-b * self.column.span // parts) for b in range(self.bins)), self.column.span + 1]

    def features(self, table: Table) -> Iterator[Whole]:
        places = np.searchsorted(np.array(self.edges[1:]), table.columns[self.column.name], side="right")
        return ((places == b).astype(np.int64) for b in range(self.bins))

    def most(self) -> list[int]:
        return [1] * self.bins

    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        return [self._bounds(b) | {"count": number} for b, number in enumerate(self.shown(sums, smallest))]

    def shown(self, sums: Sequence[int], smallest: int) -> Sequence[object]:
        """What is told of these counts: that of each bin, or that it is left out."""
        hidden = withheld(sums, smallest)
        return [None if gone else number for gone, number in zip(hidden, sums, strict=True)]

    def noise(self, row: Row, of_count: float, of_sums: Sequence[float]) -> float | None:
        return of_sums[0]

    def _bounds(self, b: int, end: int | None = None) -> Row:
        """What a bin begins with, and what it lies below; the last one ends with the upper bound.

        With an ``end``, of all bins from ``b`` to the one before it.
        """
        low, high = self.edges[b], min(self.edges[b + 1 if end is None else end], self.column.span)
        return {"from": rounded(self.column.value(Fraction(low))), "to": rounded(self.column.value(Fraction(high)))}

    def places(self, sums: Sequence[int], smallest: int) -> list[int]:
        """The bins in which what is shown lies, if that is all that is shown."""
        return []

    def cuts(self, sums: Sequence[int], smallest: int) -> set[int]:
        """Bins with which parts begin: as long as each has as many values, the same blocks are shown."""
        below = [0, *accumulate(sums)]
        found = [self._block(b, below, smallest) for b in self.places(sums, smallest)]
        halves = [first + (1 << (end - first - 1).bit_length() >> 1) for first, end in found]
        return {cut for block, half in zip(found, halves, strict=True) for cut in (*block, half)}

    def blocks_around(self, bins: Sequence[int], sums: Sequence[int], smallest: int) -> list[tuple[int, int]]:
        """The blocks of some bins; where one lies in another, the other stands for both."""
        below = [0, *accumulate(sums)]
        found = [self._block(b, below, smallest) for b in bins]
        around = [[each for each in found if each[0] <= b < each[1]] for b in bins]
        return [max(those, key=lambda each: each[1] - each[0]) for those in around]

    def _block(self, b: int, below: Sequence[int], smallest: int) -> tuple[int, int]:
        """The least wide bin around a bin in which there are enough values."""
        width = 1
        while True:
            first, end = b // width * width, min((b // width + 1) * width, self.bins)
            if below[end] - below[first] >= smallest:
                return first, end
            width *= 2


@dataclass(frozen=True)
class Quantiles(Histogram):
    """The bins in which quantiles lie: the smallest value that is not below a share p of all values.

    None is nearer to an end than as many values as the smallest group. Where fewer values lie in a bin, it is shown as
    part of a wider one: two bins, four, eight, … from the lower bound on, until there are as many in it. Where one wide
    bin lies in another, the other stands for both. So what all quantiles together tell is about groups.
    """

    probabilities: tuple[Fraction, ...]

    kind: ClassVar[str] = "quantiles"

    def possible(self, count: int, sums: Sequence[int]) -> list[int]:
        """Bins whose counts, added up from the first on, rise from 0 to ``count`` near those with noise.

        To cut off each bin at zero would add what noise is above it: many empty bins would hold more than all others.
        """
        below = list(accumulate(sums))
        over = below[-1] - count
        rising = _rising([self.bins * each - over * place for place, each in enumerate(below, start=1)])
        ends = [min(max(round(each / self.bins), 0), count) for each in rising]
        return [high - low for low, high in pairwise([0, *ends])]

    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        found = self.blocks(sums, smallest)
        ends = [{"from": None, "to": None} if each is None else self._bounds(*each) for each in found]
        return [{"probability": float(p)} | each for p, each in zip(self.probabilities, ends, strict=True)]

    def shown(self, sums: Sequence[int], smallest: int) -> Sequence[object]:
        """The blocks are all that is told."""
        return self.blocks(sums, smallest)

    def blocks(self, sums: Sequence[int], smallest: int) -> list[tuple[int, int] | None]:
        """The first bin and one past the last for each probability; ``None``: there are too few values."""
        if not self.places(sums, smallest):
            return [None] * len(self.probabilities)
        return [*self.blocks_around(self.places(sums, smallest), sums, smallest)]

    def places(self, sums: Sequence[int], smallest: int) -> list[int]:
        """The bins in which they lie; none if there are too few values."""
        below = [0, *accumulate(sums)]
        whole = below[-1]
        if not whole or whole < smallest:  # noise may have left less than was counted
            return []
        ranks = [min(max(math.ceil(p * whole), smallest), whole - smallest + 1) for p in self.probabilities]
        return [bisect_left(below, max(rank, 1)) - 1 for rank in ranks]

    def noise(self, row: Row, of_count: float, of_sums: Sequence[float]) -> float | None:
        return None


@dataclass(frozen=True)
class Extremes(Histogram):
    """The bins in which the lowest and the highest values lie.

    The ends are drawn in until as many values as the smallest group lie at or beyond them, and a bin with fewer values
    is shown as part of a wider one, as in :class:`Quantiles`: one person's value is not shown.
    """

    kind: ClassVar[str] = "extremes"
    releasable: ClassVar[bool] = False

    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        ends = zip(("lowest", "highest"), self.blocks(sums, smallest), strict=True)
        return [{"end": end, "values": max(1, smallest)} | self._bounds(*block) for end, block in ends]

    def shown(self, sums: Sequence[int], smallest: int) -> Sequence[object]:
        """The blocks are all that is told."""
        return self.blocks(sums, smallest)

    def blocks(self, sums: Sequence[int], smallest: int) -> list[tuple[int, int]]:
        """The first bin and one past the last for both ends."""
        return self.blocks_around(self.places(sums, smallest), sums, max(1, smallest))

    def places(self, sums: Sequence[int], smallest: int) -> list[int]:
        """The bins in which both ends lie."""
        enough, below = max(1, smallest), [0, *accumulate(sums)]
        high = next(b for b in reversed(range(self.bins)) if below[-1] - below[b] >= enough)
        return [bisect_left(below, enough) - 1, high]


@dataclass(frozen=True)
class Proportion(Summed):
    """The share of each word of a column."""

    column: Categories

    kind: ClassVar[str] = "proportion"
    exclusive: ClassVar[bool] = True

    def features(self, table: Table) -> Iterator[Whole]:
        return ((table.columns[self.column.name] == place).astype(np.int64) for place in range(len(self.column.words)))

    def most(self) -> list[int]:
        return [1] * len(self.column.words)

    @property
    def tabled(self) -> tuple[Categories, ...]:
        return (*self.by, self.column)

    def parts(self, cell: Cell) -> list[Cell]:
        """The rows of a cell that have each word."""
        return [(*cell, (self.column.name, place)) for place in range(len(self.column.words))]

    def decode(self, count: int, sums: Sequence[int], smallest: int, hidden: Sequence[bool] | None = None) -> list[Row]:
        """The result for a cell; ``hidden`` words as all tables of the study decide, or as these alone do."""
        rows: list[Row] = []
        whole = sum(sums)
        hidden = withheld(sums, smallest) if hidden is None else hidden
        for word, found, unseen in zip(self.column.words, sums, hidden, strict=True):
            share = None if unseen or not whole else rounded(Fraction(found, whole))
            rows.append({self.column.name: word, "count": None if unseen else found, "share": share})
        return rows

    def noise(self, row: Row, of_count: float, of_sums: Sequence[float]) -> float | None:
        return None if not row["share"] else row["share"] * of_sums[0] / row["count"]


def _rising(numbers: Sequence[int]) -> list[Fraction]:
    """The numbers that never fall and are nearest to these: where they fall, their mean.

    Examples
    --------
    >>> [str(each) for each in _rising([1, 3, 2, 2, 5])]
    ['1', '7/3', '7/3', '7/3', '5']
    """
    blocks: list[tuple[int, int]] = []
    for number in numbers:
        total, size = number, 1
        while blocks and blocks[-1][0] * size > total * blocks[-1][1]:
            before, length = blocks.pop()
            total, size = before + total, length + size
        blocks.append((total, size))
    return [Fraction(total, size) for total, size in blocks for _ in range(size)]
