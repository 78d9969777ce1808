"""How the edges of a topic open: from one end, with one vector, and from the other if that end is not there."""

from __future__ import annotations

import asyncio
from collections import Counter

import numpy as np
import pytest

from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.memory_transport import Faults, MemoryTransport


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """All that peers say from now on to whom they call, and hear in answer."""
    heard: list[Message] = []
    call = MemoryTransport.call

    async def recorded(transport: MemoryTransport, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        heard.append(message)
        reply = await call(transport, dst, message, timeout)
        heard.extend([] if reply is None else [reply])
        return reply

    monkeypatch.setattr(MemoryTransport, "call", recorded)
    return heard


def test_each_edge_opens_with_one_vector(said: list[Message]) -> None:
    """Three that contribute at once greet each other once for each edge; seals travel one way."""

    async def work() -> None:
        async with LocalNetwork(
            ["ada", "bob", "cyd"], longest_topic=100, rate=0.2, faults=Faults(distance=0.01)
        ) as net:
            await asyncio.gather(*(net[name].average(np.zeros(100), topic="t") for name in net))

    run_virtually(work())
    first = next(number for number, one in enumerate(said) if one.kind is Kind.REQ)
    seals = Counter(frozenset((one.src, one.dst)) for one in said[:first] if one.f is not None)
    assert sorted(seals.values()) == [1, 1, 1]
    assert all(one.g is None for one in said[:first])


def test_who_contributes_later_greets_those_who_wait(said: list[Message]) -> None:
    """Ada was told NOT_YET and does not call again; bob, who is second by name, greets as soon as he contributes."""

    async def work() -> float:
        async with LocalNetwork(["ada", "bob"], min_open_edges=1) as net:
            first = asyncio.create_task(net["ada"].average(1.0, topic="t"))
            await asyncio.sleep(30.0)
            before, began = len(said), asyncio.get_running_loop().time()
            second = asyncio.create_task(net["bob"].average(3.0, topic="t"))
            while not any(one.src == "bob" and one.kind is Kind.HELLO for one in said[before:]):
                await asyncio.sleep(0.001)
            greeted = asyncio.get_running_loop().time() - began
            await asyncio.gather(first, second)
            return greeted

    assert run_virtually(work()) < 0.01
