"""The columns that a study declares: numbers with bounds and a unit, or words from a list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_05UP, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from ..errors import InvalidFile

__all__ = ["Categories", "Column", "Numbers", "Refused", "column_from"]

WIDEST = 2**52
"""Units between the bounds of a column: what a float holds exactly."""


LONGEST = 50
"""Digits of a bound or a unit, on each side of the point."""

EXACT = Context(prec=4 * LONGEST, rounding=ROUND_05UP, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Bounds and units are added and divided exactly; a cell with more digits is rounded so that it becomes no tie."""

TAKEN = frozenset({
    "count", "sum", "mean", "variance", "standard deviation", "first", "second", "covariance", "correlation", "from",
    "to", "probability", "end", "values", "share", "noise", "why",
})  # fmt: skip
"""What reports call their numbers: beside them, a column of words cannot be called the same."""


class Refused(Exception):
    """A cell that does not fit its column. Says why, never what was there."""


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


def _number(text: str) -> Decimal:
    """A number as other programs would read it too: no digits in groups, a decimal point."""
    if _NUMBER.fullmatch(text):
        try:
            return Decimal(text)
        except InvalidOperation:
            raise Refused("has an exponent of too many digits") from None
    if not text:
        raise Refused("is empty")
    if _NOT_FINITE.fullmatch(text):
        raise Refused("is not finite")
    comma = "," in text and _NUMBER.fullmatch(text.replace(",", ".", 1))
    raise Refused("is not a number: it has a comma where a point is needed" if comma else "is not a number")


@dataclass(frozen=True)
class Numbers:
    """Numbers from ``low`` to ``high``, in whole units.

    Parameters
    ----------
    low, high
        The bounds, as decimal text.
    unit
        The size of one step: ``"0.01"`` for cents. A number between two steps is rounded, ties to even.
    clip
        Whether a number outside the bounds is moved to the nearer one, and counted. Otherwise it is refused.
    """

    name: str
    low: Decimal
    high: Decimal
    unit: Decimal
    clip: bool = False

    @property
    def span(self) -> int:
        """Units from ``low`` to ``high``."""
        return int(EXACT.divide(EXACT.subtract(self.high, self.low), self.unit))

    def read(self, text: str) -> tuple[int, bool]:
        """Units above ``low``, and whether the number was clipped."""
        number = _number(text.strip())
        outside = not self.low <= number <= self.high
        if outside and not self.clip:
            raise Refused(f"is outside {self.low} … {self.high}")
        inside = min(max(number, self.low), self.high)
        units = EXACT.divide(EXACT.subtract(inside, self.low), self.unit)
        return int(units.to_integral_value(ROUND_HALF_EVEN)), outside

    def value(self, units: Fraction) -> Fraction:
        """The number that is so many units above ``low``."""
        return Fraction(self.low) + units * Fraction(self.unit)

    def size(self, units: Fraction) -> Fraction:
        """A difference of so many units."""
        return units * Fraction(self.unit)


@dataclass(frozen=True)
class Categories:
    """One of a few words."""

    name: str
    words: tuple[str, ...]

    def read(self, text: str) -> tuple[int, bool]:
        """The place of the word in the list."""
        word = text.strip()
        if word not in self.words:
            raise Refused("is empty" if not word else f"is none of {', '.join(self.words)}")
        return self.words.index(word), False


Column = Numbers | Categories


def column_from(name: str, given: Any) -> Column:
    """A column from its table in the study's TOML.

    Raises
    ------
    InvalidFile
        Something is missing, unknown or impossible.
    """
    where = f"columns.{name}"
    if not isinstance(given, Mapping):
        raise InvalidFile(f"{where} must be a table")
    if "categories" in given:
        words = given["categories"]
        _only(where, given, {"categories"})
        if name in TAKEN:
            raise InvalidFile(f"{where} has categories and the name of a number in reports: call it something else")
        if not isinstance(words, list) or len({str(word) for word in words}) != len(words) or len(words) < 2:
            raise InvalidFile(f"{where}.categories must be a list of at least two different words")
        if any(not str(word) or str(word) != str(word).strip() for word in words):
            raise InvalidFile(f"{where}.categories must be words without spaces around them")
        return Categories(name, tuple(map(str, words)))
    _only(where, given, {"low", "high", "unit", "clip"})
    low, high, unit = (_decimal(where, key, given) for key in ("low", "high", "unit"))
    if not isinstance(given.get("clip", False), bool):
        raise InvalidFile(f"{where}.clip must be true or false")
    units = Fraction(high) - Fraction(low), Fraction(unit)
    if low < high and unit > 0 and units[0] > WIDEST * units[1]:
        raise InvalidFile(f"{where} has more than 2^52 units between its bounds: take a larger unit")
    if not low < high or not unit > 0 or units[0] % units[1]:
        raise InvalidFile(f"{where} must have low < high, and a unit > 0 that divides their difference")
    return Numbers(name, low, high, unit, given.get("clip", False))


def _only(where: str, given: Mapping[str, Any], known: set[str]) -> None:
    for key in given:
        if key not in known:
            raise InvalidFile(f"{where} has an unknown key {key!r}; known are {', '.join(sorted(known))}")


def _decimal(where: str, key: str, given: Mapping[str, Any]) -> Decimal:
    value = given.get(key)
    try:
        number = Decimal("?" if isinstance(value, bool) else str(value))
    except InvalidOperation:
        raise InvalidFile(f'{where}.{key} must be a decimal number, such as 12.5 or "0.01"') from None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -LONGEST or abs(number.adjusted()) > LONGEST:
        raise InvalidFile(f"{where}.{key} must be finite, with at most {LONGEST} digits before and after the point")
    return number
