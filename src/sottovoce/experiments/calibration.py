"""Noise of several methods set so that one threat model leaves the same of private values: comparison at equal privacy.

More noise never tells an observer more: messages under s times the noise are those under the noise itself with
independent noise added, s > 1. So what is left grows with the factor, and the factor for a target is found by a bracket
and Brent's method, on the same observers and schedules for every method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import Unsupported
from ..methods import Method
from .observers import Observers, Statistic

__all__ = ["Calibration", "calibrated"]

STRETCH, REACH = 4.0, 9
"""The bracket grows by this factor, so many times."""
CLOSE = 2e-3
"""How close to the target, as a share of the prior deviation, is close enough."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """A method with its noise set, or as it was with the reason in ``failure``."""

    method: Method
    factor: float | None
    target: float
    failure: str = ""


def calibrated(
    method: Method, observers: Observers, num_steps: int, *, target: float, statistic: Statistic = "median"
) -> Calibration:
    """Scale the method's noise until observers are left with ``target`` of the prior deviation.

    Parameters
    ----------
    target
        In (0, 1).
    statistic
        ``"median"`` over pairs of an observer and a neighbour, or ``"worst"`` of them; of either the median over
        schedules.
    """
    if not method.noise_sizes or all(not np.any(getattr(method, name)) for name in method.noise_sizes):
        return Calibration(method, None, target, "no noise to set")
    seen: dict[float, float] = {}

    def off(logarithm: float) -> float:
        if logarithm not in seen:
            left = observers.left(method.with_noise(math.exp(logarithm)), num_steps)
            per_schedule = np.median(left, axis=1) if statistic == "median" else left.min(axis=1)
            seen[logarithm] = float(np.median(per_schedule)) - target
        return seen[logarithm]

    try:
        found = _root(off)
    except Unsupported:
        return Calibration(method, None, target, "not analysed")
    if found is None:
        least, most = seen[min(seen)] + target, seen[max(seen)] + target
        return Calibration(method, None, target, f"leaves {least:.2g} to {most:.2g}, whatever its noise")
    factor = float(f"{math.exp(found):.3g}")
    return Calibration(method.with_noise(factor), factor, target)


def _root(function: Callable[[float], float]) -> float | None:
    """Where a growing function is about zero; ``None`` if it is on one side all over the bracket."""
    from scipy.optimize import brentq

    low = high = 0.0
    step = math.log(STRETCH)
    if abs(function(0.0)) <= CLOSE:
        return 0.0
    for _ in range(REACH):
        if function(high) < 0.0:
            low, high = high, high + step
        elif function(low) > 0.0:
            low, high = low - step, low
        else:
            break
    if function(low) > 0.0 or function(high) < 0.0:
        return None
    return float(brentq(lambda x: 0.0 if abs(function(x)) <= CLOSE else function(x), low, high, xtol=1e-3))
