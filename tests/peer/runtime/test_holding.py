"""R94, R95: answers that come a moment later, so that fewer calls are needed."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import PeerError
from sottovoce.peer.protocol import Protocol
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.protocol.patience import Patience, first_wait, moment, travel_time
from sottovoce.peer.protocol.units import LONG
from sottovoce.peer.runtime.holding import HeldAnswers
from sottovoce.peer.transport.base import CallFailed
from sottovoce.testing import LocalNetwork, local, run_virtually
from sottovoce.testing.memory_transport import Faults, MemoryTransport
from sottovoce.testing.settings import some_settings

from .town import virtually


def a_message() -> Message:
    return Message(Kind.HELLO, "ada", "bob", 1, 1, blank=True)


@virtually
async def test_who_waits_is_answered_when_there_is_news() -> None:
    """An answer that is held back comes as soon as it is given, and nobody waits after that."""
    held, news = HeldAnswers(), a_message()
    answer = held.hold("bob", 1.0)
    assert held.waits("bob")
    held.give("bob", news)
    assert await answer is news
    assert asyncio.get_running_loop().time() < 1e-3
    assert not held.waits("bob")


@virtually
async def test_nobody_waits_for_longer_than_a_moment() -> None:
    """Without news the answer is nothing, after the time that was said."""
    held = HeldAnswers()
    began = asyncio.get_running_loop().time()
    assert await held.hold("bob", 0.5) is None
    assert asyncio.get_running_loop().time() - began == pytest.approx(0.5)
    assert not held.waits("bob")


@virtually
async def test_one_call_of_a_neighbour_is_held_at_a_time() -> None:
    """A neighbour that calls again and again has one call open, not many; and its last one is held for its own time."""
    held = HeldAnswers()
    answers = []
    for _ in range(100):
        answers.append(held.hold("eve", 1.0))
        await asyncio.sleep(0.1)
    assert [answer.done() for answer in answers] == [True] * 99 + [False]
    assert await answers[-1] is None


@virtually
async def test_a_caller_that_hangs_up_is_not_counted_as_told() -> None:
    """An answer that was cancelled is waited for by nobody: news must travel in another way."""
    held = HeldAnswers()
    held.hold("bob", 1.0).cancel()
    assert not held.waits("bob")
    assert held.hold("bob", 1.0).done() is False


@pytest.mark.parametrize("dimension", [1, 100_000])
@pytest.mark.parametrize("timeout", [0.01, 0.25, 5.0])
def test_an_answer_is_held_for_less_than_the_shortest_wait(dimension: int, timeout: float) -> None:
    """Speaking second and being held together stay below half of any wait: nobody is given up for being polite."""
    settings = some_settings(dimension=dimension, timeout=timeout)
    patience = Patience(first_wait(settings))
    patience.answered(1e-9)
    assert 3.0 * moment(settings) < 0.75 * (patience.wait() + travel_time(settings))


@virtually
async def test_what_waits_for_its_turn_is_looked_at_once() -> None:
    """When it is its turn or its time is up, whichever is first; not if the caller is gone, and not after the end."""
    held, looked = HeldAnswers(), Counter[str]()

    def look(name: str) -> None:
        looked[name] += 1

    waiting = {name: held.hold(name, 1.0, partial(look, name)) for name in ("ada", "bob", "cyd")}
    waiting["bob"].cancel()
    held.finish_all()
    late = held.hold("dan", 1.0, partial(look, "dan"))
    await asyncio.sleep(2.0)
    over = held.hold("eve", 1.0, partial(look, "eve"))
    held.let_go()
    await asyncio.sleep(2.0)
    assert looked == {"ada": 1, "cyd": 1, "dan": 1}
    assert late.done()
    assert over.done()


@virtually
async def test_a_store_that_has_failed_is_told_to_who_waits() -> None:
    """What is raised when the request is looked at reaches the transport, as it does without waiting."""
    held = HeldAnswers()

    def fail() -> None:
        raise PeerError("the disk is full")

    with pytest.raises(PeerError, match="full"):
        await held.hold("ada", 1.0, fail)


def refused_of_topics(monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Of the requests for exchanges of long vectors: how many were applied, and how many refused."""
    found: Counter[Kind] = Counter()
    call = MemoryTransport.call

    async def counted(transport: MemoryTransport, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        reply = await call(transport, dst, message, timeout)
        if reply is not None:
            found[reply.kind] += 1
        return reply

    async def topic() -> None:
        names, value = [f"p{k}" for k in range(5)], np.zeros(LONG)
        faults = Faults(distance=0.01)
        async with LocalNetwork(names, seed=0, diameter=1, longest_topic=LONG, rate=4.0, faults=faults) as net:
            await asyncio.gather(*(net[name].average(value + k, topic="t") for k, name in enumerate(names)))

    with monkeypatch.context() as patched:
        patched.setattr(MemoryTransport, "call", counted)
        run_virtually(topic())
    return found[Kind.REP], found[Kind.BUSY]


def test_long_vectors_are_seldom_sent_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that wait for their turn are refused half as often as where a locked peer refuses them at once."""
    applied, refused = refused_of_topics(monkeypatch)
    monkeypatch.setattr(Protocol, "may_wait", lambda *_: False)
    before = refused_of_topics(monkeypatch)
    assert before[1] >= 20
    assert 2 * refused * before[0] <= before[1] * applied


def greetings_of_topics(monkeypatch: pytest.MonkeyPatch) -> int:
    """How often members of a small network have called each other to greet, in three topics."""
    found: Counter[Kind] = Counter()
    call = MemoryTransport.call

    async def counted(transport: MemoryTransport, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        found[message.kind] += 1
        return await call(transport, dst, message, timeout)

    async def topic(seed: int) -> None:
        names = [f"p{k}" for k in range(5)]
        async with LocalNetwork(names, seed=seed, diameter=1, tolerance=1e-3, faults=Faults(delay=0.004)) as net:
            await asyncio.gather(*(net[name].average(float(k), topic="t") for k, name in enumerate(names)))

    with monkeypatch.context() as patched:
        patched.setattr(MemoryTransport, "call", counted)
        for seed in range(3):
            run_virtually(topic(seed))
    return found[Kind.HELLO]


def test_where_one_end_calls_and_the_other_answers_there_are_fewer_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """With answers held back, topics need at least a sixth fewer greetings than where both ends call at once."""
    held = greetings_of_topics(monkeypatch)
    monkeypatch.setattr(Protocol, "answers_soon", lambda *_: False)
    monkeypatch.setattr(Protocol, "speaks_second", lambda *_: False)
    assert 6 * held <= 5 * greetings_of_topics(monkeypatch)


class LosingAnswers(MemoryTransport):
    """Loses the first answer to a greeting in each round, at each neighbour."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._lost: set[tuple[str, bytes, int]] = set()

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        reply = await super().call(dst, message, timeout)
        if reply is None or reply.kind is not Kind.HELLO or reply.stop is None:
            return reply
        what = dst, reply.topic, reply.stop.round
        if what in self._lost:
            return reply
        self._lost.add(what)
        await asyncio.sleep(timeout)
        raise CallFailed(dst, "timeout")


def seconds_with_lost_answers(monkeypatch: pytest.MonkeyPatch) -> float:
    """How long three topics take on a ring where values and noise are small, and a round's first answers are lost."""
    little = {"noise_std": 0.01, "noise_decay": 0.1, "seal_std": 0.01}

    async def topic(seed: int) -> float:
        names = [f"p{k}" for k in range(4)]
        ring = list(zip(names, names[1:] + names[:1], strict=True))
        async with LocalNetwork(names, ring, seed=seed, diameter=2, faults=Faults(delay=0.002), **little) as net:
            calls = (net[name].average(0.001 * k, topic="t", missing="drop") for k, name in enumerate(names))
            await asyncio.gather(*calls)
            return asyncio.get_running_loop().time()

    with monkeypatch.context() as patched:
        patched.setattr(local, "MemoryTransport", LosingAnswers)
        return sum(run_virtually(topic(seed)) for seed in range(3))


def test_news_that_were_lost_in_an_answer_do_not_wait_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody notices that an answer is lost but who greets again, and is told again: half of the time is saved."""
    told_again = seconds_with_lost_answers(monkeypatch)
    monkeypatch.setattr(Protocol, "_may_have_missed", lambda *_: False)
    assert 2 * told_again <= seconds_with_lost_answers(monkeypatch)
