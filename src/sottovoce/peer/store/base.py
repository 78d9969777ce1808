"""What a peer asks of its disk: give back the state, and keep a new one before anything is said about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ..protocol.ledger import Edge
from ..protocol.messages import Vector
from ..protocol.state import PeerState

__all__ = ["AS_AFTER_A_LOST_DISK", "Identity", "StateStore", "Store", "TopicRecord", "changed_edges", "unchanged"]

AS_AFTER_A_LOST_DISK = (
    "move the data folder away and start with the private value, as after a lost disk: neighbours give the ledger back"
)


@dataclass(frozen=True)
class Identity:
    """Whose state this is. A store refuses to open for anybody else."""

    network: str
    name: str
    dimension: int
    unit: str

    def __str__(self) -> str:
        return (
            f"peer {self.name!r} of network {self.network!r} with {self.dimension} coordinates in units of {self.unit}"
        )


@dataclass(frozen=True, repr=False)
class TopicRecord:
    """What a peer keeps about a topic beside the state of its average; all that is kept once it has ended.

    Parameters
    ----------
    name, dimension, missing
        As it was begun.
    secret, carried, information
        Which secret its value tells of; what had been shown of that secret before, and what has been at its end.
    contributors, twice, width
        The answer, as in :class:`~sottovoce.peer.protocol.closing.Certificate`; no ``twice``: this peer has none.
    ended
        When it ended here, in milliseconds since 1970; 0: it has not.
    roll
        The names of the members in the order of ``contributors``, if they were known when it ended.
    shape
        What its numbers are, as it was begun; empty: not known.
    declared
        When its answer was found here, in milliseconds since 1970; 0: not yet.
    """

    name: str
    dimension: int
    missing: str
    secret: str
    carried: float = 0.0
    information: float = 0.0
    contributors: int = 0
    twice: Vector | None = None
    width: int = 0
    ended: int = 0
    roll: tuple[str, ...] = ()
    shape: str = ""
    declared: int = 0

    def own(self, information: float) -> float:
        """What this topic itself has shown if its account says so much. Where that is all, so is this."""
        return information if math.isinf(information) else information - self.carried


class StateStore(Protocol):
    """The durable state of one average.

    One state, replaced as a whole: a crash leaves either the old or the new one. Implementations are held to
    :class:`sottovoce.testing.StoreConformance`.
    """

    @property
    def shown(self) -> float:
        """What is known to have been shown of the private value although the state was lost (R56); else 0."""

    @property
    def went_back(self) -> bool:
        """Whether the state that was loaded is older than what is known to have been shown (R56)."""

    def load(self) -> PeerState | None:
        """The last state saved, ``None`` if there is none.

        The noise parameters and the budget inside its account are those at the time of saving.
        """

    def save(self, state: PeerState) -> None:
        """Keep ``state``. It is durable when this returns.

        Raises
        ------
        StoreError
            It could not be kept (the disk is full, say); the store then still holds the state before.
        """

    def close(self) -> None:
        """Close it. May be called twice."""


class Store(StateStore, Protocol):
    """All that a peer keeps: the state of its network's standing average, and its topics."""

    def topics(self) -> Mapping[bytes, TopicRecord]:
        """What is kept about each topic, by its id."""

    def unrecorded(self, secret: str) -> float:
        """What is known to have been shown of a secret although no topic's record says so any more (R56, R86); else 0.

        Asked after :meth:`topics`.
        """

    def lost(self, secret: str) -> bool | None:
        """Whether topics of this secret were shown of which nothing is kept any more; ``None``: nobody knows."""

    def topic(self, topic: bytes, dimension: int) -> StateStore:
        """Where the state of one topic is kept; its record was noted before."""

    def note_topic(self, topic: bytes, record: TopicRecord) -> None:
        """Keep what is known about a topic, durably. Once it has ended nothing else is kept of it."""


def changed_edges(old: PeerState | None, new: PeerState) -> tuple[list[str], list[str]]:
    """Names of the records to write, and of those to delete. What is volatile in a record does not count."""
    before = {} if old is None else old.edges
    written = [name for name, edge in new.edges.items() if name not in before or not same_record(before[name], edge)]
    return written, [name for name in before if name not in new.edges]


def unchanged(old: PeerState | None, new: PeerState) -> bool:
    """Whether there is nothing to write, so that messages without effect cost the disk nothing."""
    return old is new or (
        old is not None
        and old.value is new.value
        and old.noise is new.noise
        and (old.fresh, old.requests, old.last_sid) == (new.fresh, new.requests, new.last_sid)
        and old.account == new.account
        and old.partings == new.partings
        and old.certificate is new.certificate
        and old.refusals == new.refusals
        and changed_edges(old, new) == ([], [])
    )


def same_record(a: Edge, b: Edge) -> bool:
    """Whether two records are the same on disk."""
    return a is b or (
        (a.sid, a.psid, a.s, a.r, a.parted) == (b.sid, b.psid, b.s, b.r, b.parted) and a.same_registers(b)
    )
