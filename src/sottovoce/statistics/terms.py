"""The terms of a regression: the constant, and what each predictor stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .columns import Categories, Column, Numbers
from .exact import Whole
from .table import Table

__all__ = ["Term", "terms_of"]


@dataclass(frozen=True)
class Term:
    """A predictor: a column of numbers, or one word of a column of words. ``None``: the constant."""

    column: Column | None = None
    place: int = 0

    @property
    def label(self) -> str:
        """For people."""
        if self.column is None:
            return "constant"
        if isinstance(self.column, Categories):
            return f"{self.column.name} = {self.column.words[self.place]}"
        return self.column.name

    @property
    def span(self) -> int:
        """The largest number it has."""
        return self.column.span if isinstance(self.column, Numbers) else 1

    @property
    def unit(self) -> Fraction:
        """What one step of it means."""
        return Fraction(self.column.unit) if isinstance(self.column, Numbers) else Fraction(1)

    @property
    def begin(self) -> Fraction:
        """The value at 0."""
        return Fraction(self.column.low) if isinstance(self.column, Numbers) else Fraction(0)

    def of(self, table: Table) -> Whole:
        """``(rows,)`` its numbers."""
        if self.column is None:
            return np.ones(table.num_rows, dtype=np.int64)
        found = table.columns[self.column.name]
        return (found == self.place).astype(np.int64) if isinstance(self.column, Categories) else found


def terms_of(predictors: Sequence[Column]) -> list[Term]:
    """The constant, then the terms of each predictor."""
    terms = [Term()]
    for column in predictors:
        places = range(1, len(column.words)) if isinstance(column, Categories) else range(1)
        terms += [Term(column, place) for place in places]
    return terms
