"""A study whose published numbers are private themselves: what is agreed, and the noise that each sum carries.

Every party adds whole-number noise to each of its sums before they are shared. The budget ρ of a run is divided equally
between the *parts* of a study: each table of counts, each count of clipped numbers, each statistic. Where a row can
change all sums of a part, each of them gets an equal share; where it changes one only, as in a histogram, all of it.

A sum and its noise travel as one number that is never cut into pieces: the sums of pieces would tell more than the sum.
It is rounded to the finest step with which it fits the network first, and the noise is that of the rounded sum.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Literal

from ..errors import InvalidParameter
from ..privacy.discrete import closeness_of_sum, discrete_gaussian
from ..privacy.releases import SMALLEST_SHARE, ReleaseCost

__all__ = ["Blur", "Part", "Plan", "StudyRelease"]

FINEST = Fraction(1, 64)
"""The step of sums that are small: fine enough that whole-number noise wastes nothing of the budget."""
HALF = Fraction(1, 2)
ROOM = 12
"""Deviations of a share's noise for which there is room on both sides: beyond lies less than one draw in 10³²."""


@dataclass(frozen=True)
class StudyRelease:
    """What the parties agree on.

    Parameters
    ----------
    epsilon, delta
        What all ``runs`` together shall keep to.
    honest
        How many parties, oneself included, are relied on to add their share of noise and not to tell it.
    runs
        How often the study may be run with the same rows.
    protects
        What may be there or not without anybody telling the difference: one ``"row"``, or all rows of one ``"party"``.
    """

    epsilon: float
    delta: float
    honest: int
    runs: int
    protects: Literal["row", "party"]

    @cached_property
    def rho(self) -> float:
        """ρ of one run: the largest of which ``runs`` keep to (ε, δ), to nine digits.

        Raises
        ------
        InvalidParameter
            There is none, as far as can be computed.
        """
        low, high = 0.0, 1.0
        while ReleaseCost(self.runs * high).epsilon(self.delta) < self.epsilon:
            low, high = high, 2.0 * high
        while high - low > 1e-10 * high:
            middle = 0.5 * (low + high)
            fits = ReleaseCost(self.runs * middle).epsilon(self.delta) <= self.epsilon
            low, high = (middle, high) if fits else (low, middle)
            if not high > 1e-200:  # far beyond what any network has room for
                raise InvalidParameter("release.epsilon must be larger, or release.delta: no noise is enough for them")
        return low * (1.0 - 1e-9)


@dataclass(frozen=True)
class Part:
    """Sums that share one portion of the budget.

    Parameters
    ----------
    most
        The largest number that a row adds to each sum of a cell.
    cells
        How many cells there are; a row is in one of them.
    exclusive
        Whether a row adds to one of the sums only.
    """

    most: tuple[int, ...]
    cells: int
    exclusive: bool


@dataclass(frozen=True)
class Blur:
    """How one party's sum is rounded and blurred, and how the sum over all parties is read.

    Parameters
    ----------
    step
        Sums are rounded to multiples of it.
    distance
        By how many steps what is protected can change the rounded sum; of several, the root of the squares' sum.
    variance
        Of the noise of one party, in squared steps.
    most
        The largest rounded sum of a party.
    """

    step: Fraction
    distance: int
    variance: int
    most: int

    @classmethod
    def fitting(cls, reach: int, limit: int, *, rho: float, honest: int, bits: int, spread: bool = False) -> Blur:
        """The finest one whose numbers have at most so many bits.

        Parameters
        ----------
        reach, limit
            By how much what is protected can change a party's sum; the largest sum of a party.
        rho, honest
            What the sum over the honest may cost; how many they are.
        bits
            Of a number that travels.
        spread
            Whether what is protected can be part of several such sums, and change them by ``reach`` in all. Where that
            is x steps, and sums are rounded, the squares of the changes can add up to more than x², by half a step in
            another sum, which is rounded up; but never to more than (⌊x⌋ + 1)².

        Raises
        ------
        InvalidParameter
            Not even the noise alone fits.
        """
        step = FINEST
        while True:
            distance, most = math.ceil(reach / step), math.ceil(limit / step)
            if spread and step > 1:
                distance = math.floor(reach / step) + 1
            variance = max(SMALLEST_SHARE, math.ceil(distance**2 / (2.0 * rho * honest)))
            found = cls(step, distance, variance, most)
            if found.largest < 2**bits:
                return found
            if most == 1:
                raise InvalidParameter(
                    f"the noise of this release needs a network whose values may be up to {found.largest:g}; this one "
                    f"takes {2**bits:g}"
                )
            step *= 2

    @property
    def room(self) -> int:
        """What is added to a number so that it is not negative."""
        return ROOM * (math.isqrt(self.variance) + 1)

    @property
    def largest(self) -> int:
        """The largest number that travels."""
        return self.most + 2 * self.room

    def share(self, number: int, below: Callable[[int], int] = secrets.randbelow) -> int:
        """A party's number, rounded (halves up) and with its noise."""
        noisy = math.floor(number / self.step + HALF) + discrete_gaussian(self.variance, below=below)
        return min(max(noisy + self.room, 0), self.largest)

    def read(self, total: int, parties: int) -> int:
        """The sum over so many parties, noise included, as a whole number; it can be negative."""
        return round(self.step * (total - parties * self.room))

    def deviation(self, parties: int) -> float:
        """Standard deviation of the noise in the sum of so many parties."""
        return float(self.step) * math.sqrt(parties * self.variance)

    def cost(self, honest: int) -> ReleaseCost:
        """What the sum tells if so many added their noise."""
        rho = self.distance**2 / (2.0 * honest * self.variance)
        return ReleaseCost(rho, closeness_of_sum(self.variance, honest))


@dataclass(frozen=True)
class Plan:
    """The noise of every sum of a study.

    Parameters
    ----------
    release
        What was agreed.
    parts
        The parts of the study.
    blurs
        For each part those of the sums of one cell.
    """

    release: StudyRelease
    parts: tuple[Part, ...]
    blurs: tuple[tuple[Blur, ...], ...]

    @classmethod
    def of(cls, release: StudyRelease, parts: Sequence[Part], *, most_rows: int, bits: int) -> Plan:
        """Divide the budget.

        Parameters
        ----------
        release, parts
            What is agreed, and what is asked.
        most_rows
            The most rows that a party may have.
        bits
            Of a number that may travel.
        """
        rows = most_rows if release.protects == "party" else 1
        blurs = []
        for part in parts:
            sums = part.cells * (len(part.most) if part.exclusive else 1)
            rho = release.rho / len(parts) / (1 if part.exclusive else len(part.most))
            sizes = [(rows * most, most_rows * most) for most in part.most]
            spread = release.protects == "party" and sums > 1
            fitting = partial(Blur.fitting, rho=rho, honest=release.honest, bits=bits, spread=spread)
            blurs.append(tuple(fitting(*size) for size in sizes))
        return cls(release, tuple(parts), tuple(blurs))

    def cost(self, honest: int) -> ReleaseCost:
        """What one run tells of what is protected if so many parties added their noise."""
        rho = closeness = 0.0
        for part, blurs in zip(self.parts, self.blurs, strict=True):
            costs = [blur.cost(honest) for blur in blurs]
            rhos = [cost.rho for cost in costs]
            rho += max(rhos) if part.exclusive else sum(rhos)
            closeness += part.cells * sum(cost.closeness for cost in costs)
        return ReleaseCost(rho, closeness)
