"""A study with all parties: a few exact sums, one after the other, and the report that follows from them.

First the digest of the study is compared, then the rows of every cell are counted. Cells that are too small take no
further part: from then on every party contributes zeros for them, so nobody can learn more of them than that. Then all
other sums are made, and Newton's steps if there are any.

The sums come from ``average``, such as :meth:`sottovoce.peer.Peer.average`. A mean is turned into a sum by the number
of contributors, and must be sharp enough for that to be the whole number that it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ..errors import InvalidFile, InvalidParameter, NumericalFailure
from .base import Cell, Row, Statistic, withheld
from .exact import Cutting, Whole, exact_sum
from .regression import Logistic
from .report import Result, StudyReport
from .study import Study
from .table import Table

__all__ = ["Answered", "Average", "PlainSum", "run_study", "run_together"]

DIGEST_BITS = 16
PIECES_OF_DIGEST = 4


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


Average = Callable[..., Awaitable[Answered]]
"""Called with a list of floats and ``topic=``."""


async def run_study(study: Study, table: Table, average: Average, *, topic: str, high: float) -> StudyReport:
    """Take part in a study with one's own rows, and find what all parties find.

    Parameters
    ----------
    study, table
        What is asked, and one's own rows.
    average
        The mean of all parties' numbers.
    topic
        The beginning of the topics' names, the same at all parties; used once.
    high
        The largest number that may be contributed; 0 is the smallest.

    Raises
    ------
    InvalidFile
        Other parties have another study.
    InvalidParameter
        The network's numbers are too small, or its tolerance is too wide for exact sums.
    """
    bits = int(high).bit_length() - 1
    if bits < 1:
        raise InvalidParameter(f"a study needs a network whose values may be 0 to 2 at least, got {high:g} as the most")
    sums = _Sums(average, f"{topic}/{study.name}", bits)
    await _agree(study, sums)
    cells, clipped = await _counts(study, table, sums)
    values = await _values(study, table, sums, cells)
    results = []
    for statistic in study.statistics:
        counts = [cells[cell] for cell in statistic.cells]
        if isinstance(statistic, Logistic):
            rows = await _newton(study, statistic, table, sums, counts[0])
        else:
            rows = _decoded(study, statistic, counts, values[statistic.name])
        results.append(Result(statistic.name, statistic.kind, tuple(rows)))
    return StudyReport(study, sums.contributors, cells[()], clipped, tuple(results))


@dataclass
class _Sums:
    """Exact sums over all parties."""

    average: Average
    topic: str
    bits: int
    contributors: tuple[str, ...] = ()

    async def of(self, what: str, numbers: Sequence[int], most: Sequence[int]) -> list[int]:
        """The sums of whole numbers ≥ 0, each of which is at most so large."""
        cutting = Cutting(tuple(most), self.bits)
        answer = await self.average([float(piece) for piece in cutting.cut(numbers)], topic=f"{self.topic}/{what}")
        if answer.number * answer.plus_minus >= 0.5:
            raise InvalidParameter(
                f"the network's tolerance is too wide for exact sums: {answer.number} contributors, each mean to "
                f"± {answer.plus_minus:g}; their product must be below 0.5"
            )
        if self.contributors not in ((), answer.contributors):
            raise InvalidFile(
                f"{what} has other contributors than what came before it: {', '.join(answer.contributors)}, not "
                f"{', '.join(self.contributors)}; run the study again under another topic"
            )
        self.contributors = answer.contributors
        return cutting.join([round(answer.number * float(mean)) for mean in np.atleast_1d(answer.mean)])


async def _agree(study: Study, sums: _Sums) -> None:
    """See that all have the same study."""
    digest = int(study.digest, 16)
    own = [(digest >> (DIGEST_BITS * k)) % 2**DIGEST_BITS for k in range(PIECES_OF_DIGEST)]
    squares = [piece * piece for piece in own]
    most = [2**DIGEST_BITS] * len(own) + [2 ** (2 * DIGEST_BITS)] * len(own)
    found = await sums.of("agreement", [*own, *squares], most)
    count = len(sums.contributors)
    if found != [count * number for number in (*own, *squares)]:
        raise InvalidFile(
            f"the study of this party (digest {study.digest[:12]}) is not that of all contributors "
            f"({', '.join(sums.contributors)}): compare the digests that `sottovoce study check` prints"
        )


async def _counts(study: Study, table: Table, sums: _Sums) -> tuple[dict[Cell, int], dict[str, int]]:
    """Rows of every cell over all parties, and how many numbers were clipped."""
    cells: list[Cell] = sorted({cell for statistic in study.statistics for cell in statistic.cells} | {()})
    names = list(table.clipped)
    own = [*(table.where(cell).num_rows for cell in cells), *(table.clipped[name] for name in names)]
    found = await sums.of("counts", own, [study.most_rows] * len(own))
    return dict(zip(cells, found, strict=False)), dict(zip(names, found[len(cells) :], strict=True))


def _shown(study: Study, statistic: Statistic, counts: Sequence[int]) -> list[bool]:
    """Which cells of a statistic may be decoded."""
    hidden = withheld(counts, study.smallest_group, statistic.shape)
    return [count > 0 and not h for count, h in zip(counts, hidden, strict=True)]


async def _values(study: Study, table: Table, sums: _Sums, cells: dict[Cell, int]) -> dict[str, list[list[int]]]:
    """For every statistic the sums of each of its cells; zeros where a cell is not shown."""
    own: list[int] = []
    most: list[int] = []
    for statistic in study.statistics:
        counts = [cells[cell] for cell in statistic.cells]
        for cell, shown in zip(statistic.cells, _shown(study, statistic, counts), strict=True):
            limits = statistic.most()
            features: list[Whole] = statistic.features(table.where(cell)) if shown else []
            own += [exact_sum(feature) for feature in features] or [0] * len(limits)
            most += [study.most_rows * limit for limit in limits]
    found = iter(await sums.of("values", own, most) if own else ())
    return {
        statistic.name: [[next(found) for _ in statistic.most()] for _ in statistic.cells]
        for statistic in study.statistics
    }


def _decoded(study: Study, statistic: Statistic, counts: Sequence[int], sums: Sequence[Sequence[int]]) -> list[Row]:
    rows: list[Row] = []
    for cell, count, shown, own in zip(statistic.cells, counts, _shown(study, statistic, counts), sums, strict=True):
        words = statistic.words(cell)
        if not shown:
            rows.append(words | {"count": 0 if count == 0 else None})
            continue
        rows += [words | row for row in statistic.decode(count, own, study.smallest_group)]
    return rows


async def _newton(study: Study, statistic: Logistic, table: Table, sums: _Sums, count: int) -> list[Row]:
    """Step after step until nothing changes."""
    if count < max(study.smallest_group, len(statistic.terms)):
        return statistic.found(None, [])
    coefficients = [0.0] * len(statistic.terms)
    most = [study.most_rows * limit for limit in statistic.step_most()]
    for number in range(1, statistic.rounds + 1):
        own = [exact_sum(feature) for feature in statistic.step_features(table, coefficients)]
        found = await sums.of(f"{statistic.name}/{number}", own, most)
        inverted: list[list[Fraction]]
        try:
            coefficients, inverted, done = statistic.step(count, found, coefficients)
        except NumericalFailure:
            break
        if done:
            return statistic.found(coefficients, inverted)
    return statistic.found(None, [])


# -- without a network -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plain:
    """An exact answer."""

    mean: list[Fraction]
    contributors: tuple[str, ...]
    number: int
    plus_minus: float = 0.0


class PlainSum:
    """The same exchange of sums between parties of one process, without any privacy: to try a study out."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._given: dict[str, list[Sequence[float]]] = {}
        self._whole: dict[str, asyncio.Event] = {}

    async def average(self, value: Sequence[float], *, topic: str) -> Answered:
        """Wait for all, and return the mean."""
        given = self._given.setdefault(topic, [])
        whole = self._whole.setdefault(topic, asyncio.Event())
        given.append(value)
        if len({len(each) for each in given}) > 1:
            raise InvalidFile("the parties have different studies: they do not contribute the same numbers")
        if len(given) == len(self._names):
            whole.set()
        await whole.wait()
        count = len(self._names)
        mean = [Fraction(sum(map(int, each)), count) for each in zip(*given, strict=True)]
        return _Plain(mean, self._names, count)


def run_together(study: Study, tables: dict[str, Table], *, topic: str = "trial", high: float = 2.0**20) -> StudyReport:
    """Run a study over the tables of all parties in one process: what the network's report will say.

    Parameters
    ----------
    study
        What is asked.
    tables
        The rows of each party, by its name.
    topic, high
        As for :func:`run_study`.
    """
    plain = PlainSum(list(tables))

    async def everybody() -> list[StudyReport]:
        calls = [run_study(study, table, plain.average, topic=topic, high=high) for table in tables.values()]
        return await asyncio.gather(*calls)

    return asyncio.run(everybody())[0]
