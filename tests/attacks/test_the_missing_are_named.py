"""A topic that cannot finish says who is missing and since when, at every member; and no liar makes more of it."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import replace
from typing import Any

import pytest

from sottovoce.errors import PeerError, TopicUnfinished
from sottovoce.peer import Average, Peer
from sottovoce.peer.protocol.absences import Absence
from sottovoce.peer.protocol.messages import Message
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.liars import Lie, LyingTransport
from sottovoce.testing.memory_transport import Faults

NAMES = [f"p{k}" for k in range(8)]
RING = [(name, NAMES[(k + 1) % 8]) for k, name in enumerate(NAMES)]
DEAD = "p5"
ELSEWHERE = [name for name in NAMES if name != DEAD]


class Network(LocalNetwork):
    """Eight in a ring: four hops from one side to the other. One of them may lie; what all say can be watched."""

    lie: Lie | None = None
    liar = ""

    def __init__(self, **how: Any) -> None:
        super().__init__(NAMES, RING, diameter=4, **how)
        self.said: list[Message] = []

    def peer(self, name: str) -> Peer:
        """Who says what; the last word has the liar."""

        def lie(m: Message) -> Message | None:
            found = self.lie(m) if self.lie is not None and name == self.liar else m
            if found is not None:
                self.said.append(found)
            return found

        peer = super().peer(name)
        assert peer._transport is not None
        peer._transport = LyingTransport(peer._transport, lie)
        return peer


async def unfinished(net: Network, who: list[str], **how: Any) -> dict[str, TopicUnfinished]:
    """Everybody's error."""
    calls = [net[name].average(1.0, topic="t", **how) for name in who]
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(one, TopicUnfinished) for one in found)
    return dict(zip(who, found, strict=True))  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", [0.0, pytest.param(0.2, marks=pytest.mark.slow)])
def test_everybody_names_one_that_never_contributes(loss: float) -> None:
    """Also four hops away, also where every fifth message is lost: by name, since when, and who says so."""

    async def one_is_missing() -> None:
        async with Network(faults=Faults(loss=loss)) as net:
            errors = await unfinished(net, ELSEWHERE, timeout=30.0)
            for name, error in errors.items():
                source = r"last heard \d+ s ago" if name in ("p4", "p6") else r"p[46] said \d+ s ago"
                assert re.search(rf"{DEAD} \(not contributed for (29|30) s, {source}\)", str(error))
                assert error.missing == (DEAD,) or (loss and DEAD in error.missing)

    run_virtually(one_is_missing())


@pytest.mark.parametrize("missing", ["wait", "drop"])
def test_everybody_names_one_that_dies_for_good(missing: str) -> None:
    """Killed after it took part, with "drop" in the moment in which it cannot be left out any more: since then."""

    async def one_dies() -> None:
        async with Network(faults=Faults(distance=0.01)) as net:
            calls = {
                name: asyncio.ensure_future(net[name].average(1.0 * k, topic="t", timeout=30, missing=missing))
                for k, name in enumerate(NAMES)
            }
            if missing == "wait":
                await asyncio.sleep(0.8)
                assert not any(call.done() for call in calls.values())
            while missing == "drop" and not _bound(net):
                await asyncio.sleep(0.001)
                assert not all(call.done() for call in calls.values())
            dead = min(set(NAMES) - _bound(net))
            began = asyncio.get_running_loop().time()
            await net.kill(dead)
            with contextlib.suppress(PeerError):
                await calls.pop(dead)
            for call in calls.values():
                with pytest.raises(TopicUnfinished) as error:
                    await call
                waited = asyncio.get_running_loop().time() - began
                told = re.search(rf"{dead} \(not answering for (\d+) s", str(error.value))
                assert error.value.missing == (dead,)
                assert told is not None
                assert waited - 3 <= float(told[1]) <= waited + 3

    run_virtually(one_dies())


def _bound(net: Network) -> set[str]:
    return {name for name in net for one in net[name]._known_topics._open.values() if one.protocol.bound}


def test_where_nobody_is_missing_nothing_is_said() -> None:
    """No message of a topic that ends, or of one that waits for a moment, says that anybody is missing."""

    async def all_are_there() -> None:
        async with Network() as net:
            calls = [net[name].average(1.0 * k, topic="t", timeout=60) for k, name in enumerate(NAMES)]
            assert {answer.number for answer in await asyncio.gather(*calls)} == {8}
            assert net.said
            assert not any(message.absences for message in net.said)

    run_virtually(all_are_there())


def test_a_topic_that_waits_costs_heartbeats_and_no_more() -> None:
    """Two minutes with one missing: each edge carries heartbeats, with one claim about one member."""

    async def long_wait() -> None:
        async with Network() as net:
            waiting = asyncio.ensure_future(unfinished(net, ELSEWHERE, timeout=200.0))
            await asyncio.sleep(50.0)
            net.said.clear()
            await asyncio.sleep(120.0)
            assert len(net.said) <= 2 * 1.5 * 120.0 / 5.0 * len(RING)
            assert {len(message.absences) for message in net.said} <= {0, 1}
            waiting.cancel()

    run_virtually(long_wait())


def all_are_missing(m: Message) -> Message:
    """Everybody is missing for 30 years; everybody else says so; and it was said this moment."""
    claims = tuple(Absence(k, (k + 1) % 8, bool(k % 2), 10**12, 0) for k in range(8))
    return replace(m, absences=claims, present=0xFF)


@pytest.mark.parametrize("missing", [pytest.param("wait", marks=pytest.mark.slow), "drop"])
def test_claims_about_everybody_change_no_answer(missing: str) -> None:
    """A member says in all its messages that all others are missing: all get the same answer, nobody is left out."""

    async def with_a_liar() -> None:
        Network.lie, Network.liar = staticmethod(all_are_missing), "p3"
        try:
            async with Network() as net:
                calls = [
                    net[name].average(1.0 * k, topic="t", timeout=30, missing=missing) for k, name in enumerate(NAMES)
                ]
                found = await asyncio.gather(*calls)
                assert {(answer.contributors, answer.number) for answer in found} == {(tuple(NAMES), 8)}
                assert all(isinstance(answer, Average) and abs(answer.mean - 3.5) < 1e-3 for answer in found)
        finally:
            Network.lie, Network.liar = None, ""

    run_virtually(with_a_liar())


def test_a_liar_cannot_hide_who_is_missing_and_its_words_are_forgotten() -> None:
    """Beside a liar that claims everything all still name the dead; soon after it stops, only the dead."""

    async def with_a_liar() -> None:
        Network.lie, Network.liar = staticmethod(all_are_missing), "p3"
        try:
            async with Network() as net:
                during = await unfinished(net, ELSEWHERE, timeout=30.0)
                assert all(DEAD in error.missing for error in during.values())
                assert any("others say" in str(error) for error in during.values())
                most = max(len(message.absences) for message in net.said)
                assert most <= 8
                Network.lie = None
                await asyncio.sleep(95.0)
                after = await unfinished(net, ELSEWHERE, timeout=30.0)
                assert {error.missing for error in after.values()} == {(DEAD,)}
        finally:
            Network.lie, Network.liar = None, ""

    run_virtually(with_a_liar())
