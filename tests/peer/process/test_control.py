from __future__ import annotations

import asyncio
import contextlib
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import InvalidInput, InvalidParameter, NotRunning
from sottovoce.peer.process.control import ControlServer, ask, decode_value, encode_value


async def echo(asked: dict[str, Any]) -> dict[str, Any]:
    return {"heard": asked}


async def refuse(asked: dict[str, Any]) -> dict[str, Any]:
    raise InvalidParameter("neighbour must be one of this peer's")


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[ControlServer]:
    server = ControlServer(folder, {"echo": echo, "refuse": refuse})
    await server.start()
    try:
        yield server
    finally:
        await server.close()


def test_questions_are_answered_and_refusals_are_sentences(tmp_path: Path) -> None:
    """A command's answer comes back, and a refusal raises with the peer's own sentence."""

    async def scenario() -> None:
        async with served(tmp_path):
            answer = await asyncio.to_thread(ask, tmp_path, "echo", number=3)
            assert answer == {"heard": {"command": "echo", "number": 3}}
            for command, sentence in (("refuse", "one of this peer's"), ("other", "must be one of echo, refuse")):
                with pytest.raises(InvalidInput, match=sentence):
                    await asyncio.to_thread(ask, tmp_path, command)

    asyncio.run(scenario())


def test_only_the_owner_can_open_it_and_it_goes_away(tmp_path: Path) -> None:
    """The socket has mode 0600 and is removed when the peer ends."""

    async def scenario() -> None:
        async with served(tmp_path):
            mode = (tmp_path / "control.sock").stat().st_mode
            assert stat.S_ISSOCK(mode)
            assert stat.S_IMODE(mode) == 0o600
        assert not (tmp_path / "control.sock").exists()

    asyncio.run(scenario())


def test_deep_folders_work(tmp_path: Path) -> None:
    """A data folder whose path is longer than a Unix socket's may be is no obstacle."""
    folder = tmp_path / ("x" * 100) / ("y" * 100)
    folder.mkdir(parents=True)

    async def scenario() -> None:
        async with served(folder):
            assert await asyncio.to_thread(ask, folder, "echo")

    asyncio.run(scenario())


def test_a_socket_left_by_a_crash_is_replaced(tmp_path: Path) -> None:
    """A peer that was killed leaves its socket behind; the next start is not disturbed by it."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "control.sock"))
    with pytest.raises(NotRunning):
        ask(tmp_path, "echo")

    async def scenario() -> None:
        async with served(tmp_path):
            assert await asyncio.to_thread(ask, tmp_path, "echo")

    asyncio.run(scenario())


@pytest.mark.parametrize("there", [True, False])
def test_nobody_there_is_bad_input(tmp_path: Path, there: bool) -> None:
    """Asking a peer that does not run is one sentence, whether or not its folder exists."""
    with pytest.raises(NotRunning, match="no peer is running"):
        ask(tmp_path if there else tmp_path / "none", "status")


@pytest.mark.parametrize(
    "noise", [b"\n", b"{}\n", b"[1]\n", b'{"command": 3}\n', b'{"command": ["echo"]}\n', b"\xff\n", b"x" * 10]
)
def test_noise_on_the_socket_is_harmless(tmp_path: Path, noise: bytes) -> None:
    """Anything but a command gets a refusal, and the next command works."""

    async def scenario() -> None:
        async with served(tmp_path):
            reader, writer = await asyncio.open_unix_connection(str(tmp_path / "control.sock"))
            with contextlib.closing(writer):
                writer.write(noise)
                writer.write_eof()
                assert b'"ok": false' in await reader.read()
            await writer.wait_closed()
            assert await asyncio.to_thread(ask, tmp_path, "echo")

    asyncio.run(scenario())


def test_a_peer_that_stops_hangs_up_on_whoever_says_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An operator's line that is open at the end is closed then, and nothing is logged about it."""

    async def scenario() -> bytes:
        with socket.socket(socket.AF_UNIX) as operator:
            operator.settimeout(60)
            server = ControlServer(tmp_path, {"echo": echo})
            await server.start()
            await asyncio.to_thread(operator.connect, str(tmp_path / "control.sock"))
            assert await asyncio.to_thread(ask, tmp_path, "echo")  # so the line before it has been taken, too
            await server.close()
            for serving in asyncio.all_tasks() - {asyncio.current_task()}:
                serving.cancel()  # as at the end of a process
            return await asyncio.to_thread(operator.recv, 1)

    assert asyncio.run(scenario()) == b""
    assert [said for said in caplog.messages if "StreamReaderProtocol" in said] == []


def test_values_travel_bit_for_bit() -> None:
    """A vector survives the text form; anything else is refused without being repeated."""
    value = np.array([0.1, -0.0, 1e308, 5e-324])
    assert decode_value(encode_value(value)).tobytes() == value.tobytes()
    for bad in (None, "*", "AAAA", 3):
        with pytest.raises(InvalidInput):
            decode_value(bad)
