"""A store that forgets everything when the process ends: for tests, and for networks that last a short time."""

from __future__ import annotations

from dataclasses import replace

from ...errors import StoreError
from ..protocol.state import PeerState
from .base import TopicRecord

__all__ = ["MemoryStore"]


class MemoryStore:
    """Durable for as long as the object lives; survives a simulated crash, not a real one."""

    shown, went_back = 0.0, False

    def __init__(self) -> None:
        self._state: PeerState | None = None
        self._topics: dict[bytes, MemoryStore] = {}
        self._records: dict[bytes, TopicRecord] = {}
        self._closed = False

    def copy(self) -> MemoryStore:
        """Another store with the same content, as if a disk were read by the next process."""
        other = MemoryStore()
        other._state, other._records = self._state, dict(self._records)
        other._topics = {topic: state.copy() for topic, state in self._topics.items()}
        return other

    def load(self) -> PeerState | None:
        """The last state saved, without what is volatile in it."""
        if self._state is None:
            return None
        edges = {name: replace(edge, heard=None, owed=False) for name, edge in self._state.edges.items()}
        return replace(self._state, edges=edges)

    def save(self, state: PeerState) -> None:
        """Keep ``state``."""
        if self._closed:
            raise StoreError("the store is closed")
        self._state = state

    def topics(self) -> dict[bytes, TopicRecord]:
        """What is kept about each topic."""
        return dict(self._records)

    def unrecorded(self, secret: str) -> float:
        """Nothing: the records are all that is known."""
        return 0.0

    def lost(self, secret: str) -> bool | None:
        """Who knows: nothing else is known."""
        return None

    def topic(self, topic: bytes, dimension: int) -> MemoryStore:
        """Where the state of one topic is kept."""
        return self._topics.setdefault(topic, MemoryStore())

    def note_topic(self, topic: bytes, record: TopicRecord) -> None:
        """Keep what is known about a topic."""
        self._records[topic] = record
        if record.ended:
            self._topics.pop(topic, None)

    def close(self) -> None:
        """Nothing more can be saved."""
        self._closed = True
