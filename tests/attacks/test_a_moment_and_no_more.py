"""Answers that come a moment later (R94, R95): whoever abuses them takes a moment, and nothing that lasts."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections import Counter
from functools import partial

import grpc
import numpy as np
import pytest
from grpc import aio

from sottovoce.errors import PeerError
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.runtime.holding import HeldAnswers
from sottovoce.peer.transport.base import CallFailed, HeldAnswer
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.memory_transport import Faults, MemoryTransport
from sottovoce.testing.transport import hello

from ..peer.helpers import Recorder, Society
from ..peer.runtime.town import virtually

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
