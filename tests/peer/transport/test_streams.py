"""Calls over streams that stay open: as good as calls of their own, and nobody can hold on to what others need."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import numpy as np
import pytest
from grpc import aio

from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.transport import admission, streams
from sottovoce.peer.transport.base import CallFailed, HeldAnswer
from sottovoce.peer.transport.grpc import GrpcTransport
from sottovoce.testing.transport import hello

from ..helpers import Recorder, Society

SOCIETY = Society("a", "b")
METHOD, PATIENCE = "/sottovoce.peer.v2.Peer/Tell", 60.0
OK, DENIED = grpc.StatusCode.OK, grpc.StatusCode.PERMISSION_DENIED

Network = tuple[GrpcTransport, GrpcTransport, Recorder]


async def nothing(_src: str, _message: Message) -> None:
    """Heard, and nothing to say."""


@contextlib.asynccontextmanager
async def pair(handler: Callable[[str, Message], Awaitable[Message | None]] = nothing) -> AsyncIterator[Network]:
    """Peer a, which calls, and peer b, which is called."""
    observer = Recorder()
    server = SOCIETY.transport("b", observer, neighbours={"a": "127.0.0.1:1"})
    await server.serve(handler)
    caller = SOCIETY.transport("a", neighbours={"b": f"127.0.0.1:{server.port}"})
    try:
        async with asyncio.timeout(PATIENCE):
            yield caller, server, observer
    finally:
        await caller.close()
        await server.close()


def raw_channel(server: GrpcTransport) -> aio.Channel:
    """A connection of peer a's that keeps to no rules."""
    own = SOCIETY.credentials("a")
    trusted = grpc.ssl_channel_credentials(own.members["b"], own.key, own.certificate)
    return aio.secure_channel(f"127.0.0.1:{server.port}", trusted, options=[("grpc.ssl_target_name_override", "b.net")])


def opened(server: GrpcTransport) -> int:
    """Streams of peer a that are open."""
    return server._admission._desks["a"].streams


async def until_opened(server: GrpcTransport, number: int) -> None:
    """Single calls that were answered may take a moment longer to end."""
    while opened(server) != number:
        await asyncio.sleep(0.001)


async def call(caller: GrpcTransport) -> Message | None:
    return await caller.call("b", hello("a", "b"), PATIENCE)


def called_often(caller: GrpcTransport, streak: int) -> None:
    """As if so many calls had just been answered."""
    kept, _ = caller._reach("b")
    kept._answered, kept._streak = time.monotonic(), streak


async def warm(caller: GrpcTransport) -> None:
    """So many calls that a stream is open."""
    for _ in range(streams._STREAK + 1):
        await call(caller)


def run(scenario: Callable[[], Any]) -> None:
    asyncio.run(scenario())


def test_calls_one_after_the_other_share_a_stream_and_others_have_their_own() -> None:
    """Twenty in a row need one; five at the same time need five, which are used again."""

    async def scenario() -> None:
        async with pair() as (caller, server, observer):
            for number in range(20):
                assert await call(caller) is None
                if number >= streams._STREAK:  # the first ones are single calls
                    await until_opened(server, 1)
            for _ in range(3):
                await asyncio.gather(*(call(caller) for _ in range(5)))
                await until_opened(server, 5)
            assert observer.events == []

    run(scenario)


def test_answers_belong_to_their_calls() -> None:
    """However many calls are under way, and however long each of them takes."""

    async def echo(_src: str, message: Message) -> Message:
        await asyncio.sleep(0.001 * (message.src_sid % 7))
        return hello("b", "a", src_sid=message.src_sid)

    async def scenario() -> None:
        async with pair(echo) as (caller, _, _observer):

            async def ask(number: int) -> None:
                answer = await caller.call("b", hello("a", "b", src_sid=number), PATIENCE)
                assert answer is not None
                assert answer.src_sid == number

            for start in range(1, 200, 10):
                await asyncio.gather(*map(ask, range(start, start + 10)))

    run(scenario)


def test_a_stream_is_not_used_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a connection that is told to end, or certificates that have changed, find no old streams in use."""
    monkeypatch.setattr(streams, "_SECONDS", 0.0)

    async def scenario() -> None:
        async with pair() as (caller, server, observer):
            contexts = []
            admit = server._admit

            async def counted(context: Any) -> str:
                contexts.append(context)
                return await admit(context)

            server._admit = counted  # type: ignore[method-assign]
            for _ in range(4):
                await call(caller)
            assert len(contexts) == 4
            while opened(server) > 1:  # and those that are not used any more are gone
                await asyncio.sleep(0.01)
            assert observer.events == []

    run(scenario)


def test_the_called_side_may_end_an_idle_stream_and_no_call_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does so after some seconds; the next call is made over another one, and handled once."""
    heard: list[Message] = []

    async def handler(_src: str, message: Message) -> None:
        heard.append(message)

    async def scenario() -> None:
        async with pair(handler) as (caller, server, observer):
            for k in range(30):
                monkeypatch.setattr(admission, "_IDLE_SECONDS", 0.0005 * k)  # at times just when the next call comes
                assert await call(caller) is None
                await asyncio.sleep(0.0005 * (k % 5))
            monkeypatch.setattr(admission, "_IDLE_SECONDS", 0.0)
            await call(caller)
            while opened(server):
                await asyncio.sleep(0.01)
            assert await call(caller) is None
            assert len(heard) == 32
            assert observer.events == []

    run(scenario)


def test_whoever_is_no_neighbour_any_more_is_refused_on_a_stream_that_is_open() -> None:
    """The next message on it is not handled."""
    heard: list[str] = []

    async def handler(src: str, _message: Message) -> None:
        heard.append(src)

    async def scenario() -> None:
        async with pair(handler) as (caller, server, observer):
            await warm(caller)
            await until_opened(server, 1)
            await server.drop_neighbour("a")
            with pytest.raises(CallFailed, match="refused"):
                await call(caller)
            assert heard == ["a"] * 3
            assert observer.events == [("refused-not-a-neighbour", "")]

    run(scenario)


def test_nonsense_ends_its_stream_and_is_counted() -> None:
    """Also if it comes after a good message."""

    async def scenario() -> None:
        async with pair() as (caller, server, observer):
            async with raw_channel(server) as channel:
                stream: Any = channel.stream_stream(METHOD)()
                await stream.write(server._codec.encode(hello("a", "b")))
                assert isinstance(await stream.read(), bytes)
                await stream.write(b"nonsense")
                with pytest.raises(aio.AioRpcError) as error:
                    await stream.read()
            assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert observer.events == [("refused-invalid-message", "a")]
            await call(caller)

    run(scenario)


def test_silent_streams_give_way() -> None:
    """As many as are allowed were used once and are kept open: a call over another one is answered all the same."""

    async def scenario() -> None:
        async with pair() as (caller, server, observer):
            async with raw_channel(server) as channel:
                kept: list[Any] = [channel.stream_stream(METHOD)() for _ in range(server._admission.calls)]
                for stream in kept:
                    await stream.write(server._codec.encode(hello("a", "b")))
                    assert isinstance(await stream.read(), bytes)
                await call(caller)
                assert await kept[0].read() is aio.EOF
                assert await kept[0].code() is OK
                await call(caller)
                assert not any(stream.done() for stream in kept[1:])
                for stream in kept[1:]:
                    stream.cancel()
            assert observer.events == []

    run(scenario)


def test_a_peer_that_answers_single_calls_only_is_understood() -> None:
    """As those before streams did: each of its answers ends the stream."""

    async def answer(_stream: object, context: Any) -> bytes:
        content = await context.read()
        assert isinstance(content, bytes)
        return codec.encode(hello("b", "a"))

    async def scenario() -> None:
        nonlocal codec
        own = SOCIETY.credentials("b")
        server = aio.server()
        handlers = {"Tell": grpc.stream_unary_rpc_method_handler(answer)}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("sottovoce.peer.v2.Peer", handlers),))
        trusted = grpc.ssl_server_credentials([(own.key, own.certificate)], own.members["a"], require_client_auth=True)
        port = server.add_secure_port("127.0.0.1:0", trusted)
        await server.start()
        caller = SOCIETY.transport("a", neighbours={"b": f"127.0.0.1:{port}"})
        codec = caller._codec
        for _ in range(20):
            assert await call(caller) == hello("b", "a")
        await caller.close()
        await server.stop(0)

    codec: Any = None
    run(scenario)


def test_a_peer_can_be_closed_at_the_very_moment_when_streams_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop was busy meanwhile, and everything comes at once: it is closed, and nobody is answered any more."""
    monkeypatch.setattr(admission, "_IDLE_SECONDS", 0.3)

    async def scenario() -> None:
        for method in ("close", "enter"):
            async with pair() as (caller, server, _):
                await warm(caller)
                while opened(server) != 5:  # they end soon, and a machine may stand still
                    await asyncio.gather(*(call(caller) for _ in range(5)))
                loop, now = asyncio.get_running_loop(), asyncio.Event()
                loop.call_later(0.1, time.sleep, 0.5)
                loop.call_later(0.2, now.set)
                await now.wait()
                if method == "close":
                    await server.close()
                    with pytest.raises(CallFailed, match="unreachable"):
                        await call(caller)
                else:
                    for _ in range(2 * server._admission.calls):
                        server._admission.enter("a")

    run(scenario)


@pytest.mark.parametrize("ending", ["close", "drop"])
@pytest.mark.parametrize("moment", [0.0, 0.001, 0.03])
@pytest.mark.parametrize("streak", [0, 2], ids=["single", "stream"])
def test_a_call_that_waits_for_its_connection_ends_with_it(ending: str, moment: float, streak: int) -> None:
    """The other side takes the connection and says nothing; whoever closes it here leaves no caller waiting."""

    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as mute:
            caller = SOCIETY.transport("a", neighbours={"b": f"127.0.0.1:{mute.getsockname()[1]}"})
            called_often(caller, streak)
            waiting = asyncio.create_task(call(caller))
            await asyncio.sleep(moment)
            await (caller.close() if ending == "close" else caller.drop_neighbour("b"))
            with pytest.raises(CallFailed, match="unreachable"):
                async with asyncio.timeout(PATIENCE / 2):
                    await waiting
            await caller.close()

    run(scenario)


def test_answers_that_are_held_back_buy_no_further_places() -> None:
    """With three streams allowed a fourth is let in at the price of one that waits: it is answered, and it ends."""
    held: list[HeldAnswer] = []

    def handler(_src: str, _message: Message) -> HeldAnswer:
        held.append(HeldAnswer())
        return held[-1]

    async def scenario() -> None:
        server = SOCIETY.transport("b", neighbours={"a": "127.0.0.1:1"}, longest_topic=10**6)
        await server.serve(handler)
        async with asyncio.timeout(PATIENCE), raw_channel(server) as channel:
            greetings: list[Any] = []
            for number in range(8):
                greetings.append(channel.stream_stream(METHOD)())
                await greetings[-1].write(server._codec.encode(hello("a", "b")))
                while len(held) <= number:
                    await asyncio.sleep(0.01)
                if number >= 3:
                    assert isinstance(await greetings[number - 3].read(), bytes)
                    assert await greetings[number - 3].read() is aio.EOF
                while opened(server) > 3:
                    await asyncio.sleep(0.01)
            for greeting in greetings:
                greeting.cancel()
        await server.close()

    run(scenario)


def test_a_neighbour_that_is_dropped_while_its_messages_wait_is_not_heard() -> None:
    """Four calls at once, one of them being handled: the others are refused."""
    heard: list[str] = []
    going_on = asyncio.Event()

    async def slow(src: str, _message: Message) -> None:
        heard.append(src)
        await going_on.wait()

    async def scenario() -> None:
        async with pair(slow) as (caller, server, observer):
            calls = [asyncio.create_task(call(caller)) for _ in range(4)]
            while not heard or opened(server) < 4:
                await asyncio.sleep(0.01)
            await server.drop_neighbour("a")
            going_on.set()
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert sum(isinstance(one, CallFailed) and one.reason == "refused" for one in found) == 3
            assert heard == ["a"]
            assert observer.counted("refused-not-a-neighbour") == 3

    run(scenario)


def test_a_connection_that_is_lost_is_unreachable_and_not_nonsense() -> None:
    """Also if it is lost in the middle of the first message."""

    async def scenario() -> None:
        long = {"longest_topic": 60_000}
        server = SOCIETY.transport("b", neighbours={"a": "127.0.0.1:1"}, **long)
        await server.serve(nothing)
        reasons = []
        for share in range(12):

            async def through(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int = 8000 + 25_000 * share
            ) -> None:
                other, out = await asyncio.open_connection("127.0.0.1", server.port)
                back = asyncio.create_task(pour(other, writer, 10**9))
                await pour(reader, out, most)
                back.cancel()
                for one in (writer, out):
                    one.transport.abort()

            proxy = await asyncio.start_server(through, "127.0.0.1", 0)
            port = proxy.sockets[0].getsockname()[1]
            caller = SOCIETY.transport("a", neighbours={"b": f"127.0.0.1:{port}"}, **long)
            called_often(caller, 2 * (share % 2))
            vector = np.arange(60_000, dtype=np.int64) << 40
            message = hello("a", "b", blank=False, s=1, r=1, f=vector, g=vector, topic=b"t" * 16)
            with pytest.raises(CallFailed) as failed:
                await caller.call("b", message, PATIENCE)
            reasons.append(failed.value.reason)
            await caller.close()
            proxy.close()
        await server.close()
        assert set(reasons) == {"unreachable"}

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int) -> None:
        while most > 0 and (content := await reader.read(min(most, 2**16))):
            writer.write(content)
            await writer.drain()
            most -= len(content)

    run(scenario)


def test_nothing_is_opened_after_the_end() -> None:
    """A call that comes late finds nobody, and leaves no connection behind."""

    async def scenario() -> None:
        async with pair() as (caller, _server, _):
            await call(caller)
            await caller.close()
            with pytest.raises(CallFailed, match="unreachable"):
                await call(caller)
            assert caller._channels == {}

    run(scenario)


def test_closing_waits_for_nobody() -> None:
    """Streams that are open and idle end with whichever side closes first, and leave nothing behind."""
    trouble: list[dict[str, object]] = []

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, what: trouble.append(what))
        for first in (0, 1):
            async with pair() as (caller, server, _):
                await warm(caller)
                await asyncio.gather(*(call(caller) for _ in range(6)))
                await until_opened(server, 6)
                for one in (caller, server) if first else (server, caller):
                    await one.close()
                while opened(server):
                    await asyncio.sleep(0.01)

    run(scenario)
    assert trouble == []
