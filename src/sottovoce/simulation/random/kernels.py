"""The compiled form of :mod:`.streams`: random words, normal and Laplace draws, edges, a window of positions at a time.

The loops over a window are branch-free and vectorise. The drivers that use them are in
:mod:`sottovoce.simulation.kinds`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from ..atomics import bring
from ..compiling import compiled

__all__ = [
    "HALF",
    "PURPOSE_SHIFT",
    "WINDOW",
    "fill_draws_at",
    "fill_edges",
    "fill_equal_edges",
    "fill_laplace",
    "fill_normals",
    "fill_words",
    "words_at",
]

WINDOW = 64
"""Positions prepared together: enough for cache misses to overlap, few enough to stay in the first-level cache."""

NEAR = 2**14
"""Edges whose aliases need not be brought near: they are in the caches of a core."""

u64 = np.uint64
NONE = u64(0)
MASK, HALF = u64(0xFFFFFFFF), u64(32)
MULTIPLIER_0, MULTIPLIER_1 = u64(0xD2511F53), u64(0xCD9E8D57)
WEYL_0, WEYL_1 = u64(0x9E3779B9), u64(0xBB67AE85)
PURPOSE_SHIFT = u64(24)

# Polynomials for Box and Muller's transform: artanh(s)/s in s² for |s| ≤ (√2−1)/(√2+1), sin(a)/a and
# cos(a) in a² for |a| ≤ π/4. Coefficients are ours (interpolation at Chebyshev nodes in 40 digits);
# the relative error of each is below 1e−16. Plain multiplications and additions in a fixed order give the same
# bits on every machine, which the system's mathematical library does not promise, and vectorise.
A0, A1, A2, A3 = (
    1.0,
    float.fromhex("0x1.55555555555aep-2"),
    float.fromhex("0x1.999999997aeaap-3"),
    float.fromhex("0x1.2492494513f76p-3"),
)
A4, A5, A6, A7 = (
    float.fromhex(h)
    for h in ("0x1.c71c50004ffddp-4", "0x1.7466994f20a7cp-4", "0x1.3999bf614de60p-4", "0x1.2f4d88c4fad06p-4")
)
S0, S1, S2, S3 = (
    1.0,
    float.fromhex("-0x1.5555555555543p-3"),
    float.fromhex("0x1.111111110f3dcp-7"),
    float.fromhex("-0x1.a01a019ba956dp-13"),
)
S4, S5, S6 = (float.fromhex(h) for h in ("0x1.71de3530aa14dp-19", "-0x1.ae5e37e850d20p-26", "0x1.5d87699eb6a31p-33"))
C0, C1, C2, C3 = 1.0, -0.5, float.fromhex("0x1.5555555555536p-5"), float.fromhex("-0x1.6c16c16c13a05p-10")
C4, C5, C6, C7 = (
    float.fromhex(h)
    for h in ("0x1.a01a019b1e24dp-16", "-0x1.27e4f727f10b7p-22", "0x1.1ee96d0192650p-29", "-0x1.8f762711e61e0p-37")
)
LOG_2 = 0.6931471805599453
RADIANS = 1.5707963267948966 * 2.0**-30
ROOT_HALF_BITS = u64(0x3FE6A09E667F3BCD)
ONE_BITS = u64(0x3FF0000000000000)
MANTISSA = u64(0x000FFFFFFFFFFFFF)
TWO_52_BITS, TWO_52 = u64(0x4330000000000000), 2.0**52


@register_jitable(inline="always")
def _to_float(word: Any) -> Any:
    """Exact double of an integer below 2⁵², by placing it in the mantissa of 2⁵²."""
    return u64(word | TWO_52_BITS).view(np.float64) - TWO_52


@register_jitable
def _log_share(word: Any) -> Any:
    """log((word + ½)/2³²), always negative."""
    bits = np.float64((_to_float(word) + 0.5) * 2.0**-32).view(np.uint64)
    shifted = bits + (ONE_BITS - ROOT_HALF_BITS)
    exponent = _to_float(shifted >> u64(52)) - 1023.0
    mantissa = u64((shifted & MANTISSA) + ROOT_HALF_BITS).view(np.float64)  # in [√½, √2)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    q = s * s
    q2 = q * q
    series = ((A0 + q * A1) + q2 * (A2 + q * A3)) + q2 * q2 * ((A4 + q * A5) + q2 * (A6 + q * A7))
    return exponent * LOG_2 + 2.0 * s * series


@register_jitable(inline="always")
def _normal_pair(radius_word: Any, angle_word: Any) -> Any:
    """Box–Muller as defined by :func:`sottovoce.simulation.random.streams.normals_of`."""
    radius = np.sqrt(-2.0 * _log_share(radius_word))
    quarter = angle_word >> u64(30)
    angle = (_to_float(angle_word & u64(0x3FFFFFFF)) - (2.0**29 - 0.5)) * RADIANS
    z = angle * angle
    z2 = z * z
    sine = angle * (((S0 + z * S1) + z2 * (S2 + z * S3)) + z2 * z2 * ((S4 + z * S5) + z2 * S6))
    cosine = ((C0 + z * C1) + z2 * (C2 + z * C3)) + z2 * z2 * ((C4 + z * C5) + z2 * (C6 + z * C7))
    odd = (quarter & u64(1)) != u64(0)
    first = sine if odd else cosine
    second = cosine if odd else sine
    first_sign = (((quarter + u64(1)) >> u64(1)) & u64(1)) << u64(63)
    second_sign = (quarter >> u64(1)) << u64(63)
    return (
        u64(np.float64(radius * first).view(np.uint64) ^ first_sign).view(np.float64),
        u64(np.float64(radius * second).view(np.uint64) ^ second_sign).view(np.float64),
    )


@register_jitable(inline="always")
def _philox(position: Any, replica: Any, domain: Any, seed: Any) -> Any:
    """Philox4x32-10 as defined by :func:`sottovoce.simulation.random.streams.philox`."""
    c0, c1, c2, c3 = position & MASK, position >> HALF, u64(replica), u64(domain)
    k0, k1 = seed & MASK, seed >> HALF
    for _ in range(10):
        product_0 = MULTIPLIER_0 * c0
        product_1 = MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (
            (product_1 >> HALF) ^ c1 ^ k0,
            product_1 & MASK,
            (product_0 >> HALF) ^ c3 ^ k1,
            product_0 & MASK,
        )
        k0 = (k0 + WEYL_0) & MASK
        k1 = (k1 + WEYL_1) & MASK
    return c0, c1, c2, c3


@register_jitable
def words_at(position: Any, replica: Any, domain: Any, seed: Any) -> Any:
    """The four words at one position."""
    return _philox(u64(position), replica, domain, seed)


@compiled
def fill_words(words: Any, first: Any, replica: Any, domain: Any, seed: Any) -> None:
    """The words at the ``WINDOW`` positions from ``first``: ``words`` is ``(4, WINDOW)``."""
    for k in range(WINDOW):
        words[0, k], words[1, k], words[2, k], words[3, k] = _philox(u64(first) + u64(k), replica, domain, seed)


@compiled
def fill_draws_at(draws: Any, words: Any, first: Any, later: Any, domains: Any, replica: Any, seed: Any) -> None:
    """Two standard normals at each of ``first + later``, in a domain of its own: both are ``(lanes,)``.

    ``draws`` and ``words`` are ``(2, lanes)``. One loop that did both would be too long for vector instructions.
    """
    radius, angle, one, other = words[0], words[1], draws[0], draws[1]
    for k in range(len(later)):
        _, _, radius[k], angle[k] = _philox(u64(first) + later[k], replica, domains[k], seed)
    for k in range(len(later)):
        one[k], other[k] = _normal_pair(radius[k], angle[k])


@compiled
def fill_normals(words: Any, draws: Any) -> None:
    """Two standard normals per position: ``draws`` is ``(2, WINDOW)``."""
    for k in range(WINDOW):
        first, second = _normal_pair(words[2, k], words[3, k])
        draws[0, k] = first
        draws[1, k] = second


@compiled
def fill_laplace(words: Any, draws: Any) -> None:
    """One Laplace draw of unit scale per position, as :func:`sottovoce.simulation.random.streams.laplace_of`."""
    for k in range(WINDOW):
        size = np.float64(-_log_share(words[2, k])).view(np.uint64)
        draws[0, k] = u64(size | ((words[3, k] >> u64(31)) << u64(63))).view(np.float64)


@register_jitable(inline="always")
def _edge(low: Any, high: Any, num_edges: Any) -> Any:
    """The edge that two words choose, as :func:`sottovoce.simulation.random.streams.edge_of`."""
    return (high * num_edges + ((low * num_edges) >> HALF)) >> HALF


@compiled
def fill_equal_edges(fired: Any, first: Any, replica: Any, seed: Any, num_edges: Any) -> None:
    """The edges at the ``WINDOW`` positions from ``first`` where all are equally likely and nothing else is drawn."""
    m = u64(num_edges)
    for k in range(WINDOW):
        low, high, _, _ = _philox(u64(first) + u64(k), replica, 0, seed)
        fired[k] = _edge(low, high, m)


@compiled
def fill_edges(words: Any, fired: Any, num_edges: Any, accept: Any, alias: Any) -> None:
    """The edge of each position, as :func:`sottovoce.simulation.random.streams.edge_of`; ``fired`` is ``(WINDOW,)``."""
    m = u64(num_edges)
    for k in range(WINDOW):
        fired[k] = _edge(words[0, k], words[1, k], m)
    if len(accept) > 0:
        for k in range(WINDOW if len(accept) > NEAR else 0):
            bring(accept, fired[k])
            bring(alias, fired[k])
        for k in range(WINDOW):
            rest = ((words[0, k] | (words[1, k] << HALF)) * m) >> u64(11)
            replaced = NONE - u64(np.float64(rest) * 2.0**-53 >= accept[fired[k]])  # no or all bits: nothing to guess
            fired[k] ^= (fired[k] ^ u64(alias[fired[k]])) & replaced
