"""One average as a program asks for it: a value of any shape in, the mean of the contributors in the same shape out."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, InvalidValues
from ...privacy.releases import Release
from ..membership.config import PeerConfig
from ..protocol.state import check_value
from ..protocol.terms import WEIGHTED
from ..protocol.units import Vector
from ..trees import flatten, place_of
from .asking import as_float
from .records import Answer
from .releasing import check_room, cost_of, with_noise

__all__ = ["Average", "Question", "Round"]


@dataclass(frozen=True)
class Average:
    """The answer of a topic.

    Parameters
    ----------
    topic
        Its name.
    mean
        The mean of the contributors' values, in the shape in which the value was given. All contributors get the same
        digits, unless one of them had to be restarted in the last moment.
    contributors, number
        Whose values it is the mean of, in the order of the roster, and how many they are.
    plus_minus
        How far any coordinate of the mean can be from the exact one of the contributions, which were rounded to the
        unit; with weights, that of the quotient. What 32-bit arrays cannot hold is in it. The noise of a release comes
        on top, and so do half a unit at most where values are no multiples of it, and the last digit of a float where
        the mean is larger than 2⁵² units.
    epsilon
        Of a release: the ε that this mean reached at the agreed δ, from the number of contributors. Every missing
        member counts as one of the honest. Members that take part see more than the mean.
    clipped
        Of a release: how many numbers of this peer's value were moved to an end of the range.
    """

    topic: str
    mean: Any
    contributors: tuple[str, ...]
    number: int
    plus_minus: float
    epsilon: float | None = None
    clipped: int = 0


@dataclass(frozen=True)
class Round:
    """One of several topics that follow each other.

    Parameters
    ----------
    number
        From 1.
    average
        Contributes to this round and waits for its answer: :meth:`sottovoce.peer.Peer.average` with the topic given.
    """

    number: int
    average: Callable[..., Awaitable[Average]] = field(repr=False)  # it holds the weight


@dataclass(frozen=True, repr=False)
class Question:
    """A value on its way into a topic, and how to read the answer.

    Parameters
    ----------
    vector
        What is contributed, in units.
    read
        Makes the answer in the shape of the value from floats.
    shape
        That shape, as it is told to neighbours; with :data:`WEIGHTED` before it, ``vector`` is a weight, and then the
        weight times the value.
    release, clipped
        The agreement about noise that is in ``vector``, if any; how many numbers were clipped.
    """

    vector: Vector
    read: Callable[[npt.NDArray[np.float64]], Any]
    shape: str
    release: Release | None = None
    clipped: int = 0

    @classmethod
    def of(cls, value: Any, weight: float | None, config: PeerConfig) -> Question:
        """Check a value; with a weight w, contribute w and w times the value.

        Raises
        ------
        InvalidValues
            It is no tree of finite numbers, or one of them is out of the declared range.
        InvalidParameter
            The weight is not positive, out of the range, or rounded to nothing.
        """
        flat, rebuild, shape = flatten(value)
        place = partial(place_of, value)
        if weight is None:
            return cls(_in_units(flat, config, place), rebuild, shape)
        checked = _weight(weight, config)
        products = _times(checked, flat, config, place)
        return cls(_in_units(np.concatenate([[checked], products]), config, place), rebuild, WEIGHTED + shape)

    @classmethod
    def released(cls, value: Any, release: Release, config: PeerConfig, *, clip: bool) -> Question:
        """Check a value and add its noise.

        Raises
        ------
        InvalidValues
            It is no tree of finite numbers, or one of them is out of the release's range and not to be clipped.
        InvalidParameter
            The release does not fit the value or the network.
        """
        flat, rebuild, shape = flatten(value)
        place = partial(place_of, value)
        check_room(release, flat.size, config)
        noisy, clipped = with_noise(check_value(flat, dimension=flat.size, place=place), release, clip=clip)
        return cls(_in_units(noisy, config, place), rebuild, shape, release, clipped)

    def as_contributed(self, vector: Vector | None) -> Question:
        """The same with what this topic has already, if anything: noise is drawn once for a topic."""
        return self if vector is None else replace(self, vector=vector)

    def answer(self, found: Answer, config: PeerConfig) -> Average:
        """What the program gets.

        Raises
        ------
        InvalidParameter
            The weights are so small that their mean may be 0.
        """
        means, bound = config.units.to_values(found.twice) / 2.0, 0.5 * found.width * config.units.number
        if self.shape.startswith(WEIGHTED):
            means, bound = _quotient(means, bound + 0.5 * config.units.number)  # weights were rounded, too
        told = self.read(means)
        bound += _rounded(told, means)
        plain = Average(found.name, told, found.contributors, len(found.contributors), bound)
        cost = None if self.release is None else cost_of(found.name, plain.number)
        if self.release is None or cost is None:
            return plain
        return replace(plain, epsilon=cost.epsilon(self.release.delta), clipped=self.clipped)


def _weight(weight: object, config: PeerConfig) -> float:
    """A weight as a float. It tells of the value, so no message shows it."""
    number = as_float(weight)
    if not (0.0 < number < math.inf and config.low <= number <= config.high):
        raise InvalidParameter(
            f"weight must be a positive number within the declared range [{config.low:g}, {config.high:g}]"
        )
    if not config.units.from_values(number).any():
        raise InvalidParameter(f"weight must be larger: in units of {config.unit} it would be rounded to 0")
    return number


def _times(
    weight: float, flat: npt.NDArray[np.float64], config: PeerConfig, place: Callable[[int], str]
) -> npt.NDArray[np.float64]:
    """The value times its weight, where that is in the range."""
    with np.errstate(over="ignore"):
        product = weight * check_value(flat, dimension=flat.size, place=place)
    outside = np.flatnonzero((product < config.low) | (product > config.high))
    if outside.size:
        raise InvalidValues(
            f"{place(int(outside[0]))}, times the weight, lies outside the declared range "
            f"[{config.low:g}, {config.high:g}]"
        )
    return product


def _quotient(sums: npt.NDArray[np.float64], apart: float) -> tuple[npt.NDArray[np.float64], float]:
    """Weighted means n/d and their error, if each sum is at most ``apart`` from the exact one.

    With n' and d' the exact sums, n'/d' − n/d = ((n' − n) − (d' − d) n/d)/d', and d' is at least d − apart.

    Examples
    --------
    >>> means, bound = _quotient(np.array([2.0, 6.0]), 0.5)
    >>> means.tolist(), round(bound, 3), round(6.5 / 1.5 - 3.0, 3)
    ([3.0], 1.333, 1.333)
    """
    least = float(sums[0]) - apart
    if not least > 0.0:
        raise InvalidParameter(
            f"weight must be larger at all contributors: the mean of the weights is known to ± {apart:g} only, which "
            "may be all of it; take another topic and multiply all weights by the same number"
        )
    means = sums[1:] / sums[0]
    return means, apart * (1.0 + float(abs(means).max())) / least


def _rounded(told: Any, means: npt.NDArray[np.float64]) -> float:
    """How far what is told is from the means, where it has arrays of 32 bits.

    Examples
    --------
    >>> means = np.array([1.0, 1e3 + 2e-5])
    >>> _rounded(means, means), round(_rounded(means.astype(np.float32), means), 9)
    (0.0, 2e-05)
    """
    return float(abs(flatten(told).vector - means).max())


def _in_units(flat: npt.NDArray[np.float64], config: PeerConfig, place: Callable[[int], str]) -> Vector:
    most = max(config.longest_topic, config.dimension)
    if flat.size > most:
        raise InvalidParameter(
            f"a topic's value must have at most longest_topic = {most} numbers, its weight included, got {flat.size}"
        )
    checked = check_value(flat, dimension=flat.size, low=config.low, high=config.high, place=place)
    return config.units.from_values(checked)
