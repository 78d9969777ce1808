"""Where a real peer's noise and coins come from: the operating system. When is decided in :mod:`.protocol.noise`."""

from __future__ import annotations

import math
import os
import struct

import numpy as np
import numpy.typing as npt

from ..protocol.units import Vector

__all__ = ["normal_from_bytes", "system_coins", "system_normal"]

Floats = npt.NDArray[np.float64]


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
    pairs = (count + 1) // 2
    return normal_from_bytes(os.urandom(24 * pairs))[:count]


def _one_normal(first: int, second: int, third: int) -> float:
    """The first of the pair that :func:`normal_from_bytes` makes from these three words."""
    radius = math.sqrt(abs(-2.0 * math.log(first * 2.0**-64 + (second + 1) * 2.0**-128)))
    return radius * math.cos((2.0 * math.pi * 2.0**-53) * (third >> 11))


def normal_from_bytes(data: bytes) -> Floats:
    """Box and Muller's transformation of uniform bytes, 24 for each pair of standard normal numbers.

    Two 64-bit words make U in (0, 1], the top 53 bits of a third V in [0, 1); the pair is
    √(−2 ln U)·(cos 2πV, sin 2πV).
    The second word of U matters where U is small: with 53 bits alone the radii beyond 5.7 would lie further apart than
    2⁻³², and the last digits of a rare large draw could rule out private values. With it neighbouring radii and angles
    differ by about 10⁻¹⁵ everywhere (radii below 2⁻²¹ excepted, one pair in 10¹³), and the tails end at 13.3.
    NumPy's generators are not used: their bits can be predicted.

    Examples
    --------
    >>> normal_from_bytes(bytes(24)).tolist() == [float(np.sqrt(2 * 128 * np.log(2))), 0.0]
    True
    """
    high, low, angles = np.frombuffer(data, dtype="<u8").reshape(3, -1)
    radius = np.sqrt(abs(-2.0 * np.log(high * 2.0**-64 + (low + 1.0) * 2.0**-128)))
    angle = (2.0 * math.pi * 2.0**-53) * (angles >> np.uint64(11))
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
