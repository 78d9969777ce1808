"""Values between bounds that have a given sum and a given sum of squares: whether there are any, and which.

All numbers are whole, so that all parties find the same. What is found is right. That nothing was found is no proof
that there is nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import comb

__all__ = ["Interval", "Sums", "added", "counts_with", "many", "moved", "scattered", "shared", "surely_possible"]

Interval = tuple[int, int, int]
"""The lowest and the highest place of some values, and how many there are."""
Sums = tuple[int, int | None]
"""A sum, and a sum of squares if that is known."""
Counts = list[dict[int, int]]
"""For each interval how many of its values are at each place."""
Row = tuple[int, Sequence[int]]
"""Where a value is, and where it may be moved to."""

TURNS = 12
"""How often a few values are chosen to make up for what is left of the sum of squares."""
BITS = 2**21
"""Pairs of sums that are told apart when values are moved; with twice the values there are four times as many."""
FEW = 16
"""Choices for more values of one interval are not counted."""
MANY = 100
"""So many choices of whole values there should be for each pair of sums that they could have."""
NEAR = 8
"""How far a value is moved."""
ALIKE = 4
"""How many values of one place are moved at most."""


def surely_possible(intervals: Sequence[Interval], total: int, squares: int | None) -> bool:
    """Whether there are such values: real numbers, away from the ends of what is possible, and many whole ones.

    Between those of the most even and of the most extreme real numbers with this sum, all sums of squares are possible.
    They are not taken to be if they are nearer to an end than twice the largest value. What whole numbers can have is
    not worked out: there must be :func:`many` for each pair of sums.

    Examples
    --------
    >>> surely_possible([(0, 1000, 10)], 4000, None), surely_possible([(0, 1000, 10)], 10_000, None)
    (True, False)
    >>> surely_possible([(0, 1000, 10)], 4000, 2_000_000), surely_possible([(0, 1000, 10)], 4000, 3_999_000)
    (True, False)
    """
    lowest, highest = (sum(each[2] * each[end] for each in intervals) for end in (0, 1))
    if not lowest < total < highest or not many(intervals, squared=squares is not None):
        return False
    if squares is None:
        return True
    margin = 2 * max(high for _, high, _ in intervals)
    return _squares(_even(intervals, total)) + margin <= squares <= _most_squares(intervals, total) - margin


def many(intervals: Sequence[Interval], *, squared: bool) -> bool:
    """Whether there are many choices of values for each sum, or each pair of sums, that they could have.

    Examples
    --------
    A sum and a sum of squares tell what three numbers are, whatever their bounds; of four they leave many.

    >>> many([(0, 250_000, 3)], squared=True), many([(0, 250_000, 4)], squared=True)
    (False, True)
    """
    needed = MANY * (1 + sum(n * (high - low) for low, high, n in intervals))
    if squared:
        needed *= 1 + sum(n * (high**2 - low**2) for low, high, n in intervals)
    choices = 1
    for low, high, n in intervals:
        choices *= comb(high - low + min(n, FEW), min(n, FEW))
        if choices >= needed:
            return True
    return False


def shared(groups: Sequence[Sequence[Interval]], total: int, squares: int | None) -> list[Sums] | None:
    """Sums that the real numbers of each group may have so that those of all are these; ``None``: none were found.

    Both sums of a group are even, or both are odd, as those of whole numbers are if those of all are.

    Examples
    --------
    >>> shared([[(0, 10, 2)], [(0, 10, 6)]], 40, None)
    [(10, None), (30, None)]
    >>> shared([[(0, 10, 2)], [(0, 10, 6)]], 40, 280)
    [(10, 70), (30, 210)]
    >>> shared([[(0, 10, 2)], [(0, 10, 6)]], 40, 282)
    [(10, 70), (30, 212)]
    """
    if squares is None:
        low, high = ([sum(n * part[end] for *part, n in group) for group in groups] for end in (0, 1))
        room = [most - least for least, most in zip(low, high, strict=True)]
        return [(own, None) for own in _divided(low, room, total)]
    counts = iter(_even([each for group in groups for each in group], total))
    even = [[next(counts) for _ in group] for group in groups]
    totals = [sum(n * place for each in own for place, n in each.items()) for own in even]
    least = [_squares(own) for own in even]
    most = [_most_squares(group, own) for group, own in zip(groups, totals, strict=True)]
    if not sum(least) <= squares <= sum(most):
        return None
    room = [high - low for low, high in zip(least, most, strict=True)]
    own = [each - (each - least[k]) % 2 for k, each in enumerate(_divided(least, room, squares))]
    own[room.index(max(room))] += squares - sum(own)
    return list(zip(totals, own, strict=True))


def _divided(least: Sequence[int], room: Sequence[int], total: int) -> list[int]:
    """As much for each as it needs, and what is left in proportion to its room."""
    below = [0, *accumulate(room)]
    given = [(total - sum(least)) * each // max(1, below[-1]) for each in below]
    return [low + after - before for low, before, after in zip(least, given, given[1:], strict=False)]


def added(sums: Iterable[Sums]) -> Sums:
    """All of these together.

    Examples
    --------
    >>> added([(1, 1), (4, 8)]), added([(1, None), (4, None)])
    ((5, 9), (5, None))
    """
    totals, squares = zip(*sums, strict=True)
    return sum(totals), None if None in squares else sum(squares)


def _squares(counts: Counts) -> int:
    return sum(n * place**2 for each in counts for place, n in each.items())


def _most_squares(intervals: Sequence[Interval], total: int) -> int:
    """The sum of squares if values are at the ends of their intervals but for one, the highest first."""
    left, squares = total, 0
    for low, _, n in intervals:
        left, squares = left - n * low, squares + n * low**2
    for low, high, n in sorted(intervals, key=lambda each: -each[0] - each[1]):
        full, rest = divmod(min(left, n * (high - low)), max(1, high - low))
        squares += full * (high**2 - low**2) + (low + rest) ** 2 - low**2
        left -= full * (high - low) + rest
    return squares


def counts_with(intervals: Sequence[Interval], total: int, squares: int | None) -> Counts | None:
    """Values with this sum and this sum of squares; ``None``: none were found.

    Examples
    --------
    >>> counts_with([(0, 5, 4)], 9, 33)
    [{2: 2, 0: 1, 5: 1}]
    >>> counts_with([(0, 1, 2), (4, 5, 2)], 9, None)
    [{0: 1, 1: 1}, {4: 2}]
    """
    if not sum(n * low for low, _, n in intervals) <= total <= sum(n * high for _, high, n in intervals):
        return None
    counts = _even(intervals, total)
    missing = 0 if squares is None else squares - _squares(counts)
    if missing < 0 or missing % 2:
        return None
    missing = _spread(intervals, counts, missing)
    return counts if not missing or _make_up(intervals, counts, missing) else None


def _even(intervals: Sequence[Interval], total: int) -> Counts:
    """The values with this sum that are nearest to each other: of all the least sum of squares."""

    def at(level: int) -> int:
        return sum(n * min(max(level, low), high) for low, high, n in intervals)

    below, above = min(low for low, _, _ in intervals), max(high for _, high, _ in intervals)
    while below < above:
        middle = (below + above + 1) // 2
        below, above = (middle, above) if at(middle) <= total else (below, middle - 1)
    left, counts = total - at(below), []
    for low, high, n in intervals:
        place = min(max(below, low), high)
        more = min(n, left) if low <= below < high else 0
        left -= more
        counts.append({where: k for where, k in ((place, n - more), (place + 1, more)) if k})
    return counts


def _spread(intervals: Sequence[Interval], counts: Counts, missing: int) -> int:
    """Move pairs of values apart, as far as that adds no more squares than are missing; what is missing then."""
    while missing:
        down = [(place, k) for k, each in enumerate(counts) for place in each if place > intervals[k][0]]
        up = sorted((place, k) for k, each in enumerate(counts) for place in each if place < intervals[k][1])
        best = max((_farthest(counts, up, one, missing // 2) for one in down), default=(0, 0, (0, 0), (0, 0)))
        step, pairs, (u, j), (w, k) = best
        if not pairs:
            break
        times = min(pairs, missing // (2 * step))
        for where, place, number in ((j, u, -times), (j, u - 1, times), (k, w, -times), (k, w + 1, times)):
            _add(counts[where], place, number)
        missing -= 2 * step * times
    return missing


def _farthest(
    counts: Counts, up: Sequence[tuple[int, int]], one: tuple[int, int], most: int
) -> tuple[int, int, tuple[int, int], tuple[int, int]]:
    """The farthest place above one from which a value can go up while one goes down: the step, and how many pairs."""
    u, j = one
    for w, k in reversed(up[: bisect_right(up, (u - 1 + most, len(counts)))]):
        if w < u:
            break
        pairs = counts[j][u] // 2 if (w, k) == one else min(counts[j][u], counts[k][w])
        if pairs:
            return w - u + 1, pairs, one, (w, k)
    return 0, 0, one, one


def _add(counts: dict[int, int], place: int, number: int) -> None:
    counts[place] = counts.get(place, 0) + number
    if not counts[place]:
        del counts[place]


def _make_up(intervals: Sequence[Interval], counts: Counts, missing: int) -> bool:
    """Move a few values so that their sum stays and these squares are added; whether that was possible."""
    kinds = [(k, place) for k, each in enumerate(counts) for place in each]
    for turn in range(TURNS):
        chosen = scattered(kinds, [counts[k][place] for k, place in kinds], turn)
        rows = [(place, range(intervals[k][0], intervals[k][1] + 1)) for k, place in chosen]
        found = moved(rows, 0, missing)
        if found is not None:
            for (k, place), to in zip(chosen, found, strict=False):
                _add(counts[k], place, -1)
                _add(counts[k], to, 1)
            return True
    return False


def scattered(kinds: Sequence[tuple[int, int]], numbers: Sequence[int], turn: int) -> list[tuple[int, int]]:
    """Some of each kind, in an order that differs from turn to turn."""
    copies = [kind for kind, number in zip(kinds, numbers, strict=True) for _ in range(min(number, ALIKE))]
    order = sorted(range(len(copies)), key=lambda k: (k + turn * 7) * 0x9E3779B1 % 2**32)
    return [copies[k] for k in order]


def moved(rows: Iterable[Row], total: int, squares: int | None) -> list[int] | None:
    """Where values go so that this is added to their sum, and to their sum of squares; ``None``: that is impossible.

    Those that would be too many are left where they are, and places that are too far are not looked at.

    Examples
    --------
    >>> moved([(2, range(6)), (2, range(6)), (5, range(6))], 0, None)
    [2, 2, 5]
    >>> moved([(0, range(6)), (3, range(6)), (3, range(6))], 1, 7)
    [0, 4, 3]
    """
    taken: list[list[tuple[int, int, int]]] = []
    sums, wide = 1, 1
    for place, allowed in rows:
        near = sorted((abs(to - place), to) for to in allowed if abs(to - place) <= NEAR)
        options = [(to, to - place, 0 if squares is None else to**2 - place**2) for _, to in near]
        spans = [max(each[k] for each in options) - min(each[k] for each in options) for k in (1, 2)]
        if (sums + spans[0]) * (wide + spans[1]) > BITS:
            break
        sums, wide = sums + spans[0], wide + spans[1]
        taken.append(options)
    least = [[min(each[k] for each in options) for options in taken] for k in (1, 2)]
    shifts = [[(s - a) * wide + q - b for _, s, q in each] for each, a, b in zip(taken, *least, strict=True)]
    aim = (total - sum(least[0]), (squares or 0) - sum(least[1]))
    if not (0 <= aim[0] < sums and 0 <= aim[1] < wide):
        return None
    reached = list(accumulate(shifts, _added, initial=1))
    left, found = aim[0] * wide + aim[1], []
    if not reached[-1] >> left & 1:
        return None
    for options, own, before in zip(taken[::-1], shifts[::-1], reached[-2::-1], strict=True):
        choice = next(k for k, shift in enumerate(own) if shift <= left and before >> (left - shift) & 1)
        left -= own[choice]
        found.append(options[choice][0])
    return found[::-1]


def _added(reached: int, shifts: Iterable[int]) -> int:
    """The sums, as bits of a number, that one choice more makes of these."""
    out = 0
    for shift in shifts:
        out |= reached << shift
    return out
