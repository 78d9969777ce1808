"""Groups of rows that the sums of a statistic set apart, though nobody asked for them.

The sum of a column of which all rows but a few are zero is a sum over these few. The same holds for a word of a
predictor that few rows have, and for products of two columns. Other numbers than the bounds and zero are not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from operator import and_

import numpy as np

from .base import Cell, Side, Statistic, cells_of
from .columns import Categories, Column
from .hiding import SOLVED, Counts, few_told, hidden_in

__all__ = ["apart_together", "combined", "few_in", "marks_of", "sides_of", "sides_of_products"]


def marks_of(column: Column) -> list[Side]:
    """The rows of each word of a column, or of its two numbers where it has no more."""
    if isinstance(column, Categories):
        return [Side(f"{column.name} = {word}", ((column.name, place),)) for place, word in enumerate(column.words)]
    if column.span > 1:
        return []
    return [
        Side(f"{column.name} = {end}", ((column.name, place),)) for place, end in enumerate((column.low, column.high))
    ]


def sides_of(column: Column) -> list[Side]:
    """The same; of a column of more numbers the rows that are not at a bound, or not zero."""
    if isinstance(column, Categories) or column.span <= 1:
        return marks_of(column)
    zero = -Fraction(column.low) / Fraction(column.unit)
    units = {0: f"{column.low}", column.span: f"{column.high}"}
    if 0 < zero < column.span and zero == int(zero):
        units[int(zero)] = "0"
    return [Side(f"{column.name} ≠ {value}", lack=((column.name, unit),)) for unit, value in units.items()]


def sides_of_products(columns: Sequence[Column]) -> list[Side]:
    """Those of each column, and what two of them have in common: a product is zero outside of it."""
    sides = [sides_of(column) for column in columns]
    both = [one & other for a, b in combinations(sides, 2) for one, other in product(a, b)]
    return [*(side for each in sides for side in each), *both]


def combined(columns: Sequence[Column]) -> list[Side]:
    """The rows of each combination of words, and of numbers of columns with only two; none if these are too many."""
    marks = [each for each in map(marks_of, columns) if each]
    if len(marks) < 2 or math.prod(map(len, marks)) > SOLVED:
        return []
    return [reduce(and_, each) for each in product(*marks)]


def apart_together(columns: Sequence[Column], counts: Mapping[Cell, int], smallest: int) -> bool:
    """Whether a sum of multiples of words' indicators is zero for all rows but a few."""
    groups = [(set(side.have), side.rows(counts)) for side in combined(columns)]
    groups = [(have, rows) for have, rows in groups if rows]
    words = {word for have, _ in groups for word in have}
    rows = np.array([each for _, each in groups], dtype=np.int64)
    terms = [[int(word in have) for have, _ in groups] for word in sorted(words)]
    return few_told(np.array(terms, dtype=np.int64).reshape(len(words), len(rows)), rows, smallest) is not None


def few_in(
    statistics: Sequence[Statistic], counts: Mapping[Cell, int], hidden: Collection[Cell], smallest: int
) -> frozenset[tuple[str, Cell]]:
    """Cells that would tell of few, or from which others would follow that do; by the names of their statistics.

    Parameters
    ----------
    statistics
        All of a study.
    counts
        Rows of every cell, and of the cells of all sides.
    hidden
        Cells that are not shown because they have few rows.
    smallest
        The smallest group that may be shown.
    """
    asked: dict[Side, list[Statistic]] = {}
    for statistic in statistics:
        for side in statistic.sides:
            asked.setdefault(side, []).append(statistic)
    few: set[tuple[str, Cell]] = set()
    for side, those in asked.items():
        tables = {each.by: cells_of(each.by) for each in those}
        rows = {by: [side.rows(counts, cell) for cell in cells] for by, cells in tables.items()}
        if all(rows[by] == [counts[cell] for cell in cells] for by, cells in tables.items()):
            continue  # the side is everybody: what is hidden of it is hidden already
        shapes = {by: tuple(len(column.words) for column in by) for by in tables}
        of_side = [
            Counts(tuple(column.name for column in by), np.array(rows[by], dtype=np.int64).reshape(shapes[by]))
            for by in tables
        ]
        gone = [
            np.array([cell in hidden and number > 0 for cell, number in zip(cells, rows[by], strict=True)])
            for by, cells in tables.items()
        ]
        found = hidden_in(of_side, smallest, [each.reshape(shapes[by]) for each, by in zip(gone, tables, strict=True)])
        for (by, cells), each in zip(tables.items(), found, strict=True):
            told = [cell for cell, mark in zip(cells, each.ravel(), strict=True) if mark]
            few |= {(one.name, cell) for one in those if one.by == by for cell in told}
    return frozenset(few)
