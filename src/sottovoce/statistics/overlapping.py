"""Histograms and quantiles of one column in a study: whether one of them tells what another hides.

The differences of two histograms with other bins are counts of further, narrower ones. If a small group is hidden in
one of them, or is among these differences, only the first of them that the study names is shown. An extreme lies in an
interval of each of them: what these have in common must not be a small group. And the sum of all values tells how they
are divided between two bins that are left out, if the others are narrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .base import Cell
from .counting import Extremes, Histogram, Quantiles
from .hiding import withheld
from .moments import Sum, Variance

__all__ = ["Binned", "told_by_others"]


@dataclass(frozen=True)
class Binned:
    """A histogram, quantiles or extremes, and what was counted.

    Parameters
    ----------
    statistic
        Which one.
    sums
        Values in each bin, by cell; of those cells that may be shown.
    whole
        Whether these are all cells that have rows.
    """

    statistic: Histogram
    sums: Mapping[Cell, Sequence[int]]
    whole: bool

    def hides(self, smallest: int) -> bool:
        """Whether something is left out."""
        shown = self.sums.values() if not isinstance(self.statistic, Quantiles | Extremes) else ()
        return not self.whole or any(any(withheld(sums, smallest)) for sums in shown)

    def follows_from_sum(self, smallest: int, sums_known: int) -> bool:
        """Whether the sum of all values may tell how many are in a bin that is left out, or have one of its numbers.

        It does not if places of values within their bins make up for one that is moved from such a bin to the next, up
        or down, and if bins with values have more other numbers than sums are known (two: that of squares, too). That
        is all for a sum alone; the two sums of few values between few numbers can tell more.
        """
        if isinstance(self.statistic, Quantiles | Extremes):
            return False
        edges = self.statistic.edges
        for sums in self.sums.values():
            spare = [edges[b + 1] - edges[b] - 1 if number else 0 for b, number in enumerate(sums)]
            places = sum(number * each for number, each in zip(sums, spare, strict=True))
            gone = [edges[b] for b, each in enumerate(withheld(sums, smallest)) if each and sums[b]]
            if 0 < sum(spare) <= sums_known or any(places <= 2 * (end - begin) for begin, end in pairwise(gone)):
                return True
        return False

    @property
    def name(self) -> str:
        """Of the statistic."""
        return self.statistic.name

    def below(self, part: Sequence[tuple[str, int]], smallest: int) -> dict[int, int]:
        """How many values of some cells lie below each edge that is shown of one of them."""
        cells = [cell for cell in self.sums if set(part) <= set(cell)]
        places = {place for cell in cells for place in self._places(self.sums[cell], smallest)}
        edges = self.statistic.edges
        return {edges[place]: sum(sum(self.sums[cell][:place]) for cell in cells) for place in places}

    def _places(self, sums: Sequence[int], smallest: int) -> set[int]:
        if not isinstance(self.statistic, Quantiles | Extremes):
            return set(range(self.statistic.bins + 1))
        found: Sequence[tuple[int, int] | None] = self.statistic.blocks(sums, smallest)
        blocks = [block for block in found if block is not None]
        return {0, self.statistic.bins, *(place for block in blocks for place in block)}

    def ends(self, part: Sequence[tuple[str, int]], smallest: int) -> list[tuple[int, int]]:
        """The intervals in which the extremes of some cells lie."""
        if not isinstance(self.statistic, Extremes):
            return []
        cells = [cell for cell in self.sums if set(part) <= set(cell)]
        edges = self.statistic.edges
        return [(edges[b], edges[end]) for cell in cells for b, end in self.statistic.blocks(self.sums[cell], smallest)]

    def gone(self, part: Sequence[tuple[str, int]], smallest: int) -> list[tuple[int, int, int]]:
        """Where bins of some cells that are left out begin and end, and how many values are in each."""
        if isinstance(self.statistic, Quantiles | Extremes):
            return []
        cells = [self.sums[cell] for cell in self.sums if set(part) <= set(cell)]
        places = [(b, sums) for sums in cells for b, each in enumerate(withheld(sums, smallest)) if each]
        edges = self.statistic.edges
        return [(edges[b], edges[b + 1], sums[b]) for b, sums in places]


def told_by_others(asked: Sequence[Binned | Sum | Variance], smallest: int) -> dict[str, str]:
    """The statistics that are not shown, by name, and why; of those of one column the first is shown."""
    shown: list[Binned | Sum | Variance] = []
    why: dict[str, str] = {}
    for each in asked:
        earlier = next((one.name for one in shown if _tell(one, each, smallest)), None)
        if earlier is None:
            shown.append(each)
        else:
            why[each.name] = f"with {earlier} it would tell about fewer than {smallest} rows"
    return why


def _tell(one: Binned | Sum | Variance, other: Binned | Sum | Variance, smallest: int) -> bool:
    """Whether two statistics tell about a small group together."""
    if isinstance(one, Binned) and isinstance(other, Binned):
        return _overlap(one, other, smallest)
    columns = [each.statistic.column if isinstance(each, Binned) else each.column for each in (one, other)]
    binned = [each for each in (one, other) if isinstance(each, Binned)]
    known = 2 if isinstance(one, Variance) or isinstance(other, Variance) else 1
    return columns[0] == columns[1] and any(each.follows_from_sum(smallest, known) for each in binned)


def _overlap(one: Binned, other: Binned, smallest: int) -> bool:
    """Whether the edges of two statistics tell about a small group together."""
    if one.statistic.column != other.statistic.column:
        return False
    common = {column.name for column in one.statistic.by} & {column.name for column in other.statistic.by}
    parts = {tuple(word for word in cell if word[0] in common) for each in (one, other) for cell in each.sums}
    if isinstance(one.statistic, Extremes) or isinstance(other.statistic, Extremes):
        tells = (_cut(one, other, part, smallest) or _all_beyond(one, other, part, smallest) for part in parts)
        return _comparable(one.statistic, other.statistic) and any(tells)
    if _same(one.statistic, other.statistic):
        return False
    if one.hides(smallest) or other.hides(smallest):
        return True
    return any(_differ(one.below(part, smallest), other.below(part, smallest), smallest) for part in parts)


def _comparable(one: Histogram, other: Histogram) -> bool:
    """Whether one tells where the extremes of the other are: those of the same rows, or it counts their parts."""
    by = [{column.name for column in each.by} for each in (one, other)]
    places = [isinstance(each, Quantiles | Extremes) for each in (one, other)]
    return by[0] == by[1] or (by[0] < by[1] and not places[1]) or (by[1] < by[0] and not places[0])


def _cut(one: Binned, other: Binned, part: Sequence[tuple[str, int]], smallest: int) -> bool:
    """Whether a small group is between an edge of one and an edge of the other, where an extreme lies."""
    edges = [one.below(part, smallest), other.below(part, smallest)]
    below = dict(edges[0]) | dict(edges[1])
    ends = one.ends(part, smallest) + other.ends(part, smallest)
    for begin, end in pairwise(sorted(below)):
        own = any(begin in each and end in each for each in edges)
        inside = any(low <= begin and end <= high for low, high in ends)
        if inside and not own and 0 < below[end] - below[begin] < smallest:
            return True
    return False


def _all_beyond(one: Binned, other: Binned, part: Sequence[tuple[str, int]], smallest: int) -> bool:
    """Whether all values that a histogram leaves out are beyond the extremes, and are as many as can be there."""
    ends = one.ends(part, smallest) + other.ends(part, smallest)
    gone = one.gone(part, smallest) + other.gone(part, smallest)
    if not ends or not gone:
        return False
    low, high = min(begin for begin, _ in ends), max(end for _, end in ends)
    beyond = all(end <= low or begin >= high for begin, end, _ in gone)
    return beyond and sum(number for *_, number in gone) >= len(ends) * (smallest - 1)


def _same(one: Histogram, other: Histogram) -> bool:
    """Whether they show the same numbers."""
    quantiles = [each.probabilities for each in (one, other) if isinstance(each, Quantiles)]
    alike = not quantiles or (len(quantiles) == 2 and set(quantiles[0]) == set(quantiles[1]))
    return alike and one.bins == other.bins and set(one.by) == set(other.by)


def _differ(one: Mapping[int, int], other: Mapping[int, int], smallest: int) -> bool:
    """Whether a small group lies between two edges of either."""
    below = dict(one) | dict(other)
    return any(0 < below[end] - below[begin] < smallest for begin, end in pairwise(sorted(below)))
