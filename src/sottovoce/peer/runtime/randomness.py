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
        return np.array([_one_normal(*struct.unpack("<2Q", os.urandom(16)))])
    pairs = (count + 1) // 2
    return normal_from_bytes(os.urandom(16 * pairs))[:count]


def _one_normal(first: int, second: int) -> float:
    """The first of the pair that :func:`normal_from_bytes` makes from these two words."""
    radius = math.sqrt(-2.0 * math.log(((first >> 11) + 1) * 2.0**-53))
    return radius * math.cos((2.0 * math.pi * 2.0**-53) * (second >> 11))


def normal_from_bytes(data: bytes) -> Floats:
    """Box and Muller's transformation of uniform bytes, 16 for each pair of standard normal numbers.

    From each pair of 64-bit words the top 53 bits make U in (0, 1] and V in [0, 1); the pair is
    √(−2 ln U)·(cos 2πV, sin 2πV). The resolution of U cuts the tails at √(2·53·ln 2) ≈ 8.57, beyond
    which lies 10⁻¹⁷ of the probability. NumPy's generators are not used: their bits can be predicted.

    Examples
    --------
    >>> normal_from_bytes(bytes(16)).tolist() == [float(np.sqrt(2 * 53 * np.log(2))), 0.0]
    True
    """
    words = np.frombuffer(data, dtype="<u8") >> np.uint64(11)
    half = len(words) // 2
    radius = np.sqrt(-2.0 * np.log((words[:half] + np.uint64(1)) * 2.0**-53))
    angle = (2.0 * math.pi * 2.0**-53) * words[half:]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
