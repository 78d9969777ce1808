"""Exact sums over all parties, made from means that a network finds.

A mean is turned into a sum by the number of contributors, and must be sharp enough for that to be the whole number that
it is. Numbers that are too large for the network travel in pieces.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..errors import InvalidFile, InvalidParameter
from .exact import Cutting
from .releasing import Blur

__all__ = ["Answered", "Party", "Sums"]


class Answered(Protocol):
    """What an average answers."""

    @property
    def mean(self) -> Any:
        """Of each number."""

    @property
    def contributors(self) -> tuple[str, ...]:
        """Whose mean it is."""

    @property
    def number(self) -> int:
        """How many they are."""

    @property
    def plus_minus(self) -> float:
        """How far a number can be from the exact mean."""


class Terms(Protocol):
    """What a party's configuration says."""

    @property
    def name(self) -> str:
        """Its name, as among the contributors."""

    @property
    def low(self) -> float:
        """The least number that it may contribute."""

    @property
    def high(self) -> float:
        """The largest one."""


class Party(Protocol):
    """One party's end of a network, such as a :class:`sottovoce.peer.Peer`."""

    @property
    def config(self) -> Terms:
        """Who it is, and what it may contribute."""

    def average(self, value: Any, *, topic: str, timeout: float | None, secret: str) -> Awaitable[Answered]:
        """The mean of all parties' values."""

    def contributed(self, topic: str) -> Any:
        """What this party has contributed to a topic that has no answer yet; ``None``: nothing."""

    def topics(self) -> Mapping[str, str]:
        """The names of all topics in which it has taken part."""


@dataclass
class Sums:
    """Exact sums over all parties.

    Parameters
    ----------
    party
        One's own end of the network.
    timeout
        Seconds to wait for each.
    secret
        What the values tell of, for the party's privacy account.
    contributors
        Whose sums they are, after the first.
    """

    party: Party
    timeout: float | None
    secret: str
    contributors: tuple[str, ...] = ()

    @property
    def bits(self) -> int:
        """Of the largest number that may travel.

        Raises
        ------
        InvalidParameter
            The network does not take 0, 1 and 2.
        """
        low, high = self.party.config.low, self.party.config.high
        if not low <= 0.0 or high < 2.0:
            raise InvalidParameter(f"a study needs a network whose values may be 0 to 2, got {low:g} … {high:g}")
        return int(high).bit_length() - 1

    async def of(self, topic: str, numbers: Sequence[int], most: Sequence[int]) -> list[int]:
        """The sums of whole numbers ≥ 0, each of which is at most so large."""
        cutting = Cutting(tuple(most), self.bits)
        return cutting.join(await self._total(topic, cutting.cut(numbers)))

    async def blurred(self, topic: str, numbers: Sequence[int], blurs: Sequence[Blur]) -> list[int]:
        """The same with noise; it is drawn once for a topic."""
        earlier = self.party.contributed(topic)
        own = (
            [round(float(number)) for number in np.atleast_1d(earlier)]
            if earlier is not None
            else [blur.share(number) for blur, number in zip(blurs, numbers, strict=True)]
        )
        found = await self._total(topic, own)
        return [blur.read(total, len(self.contributors)) for blur, total in zip(blurs, found, strict=True)]

    async def _total(self, topic: str, numbers: Sequence[int]) -> list[int]:
        answer = await self.party.average(
            [float(number) for number in numbers], topic=topic, timeout=self.timeout, secret=self.secret
        )
        if answer.number * answer.plus_minus >= 0.5:
            raise InvalidParameter(
                f"the network's tolerance is too wide for exact sums: {answer.number} contributors, each mean to "
                f"± {answer.plus_minus:g}; their product must be below 0.5"
            )
        if self.contributors not in ((), answer.contributors):
            raise InvalidFile(
                f"{topic} has other contributors than what came before it: {', '.join(answer.contributors)}, not "
                f"{', '.join(self.contributors)}; run the study again under another topic"
            )
        self.contributors = answer.contributors
        return [round(answer.number * float(mean)) for mean in np.atleast_1d(answer.mean)]
