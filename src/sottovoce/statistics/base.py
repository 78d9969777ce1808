"""What a statistic is: numbers that each row adds to sums, and what follows from the sums of all parties' rows.

The rows of each *cell* (a combination of the words of the columns in ``by``) are counted and summed by themselves. A
cell with fewer rows than the study's smallest group is never decoded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, ClassVar

from ..errors import InvalidFile
from .columns import Categories, Numbers
from .exact import Whole
from .table import Table

__all__ = ["Cell", "Row", "Side", "Statistic", "Stepwise", "Summed", "cells_of", "factor"]

Cell = tuple[tuple[str, int], ...]
"""Column and place of its word, for each column in ``by``."""
Row = dict[str, Any]
"""One line of a result: names and numbers, ``None`` where nothing may be said."""

LARGEST_FACTOR = 2**31
"""Units between the bounds of a column whose values are multiplied with each other."""


@dataclass(frozen=True)
class Side:
    """Rows that a sum may set apart.

    Parameters
    ----------
    label
        For people; two sides of the same rows are equal, however they are called.
    have, lack
        Places that all these rows have in their columns, and places of which they have none.
    """

    label: str = field(compare=False)
    have: Cell = ()
    lack: Cell = ()

    def __and__(self, other: Side) -> Side:
        """The rows that are in both."""
        have, lack = sorted(self.have + other.have), sorted(self.lack + other.lack)
        return Side(f"{self.label}, {other.label}", tuple(have), tuple(lack))

    def cells(self, within: Cell = ()) -> list[Cell]:
        """The cells whose rows have to be counted, to find how many rows of a cell are in it."""
        sizes = range(len(self.lack) + 1)
        return [(*within, *self.have, *those) for size in sizes for those in combinations(self.lack, size)]

    def rows(self, counts: Mapping[Cell, int], within: Cell = ()) -> int:
        """How many rows of a cell are in it: those with what it has, less those with what it lacks."""
        least = len(within) + len(self.have)
        return sum((-1) ** (len(cell) - least) * counts[cell] for cell in self.cells(within))


@dataclass(frozen=True)
class Statistic(ABC):
    """What is asked of the rows of each cell: a :class:`Summed` or a :class:`Stepwise` one.

    Parameters
    ----------
    name
        As the study names it.
    by
        Columns of words; a cell for each combination.
    """

    name: str
    by: tuple[Categories, ...]

    kind: ClassVar[str]
    """How a study names it."""

    @property
    def about(self) -> str:
        """The column that it is of, for people; empty where there is none, or where its rows name several."""
        column = getattr(self, "column", getattr(self, "outcome", None))
        return "" if column is None else column.name

    @property
    def cells(self) -> list[Cell]:
        """All combinations of words."""
        return cells_of(self.by)

    @property
    def tabled(self) -> tuple[Categories, ...]:
        """The columns of the table of counts that it shows."""
        return self.by

    @property
    def sides(self) -> list[Side]:
        """What its sums set apart in every cell: where that is a small group the cell is not shown."""
        return []

    def apart(self) -> list[Cell]:
        """Cells, besides those of its tables, whose rows are counted before anything is asked of them."""
        sides = self.sides
        return [found for cell in self.cells for side in sides for found in side.cells(cell)] if sides else []

    def refused(self, counts: Mapping[Cell, int], smallest: int) -> str | None:
        """Why nothing of it may be shown, from the rows of each cell; ``None``: it may."""
        return None

    def unknown(self, why: str | None = None) -> list[Row]:
        """The result where nothing may be shown, or nothing can be found."""
        return [{"count": None} | ({} if why is None else {"why": why})]

    def words(self, cell: Cell) -> Row:
        """The words of a cell, by column."""
        columns = {column.name: column for column in self.by}
        return {name: columns[name].words[place] for name, place in cell}


@dataclass(frozen=True)
class Summed(Statistic):
    """A pair: :meth:`features` of one party's rows, and :meth:`decode` of their sums over all parties.

    Sums may carry the noise of a release: between 0 and what ``count`` rows can add, they need not fit together.
    """

    exclusive: ClassVar[bool] = False
    """Whether a row adds to one of the sums only."""
    releasable: ClassVar[bool] = True
    """Whether :meth:`decode` makes sense of sums with noise."""

    @abstractmethod
    def features(self, table: Table) -> Iterable[Whole]:
        """What each row adds: for each sum ``(rows,)`` whole numbers ≥ 0, one after the other."""

    @abstractmethod
    def most(self) -> list[int]:
        """The largest number that a row can add to each sum."""

    def possible(self, count: int, sums: Sequence[int]) -> list[int]:
        """Sums that ``count`` rows can have, from sums with noise; without noise they are what they were."""
        return [min(max(number, 0), count * most) for number, most in zip(sums, self.most(), strict=True)]

    @abstractmethod
    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        """The result for a cell of ``count`` rows, at least as many as ``smallest``."""

    def noise(self, row: Row, of_count: float, of_sums: Sequence[float]) -> float | None:
        """The deviation that noise gives the number of a decoded row, from the deviations of count and sums."""
        return None


@dataclass(frozen=True)
class Stepwise(Statistic):
    """Found step by step: each step sums features that depend on what the steps before it have found."""

    rounds: int

    endless: ClassVar[str]
    """Why steps may come to nothing that were possible at first."""

    @abstractmethod
    def begin(self) -> Any:
        """What is known before the first step."""

    @abstractmethod
    def step_features(self, table: Table, state: Any) -> Iterable[Whole]:
        """What each row adds in a step: for each sum ``(rows,)`` whole numbers ≥ 0, one after the other."""

    @abstractmethod
    def step_most(self) -> list[int]:
        """The largest number that a row can add to each of them."""

    @abstractmethod
    def step(self, count: int, sums: Sequence[int], state: Any) -> tuple[Any, bool]:
        """What is known after a step, and whether it was the last."""

    @abstractmethod
    def found(self, state: Any) -> list[Row]:
        """The result after the last step."""


def cells_of(columns: Sequence[Categories]) -> list[Cell]:
    """All combinations of the words of some columns."""
    return list(product(*(tuple((column.name, place) for place in range(len(column.words))) for column in columns)))


def factor(column: Numbers) -> Numbers:
    """A column whose values are to be multiplied; refused where products would not be exact."""
    if column.span > LARGEST_FACTOR:
        raise InvalidFile(
            f"columns.{column.name} has more than 2^31 units between its bounds, too many for products: take a larger "
            "unit"
        )
    return column
