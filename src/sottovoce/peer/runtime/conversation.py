"""One average under way: its protocol and store, the words it exchanges, and the clock that keeps it going.

A peer has one conversation for its network's standing average and one for each topic that is open. All of them use the
same transport, and the same memory of who answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import PeerError, TemporaryFailure
from ..membership.config import PeerConfig
from ..protocol import Protocol
from ..protocol.absences import Missing, Sight
from ..protocol.calling import Contacts, jittered, recent
from ..protocol.messages import Kind, Message
from ..protocol.patience import first_wait, moment, travel_time
from ..transport.base import Observer, Transport
from .clock import Clock
from .keeping import Keeper
from .talking import Talker

__all__ = ["Conversation", "Surroundings"]

_SPEECHLESS = 6
"""R90: heartbeats without a word in this topic after which a neighbour that takes part is missing. Where every fifth
message is lost, so many in a row are about once in sixteen thousand times."""

_GREETINGS = 3
"""How often a neighbour that does not answer is greeted before it counts as silent for good."""


@dataclass(frozen=True)
class Surroundings:
    """What all conversations of a peer share.

    Parameters
    ----------
    config
        Gives the peer's configuration now.
    transport, clock, observer
        How messages travel, how time passes, where events are counted.
    contacts
        Who answers.
    noticed
        Told of every message that comes, before it is looked at.
    callers
        Neighbours without an address: they call, and are never called.
    """

    config: Callable[[], PeerConfig]
    transport: Transport
    clock: Clock
    observer: Observer
    contacts: Contacts
    noticed: Callable[[str, Message], None]
    callers: set[str] = field(default_factory=set)


class Conversation:
    """Moves one protocol's messages and time.

    Parameters
    ----------
    keeper
        The protocol and its store.
    around
        What it shares with the peer's other conversations.
    """

    def __init__(self, keeper: Keeper, around: Surroundings) -> None:
        self.keeper, self._around = keeper, around
        self.talker = Talker(
            keeper, around.transport, around.clock, around.observer, around.contacts, around.callers, around.noticed
        )
        self._tasks: set[asyncio.Task[None]] = set()
        self._clockwork: asyncio.Task[None] | None = None
        self._news: set[asyncio.Task[None]] = set()
        self._later: set[str] = set()
        """R94: neighbours that have a moment's time to greet first."""
        self._began = around.clock.now()

    @property
    def protocol(self) -> Protocol:
        """The state machine."""
        return self.keeper.protocol

    @property
    def ticking(self) -> bool:
        """Whether the own clock goes."""
        return self._clockwork is not None and not self._clockwork.done()

    @property
    def age(self) -> float:
        """Seconds since it began in this process."""
        return self._around.clock.now() - self._began

    # -- who is missing -------------------------------------------------------------------------

    @property
    def silent(self) -> list[str]:
        """Neighbours that have not contributed, or do not answer."""
        unreachable = filter(self._around.contacts.unreachable, self.protocol.state.active)
        return sorted({*self.protocol.missing, *unreachable})

    async def surely_silent(self) -> list[str]:
        """Those that are silent although they were greeted again: one lost message is no reason to leave one out."""
        for _ in range(_GREETINGS):
            doubtful = [name for name in self.silent if self.protocol.has_contributed(name)]
            await asyncio.gather(*map(self.talker.greet, doubtful))
        return self.silent

    def look_around(self) -> None:
        """R90: note whom this peer misses, so that others are told."""
        contacts, now, protocol = self._around.contacts, self._around.clock.now(), self.protocol
        seen = {
            name: Sight(protocol.has_contributed(name), contacts.silence(name, now))
            for name in self.silent
            if name not in protocol.ended
        }
        if protocol.settings.missing:
            seen = {**self._speechless(now), **seen}
        if (seen or protocol.absences) and protocol.look_around(seen, self._around.config().numbered):
            self.keeper.tell()

    def _speechless(self, now: float) -> dict[str, Sight]:
        """Neighbours that take part and say nothing more, although a line to them may answer."""
        patience, protocol = _SPEECHLESS * self._around.config().sync_interval, self.protocol
        silences = {name: now - self.talker.last_word.get(name, self._began) for name in protocol.state.active}
        return {
            name: Sight(contributed=True, silence=seconds)
            for name, seconds in silences.items()
            if seconds > patience and protocol.has_contributed(name) and name not in protocol.ended
        }

    def missing(self) -> list[Missing]:
        """R90: who is missing, as this peer sees it and as others say."""
        self.look_around()
        contacts, now = self._around.contacts, self._around.clock.now()
        return [
            one if one.witness else replace(one, last_heard=contacts.silence(one.name, now))
            for one in self.protocol.known_missing(self._around.config().numbered)
        ]

    # -- life -----------------------------------------------------------------------------------

    def begin(self, awaited: Container[str] = ()) -> None:
        """Say HELLO to everybody, and start the clock.

        Where a topic opens, of two neighbours the first by name speaks first, and the other only if it hears nothing:
        otherwise each edge would be opened from both ends at once, with twice the vectors. ``awaited``: by these it was
        heard before. Nobody can speak first to a peer that does not listen.
        """
        self.look_around()
        settings, edges, waits = self.protocol.settings, self.protocol.state.edges, self._around.config().listen
        second = {
            name
            for name, edge in edges.items()
            if edge.blank and settings.missing and waits and name < settings.name and name not in awaited
        }
        self.greet(name for name in edges if name not in second)
        if second:
            self.spawn(self._greet_if_unheard, second)
        self.spawn(self._patience)
        self._clockwork = self.spawn(self._keep_time)
        self.spawn(self._spread_news)
        self.spawn(self._finish_partings)

    async def _greet_if_unheard(self, names: Iterable[str]) -> None:
        settings = self.protocol.settings
        await self._around.clock.sleep(first_wait(settings) + travel_time(settings))
        edges = self.protocol.state.edges
        self.greet(name for name in names if name in edges and edges[name].blank)

    def greet(self, names: Iterable[str]) -> None:
        """Say HELLO, in the background."""
        for name in names:
            self.spawn(self.talker.greet, name)

    def spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> asyncio.Task[None]:
        """Do something in the background until :meth:`stop`."""
        task = asyncio.ensure_future(self._guarded(work, *arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def said(self) -> None:
        """Wait until the news that is under way has been told, or has failed to be."""
        await asyncio.gather(*self._news, return_exceptions=True)

    async def halt(self) -> None:
        """As :meth:`stop`, and nothing is stored any more; whoever waits is told so."""
        self.keeper.end(TemporaryFailure("the peer has been stopped; what was contributed stays"))
        await self.stop()

    async def stop(self) -> None:
        """End all background work."""
        self.talker.stop()
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._clockwork = None

    async def _guarded(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        """A failed store ends the background work; it is told to whoever waits for the peer.

        So is a mistake of ours: without its clock a peer would live on and do nothing, and a restart loses nothing.
        """
        try:
            await work(*arguments)
        except PeerError as failure:
            self.keeper.fail(failure)
        except Exception as error:
            self._around.observer.log("error", "background work failed", exc_info=error)
            self.keeper.fail(PeerError(f"background work failed: {type(error).__name__}"))

    # -- time -----------------------------------------------------------------------------------

    async def _keep_time(self) -> None:
        """The own clock: each time it rings (R27), one neighbour is called.

        Nobody calls a peer that does not listen; it calls twice as often, so that its edges fire as often as others.
        """
        share, clock = (0.5 if self._around.config().listen is None else 1.0), self._around.clock
        took = lately = 0.0
        while True:
            quiet = self.protocol.quiet
            seconds = share * self.protocol.pause(clock.uniform(), took, lately)
            hurried = await self._sleep_unless_unsettled(seconds, quiet=quiet)
            if not hurried:
                self.look_around()
                took = await self.talker.turn()
                lately = recent(lately, took)

    async def _spread_news(self) -> None:
        """R62: greet at once whoever waits for the round that this peer has entered."""
        while True:
            await self.keeper.until(lambda: bool(self._with_news()))
            second = {name for name in self._with_news() if self._speaks_second(name)}
            if second:
                self._later |= second
                self.spawn(self._tell_later, second)
            self._tell(self._with_news())

    def _with_news(self) -> list[str]:
        has_news, later = self.protocol.has_news, self._later
        return [name for name in self.protocol.state.active if name not in later and has_news(name)]

    def _speaks_second(self, name: str) -> bool:
        return self.protocol.speaks_second(name) and not self.talker.waits(name)

    async def _tell_later(self, names: set[str]) -> None:
        """R94: greet those that were to greet first, unless they have in the meantime."""
        await self._around.clock.sleep(moment(self.protocol.settings))
        self._later -= names
        self._tell(name for name in self.protocol.state.active if name in names)

    def _tell(self, names: Iterable[str]) -> None:
        """Tell these what is new: as the answer to their own greeting, if they wait for one."""
        for greeting in self.protocol.news(names):
            if self.talker.waits(greeting.dst):
                self.talker.answer(greeting)
            elif greeting.dst not in self._around.callers:
                task = self.spawn(self.talker.talk, greeting)
                self._news.add(task)
                task.add_done_callback(self._news.discard)
        self.keeper.tell()

    async def _sleep_unless_unsettled(self, seconds: float, *, quiet: bool) -> bool:
        """Sleep; a settled peer wakes early when that ends. Returns whether it did."""
        if not quiet:
            await self._around.clock.sleep(seconds)
            return False
        try:
            # Not `wait_for`: in Python 3.11 it loses a cancellation that comes together with the news, and a peer that
            # is told to stop would go on for ever.
            async with asyncio.timeout(seconds):
                await self.keeper.until(lambda: not self.protocol.quiet)
        except TimeoutError:
            return False
        return True

    async def _patience(self) -> None:
        """R3: neighbours that did not answer in time are not waited for."""
        await self._around.clock.sleep(self._around.config().grace)
        self.protocol.recovering = False

    async def _finish_partings(self) -> None:
        """R51: tell those that were dropped and have not answered, less and less often."""
        clock, contacts = self._around.clock, self._around.contacts
        while True:
            await self.keeper.until(lambda: bool(self.protocol.state.partings))
            for name in list(self.protocol.state.partings):
                now, wait = clock.now(), contacts.wait(name, Kind.BYE)
                if contacts.may_call(name, now) and not await self.talker.say_goodbye(name, wait):
                    contacts.failed(name, now, late=False)
            await clock.sleep(jittered(self._around.config().sync_interval, clock.uniform()))
