"""R43: values as whole multiples of the network's unit. The only place where a value is rounded, once, by its owner.

A *unit* is a decimal number, such as 0.01 for money in cents, and travels as text, so that every party reads the same
number. Inside the protocol everything is a 64-bit integer in units; floats appear at the edges only: here, where a
private value comes in and an estimate goes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...errors import ConfigError, InvalidValues

__all__ = ["LARGEST", "LONG", "Unit", "Vector", "bounds_in_units", "exactly", "is_nothing", "nothing"]

Vector = npt.NDArray[np.int64]

LARGEST = 2**60
"""No value, register or limit exceeds this many units, so that sums and differences of a few fit into 64 bits."""

LONG = 16_384
"""From so many numbers on a vector is long: moving it costs more than deciding about it."""


@dataclass(frozen=True)
class Unit:
    """The size h of one step on the number line.

    Parameters
    ----------
    text
        A positive decimal number, for example ``"0.01"`` or ``"1e-6"``.

    Examples
    --------
    >>> cents = Unit("0.01")
    >>> cents.from_values([12.5, -0.07]).tolist()
    [1250, -7]
    >>> cents.to_text(np.array([1250, -7])), cents.to_values(np.array([1250, -7])).tolist()
    (['12.50', '-0.07'], [12.5, -0.07])
    >>> Unit("0")
    Traceback (most recent call last):
    sottovoce.errors.ConfigError: unit must be a positive decimal number such as '0.01', got '0'
    """

    text: str

    def __post_init__(self) -> None:
        try:
            number = Decimal(str(self.text))
        except InvalidOperation:
            number = Decimal(0)
        if type(self.text) is not str or not number.is_finite() or not number > 0 or not -300 < number.adjusted() < 300:
            raise ConfigError(f"unit must be a positive decimal number such as '0.01', got {self.text!r}")

    @cached_property
    def size(self) -> Fraction:
        """h, exactly."""
        return Fraction(Decimal(self.text))

    @cached_property
    def number(self) -> float:
        """h as a float."""
        return float(self.size)

    def from_values(self, values: npt.ArrayLike) -> Vector:
        """Values as whole numbers of units, ties to even.

        A float counts as the shortest decimal number that is read as it: 61.005 is 61.005, not the binary number
        near it. Nearly all are rounded by one division; the few that lie within its error of a tie, exactly.

        Raises
        ------
        InvalidValues
            One is larger than :data:`LARGEST` units. The message does not show it.
        """
        numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
        scaled = numbers / self.number
        if not bool((abs(scaled) <= LARGEST).all()):
            raise InvalidValues(f"a value is larger than 2**60 units of {self.text}")
        rounded = np.rint(scaled)
        unsure = abs(abs(scaled - rounded) - 0.5) <= np.maximum(abs(scaled), 1.0) * 2.0**-49
        result = rounded.astype(np.int64)
        for index in np.flatnonzero(unsure | (abs(scaled) >= 2.0**48)):
            result[index] = round(exactly(float(numbers[index])) / self.size)
        return result

    def to_values(self, units: Vector) -> npt.NDArray[np.float64]:
        """Units as floats, for whoever computes on: the nearest ones, as long as 53 bits can hold the digits."""
        return np.asarray(units, dtype=np.float64) * float(self.size.numerator) / float(self.size.denominator)

    def to_text(self, units: Vector) -> list[str]:
        """Units as decimal numbers with the digits of the unit, exactly."""
        step = Decimal(self.text)
        mantissa, exponent = int(step.scaleb(-int(step.as_tuple().exponent))), int(step.as_tuple().exponent)
        return [_decimal(int(number) * mantissa, exponent) for number in units]

    def whole(self, length: float) -> int:
        """The largest number of units that is not longer than ``length``.

        Examples
        --------
        >>> Unit("0.1").whole(0.3), Unit("0.1").whole(0.39)
        (3, 3)
        """
        return int(exactly(length) / self.size)


def nothing(count: int) -> Vector:
    """So many zeros, which take no memory and nobody can write to."""
    return np.broadcast_to(np.int64(0), (count,))


def is_nothing(vector: Vector) -> bool:
    """Whether it was made by :func:`nothing`, so that nobody need look at it.

    Examples
    --------
    >>> is_nothing(nothing(3)), is_nothing(np.zeros(3, dtype=np.int64)), nothing(3)
    (True, False, array([0, 0, 0]))
    """
    return vector.strides == (0,)


def exactly(number: float) -> Fraction:
    """The shortest decimal number that is read as this float, as a fraction."""
    return Fraction(Decimal(repr(float(number))))


def bounds_in_units(low: float, high: float, unit: Unit) -> tuple[int, int]:
    """The whole numbers of units between ``low`` and ``high``: the least and the greatest.

    Examples
    --------
    >>> bounds_in_units(-0.25, 1.0, Unit("0.1"))
    (-2, 10)
    """
    return -((-exactly(low)) // unit.size), exactly(high) // unit.size


def _decimal(digits: int, exponent: int) -> str:
    """``digits`` times ten to the ``exponent``, written out."""
    if exponent >= 0:
        return str(digits * 10**exponent)
    sign, text = "-" if digits < 0 else "", str(abs(digits)).rjust(1 - exponent, "0")
    return f"{sign}{text[:exponent]}.{text[exponent:]}"
