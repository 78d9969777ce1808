"""Numbers that several rooms agree on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["NEGLIGIBLE", "common_or", "spread_of"]

NEGLIGIBLE = 2.0**-511
"""Amplitudes σφ^t below this are set to zero: their square, which is what an error or a variance would see of them, is
below the smallest normal double. Without the cut φ^t passes through denormal numbers, where one multiplication costs
a hundred ordinary ones."""


def common_or(mean: npt.ArrayLike, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """``mean``, but where all rows of ``values`` are equal, what they are equal to: a sum of them would be rounded.

    Examples
    --------
    >>> tenths = np.full(3, 0.1)
    >>> float(tenths.mean()), float(common_or(tenths.mean(), tenths))
    (0.10000000000000002, 0.1)
    """
    mean = np.asarray(mean)
    if not np.any(values[0] == values[-1]):  # most values are seen to differ at once
        return mean
    return np.where((values == values[0]).all(axis=0), values[0], mean)


def spread_of(values: npt.NDArray[np.float64]) -> float:
    """The standard deviation of all entries, exactly zero if they are equal.

    Examples
    --------
    >>> bool(np.full(3, 0.1).std() > 0.0), spread_of(np.full(3, 0.1))
    (True, 0.0)
    """
    return float(values.std()) if values.min() < values.max() else 0.0
