"""The operator's line to a running peer: a Unix socket in its data folder, one JSON object each way.

Only the owner of the folder can open it (mode 0600). Commands: status, set-value, add, drop, roster, leave, backup,
stop. A private value travels over it in one direction only, inwards, and appears in no answer, error or log.

On Linux the socket is reached through an open descriptor of its folder, because a Unix socket's path may have only
about a hundred characters and a folder's may have more.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidInput, NotRunning, SottovoceError
from ..protocol.settings import MAX_DIMENSION

__all__ = ["ControlServer", "ask", "encode_value", "peek"]

_SOCKET = "control.sock"
_LINE_BYTES = 2 * 8 * MAX_DIMENSION
_PATIENCE = 30.0

OPEN_FOLDERS = Path("/proc/self/fd")
"""Where Linux shows the open descriptors of a process."""

LONGEST_NAME = 103
"""Bytes of a Unix socket's path that every system allows."""

Command = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


def encode_value(value: np.ndarray) -> str:
    """A vector as text that loses no bit."""
    return base64.b64encode(np.asarray(value, dtype="<f8").tobytes()).decode("ascii")


def decode_value(text: object) -> np.ndarray:
    """Undo :func:`encode_value`."""
    try:
        return np.frombuffer(base64.b64decode(str(text), validate=True), dtype="<f8").astype(np.float64)
    except ValueError:
        raise InvalidInput("the value is not a vector of float64") from None


@contextlib.contextmanager
def _short_path(folder: Path) -> Iterator[str]:
    """A name of the socket below the limit of about a hundred bytes; only Linux has one for every folder."""
    if not OPEN_FOLDERS.is_dir():
        name = str(folder / _SOCKET)
        if len(os.fsencode(name)) > LONGEST_NAME:
            raise InvalidInput(f"data_dir is too long for this system: the socket in it may have {LONGEST_NAME} bytes")
        yield name
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield str(OPEN_FOLDERS / str(descriptor) / _SOCKET)
    finally:
        os.close(descriptor)


class ControlServer:
    """Answers the operator's commands for one peer.

    Parameters
    ----------
    folder
        The peer's data folder.
    commands
        What to do, by command name; each gets the request and returns the answer's fields.
    """

    def __init__(self, folder: Path, commands: dict[str, Command]) -> None:
        self._folder, self._commands = folder, commands
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Open the socket; one left behind by a crash is replaced."""
        (self._folder / _SOCKET).unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.settimeout(0)
        before = os.umask(0o177)  # mode 0600 from the first instant
        try:
            with _short_path(self._folder) as path:
                listener.bind(path)
        except BaseException:
            listener.close()
            raise
        finally:
            os.umask(before)
        self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=_LINE_BYTES)

    async def close(self) -> None:
        """Close the socket and remove it."""
        if self._server is not None:
            self._server.close()
            self._server = None
            (self._folder / _SOCKET).unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Cancelled when the peer stops meanwhile: then the line is closed, and asyncio has nothing to complain about.
        with contextlib.suppress(asyncio.CancelledError), contextlib.closing(writer):
            with contextlib.suppress(OSError, TimeoutError, ValueError):
                async with asyncio.timeout(_PATIENCE):
                    line = await reader.readline()
                    answer = await self._answer(line)
                    writer.write(json.dumps(answer).encode() + b"\n")
                    await writer.drain()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            asked = json.loads(line)
            command = self._commands[asked["command"]]
        except (ValueError, KeyError, TypeError):
            return {"ok": False, "error": f"the command must be one of {', '.join(self._commands)}"}
        try:
            return {"ok": True, **await command(asked)}
        except SottovoceError as error:
            return {"ok": False, "error": str(error)}


def ask(folder: Path, command: str, **fields: Any) -> dict[str, Any]:
    """Send one command to the peer whose data folder this is and return its answer.

    Raises
    ------
    NotRunning
        Nobody listens there.
    InvalidInput
        The peer refused; the message is its sentence.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(_PATIENCE)
            with _short_path(folder) as path:
                line.connect(path)
            line.sendall(json.dumps({"command": command, **fields}).encode() + b"\n")
            with line.makefile("rb") as answers:
                content = answers.readline()
        answer: dict[str, Any] = json.loads(content)
    except (OSError, ValueError):
        raise NotRunning(f"no peer is running on {str(folder)!r}") from None
    if not answer.pop("ok", False):
        raise InvalidInput(str(answer.get("error", "refused")))
    return answer


def peek(folder: Path | None) -> dict[str, Any] | None:
    """The status of the peer whose data folder this is, or ``None`` if it does not answer."""
    if folder is None:
        return None
    try:
        status: dict[str, Any] = ask(folder, "status")["status"]
    except InvalidInput:
        return None
    return status
