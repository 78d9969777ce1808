"""Disks that are lost when a topic has ended: the answer comes back or there is none, and never a second one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sottovoce.errors import PeerError, TopicUnfinished
from sottovoce.peer import Average, Peer
from sottovoce.peer.store.witnessed import WitnessedStore
from sottovoce.testing import LocalNetwork, run_virtually

FIVE = ["ada", "bob", "cyd", "dan", "eve"]


class WithAccounts(LocalNetwork):
    """Peers that keep their privacy account beside the key, as those with a ``peer.toml`` do: no disk is lost with it.

    With ``min_open_edges`` 2, as there; two peers alone show each other nothing.
    """

    def __init__(self, folder: Path, **settings: Any) -> None:
        self._folder = folder
        super().__init__(FIVE, min_open_edges=2, **settings)

    def peer(self, name: str) -> Peer:
        peer = super().peer(name)
        peer._store = WitnessedStore(self._stores[name], self._folder / f"{name}.account")
        return peer

    async def average(self, missing: str, names: list[str]) -> list[Average]:
        """All of these contribute, and have the answer."""
        calls = [self[name].average(float(FIVE.index(name)), topic="t", missing=missing, timeout=10) for name in names]
        found = await asyncio.gather(*calls)
        await asyncio.gather(*(self[name].quiet(60) for name in names))
        return found

    async def begin_anew(self, *names: str) -> None:
        """These lose their disks, and start again."""
        for name in names:
            await self.kill(name, lose_disk=True)
        for name in names:
            await self.start(name)

    async def live_on(self, names: list[str], lives: int = 3) -> None:
        """Again and again another topic is begun by these, their processes end and begin, and it ends with all."""
        for number in range(lives):
            topic = f"then {number}"
            calls = [asyncio.create_task(self[name].average(1.0, topic=topic)) for name in names]
            await asyncio.sleep(0.1)
            for name in names:
                await self.kill(name)
                await self.start(name)
            await asyncio.gather(*calls, return_exceptions=True)
            await asyncio.gather(*(self[name].average(1.0, topic=topic, timeout=60) for name in FIVE))
            await asyncio.gather(*(self[name].quiet(60) for name in FIVE))

    async def ask(self, name: str, missing: str, times: int = 3) -> Average | PeerError:
        """Contribute once more, and wait on after a time-out."""
        said = PeerError("not asked")
        for _ in range(times):
            try:
                return await self[name].average(float(FIVE.index(name)), topic="t", missing=missing, timeout=10)
            except TopicUnfinished as unfinished:
                said = unfinished
            except PeerError as refused:
                return refused
        return said


@pytest.mark.parametrize("late", [[], ["dan", "eve"]], ids=["three disks", "two disks and two who come late"])
def test_those_who_lost_their_disks_have_no_second_answer_of_their_own(tmp_path: Path, late: list[str]) -> None:
    """R83: the others counted on them, and say so: they left these out, and averaged once more among themselves."""
    first = [name for name in FIVE if name not in late]
    lost = ["ada", "bob", "cyd"][: 3 - len(late) // 2]

    async def scenario() -> None:
        async with WithAccounts(tmp_path) as net:
            answers = await net.average("drop", first)
            assert {answer.contributors for answer in answers} == {tuple(first)}
            await net.begin_anew(*lost)
            found = await asyncio.gather(*(net.ask(name, "drop") for name in [*lost, *late]))
            assert {one.contributors for one in found if isinstance(one, Average)} <= {tuple(first)}

    run_virtually(scenario())


def test_an_answer_comes_back_also_after_a_restart(tmp_path: Path) -> None:
    """R93: that a disk was lost was known until another topic was open, and the process began once more."""

    async def scenario() -> None:
        async with WithAccounts(tmp_path) as net:
            first = await net.average("wait", FIVE)
            await net.begin_anew("ada")
            with pytest.raises(TopicUnfinished):
                await net["ada"].average(1.0, topic="another", timeout=10)
            await net.kill("ada")
            await net.start("ada")
            again = await net.ask("ada", "wait")
            assert isinstance(again, Average)
            assert (again.mean, again.contributors) == (first[0].mean, tuple(FIVE))

    run_virtually(scenario())


def test_a_lost_disk_is_not_forgotten_in_later_lives(tmp_path: Path) -> None:
    """R93: when a topic that carried what was unrecorded had ended, nothing was missing any more."""

    async def scenario() -> None:
        async with WithAccounts(tmp_path) as net:
            first = await net.average("wait", FIVE)
            await net.begin_anew("ada")
            await net.live_on(["ada"])
            again = await net.ask("ada", "wait")
            assert isinstance(again, Average)
            assert (again.mean, again.contributors) == (first[0].mean, tuple(FIVE))

    run_virtually(scenario())


def test_nor_is_there_a_second_answer_then(tmp_path: Path) -> None:
    """R83: three of five, whose disks were lost long ago."""

    async def scenario() -> None:
        async with WithAccounts(tmp_path) as net:
            await net.average("drop", FIVE)
            lost = ["ada", "bob", "cyd"]
            await net.begin_anew(*lost)
            await net.live_on(lost)
            found = await asyncio.gather(*(net.ask(name, "drop") for name in lost))
            assert {one.contributors for one in found if isinstance(one, Average)} <= {tuple(FIVE)}

    run_virtually(scenario())


@pytest.mark.parametrize("missing", ["wait", "drop"])
def test_who_lost_its_disk_together_with_a_neighbour_is_told_where_it_has_ended(tmp_path: Path, missing: str) -> None:
    """They hold a ledger with each other, so neither believes the others, who were said never to have been heard of."""

    async def scenario() -> None:
        async with WithAccounts(tmp_path) as net:
            await net.average(missing, FIVE)
            await net.begin_anew("ada", "bob")
            for found in await asyncio.gather(*(net.ask(name, missing) for name in ("ada", "bob"))):
                assert isinstance(found, TopicUnfinished)
                assert str(found).endswith(": it has ended at cyd, dan, eve, and cannot go on without them")
                assert found.missing == ("cyd", "dan", "eve")
            assert "has ended at cyd" in net["ada"].status().topics["t"].statement

    run_virtually(scenario())
