"""Callers that hang up at any moment of a call leave no trace: no traceback, nothing logged, nothing left waiting."""

from __future__ import annotations

import asyncio
import logging
import random

import grpc
import pytest
from grpc import aio

from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.transport.grpc import GrpcTransport
from sottovoce.testing.transport import hello

from ..helpers import Recorder, Society, make_config

SOCIETY = Society("a", "b")
METHOD = "/sottovoce.peer.v2.Peer/Tell"


async def slow_answer(src: str, message: Message) -> Message:
    """Long enough to be hung up on."""
    await asyncio.sleep(0.003)
    return hello("b", "a")


async def call_and_hang_up(channel: aio.Channel, content: bytes, moments: random.Random) -> None:
    """One call that ends before, while or after it is answered, with a message, half of one, or none."""
    whole, cancelled = moments.random() < 0.5, moments.random() < 0.7
    try:
        if whole:
            call = channel.unary_unary(METHOD)(content, timeout=0.001 + 0.02 * moments.random())
        else:
            call = channel.stream_unary(METHOD)(timeout=0.001 + 0.02 * moments.random())
        await asyncio.sleep(0.01 * moments.random())
        if not whole and moments.random() < 0.5:
            await call.write(content)
        if cancelled:
            call.cancel()
        async with asyncio.timeout(0.1):
            await call
    except (Exception, asyncio.CancelledError):
        return  # what it is like for the caller is not the question


def test_a_caller_that_hangs_up_leaves_no_trace(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Four hundred calls broken off at random moments: no line in any log, nothing on standard error, no open slot."""
    trouble: list[object] = []

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, what: trouble.append(what))
        server = GrpcTransport(make_config("b", neighbours={"a": "127.0.0.1:1"}), SOCIETY.credentials("b"), Recorder())
        await server.serve(slow_answer)
        own, moments = SOCIETY.credentials("a"), random.Random(1)
        trusted = grpc.ssl_channel_credentials(own.members["b"], own.key, own.certificate)
        content = server._codec.encode(hello("a", "b"))
        for _ in range(10):
            options = [("grpc.ssl_target_name_override", "b.net")]
            channel = aio.secure_channel(f"127.0.0.1:{server.port}", trusted, options=options)
            await asyncio.gather(*(call_and_hang_up(channel, content, moments) for _ in range(40)))
            await channel.close(grace=None)
        await server.close()

    with caplog.at_level(logging.WARNING):
        asyncio.run(scenario())
    assert trouble == []
    assert [record.getMessage() for record in caplog.records if record.name != "asyncio"] == []
    assert "Traceback" not in capfd.readouterr().err
