"""What the node asks of a transport, and what a transport may answer.

Every message gets at most one reply to its sender, so a transport is request and response. It vouches for *who*
speaks: the handler is told the authenticated name of the sender, and only configured neighbours reach it. It does
not vouch for delivery: a call that fails may or may not have been handled on the other side.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

from ...errors import TransportError
from ..membership.config import PeerConfig
from ..protocol.messages import Message

__all__ = [
    "CallFailed",
    "FailureReason",
    "Handler",
    "HeldAnswer",
    "Observer",
    "Quiet",
    "RosterHandler",
    "SilentObserver",
    "Transport",
]

Handler = Callable[[str, Message], Awaitable[Message | None]]
"""Called with the sender's authenticated name and its message; returns the reply, or ``None`` for no reply.

:class:`~sottovoce.errors.TemporaryFailure` says that this peer is stopping; any other error is counted and logged."""


class HeldAnswer(asyncio.Future[Message | None]):
    """What a handler may return: an answer that comes a moment later. Meanwhile the transport reads what else comes.

    Nothing has to be finished before it comes: whoever waits for it no more may cancel it.
    """


RosterHandler = Callable[[str, int, bytes | None], Awaitable[bytes | None]]
"""Called with a neighbour's name, the number of its roster, and that roster if it hands it over; returns ours if it is
later."""

FailureReason = Literal["unreachable", "timeout", "refused", "invalid"]
"""No connection; no answer in time; the other side refused us (or we its certificate); its answer made no sense."""


class CallFailed(TransportError):
    """A call that brought no usable answer; whether it was handled on the other side is unknown."""

    def __init__(self, neighbour: str, reason: FailureReason) -> None:
        super().__init__(f"the call to {neighbour!r} failed: {reason}")
        self.neighbour = neighbour
        self.reason: FailureReason = reason


class Observer(Protocol):
    """Where a transport and a node report what happened; see :class:`sottovoce.peer.process.metrics.PeerObserver`."""

    def count(self, event: str, neighbour: str = "") -> None:
        """Count one event, with the neighbour it concerns where that is one of the configured ones."""

    def log(self, level: str, event: str, **fields: object) -> None:
        """Write one log line; fields never hold values."""


class SilentObserver:
    """Reports nothing."""

    def count(self, event: str, neighbour: str = "") -> None:
        """Ignore."""

    def log(self, level: str, event: str, **fields: object) -> None:
        """Ignore."""


class Quiet:
    """Lets at most one line a second through about the same thing: a flood must not fill the disk with logs.

    Examples
    --------
    >>> worth_saying = Quiet()
    >>> worth_saying("refused", "bob"), worth_saying("refused", "bob"), worth_saying("refused", "eve")
    (True, False, True)
    """

    def __init__(self, seconds: float = 1.0) -> None:
        self._seconds = seconds
        self._said: dict[tuple[str, ...], float] = {}

    def __call__(self, *what: str) -> bool:
        now = time.monotonic()
        if now - self._said.get(what, -math.inf) < self._seconds:
            return False
        self._said[what] = now
        return True


class Transport(Protocol):
    """Carries messages between this peer and its neighbours."""

    async def serve(self, handler: Handler, rosters: RosterHandler | None = None) -> None:
        """Start to accept calls from neighbours; returns once that is so."""

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        """Send `message` to neighbour `dst` and wait for its reply.

        Returns ``None`` when the neighbour handled the message and had nothing to say.

        Raises
        ------
        CallFailed
            No usable answer within `timeout` seconds; the message may or may not have been handled.
        """

    async def ask_roster(self, dst: str, number: int, document: bytes | None, timeout: float) -> bytes | None:  # noqa: ASYNC109 - handed on
        """Tell neighbour `dst` the number of our roster, hand it over if `document`, and get its own if that is later.

        Raises
        ------
        CallFailed
            No usable answer within `timeout` seconds.
        """

    async def renew(self, config: PeerConfig) -> None:
        """Another roster: from now on its neighbours, addresses and certificates count.

        Returns when calls are accepted again.
        """

    def add_neighbour(self, name: str, address: str | None) -> None:
        """Let `name` speak, and know where to call it."""

    async def drop_neighbour(self, name: str) -> None:
        """Close the connection to `name` and stop listening to it."""

    async def close(self) -> None:
        """Stop accepting calls, let those under way finish briefly, close all connections. May be repeated."""
