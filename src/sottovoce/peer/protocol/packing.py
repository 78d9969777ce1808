r"""Whole numbers as bytes: as many for each as the network's public limits ask for, and all eight where one is larger.

A vector is its numbers, two's complement, little-endian, and a last byte that says how many bytes each of them has.
On the way, how many that is usually follows from what all members declare (range, seals, noise, tolerance) and not from
the numbers: otherwise the length of an encrypted message would tell how large the largest one is. It tells only that a
register has grown beyond all that a *value* can be.

>>> b"".join(pack(np.array([1, -2, 300]), usual=2)).hex(" ")
'01 00 fe ff 2c 01 02'
>>> [unpack(b"".join(pack(np.array(numbers), usual=3))).tolist() for numbers in ([1, -2, 300], [1, 2**40])]
[[1, -2, 300], [1, 1099511627776]]
"""

from __future__ import annotations

import numpy as np

from .messages import Vector, extremes, within

__all__ = ["WORD", "bytes_for", "bytes_of", "pack", "pack_tightly", "tightly", "unpack"]

WORD = 8
"""Bytes of a number as peers keep it."""

_WORDS = np.dtype("<i8")
_NATIVE = {width: np.dtype(f"<i{width}") for width in (1, 2, 4, WORD)}


def bytes_for(limit: int) -> int:
    """How many bytes a number within [−limit, limit] needs.

    Examples
    --------
    >>> [bytes_for(limit) for limit in (127, 128, 2**31 - 1, 2**60)]
    [1, 2, 4, 8]
    """
    return min(limit.bit_length() // 8 + 1, WORD)


def bytes_of(vector: Vector) -> int:
    """How many bytes to give each number of a vector where lengths tell nobody anything, as on disk: 1, 2, 4 or 8.

    Three would do where four are given, but numbers of three bytes take twenty times as long to pack.
    """
    least, most = extremes(vector)
    needed = bytes_for(max(most, -least))
    return next(width for width in _NATIVE if width >= needed)


def pack(vector: Vector, usual: int) -> tuple[bytes | memoryview, bytes]:
    """A vector as bytes, ``usual`` for each number if they suffice; numbers that need all eight are not copied."""
    return _packed(vector, usual if usual == WORD or within(vector, 2 ** (8 * usual - 1) - 1) else WORD)


def pack_tightly(vector: Vector) -> bytes:
    """A vector as bytes, as few for each number as :func:`bytes_of` says.

    Examples
    --------
    >>> pack_tightly(np.array([1, -2])).hex(" "), pack_tightly(np.array([1, -200])).hex(" ")
    ('01 fe 01', '01 00 38 ff 02')
    """
    return b"".join(tightly(vector))


def tightly(vector: Vector) -> tuple[bytes | memoryview, bytes]:
    """The parts of :func:`pack_tightly`, which need not be copied."""
    return _packed(vector, bytes_of(vector))


def _packed(vector: Vector, width: int) -> tuple[bytes | memoryview, bytes]:
    """So many bytes for each number; whoever calls has seen that they suffice."""
    last = bytes([width])
    if len(vector) == 1:  # the common case of a single number, without the cost of arrays
        return int(vector[0]).to_bytes(width, "little", signed=True), last
    if width in _NATIVE:
        return np.ascontiguousarray(vector, dtype=_NATIVE[width]).data, last
    words = np.ascontiguousarray(vector, dtype=_WORDS).view(np.uint8).reshape(-1, WORD)
    return words[:, :width].tobytes(), last


def unpack(content: bytes | memoryview) -> Vector | None:
    """The vector in ``content``, which nobody can write to; ``None`` if there is none.

    Numbers of fewer than eight bytes are within 2⁵⁵, whatever they are: only those of eight can be too large.
    """
    width, size = (content[-1], len(content) - 1) if content else (0, 0)
    if not 1 <= width <= WORD or size % width:
        return None
    if width in _NATIVE:
        numbers: Vector = np.frombuffer(content, _NATIVE[width], size // width).astype(np.int64, copy=False)
    else:
        words = np.zeros((size // width, WORD), dtype=np.uint8)
        words[:, WORD - width :] = np.frombuffer(content, np.uint8, size).reshape(-1, width)
        numbers = (words.view(_WORDS)[:, 0] >> (8 * (WORD - width))).astype(np.int64, copy=False)
    numbers.flags.writeable = False
    return numbers
