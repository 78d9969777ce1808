"""How much of a peer one neighbour can take up: calls at once, bytes held for it, seconds spent on its nonsense.

Everything is counted by neighbour, so whoever exceeds its share is slowed or refused alone. What one neighbour can make
a peer hold in memory is at most :attr:`Admission.most_bytes`, whatever it sends and however many connections it opens.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from .base import HeldAnswer

__all__ = ["Admission"]

_CALLS = 16
"""Calls of one neighbour at once. An honest one has one request out, and now and then a greeting."""

_LEAST_CALLS = 3
"""So many at least, however long messages are: a request, a greeting that is answered later (R94), and the next one."""

_BYTES = 64 * 2**20
"""What the calls of one neighbour may hold together, where three messages of the network need less."""

_READ_SECONDS = 10.0
_READ_BYTES_PER_SECOND = 1e6
"""A body that has not arrived after so long, with so many bytes a second added, is not waited for."""

_NONSENSE_SECONDS = 0.02
_NONSENSE_BYTES_PER_SECOND = 1e7
"""How long a neighbour is not read after an invalid message: at most 50 of them a second are looked at."""


@dataclass
class _Desk:
    """Where one neighbour's calls queue: only the first of them is read."""

    calls: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    held: list[HeldAnswer] = field(default_factory=list)

    def finish_one(self) -> bool:
        """Answer the oldest of the calls that wait with nothing; whether there was one."""
        waiting = next((answer for answer in self.held if not answer.done()), None)
        if waiting is not None:
            waiting.set_result(None)
        return waiting is not None


class Admission:
    """Counts the calls under way, by neighbour.

    Parameters
    ----------
    max_bytes
        The length of the longest valid message.

    Examples
    --------
    >>> small, large = Admission(max_bytes=4_000), Admission(max_bytes=56_000_000)
    >>> small.calls, large.calls, small.most_bytes, large.most_bytes
    (16, 3, 76000, 336000000)
    >>> [large.enter("eve") for _ in range(4)], large.enter("bob")
    ([True, True, True, False], True)
    >>> large.leave("eve")
    >>> large.enter("eve")
    True
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.calls = min(_CALLS, max(_LEAST_CALLS, _BYTES // max_bytes))
        """The most calls of one neighbour at once."""
        self._desks: defaultdict[str, _Desk] = defaultdict(_Desk)

    @property
    def most_bytes(self) -> int:
        """The most that one neighbour can take up: answers that it does not read, and up to four copies of one message.

        One message at a time is read: as gRPC has it, as bytes, parsed, and as numbers.
        """
        return (self.calls + 3) * self._max_bytes

    @property
    def read_seconds(self) -> float:
        """How long a body may take to arrive."""
        return _READ_SECONDS + self._max_bytes / _READ_BYTES_PER_SECOND

    def enter(self, name: str) -> bool:
        """Whether ``name`` may have one more call; if so, :meth:`leave` must follow when it has ended.

        Who has several topics open has several calls whose answers are held back (R94, R95). If it needs a place, the
        oldest of them is answered with nothing; until that one has ended, it is one call too many, and holds nothing.
        """
        desk = self._desks[name]
        if desk.calls >= self.calls and (desk.calls >= 2 * self.calls or not desk.finish_one()):
            return False
        desk.calls += 1
        return True

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
        """A call of ``name`` has ended, and its answer is on the way or lost."""
        self._desks[name].calls -= 1

    def turn(self, name: str) -> asyncio.Lock:
        """Held while a message of ``name`` is read and handled, one at a time."""
        return self._desks[name].turn

    async def after_nonsense(self, size: int) -> None:
        """What ``name`` waits, in its turn, after an invalid message of ``size`` bytes."""
        await asyncio.sleep(_NONSENSE_SECONDS + size / _NONSENSE_BYTES_PER_SECOND)
