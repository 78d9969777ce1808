"""Linear regression from sums of products, and logistic regression by Newton's steps, one exchange each.

A column of words stands for a term of its own for each word but the first. Sums are whole numbers and equations are
solved exactly, so all parties find the same coefficients to the last digit.

A term that sets a few rows apart from all others would tell of them: with a word that one person has, the constant and
one coefficient are that person's value. So rows are counted first, and where a term has few nothing is asked.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, product
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import NumericalFailure
from .base import Cell, Row, Side, Statistic, Stepwise, Summed
from .columns import Categories, Column, Numbers
from .exact import Whole, inverse, rounded
from .sides import apart_together, combined, factors_of, marks_of, sides_of
from .table import Table
from .terms import Term, terms_of

__all__ = ["Linear", "Logistic"]

SCALE = 2**52
"""Steps between 0 and 1 in which a row's part of a Newton step is counted: as fine as floats are."""
CLOSE = Fraction(1, 10**8)
"""A Newton step that moves no combination of coefficients by more, in standard errors of its own, is the last."""
SHARP = Fraction(1, 10**4)
"""By how much, as a share, rounding may change the square of a standard error at most."""


def _symmetric(size: int, numbers: Sequence[Fraction]) -> list[list[Fraction]]:
    """A matrix from its upper triangle, row by row."""
    entries = dict(zip(combinations_with_replacement(range(size), 2), numbers, strict=True))
    return [[entries[min(i, j), max(i, j)] for j in range(size)] for i in range(size)]


def _times(matrix: Sequence[Sequence[Fraction]], vector: Sequence[Fraction]) -> list[Fraction]:
    return [sum((a * b for a, b in zip(row, vector, strict=True)), Fraction(0)) for row in matrix]


def _dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


def _at_true_zero(terms: Sequence[Term], scales: Sequence[Fraction]) -> list[Fraction]:
    """What to multiply coefficients with, to find the constant for predictors that are counted from zero."""
    return [Fraction(1), *(-term.begin / scale for term, scale in zip(terms[1:], scales[1:], strict=True))]


@dataclass(frozen=True)
class Regression(Statistic):
    """What regressions have in common: terms, and when they set few rows apart."""

    @property
    @abstractmethod
    def terms(self) -> list[Term]:
        """The constant first."""

    @property
    @abstractmethod
    def explained_by(self) -> tuple[Column, ...]:
        """The predictors."""

    @property
    @abstractmethod
    def told(self) -> list[Side]:
        """Rows by their outcome: a result tells how many of each term are among them, or sums over these."""

    def apart(self) -> list[Cell]:
        pairs = [*self._pairs(), *product(combined(self.explained_by), self._factors())]
        sides = (*self._singles(), *self._shares(), *(one & other for one, other in pairs))
        return [cell for side in sides for cell in side.cells()]

    def refused(self, counts: Mapping[Cell, int], smallest: int) -> str | None:
        whole = counts[()]
        if whole < smallest + len(self.terms):
            return f"fewer than {smallest} rows more than terms"
        few = [side.label for side in self._singles() if 0 < side.rows(counts) < smallest]
        few = few or [side.label for side in self._shares() if 0 < side.rows(counts) < smallest]
        for one, other in self._pairs():
            unlike = one.rows(counts) + other.rows(counts) - 2 * (one & other).rows(counts)
            if 0 < unlike < smallest or 0 < whole - unlike < smallest:
                few.append(f"{one.label} compared with {other.label}")
        for side in self._factors() if not few else ():
            if apart_together(self.explained_by, counts, smallest, side):
                few.append(f"several terms together, {side.label}".removesuffix(", "))
        return f"fewer than {smallest} rows: {'; '.join(few)}" if few else None

    def unknown(self, why: str | None = None) -> list[Row]:
        reason = {} if why is None else {"why": why}
        return [{"term": term.label, "coefficient": None, "standard error": None} | reason for term in self.terms]

    def _pairs(self) -> list[tuple[Side, Side]]:
        """Marks of different columns: those that differ in few rows set these apart together."""
        columns = [marks_of(column) for column in self.explained_by]
        return [pair for one, other in combinations(columns, 2) for pair in product(one, other)]

    def _singles(self) -> list[Side]:
        return [side for column in self.explained_by for side in sides_of(column)] + self.told

    def _factors(self) -> list[Side]:
        """Rows of which sums of words' indicators are made, or of products with these."""
        return [*factors_of(self.explained_by), *self.told]

    def _shares(self) -> list[Side]:
        """What a result, or the sums that it is made of, tell of the numbers of rows that a term sets apart."""
        sides = [sides_of(column) for column in self.explained_by]
        numbers = [pair for a, b in combinations(sides, 2) for pair in product(a, b) if pair[0].lack or pair[1].lack]
        return [one & other for one, other in (*product(self.told, chain(*sides)), *numbers)]


@dataclass(frozen=True)
class Linear(Regression, Summed):
    """Least squares: coefficients with standard errors, and R²."""

    outcome: Numbers
    predictors: tuple[Column, ...]

    kind: ClassVar[str] = "linear"
    releasable: ClassVar[bool] = False

    @property
    def terms(self) -> list[Term]:
        return terms_of(self.predictors)

    @property
    def explained_by(self) -> tuple[Column, ...]:
        return self.predictors

    @property
    def told(self) -> list[Side]:
        return sides_of(self.outcome)

    def features(self, table: Table) -> Iterator[Whole]:
        columns = [*(term.of(table) for term in self.terms), table.columns[self.outcome.name]]
        return (one * other for one, other in combinations_with_replacement(columns, 2))

    def most(self) -> list[int]:
        spans = [*(term.span for term in self.terms), self.outcome.span]
        return [one * other for one, other in combinations_with_replacement(spans, 2)]

    def decode(self, count: int, sums: Sequence[int], smallest: int) -> list[Row]:
        terms = self.terms
        size = len(terms)
        if count <= size:
            return self.unknown("not more rows than terms")
        whole = _symmetric(size + 1, list(map(Fraction, sums)))
        try:
            inverted = inverse([row[:size] for row in whole[:size]])
        except NumericalFailure as singular:
            return self.unknown(str(singular))
        right, squares = [row[size] for row in whole[:size]], whole[size][size]
        found = _times(inverted, right)
        left = squares - _dot(found, right)
        variance = left / (count - size)
        unit = Fraction(self.outcome.unit)
        constant = _at_true_zero(terms, [term.unit for term in terms])
        rows: list[Row] = []
        for place, term in enumerate(terms):
            way = constant if place == 0 else [Fraction(int(k == place)) / term.unit for k in range(size)]
            value = _dot(way, found) * unit + (Fraction(self.outcome.low) if place == 0 else 0)
            error = variance * _dot(way, _times(inverted, way)) * unit**2
            rows.append(
                {"term": term.label, "coefficient": rounded(value), "standard error": math.sqrt(rounded(error))}
            )
        total = squares - right[0] ** 2 / count
        fit = rounded(1 - left / total) if total else None
        return [*rows, {"term": "R²", "coefficient": fit, "standard error": None}]


@dataclass(frozen=True)
class Newton:
    """Where Newton's steps have come: the coefficients, and the inverse of the second derivatives before the last."""

    coefficients: Sequence[float]
    inverted: Sequence[Sequence[Fraction]] = ()


@dataclass(frozen=True)
class Logistic(Regression, Stepwise):
    """How predictors change the odds of the second of two words: coefficients with standard errors.

    Each row's part of a step is rounded to 2⁻⁵² before it is summed.
    """

    outcome: Categories
    predictors: tuple[Column, ...]

    kind: ClassVar[str] = "logistic"
    endless: ClassVar[str] = "the predictors may tell the outcomes apart, so that no coefficients are the best"

    @property
    def about(self) -> str:
        return f"{self.outcome.name} = {self.outcome.words[1]}"

    @property
    def terms(self) -> list[Term]:
        return terms_of(self.predictors)

    @property
    def explained_by(self) -> tuple[Column, ...]:
        return self.predictors

    @property
    def told(self) -> list[Side]:
        return marks_of(self.outcome)

    def begin(self) -> Newton:
        return Newton([0.0] * len(self.terms))

    def step_features(self, table: Table, state: Newton) -> Iterator[Whole]:
        """What each row adds to the slope, moved up by one so that it is positive, and to the second derivatives."""
        columns = [term.of(table) / term.span for term in self.terms]
        odds: npt.NDArray[np.float64] = sum(
            (c * column for c, column in zip(state.coefficients, columns, strict=True)), np.zeros(table.num_rows)
        )
        chance = 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))
        off = table.columns[self.outcome.name] - chance
        steps = (_counted(off * column) + SCALE for column in columns)
        pairs = combinations_with_replacement(columns, 2)
        return chain(steps, (_counted(chance * (1.0 - chance) * one * other) for one, other in pairs))

    def step_most(self) -> list[int]:
        size = len(self.terms)
        return [2 * SCALE] * size + [SCALE] * (size * (size + 1) // 2)

    def step(self, count: int, sums: Sequence[int], state: Newton) -> tuple[Newton, bool]:
        size = len(self.terms)
        slope = [Fraction(total - count * SCALE, SCALE) for total in sums[:size]]
        inverted = inverse(_symmetric(size, [Fraction(total, SCALE) for total in sums[size:]]))
        _check_sharp(inverted, count)
        change = _times(inverted, slope)
        moved = [c + rounded(d) for c, d in zip(state.coefficients, change, strict=True)]
        return Newton(moved, inverted), _dot(slope, change) <= CLOSE**2

    def found(self, state: Newton) -> list[Row]:
        terms = self.terms
        exact = [Fraction(c) for c in state.coefficients]
        scales = [term.unit * term.span for term in terms]
        rows: list[Row] = []
        for place, term in enumerate(terms):
            one = [Fraction(int(k == place)) / scales[place] for k in range(len(terms))]
            way = _at_true_zero(terms, scales) if place == 0 else one
            error = rounded(_dot(way, _times(state.inverted, way)))
            rows.append(
                {"term": term.label, "coefficient": rounded(_dot(way, exact)), "standard error": math.sqrt(error)}
            )
        return rows


def _check_sharp(inverted: Sequence[Sequence[Fraction]], count: int) -> None:
    """Each of so many rows was rounded by half a step at most: refuse what that may have changed."""
    largest = max(sum(map(abs, row)) for row in inverted)
    if largest * len(inverted) * count > SHARP * 2 * SCALE:
        raise NumericalFailure("the predictors of this regression differ too little for the digits that are summed")


def _counted(parts: npt.NDArray[np.float64]) -> Whole:
    return np.rint(parts * SCALE).astype(np.int64)
