"""Fisher information about each of several quantities when all others are known, message by message.

It goes through a run beside :class:`.knowledge.Knowledge` and has the same two moves.
"""

from __future__ import annotations

import math

import numpy as np

from .knowledge import Array, Knowledge

__all__ = ["FisherInformation"]

SENSITIVITY_TOLERANCE = 1e-12
"""A message that depends on a private value by less than this weight is taken not to depend on it."""


class FisherInformation:
    """Information about each private value of a group.

    Parameters
    ----------
    factor
        ``(size, k)``: how k independent standard normals are in the noise-free values from the start; often none.

    Notes
    -----
    Given the private values the noise-free values are T·c plus noise; a heard message adds h hᵀ/s, where h
    is how the surprise depends on c and s its variance. Only the diagonal is wanted: sums of squares.

    Examples
    --------
    A value seen twice, under noise of deviation 1 and of deviation ½:

    >>> shown = FisherInformation(np.zeros((1, 0)))
    >>> for noise in (1.0, 0.5):
    ...     gain, deviation = shown.observe(0, noise)
    >>> shown.information.tolist()
    [5.0]
    """

    def __init__(self, factor: Array) -> None:
        self.noise = Knowledge(factor=factor)
        self.weights = np.eye(len(factor))
        self.information = np.zeros(len(factor))

    def add_noise(self, shares: dict[int, float]) -> None:
        """See :meth:`.Knowledge.add_noise`."""
        self.noise.add_noise(shares)

    def mix(self, p: int, q: int, noise: float) -> None:
        """See :meth:`.Knowledge.mix`."""
        self.noise.mix(p, q, noise)
        self.weights[p] = self.weights[q] = 0.5 * (self.weights[p] + self.weights[q])

    def observe(self, p: int, noise: float) -> tuple[Array, float]:
        """See :meth:`.Knowledge.observe`."""
        row = self.weights[p].copy()
        gain, deviation = self.noise.observe(p, noise)
        felt = np.abs(row) > SENSITIVITY_TOLERANCE
        if deviation == 0.0:
            self.information[felt] = math.inf
            return gain, deviation
        with np.errstate(over="ignore"):
            self.information[felt] += (row[felt] / deviation) ** 2
        self.weights -= np.outer(gain, row)
        if gain[p] != 0.0:
            self.weights[p] = row * (noise / deviation) ** 2
        return gain, deviation
