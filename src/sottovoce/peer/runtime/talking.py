"""Messages between a protocol and its transport. Inputs are handled one at a time: compute, store, then send (R1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container
from dataclasses import replace
from functools import partial

from ...errors import PeerError, ProtocolViolation
from ..protocol import Protocol
from ..protocol.calling import LONGEST_TALK, Contacts, jittered
from ..protocol.messages import Kind, Message
from ..protocol.patience import held_back, travel_time
from ..transport.base import CallFailed, Observer, Quiet, Transport
from .clock import Clock
from .holding import HeldAnswers
from .keeping import Keeper

__all__ = ["FLOOD_PAUSE", "Talker", "nothing_later"]

FLOOD_PAUSE = 0.05
"""Seconds after which a message that is part of a flood is answered with nothing."""


class Talker:
    """Carries what the protocol says to its neighbours, and what they say to it.

    Parameters
    ----------
    keeper
        The protocol and its store.
    transport, clock, observer
        How messages travel, how time passes, where events are counted.
    contacts
        Who answers.
    callers
        Neighbours without an address: they call, and are never called.
    noticed
        Told of every message that comes, before it is looked at.
    """

    def __init__(
        self,
        keeper: Keeper,
        transport: Transport,
        clock: Clock,
        observer: Observer,
        contacts: Contacts,
        callers: Container[str] = (),
        noticed: Callable[[str, Message], None] = lambda *_: None,
    ) -> None:
        self._keeper, self._transport, self._clock = keeper, transport, clock
        self._observer, self._contacts, self._callers = observer, contacts, callers
        self._noticed = noticed
        self._worth_saying = Quiet()
        self._greetings, self._requests = HeldAnswers(), HeldAnswers()
        self.last_word: dict[str, float] = {}
        """R90: when each neighbour has last said something that could be believed; an empty answer says nothing."""
        self._silent: set[str] = set()
        """Neighbours of which it was said that they do not answer requests."""

    @property
    def _protocol(self) -> Protocol:
        return self._keeper.protocol

    # -- speaking first -------------------------------------------------------------------------

    async def turn(self) -> float:
        """R16: one own tick. Returns how many of the seconds it took count for the pace of the own clock (R72, R99)."""
        began, choice = self._clock.now(), self._protocol.whose_turn(self._clock.uniform())
        if choice in self._callers or (choice is not None and not self._contacts.may_call(choice, began)):
            choice = None
        message = self._protocol.tick(choice)
        if message is None:
            self._keeper.commit_soon()  # an answer may have been found: whoever waits for it is told
            self._keeper.tell()
            return 0.0
        await self.talk(message)
        travel = travel_time(self._protocol.settings)
        return travel + self._contacts.to_rest_for(message.dst, self._clock.now() - began - travel)

    async def greet(self, name: str) -> None:
        """R22: show a neighbour the ledger."""
        if name in self._protocol.state.edges and name not in self._callers:
            await self.talk(self._protocol.greet(name))

    def stop(self) -> None:
        """Whoever waits for an answer gets none."""
        self._greetings.let_go()
        self._requests.let_go()

    def waits(self, name: str) -> bool:
        """R94: whether ``name`` has greeted and is to be answered yet."""
        return self._greetings.waits(name)

    def answer(self, reply: Message) -> None:
        """R94: what was held back for a neighbour that waits."""
        self._keeper.commit()
        self._greetings.give(reply.dst, reply)
        self._protocol.answered(reply)

    async def talk(self, first: Message) -> None:
        """Send, take the reply as an input, send what follows from it. A request is not pending afterwards."""
        message: Message | None = first
        try:
            for _ in range(LONGEST_TALK):
                if message is None or self._keeper.failure is not None:
                    break
                reply = await self._ask(message)
                message = None if reply is None else self._receive(first.dst, reply)
        finally:
            self._protocol.give_up(first)
            if self._protocol.pending is None and self._keeper.failure is None:
                self._requests.finish_all()  # R95

    async def part(self, name: str) -> bool:
        """R23: drop a neighbour and say so; whether it heard it. If not, :meth:`say_goodbye` goes on later."""
        self._protocol.drop(name)
        for repeated in range(self._protocol.settings.retries + 1):
            wait = self._contacts.wait(name, Kind.BYE, repeated)
            if await self.say_goodbye(name, wait):
                return True
            await self._clock.sleep(jittered(2.0 * wait, self._clock.uniform()))
        return False

    async def say_goodbye(self, name: str, wait: float) -> bool:
        """R51: tell a neighbour that was dropped; whether it has answered for it, now or before."""
        for _ in range(LONGEST_TALK):
            message = self._protocol.farewell(name)
            self._keeper.commit()
            if message is None or name in self._callers:
                break
            try:
                reply = await self._transport.call(name, message, wait)
            except CallFailed:
                break
            if reply is not None:
                self._receive(name, reply)
        return name not in self._protocol.state.partings

    async def _ask(self, first: Message) -> Message | None:
        """One call, repeated as long as the protocol says so (R17); ``None`` if there is no reply."""
        message: Message | None = first
        name, kind, began, repeated, late = first.dst, first.kind, self._clock.now(), 0, False
        self._keeper.commit()
        while message is not None:
            sent = self._clock.now()
            try:
                reply = await self._transport.call(name, message, self._wait(name, kind, repeated))
            except CallFailed as failure:
                self._failed(failure)
                repeated += 1
                late = failure.reason == "timeout"
                message = self._protocol.unanswered(message, late=late and not self._contacts.once_only(name))
            else:
                self._contacts.answered(name, kind, self._clock.now(), self._clock.now() - sent)
                if kind is Kind.REQ:
                    self._silent.discard(name)
                self._protocol.reached(name)
                self._protocol.delivered(message)
                self._heard(name)
                return reply
        if late:
            self._gave_up(name, kind, began)
        return None

    # -- being spoken to ------------------------------------------------------------------------

    def hear(self, name: str, message: Message) -> asyncio.Future[Message | None]:
        """What the transport calls; ``name`` is authenticated.

        The answer is there at once, or is held back for a moment (R94, R95). It comes as a future: a task for each
        message would cost a tenth of an exchange.
        """
        answer: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
        try:
            self._keeper.check()
            if self._contacts.admits(name, self._clock.now()):
                hold = held_back(self._protocol.settings, message.kind)
                if self._protocol.may_wait(name, message):
                    return self._requests.hold(name, hold, partial(self._receive, name, message))
                reply = self._receive(name, message)
                if reply is None and self._protocol.answers_soon(message):
                    return self._greetings.hold(name, hold)
                answer.set_result(reply)
            else:
                self._observer.count("flood", name)
                return nothing_later()
        except PeerError as failure:
            answer.set_exception(failure)
        return answer

    def _receive(self, name: str, message: Message) -> Message | None:
        """One input. Returns what to say, already stored."""
        was_settled = self._protocol.settled
        if message.src != name:  # the sender is who the transport has authenticated, whatever the message says
            message = replace(message, src=name)
        self._noticed(name, message)
        try:
            reply = self._protocol.receive(message)
        except ProtocolViolation as violation:
            self._observer.count("violation", name)
            if self._worth_saying("message refused", name):
                self._observer.log("warning", "message refused", neighbour=name, why=str(violation))
            self._keeper.tell()
            return None
        self._heard(name)
        self.last_word[name] = self._clock.now()
        if reply is not None:
            self._keeper.commit()
            self._protocol.answered(reply)
        else:
            self._keeper.commit_soon()
        if was_settled != self._protocol.settled and not self._protocol.settings.missing:
            self._observer.log("info", "settled" if self._protocol.settled else "no longer settled")
        self._keeper.tell()
        return reply

    # -- who answers ----------------------------------------------------------------------------

    def _wait(self, name: str, kind: Kind, repeated: int) -> float:
        """R70: how long the answer may take."""
        settings = self._protocol.settings
        return self._contacts.wait(name, kind, repeated) + travel_time(settings) + held_back(settings, kind)

    def _failed(self, failure: CallFailed) -> None:
        name, now = failure.neighbour, self._clock.now()
        first = not self._contacts.unreachable(name)
        pause = self._contacts.failed(name, now, late=failure.reason == "timeout")
        if first and pause is not None:
            self._observer.log("warning", "neighbour unreachable", neighbour=name, reason=failure.reason, seconds=pause)

    def _gave_up(self, name: str, kind: Kind, began: float) -> None:
        now = self._clock.now()
        self._contacts.gave_up(name, kind, now, now - began)
        self._say_if_silent(name)

    def _heard(self, name: str) -> None:
        if self._contacts.unreachable(name):
            self._observer.log("info", "neighbour reachable", neighbour=name)
        self._contacts.heard(name, self._clock.now())
        self._say_if_silent(name)

    def _say_if_silent(self, name: str) -> None:
        """Once until it answers again, whether requests were given up first or the neighbour was heard first."""
        if name not in self._silent and self._contacts.unanswered_for(name, self._clock.now()) is not None:
            self._silent.add(name)
            self._observer.log("warning", "neighbour greets but does not answer requests", neighbour=name)


def nothing_later() -> asyncio.Future[Message | None]:
    """The answer to a message that is part of a flood: until it comes the transport reads nothing more from there."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Message | None] = loop.create_future()
    loop.call_later(FLOOD_PAUSE, _answer_nothing, answer)
    return answer


def _answer_nothing(answer: asyncio.Future[Message | None]) -> None:
    if not answer.done():
        answer.set_result(None)
