r"""R47: how much may move over an edge, from what all members declare. Plain numbers in, whole units out.

**The limit of an edge.** With n members whose values lie within R = high − low, seals of deviation s, noise σφ^t and at
most d neighbours, the net flow of an edge stays within

    L = ½ n R + 10 s √d + 10 σ/√(1 − φ²)

in honest runs (the bridge between two halves carries nR/4 at most; the seals of a node put it s √d off at first; noise
moves about σ/√(2(1 − φ²)) over an edge in all). A member with a single neighbour represents only itself, so on its
edge R takes the place of ½ n R.

**No honest peer is stranded.** The end that answers moves at most L at once, and never past [−L, L], or towards it if
the flow is outside. Each register is at most one step ahead of its copy, so two steps can cross: by induction the flow
stays within 2L, whatever is lost or late, and that is what is checked on every register before it is believed, on
adoption too. A past lie therefore never makes an honest register unacceptable, and since |x| ≤ |c| + Σ flows + noise,
the value limit below is never reached by an honest peer either.

**What a liar can do.** A member that lies with k edges moves the mean of the n members by at most **2 k L / n** while
it stays, and by nothing once its edges are dropped, because its flows go with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import ConfigError
from .units import LARGEST, Unit, bounds_in_units, exactly

__all__ = ["NOISE_REACH", "RESOLUTION", "Limits", "check_resolution", "limits"]

RESOLUTION = 2.0**-32
"""The unit is at least this share of σ and of the seal. Neighbouring normal numbers that the generator can make differ
by less than 10⁻¹⁵, so each whole number of units can then come about in 2²⁰ ways or more, and no value can be ruled out
by its last bits."""

NOISE_REACH = 10.0
"""Deviations that a limit allows for seals and noise; a draw exceeds it once in 10²³."""


@dataclass(frozen=True)
class Limits:
    """Limits in units.

    Parameters
    ----------
    low, high
        The declared range of private values.
    edge, leaf
        L of an ordinary edge, and of the edge of a member that has only one neighbour.
    value
        The largest |x| that can arise.
    """

    low: int
    high: int
    edge: int
    leaf: int
    value: int


def limits(
    *,
    unit: str,
    low: float,
    high: float,
    members: int,
    max_degree: int,
    seal_std: float,
    noise_std: float,
    noise_decay: float,
) -> Limits:
    """The limits that follow from what all members of a network declare.

    Raises
    ------
    ConfigError
        They do not fit into 2⁶⁰ units: the unit is too small for this range, or for this many members.

    Examples
    --------
    >>> found = limits(unit="0.01", low=0, high=100, members=4, max_degree=3, seal_std=100.0, noise_std=10.0,
    ...                noise_decay=0.9)
    >>> found.edge, found.leaf, found.value
    (216147, 206147, 1316880)
    """
    h = Unit(unit)
    least, most = bounds_in_units(low, high, h)
    if least > most:
        raise ConfigError(f"low must be below high by at least a unit, got {low!r} and {high!r}")
    width = float((exactly(high) - exactly(low)) / h.size)
    spread = NOISE_REACH * (seal_std * math.sqrt(max_degree) + noise_std / math.sqrt(1.0 - noise_decay**2)) / h.number
    wide = 0.5 * members * width + spread
    farthest = max(abs(least), abs(most)) + 2.0 * max_degree * wide + NOISE_REACH * noise_std / h.number
    if not farthest < LARGEST:
        raise ConfigError(
            f"unit must be larger: |low|, |high| + 2 max_degree L + 10 noise_std is {farthest * h.number:.3g}, more "
            f"than 2**60 units of {unit}"
        )
    return Limits(least, most, math.ceil(wide), math.ceil(width + spread), math.ceil(farthest))


def check_resolution(*, unit: str, noise_std: float, seal_std: float) -> None:
    """Refuse a unit that is so small beside the noise that the last digits of a message could tell the value.

    Raises
    ------
    ConfigError
        Unless unit ≥ 2⁻³² max(noise_std, seal_std).
    """
    h = Unit(unit)
    if h.number < RESOLUTION * max(noise_std, seal_std):
        raise ConfigError(
            f"unit must be at least 2**-32 times noise_std and seal_std, that is "
            f"{RESOLUTION * max(noise_std, seal_std):.3g}, got {unit}"
        )
