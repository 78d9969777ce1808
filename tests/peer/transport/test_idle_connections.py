"""Connections without calls are ended: places are few, and whoever only holds one loses it."""

from __future__ import annotations

import asyncio
import ssl
import time
from pathlib import Path

import pytest

from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.transport import admission, options
from sottovoce.testing.transport import hello

from ..helpers import Recorder, Society

SOCIETY = Society("a", "b")
PATIENCE = 60.0
PREFACE, NO_SETTINGS = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\0\0\0\4\0\0\0\0\0"
SETTINGS, PING, GO_AWAY, ACKNOWLEDGED = 4, 6, 7, 1


async def silent(_src: str, _message: Message) -> None:
    """Handles a message and has nothing to say."""


def as_member(folder: Path) -> ssl.SSLContext:
    """What a needs for a connection of its own making to b."""
    own = SOCIETY.credentials("a")
    (folder / "key.pem").write_bytes(own.key)
    (folder / "certificate.pem").write_bytes(own.certificate)
    context = ssl.create_default_context(cadata=own.members["b"].decode())
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    context.set_alpn_protocols(["h2"])
    return context


async def hold(port: int, context: ssl.SSLContext) -> bytes:
    """A connection on which nothing is said, but every ping is answered, until the other end says why not."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="b.net")
    writer.write(PREFACE + NO_SETTINGS)
    while True:
        head = await reader.readexactly(9)
        body = await reader.readexactly(int.from_bytes(head[:3], "big"))
        kind, flags = head[3], head[4]
        if kind in (SETTINGS, PING) and not flags & ACKNOWLEDGED:
            answer = body if kind == PING else b""
            writer.write(len(answer).to_bytes(3, "big") + bytes([kind, ACKNOWLEDGED]) + bytes(4) + answer)
        if kind == GO_AWAY:
            writer.close()
            return body


def test_who_only_holds_a_connection_loses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that answers pings and makes no calls keeps its places for a limited time; nothing is logged."""
    monkeypatch.setattr(options, "_IDLE_MS", 1000)

    async def scenario() -> None:
        observer, context = Recorder(), as_member(tmp_path)
        server = SOCIETY.transport("b", observer, neighbours={"a": "127.0.0.1:1"})
        await server.serve(silent)
        began = time.monotonic()
        held = await asyncio.wait_for(asyncio.gather(*(hold(server.port, context) for _ in range(5))), PATIENCE)
        assert all(b"idle" in why for why in held)
        assert time.monotonic() - began < 15.0  # gRPC looks now and then
        assert observer.events == []
        await server.close()

    asyncio.run(scenario())


def test_an_honest_caller_hangs_up_first_and_comes_back(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Calls with long pauses are all answered, and neither end counts or writes anything, gRPC included."""
    monkeypatch.setattr(options, "_IDLE_MS", 3000)
    monkeypatch.setattr(options, "_HANG_UP_MS", 1000)
    monkeypatch.setattr(admission, "_IDLE_SECONDS", 0.1)  # a stream that waits for its next call is a call

    async def scenario() -> None:
        observer = Recorder()
        server = SOCIETY.transport("b", observer, neighbours={"a": "127.0.0.1:1"})
        await server.serve(silent)
        caller = SOCIETY.transport("a", observer, neighbours={"b": f"127.0.0.1:{server.port}"})
        for pause in (0.5, 6.5):
            await caller.call("b", hello("a", "b"), PATIENCE)
            await asyncio.sleep(pause)
        await caller.call("b", hello("a", "b"), PATIENCE)
        await caller.close()
        await server.close()
        assert observer.events == []

    asyncio.run(scenario())
    assert "goaway" not in capfd.readouterr().err


def test_the_caller_is_first() -> None:
    """Even where gRPC looks at its connections so late that it takes twice as long."""
    assert 2 * options._HANG_UP_MS < options._IDLE_MS
