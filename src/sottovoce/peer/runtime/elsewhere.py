"""Topics that neighbours have opened and this peer has not: what to say when they and it wait for each other (R89)."""

from __future__ import annotations

from collections import deque

from ..protocol.messages import Kind, Message
from ..protocol.openings import topic_id
from .releasing import disagreement

__all__ = ["Elsewhere"]

REMEMBERED = 8
"""Topics of each neighbour, those that it greeted for last."""


class Elsewhere:
    """The names of topics that neighbours have greeted for, and to which this peer has not contributed."""

    def __init__(self) -> None:
        self._opened: dict[str, deque[str]] = {}

    def note(self, m: Message) -> bool:
        """A message about a topic that this peer does not know; whether it tells a name that is new."""
        if m.kind is not Kind.HELLO or m.terms is None or not m.terms.topic or topic_id(m.terms.topic) != m.topic:
            return False
        opened = self._opened.setdefault(m.src, deque(maxlen=REMEMBERED))
        if m.terms.topic in opened:
            return False
        opened.append(m.terms.topic)
        return True

    def has_opened(self, name: str, topic: str) -> bool:
        """Whether a neighbour has greeted for this topic."""
        return topic in self._opened.get(name, ())

    def opened_by(self, name: str, known: set[bytes]) -> list[str]:
        """The topics of a neighbour that are not among the known ones."""
        return [topic for topic in self._opened.get(name, ()) if topic_id(topic) not in known]

    def disagreement(self, own: str, topic: str, name: str) -> str | None:
        """How a neighbour that has not contributed to ``topic`` has opened the same under another agreement."""
        sentences = (disagreement(own, topic, name, theirs) for theirs in self._opened.get(name, ()))
        return next((sentence for sentence in sentences if sentence is not None), None)
