"""Answers that come a moment later (R94, R95): whoever abuses them takes a moment, and nothing that lasts."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from typing import Any

import grpc
import numpy as np
import pytest
from grpc import aio

from sottovoce.errors import PeerError
from sottovoce.peer.protocol import Protocol, machine
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.protocol.patience import moment
from sottovoce.peer.protocol.state import Pending
from sottovoce.peer.protocol.stopping import RangeRule
from sottovoce.peer.protocol.units import LONG
from sottovoce.peer.runtime.holding import HeldAnswers
from sottovoce.peer.transport.base import CallFailed, Handler, HeldAnswer
from sottovoce.testing import LocalNetwork, SeededPeer, local, run_virtually
from sottovoce.testing.memory_transport import Faults, MemoryTransport
from sottovoce.testing.transport import hello

from ..peer.helpers import Recorder, Society
from ..peer.runtime.town import Town, virtually

# -- what is left behind ----------------------------------------------------------------------------


def timers() -> int:
    """Of the running event loop, those that will still do something."""
    scheduled = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
    return sum(not timer.cancelled() for timer in scheduled)


@pytest.mark.parametrize("told", [False, True], ids=["hung up", "answered"])
@virtually
async def test_calls_that_are_over_leave_neither_message_nor_timer(told: bool) -> None:
    """A neighbour calls for each of forty topics with a long vector and hangs up: nothing of it is kept until later."""
    desks, vectors, before = [HeldAnswers() for _ in range(40)], [], timers()
    gc.disable()
    for desk in desks:
        vector = np.zeros(1000)
        vectors.append(weakref.ref(vector))
        answer = desk.hold("eve", 1000.0, partial(vector.copy))  # type: ignore[arg-type]
        if told:
            desk.give("eve", hello("bob", "eve"))
        else:
            answer.cancel()
    del vector, answer
    await asyncio.sleep(0)
    left = sum(vector() is not None for vector in vectors), timers() - before
    gc.enable()
    assert left == (0, 0)


@virtually
async def test_calls_in_a_row_leave_one_timer() -> None:
    """Who calls a thousand times has one call waiting, and one timer; those before it were answered."""
    desk, before = HeldAnswers(), timers()
    answers = [desk.hold("eve", 1000.0) for _ in range(1000)]
    assert timers() - before == 1
    assert sum(answer.done() for answer in answers) == 999


@virtually
async def test_a_request_that_cannot_be_looked_at_keeps_no_other_waiting() -> None:
    """Whatever goes wrong with one of those that wait, all of them are answered."""

    def fail() -> None:
        raise RuntimeError("a mistake of ours")

    desk = HeldAnswers()
    answers = [desk.hold(name, 1.0, look) for name, look in (("ada", fail), ("bob", lambda: None))]
    desk.finish_all()
    assert [answer.done() for answer in answers] == [True, True]
    assert isinstance(answers[0].exception(), RuntimeError)


def test_a_caller_learns_nothing_of_why_its_answer_does_not_come() -> None:
    """A store that fails while a request waits: its caller hears that there is no answer now, and no more."""

    async def scenario() -> aio.AioRpcError:
        society, observer = Society("a", "b"), Recorder()
        server = society.transport("b", observer, neighbours={"a": "127.0.0.1:1"})

        def handler(_src: str, _message: Message) -> HeldAnswer:
            answer = HeldAnswer()
            asyncio.get_running_loop().call_later(0.05, answer.set_exception, PeerError("the disk /secret is full"))
            return answer

        await server.serve(handler)
        own = society.credentials("a")
        trusted = grpc.ssl_channel_credentials(own.members["b"], own.key, own.certificate)
        options = [("grpc.ssl_target_name_override", "b.net")]
        async with aio.secure_channel(f"127.0.0.1:{server.port}", trusted, options=options) as channel:
            call = channel.unary_unary("/sottovoce.peer.v2.Peer/Tell")
            with pytest.raises(aio.AioRpcError) as caught:
                await call(server._codec.encode(hello("a", "b")), timeout=60)
        await server.close()
        assert observer.events == [("handler-failed", "a")]
        assert observer.lines == [("error", "handler failed", {"neighbour": "a", "error": "PeerError"})]
        return caught.value

    error = asyncio.run(scenario())
    assert (error.code(), error.details()) == (grpc.StatusCode.UNAVAILABLE, "cannot handle messages now")


# -- far away ---------------------------------------------------------------------------------------


def test_no_greeting_is_given_up_because_its_answer_was_held_back_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steady lines of 0.2 s there and back, where waits come down to the round trip: each greeting is answered."""
    ended, call = Counter[str](), MemoryTransport.call

    async def counted(transport: MemoryTransport, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        try:
            reply = await call(transport, dst, message, timeout)
        except CallFailed as failure:
            ended[f"{message.kind.name} {failure.reason}"] += 1
            raise
        ended[message.kind.name] += 1
        return reply

    async def topic() -> None:
        names = [f"p{k}" for k in range(8)]
        ring = list(zip(names, names[1:] + names[:1], strict=True))
        async with LocalNetwork(names, ring, seed=4, diameter=4, faults=Faults(distance=0.1)) as net:
            await asyncio.gather(*(net[name].average(float(k), topic="t") for k, name in enumerate(names)))

    monkeypatch.setattr(MemoryTransport, "call", counted)
    run_virtually(topic())
    assert ended[Kind.HELLO.name] > 100
    assert set(ended) == {"HELLO", "REQ"}


# -- what a liar can delay --------------------------------------------------------------------------


class Silent(MemoryTransport):
    """Is first by name, and never greets: the others have to."""

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        if message.kind is Kind.HELLO and message.stop is not None:
            await asyncio.sleep(timeout)
            raise CallFailed(dst, "timeout")
        return await super().call(dst, message, timeout)


class Ahead(MemoryTransport):
    """Claims the next round, whatever it says."""

    def said(self, message: Message) -> Message:
        """What it says instead."""
        return (
            message if message.stop is None else replace(message, stop=message.stop._replace(round=self.ahead(message)))
        )

    def ahead(self, message: Message) -> int:
        """The round that it claims."""
        assert message.stop is not None
        return message.stop.round + 1

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        return await super().call(dst, self.said(message), timeout)

    async def serve(self, handler: Handler, *rest: Any) -> None:
        async def answer(name: str, message: Message) -> Message | None:
            reply = await handler(name, message)
            return None if reply is None else self.said(reply)

        await super().serve(answer, *rest)


class Done(Ahead):
    """Claims to have the answer, of all members."""

    def said(self, message: Message) -> Message:
        return replace(message, closed=0b1111) if message.kind is Kind.HELLO else message


class Impatient(Ahead):
    """Greets from the next round twenty times for each time that it should, and hangs up."""

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        for _ in range(20 * (message.kind is Kind.HELLO)):
            try:
                await MemoryTransport.call(self, dst, self.said(message), 1e-4)
            except CallFailed:
                continue
        return await MemoryTransport.call(self, dst, message, timeout)


class Watch:
    """How long honest peers kept to themselves what they had to tell, and how long answers were held back."""

    def __init__(self, patched: pytest.MonkeyPatch, liar: str) -> None:
        self.told: dict[tuple[str, str, int], float] = {}
        self.held: list[float] = []
        self._liar, self._entered = liar, dict[tuple[int, int], float]()
        patched.setattr(machine, "NEWS_REFILL", 1e3)
        for owner, name in ((RangeRule, "_note_news"), (Protocol, "_tell_news"), (HeldAnswers, "hold")):
            patched.setattr(owner, name, partial_method(getattr(self, name), getattr(owner, name)))

    def _note_news(self, original: Callable[[RangeRule], None], rule: RangeRule) -> None:
        original(rule)
        if rule._news_round == rule.round:
            self._entered.setdefault((id(rule), rule.round), asyncio.get_running_loop().time())

    def _tell_news(self, original: Callable[[Protocol, str], Message], protocol: Protocol, name: str) -> Message:
        entered = self._entered.get((id(protocol.rule), protocol.rule.round))
        if entered is not None and not protocol.declared and protocol.settings.name != self._liar:
            late = asyncio.get_running_loop().time() - entered
            self.told.setdefault((protocol.settings.name, name, protocol.rule.round), late)
        greeting = original(protocol, name)
        protocol._links[name].news = 1e3  # R62: so that news wait for nothing else
        return greeting

    def hold(self, original: Callable[..., HeldAnswer], desk: HeldAnswers, *arguments: Any) -> HeldAnswer:
        answer, began = original(desk, *arguments), asyncio.get_running_loop().time()
        answer.add_done_callback(lambda _: self.held.append(asyncio.get_running_loop().time() - began))
        return answer


def partial_method(replacement: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is told what it replaces."""
    return lambda *arguments: replacement(original, *arguments)


@pytest.mark.parametrize("liar", [Silent, Ahead, Done, Impatient])
def test_no_liar_delays_what_an_honest_peer_tells_by_more_than_a_moment(
    liar: type[MemoryTransport], monkeypatch: pytest.MonkeyPatch
) -> None:
    """First by name, and everybody's neighbour: news of a round leave within a moment, held answers within two."""
    watch, names = Watch(monkeypatch, "p0"), [f"p{k}" for k in range(4)]
    monkeypatch.setattr(
        local, "MemoryTransport", lambda name, *how: (liar if name == "p0" else MemoryTransport)(name, *how)
    )

    async def topics() -> float:
        async with LocalNetwork(names, seed=3, diameter=2, timeout=2.5, faults=Faults(delay=0.004)) as net:
            asked = [net[name].average(float(k), topic="t") for k, name in enumerate(names)]
            tasks = [asyncio.ensure_future(one) for one in asked]
            await asyncio.sleep(30.0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            return moment(net.config("p1"))

    most = run_virtually(topics())
    assert len(watch.told) >= 20
    assert watch.held
    assert max(watch.told.values()) <= most + 1e-6
    assert max(watch.held) <= 2 * most + 1e-6


# -- requests that wait (R95) -----------------------------------------------------------------------


class AsksBack(MemoryTransport):
    """Answers no request, and asks whoever asks it at once, again and again."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._last: dict[str, Message] = {}

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        if message.kind is Kind.REQ:
            self._last[dst] = message
        return await super().call(dst, message, timeout)

    async def receive(self, src: str, content: bytes) -> bytes:
        message = self.medium.codec.decode(content, src=src, dst=self.name)
        if message is None or message.kind is not Kind.REQ:
            return await super().receive(src, content)
        while True:
            if src in self._last:
                self._last[src] = replace(self._last[src], xid=self._last[src].xid + 1)
                self._spawn(MemoryTransport.call(self, src, self._last[src], 1.0))
            await asyncio.sleep(0.05)


async def exchanges_of_the_others(first: type[MemoryTransport]) -> list[int]:
    """Of p4 in the middle of a star, with each of its honest neighbours, in a minute."""
    town = Town(5, faults=Faults(distance=0.01), noise_decay=0.9999, diameter=2, dimension=LONG)
    liar, *honest, centre = town.names
    town.transports[liar] = first
    async with contextlib.AsyncExitStack() as stack:
        peers = {}
        for name in town.names:
            config = town.config(name, [liar, *honest] if name == centre else [centre])
            peers[name] = await stack.enter_async_context(town.peer(name, config=config))
        await asyncio.sleep(60.0)
        return [peers[name].status().exchanges for name in honest]


def test_who_asks_back_at_once_and_answers_nothing_starves_nobody() -> None:
    """First by name, so that its requests wait (R95): the victim does half of the exchanges with each of the others."""
    usual = min(run_virtually(exchanges_of_the_others(MemoryTransport)))
    assert min(run_virtually(exchanges_of_the_others(AsksBack))) >= 0.5 * usual


@contextlib.asynccontextmanager
async def waiting_request() -> AsyncIterator[tuple[SeededPeer, SeededPeer, HeldAnswer]]:
    """Two peers that have met; p1 is asking p0, and a request of p0 waits at it."""
    town = Town(2, diameter=1, dimension=LONG, rate=1e-6)
    async with town.pair() as (p0, p1):
        await asyncio.sleep(5.0)
        for protocol, other in ((p0._protocol, "p1"), (p1._protocol, "p0")):
            protocol._links[other].tokens, protocol.recovering = 9.0, False
        own = p1._protocol.tick("p0")
        request = p0._protocol.tick("p1")
        assert own is not None
        assert p1._protocol.pending == Pending("p0", own, p1.config.retries)
        answer = p1._hear("p0", request)  # type: ignore[arg-type]
        assert isinstance(answer, HeldAnswer)
        assert not answer.done()
        yield p0, p1, answer


@virtually
async def test_a_request_that_has_waited_is_applied_once() -> None:
    """The control: when the own one is answered, it is looked at."""
    async with waiting_request() as (_, p1, answer):
        p1._protocol.give_up()
        p1._reached.talker._requests.finish_all()
        reply = await answer
        assert reply is not None
        assert reply.kind is Kind.REP
        assert p1.status().exchanges == 1


@virtually
async def test_a_request_is_looked_at_with_what_is_true_when_its_turn_comes() -> None:
    """Its sender was dropped meanwhile: it is told so, nothing is exchanged, and no ledger comes back."""
    async with waiting_request() as (_, p1, answer):
        p1._protocol.drop("p0")
        reply = await answer
        assert reply is None or reply.kind is Kind.BYE
        assert "p0" not in p1._protocol.state.edges
        assert p1.status().exchanges == 0


@virtually
async def test_a_request_of_a_life_that_has_ended_is_not_believed() -> None:
    """Its sender has lost its disk and greeted anew while it waited: the old life's request changes no ledger."""
    async with waiting_request() as (p0, p1, answer):
        stamp, edge = p0._protocol.state.last_sid + 2**20, p1._protocol.state.edges["p0"]
        blank = Message(Kind.HELLO, "p0", "p1", stamp, 0, blank=True, roster=p1.config.roster, terms=p1.config.terms)
        await p1._hear("p0", blank)
        met = p1._protocol.state.edges["p0"]
        assert met.psid == stamp != edge.psid
        p1._protocol.give_up()
        p1._reached.talker._requests.finish_all()
        await answer
        after = p1._protocol.state.edges["p0"]
        assert (after.psid, after.s, after.r) == (met.psid, met.s, met.r)
        assert p1.status().exchanges == 0


@virtually
async def test_a_peer_that_closes_leaves_nobody_waiting() -> None:
    """Whoever waits is answered, with nothing; and no timer is left that would look at its message later."""
    async with waiting_request() as (_, p1, answer):
        greeting = p1._reached.talker._greetings.hold("p0", 1000.0)
        desks = p1._reached.talker._requests, p1._reached.talker._greetings
        timers = [desk._held["p0"].timer for desk in desks]
        await p1.close()
        assert (answer.result(), greeting.result()) == (None, None)
        assert all(timer.cancelled() for timer in timers)
        assert [desk._held for desk in desks] == [{}, {}]
