"""A study with all parties: a few sums, one after the other, and the report that follows from them.

First the studies are compared, then the rows of every cell are counted. Cells that are too small take no further part:
from then on every party contributes zeros for them, so nobody can learn more of them than that. Then all other sums are
made, and the steps of statistics that need several. With a release every sum carries noise that stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import InvalidFile, InvalidParameter, NumericalFailure
from .agreeing import agree
from .base import Cell, Row, Stepwise, Summed
from .columns import Numbers
from .counting import Histogram, Proportion
from .exact import Whole, exact_sum
from .groups import Groups, cells_asked
from .moments import Sum, Variance
from .overlapping import Added, Binned, told_by_others
from .releasing import Blur, Part, Plan
from .report import Released, Result, StudyReport
from .resuming import same_rows
from .study import Study
from .sums import Party, Sums
from .table import Table

__all__ = ["expected_noise", "run_study"]


async def run_study(
    study: Study,
    table: Table,
    party: Party,
    *,
    topic: str,
    timeout: float | None = None,  # noqa: ASYNC109 - handed on
) -> StudyReport:
    """Take part in a study with one's own rows, and find what all parties find.

    Parameters
    ----------
    study, table
        What is asked, and one's own rows.
    party
        One's own end of the network, such as a :class:`sottovoce.peer.Peer`.
    topic
        The beginning of the topics' names, the same at all parties; used once.
    timeout
        Seconds to wait for each sum; ``None``: for ever.

    Raises
    ------
    InvalidFile
        Other parties have another study; it says what differs.
    InvalidParameter
        The network's numbers are too small, its tolerance is too wide for exact sums, a release has been run as often
        as was agreed, or sums of this run were begun with other rows.
    """
    _check_runs(study, party, topic)
    sums = Sums(party, timeout, secret=f"study {study.name}")
    run = _Run(study, table, sums, f"{topic}/{study.name}", _plan(study, sums.bits))
    with same_rows(party, run.topic, table):
        await agree(study, sums, topic)
        _check_honest(study, sums)
        cells, clipped = await run.counts()
        groups = Groups.of(study, cells)
        values = await run.values(groups)
        groups = await asyncio.to_thread(run.without_overlaps, groups, values)  # seconds, while others call
        results = []
        for statistic in study.statistics:
            if isinstance(statistic, Stepwise):
                rows = await run.steps(statistic, groups)
            else:
                assert isinstance(statistic, Summed)
                rows = run.decoded(statistic, groups, values[statistic.name])
            results.append(Result(statistic.name, statistic.kind, tuple(rows), statistic.about))
        return StudyReport(study, sums.contributors, cells[()], clipped, tuple(results), run.released())


def _check_runs(study: Study, party: Party, topic: str) -> None:
    """A release is run as often as was agreed, and not more."""
    end, release = f"/{study.name}/counts", study.release
    runs = {before for before, found, _ in (name.rpartition(end) for name in party.topics()) if found}
    earlier = runs - {topic}
    if release is not None and len(earlier) >= release.runs:
        often = "once" if len(earlier) == 1 else f"{len(earlier)} times"
        raise InvalidParameter(
            f"study {study.name!r} has been run here {often}, and its release is agreed for runs = {release.runs}"
        )


def _check_honest(study: Study, sums: Sums) -> None:
    if study.release is not None and study.release.honest > len(sums.contributors):
        raise InvalidFile(
            f"release.honest must be at most the number of contributors, {len(sums.contributors)}, "
            f"got {study.release.honest}"
        )


def _clipping(study: Study) -> list[str]:
    """The columns whose numbers may be moved to a bound; in the same order at all parties."""
    return sorted(name for name, column in study.columns.items() if isinstance(column, Numbers) and column.clip)


def _table_of(cell: Cell) -> tuple[str, ...]:
    """Which table of counts a cell belongs to: the columns of its words."""
    return tuple(name for name, _ in cell)


def _summed(study: Study) -> list[Summed]:
    return [statistic for statistic in study.statistics if isinstance(statistic, Summed) and statistic.most()]


def _plan(study: Study, bits: int) -> Plan | None:
    """The noise of a release: for the tables of counts, the clipped numbers and the statistics, in this order."""
    if study.release is None:
        return None
    tables = [_table_of(cell) for cell in cells_asked(study)]
    parts = [Part((1,), tables.count(table), exclusive=True) for table in sorted(set(tables))]
    parts += [Part((1,), 1, exclusive=True) for _ in _clipping(study)]
    parts += [Part(tuple(s.most()), len(s.cells), exclusive=s.exclusive) for s in _summed(study)]
    return Plan.of(study.release, parts, most_rows=study.most_rows, bits=bits)


def expected_noise(study: Study, *, high: float = 2.0**20) -> dict[str, float]:
    """How far noise will move counts and sums of a study with a release, as standard deviations.

    Parameters
    ----------
    study
        With a release; as many parties as it relies on are taken to contribute.
    high
        The largest number that the network takes.

    Returns
    -------
    dict
        ``"rows"`` for counts; for each statistic of kind ``sum`` or ``mean`` the deviation of the sum of a cell.
    """
    plan = _plan(study, int(high).bit_length() - 1)
    if plan is None:
        return {}
    parties = plan.release.honest
    sums = zip(_summed(study), plan.blurs[-len(_summed(study)) or len(plan.blurs) :], strict=True)
    known = {s.name: float(s.column.unit) * b[0].deviation(parties) for s, b in sums if isinstance(s, Sum)}
    return {"rows": plan.blurs[0][0].deviation(parties)} | known


@dataclass(frozen=True)
class _Run:
    """One party's part in a study.

    Parameters
    ----------
    study, table, sums
        What is asked, one's own rows, and how sums are made.
    topic
        How the names of its topics begin.
    plan
        The noise, if there is any.
    """

    study: Study
    table: Table
    sums: Sums
    topic: str
    plan: Plan | None

    async def counts(self) -> tuple[dict[Cell, int], dict[str, int]]:
        """Rows of every cell over all parties, and how many numbers were clipped."""
        cells, clipping = cells_asked(self.study), _clipping(self.study)
        own = [*(self.table.where(cell).num_rows for cell in cells), *(self.table.clipped[name] for name in clipping)]
        tables = sorted({_table_of(cell) for cell in cells})
        places = [*(tables.index(_table_of(cell)) for cell in cells), *range(len(tables), len(tables) + len(clipping))]
        what = "counts" if self.plan is None else self.plan.cost(self.plan.release.honest).marked("counts")
        found = await self._sums(what, own, [self.study.most_rows] * len(own), self._blurs(places))
        counts = [max(0, number) for number in found]
        clipped = dict.fromkeys(sorted(self.table.clipped), 0) | dict(zip(clipping, counts[len(cells) :], strict=True))
        return dict(zip(cells, counts, strict=False)), clipped

    async def values(self, groups: Groups) -> dict[str, list[list[int]]]:
        """For every statistic the sums of each of its cells; zeros where a cell is not shown."""
        own: list[int] = []
        most: list[int] = []
        places: list[int] = []
        for place, statistic in enumerate(_summed(self.study), start=self._first):
            for cell in statistic.cells:
                limits = statistic.most()
                features: Iterable[Whole] = (
                    statistic.features(self.table.where(cell)) if groups.shown(statistic, cell) else []
                )
                own += [exact_sum(feature) for feature in features] or [0] * len(limits)
                most += [self.study.most_rows * limit for limit in limits]
                places.append(place)
        found = iter(await self._sums("values", own, most, self._blurs(places)) if own else ())
        asked = [statistic for statistic in self.study.statistics if isinstance(statistic, Summed)]
        return {s.name: [[next(found) for _ in s.most()] for _ in s.cells] for s in asked}

    def without_overlaps(self, groups: Groups, values: Mapping[str, Sequence[Sequence[int]]]) -> Groups:
        """Refuse what would tell what another statistic of the same column hides; noise hides it anyhow."""
        if self.plan is not None:
            return groups
        asked: list[Binned | Added] = []
        for statistic in self.study.statistics:
            if not isinstance(statistic, Sum | Variance | Histogram):
                continue
            sums = dict(zip(statistic.cells, values[statistic.name], strict=True))
            shown = {cell: each for cell, each in sums.items() if groups.shown(statistic, cell)}
            if isinstance(statistic, Histogram):
                asked.append(Binned(statistic, shown, not groups.hidden.intersection(sums)))
            elif shown:
                asked.append(Added(statistic, shown))
        why = told_by_others(asked, groups.counts, self.study.smallest_group)
        return replace(groups, refused=dict(groups.refused) | why)

    def decoded(self, statistic: Summed, groups: Groups, sums: Sequence[Sequence[int]]) -> list[Row]:
        """The result for all cells."""
        if statistic.name in groups.refused:
            return statistic.unknown(groups.refused[statistic.name])
        rows: list[Row] = []
        for cell, own in zip(statistic.cells, sums, strict=True):
            words, count = statistic.words(cell), groups.counts[cell]
            if not groups.shown(statistic, cell):
                rows.append(words | groups.instead(statistic, cell, self.study.smallest_group))
                continue
            inside = statistic.possible(count, own)
            if isinstance(statistic, Proportion) and self.plan is None:
                hidden = [part in groups.hidden for part in statistic.parts(cell)]
                found = statistic.decode(count, inside, self.study.smallest_group, hidden)
            else:
                found = statistic.decode(count, inside, self.study.smallest_group)
            rows += [words | row | self._noise(statistic, row) for row in found]
        return rows

    async def steps(self, statistic: Stepwise, groups: Groups) -> list[Row]:
        """Step after step until one is the last."""
        if statistic.name in groups.refused:
            return statistic.unknown(groups.refused[statistic.name])
        count = groups.counts[()]
        state, most = statistic.begin(), [self.study.most_rows * limit for limit in statistic.step_most()]
        for number in range(1, statistic.rounds + 1):
            own = [exact_sum(feature) for feature in statistic.step_features(self.table, state)]
            sums = await self.sums.of(f"{self.topic}/{statistic.name}/{number}", own, most)
            try:
                state, done = statistic.step(count, sums, state)
            except NumericalFailure as error:
                return statistic.unknown(str(error) if number == 1 else statistic.endless)
            if done:
                return statistic.found(state)
        return statistic.unknown(f"not found in {statistic.rounds} rounds: {statistic.endless}")

    def released(self) -> Released | None:
        """What the report says of the noise."""
        if self.plan is None:
            return None
        return Released(self.plan.release, self.plan.cost(self.plan.release.honest))

    # -- inside ---------------------------------------------------------------------------------

    @property
    def _first(self) -> int:
        """The place of the first statistic among the parts of the plan."""
        return len({_table_of(cell) for cell in cells_asked(self.study)}) + len(_clipping(self.study))

    def _blurs(self, places: Sequence[int]) -> list[Blur] | None:
        """The noise of the sums of these parts, one cell each."""
        return None if self.plan is None else [blur for place in places for blur in self.plan.blurs[place]]

    async def _sums(self, what: str, own: list[int], most: list[int], blurs: list[Blur] | None) -> list[int]:
        topic = f"{self.topic}/{what}"
        return await (self.sums.of(topic, own, most) if blurs is None else self.sums.blurred(topic, own, blurs))

    def _noise(self, statistic: Summed, row: Row) -> Row:
        """How much of a number is noise, where that can be said."""
        if self.plan is None or None in row.values():
            return {}
        parties = len(self.sums.contributors)
        tables = sorted({_table_of(cell) for cell in cells_asked(self.study)})
        table = tables.index(tuple(column.name for column in statistic.by))
        own = self.plan.blurs[self._first + _summed(self.study).index(statistic)] if statistic.most() else ()
        of_count = self.plan.blurs[table][0].deviation(parties)
        found = statistic.noise(row, of_count, [blur.deviation(parties) for blur in own])
        return {} if found is None else {"noise": found}
