"""Callers that hang up at any moment of a call leave no trace: no traceback, nothing logged, nothing left waiting."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import subprocess
import sys
from collections.abc import Awaitable
from pathlib import Path

import grpc
import pytest
from grpc import aio

from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.runtime.holding import HeldAnswers
from sottovoce.peer.transport.grpc import GrpcTransport
from sottovoce.peer.transport.options import hide_callers_that_hung_up
from sottovoce.testing.transport import hello

from ..helpers import Recorder, Society, make_config

SOCIETY = Society("a", "b")
METHOD = "/sottovoce.peer.v2.Peer/Tell"


async def slow_answer(src: str, message: Message) -> Message:
    """Long enough to be hung up on."""
    await asyncio.sleep(0.003)
    return hello("b", "a")


class Handler:
    """Answers slowly, and every other time holds the answer back (R94)."""

    def __init__(self) -> None:
        self.held, self.calls = HeldAnswers(), 0

    def __call__(self, src: str, message: Message) -> Awaitable[Message | None]:
        self.calls += 1
        return self.held.hold(src, 0.003, lambda: hello("b", "a")) if self.calls % 2 else slow_answer(src, message)


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
            async with asyncio.timeout(0.1):  # for ever, if the call was over before it had begun
                await call.write(content)
        if cancelled:
            call.cancel()
        async with asyncio.timeout(0.1):
            await call
    except (Exception, asyncio.CancelledError):
        return  # what it is like for the caller is not the question


async def four_hundred_calls() -> None:
    """Broken off at random moments; whatever reaches the loop's handler is written to standard error."""
    asyncio.get_running_loop().set_exception_handler(lambda _loop, what: sys.stderr.write(f"Trouble {what}\n"))
    server = GrpcTransport(make_config("b", neighbours={"a": "127.0.0.1:1"}), SOCIETY.credentials("b"), Recorder())
    handler = Handler()
    await server.serve(handler)
    own, moments = SOCIETY.credentials("a"), random.Random(1)
    trusted = grpc.ssl_channel_credentials(own.members["b"], own.key, own.certificate)
    content = server._codec.encode(hello("a", "b"))
    for _ in range(10):
        options = [("grpc.ssl_target_name_override", "b.net")]
        channel = aio.secure_channel(f"127.0.0.1:{server.port}", trusted, options=options)
        await asyncio.gather(*(call_and_hang_up(channel, content, moments) for _ in range(40)))
        await channel.close(grace=None)
    await server.close()
    sys.stdout.write("nothing held\n" if not handler.held._held else "held\n")


def test_a_caller_that_hangs_up_leaves_no_trace() -> None:
    """Four hundred calls broken off at random moments: no traceback and no error of gRPC's on standard error.

    In a process of its own, which ends without waiting for gRPC: calls that were never finished can keep its threads.
    """
    script = f"import asyncio, os, {__name__} as here; asyncio.run(here.four_hundred_calls()); os._exit(0)"
    root = Path(__file__).parents[3]
    ran = subprocess.run(
        [sys.executable, "-u", "-c", script], cwd=root, env=os.environ | {"PYTHONPATH": str(root / "src")},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert ran.stdout == "nothing held\n"
    errors = [line for line in ran.stderr.splitlines() if "Error" in line or "Traceback" in line or "Trouble" in line]
    assert errors == []


def test_other_errors_of_grpc_are_not_hidden(caplog: pytest.LogCaptureFixture) -> None:
    """Only the sentence about a caller that is gone is left out."""
    loop_of_grpc = logging.getLogger("grpc._cython.cygrpc")
    hide_callers_that_hung_up()
    hide_callers_that_hung_up()
    loop_of_grpc.error("ExecuteBatchError raised in core by servicer method [%s]", METHOD)
    loop_of_grpc.error("Unexpected error in the server")
    assert [record.getMessage() for record in caplog.records] == ["Unexpected error in the server"]
