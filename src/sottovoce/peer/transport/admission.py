"""How much of a peer one neighbour can take up: streams at once, bytes held for it, seconds spent on its nonsense.

Everything is counted by neighbour, so whoever exceeds its share is slowed or refused alone. What one neighbour can make
a peer hold in memory is at most :attr:`Admission.most_bytes`, whatever it sends and however many connections it opens.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from .base import HeldAnswer

__all__ = ["Admission"]

_CALLS = 16
"""Streams of one neighbour at once. An honest one has one request out, and now and then a greeting."""

_LEAST_CALLS = 3
"""So many at least, however long messages are: a request, a greeting that is answered later (R94), and the next one."""

_BYTES = 64 * 2**20
"""What the streams of one neighbour may carry together, where three of them need less."""

_COPIES = 2
"""Of an answer that is not read: ours, and gRPC's."""

_READ_SECONDS, _IDLE_SECONDS = 10.0, 10.0
_READ_BYTES_PER_SECOND = 1e6
"""A message that has not arrived after so long, with so many bytes a second added, is not waited for: the first one of
a stream, and the next. An honest caller uses a stream for half as long."""

_NONSENSE_SECONDS = 0.02
_NONSENSE_BYTES_PER_SECOND = 1e7
"""How long a neighbour is not listened to after an invalid message: at most 50 of them a second are looked at."""


@dataclass
class _Desk:
    """Where one neighbour's calls queue: only the first of them is handled."""

    streams: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    held: list[HeldAnswer] = field(default_factory=list)
    idle: list[asyncio.Timeout] = field(default_factory=list)
    deaf_until: float = 0.0

    def end_one(self) -> bool:
        """End the stream that has been silent for longest after a call; whether there was one."""
        if self.idle:
            with contextlib.suppress(RuntimeError):  # its time is over anyway, this moment
                self.idle.pop(0).reschedule(0.0)
            return True
        return False

    def finish_one(self) -> bool:
        """Answer the oldest of the calls that wait with nothing; whether there was one."""
        waiting = next((answer for answer in self.held if not answer.done()), None)
        if waiting is not None:
            waiting.set_result(None)
        return waiting is not None


class Admission:
    """Counts the streams that are open, by neighbour; each has at most one call under way.

    Parameters
    ----------
    max_bytes
        The length of the longest valid message.

    Examples
    --------
    >>> small, large = Admission(max_bytes=4_000), Admission(max_bytes=56_000_000)
    >>> small.calls, large.calls, small.most_bytes, large.most_bytes
    (16, 3, 140000, 504000000)
    >>> [large.enter("eve") for _ in range(4)], large.enter("bob")
    ([True, True, True, False], True)
    >>> large.leave("eve")
    >>> large.enter("eve")
    True
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.calls = min(_CALLS, max(_LEAST_CALLS, _BYTES // max_bytes))
        """The most streams of one neighbour, and so its calls at once."""
        self._desks: defaultdict[str, _Desk] = defaultdict(_Desk)

    @property
    def most_bytes(self) -> int:
        """The most that one neighbour can take up: a message, or an answer that it does not read, for each stream.

        And one message at a time is understood: as gRPC has it, as bytes, parsed, and as numbers.
        """
        return (_COPIES * self.calls + 3) * self._max_bytes

    @property
    def read_seconds(self) -> float:
        """How long the first message of a stream may take to arrive."""
        return _READ_SECONDS + self._max_bytes / _READ_BYTES_PER_SECOND

    @property
    def idle_seconds(self) -> float:
        """How long the next message may take to come and to arrive."""
        return _IDLE_SECONDS + self._max_bytes / _READ_BYTES_PER_SECOND

    def enter(self, name: str) -> bool:
        """Whether ``name`` may have one more stream; if so, :meth:`leave` must follow when it has ended.

        If it needs a place, one of its streams that are silent is ended. Who has several topics open has several calls
        whose answers are held back (R94, R95): if there is no silent stream, the oldest of these is answered with
        nothing, and its stream ends with that. Until then there is one too many, and it holds nothing.
        """
        desk = self._desks[name]
        full = desk.streams >= self.calls
        if full and (desk.streams >= 2 * self.calls or not (desk.end_one() or desk.finish_one())):
            return False
        desk.streams += 1
        return True

    @contextlib.asynccontextmanager
    async def idle(self, name: str) -> AsyncIterator[None]:
        """While a stream of ``name`` waits for its next call.

        Raises
        ------
        TimeoutError
            It has waited long enough, or its place is needed.
        """
        desk = self._desks[name]
        if desk.streams > self.calls:
            raise TimeoutError
        async with asyncio.timeout(self.idle_seconds) as limit:
            desk.idle.append(limit)
            try:
                yield
            finally:
                if limit in desk.idle:
                    desk.idle.remove(limit)

    def end_idle(self) -> None:
        """End all streams that wait for their next call."""
        for desk in self._desks.values():
            while desk.end_one():
                pass

    @contextlib.contextmanager
    def holding(self, name: str, answer: HeldAnswer) -> Iterator[None]:
        """While ``name`` waits for an answer that is held back."""
        held = self._desks[name].held
        held.append(answer)
        try:
            yield
        finally:
            held.remove(answer)

    def leave(self, name: str) -> None:
        """A stream of ``name`` has ended, and its last answer is on the way or lost."""
        self._desks[name].streams -= 1

    def turn(self, name: str) -> asyncio.Lock:
        """Held while a message of ``name`` is understood and handled, one at a time."""
        return self._desks[name].turn

    def nonsense(self, name: str, size: int) -> None:
        """``name`` has sent an invalid message of ``size`` bytes."""
        seconds = _NONSENSE_SECONDS + size / _NONSENSE_BYTES_PER_SECOND
        self._desks[name].deaf_until = asyncio.get_running_loop().time() + seconds

    async def patience(self, name: str) -> None:
        """In the turn of ``name``: wait until it is listened to again after nonsense."""
        left = self._desks[name].deaf_until - asyncio.get_running_loop().time()
        if left > 0.0:
            await asyncio.sleep(left)
