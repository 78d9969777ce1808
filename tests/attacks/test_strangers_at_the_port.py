"""Arbitrary bytes at a real port: nothing reaches the handler, and honest neighbours are served all the while."""

from __future__ import annotations

import asyncio
import random
import resource
import ssl
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.transport.codec import Codec
from sottovoce.testing.transport import hello, request

from ..peer.helpers import Recorder, Society

METHOD = "/sottovoce.peer.v2.Peer/Tell"


@pytest.fixture(scope="module")
def society() -> Society:
    return Society("a", "b")


class Target:
    """Peer b on a real port, an honest neighbour a, and what b's handler heard."""

    def __init__(self, society: Society) -> None:
        self.society = society
        self.observer = Recorder()
        self.heard: list[Message] = []

    async def handle(self, src: str, message: Message) -> None:
        self.heard.append(message)

    async def __aenter__(self) -> Target:
        self.server = self.society.transport("b", self.observer, neighbours={"a": "127.0.0.1:1"})
        await self.server.serve(self.handle)
        self.honest = self.society.transport("a")
        self.honest.add_neighbour("b", f"127.0.0.1:{self.server.port}")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.honest.close()
        await self.server.close()

    async def still_serves(self) -> None:
        """An honest call is answered, and is the only thing the handler heard."""
        self.heard.clear()
        assert await self.honest.call("b", hello("a", "b"), 60.0) is None
        assert len(self.heard) == 1

    def raw_channel(self) -> aio.Channel:
        """A channel with a's valid certificate, for payloads that are no messages."""
        own = self.society.credentials("a")
        trusted = grpc.ssl_channel_credentials(own.members["b"], own.key, own.certificate)
        options = [("grpc.ssl_target_name_override", "b.net")]
        return aio.secure_channel(f"127.0.0.1:{self.server.port}", trusted, options=options)


async def throw(port: int, chunks: list[bytes], context: ssl.SSLContext | None = None) -> None:
    """Connect, send the chunks, and hang up; whatever the other side does is fine."""
    name: Any = "b.net" if context else None
    try:
        async with asyncio.timeout(0.7):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
            try:
                for chunk in chunks:
                    writer.write(chunk)
                    await writer.drain()
                await reader.read(4096)
            finally:
                writer.transport.abort()
    except (OSError, TimeoutError, ssl.SSLError):
        return


def test_arbitrary_bytes_over_tcp(society: Society) -> None:
    """A plain TCP client that sends anything changes nothing."""

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=3))
    def fuzz(chunks: list[bytes]) -> None:
        async def scenario() -> None:
            async with asyncio.timeout(100):
                await throw(target.server.port, [*chunks, b"\n" * 64])
                assert target.heard == []

        runner.run(scenario())

    target = Target(society)
    with asyncio.Runner() as runner:
        runner.run(target.__aenter__())
        fuzz()
        runner.run(target.still_serves())
        runner.run(target.__aexit__())


def test_known_openings_over_tcp_and_tls(society: Society, tmp_path: Path) -> None:
    """HTTP, an HTTP/2 preface in the clear, half a handshake, and noise inside valid TLS have no effect."""

    async def scenario() -> None:
        own = society.credentials("a")
        (tmp_path / "a.crt").write_bytes(own.certificate)
        (tmp_path / "a.key").write_bytes(own.key)
        context = ssl.create_default_context(cadata=society.certificates["b"])
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.load_cert_chain(tmp_path / "a.crt", tmp_path / "a.key")
        context.set_alpn_protocols(["h2"])
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        frame = b"\xff\xff\xff\x01\x04\x00\x00\x00\x01"
        async with Target(society) as target:
            port = target.server.port
            for chunks in ([b"GET / HTTP/1.1\r\n\r\n"], [preface], [b"\x16\x03\x01\x02\x00\x01"], [b"\0" * 70_000]):
                await throw(port, chunks)
            for chunks in ([b"noise" * 1000], [preface, frame * 50], [preface[:10]], [preface, b"\0" * 9 * 2000]):
                await throw(port, chunks, context)
            assert target.heard == []
            await target.still_serves()

    asyncio.run(scenario())


def test_garbage_under_a_valid_certificate(society: Society) -> None:
    """A neighbour that sends bytes that are no message is refused and counted, and the peer goes on."""
    generator = random.Random(5)
    valid = Codec(1, 8).encode(request("a", "b", 3, [5]))

    def mutated() -> bytes:
        content = bytearray(valid)
        for _ in range(generator.randint(1, 3)):
            content[generator.randrange(len(content))] = generator.randrange(256)
        return bytes(content)

    async def scenario() -> None:
        async with Target(society) as target:
            channel = target.raw_channel()
            tell, refused = channel.unary_unary(METHOD), 0
            answers: set[object] = set()
            payloads = [generator.randbytes(generator.randint(0, 300)) for _ in range(60)]
            for payload in [*payloads, *(mutated() for _ in range(60))]:
                try:
                    await tell(payload, timeout=60)
                except aio.AioRpcError as error:
                    answers.add((error.code(), error.details()))
                    refused += 1
            assert answers == {(grpc.StatusCode.INVALID_ARGUMENT, "not a valid message")}
            assert refused > 60
            assert len(target.observer.events) == refused
            assert all(message.src == "a" and message.dst == "b" for message in target.heard)
            await channel.close()
            await target.still_serves()

    asyncio.run(scenario())


@pytest.mark.parametrize("size", [300_000, 5_000_000])
def test_oversized_messages_are_refused_by_their_length(society: Society, size: int) -> None:
    """A message longer than any topic, or a roster of the members, can need is refused unread."""

    async def scenario() -> None:
        async with Target(society) as target:
            channel = target.raw_channel()
            with pytest.raises(aio.AioRpcError) as caught:
                await channel.unary_unary(METHOD)(b"\0" * size, timeout=60)
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert target.heard == []
            await channel.close()
            await target.still_serves()

    asyncio.run(scenario())


def test_unknown_methods_and_large_metadata(society: Society) -> None:
    """Only one method exists, and headers are bounded."""

    async def scenario() -> None:
        async with Target(society) as target:
            channel = target.raw_channel()
            for method, metadata in (("/sottovoce.peer.v2.Peer/Other", ()), (METHOD, (("x", "y" * 50_000),))):
                with pytest.raises(aio.AioRpcError):
                    await channel.unary_unary(method)(b"", timeout=60, metadata=metadata)
            assert target.heard == []
            await channel.close()
            await target.still_serves()

    asyncio.run(scenario())


def test_bad_connections_leak_nothing(society: Society, tmp_path: Path) -> None:
    """After many refused connections the process has no more open files than before."""

    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    async def scenario() -> None:
        async with Target(society) as target:
            await throw(target.server.port, [b"x"])
            await target.still_serves()
            before = open_files()
            for _ in range(8):
                await asyncio.gather(*(throw(target.server.port, [b"GET / HTTP/1.0\r\n\r\n"]) for _ in range(25)))
            for _ in range(1200):
                if open_files() <= before + 5:
                    break
                await asyncio.sleep(0.05)
            assert open_files() <= before + 5
            await target.still_serves()

    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 200
    asyncio.run(scenario())
