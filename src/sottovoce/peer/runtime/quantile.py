"""The normal distribution's quantiles for a light peer: Wichura's algorithm AS 241, with NumPy or plain floats alone.

M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37 (1988), pages
477 to 484. Its three rational functions are right to about one part in 10¹⁶; what is computed here to 2⁻⁴⁹.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["upper_quantile", "upper_quantiles"]

Floats = npt.NDArray[np.float64]

# Numerators and denominators, highest power first: of the middle, of the tails, and of the far tails.
_MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
_TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip
_MIDDLE_FROM = 0.075
_FAR_FROM = 5.0


def upper_quantile(p: float) -> float:
    """The z ≥ 0 that a standard normal number exceeds with probability ``p``, in (0, ½].

    Examples
    --------
    >>> upper_quantile(0.5), round(upper_quantile(0.025), 12)
    (0.0, 1.95996398454)
    """
    if p >= _MIDDLE_FROM:
        below = 0.5 - p
        return float(below * _ratio(_MIDDLE, 0.180625 - below * below))
    root = math.sqrt(-math.log(p))
    return float(_ratio(_TAIL, root - 1.6) if root <= _FAR_FROM else _ratio(_FAR, root - 5.0))


def upper_quantiles(p: Floats) -> Floats:
    """:func:`upper_quantile` of each number.

    Examples
    --------
    >>> upper_quantiles(np.array([0.5, 1e-3, 1e-30])).round(6).tolist()
    [0.0, 3.090232, 11.464025]
    """
    below = 0.5 - p
    found: Floats = np.multiply(below, _ratio(_MIDDLE, 0.180625 - below * below), out=below)
    outside = np.flatnonzero(p < _MIDDLE_FROM)
    root = np.sqrt(-np.log(p[outside]))
    tails = _ratio(_TAIL, root - 1.6)
    far = np.flatnonzero(root > _FAR_FROM)
    tails[far] = _ratio(_FAR, root[far] - 5.0)
    found[outside] = tails
    return found


def _ratio(of: tuple[tuple[float, ...], tuple[float, ...]], r: Any) -> Any:
    return _polynomial(of[0], r) / _polynomial(of[1], r)


def _polynomial(coefficients: tuple[float, ...], r: Any) -> Any:
    value = coefficients[0]
    for one in coefficients[1:]:
        value = value * r + one
    return value
