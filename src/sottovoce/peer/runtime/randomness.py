"""Where a real peer's noise and coins come from: the operating system. When is decided in :mod:`.protocol.noise`."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..protocol.units import Vector

__all__ = ["normal_from_bytes", "system_coins", "system_normal"]

Floats = npt.NDArray[np.float64]

RARE = 2**51
"""U below 2⁻¹³ gets more digits; above, those of one word leave radii closer than 10⁻¹⁵ to each other."""

TURN = 2.0 * math.pi * 2.0**-53
"""The angle of one step of V."""


def system_coins(count: int) -> Vector:
    """``count`` independent fair bits, 0 or 1, from the operating system."""
    if count == 1:
        return np.array([os.urandom(1)[0] & 1])
    content = np.frombuffer(os.urandom((count + 7) // 8), dtype=np.uint8)
    return np.unpackbits(content, count=count).astype(np.int64)


def system_normal(count: int) -> Floats:
    """``count`` independent standard normal numbers made from the operating system's random bytes."""
    if count == 1:  # the common case of a single number, without the cost of arrays
        return np.array([_one_normal(*struct.unpack("<3Q", os.urandom(24)))])
    radii, angles = _words(2 * ((count + 1) // 2)).reshape(2, -1)
    return _normal(radii, angles, _words)[:count]


def _words(count: int) -> npt.NDArray[np.uint64]:
    return np.frombuffer(os.urandom(8 * count), dtype="<u8")


def _one_normal(first: int, second: int, third: int) -> float:
    """The first of the pair that :func:`normal_from_bytes` makes from these three words."""
    rest = (second + 1) * 2.0**-128 if first < RARE else 2.0**-65
    radius = math.sqrt(abs(-2.0 * math.log(first * 2.0**-64 + rest)))
    return radius * math.cos(TURN * (third >> 11))


def normal_from_bytes(data: bytes) -> Floats:
    """Box and Muller's transformation of uniform bytes, 24 for each pair of standard normal numbers.

    A 64-bit word makes U in (0, 1], the top 53 bits of another V in [0, 1); the pair is √(−2 ln U)·(cos 2πV, sin 2πV).
    Where U is small a further word goes on with its digits: with 53 bits alone the radii beyond 5.7 would lie further
    apart than 2⁻³², and the last digits of a rare large draw could rule out private values. With it neighbouring radii
    and angles differ by about 10⁻¹⁵ everywhere (radii below 2⁻²¹ excepted, one pair in 10¹³), and the tails end at
    13.3. From :data:`RARE` on one word is as good as two. NumPy's generators are not used: their bits can be predicted.

    The bytes are the words for all U, then those that go on with them, then those for all V.

    Examples
    --------
    >>> normal_from_bytes(bytes(24)).tolist() == [float(np.sqrt(2 * 128 * np.log(2))), 0.0]
    True
    """
    high, low, angles = np.frombuffer(data, dtype="<u8").reshape(3, -1)
    return _normal(high, angles, lambda _count: low[high < RARE])


def _normal(
    high: npt.NDArray[np.uint64], angles: npt.NDArray[np.uint64], further: Callable[[int], npt.NDArray[np.uint64]]
) -> Floats:
    """The transformation, in place as far as it goes; ``further`` gives the words that go on with small U."""
    radius = high * 2.0**-64
    small = np.flatnonzero(high < RARE)
    radius += 2.0**-65
    radius[small] = high[small] * 2.0**-64 + (further(small.size) + 1.0) * 2.0**-128
    np.log(radius, out=radius)
    radius *= -2.0
    np.sqrt(np.abs(radius, out=radius), out=radius)
    half = (angles >> np.uint64(11)).astype(np.float64)
    half *= 0.5 * TURN
    np.tan(half, out=half)  # cosine and sine from it: NumPy's own take ten times as long
    pair = np.empty((2, len(half)))
    square = np.multiply(half, half, out=pair[0])
    radius /= square + 1.0
    np.subtract(1.0, square, out=square)
    square *= radius
    half *= 2.0
    np.multiply(radius, half, out=pair[1])
    return pair.reshape(-1)
