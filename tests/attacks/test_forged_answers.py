"""A neighbour invents how a topic has ended: nobody takes its word for an answer, or waits for it for ever."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.errors import TopicUnfinished
from sottovoce.peer import Average, Peer, PeerConfig
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.protocol.messages import Kind, Message, Stop
from sottovoce.peer.protocol.stopping import NO_ROUND
from sottovoce.peer.transport.grpc import GrpcTransport
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.memory_transport import MemoryTransport
from sottovoce.testing.stage import free_addresses

NAMES, VALUES = ("ada", "bob", "cyd", "eve"), {"ada": 10.0, "bob": 20.0, "cyd": 30.0}
HONEST_MEAN = 20.0


def invented(m: Message, units: int) -> Message:
    """It is over, with all of us, and this was the answer."""
    told = np.array([units])
    stop = Stop(NO_ROUND, told, told, contributors=0b1111, ready=0b1111, version=1)
    return Message(
        Kind.CLOSED, "eve", m.src, 0, 0, blank=True, topic=m.topic, roster=m.roster, closed=0b1111, stop=stop
    )


class Inventing(MemoryTransport):
    """Tells ada an answer that never was, and nothing to anybody else."""

    units = 0

    async def receive(self, src: str, content: bytes) -> bytes:
        heard = self.medium.codec.decode(content, src=src, dst=self.name)
        assert heard is not None
        return self.medium.codec.encode(invented(heard, self.units)) if src == "ada" else b""


class WithEve(LocalNetwork):
    """A network in which eve has a transport of her own."""

    def __init__(self, kind: type[MemoryTransport], **settings: Any) -> None:
        self._kind = kind
        super().__init__(NAMES, **settings)

    def peer(self, name: str) -> Peer:
        peer = super().peer(name)
        if name == "eve":
            self.eve = peer._transport = self._kind(name, self.medium, set(self.config(name).neighbours))
        return peer


async def asked(peer: Peer, value: float, missing: str, late: float = 0.0) -> Average | TopicUnfinished:
    await asyncio.sleep(late)
    try:
        return await peer.average(value, topic="pay", missing=missing, timeout=60.0)
    except TopicUnfinished as unfinished:
        return unfinished


@pytest.mark.parametrize("units", [5_000_000_000, 12_000_000], ids=["out of range", "likely"])
@pytest.mark.parametrize("missing", ["wait", "drop"])
@pytest.mark.parametrize("late", [0.0, 1.0, 10.0])
def test_one_neighbour_alone_tells_nobody_the_answer(missing: str, late: float, units: int) -> None:
    """Others have not contributed yet, and say so: with all of them it cannot have ended."""

    async def scenario() -> None:
        async with WithEve(Inventing, seed=1, low=0.0, high=100.0) as net:
            Inventing.units = units
            found = await asyncio.gather(
                *(asked(net[name], value, missing, late * (name != "ada")) for name, value in VALUES.items())
            )
            for one in found:
                if missing == "wait":
                    assert isinstance(one, TopicUnfinished)
                    assert one.missing == ("eve",)
                else:
                    assert isinstance(one, Average)
                    assert one.contributors == tuple(VALUES)
                    assert one.mean == pytest.approx(HONEST_MEAN, abs=one.plus_minus)

    run_virtually(scenario())


def test_a_peer_that_has_lost_nothing_is_told_nothing(tmp_path: Path) -> None:
    """Over TLS, on disk, with nobody else there to contradict: its privacy account says that it was never asked."""

    async def scenario() -> None:
        made = found_network(
            "net", dict(zip(NAMES, free_addresses(4), strict=True)), graphs.complete(4), tmp_path / "net",
            noise_std=1.0, noise_decay=0.8, smallest_std=None, low=0.0, high=100.0, unit="0.000001", rate=20.0,
        )  # fmt: skip
        configs = {name: PeerConfig.load(path) for name, path in made.items()}
        eve, told = GrpcTransport.from_config(configs["eve"]), list[str]()

        async def lie(src: str, m: Message) -> Message:
            told.append(src)
            return invented(m, 12_000_000)

        await eve.serve(lie)
        async with Peer(configs["ada"], standing=False) as ada:
            with pytest.raises(TopicUnfinished):
                await ada.average(10.0, topic="pay", timeout=3.0)
        await eve.close()
        assert "ada" in told

    asyncio.run(scenario())


class OneWord(MemoryTransport):
    """Honest, but for one word to cyd: that it has the answer, of a set."""

    closed, said = 0, 0

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109
        if dst == "cyd" and not message.blank and not self.said and self.closed:
            self.said, message = 1, replace(message, closed=self.closed)
        return await super().call(dst, message, timeout)


@pytest.mark.parametrize("closed", [0b1000, 0b0001, 0b1011], ids=["its own", "another's", "all but the one told"])
def test_a_false_word_about_others_binds_nobody(closed: int) -> None:
    """And then it dies: the others leave it out."""

    async def scenario() -> None:
        async with WithEve(OneWord, seed=3, rate=4.0) as net:
            net.eve.closed = closed
            lying = asyncio.ensure_future(net["eve"].average(100.0, topic="pay", missing="drop"))
            asking = [asyncio.ensure_future(asked(net[name], value, "drop")) for name, value in VALUES.items()]
            while not net.eve.said:
                await asyncio.sleep(0.01)
            await net.kill("eve")
            found = await asyncio.gather(*asking)
            lying.cancel()
            await asyncio.gather(lying, return_exceptions=True)
            assert {one.contributors for one in found if isinstance(one, Average)} == {tuple(VALUES)}

    run_virtually(scenario())


def test_who_said_that_all_are_in_it_and_died_can_be_dropped() -> None:
    """It may have been so, and its word binds; an operator who drops it takes that back."""

    async def scenario() -> None:
        async with WithEve(OneWord, seed=3, rate=4.0) as net:
            net.eve.closed = 0b1111
            lying = asyncio.ensure_future(net["eve"].average(100.0, topic="pay", missing="drop"))
            asking = [asyncio.ensure_future(asked(net[name], value, "drop")) for name, value in VALUES.items()]
            while not net.eve.said:
                await asyncio.sleep(0.01)
            await net.kill("eve")
            assert all(isinstance(one, TopicUnfinished) for one in await asyncio.gather(*asking))
            for name in VALUES:
                net[name]._known_topics.drop("eve")
            found = await asyncio.gather(*(asked(net[name], value, "drop") for name, value in VALUES.items()))
            assert {one.contributors for one in found if isinstance(one, Average)} == {tuple(VALUES)}
            lying.cancel()
            await asyncio.gather(lying, return_exceptions=True)

    run_virtually(scenario())


def test_an_answer_that_the_own_clock_finds_wakes_whoever_waits() -> None:
    """Nothing more arrives after a lost disk: the answer was taken back (R93), and the call went on waiting."""

    async def scenario() -> None:
        async with LocalNetwork(["ada", "bob", "cyd"], seed=2) as net:
            await asyncio.gather(*(net[name].average(VALUES[name], topic="pay", timeout=60.0) for name in net))
            await asyncio.gather(*(net[name].quiet(60.0) for name in net))
            await net.kill("ada", lose_disk=True)
            await net.kill("cyd")
            await net.start("ada")
            async with asyncio.timeout(3600.0):
                found = await net["ada"].average(10.0, topic="pay", timeout=None)
            assert found.mean == pytest.approx(HONEST_MEAN, abs=found.plus_minus)

    run_virtually(scenario())
