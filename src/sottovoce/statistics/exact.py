"""Exact arithmetic: sums that do not overflow, whole numbers cut into pieces that fit a network, linear equations.

Everything that parties share is a whole number, so the same sums give the same digits at all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, NumericalFailure

__all__ = ["Cutting", "Whole", "exact_sum", "inverse", "rounded"]

Whole = npt.NDArray[np.int64]

HALF = 31
"""Bits of the lower part of a number that is summed in two parts."""


def exact_sum(numbers: Whole) -> int:
    """The sum of 64-bit numbers, however large it is.

    Examples
    --------
    >>> exact_sum(np.array([2**62, 2**62, 2**62, -1]))
    13835058055282163711
    """
    return (int((numbers >> HALF).sum()) << HALF) + int((numbers & (2**HALF - 1)).sum())


def rounded(number: Fraction) -> float:
    """The nearest float.

    Examples
    --------
    >>> rounded(Fraction(1, 3))
    0.3333333333333333
    """
    return number.numerator / number.denominator


def inverse(matrix: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """The inverse of a square matrix, exactly.

    Raises
    ------
    NumericalFailure
        There is none.

    Examples
    --------
    >>> inverse([[Fraction(2), Fraction(1)], [Fraction(1), Fraction(1)]])
    [[Fraction(1, 1), Fraction(-1, 1)], [Fraction(-1, 1), Fraction(2, 1)]]
    """
    size = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next((i for i in range(column, size) if rows[i][column]), None)
        if pivot is None:
            raise NumericalFailure("the columns of this regression determine each other, so it has no single answer")
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = rows[column][column]
        rows[column] = [entry / scale for entry in rows[column]]
        for i in range(size):
            if i != column and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [entry - factor * top for entry, top in zip(rows[i], rows[column], strict=True)]
    return [row[size:] for row in rows]


@dataclass(frozen=True)
class Cutting:
    """How whole numbers ≥ 0 travel where only smaller ones fit: in pieces of some bits, whose sums are put together.

    Parameters
    ----------
    most
        The largest value that each of the numbers can have.
    bits
        Of a piece.

    Examples
    --------
    >>> cutting = Cutting((1000, 3), bits=4)
    >>> cutting.cut([1000, 2]), cutting.join([8, 14, 3, 2])
    ([8, 14, 3, 2], [1000, 2])
    >>> cutting.join([8 + 8, 14 + 14, 3 + 3, 2 + 1])
    [2000, 3]
    """

    most: tuple[int, ...]
    bits: int

    @property
    def pieces(self) -> tuple[int, ...]:
        """How many pieces each number has."""
        return tuple(max(1, -(-most.bit_length() // self.bits)) for most in self.most)

    def cut(self, numbers: Iterable[int]) -> list[int]:
        """The pieces of all numbers, the lowest of each first."""
        mask, out = 2**self.bits - 1, []
        for number, most, pieces in zip(numbers, self.most, self.pieces, strict=True):
            if not 0 <= number <= most:
                raise InvalidParameter("a number is outside the limits that the study declares: most_rows is too small")
            out += [(number >> (self.bits * k)) & mask for k in range(pieces)]
        return out

    def join(self, sums: Sequence[int]) -> list[int]:
        """The sums of the numbers from those of their pieces."""
        at, out = 0, []
        for pieces in self.pieces:
            out.append(sum(sums[at + k] << (self.bits * k) for k in range(pieces)))
            at += pieces
        return out
