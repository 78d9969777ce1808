"""Step-addressed randomness: (seed, replica, step) determines the edge that fires and its two draws.

Nothing is drawn from a stream, so nothing depends on order, threads or chunk sizes: every executor
asks for the same address and gets the same numbers. One block of Philox4x32-10 (Salmon, Moraes,
Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011) serves one step: its first two
words choose the edge, its last two give two independent standard normals.

This module is the definition, in plain Python on plain integers, slow and easy to check. The compiled
form of the same functions is in :mod:`.kernels`; tests hold the two together.

========  ==========================================================================
word      of the 128-bit counter
========  ==========================================================================
0, 1      the position: the step, low half first
2         the replica
3         the coordinate of vector-valued data (low 24 bits) and the purpose (high 8)
========  ==========================================================================

The 64-bit key is the seed. Which edge fires does not depend on the coordinate. Methods that use more than
one block a step number their positions on: the l-th edge of a set of b at step k is at k·b + l, node i
in round k at k·n + i. Noise that belongs to an edge and is drawn once has a purpose of its own, and the
edge as its position; so has noise that is drawn once for a row of the table, before the first step. Purpose 3 decides
which messages are lost (:mod:`sottovoce.simulation.changing.fates`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ...errors import InvalidParameter

__all__ = [
    "EDGE_NOISE",
    "MAX_COORDINATES",
    "MAX_REPLICAS",
    "START_NOISE",
    "Stream",
    "block",
    "check_seed",
    "edge_of",
    "laplace_of",
    "normals_of",
    "philox",
]

WORD = 0xFFFFFFFF
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10

EDGE_NOISE = 1
"""Purpose of noise that two neighbours share."""
START_NOISE = 2
"""Purpose of noise that is drawn once for a row of the table, before the first step."""

MAX_REPLICAS = 2**32
MAX_COORDINATES = 2**24

Words = tuple[int, int, int, int]


def philox(counter: Words, key: tuple[int, int]) -> Words:
    """Philox4x32-10: four 32-bit words from a 128-bit counter and a 64-bit key.

    Examples
    --------
    The published known answer for counter and key zero:

    >>> [f"{word:08x}" for word in philox((0, 0, 0, 0), (0, 0))]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        product_0, product_1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (product_1 >> 32) ^ c1 ^ k0, product_1 & WORD, (product_0 >> 32) ^ c3 ^ k1, product_0 & WORD
        k0, k1 = (k0 + WEYL[0]) & WORD, (k1 + WEYL[1]) & WORD
    return c0, c1, c2, c3


def block(seed: int, replica: int, step: int, coordinate: int = 0, purpose: int = 0) -> Words:
    """The four words at one address."""
    return philox((step & WORD, step >> 32, replica, coordinate | purpose << 24), (seed & WORD, seed >> 32))


class Stream(NamedTuple):
    """Whose numbers: an address without its position."""

    seed: int
    replica: int = 0
    coordinate: int = 0

    def words(self, position: int, purpose: int = 0) -> Words:
        """What this coordinate finds at a position."""
        return block(self.seed, self.replica, position, self.coordinate, purpose)

    def common_words(self, position: int) -> Words:
        """What all coordinates find there: they decide which edge fires."""
        return block(self.seed, self.replica, position)


def edge_of(words: Words, num_edges: int) -> tuple[int, float]:
    """The edge a block chooses uniformly, and where in that edge's interval the choice fell (in [0, 1)).

    The first two words are a 64-bit number w; the edge is ⌊w·m / 2⁶⁴⌋, whose departure from uniform
    is below m/2⁶⁴. The remainder decides between an edge and its alias when edges are not equally likely.
    """
    product = (words[0] | words[1] << 32) * num_edges
    return product >> 64, ((product & 0xFFFFFFFFFFFFFFFF) >> 11) * 2.0**-53


def normals_of(words: Words) -> tuple[float, float]:
    """Two independent standard normals by Box and Muller's transform of the last two words.

    The radius takes the third word, the angle the fourth: its top two bits choose the quarter turn
    and the rest an angle in (−π/4, π/4). Draws are bounded by √(2 ln 2³³) ≈ 6.76.
    """
    radius = math.sqrt(-2.0 * math.log((words[2] + 0.5) * 2.0**-32))
    quarter, rest = words[3] >> 30, words[3] & 0x3FFFFFFF
    angle = (quarter + (rest + 0.5) * 2.0**-30 - 0.5) * (math.pi / 2)
    return radius * math.cos(angle), radius * math.sin(angle)


def laplace_of(words: Words) -> float:
    """A Laplace draw of unit scale (variance 2): the third word is its size, the top bit of the fourth its sign."""
    size = -math.log((words[2] + 0.5) * 2.0**-32)
    return -size if words[3] >> 31 else size


def check_seed(seed: int) -> int:
    """A seed is a whole number that fits the 64-bit key."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= int(seed) < 2**64:
        raise InvalidParameter(f"seed must be a whole number in [0, 2^64), got {seed!r}")
    return int(seed)
