"""Rows that sums set apart are found wherever trying all small groups finds them."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from sottovoce.statistics.base import Side
from sottovoce.statistics.columns import Categories
from sottovoce.statistics.sides import apart_together, combined

SMALLEST = 5


def set_apart(table: np.ndarray) -> bool:
    """Whether without some groups, few rows together, fewer multiples of words' indicators are different."""
    cells = [cell for cell in product(*map(range, table.shape)) if table[cell]]
    terms = np.array(
        [[cell[k] == word for k, size in enumerate(table.shape) for word in range(size)] for cell in cells]
    )
    small = [place for place, cell in enumerate(cells) if table[cell] < SMALLEST]
    sets = [each for size in range(1, SMALLEST) for each in combinations(small, size)]
    few = [each for each in sets if sum(table[cells[place]] for place in each) < SMALLEST]
    return any(np.linalg.matrix_rank(np.delete(terms, each, axis=0)) < np.linalg.matrix_rank(terms) for each in few)


def test_words_set_few_apart_together_where_trying_all_few_says_so():
    """Neither more nor less, for tables of two and three columns with groups of all sizes."""
    said = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        table = rng.choice([0, 0, 0, 1, 2, 9, 30], size=rng.integers(2, 4, rng.integers(2, 4)))
        columns = [Categories(f"c{k}", tuple("abc"[:size])) for k, size in enumerate(table.shape)]
        counts = {side.have: int(table[tuple(place for _, place in side.have)]) for side in combined(columns)}
        said.append(apart_together(columns, counts, SMALLEST))
        assert said[-1] == (table.sum() > 0 and set_apart(table))
    assert 20 < sum(said) < 130


def test_rows_of_a_side_are_those_with_what_it_has_and_without_what_it_lacks():
    """Ten of a, of whom three have x at 0, four y at 1, and two both: five have neither."""
    a = (("g", 0),)
    counts = {a: 10, (*a, ("x", 0)): 3, (*a, ("y", 1)): 4, (*a, ("x", 0), ("y", 1)): 2}
    neither = Side("", lack=(("x", 0),)) & Side("", lack=(("y", 1),))
    assert neither.rows(counts, a) == 5
    assert set(neither.cells(a)) == set(counts)
    assert neither == Side("otherwise called", lack=(("y", 1),)) & Side("", lack=(("x", 0),))
