"""Silent streams, junk bodies, endless connections: who sends them takes nothing away from an honest neighbour."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from grpc import aio

from sottovoce import graphs
from sottovoce.peer.membership.credentials import Credentials, check_identity
from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.transport import admission, options
from sottovoce.peer.transport.admission import Admission
from sottovoce.peer.transport.codec import Codec
from sottovoce.testing.stage import Stage
from sottovoce.testing.transport import hello

from ..peer.helpers import Recorder, Society

METHOD, ROSTER = "/sottovoce.peer.v2.Peer/Tell", "/sottovoce.peer.v2.Peer/Roster"
STREAMS = 40
SOCIETY = Society("a", "b", "c", "d", "e", "f")
DENIED, EXHAUSTED = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED


class Target:
    """Peer b on a real port, with the neighbours a and e; c, d and f are members and no neighbours."""

    def __init__(self, **fields: Any) -> None:
        self.observer = Recorder()
        self.heard: list[str] = []
        neighbours = dict.fromkeys("ae", "127.0.0.1:1")
        self.server = SOCIETY.transport("b", self.observer, neighbours=neighbours, **fields)
        self.fields = fields

    async def handle(self, src: str, _message: Message) -> None:
        self.heard.append(src)

    def channel(self, name: str) -> aio.Channel:
        """A connection of its own, with `name`'s certificate."""
        return channel(SOCIETY.credentials(name), "b", f"127.0.0.1:{self.server.port}", "b.net")

    async def honest(self, name: str = "a") -> None:
        """An honest neighbour's call is answered."""
        caller = SOCIETY.transport(name, **self.fields)
        caller.add_neighbour("b", f"127.0.0.1:{self.server.port}")
        try:
            assert await caller.call("b", hello(name, "b"), 60.0) is None
        finally:
            await caller.close()

    async def until_counted(self, event: str, times: int = 1) -> None:
        while self.observer.counted(event) < times:
            await asyncio.sleep(0.02)


def channel(own: Credentials, to: str, address: str, certificate: str) -> aio.Channel:
    """A connection that shares nothing with others."""
    trusted = grpc.ssl_channel_credentials(own.members[to], own.key, own.certificate)
    options = [("grpc.ssl_target_name_override", certificate), ("grpc.use_local_subchannel_pool", 1)]
    return aio.secure_channel(address, trusted, options=options)


@contextlib.asynccontextmanager
async def target(**fields: Any) -> AsyncIterator[Target]:
    made = Target(**fields)
    await made.server.serve(made.handle)
    try:
        async with asyncio.timeout(240):
            yield made
    finally:
        await made.server.close()


async def ended(call: Any) -> grpc.StatusCode:
    """How a call ends."""
    try:
        await call
    except aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


@pytest.mark.parametrize("method", [METHOD, ROSTER], ids=["Tell", "Roster"])
def test_silent_streams_of_members_that_are_no_neighbours_take_nothing(method: str) -> None:
    """Each of three non-neighbours opens 40 streams and says nothing: all are refused unread, neighbours are served."""

    async def scenario() -> None:
        async with target() as b:
            channels = [b.channel(name) for name in "ccddff"]
            streams = [channel.stream_unary(method)() for channel in channels for _ in range(STREAMS // 2)]
            assert {await ended(stream) for stream in streams} == {DENIED}
            for name in "ae":
                await b.honest(name)
            assert b.heard == ["a", "e"]
            assert b.observer.counted("refused-not-a-neighbour") == 3 * STREAMS
            for channel in channels:
                await channel.close()

    asyncio.run(scenario())


def test_a_neighbour_that_opens_streams_and_stays_silent_hurts_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds as many calls as it is allowed; the rest of its own are refused, and the others' are answered."""
    monkeypatch.setattr(admission, "_READ_SECONDS", 1000.0)  # none of them ends by itself meanwhile

    async def scenario() -> None:
        async with target() as b:
            channels = [b.channel("a"), b.channel("a")]
            streams = [channel.stream_unary(METHOD)() for channel in channels for _ in range(STREAMS // 2)]
            await b.until_counted("refused-too-many-calls", STREAMS - 16)
            for _ in range(5):
                await b.honest("e")
            assert b.heard == ["e"] * 5
            assert b.observer.counted("refused-too-many-calls") == STREAMS - 16
            for stream in streams:
                stream.cancel()
            await asyncio.gather(*map(ended, streams), return_exceptions=True)
            for channel in channels:
                await channel.close()
            while b.server._admission._desks["a"].streams:  # that they are gone takes a moment to arrive
                await asyncio.sleep(0.02)
            await b.honest("a")  # and its places are free again

    asyncio.run(scenario())


@pytest.mark.parametrize("method", [METHOD, ROSTER], ids=["Tell", "Roster"])
def test_a_silent_stream_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """After some seconds without a message the call is ended, although its caller has set no limit."""
    monkeypatch.setattr(admission, "_READ_SECONDS", 0.2)

    async def scenario() -> None:
        async with target() as b:
            channel = b.channel("a")
            assert await ended(channel.stream_unary(method)()) is grpc.StatusCode.INVALID_ARGUMENT
            assert b.observer.events == [("refused-silent-call", "a")]
            monkeypatch.undo()  # a busy machine may need longer to deliver an honest call
            await b.honest("a")
            await channel.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("size", [300_000, 3_000_000])
def test_messages_that_are_too_long_are_counted(size: int) -> None:
    """gRPC refuses them by their length; the peer counts them and names the neighbour."""

    async def scenario() -> None:
        async with target() as b:
            channel = b.channel("a")
            for _ in range(3):
                assert await ended(channel.unary_unary(METHOD)(bytes(size))) is EXHAUSTED
            await b.until_counted("refused-no-whole-message", 3)
            assert set(b.observer.events) == {("refused-no-whole-message", "a")}
            assert b.heard == []
            await channel.close()

    asyncio.run(scenario())


def test_hanging_up_spares_nobody_the_pause_after_nonsense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends nonsense and is gone at once is not looked at sooner; another neighbour is."""
    monkeypatch.setattr(admission, "_NONSENSE_SECONDS", 1000.0)

    async def scenario() -> None:
        async with target() as b:
            channel = b.channel("a")
            for _ in range(12):
                stream: Any = channel.stream_stream(METHOD)()
                await stream.write(b"nonsense")
                await asyncio.sleep(0.03)
                stream.cancel()
            await b.until_counted("refused-invalid-message")
            await b.honest("e")
            assert b.observer.counted("refused-invalid-message") == 1
            assert b.heard == ["e"]
            await channel.close()

    asyncio.run(scenario())


def test_a_caller_that_loses_patience_is_not_counted_as_a_liar() -> None:
    """A stream that ends because its caller's own time is over says nothing about the caller."""

    async def scenario() -> None:
        async with target() as b:
            channel = b.channel("a")
            assert await ended(channel.stream_unary(METHOD)(timeout=0.3)) is grpc.StatusCode.DEADLINE_EXCEEDED
            await b.honest("a")
            assert b.observer.events == []
            await channel.close()

    asyncio.run(scenario())


def test_connections_that_say_nothing_do_not_use_up_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a limit new connections are closed at once; a neighbour that is connected goes on."""
    monkeypatch.setattr(options, "_CONNECTIONS", 8)
    monkeypatch.setattr(options, "_HANDSHAKE_MS", 100_000)

    async def scenario() -> None:
        async with target() as b:
            honest = SOCIETY.transport("a", neighbours={"b": f"127.0.0.1:{b.server.port}"})
            await honest.call("b", hello("a", "b"), 60.0)
            lines = [await asyncio.open_connection("127.0.0.1", b.server.port) for _ in range(20)]
            ends = [asyncio.ensure_future(reader.read(1)) for reader, _ in lines]
            while sum(end.done() for end in ends) < 13:
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.2)
            assert sum(end.done() for end in ends) == 13  # 7 beside the neighbour
            for _ in range(3):
                await honest.call("b", hello("a", "b"), 60.0)
            for _, writer in lines:
                writer.transport.abort()
            await asyncio.gather(*ends, return_exceptions=True)
            await honest.close()

    asyncio.run(scenario())


# -- memory: a whole peer in a process of its own ---------------------------------------------------

DIMENSION = 100_000
BODIES = 60


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The first of three peers in a row, with the second as its neighbour; the test plays the other two."""
    values = np.ones((3, DIMENSION))
    folder = tmp_path_factory.mktemp("memory") / "stage"
    with Stage(folder, graphs.path(3), values, noise_std=1.0, noise_decay=0.9, smallest_std=None) as made:
        made.start("p01")
        made.wait_until(lambda status: status["name"] == "p01", seconds=120, names=["p01"])
        yield made


def resident(process: int) -> int:
    """Bytes of memory that a process uses."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()


async def flood(stage: Stage, name: str, method: str, body: bytes) -> tuple[set[grpc.StatusCode], int]:
    """Many bodies at once from `name`, over several connections; how they ended, and the most memory seen meanwhile."""
    own, process = check_identity(stage.config(name)), stage.processes["p01"].pid
    to = str(stage.config("p01").listen)
    channels = [channel(own, "p01", to, "p01.stage") for _ in range(6)]
    calls = [ended(channels[k % 6].unary_unary(method)(body, timeout=200)) for k in range(BODIES)]
    gathered, most = asyncio.gather(*calls), 0
    while not gathered.done():
        most = max(most, resident(process))
        await asyncio.sleep(0.01)
    for one in channels:
        await one.close()
    return set(await gathered), max(most, resident(process))


@pytest.mark.parametrize("method", [METHOD, ROSTER], ids=["Tell", "Roster"])
@pytest.mark.parametrize("name", ["p03", "p02"], ids=["no neighbour", "neighbour"])
def test_junk_bodies_do_not_fill_the_memory(stage: Stage, name: str, method: str) -> None:
    """60 bodies of 5.6 MB from one member: the peer takes in none of a stranger's, and few at once of a neighbour's."""
    limits = Admission(Codec.from_config(stage.config("p01")).max_bytes)
    before = resident(stage.processes["p01"].pid)
    codes, most = asyncio.run(flood(stage, name, method, os.urandom(7 * 8 * DIMENSION)))
    if name == "p03":
        assert codes == {DENIED}
        allowed = 0
    else:
        assert codes <= {EXHAUSTED, grpc.StatusCode.INVALID_ARGUMENT}
        allowed = limits.most_bytes
    assert most - before < allowed + 32 * 2**20
