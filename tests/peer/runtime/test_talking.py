"""What a node does with the messages it is sent."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from sottovoce.peer.protocol.messages import DEFAULT_TOPIC, Kind
from sottovoce.peer.protocol.openings import topic_id
from sottovoce.peer.protocol.units import LONG
from sottovoce.testing import SeededPeer
from sottovoce.testing.memory_transport import Faults

from .town import Town, virtually


async def told(peer: SeededPeer, message: object) -> object:
    """What the node answers to a message from p1."""
    return await peer._standing.talker.hear("p1", message)  # type: ignore[union-attr, arg-type]


@virtually
async def test_a_flood_of_messages_is_cut_off() -> None:
    """Beyond a hundred a second a neighbour's messages are not even looked at, and none of them costs a transaction."""
    town = Town(2, diameter=1)
    async with town.pair() as (peer, other):
        await asyncio.sleep(5.0)
        request = replace(other._protocol.greet("p0"), kind=Kind.REQ, x=np.zeros(1))
        draws = peer.status().draws
        await asyncio.gather(*(told(peer, replace(request, xid=10_000 + xid)) for xid in range(1000)))
        assert town.observers["p0"].counted("flood") >= 820
        assert peer.status().draws <= draws + 7


@pytest.mark.parametrize("topic", [DEFAULT_TOPIC, topic_id("nobody's")], ids=["standing", "not here"])
@virtually
async def test_a_flood_is_slowed_down(topic: bytes) -> None:
    """A neighbour that sends the next message when the last is answered gets its pace, and little beside."""
    town = Town(2, diameter=1)
    async with town.pair() as (peer, other):
        await asyncio.sleep(5.0)
        loop, sent = asyncio.get_running_loop(), 0
        greeting, end = replace(other._protocol.greet("p0"), topic=topic), loop.time() + 20.0
        while loop.time() < end and sent < 10_000:
            await peer._hear("p1", greeting)
            sent += 1
        assert sent <= 160 + 20 * (160 + 20)


@virtually
async def test_violations_are_counted_and_change_nothing() -> None:
    """A message that breaks the protocol gets no answer, is counted, and leaves the state the same object."""
    town = Town(2, diameter=1)
    async with town.pair() as (peer, other):
        await asyncio.sleep(5.0)
        good, state = other._protocol.greet("p0"), peer._protocol.state
        for bad in (replace(good, s=2**40), replace(good, f=np.array([np.nan]), s=good.s + 1), replace(good, r=-1)):
            assert await told(peer, bad) is None
        assert peer._protocol.state is state
        assert town.observers["p0"].counted("violation") == 3


@virtually
async def test_refused_messages_do_not_fill_the_log() -> None:
    """Fifty bad messages in a moment are all counted, and get one line of the log."""
    town = Town(2, diameter=1)
    async with town.pair() as (peer, other):
        await asyncio.sleep(5.0)
        bad = replace(other._protocol.greet("p0"), s=2**40)
        for _ in range(50):
            await told(peer, bad)
        assert town.observers["p0"].counted("violation") == 50
        assert [event for _, event, _ in town.observers["p0"].lines].count("message refused") == 1


@virtually
async def test_a_mistake_of_ours_ends_the_peer_and_not_only_its_clock() -> None:
    """An error nobody expected is told to whoever waits, so that the process ends and is started again."""
    town = Town(2, diameter=1)
    async with town.pair() as (peer, _):
        await asyncio.sleep(5.0)
        assert peer.trouble == ""

        async def broken() -> None:
            raise RuntimeError

        peer._standing.talker.turn = broken  # type: ignore[union-attr, method-assign]
        await asyncio.sleep(30.0)
        assert peer.trouble == "background work failed: RuntimeError"
        assert str(await peer.failed()) == peer.trouble


@virtually
async def test_a_peer_whose_clock_has_stopped_is_in_trouble() -> None:
    """However it came about, the page for supervisors says so."""
    town = Town(2, diameter=1)
    async with town.pair() as (peer, _):
        await asyncio.sleep(5.0)
        assert peer._standing is not None and peer._standing._clockwork is not None  # noqa: PT018
        peer._standing._clockwork.cancel()
        await asyncio.sleep(1.0)
        assert peer.trouble == "its own clock has stopped"


@virtually
async def test_the_sender_is_who_the_transport_says() -> None:
    """A name inside a message counts for nothing: a neighbour cannot speak for another."""
    town = Town(3)
    async with town.running() as peers:
        await asyncio.sleep(5.0)
        true = peers["p2"]._protocol.greet("p0")
        before = peers["p0"]._protocol.state.edges["p2"]
        later = replace(true, s=true.s + 1, f=before.g + 1000)
        await told(peers["p0"], later)  # type: ignore[arg-type]
        assert peers["p0"]._protocol.state.edges["p2"] is before
        await peers["p0"]._standing.talker.hear("p2", later)  # type: ignore[union-attr]
        assert peers["p0"]._protocol.state.edges["p2"].g.tolist() == (before.g + 1000).tolist()


@virtually
async def test_a_neighbour_that_vanishes_and_returns_is_noticed() -> None:
    """The log says once that it is unreachable and once that it is back."""
    town = Town(2, diameter=1)
    async with town.pair() as (peer, _):
        town.medium.partition({"p0"}, {"p1"})
        await asyncio.sleep(30.0)
        assert peer.status().neighbours["p1"].state == "unreachable"
        town.medium.heal()
        await asyncio.sleep(30.0)
        assert peer.status().neighbours["p1"].state == "open"
        lines = [event for _, event, _ in town.observers["p0"].lines if event.startswith("neighbour")]
        assert lines == ["neighbour unreachable", "neighbour reachable"]


@virtually
async def test_a_peer_that_cannot_keep_up_is_not_locked_most_of_the_time() -> None:
    """R72: with long vectors and calls of a second, at most every fourth second is spent waiting for an answer."""
    requests = {}
    for dimension in (1, LONG):
        town = Town(3, diameter=1, dimension=dimension, rate=2.0, faults=Faults(distance=0.5))
        async with town.running() as peers:
            await asyncio.sleep(10.0)
            before = peers["p0"]._protocol._requests
            await asyncio.sleep(40.0)
            requests[dimension] = peers["p0"]._protocol._requests - before
    assert requests[LONG] <= 40 / 4 + 1 < requests[1]
