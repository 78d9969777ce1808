"""Topics: any number of averages in one network, each with a name, a protocol of its own, and an end (R80 to R86).

A topic begins here when this peer contributes to it. From then on it is a :class:`.conversation.Conversation` like the
standing average, until all neighbours have the answer too; then its ledgers are deleted and only a record stays. Before
and after, messages about it are answered with NOT_YET and CLOSED, without any state.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...errors import PeerError, TemporaryFailure, TopicClosed, TopicMismatch
from ...privacy.gaussian.account import Account
from ...privacy.releases import ReleaseCost
from ..membership.config import PeerConfig
from ..protocol import Protocol
from ..protocol.closing import Certificate, in_the_order_of
from ..protocol.messages import Message
from ..protocol.noise import Draw, account_for
from ..protocol.openings import answer_without_topic, asks_for_answer, topic_id
from ..protocol.settings import TopicSettings
from ..protocol.status import TopicStatus
from ..protocol.terms import same_shape
from ..protocol.units import Vector
from ..store.base import Store, TopicRecord
from .asking import check_patience, check_same, check_secret
from .conversation import Conversation, Surroundings
from .elsewhere import Elsewhere
from .keeping import Keeper
from .reasons import Reasons
from .records import Answer, Records
from .retelling import Retelling
from .talking import nothing_later
from .waiting import why_alone

__all__ = ["LINGER", "LINGER_AFTER_A_START", "Sources", "Topics"]

LINGER = 86_400.0
LINGER_AFTER_A_START = 3600.0
"""Seconds that a topic's ledgers are kept, at most, for neighbours that have not got the answer; and how many of them
are left at least when the process starts: who was away for days may be needed by others that were."""

_WENT_BACK = "store went back: it knows less of what topics have shown than the privacy account beside the key"


@dataclass(frozen=True)
class Sources:
    """Where noise and coins come from; see :class:`~sottovoce.peer.protocol.machine.Protocol`."""

    draw: Draw
    coin: Callable[[int], Any]


class Topics:
    """All topics of one peer.

    Parameters
    ----------
    store
        Where they are kept.
    around
        What all conversations of the peer share.
    sources
        Where noise and coins come from.
    on_event
        Told of what the protocols count.
    failed
        Told when a topic cannot go on because the store has failed.
    """

    def __init__(
        self,
        store: Store,
        around: Surroundings,
        sources: Sources,
        *,
        on_event: Callable[[str, str], None],
        failed: Callable[[PeerError], None],
    ) -> None:
        self._store, self._around, self._sources = store, around, sources
        self._on_event, self._failed = on_event, failed
        self._open: dict[bytes, Conversation] = {}
        self._records = Records(store, around.config, self._information)
        for secret in sorted({record.secret for record in self._records.values() if store.unrecorded(record.secret)}):
            around.observer.log("error", _WENT_BACK, secret=secret)
        self._neighbours = set(around.config().neighbours)
        self._elsewhere, self._retelling = Elsewhere(), Retelling()
        self._reasons = Reasons(around.config, self._elsewhere, self._records)
        self._stopped = False
        self._failure: PeerError | None = None

    # -- life -----------------------------------------------------------------------------------

    def resume(self) -> None:
        """R2: go on with the topics that were open when the process ended."""
        for topic, record in list(self._records.items()):
            if not record.ended and self._begin(topic, record, None) is None and not self._records[topic].ended:
                self._records.forget(topic)
        self._divide_budgets()

    def _divide_budgets(self) -> None:
        """R86: several topics of a secret may be open from before there was a budget. Each has a share of its rest."""
        config = self._around.config()
        budget = account_for(config.noise_std, config.noise_decay, config.smallest_std).budget
        if math.isinf(budget):
            return
        secrets = [self._records[topic].secret for topic in self._open]
        rest = {secret: max(0.0, budget - self._records.shown(secret)) for secret in secrets}
        for topic, conversation in self._open.items():
            secret, protocol = self._records[topic].secret, conversation.protocol
            account = protocol.state.account.allowing(rest[secret] / secrets.count(secret))
            protocol.state = replace(protocol.state, account=account)

    async def stop(self) -> None:
        """End all background work; what is open goes on at the next start."""
        self._stopped = True
        for conversation in list(self._open.values()):  # one may end meanwhile
            await conversation.stop()
            if conversation.keeper.failure is None:
                conversation.keeper.commit()
            await conversation.halt()

    async def halt(self) -> None:
        """Stop without storing anything."""
        self._stopped = True
        for conversation in list(self._open.values()):
            await conversation.halt()

    def fail(self, reason: PeerError) -> None:
        """The peer works no more: whoever waits for an answer, or will ask for a new one, is told why."""
        self._failure = self._failure or reason
        for conversation in self._open.values():
            conversation.keeper.end(reason)

    def reconfigure(self, config: PeerConfig) -> None:
        """R49: another roster. Those who are bound stay with whom they have; not with whom the roster has no more."""
        self._neighbours = set(config.neighbours)
        for topic, conversation in list(self._open.items()):
            record, protocol = self._records[topic], conversation.protocol
            settings, held = _settings(config, record), protocol.state.certificate
            if held is not None and in_the_order_of(settings.order, held) is None:
                conversation.spawn(self._end, topic, conversation)
                continue
            protocol.reconfigure(settings)
            protocol.forget_claims(*(set(protocol.state.edges) - set(config.roll)))
            if not protocol.bound:
                protocol.align(sorted(self._neighbours))
            conversation.keeper.commit()
            conversation.greet(protocol.state.edges)

    def add(self, name: str) -> None:
        """A new neighbour: for topics that begin from now on."""
        self._neighbours.add(name)

    def drop(self, name: str) -> None:
        """R23: a neighbour is dropped, in open topics too."""
        self._neighbours.discard(name)
        for conversation in self._open.values():
            conversation.protocol.forget_claims(name)
            conversation.protocol.drop(name)
            conversation.keeper.commit()
            conversation.keeper.tell()

    def knows(self, name: str) -> bool:
        """Whether it is a neighbour, for topics that begin from now on."""
        return name in self._neighbours

    async def part(self, name: str) -> bool:
        """As :meth:`drop`, and say so; whether no open topic has it any more, and it has heard that."""
        self.drop(name)
        await asyncio.gather(*(one.talker.part(name) for one in self._open.values()))
        states = (one.protocol.state for one in self._open.values())
        return not any(name in state.edges or name in state.partings for state in states)

    async def quiet(self) -> None:
        """Until no neighbour needs this peer any more for a topic whose answer is there, and the topic has ended."""
        answered = {topic: one.keeper for topic, one in self._open.items() if one.protocol.declared}
        for topic, keeper in answered.items():
            await keeper.until(lambda topic=topic: topic not in self._open)  # type: ignore[misc]

    # -- messages -------------------------------------------------------------------------------

    def hear(self, name: str, message: Message) -> asyncio.Future[Message | None]:
        """A message about a topic; ``name`` is authenticated."""
        conversation = self._open.get(message.topic)
        if conversation is not None:
            return conversation.talker.hear(name, message)
        answer: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
        now = self._around.clock.now()
        if not self._around.contacts.admits(name, now):
            self._around.observer.count("flood", name)
            return nothing_later()
        self._around.noticed(name, message)
        record = self._records.get(message.topic)
        told = replace(message, src=name)
        if record is None and self._elsewhere.note(told):
            for other in self._open.values():
                other.keeper.tell()
        if record is not None and not record.ended:  # it goes on in a moment: this peer is just starting
            answer.set_result(None)
            return answer
        contributors = None if record is None else self._records.in_the_present_order(record)
        kept = None if record is None or name not in self._records.names(record) else self._records.certificate(record)
        if record is not None and told.terms is not None and not same_shape(told.terms.shape, record.shape):
            kept = None  # R80: it would read these numbers as others
        if kept is not None and asks_for_answer(told) and not self._retelling.allows(message.topic, name, now):
            self._around.observer.count("flood", name)  # not CLOSED alone: it would believe that there is no answer
            answer.set_result(None)
            return answer
        answer.set_result(answer_without_topic(told, self._around.config(), contributors, kept))
        return answer

    # -- averaging ------------------------------------------------------------------------------

    async def average(
        self, name: str, value: Vector, *, shape: str, missing: str, secret: str, patience: float | None
    ) -> Answer:
        """Contribute, and wait for the answer; see :meth:`sottovoce.peer.Peer.average`."""
        patience = check_patience(patience)
        check_secret(secret)
        topic = topic_id(name)
        if topic not in self._open:
            await self._until_free(topic, secret, patience)
        record = self._records.get(topic)
        if record is None or not record.ended:
            if self._failure is not None:
                raise self._failure
            conversation = self._open.get(topic) or self._contribute(name, value, shape, missing, secret)
            begun, given = self._records[topic], conversation.protocol.state.value
            check_same(begun, given, value, shape=shape, missing=missing, secret=secret)
            await self._wait(name, conversation, patience)
        else:
            check_same(record, None, value, shape=shape, missing=missing, secret=secret)
        still_open = self._open.get(topic)
        return self._records.answer(topic, None if still_open is None else still_open.protocol.state.certificate)

    def contributed(self, name: str) -> Vector | None:
        """What this peer has contributed to a topic that is open; ``None``: nothing, or it has ended."""
        conversation = self._open.get(topic_id(name))
        return None if conversation is None else conversation.protocol.state.value

    async def _until_free(self, topic: bytes, secret: str, patience: float | None) -> None:
        """R86: with a budget, topics of a secret follow each other. One that has its answer still shows a little, until
        its neighbours have it, too: a loop over rounds begins the next one a moment too early.
        """
        record = self._records.get(topic)
        if self._around.config().smallest_std is None or (record is not None and record.ended):
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                for other in self._using(secret):
                    if (ending := self._open.get(other)) is not None and ending.protocol.declared:
                        await ending.keeper.until(lambda other=other: other not in self._open)  # type: ignore[misc]

    def _using(self, secret: str) -> list[bytes]:
        return [topic for topic in self._open if self._records[topic].secret == secret]

    def _contribute(self, name: str, value: Vector, shape: str, missing: str, secret: str) -> Conversation:
        if self._stopped:  # it would wait for ever: nobody ends what begins now
            raise TemporaryFailure(f"the peer has been stopped; nothing was contributed to topic {name!r}")
        topic, carried = topic_id(name), self._records.shown(secret)
        config = self._around.config()
        busy = self._using(secret)
        if busy and config.smallest_std is not None:
            until = (
                "until its neighbours have its answer, too"
                if self._open[busy[0]].protocol.declared
                else "for its answer"
            )
            raise PeerError(
                f"secret {secret!r} has a budget and is in use for topic {self._records[busy[0]].name!r}: wait {until}"
            )
        record = TopicRecord(name, len(value), missing, secret, carried=carried, information=carried, shape=shape)
        _settings(config, record)  # refuses before anything is stored
        self._records.note(topic, record)
        begun = self._begin(topic, record, value)
        assert begun is not None
        return begun

    def _begin(self, topic: bytes, record: TopicRecord, value: Vector | None) -> Conversation | None:
        config = self._around.config()
        store, settings = self._store.topic(topic, record.dimension), _settings(config, record)
        stored = store.load()
        if stored is None and value is None:
            return None
        if stored is not None and stored.certificate is not None:
            if in_the_order_of(settings.order, stored.certificate) is None:  # R49: one of them is no member any more
                known = stored.certificate.declared  # otherwise it ends without an answer here
                found = stored.certificate if known else replace(stored.certificate, contributors=0)
                self._end_record(topic, found, stored.account.information)
                return None
        account = account_for(config.noise_std, config.noise_decay, config.smallest_std)
        protocol = Protocol.resume(
            settings, stored, value=value, account=account.carrying(record.carried),
            neighbours=sorted(self._neighbours), topic=topic, draw=self._sources.draw, coin=self._sources.coin,
            stamp=self._around.clock.stamp, on_event=self._on_event,
        )  # fmt: skip
        lost = self._store.lost(record.secret)
        protocol.has_lost, protocol.may_have_lost = lost is True, lost is not False
        keeper = Keeper(protocol, store, self._around.observer, self._failed)
        keeper.commit()
        conversation = self._open[topic] = Conversation(keeper, self._around)
        conversation.begin({name for name in self._neighbours if self._elsewhere.has_opened(name, record.name)})
        conversation.spawn(self._close_when_over, topic, conversation)
        return conversation

    async def _wait(self, name: str, conversation: Conversation, patience: float | None) -> None:
        """Until there is an answer; with "drop", who is missing is left out after ``patience``."""
        protocol, began, left_out = conversation.protocol, self._around.clock.now(), ""

        def over() -> bool:  # a roster may have ended it (R49)
            return self._open.get(topic_id(name)) is not conversation

        def ended() -> bool:
            found = over() or protocol.declared or protocol.without_us
            return found or self._reasons.mismatch(name, protocol) is not None

        for _ in range(2 if protocol.settings.missing == "drop" else 1):
            try:
                async with asyncio.timeout(patience):
                    await conversation.keeper.until(ended)
            except TimeoutError:
                protocol.follow()
                if protocol.settings.missing == "drop" and not protocol.bound:
                    left_out = await self._leave_out_the_silent(conversation)
            if ended():
                break
        if over():
            return
        conversation.keeper.commit()
        conversation.keeper.tell()
        if protocol.declared:
            return
        if protocol.without_us:
            await self._end(topic_id(name), conversation)
            if not protocol.state.active and left_out:
                raise TopicClosed(f"topic {name!r} has no answer for this peer: {left_out}")
            return
        mismatch = self._reasons.mismatch(name, protocol)
        if mismatch is not None:
            raise TopicMismatch(f"{mismatch}; agree, and take another topic")
        raise self._reasons.unfinished(name, conversation, self._around.clock.now() - began)

    async def _leave_out_the_silent(self, conversation: Conversation) -> str:
        """R23, R51: these are not in it any more; they are told, again and again, by the conversation. Returns why.

        Nobody is left out where the topic was closed without this peer (R85): whoever else is there came late, too.
        """
        protocol, silent = conversation.protocol, await conversation.surely_silent()
        if conversation not in self._open.values():  # ended meanwhile: nothing may be stored for it any more
            return ""
        if protocol.refused_by(protocol.present):
            return ""
        why = why_alone([one for one in self._reasons.missing(conversation) if one.name in silent])
        for name in silent:
            protocol.leave_out(name)
        conversation.keeper.commit()
        conversation.keeper.tell()
        return why

    def status(self) -> dict[str, TopicStatus]:
        """The topics that are open here: what each waits for, and who is missing."""
        return {
            self._records[topic].name: self._reasons.status(self._records[topic].name, one)
            for topic, one in self._open.items()
        }

    # -- the end --------------------------------------------------------------------------------

    async def _close_when_over(self, topic: bytes, conversation: Conversation) -> None:
        """R85: when all neighbours have the answer, or after a day, the ledgers are deleted."""
        await conversation.keeper.until(lambda: conversation.protocol.declared)
        try:
            async with asyncio.timeout(self._lingering(topic)):
                await conversation.keeper.until(lambda: conversation.protocol.over)
        except TimeoutError:
            self._around.observer.log("warning", "a topic was closed before all neighbours had its answer")
        await conversation.said()
        await self._end(topic, conversation)

    def _lingering(self, topic: bytes) -> float:
        """For how long neighbours that have no answer are waited for; it counts from when the answer was found."""
        now, record = self._now(), self._records[topic]
        if not record.declared:
            self._records.note(topic, replace(record, declared=now))
            return LINGER
        return min(max(LINGER - (now - record.declared) / 1000.0, LINGER_AFTER_A_START), LINGER)

    async def _end(self, topic: bytes, conversation: Conversation) -> None:
        protocol = conversation.protocol
        if topic not in self._open:  # somebody else has ended it meanwhile
            return
        held = protocol.state.certificate
        heard = Certificate(
            next(iter(protocol.ended.values()), 0), protocol.state.value, 0, roll=protocol.settings.order
        )
        conversation.keeper.commit()
        found = held if held is not None and held.declared else heard
        self._end_record(topic, found, protocol.state.account.information)
        self._open.pop(topic, None)
        conversation.keeper.tell()
        await conversation.stop()

    def _end_record(self, topic: bytes, found: Certificate, information: float) -> None:
        self._records.end(topic, found, information=information, ended=self._now())

    def _now(self) -> int:
        """By the machine's clock, in milliseconds."""
        return max(self._around.clock.stamp() >> 16, 1)

    # -- what is kept ---------------------------------------------------------------------------

    def _information(self, topic: bytes) -> float | None:
        conversation = self._open.get(topic)
        return None if conversation is None else conversation.protocol.state.account.information

    def accounts(self) -> Mapping[str, Account]:
        """For each secret: what was shown of it, over all topics."""
        return self._records.accounts()

    def released(self) -> dict[str, ReleaseCost]:
        """For each secret: what the answers that were private releases tell of it together."""
        return self._records.released()

    def names(self) -> dict[str, str]:
        """Every topic this peer knows of, and whether it is ``open`` or ``closed``."""
        return {record.name: "closed" if record.ended else "open" for record in self._records.values()}


def _settings(config: PeerConfig, record: TopicRecord) -> TopicSettings:
    return TopicSettings.of(
        config, dimension=record.dimension, missing=record.missing, topic=record.name, shape=record.shape,
        order=config.numbered,
    )  # fmt: skip
