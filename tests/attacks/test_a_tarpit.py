"""A neighbour that greets and does not answer requests, or answers them slowly: the other edges keep their rate."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import math
import re

import pytest

from sottovoce.peer import PeerStatus
from sottovoce.peer.protocol.messages import Kind
from sottovoce.peer.protocol.units import LONG
from sottovoce.testing import run_virtually
from sottovoce.testing.memory_transport import Faults, MemoryTransport

from ..peer.runtime.town import Town

SECONDS = 300.0
"""Of virtual time, so that the rate is known to two per cent; in half of it chance alone missed the mark once."""
OTHERS = 4
"""Neighbours of the victim, the last of which is the tarpit."""


class Tarpit(MemoryTransport):
    """Greets, and answers no request."""

    async def before_a_request(self) -> None:
        await asyncio.sleep(math.inf)

    async def receive(self, src: str, content: bytes) -> bytes:
        message = self.medium.codec.decode(content, src=src, dst=self.name)
        if message is not None and message.kind is Kind.REQ:
            await self.before_a_request()
        return await super().receive(src, content)


class Slow(Tarpit):
    """Answers requests a little before they are given up, so that it is waited for longer and longer."""

    seconds = 0.04

    async def before_a_request(self) -> None:
        self.seconds = min(1.5 * self.seconds, 4.0)
        await asyncio.sleep(self.seconds)


@dataclasses.dataclass
class Seen:
    """What was seen around the victim."""

    rate: float
    """Exchanges a second with its honest neighbours."""
    status: PeerStatus
    log: list[str]


async def watched(last: type[MemoryTransport], rtt: float, *, dimension: int = 1, seconds: float = SECONDS) -> Seen:
    """The victim p0 in the middle of a star, with `last` as the transport of its last neighbour."""
    faults = Faults(distance=rtt / 2)
    town = Town(1 + OTHERS, faults=faults, noise_decay=0.9999, diameter=2, dimension=dimension)
    centre, *others = town.names
    town.transports[others[-1]] = last
    async with contextlib.AsyncExitStack() as stack:
        peers = {}
        for name in town.names:
            config = town.config(name, others if name == centre else [centre])
            peers[name] = await stack.enter_async_context(town.peer(name, config=config))

        def exchanges() -> int:
            return sum(peers[name].status().exchanges for name in others[:-1])

        await asyncio.sleep(10.0)
        before = exchanges()
        await asyncio.sleep(seconds)
        log = [f"{event} {fields.get('neighbour', '')}" for _, event, fields in town.observers[centre].lines]
        return Seen((exchanges() - before) / seconds, peers[centre].status(), log)


@functools.cache
def undisturbed(rtt: float) -> float:
    """The same with an honest last neighbour."""
    return run_virtually(watched(MemoryTransport, rtt)).rate


@functools.cache
def undisturbed_and_long() -> float:
    """The same with long vectors."""
    return run_virtually(watched(MemoryTransport, 0.02, dimension=LONG, seconds=60.0)).rate


def test_the_other_edges_keep_their_rate_and_the_tarpit_is_named() -> None:
    """The victim does at least 80 % of its other exchanges; log and status say who does not answer, and since when."""
    seen = run_virtually(watched(Tarpit, 0.005))
    assert seen.rate >= 0.8 * undisturbed(0.005)
    assert seen.log.count("neighbour greets but does not answer requests p4") == 1
    assert {line.rpartition(" ")[2] for line in seen.log} == {"p4"}
    assert {name: one.unanswered is None for name, one in seen.status.neighbours.items()} == {
        "p1": True, "p2": True, "p3": True, "p4": False,
    }  # fmt: skip
    assert seen.status.neighbours["p4"].state == "open"
    assert [notice.partition(" ")[0] for notice in seen.status.notices] == ["p4"]
    said = re.search(r"p4 greets but has not answered a request for (\d+) s", seen.status.statement)
    assert said is not None
    assert SECONDS <= int(said.group(1)) <= SECONDS + 10


@pytest.mark.parametrize("rtt", [0.005, pytest.param(0.1, marks=pytest.mark.slow)], ids=["near", "far"])
def test_a_neighbour_that_is_slow_on_purpose_is_asked_less_often(rtt: float) -> None:
    """It answers, but ever later: it may not use up the time of the others."""
    seen = run_virtually(watched(Slow, rtt))
    assert seen.rate >= 0.8 * undisturbed(rtt)
    assert seen.status.neighbours["p4"].unanswered is None


@pytest.mark.parametrize("last", [Tarpit, Slow])
def test_with_long_vectors_the_victim_does_not_rest_for_the_time_that_a_tarpit_took(
    last: type[MemoryTransport],
) -> None:
    """R72 lets the own clock rest after a call, for all neighbours: two thirds of the others' exchanges are done."""
    assert run_virtually(watched(last, 0.02, dimension=LONG, seconds=60.0)).rate >= 2 / 3 * undisturbed_and_long()


@pytest.mark.slow
def test_a_tarpit_far_away() -> None:
    """The same over a long line, where waiting is longer."""
    assert run_virtually(watched(Tarpit, 0.1)).rate >= 0.8 * undisturbed(0.1)
