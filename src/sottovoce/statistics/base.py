"""What a statistic is: numbers that each row adds to sums, and what follows from the sums of all parties' rows.

The rows of each *cell* (a combination of the words of the columns in ``by``) are counted and summed by themselves. A
cell with fewer rows than the study's smallest group is never decoded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

from ..errors import InvalidFile
from .columns import Categories, Numbers
from .exact import Whole
from .table import Table

__all__ = ["Cell", "Row", "Statistic", "factor", "withheld"]

Cell = tuple[tuple[str, int], ...]
"""Column and place of its word, for each column in ``by``."""
Row = dict[str, Any]
"""One line of a result: names and numbers, ``None`` where nothing may be said."""

LARGEST_FACTOR = 2**31
"""Units between the bounds of a column whose values are multiplied with each other."""


@dataclass(frozen=True)
class Statistic(ABC):
    """A pair: :meth:`features` of one party's rows, and :meth:`decode` of their sums over all parties.

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
    def cells(self) -> list[Cell]:
        """All combinations of words."""
        return list(product(*(tuple((column.name, place) for place in range(len(column.words))) for column in self.by)))

    def words(self, cell: Cell) -> Row:
        """The words of a cell, by column."""
        columns = {column.name: column for column in self.by}
        return {name: columns[name].words[place] for name, place in cell}

    @abstractmethod
    def features(self, table: Table) -> list[Whole]:
        """What each row adds: for each sum ``(rows,)`` whole numbers ≥ 0."""

    @abstractmethod
    def most(self) -> list[int]:
        """The largest number that a row can add to each sum."""

    @abstractmethod
    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        """The result for a cell of ``count`` rows, at least as many as ``smallest``."""


def factor(column: Numbers) -> Numbers:
    """A column whose values are to be multiplied; refused where products would not be exact."""
    if column.span > LARGEST_FACTOR:
        raise InvalidFile(
            f"columns.{column.name} has more than 2^31 units between its bounds, too many for products: take a larger "
            "unit"
        )
    return column


def withheld(counts: Sequence[int], smallest: int) -> list[bool]:
    """Which of these groups are not shown: those of 1 to ``smallest`` − 1 rows.

    If that is one group alone, its count would follow from the number of all rows; so the smallest of the others is
    withheld with it. A group without rows is shown as empty.

    Examples
    --------
    >>> withheld([10, 2, 30, 0], 5)
    [True, True, False, False]
    >>> withheld([10, 2, 3, 0], 5)
    [False, True, True, False]
    """
    hidden = [0 < count < smallest for count in counts]
    if sum(hidden) == 1:
        others = [(count, place) for place, count in enumerate(counts) if count >= smallest]
        if others:
            hidden[min(others)[1]] = True
    return hidden
