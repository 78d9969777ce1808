"""A run of a study that was interrupted goes on with the rows with which it began, or not at all."""

from __future__ import annotations

import asyncio
import stat
from dataclasses import replace

import pytest

from sottovoce.errors import InvalidFile, InvalidParameter
from sottovoce.statistics import Table, run_study, run_together
from sottovoce.testing import LocalNetwork, run_virtually

from . import made

FEW = """
[statistics.pay]
kind = "mean"
column = "salary"
by = ["gender"]
"""
ONE, *OTHERS = made.PARTIES


class OnDisk:
    """A peer that has a folder, and is struck down when it is about to make a certain sum."""

    def __init__(self, peer, folder, dies_at=None):
        self._peer, self._dies_at = peer, dies_at
        self.config = replace(peer.config, data_dir=folder)

    def average(self, value, *, topic, **more):
        if self._dies_at is not None and topic.endswith(self._dies_at):
            raise TimeoutError
        return self._peer.average(value, topic=topic, **more)

    def __getattr__(self, name):
        return getattr(self._peer, name)


def shuffled(table: Table) -> Table:
    return replace(table, columns={name: numbers[::-1] for name, numbers in reversed(table.columns.items())})


def changed(table: Table) -> Table:
    salaries = table.columns["salary"].copy()
    salaries[0] += 1
    return replace(table, columns=dict(table.columns) | {"salary": salaries})


def clipped(table: Table) -> Table:
    return replace(table, clipped={name: number + 1 for name, number in table.clipped.items()})


def run_with_a_break(folder, dies_at, then, *, topic="2026"):
    """One party stops before a sum and goes on with other rows; all reports, or what it was refused with."""
    declared = made.study(FEW)
    rows = made.tables(declared, folder)
    kept = folder / "data"
    kept.mkdir()

    async def everybody():
        async with LocalNetwork(made.PARTIES, low=0.0, high=2.0**20, unit="0.0001", tolerance=0.02) as net:
            others = [asyncio.create_task(run_study(declared, rows[name], net[name], topic=topic)) for name in OTHERS]
            with pytest.raises(TimeoutError):
                await run_study(declared, rows[ONE], OnDisk(net[ONE], kept, dies_at), topic=topic)
            (note,) = kept.iterdir()
            assert stat.S_IMODE(note.stat().st_mode) == 0o600
            again = OnDisk(net[ONE], kept)
            try:
                await run_study(declared, then(rows[ONE]), again, topic=topic)
            except InvalidParameter as refused:
                assert list(kept.iterdir()) == [note]
                await run_study(declared, rows[ONE], again, topic=topic)
                told = str(refused)
            else:
                told = ""
            return told, {report.to_json() for report in await asyncio.gather(*others)}

    told, reports = run_virtually(everybody())
    assert list(kept.iterdir()) == []
    return told, reports, declared, rows


@pytest.mark.parametrize("then", [changed, clipped])
def test_other_rows_after_a_break_are_refused(tmp_path, then):
    """Counts of the old rows met sums of the new ones. With the old ones it goes on, and the report is theirs."""
    told, reports, declared, rows = run_with_a_break(tmp_path, "/values", then)
    assert "the rows must be those with which '2026/pay' began" in told
    assert "another topic" in told
    assert reports == {run_together(declared, rows).to_json()}


def test_the_same_rows_in_another_order_go_on(tmp_path):
    """What is summed is the same."""
    told, reports, declared, rows = run_with_a_break(tmp_path, "/values", shuffled)
    assert told == ""
    assert reports == {run_together(declared, rows).to_json()}


def test_before_anything_is_summed_rows_may_change(tmp_path):
    """The studies were compared, and nobody has counted anything."""
    told, reports, declared, rows = run_with_a_break(tmp_path, "/agreement", changed)
    assert told == ""
    assert reports == {run_together(declared, dict(rows) | {ONE: changed(rows[ONE])}).to_json()}


def test_the_note_does_not_show_that_two_runs_have_the_same_rows(tmp_path):
    """Each has a salt of its own; and it has nothing of the rows as they are."""
    declared = made.study(FEW)
    rows = made.tables(declared, tmp_path)[ONE]
    notes = []
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        party = OnDisk(LocalNetwork(made.PARTIES, low=0.0, high=2.0**20).peer(ONE), tmp_path / str(number))
        party.topics = dict
        with pytest.raises(Exception, match="not been started"):
            asyncio.run(run_study(declared, rows, party, topic="2026"))
        (note,) = (tmp_path / str(number)).iterdir()
        notes.append(note.read_bytes())
    assert len(set(notes)) == 2
    assert {len(note) for note in notes} == {48}


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path):
    """Before anything is contributed, in one sentence."""
    declared = made.study(FEW)
    rows = made.tables(declared, tmp_path)[ONE]
    (tmp_path / "file").write_text("")
    party = OnDisk(LocalNetwork(made.PARTIES, low=0.0, high=2.0**20).peer(ONE), tmp_path / "file")
    party.topics = dict
    with pytest.raises(InvalidFile, match="cannot keep the note of a study's rows"):
        asyncio.run(run_study(declared, rows, party, topic="2026"))
