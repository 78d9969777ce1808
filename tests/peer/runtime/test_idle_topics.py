"""What topics cost that have ended, or that only wait."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sottovoce.errors import (
    TopicUnfinished,
)
from sottovoce.peer.protocol.messages import Message
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.memory_transport import MemoryTransport

from .topic_town import all_average, open_town, town
from .town import virtually


@virtually
async def test_an_ended_topic_costs_nothing() -> None:
    """An hour after the last answer no task of a topic runs, and not one message was sent about it."""
    here = town(3)
    async with open_town(here) as peers:
        await all_average(peers, "t", dict.fromkeys(here.names, 1.0))
        await asyncio.sleep(60.0)
        carried = []
        for name in here.names:
            transport, call = here.medium.members[name], here.medium.members[name].call
            transport.call = lambda *a, _call=call: carried.append(a) or _call(*a)  # type: ignore[method-assign]
        assert len(asyncio.all_tasks()) == 1  # this one
        await asyncio.sleep(3600.0)
        assert carried == []


@virtually
async def test_closed_topics_cost_nothing() -> None:
    """A day after three topics have ended: no message, no timer, no task, and not a row more than one for each."""
    here = town(4)
    async with open_town(here) as peers:
        before = len(asyncio.all_tasks())
        for name in ("one", "two", "three"):
            await all_average(peers, name, dict.fromkeys(here.names, 1.0))
        await asyncio.sleep(60.0)
        kept = {name: (here.stores[name]._state, dict(here.stores[name]._records)) for name in here.names}
        heard = []
        for transport in here.medium.members.values():
            transport.receive = lambda *message: heard.append(message)  # type: ignore[method-assign,assignment]
        loop: Any = asyncio.get_running_loop()
        assert [timer for timer in loop._scheduled if not timer.cancelled()] == []
        await asyncio.sleep(86_400.0)
        assert heard == []
        assert len(asyncio.all_tasks()) == before
        for name in here.names:
            assert kept[name] == (here.stores[name]._state, here.stores[name]._records)
            assert here.stores[name]._topics == {}
            assert len(here.stores[name]._records) == 3


@virtually
async def test_a_topic_that_waits_for_a_member_sends_little() -> None:
    """Three of four agree and wait: heartbeats and no values, for as long as it takes; then the fourth ends it soon."""
    here = town(4, sync_interval=5.0)
    sent: list[Message] = []
    encode = here.medium.codec.encode

    def counting(message: Message | None) -> bytes:
        if message is not None:
            sent.append(message)
        return encode(message)

    async with open_town(here) as peers:
        calls = [asyncio.ensure_future(peers[name].average(1.0, topic="t")) for name in here.names[1:]]
        await asyncio.sleep(300.0)
        here.medium.codec.encode = counting  # type: ignore[method-assign]
        await asyncio.sleep(1000.0)
        assert [message for message in sent if message.x is not None] == []
        assert len(sent) < 1000.0 / 5.0 * 2 * 4 * 2  # one call and its answer over each edge and way in five seconds
        began = asyncio.get_running_loop().time()
        answer = await peers["p0"].average(5.0, topic="t")
        assert [one.mean for one in await asyncio.gather(*calls)] == [answer.mean] * 3
        assert asyncio.get_running_loop().time() - began < 100.0
    assert abs(answer.mean - 2.0) < 1e-3


@pytest.mark.parametrize("came", [False, True], ids=["never came", "came and died"])
def test_peers_that_may_show_nothing_send_little(monkeypatch: pytest.MonkeyPatch, *, came: bool) -> None:
    """Of three, one is missing, and each needs two neighbours: they greeted each other at the full rate, for ever."""
    sent: list[str] = []
    call = MemoryTransport.call

    async def counted(self: MemoryTransport, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109
        sent.append(dst)
        return await call(self, dst, message, timeout)

    async def scenario() -> None:
        async with LocalNetwork(["ada", "bob", "cyd"], min_open_edges=2, rate=10.0, sync_interval=5.0) as net:
            calls = [asyncio.ensure_future(net[name].average(1.0, topic="t")) for name in ("ada", "bob")]
            if came:
                with pytest.raises(TopicUnfinished):
                    await net["cyd"].average(4.0, topic="t", timeout=0.2)
                await net.kill("cyd")
            await asyncio.sleep(60.0)
            monkeypatch.setattr(MemoryTransport, "call", counted)
            await asyncio.sleep(1000.0)
            assert len(sent) < 1000.0 / 5.0 * 2 * 2 * 2  # twice one call over each edge and way in five seconds
            if came:
                await net.start("cyd")
            async with asyncio.timeout(20.0):
                answer = await net["cyd"].average(4.0, topic="t")
                assert [one.number for one in await asyncio.gather(*calls)] == [3, 3]
            assert abs(answer.mean - 2.0) <= answer.plus_minus

    run_virtually(scenario())
