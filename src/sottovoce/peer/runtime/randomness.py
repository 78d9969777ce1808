"""Where a real peer's noise and coins come from: the operating system. When is decided in :mod:`.protocol.noise`.

**Noise, digit by digit.** Let U be uniform in [0, 1), and z the number that a standard normal one exceeds in size with
probability U. Then ±z, with a fair sign, is standard normal, and ±round(size·z) is the noise that R45 asks for. But to
know a whole number one need not know all binary digits of U. So the operating system is asked for the sign and the
first 15 digits; where every U that begins like that gives the same whole number, that is it, and otherwise for 16 more,
and in the end for 32 more. The result is, bit for bit, what all digits would give: what is not asked for would
change nothing. On average two to four bytes a number are enough, where a Gaussian number of full length takes eight.

**How good it is.** With 63 digits of U, and 127 where its first eleven are zero, neighbouring z differ by less than
2⁻⁵⁰ up to z = 9.9; they end at 13.1. Computed z are off by at most :data:`ERROR` of themselves, and so are the ends of
each whole number's share of the line, no more. With the least unit that is allowed, 2⁻³² of the deviation, each whole
number within nine deviations can come about in 2²⁰ ways or more. NumPy's generators are not used: one can predict them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..protocol.units import Vector
from .ahead import Ahead
from .quantile import upper_quantile, upper_quantiles

__all__ = ["ERROR", "noise_from_digits", "system_coins", "system_noise"]

Floats = npt.NDArray[np.float64]
Digits = npt.NDArray[Any]
"""Whole numbers without a sign."""
Indices = npt.NDArray[np.intp]

ERROR = 2.0**-48
"""How far a computed quantile is off, as a share of itself, at most."""

CELLS = 2**15
"""What the first digits of U tell apart."""

FEW, SMALL = 2048, 8192.0
"""From so many numbers on, of noise below so many units, most are known from their first digits: one look-up each."""

TABLES = 20
"""So many tables of 256 kB are kept: the same sizes come again in every topic."""

LARGE = 2.0**20
"""From this deviation on 31 digits tell too little, and all are asked for at once."""

RARE = 16
"""In the cells before this one U is so small that it gets more digits."""

BLOCK = 16_384
"""So many numbers at a time: what is computed on the way stays in the processor's cache."""

MANY = 16_384
"""From so many numbers on their random bytes take long enough to be asked for ahead."""

_UNKNOWN = np.iinfo(np.int32).min
_AHEAD = Ahead()


def system_coins(count: int) -> Vector:
    """``count`` independent fair bits, 0 or 1, from the operating system."""
    if count == 1:
        return np.array([os.urandom(1)[0] & 1])
    content = np.frombuffer(os.urandom((count + 7) // 8), dtype=np.uint8)
    return np.unpackbits(content, count=count).astype(np.int64)


def system_noise(count: int, size: float) -> Vector:
    """``count`` independent normal numbers of deviation ``size``, rounded, from the operating system's random bytes."""
    if count == 1:  # the common case of a single number, without the cost of arrays
        return np.array([_one(int.from_bytes(os.urandom(16), "little"), size)])
    first = _words_of_all(count)
    if count >= FEW and size < SMALL:
        return _by_table(first, size)
    return _from_second_digits(first, _words_of_all(count), size)


def _words(kind: str, count: int) -> Digits:
    return np.frombuffer(os.urandom(np.dtype(kind).itemsize * count), dtype=kind)


def _words_of_all(count: int) -> Digits:
    """As many words of 16 bits as there are numbers: so many are asked for again at the next draw."""
    return np.frombuffer(_AHEAD.take(2 * count), dtype="<u2") if count >= MANY else _words("<u2", count)


def _one(word: int, size: float) -> int:
    """As :func:`_all_digits`, for a single number, from 128 random bits: the sign and 127 digits."""
    amount = round(size * upper_quantile(((word >> 1) + 1) * 2.0**-128))
    return -amount if word & 1 else amount


class Cells(NamedTuple):
    """What the first 15 digits of U tell of z: it lies between ``low``, and ``low + width``."""

    low: Floats
    width: Floats
    bend: Floats
    """How far z lies below the straight line between both ends, at most: an eighth of its second derivative."""


@cache
def cells() -> Cells:
    """The table of all cells; z ends at 13.1, and the first cell with more than that."""
    shares = np.linspace(0.0, 0.5, CELLS + 1)
    shares[0] = 2.0**-128
    ends = upper_quantiles(shares)
    slope = np.sqrt(2.0 * np.pi) * np.exp(0.5 * ends[:-1] ** 2) * (0.5 / CELLS)  # of z, for a whole cell
    width = ends[:-1] - ends[1:]
    bend = ends[:-1] * slope**2 / 8.0
    width[0] = bend[0] = 16.0
    return Cells(ends[1:], width, bend)


@lru_cache(maxsize=TABLES)
def table(size: float) -> npt.NDArray[np.int32]:
    """The noise that each first word of 16 bits stands for, and where it does not decide, the least number of all."""
    known = cells()
    low = np.rint(size * (1.0 - ERROR) * known.low)
    certain = low == np.rint(size * (1.0 + ERROR) * (known.low + known.width))
    return np.concatenate([np.where(certain, low, _UNKNOWN), np.where(certain, -low, _UNKNOWN)]).astype(np.int32)


def _by_table(first: Digits, size: float) -> Vector:
    """What the first digits alone decide, looked up; for the few others more digits are asked for."""
    decided = table(size).take(first)
    unknown = np.flatnonzero(decided == _UNKNOWN)
    noise: Vector = decided.astype(np.int64)
    noise[unknown] = _from_second_digits(first[unknown], _words("<u2", unknown.size), size)
    return noise


def _from_second_digits(first: Digits, second: Digits, size: float) -> Vector:
    """Noise from the first digits, 16 more, and the rest where those do not decide."""
    noise, unknown = np.empty(first.size, dtype=np.int64), []
    for start in range(0, first.size, BLOCK):
        block = slice(start, start + BLOCK)
        if size >= LARGE:
            noise[block] = _all_digits(first[block], second[block], size)
        else:
            amount, more = second_guess(first[block] & CELLS - 1, second[block], size)
            noise[block] = _signed(amount, first[block])
            unknown.append(more + start)
    if unknown:  # together: of a few numbers, not computing takes the time
        left = np.concatenate(unknown)
        noise[left] = _all_digits(first[left], second[left], size)
    return noise


def _signed(amount: Floats, first: Digits) -> Vector:
    """With the sign that the first random bit decides; in two's complement −n is ~n + 1."""
    minus = -(first // CELLS).astype(np.int64)
    noise: Vector = amount.astype(np.int64)
    noise ^= minus
    noise -= minus
    return noise


def second_guess(cell: Digits, second: Digits, size: float) -> tuple[Floats, Indices]:
    """The size of each number, from its cell and its place in it; and which of them more digits may change.

    z falls from one end of a cell to the other, and hangs below the straight line by the bend at most: so it lies
    between the line at the next place, less the bend, and the line at this place.
    """
    known, index = cells(), cell.astype(np.intp)
    step = known.width.take(index)
    least = known.low.take(index)
    step *= 2.0**-16
    most = (2.0**16 - second) * step
    most += least
    np.subtract(most, step, out=least)
    least -= known.bend.take(index)
    least *= size * (1.0 - ERROR)
    most *= size * (1.0 + ERROR)
    np.rint(least, out=least)
    np.rint(most, out=most)
    return least, np.flatnonzero(least != most)


def _all_digits(first: Digits, second: Digits, size: float) -> Vector:
    """Noise from all digits: 32 more, and 64 more where U is small."""
    return noise_from_digits(first, second, _words("<u4", first.size), lambda count: _words("<u8", count), size)


def noise_from_digits(
    first: Digits, second: Digits, third: Digits, further: Callable[[int], Digits], size: float
) -> Vector:
    """Noise from words of 16, 16 and 32 random bits; ``further`` gives words of 64 for those numbers whose U is small.

    Examples
    --------
    >>> zero = np.zeros(2, dtype=np.uint16)
    >>> noise_from_digits(zero + np.array([0, CELLS], dtype=np.uint16), zero, zero, np.zeros, 1000.0)
    array([ 13056, -13056])
    """
    digits = (first & CELLS - 1).astype(np.uint64) << 48 | second.astype(np.uint64) << 32 | third
    share = digits.astype(np.float64) * 2.0**-64
    share += 2.0**-65
    small = np.flatnonzero(digits < RARE << 48)
    share[small] = digits[small] * 2.0**-64 + (further(small.size) + 1.0) * 2.0**-128
    return _signed(np.rint(size * upper_quantiles(share)), first)
