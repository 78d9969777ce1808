"""Count, sum, mean, variance, covariance and correlation: from sums and sums of products, exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations_with_replacement, product
from typing import ClassVar

from .base import Cell, Row, Side, Summed
from .columns import Numbers
from .exact import Whole, rounded
from .hiding import SOLVED
from .sides import EVERYBODY, apart_together, combined, factors_of, sides_of, sides_of_products
from .table import Table

__all__ = ["Correlation", "Count", "Mean", "Sum", "Variance"]


@dataclass(frozen=True)
class Count(Summed):
    """How many rows there are."""

    kind: ClassVar[str] = "count"

    def features(self, table: Table) -> list[Whole]:
        return []

    def most(self) -> list[int]:
        return []

    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        return [{"count": count}]

    def noise(self, row: Row, of_count: float, of_sums: Sequence[float]) -> float | None:
        return of_count


@dataclass(frozen=True)
class Sum(Summed):
    """The sum of a column."""

    column: Numbers

    kind: ClassVar[str] = "sum"

    @property
    def sides(self) -> list[Side]:
        return sides_of(self.column)

    def features(self, table: Table) -> list[Whole]:
        return [table.columns[self.column.name]]

    def most(self) -> list[int]:
        return [self.column.span]

    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        total = count * Fraction(self.column.low) + self.column.size(Fraction(sums[0]))
        return [{"count": count, "sum": rounded(total)}]

    def noise(self, row: Row, of_count: float, of_sums: Sequence[float]) -> float | None:
        return math.hypot(float(self.column.low) * of_count, float(self.column.unit) * of_sums[0])


@dataclass(frozen=True)
class Mean(Sum):
    """The mean of a column."""

    kind: ClassVar[str] = "mean"

    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        return [{"count": count, "mean": rounded(self.column.value(Fraction(sums[0], count)))}]

    def noise(self, row: Row, of_count: float, of_sums: Sequence[float]) -> float | None:
        above = row["mean"] - float(self.column.low)
        return math.hypot(above * of_count, float(self.column.unit) * of_sums[0]) / float(row["count"])


@dataclass(frozen=True)
class Variance(Summed):
    """Mean, variance (divided by n − 1) and standard deviation of a column."""

    column: Numbers

    kind: ClassVar[str] = "variance"

    @property
    def sides(self) -> list[Side]:
        return sides_of(self.column)

    def features(self, table: Table) -> list[Whole]:
        units = table.columns[self.column.name]
        return [units, units * units]

    def most(self) -> list[int]:
        return [self.column.span, self.column.span**2]

    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        row: Row = {"count": count, "mean": rounded(self.column.value(Fraction(sums[0], count)))}
        variance = None
        if count > 1:
            scale = Fraction(self.column.unit) ** 2
            variance = rounded(max(Fraction(0), sums[1] - Fraction(sums[0] ** 2, count)) / (count - 1) * scale)
        deviation = None if variance is None else math.sqrt(variance)
        return [row | {"variance": variance, "standard deviation": deviation}]


@dataclass(frozen=True)
class Correlation(Summed):
    """Covariance (divided by n − 1) and correlation of each pair of columns."""

    columns: tuple[Numbers, ...]

    kind: ClassVar[str] = "correlation"

    @property
    def sides(self) -> list[Side]:
        return sides_of_products(self.columns)

    def apart(self) -> list[Cell]:
        return super().apart() + [
            found
            for cell, factor in self._sums_of_marks()
            for mark in combined(self.columns)
            for found in (mark & factor).cells(cell)
        ]

    def refused(self, counts: Mapping[Cell, int], smallest: int) -> str | None:
        pairs = self._sums_of_marks()
        sides = [EVERYBODY, *self.sides] if pairs else []
        for cell, factor in pairs:
            large = all(side.rows(counts, cell) not in range(1, smallest) for side in sides)
            if large and apart_together(self.columns, counts, smallest, factor, cell):
                return f"fewer than {smallest} rows: several columns together"
        return None

    def _sums_of_marks(self) -> list[tuple[Cell, Side]]:
        """Cells, and rows in them, of which sums of columns of two numbers are made; none if these are too many."""
        few = 0 < len(self.cells) * len(combined(self.columns)) <= SOLVED
        return list(product(self.cells, factors_of(self.columns))) if few else []

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations_with_replacement(range(len(self.columns)), 2))

    def features(self, table: Table) -> Iterator[Whole]:
        units = [table.columns[column.name] for column in self.columns]
        return chain(units, (units[i] * units[j] for i, j in self._pairs))

    def most(self) -> list[int]:
        spans = [column.span for column in self.columns]
        return [*spans, *(spans[i] * spans[j] for i, j in self._pairs)]

    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        size = len(self.columns)
        products = dict(zip(self._pairs, sums[size:], strict=True))
        spread = {(i, j): both - Fraction(sums[i] * sums[j], count) for (i, j), both in products.items()}
        return [self._row(count, i, j, spread) for i, j in self._pairs if i != j]

    def _row(self, count: int, i: int, j: int, spread: dict[tuple[int, int], Fraction]) -> Row:
        one, other = self.columns[i], self.columns[j]
        covariance = correlation = None
        if count > 1:
            covariance = rounded(spread[i, j] / (count - 1) * Fraction(one.unit) * Fraction(other.unit))
        if spread[i, i] > 0 and spread[j, j] > 0:
            found = rounded(spread[i, j]) / math.sqrt(rounded(spread[i, i] * spread[j, j]))
            correlation = min(max(found, -1.0), 1.0)
        return {
            "first": one.name, "second": other.name, "count": count,
            "covariance": covariance, "correlation": correlation,
        }  # fmt: skip
