"""Calls to one neighbour over streams that stay open: that costs half of what it costs to begin a call each time.

A stream carries one call after the other, each of them a message and its answer. Calls that are made at the same time
have a stream each; one that fails, or is given up, takes its stream with it. To the other side a stream is a call that
goes on: whoever makes single calls is answered in the same way.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
from grpc import aio

__all__ = ["Streams"]

_SECONDS = 5.0
"""How long a stream is used: less than a connection goes on after it was told to end, and than the other end waits."""

_FAREWELL_SECONDS = 0.2
"""How long the other side may take to end streams that are not needed any more."""


@dataclass
class _Stream:
    """A call that goes on, since when, and whether it was answered before."""

    call: Any
    since: float
    used: bool = False

    async def carry(self, content: bytes) -> bytes | None:
        """A message and its answer; ``None``: the other side had ended the stream, and has not read the message.

        Raises
        ------
        AioRpcError
            The other side has refused it, or was not reached.
        InvalidStateError
            The connection was lost, or closed here.
        """
        if not self.used:
            await self._begin()
        try:
            await self.call.write(content)
        except (aio.AioRpcError, asyncio.InvalidStateError) as error:
            if self.used:
                return None
            if isinstance(error, aio.AioRpcError) and error.code() is grpc.StatusCode.INTERNAL:  # what gRPC calls it
                raise asyncio.InvalidStateError from None
            raise
        answer = await self.call.read()
        self.used = True
        return answer if isinstance(answer, bytes) else None

    async def _begin(self) -> None:
        """Wait for the connection. gRPC would wait for ever if the call is cancelled meanwhile, as by its channel."""
        ended = asyncio.Event()
        self.call.add_done_callback(lambda _call: ended.set())
        waiting = asyncio.ensure_future(ended.wait())
        connecting = asyncio.ensure_future(self.call.wait_for_connection())
        try:
            await asyncio.wait((connecting, waiting), return_when=asyncio.FIRST_COMPLETED)
            if self.call.cancelled():
                raise asyncio.InvalidStateError
            await connecting
        finally:
            for task in (waiting, connecting):
                task.cancel()
            await asyncio.gather(waiting, connecting, return_exceptions=True)  # so that nothing is left of them

    async def end(self) -> None:
        """Say that nothing more comes, and hear that this is understood."""
        await self.call.done_writing()
        await self.call.read()


class Streams:
    """Streams to one neighbour that are open and that no call is using.

    Parameters
    ----------
    begin
        Opens a stream, given the seconds that the first answer on it may take.
    """

    def __init__(self, begin: Callable[[float], Any]) -> None:
        self._begin = begin
        self._idle: list[_Stream] = []

    async def call(self, content: bytes, seconds: float) -> bytes | None:
        """One message and its answer; ``None``: the other side has ended the stream and said nothing.

        Raises
        ------
        TimeoutError
            No answer within so many seconds.
        AioRpcError, InvalidStateError
            As :meth:`_Stream.carry` says.
        """
        async with asyncio.timeout(seconds):
            while True:
                stream = self._take() or _Stream(self._begin(seconds), time.monotonic())
                used = stream.used
                try:
                    answer = await stream.carry(content)
                except BaseException:
                    stream.call.cancel()
                    raise
                if answer is not None:
                    self._idle.append(stream)
                if answer is not None or not used:
                    return answer

    def _take(self) -> _Stream | None:
        oldest = time.monotonic() - _SECONDS
        while self._idle:
            stream = self._idle.pop()
            if stream.since > oldest and not stream.call.done():
                return stream
            stream.call.cancel()
        return None

    async def close(self) -> None:
        """End those that no call is using. What of a stream is left when its event loop ends would trouble the next."""
        idle, self._idle = self._idle, []
        try:
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await asyncio.gather(*(stream.end() for stream in idle), return_exceptions=True)
        except TimeoutError:
            pass
        finally:
            for stream in idle:
                stream.call.cancel()
