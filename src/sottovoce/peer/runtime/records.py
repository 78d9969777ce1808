"""What is kept of a peer's topics: how each was begun, how it ended, its answer for a while, and what it has shown.

A record stays when the ledgers of a topic are gone (R85). Here it is read: whose mean an answer is, whether it is still
kept, and what all topics of one secret have shown together (R86).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ...errors import TopicClosed
from ...privacy.gaussian.account import Account
from ...privacy.releases import ReleaseCost
from ..membership.config import PeerConfig
from ..protocol.closing import Certificate
from ..protocol.closing import named as names_of
from ..protocol.noise import account_for
from ..protocol.units import Vector
from ..store.base import Store, TopicRecord
from .releasing import cost_of

__all__ = ["Answer", "Records"]

KEPT_ANSWERS, KEPT_NUMBERS = 32, 10**6
"""R85: of so many topics, those that ended last, the answer itself is kept, and of others while all kept ones together
have at most so many numbers; of the rest only who took part. A study that goes on after a crash asks for all of its."""


@dataclass(frozen=True, repr=False)
class Answer:
    """How a topic ended: the mean of these members, in units."""

    name: str
    twice: Vector
    width: int
    contributors: tuple[str, ...]


class Records(Mapping[bytes, TopicRecord]):
    """The records of one peer, by the topic's id.

    Parameters
    ----------
    store
        Where they are kept.
    config
        Gives the peer's configuration now.
    information
        What an open topic has shown so far; ``None`` for one that is not open.
    """

    def __init__(
        self, store: Store, config: Callable[[], PeerConfig], information: Callable[[bytes], float | None]
    ) -> None:
        self._store, self._config, self._information = store, config, information
        self._kept = dict(store.topics())

    def __getitem__(self, topic: bytes) -> TopicRecord:
        return self._kept[topic]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    # -- keeping --------------------------------------------------------------------------------

    def note(self, topic: bytes, record: TopicRecord) -> None:
        """Keep what is known about a topic, durably."""
        self._store.note_topic(topic, record)
        self._kept[topic] = record

    def forget(self, topic: bytes) -> None:
        """It never was one: the process ended before the contribution was stored."""
        del self._kept[topic]

    def end(self, topic: bytes, found: Certificate, *, information: float, ended: int) -> None:
        """Only a record stays: with whom it has ended, and the answer, if there is one.

        Topics count as ended in the order in which they did, also where the machine's clock was put back meanwhile.
        """
        latest = max(record.ended for record in self._kept.values())
        record = replace(
            self._kept[topic],
            information=information,
            contributors=found.contributors,
            roll=found.roll,
            twice=found.twice if found.declared else None,
            width=found.width if found.declared else 0,
            ended=max(ended, latest + 1),
        )
        self.note(topic, record)
        self._forget_old_answers()

    def _forget_old_answers(self) -> None:
        """R85: those of the last topics are kept, and of others as long as all together are not long."""
        answers = [(record.ended, topic) for topic, record in self._kept.items() if record.twice is not None]
        numbers = 0
        for place, (_, topic) in enumerate(sorted(answers, reverse=True)):
            numbers += self._kept[topic].dimension
            if place >= KEPT_ANSWERS and numbers > KEPT_NUMBERS:
                self.note(topic, replace(self._kept[topic], twice=None))

    # -- reading --------------------------------------------------------------------------------

    def answer(self, topic: bytes, held: Certificate | None) -> Answer:
        """The answer of a topic: what it holds while it is open, or its record.

        Raises
        ------
        TopicClosed
            There is none for this peer, or it is kept no more.
        """
        record = self._kept[topic]
        if held is not None:
            record = replace(record, contributors=held.contributors, roll=held.roll, twice=held.twice, width=held.width)
        names = self.names(record)
        if record.twice is None and self._config().name in names:
            raise TopicClosed(f"topic {record.name!r} has ended, and its answer is kept here no more")
        if record.twice is None:
            who = f"was closed with {', '.join(names)}," if names else "has ended with nobody left to average with,"
            raise TopicClosed(f"topic {record.name!r} {who} without an answer for this peer")
        return Answer(record.name, record.twice, record.width, tuple(names))

    def names(self, record: TopicRecord) -> list[str]:
        """Who was in a topic, by the roster of its end."""
        return names_of(record.contributors, record.roll or self._config().numbered)

    def in_the_present_order(self, record: TopicRecord) -> int:
        """Those of the contributors that are members now, as neighbours number them."""
        roll = self._config().numbered
        if not record.roll or not roll:
            return record.contributors
        return sum(1 << roll.index(name) for name in self.names(record) if name in roll)

    def certificate(self, record: TopicRecord) -> Certificate | None:
        """The answer of a topic that has ended, as long as it is kept; not if one of its members cannot be named."""
        members = self.in_the_present_order(record)
        if record.twice is None or members.bit_count() != record.contributors.bit_count():
            return None
        return Certificate(members, record.twice, record.width, declared=True)

    # -- what was shown -------------------------------------------------------------------------

    def shown(self, secret: str) -> float:
        """R56, R86: what all topics that name this secret have shown of it together, as in a privacy account."""
        return self._store.unrecorded(secret) + sum(
            self._shown_in(topic, record) for topic, record in self._kept.items() if record.secret == secret
        )

    def _shown_in(self, topic: bytes, record: TopicRecord) -> float:
        so_far = self._information(topic)
        return record.own(record.information if so_far is None else so_far)

    def accounts(self) -> Mapping[str, Account]:
        """For each secret: what was shown of it, over all topics."""
        config = self._config()
        fresh = account_for(config.noise_std, config.noise_decay, config.smallest_std)
        return {record.secret: fresh.carrying(self.shown(record.secret)) for record in self._kept.values()}

    def released(self) -> dict[str, ReleaseCost]:
        """For each secret: what the answers that were private releases tell of it together."""
        total: dict[str, ReleaseCost] = {}
        for record in self._kept.values():
            cost = cost_of(record.name, record.contributors.bit_count() if record.ended else None)
            if cost is not None:
                total[record.secret] = total.get(record.secret, ReleaseCost(0.0)) + cost
        return total
