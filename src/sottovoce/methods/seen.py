"""What a few nodes see of synchronous averaging without noise, or with one draw per node: ranks decided with care.

Differences between rounds shrink geometrically, so sixteen digits lose rank after a few dozen rounds and would
understate what is seen. Here weights are the fractions they were meant to be and rows are whole numbers, with more and
more digits until two answers agree.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, NumericalFailure
from .synchronous import check_node
from .weights import averaging_matrix

__all__ = ["intended", "one_draw_information", "seen_share"]

Array = npt.NDArray[np.float64]
Whole = npt.NDArray[Any]

EPSILON = 2.0**-52
FEWEST_BITS, MOST_BITS = 256, 16_384
AGREEMENT = 1e-9


def seen_share(weights: npt.ArrayLike, observers: npt.ArrayLike, num_rounds: int) -> Array:
    """``(n,)`` how much of each private value lies in what the observers see of ``num_rounds`` rounds of x ← W x.

    They know their own values and hear their neighbours at the start of each round. Stack what they see as rows B of
    linear functions of c: the share of node i is [B⁺B]_ii, between 0 (nothing) and 1 (without noise the value is
    theirs; El Mrini et al. 2024). With one Gaussian draw of standard deviation σ on every value (Muffliato) the Rényi
    divergence of order a between two values of node i that lie Δ apart is a Δ² share/(2σ²) on everything seen
    together. Adding up messages one by one understates it.

    Examples
    --------
    A path of three, W = I − L/3, two rounds seen by its first node: it knows all.

    >>> weights = np.eye(3) - np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]]) / 3
    >>> seen_share(weights, [0], 2).round(12).tolist()
    [1.0, 1.0, 1.0]
    >>> seen_share(weights, [0], 1).round(12).tolist()
    [1.0, 1.0, 0.0]
    """
    matrix = averaging_matrix(weights)
    who = np.atleast_1d(np.asarray(observers, dtype=np.int64))
    for node in who:
        check_node("observers", node, len(matrix))
    meant = [[intended(weight) for weight in row] for row in matrix.tolist()]
    heard = np.flatnonzero((matrix[who] != 0).any(axis=0)).tolist()
    bits, before = FEWEST_BITS, None
    while bits <= MOST_BITS:
        found = _projected(meant, who.tolist(), heard, num_rounds, bits)
        if before is not None and np.allclose(before, found, rtol=0.0, atol=AGREEMENT):
            return found
        before, bits = found, 2 * bits
    raise NumericalFailure(f"cannot decide what {num_rounds} rounds show: {MOST_BITS} binary digits do not suffice")


def one_draw_information(weights: npt.ArrayLike, observer: int, *, noise_std: float, num_rounds: int) -> Array:
    """Fisher information about every value when each node adds one Gaussian draw and then averages by W.

    That is Muffliato's setting (Cyffers et al. 2022). The messages a node hears in rounds 0 … ``num_rounds`` − 1
    are B(c + draws), so the information about c_u is e_uᵀB⁺B e_u/σ²; the observer knows its own value and
    draw. Adding up the messages one by one understates it, because they share the draws.

    Returns
    -------
    Array
        ``(n,)``; infinite for the observer.

    Examples
    --------
    Path 0–1–2 with W = I − L/3: after two rounds node 0 has all of node 2's noisy value.

    >>> L = np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]])
    >>> one_draw_information(np.eye(3) - L / 3, 0, noise_std=1.0, num_rounds=2).round(9).tolist()
    [inf, 1.0, 1.0]
    """
    if not noise_std > 0.0:
        raise InvalidParameter(f"noise_std must be above 0, got {noise_std:g}")
    information: Array = seen_share(weights, [observer], num_rounds) / noise_std**2
    information[observer] = np.inf
    return information


def intended(weight: float) -> Fraction:
    """The fraction that a weight was meant to be: a simple one if that is where rounding may have come from.

    Rounding ⅓ breaks coincidences between weights, and with them ranks.

    Examples
    --------
    >>> intended(1 / 3), intended(1 - 2 / 3), intended(0.5)
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 2))
    """
    simple = Fraction(weight).limit_denominator(10_000)
    return simple if abs(float(simple) - weight) <= 4.0 * EPSILON * max(1.0, abs(weight)) else Fraction(weight)


def _projected(matrix: list[list[Fraction]], who: list[int], heard: list[int], num_rounds: int, bits: int) -> Array:
    """Diagonal of the projection on what is seen, in whole multiples of 2^−bits.

    Rows are made orthogonal one after another; one of which less than 2^(−¾ bits) is left, squared, adds nothing.
    """
    size, one = len(matrix), 1 << bits
    weights = np.array([[round(weight * one) for weight in row] for row in matrix], dtype=object)
    values = np.array([[one * (i == j) for j in range(size)] for i in range(size)], dtype=object)
    basis: list[Whole] = []
    share = np.zeros(size)
    rows = [values[node] for node in who]
    for _ in range(num_rounds + 1):
        for row in rows:
            left = row
            for other in basis:
                left = left - ((left @ other) * other) // (other @ other)
            square = int(left @ left)
            if square >> bits > 1 << (bits // 4):
                basis.append(left)
                share += [float(Fraction(int(part) ** 2, square)) for part in left]
        if len(basis) == size:
            return np.ones(size)
        rows = [values[node] for node in heard]
        values = (weights @ values) >> bits
    return share
