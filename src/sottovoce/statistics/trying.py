"""A study without a network: all parties in one process, without any privacy, to see what a report will say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from .report import StudyReport
from .running import run_study
from .study import Study
from .sums import Answered
from .table import Table

__all__ = ["PlainParty", "PlainSum", "run_together"]


@dataclass(frozen=True)
class _Plain:
    """An exact answer."""

    mean: list[Fraction]
    contributors: tuple[str, ...]
    number: int
    plus_minus: float = 0.0


@dataclass(frozen=True)
class _Terms:
    name: str
    low: float
    high: float


class PlainSum:
    """The exchange of sums between parties of one process.

    Parameters
    ----------
    names
        Of the parties.
    high
        The largest number that one may contribute.
    """

    def __init__(self, names: Sequence[str], high: float = 2.0**20) -> None:
        self.names, self.high = tuple(names), high
        self.given: dict[str, list[Sequence[float]]] = {}
        self._whole: dict[str, asyncio.Event] = {}

    def parties(self) -> list[PlainParty]:
        """One end for each."""
        return [PlainParty(self, _Terms(name, 0.0, self.high)) for name in self.names]

    async def average(self, value: Sequence[float], topic: str) -> Answered:
        """Wait for all, and return the mean."""
        given = self.given.setdefault(topic, [])
        whole = self._whole.setdefault(topic, asyncio.Event())
        given.append(value)
        if len(given) == len(self.names):
            whole.set()
        await whole.wait()
        count = len(self.names)
        mean = [Fraction(sum(map(int, each)), count) for each in zip(*given, strict=True)]
        return _Plain(mean, self.names, count)


@dataclass
class PlainParty:
    """One party's end of it."""

    shared: PlainSum
    config: _Terms
    _topics: dict[str, str] = field(default_factory=dict)

    async def average(
        self,
        value: Sequence[float],
        *,
        topic: str,
        timeout: float | None,  # noqa: ASYNC109 - as a peer's
        secret: str,
    ) -> Answered:
        """The mean of all parties' values."""
        self._topics[topic] = "open"
        return await self.shared.average(value, topic)

    def contributed(self, topic: str) -> None:
        """Nothing: topics are not kept."""

    def topics(self) -> Mapping[str, str]:
        """The names of all topics in which it has taken part."""
        return self._topics


def run_together(study: Study, tables: dict[str, Table], *, topic: str = "trial", high: float = 2.0**20) -> StudyReport:
    """Run a study over the tables of all parties in one process: what the network's report will say.

    Parameters
    ----------
    study
        What is asked.
    tables
        The rows of each party, by its name.
    topic
        As for :func:`run_study`.
    high
        The largest number that a party may contribute.
    """
    tables = {name: tables[name] for name in sorted(tables)}  # as a network names its contributors
    plain = PlainSum(list(tables), high)

    async def everybody() -> list[StudyReport]:
        pairs = zip(tables.values(), plain.parties(), strict=True)
        return await asyncio.gather(*(run_study(study, table, party, topic=topic) for table, party in pairs))

    return asyncio.run(everybody())[0]
