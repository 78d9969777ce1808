"""Somebody on the path between two peers: the names at the handshake, sizes and times, and not a byte of a message."""

from __future__ import annotations

import asyncio
import contextlib

import numpy as np

from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.testing.transport import request

from ..peer.helpers import Society

NUMBER = 0x0A22334455667788
SECRET = np.array([NUMBER], dtype="<i8").tobytes()


class Tap:
    """A wire with an ear: carries bytes both ways and keeps them."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.up, self.down = bytearray(), bytearray()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(asyncio.CancelledError):
            inner, outer = await asyncio.open_connection("127.0.0.1", self._port)
            with contextlib.closing(outer):
                await asyncio.gather(self._carry(reader, outer, self.up), self._carry(inner, writer, self.down))

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, kept: bytearray) -> None:
        with contextlib.suppress(OSError), contextlib.closing(sink):
            while chunk := await source.read(65536):
                kept += chunk
                sink.write(chunk)
                await sink.drain()


async def overheard(calls: int) -> Tap:
    """What passes when a calls b that often and both say a number."""
    society = Society("a", "b")
    b = society.transport("b", neighbours={"a": None})

    async def answer(_: str, message: Message) -> Message:
        return Message(Kind.REP, "b", "a", 12, 11, blank=False, s=5, f=np.array([NUMBER]), r=3, xid=message.xid)

    await b.serve(answer)
    tap = Tap(b.port)
    server = await asyncio.start_server(tap.connect, "127.0.0.1", 0)
    a = society.transport("a")
    a.add_neighbour("b", f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        for number in range(calls):
            reply = await a.call("b", request("a", "b", number + 1, [NUMBER]), 60.0)
            assert reply is not None
            assert reply.f is not None
            assert reply.f.tolist() == [NUMBER]
    finally:
        await a.close()
        await b.close()
        server.close()
    return tap


def test_no_number_passes_in_the_clear() -> None:
    """Neither the caller's value nor the register in the answer is in the bytes, in either order of theirs."""
    tap = asyncio.run(overheard(20))
    seen = bytes(tap.up + tap.down)
    assert len(seen) > 2000
    assert SECRET not in seen
    assert SECRET[::-1] not in seen


def test_the_called_peers_name_does() -> None:
    """As the page says: the handshake names the peer that is called, and its network; the caller's name is hidden."""
    tap = asyncio.run(overheard(1))
    assert b"b.net" in tap.up
    assert b"a.net" not in tap.up + tap.down


def test_more_calls_are_more_bytes() -> None:
    """What cannot be hidden: how much is said, and when."""
    assert len(asyncio.run(overheard(40)).up) > len(asyncio.run(overheard(2)).up) + 20 * 8
