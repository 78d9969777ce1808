"""The moves of :class:`.knowledge.Knowledge` with as many digits as one asks for.

Noise ratios φ^t span hundreds of orders of magnitude, and a message may tell apart two values by a weight of 10⁻⁴⁰
under noise of 10⁻⁷⁰. Sixteen digits then cannot say what is known. Here numbers are whole multiples of 2^−bits, kept as
Python's integers, and the covariance is updated as it stands: with enough digits nothing is lost by subtraction.
How many are enough is found by asking twice, with more digits the second time (:func:`agreed`). It is some hundred
times slower than doubles and used only where those do not suffice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["PreciseKnowledge", "agreed"]

Array = npt.NDArray[np.float64]
Whole = npt.NDArray[Any]
"""Arrays of Python integers."""

FEWEST_BITS, MOST_BITS = 256, 5000
AGREEMENT = 1e-9
"""Two answers, found with different numbers of digits, may differ by this share."""


class PreciseKnowledge:
    """Uncertainty of jointly Gaussian quantities to ``bits`` binary places.

    Parameters
    ----------
    factor, diffuse
        As for :class:`.knowledge.Knowledge`; taken as the exact fractions that these doubles are.
    bits
        Binary places. Variances and squared weights below 2^(−¾ bits) count as zero.

    Examples
    --------
    >>> known = PreciseKnowledge(np.zeros((2, 0)), np.ones((2, 1)), bits=200)
    >>> known.observe(0, 1e-20)
    >>> known.std().tolist()
    [1e-20, 1e-20]
    """

    def __init__(self, factor: Array, diffuse: Array | None = None, *, bits: int) -> None:
        self.bits = bits
        self._zero = 1 << (bits // 4)
        exact = self._whole(factor)
        self._covariance: Whole = np.zeros((len(factor), len(factor)), dtype=object)
        for k in range(exact.shape[1]):
            rows = np.flatnonzero(exact[:, k])
            self._covariance[np.ix_(rows, rows)] += np.multiply.outer(exact[rows, k], exact[rows, k]) >> bits
        self._diffuse: Whole = np.zeros((len(factor), 0), dtype=object) if diffuse is None else self._whole(diffuse)
        self.resolved = 0
        """How many directions of the flat prior were resolved."""

    def mix(self, p: int, q: int, noise: float) -> None:
        """See :meth:`.Knowledge.mix`."""
        covariance = self._covariance
        mean = (covariance[p] + covariance[q]) // 2
        own = (mean[p] + mean[q]) // 2
        mean[p] = mean[q] = own
        covariance[p], covariance[q] = mean, mean
        covariance[:, p], covariance[:, q] = mean, mean
        extra = self._square(noise)
        for a, b, sign in ((p, p, 1), (q, q, 1), (p, q, -1), (q, p, -1)):
            covariance[a, b] += sign * extra
        self._diffuse[p] = self._diffuse[q] = (self._diffuse[p] + self._diffuse[q]) // 2

    def add_noise(self, shares: dict[int, float]) -> None:
        """See :meth:`.Knowledge.add_noise`."""
        whole = {row: self._whole(np.array([share]))[0] for row, share in shares.items() if share}
        for a, one in whole.items():
            for b, other in whole.items():
                self._covariance[a, b] += (one * other) >> self.bits

    def observe(self, p: int, noise: float) -> None:
        """See :meth:`.Knowledge.observe`; what an attack needs is not returned."""
        bits, row, extra = self.bits, self._covariance[p].copy(), self._square(noise)
        weights = self._diffuse[p]
        size = max((abs(weight) for weight in weights), default=0)
        if size * size > self._zero << bits:
            self._resolve(p, extra)
            return
        self._diffuse[p] = 0
        variance = row[p] + extra
        if variance <= self._zero:
            return
        moved = np.flatnonzero(row)
        gain = (row[moved] << bits) // variance
        self._covariance[np.ix_(moved, moved)] -= np.multiply.outer(gain, row[moved]) >> bits

    def std(self, rows: slice = slice(None)) -> Array:
        """See :meth:`.Knowledge.std`."""
        places = range(*rows.indices(len(self._covariance)))
        deviation = np.array([_root(self._covariance[k, k], self.bits, self._zero) for k in places])
        weights = np.abs(self._diffuse[rows]).max(axis=1, initial=0)
        deviation[np.array([weight * weight > self._zero << self.bits for weight in weights], dtype=bool)] = math.inf
        return deviation

    def _resolve(self, p: int, extra: int) -> None:
        """The message tells one direction of the flat prior: take it out of all rows."""
        bits, diffuse, covariance = self.bits, self._diffuse, self._covariance
        weights = diffuse[p].copy()
        pivot = int(np.argmax(np.abs(weights)))
        gain = (diffuse[:, pivot] << bits) // weights[pivot]
        moved = np.flatnonzero(gain)
        diffuse[moved] -= np.multiply.outer(gain[moved], weights) >> bits
        self._diffuse = np.delete(diffuse, pivot, axis=1)
        self._diffuse[p] = 0
        # New error of every row: its own less gain times (that of row p and the noise of the message).
        row = covariance[p].copy()
        cross = np.multiply.outer(gain[moved], row) >> bits
        covariance[moved] -= cross
        covariance[:, moved] -= cross.T
        square = np.multiply.outer(gain[moved], (gain[moved] * (row[p] + extra)) >> bits) >> bits
        covariance[np.ix_(moved, moved)] += square
        self.resolved += 1

    def _whole(self, numbers: Array) -> Whole:
        flat = [int(Fraction(number) * (1 << self.bits)) for number in np.ravel(numbers).tolist()]
        out: Whole = np.empty(len(flat), dtype=object)
        out[:] = flat
        return out.reshape(np.shape(numbers))

    def _square(self, noise: float) -> int:
        return int(Fraction(noise) ** 2 * (1 << self.bits))


def agreed(answer: Callable[[int], Array | None], negligible: Array) -> Array | None:
    """The answer that does not depend on the number of digits, or ``None``: they never sufficed.

    Parameters
    ----------
    answer
        Deviations found with so many binary places; ``None`` if they are known not to suffice, or to cost too much.
    negligible
        Differences up to these do not matter.
    """
    bits, before = FEWEST_BITS, None
    while bits <= MOST_BITS:
        found = answer(bits)
        if found is not None and before is not None and _close(before, found, negligible):
            return found
        before, bits = found, bits + bits // 2
    return None


def _close(one: Array, other: Array, negligible: Array) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(((one == other) | (np.abs(one - other) <= np.maximum(negligible, AGREEMENT * other))).all())


def _root(variance: int, bits: int, zero: int) -> float:
    """√(variance · 2^−bits), also where the variance is no double."""
    if variance <= zero:
        return 0.0
    shift = max(0, variance.bit_length() - 120)
    shift += (shift - bits) % 2
    try:
        return math.ldexp(math.sqrt(variance >> shift), (shift - bits) // 2)
    except OverflowError:
        return math.inf
