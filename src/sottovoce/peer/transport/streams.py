"""Calls to one neighbour over streams that stay open: that costs half of what it costs to begin a call each time.

A stream carries one call after the other, each of them a message and its answer. Calls that are made at the same time
have a stream each; one that fails, or is given up, takes its stream with it. To the other side a stream is a call that
goes on: whoever makes single calls is answered in the same way. So are the first calls made, and those after a failure:
only of a single call does gRPC always say why it was refused.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import grpc
from grpc import aio

__all__ = ["Streams"]

_SECONDS = 5.0
"""How long a stream is used: less than a connection goes on after it was told to end, and than the other end waits."""

_STREAK = 2
"""After so many calls that were answered, each soon after the one before, a stream is worth while."""

_FAREWELL_SECONDS = 0.2
"""How long the other side may take to end streams that are not needed any more."""


@dataclass
class _Stream:
    """A call that goes on, since when, and whether it was answered before."""

    call: Any
    since: float
    used: bool = False

    async def carry(self, content: bytes) -> bytes | None:
        """A message and its answer; ``None``: the stream has ended, and the other side has not handled the message.

        Raises
        ------
        AioRpcError
            The other side has refused it, or was not reached.
        InvalidStateError
            The connection was closed here.
        """
        if not self.used:
            await self._begin()
        try:
            await self.call.write(content)
        except asyncio.InvalidStateError:
            return None
        except aio.AioRpcError as error:
            if self.used or error.code() is grpc.StatusCode.INTERNAL:  # all that gRPC knows if a stream ends meanwhile
                return None
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
    single
        Makes a single call, given a message and those seconds.
    """

    def __init__(self, begin: Callable[[float], Any], single: Callable[[bytes, float], Awaitable[bytes]]) -> None:
        self._begin, self._single = begin, single
        self._idle: list[_Stream] = []
        self._answered, self._streak = -math.inf, 0
        """When the last call was answered, and how many were in a row, each soon after the one before."""

    async def call(self, content: bytes, seconds: float) -> bytes:
        """One message and its answer.

        Raises
        ------
        TimeoutError
            No answer within so many seconds.
        AioRpcError, InvalidStateError
            As :meth:`_Stream.carry` says.
        """
        try:
            async with asyncio.timeout(seconds):
                answer = await self._over_a_stream(content, seconds)
                if answer is None:
                    answer = bytes(await self._single(content, seconds))
        except BaseException:
            self._streak = 0
            raise
        now = time.monotonic()
        self._streak = self._streak + 1 if now - self._answered < _SECONDS else 1
        self._answered = now
        return answer

    async def _over_a_stream(self, content: bytes, seconds: float) -> bytes | None:
        """``None``: there is none, and it is no time to open one; or all have ended without handling the message."""
        while (stream := self._take(seconds)) is not None:
            fresh = not stream.used
            try:
                answer = await stream.carry(content)
            except BaseException:
                stream.call.cancel()
                raise
            if answer is not None:
                self._idle.append(stream)
            if answer is not None or fresh:
                return answer
        return None

    def _take(self, seconds: float) -> _Stream | None:
        now = time.monotonic()
        while self._idle:
            stream = self._idle.pop()
            if now - stream.since < _SECONDS and not stream.call.done():
                return stream
            stream.call.cancel()
        often = self._streak >= _STREAK and now - self._answered < _SECONDS
        return _Stream(self._begin(seconds), now) if often else None

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
