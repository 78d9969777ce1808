"""Histograms, quantiles and sums of one column in a study: whether one of them tells what another hides.

The differences of two histograms with other bins are counts of further, narrower ones. If a small group is hidden in
one of them, or is among these differences, only the first of them that the study names is shown. An extreme lies in an
interval of each of them: what these have in common must not be a small group. And sums of the column must leave open
how many values are where (:mod:`.alternatives`). For that, statistics by the same columns are looked at together, with
the totals that sums by other columns have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .alternatives import Told, few_follow
from .base import Cell, cells_of
from .columns import Categories
from .counting import Extremes, Histogram, Quantiles
from .hiding import withheld
from .moments import Sum, Variance

__all__ = ["Added", "Binned", "told_by_others"]

Known = tuple[int | None, int | None]
"""A sum and a sum of squares, as far as they are known."""


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

    def empty(self, cell: frozenset[tuple[str, int]], smallest: int) -> list[tuple[int, int]]:
        """Between which numbers it shows that a part of one of its cells has no values: from, and to below."""
        own, edges = next((sums for whole, sums in self.sums.items() if set(whole) <= cell), None), self.statistic.edges
        if own is None or isinstance(self.statistic, Quantiles | Extremes):  # a few may be beyond any of these
            return []
        shown = zip(own, withheld(own, smallest), pairwise(edges), strict=True)
        return [ends for number, hidden, ends in shown if not number and not hidden]

    def gone(self, part: Sequence[tuple[str, int]], smallest: int) -> list[tuple[int, int, int]]:
        """Where bins of some cells that are left out begin and end, and how many values are in each."""
        if isinstance(self.statistic, Quantiles | Extremes):
            return []
        cells = [self.sums[cell] for cell in self.sums if set(part) <= set(cell)]
        places = [(b, sums) for sums in cells for b, each in enumerate(withheld(sums, smallest)) if each]
        edges = self.statistic.edges
        return [(edges[b], edges[b + 1], sums[b]) for b, sums in places]


@dataclass(frozen=True)
class Added:
    """A sum, mean or variance, and what was summed.

    Parameters
    ----------
    statistic
        Which one.
    sums
        Of those cells that may be shown.
    """

    statistic: Sum | Variance
    sums: Mapping[Cell, Sequence[int]]

    @property
    def name(self) -> str:
        """Of the statistic."""
        return self.statistic.name


def told_by_others(asked: Sequence[Binned | Added], counts: Mapping[Cell, int], smallest: int) -> dict[str, str]:
    """The statistics that are not shown, by name, and why; of those of one column the first is shown.

    Parameters
    ----------
    asked
        Of all columns.
    counts
        Rows of every cell.
    smallest
        The smallest group that may be shown.
    """
    shown: list[Binned | Added] = []
    why: dict[str, str] = {}
    for each in asked:
        others = [one for one in shown if one.statistic.column == each.statistic.column]
        beside = _tells(others, each, counts, smallest)
        if beside is None:
            shown.append(each)
        else:
            why[each.name] = f"{beside}it would tell about fewer than {smallest} rows"
    return why


def _tells(
    others: Sequence[Binned | Added], each: Binned | Added, counts: Mapping[Cell, int], smallest: int
) -> str | None:
    """Beside which others of its column it would tell about a small group; ``None``: it does not."""
    if isinstance(each, Binned):
        for one in others:
            if isinstance(one, Binned) and _overlap(one, each, smallest):
                return f"with {one.name} "
    if not _sums_tell([*others, each], each, counts, smallest):
        return None
    if _sums_tell([each], each, counts, smallest):
        return ""
    alone = (one.name for one in others if _sums_tell([one, each], each, counts, smallest))
    return f"with {next(alone, ', '.join(one.name for one in others))} "


def _sums_tell(
    asked: Sequence[Binned | Added], latest: Binned | Added, counts: Mapping[Cell, int], smallest: int
) -> bool:
    """Whether bins and sums by the same columns tell together how many values are where; the latest is new."""
    added = [each for each in asked if isinstance(each, Added)]
    binned = [each for each in asked if isinstance(each, Binned)]
    by = {frozenset(each.statistic.by): each.statistic.by for each in reversed(asked)}
    if isinstance(latest, Binned):
        by = {columns: order for columns, order in by.items() if columns >= set(latest.statistic.by)}
    return any(few_follow(told) for order in by.values() for told in _told(order, binned, added, counts, smallest))


def _told(
    by: Sequence[Categories],
    binned: Sequence[Binned],
    added: Sequence[Added],
    counts: Mapping[Cell, int],
    smallest: int,
) -> Iterator[Told]:
    """What is told of the cells by some columns: of each, or of those together whose total is known, or of all.

    Where some cells have sums of their own, and others not, it tells of these others together, too.
    """
    cells = [cell for cell in cells_of(by) if counts[cell]]
    alike = [each for each in binned if set(each.statistic.by) == set(by)]
    coarser = [each for each in binned if set(each.statistic.by) < set(by)]
    column = (added[0] if added else binned[0]).statistic.column
    sums = [{frozenset(cell): own for cell, own in each.sums.items()} for each in alike]
    parts = [
        (
            counts[cell],
            tuple(own[frozenset(cell)] for own in sums if frozenset(cell) in own),
            tuple(ends for each in coarser for ends in each.empty(frozenset(cell), smallest)),
        )
        for cell in cells
    ]

    def told(some: Sequence[int], total: int | None, squares: int | None) -> Told:
        of_some = tuple(parts[k] for k in some)
        return Told(column.span, tuple(each.statistic for each in alike), of_some, total, squares, smallest)

    own = [_known(added, frozenset(cell), counts) for cell in cells]
    for common in {frozenset(each.statistic.by).intersection(by) for each in added} or {frozenset()}:
        names = {column.name for column in common}
        within = [frozenset(word for word in cell if word[0] in names) for cell in cells]
        for whole in dict.fromkeys(within):
            some = [k for k, each in enumerate(within) if each == whole]
            total, squares = _known(added, whole, counts)
            if total is not None or alike:
                yield told(some, total, squares)
            rest = [k for k in some if own[k][0] is None]
            if total is not None and 0 < len(rest) < len(some):
                others = [own[k] for k in some if k not in rest]
                totals, all_squares = zip(*others, strict=True)
                yield told(rest, _less(total, totals), _less(squares, all_squares))


def _less(whole: int | None, parts: Sequence[int | None]) -> int | None:
    """What is left of a sum without these parts, if all of them are known."""
    known = [each for each in parts if each is not None]
    return None if whole is None or len(known) < len(parts) else whole - sum(known)


def _known(added: Sequence[Added], whole: frozenset[tuple[str, int]], counts: Mapping[Cell, int]) -> Known:
    """The sum and the sum of squares of a group, as far as they are shown."""
    sums = [total for each in added if (total := _total(each, whole, counts)) is not None]
    return (sums[0][0] if sums else None), next((own[1] for own in sums if len(own) > 1), None)


def _total(added: Added, whole: frozenset[tuple[str, int]], counts: Mapping[Cell, int]) -> list[int] | None:
    """The sums of a group, if those of all its parts are shown."""
    if not {name for name, _ in whole} <= {column.name for column in added.statistic.by}:
        return None
    parts = [cell for cell in added.statistic.cells if whole <= set(cell) and counts[cell]]
    if any(cell not in added.sums for cell in parts):
        return None
    return [sum(own) for own in zip(*(added.sums[cell] for cell in parts), strict=True)]


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
