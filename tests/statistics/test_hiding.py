"""What a report leaves out does not follow from what it shows, however its tables are put together."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from sottovoce.statistics.hiding import Counts, hidden_in, withheld

SMALLEST = 5


def made_up(rng: np.random.Generator, axes: int) -> dict[tuple[int, ...], Counts]:
    """A table with groups of all sizes, and all its margins, by their axes."""
    table = rng.choice([0, 1, 2, 3, 8, 15, 40], size=rng.integers(2, 5, axes), p=[0.1, 0.07, 0.05, 0.03] + [0.25] * 3)
    margins = [kept for size in range(axes + 1) for kept in combinations(range(axes), size)]
    summed = {kept: table.sum(axis=tuple(set(range(axes)) - set(kept))) for kept in margins}
    return {kept: Counts(tuple(map(str, kept)), np.array(each)) for kept, each in summed.items()}


def groups(tables: dict[tuple[int, ...], Counts], found: list[np.ndarray]):
    """For each group of each table: which groups of the finest table it is made of, its rows, whether it is hidden."""
    finest = list(tables.values())[-1].table
    for (kept, counts), hidden in zip(tables.items(), found, strict=True):
        for place in np.ndindex(counts.table.shape):
            part = np.zeros(finest.shape)
            part[tuple(place[kept.index(k)] if k in kept else slice(None) for k in range(finest.ndim))] = 1.0
            yield part.ravel(), int(counts.table[place]), bool(hidden[place])


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_no_small_group_is_the_solution_of_equations(axes):
    """Whoever takes all groups that are shown, of a table and all its margins, cannot solve for one that is hidden."""
    rng = np.random.default_rng(axes)
    for _ in range(40):
        tables = made_up(rng, axes)
        found = hidden_in(list(tables.values()), SMALLEST)
        everything = list(groups(tables, found))
        assert all(hidden for _, rows, hidden in everything if 0 < rows < SMALLEST)
        shown = [part for part, _, hidden in everything if not hidden]
        empty = [each for part, rows, hidden in everything if not hidden and rows == 0 for each in np.diag(part)]
        equations = np.array([np.zeros(everything[0][0].size), *shown, *empty])
        _, sizes, ways = np.linalg.svd(equations)
        free = ways[(sizes > 1e-9).sum() :]
        secrets = [part for part, rows, hidden in everything if hidden and 0 < rows < SMALLEST]
        assert all(np.abs(free @ part).max() > 1e-9 for part in secrets)


def test_hidden_groups_of_a_line_are_many_together():
    """Who subtracts what is shown from a total finds no small group."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        counts = rng.choice([0, 1, 2, 8, 30], size=6).tolist()
        hidden = withheld(counts, SMALLEST)
        rest = sum(count for count, each in zip(counts, hidden, strict=True) if each)
        assert rest == 0 or rest >= SMALLEST or rest == sum(counts)


def test_what_two_lines_tell_together_is_hidden():
    """Rows 2 and 3 and column 3 tell what columns 2 and 3 have in them, and so the 2 in row 1."""
    table = np.array([[8, 2, 40], [40, 8, 15], [40, 3, 15], [9, 20, 30]])
    lines_only = np.array([[1, 1, 0], [0, 1, 1], [0, 1, 1], [0, 0, 0]], dtype=bool)
    hidden = np.array(withheld(table.ravel().tolist(), SMALLEST, table.shape)).reshape(table.shape)
    assert hidden.sum() > lines_only.sum()


def lists(groups: int, rows: int) -> np.ndarray:
    """All ways to have so many rows in so many groups."""
    places = np.array(list(combinations(range(rows + groups - 1), groups - 1)))
    ends = np.column_stack([np.full(len(places), -1), places, np.full(len(places), rows + groups - 1)])
    return np.diff(ends, axis=1) - 1


def check_lists(groups: int, rows: int, smallest: int) -> None:
    """Of all lists that are shown alike, none but all groups together have one and the same small size."""
    every = lists(groups, rows)
    alike = defaultdict(list)
    for own in every.tolist():
        hidden = withheld(own, smallest)
        alike[tuple(None if gone else n for gone, n in zip(hidden, own, strict=True))].append(own)
    some = [list(each) for size in range(1, groups) for each in combinations(range(groups), size)]
    assert len(alike) > 1
    for shown, those in alike.items():
        sizes = np.array([np.array(those)[:, each].sum(axis=1) for each in some])
        follows = (sizes == sizes[:, :1]).all(axis=1) & (sizes[:, 0] > 0) & (sizes[:, 0] < smallest)
        assert not follows.any(), (shown, those[0], [each for each, told in zip(some, follows, strict=True) if told])


@pytest.mark.parametrize("groups", [2, 3, 4])
@pytest.mark.parametrize("smallest", [3, 4])
def test_hidden_groups_of_a_list_do_not_follow_from_the_rule_by_which_they_are_hidden(groups, smallest):
    """All lists are tried, of twice as many rows as the smallest group, or more."""
    for rows in range(2 * smallest, 2 * smallest + 5):
        check_lists(groups, rows, smallest)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [3, 4, 5])
@pytest.mark.parametrize("smallest", [3, 4, 5])
def test_hidden_groups_of_longer_lists_do_not_follow_either(groups, smallest):
    for rows in range(2 * smallest, 4 * smallest + 1):
        check_lists(groups, rows, smallest)


def told(tables: dict[tuple[int, ...], Counts], found: list[np.ndarray]) -> int | None:
    """The rows of a union of groups of the finest table that follows from what is shown, though it is small."""
    finest = list(tables.values())[-1].table.ravel().astype(float)
    shown = [(part, rows) for part, rows, hidden in groups(tables, found) if not hidden]
    equations = np.array([each for part, rows in shown for each in (np.diag(part) if rows == 0 else [part])])
    _, sizes, ways = np.linalg.svd(equations)
    follows = [LinearConstraint(way, -1e-7, 1e-7) for way in ways[(sizes > 1e-9).sum() :]]
    small = LinearConstraint(finest, 1, SMALLEST - 1)
    answer = milp(finest, constraints=[*follows, small], integrality=np.ones(finest.size), bounds=Bounds(0, 1))
    return None if answer.x is None else round(answer.fun)


FAR_APART = [
    [[40, 8, 0, 40], [15, 0, 40, 40], [8, 40, 0, 8], [40, 8, 15, 1]],
    [[40, 8, 3, 40], [40, 15, 15, 40], [0, 15, 40, 1], [3, 15, 15, 15]],
    [[15, 0, 15, 8], [0, 40, 15, 8], [15, 8, 1, 15], [15, 15, 15, 40]],
    [[40, 40, 8, 8], [15, 15, 1, 15], [8, 0, 8, 8], [40, 0, 40, 40]],
]
"""Two persons, one here and one there, whose sum followed from equations and neither's own."""
ALL_HIDDEN = [[[2, 0, 15], [15, 40, 40]], [[8, 8, 8], [8, 15, 0]]]
"""All groups are hidden, and the totals by two columns told of two persons."""


@pytest.mark.parametrize("table", [FAR_APART, ALL_HIDDEN])
def test_no_few_persons_of_several_groups_are_the_solution_of_equations(table):
    """Their rows were hidden one by one, but a sum over some of them followed from all totals together."""
    every = {kept: np.array(table).sum(axis=tuple({0, 1, 2} - set(kept)))
             for size in range(4) for kept in combinations(range(3), size)}  # fmt: skip
    tables = {kept: Counts(tuple(map(str, kept)), np.array(each)) for kept, each in every.items()}
    assert told(tables, hidden_in(list(tables.values()), SMALLEST)) is None


@pytest.mark.parametrize("axes", [2, 3])
def test_no_few_persons_follow_from_any_tables(axes):
    """Whichever of the totals are asked for beside the finest table."""
    rng = np.random.default_rng(axes)
    for _ in range(25):
        tables = {
            kept: each for kept, each in made_up(rng, axes).items() if len(kept) in (0, axes) or rng.random() < 0.6
        }
        assert told(tables, hidden_in(list(tables.values()), SMALLEST)) is None
