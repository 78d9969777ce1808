"""Peers in one process, over a medium that loses, delays, repeats and partitions at will; for tests.

Messages really are encoded and decoded, so that what passes here passes the wire. Randomness comes from one seeded
generator per medium; with zero delays and one caller at a time, a seed determines the run.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

from ..errors import ProtocolViolation, TransportError
from ..peer.membership.config import PeerConfig
from ..peer.protocol.messages import Message
from ..peer.transport.base import CallFailed, FailureReason, Handler, Observer, RosterHandler, SilentObserver
from ..peer.transport.codec import Codec

__all__ = ["Faults", "Medium", "MemoryTransport"]


@dataclass
class Faults:
    """What goes wrong, as probabilities per message (not per call: a call is two messages)."""

    loss: float = 0.0
    duplication: float = 0.0
    delay: float = 0.0
    """Longest delay of one message, in seconds; each message waits a uniform share of it."""
    distance: float = 0.0
    """Seconds that every message takes at least, as over a long line."""

    def __post_init__(self) -> None:
        if not (0 <= self.loss <= 1 and 0 <= self.duplication <= 1 and min(self.delay, self.distance) >= 0):
            raise ValueError("loss and duplication must lie in [0, 1], delay and distance must not be negative")


@dataclass
class Medium:
    """What all peers of one in-memory network share."""

    dimension: int = 1
    num_members: int = 64
    longest_topic: int = 4096
    seed: int = 0
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.codec = Codec(self.dimension, self.num_members, self.longest_topic)
        self.members: dict[str, MemoryTransport] = {}
        self._island: dict[str, int] = {}

    def partition(self, *islands: set[str]) -> None:
        """From now on only peers of the same island hear each other; peers in no island form one of their own."""
        self._island = {name: number for number, island in enumerate(islands, start=1) for name in island}

    def heal(self) -> None:
        """Everybody hears everybody again."""
        self._island = {}

    def connected(self, a: str, b: str) -> bool:
        """Whether messages between `a` and `b` have a chance."""
        return self._island.get(a, 0) == self._island.get(b, 0)

    async def travel(self) -> None:
        """The time one message takes."""
        if self.faults.delay or self.faults.distance:
            await asyncio.sleep(self.faults.distance + self.random.random() * self.faults.delay)


class MemoryTransport:
    """One peer's end of a :class:`Medium`.

    Parameters
    ----------
    name, medium
        Who this is, and where it speaks.
    neighbours
        The names that may speak to it.
    """

    def __init__(
        self, name: str, medium: Medium, neighbours: set[str] | None = None, observer: Observer | None = None
    ) -> None:
        self.name = name
        self.medium = medium
        self.neighbours = set(neighbours or ())
        self._observer = observer or SilentObserver()
        self._handler: Handler | None = None
        self._rosters: RosterHandler | None = None
        self._late: set[asyncio.Task[object]] = set()

    async def serve(self, handler: Handler, rosters: RosterHandler | None = None) -> None:
        """Join the medium under this name."""
        if self.name in self.medium.members:
            raise TransportError(f"the name {self.name!r} is in use on this medium")
        self._handler, self._rosters = handler, rosters
        self.medium.members[self.name] = self

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        """Send and wait; see :class:`.base.Transport`."""
        if dst not in self.neighbours:
            raise CallFailed(dst, "refused")
        content = self.medium.codec.encode(message)
        try:
            async with asyncio.timeout(timeout):
                answer = await self._round_trip(dst, content)
        except TimeoutError:
            raise self._failed(dst, "timeout") from None
        try:
            return self.medium.codec.decode(answer, src=dst, dst=self.name)
        except ProtocolViolation:
            raise self._failed(dst, "invalid") from None

    async def _round_trip(self, dst: str, content: bytes) -> bytes:
        other = self.medium.members.get(dst)
        if other is None or not self.medium.connected(self.name, dst):
            raise self._failed(dst, "unreachable")
        # All three are drawn first, so that the faults of a seed do not depend on how fast this machine is.
        faults = self.medium.faults
        happens = (self.medium.random.random() < chance for chance in (faults.loss, faults.duplication, faults.loss))
        request_lost, repeated, reply_lost = happens
        if request_lost:
            await asyncio.sleep(float("inf"))
        if repeated:
            self._spawn(self._repeat(dst, content))
        await self.medium.travel()
        answer = await other.receive(self.name, content)
        await self.medium.travel()
        if reply_lost:
            await asyncio.sleep(float("inf"))
        return answer

    async def receive(self, src: str, content: bytes) -> bytes:
        """Handle bytes from `src` as a real transport would: authorise, decode, check the names, answer."""
        if src not in self.neighbours or self._handler is None or self.medium.members.get(self.name) is not self:
            self._observer.count("refused-not-a-neighbour")
            raise CallFailed(self.name, "refused")
        try:
            message = self.medium.codec.decode(content, src=src, dst=self.name)
        except ProtocolViolation:
            message = None
        if message is None:
            self._observer.count("refused-invalid-message", src)
            raise CallFailed(self.name, "refused")
        handling = asyncio.ensure_future(self._handler(src, message))
        # A caller that gives up does not stop what the other side is doing.
        try:
            return self.medium.codec.encode(await asyncio.shield(handling))
        except Exception:  # whatever it is, the caller must only learn that there is no answer
            self._observer.count("handler-failed", src)
            raise CallFailed(self.name, "unreachable") from None

    async def ask_roster(self, dst: str, number: int, document: bytes | None, timeout: float) -> bytes | None:  # noqa: ASYNC109 - handed on
        """See :class:`.base.Transport`; a roster is never repeated, and its loss is that of the call."""
        other = self.medium.members.get(dst)
        if dst not in self.neighbours or other is None or not self.medium.connected(self.name, dst):
            raise self._failed(dst, "unreachable")
        if self.medium.random.random() < self.medium.faults.loss:
            await asyncio.sleep(timeout)
            raise self._failed(dst, "timeout")
        await self.medium.travel()
        if self.name not in other.neighbours or other._rosters is None:
            raise self._failed(dst, "refused")
        return await other._rosters(self.name, number, document)

    async def renew(self, config: PeerConfig) -> None:
        """The neighbours of another roster."""
        self.neighbours = set(config.neighbours)

    async def _repeat(self, dst: str, content: bytes) -> None:
        """Deliver a second copy some time later; its answer goes nowhere."""
        await self.medium.travel()
        other = self.medium.members.get(dst)
        if other is not None and self.medium.connected(self.name, dst):
            try:
                await other.receive(self.name, content)
            except TransportError:
                return

    def _spawn(self, work: object) -> None:
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    def _failed(self, dst: str, reason: FailureReason) -> CallFailed:
        self._observer.count(f"call-failed-{reason}", dst)
        return CallFailed(dst, reason)

    def add_neighbour(self, name: str, address: str | None = "") -> None:
        """Let `name` speak; the address means nothing here."""
        self.neighbours.add(name)

    async def drop_neighbour(self, name: str) -> None:
        """Stop listening to `name`."""
        self.neighbours.discard(name)

    async def close(self) -> None:
        """Leave the medium; copies still on their way are discarded."""
        if self.medium.members.get(self.name) is self:
            del self.medium.members[self.name]
        for task in list(self._late):
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)
