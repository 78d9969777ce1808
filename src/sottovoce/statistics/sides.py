"""Groups of rows that the sums of a statistic set apart, though nobody asked for them.

The sum of a column of which all rows but a few are zero is a sum over these few. The same holds for a word of a
predictor that few rows have, and for products of two columns. Other numbers than the bounds and zero are not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from operator import and_

import numpy as np

from .base import Cell, Side, Statistic, cells_of
from .columns import Categories, Column
from .hiding import MOST_AXES, SOLVED, Counts, few_told, hidden_in

__all__ = [
    "EVERYBODY",
    "apart_together",
    "cells_of_sides",
    "combined",
    "factors_of",
    "few_in",
    "joint_of",
    "marks_of",
    "sides_of",
    "sides_of_products",
]

EVERYBODY = Side("")


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


def factors_of(columns: Sequence[Column]) -> list[Side]:
    """Whose products with words' indicators are summed: all rows, and those with a number not at a bound, or zero."""
    return [EVERYBODY, *(side for column in columns for side in sides_of(column) if side.lack)]


def apart_together(
    columns: Sequence[Column], counts: Mapping[Cell, int], smallest: int, factor: Side = EVERYBODY, within: Cell = ()
) -> bool:
    """Whether a sum of multiples of words' indicators is zero for all of these rows but a few."""
    groups = [(set(side.have), (side & factor).rows(counts, within)) for side in combined(columns)]
    groups = [(have, rows) for have, rows in groups if rows]
    words = {word for have, _ in groups for word in have}
    rows = np.array([each for _, each in groups], dtype=np.int64)
    terms = [[int(word in have) for have, _ in groups] for word in sorted(words)]
    return few_told(np.array(terms, dtype=np.int64).reshape(len(words), len(rows)), rows, smallest) is not None


def joint_of(tables: Iterable[Sequence[Categories]]) -> tuple[Categories, ...]:
    """The columns of several tables of which none has all of another's; none if there are too many combinations.

    A region less the towns of it that are shown is a town, and counts by two columns each tell sums of groups by three.
    So rows are counted by all columns, too, and shown to nobody.
    """
    every = {frozenset(columns) for columns in tables}
    widest = [one for one in every if not any(one < other for other in every)]
    columns = sorted(frozenset[Categories]().union(*widest), key=lambda column: column.name)
    few = len(columns) <= MOST_AXES and math.prod(len(column.words) for column in columns) <= SOLVED
    return tuple(columns) if len(widest) > 1 and few else ()


def cells_of_sides(statistics: Sequence[Statistic]) -> set[Cell]:
    """The cells whose rows are counted, to find the rows of each side by the columns of several tables together."""
    joint = {side: _joint(side, those) for side, those in _asked(statistics).items()}
    return {found for side, by in joint.items() if by for cell in cells_of(by) for found in side.cells(cell)}


def _asked(statistics: Sequence[Statistic]) -> dict[Side, list[Statistic]]:
    """All sides, and the statistics that set them apart."""
    asked: dict[Side, list[Statistic]] = {}
    for statistic in statistics:
        for side in statistic.sides:
            asked.setdefault(side, []).append(statistic)
    return asked


def _joint(side: Side, statistics: Sequence[Statistic]) -> tuple[Categories, ...]:
    """The columns by all of which its rows are counted; none where it is of two columns, of which there are many."""
    return joint_of(each.by for each in statistics) if len(side.have + side.lack) == 1 else ()


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
    few: set[tuple[str, Cell]] = set()
    for side, those in _asked(statistics).items():
        tables = {each.by: cells_of(each.by) for each in those}
        rows = {by: [side.rows(counts, cell) for cell in cells] for by, cells in tables.items()}
        if all(rows[by] == [counts[cell] for cell in cells] for by, cells in tables.items()):
            continue  # the side is everybody: what is hidden of it is hidden already
        of_side = [_table(side, by, counts) for by in tables]
        gone = [
            np.array([cell in hidden and number > 0 for cell, number in zip(cells, rows[by], strict=True)])
            for by, cells in tables.items()
        ]
        joint = _joint(side, those)
        of_all = [replace(_table(side, joint, counts), shown=False)] if joint else []
        gone = [each.reshape(table.table.shape) for each, table in zip(gone, of_side, strict=True)]
        found = hidden_in([*of_side, *of_all], smallest, gone)[: len(of_side)]
        for (by, cells), each in zip(tables.items(), found, strict=True):
            told = [cell for cell, mark in zip(cells, each.ravel(), strict=True) if mark]
            few |= {(one.name, cell) for one in those if one.by == by for cell in told}
    return frozenset(few)


def _table(side: Side, by: Sequence[Categories], counts: Mapping[Cell, int]) -> Counts:
    """How many rows of each cell are in it."""
    rows = np.array([side.rows(counts, cell) for cell in cells_of(by)], dtype=np.int64)
    return Counts(tuple(column.name for column in by), rows.reshape([len(column.words) for column in by]))
