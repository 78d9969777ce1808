"""Topics before they open and after they end: their ids, and what a peer says about one that it takes no part in.

Rules R80, R81, R85 and R93. A topic that is under way is a :class:`.machine.Protocol` of its own.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from ...errors import InvalidParameter
from .closing import Certificate
from .messages import DEFAULT_TOPIC, Kind, Message, Stop
from .settings import Settings
from .stopping import NO_ROUND
from .terms import LONGEST_NAME

__all__ = ["answer_without_topic", "asks_for_answer", "closed", "topic_id"]


def topic_id(name: str) -> bytes:
    """R80: the 16 bytes that stand for a topic in messages and stores.

    Examples
    --------
    >>> topic_id("2026-11/salaries").hex()
    'bc0bf5441de2d3470ed7d7228d9c57bd'
    """
    given: object = name
    if not isinstance(given, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise InvalidParameter(f"topic must be printable text of 1 to {LONGEST_NAME} characters, got {name!r:.80}")
    return hashlib.sha256(name.encode("utf-8")).digest()[: len(DEFAULT_TOPIC)]


def answer_without_topic(
    m: Message, settings: Settings, contributors: int | None, answer: Certificate | None = None
) -> Message | None:
    """R81, R85: what to answer to a message about a topic that does not run here.

    Parameters
    ----------
    m
        The message.
    settings
        Of this peer.
    contributors
        Who took part, if the topic has ended here; ``None``: this peer has not contributed.
    answer
        R93: the answer, if it is kept here and the sender was among them: one that has lost its disk is told.
    """
    if m.kind in (Kind.NOT_YET, Kind.CLOSED):
        return None
    if m.kind is Kind.BYE:  # R52: nothing is kept here, and that is what it asks for
        asked = contributors is not None or m.src_sid
        return _say(Kind.BYE, settings, m.src, topic=m.topic, dst_sid=m.src_sid) if asked else None
    if contributors is None:
        return _say(Kind.NOT_YET, settings, m.src, topic=m.topic)
    told = answer if asks_for_answer(m) else None
    return closed(settings, m.src, contributors, topic=m.topic, answer=told)


def asks_for_answer(m: Message) -> bool:
    """R93: whether its sender holds nothing of the topic: it has lost its disk, or comes late."""
    return m.kind is Kind.HELLO and m.blank and not m.closed


def closed(
    settings: Settings, dst: str, contributors: int, *, topic: bytes, answer: Certificate | None = None
) -> Message:
    """R85: this topic has ended here, with these members; R93: and this answer."""
    said = _say(Kind.CLOSED, settings, dst, topic=topic, closed=contributors)
    if answer is None:
        return said
    low, high = answer.interval
    return replace(said, stop=Stop(NO_ROUND, low, high, contributors=contributors, ready=contributors, version=1))


def _say(kind: Kind, settings: Settings, dst: str, *, topic: bytes, dst_sid: int = 0, closed: int = 0) -> Message:
    return Message(kind, settings.name, dst, 0, dst_sid, blank=True, topic=topic, roster=settings.roster, closed=closed)
