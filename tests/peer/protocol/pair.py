"""Two protocols that talk to each other, with nothing between them."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np

from sottovoce.peer.protocol import PeerState, Protocol, Settings
from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.protocol.noise import rounded
from sottovoce.privacy.gaussian.account import Account
from sottovoce.testing.settings import some_settings

STAMP = itertools.count(2**57)
UNIT = 10**6
"""Units in 1: these tests count in millionths."""


class Watched(Protocol):
    """A protocol that remembers its events."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self.events: Counter[tuple[str, str]] = Counter()
        super().__init__(*arguments, on_event=lambda *event: self.events.update([event]), **keywords)


def started(settings: Settings, state: PeerState, **more: Any) -> Watched:
    """A protocol that draws zeros and whose coins show zero, unless told otherwise."""
    sources = {"draw": rounded(np.zeros), "coin": np.zeros, "stamp": lambda: next(STAMP)}
    return Watched(settings, state, **(sources | more))


def vector(*numbers: float) -> np.ndarray:
    """Whole numbers of units."""
    return np.array([round(number * UNIT) for number in numbers])


def peer(name: str, value: float = 1.0, *, budget: float = np.inf, **more: Any) -> Watched:
    rng = np.random.default_rng(ord(name[0]))
    state = PeerState(vector(*[value] * more.get("dimension", 1)), Account(1.0, 0.5, budget=budget))
    settings = some_settings(name, bucket_refill=100.0, **more)
    return started(settings, state, draw=rounded(rng.standard_normal), coin=lambda count: rng.integers(2, size=count))


def talk(a: Protocol, b: Protocol, message: Message | None) -> list[Message]:
    """Let ``a`` say ``message`` to ``b`` and both answer until there is silence."""
    said = []
    while message is not None:
        said.append(message)
        message = b.receive(message)
        a, b = b, a
    return said


def acquainted(**more: Any) -> tuple[Watched, Watched]:
    """Two neighbours with an open edge and full buckets."""
    a, b = peer("ada", 1.0, **more), peer("bob", 5.0, **more)
    b.add("ada")
    talk(a, b, a.add("bob"))
    for one in (a, b):
        one.tick(None)
    return a, b


def exchange(a: Protocol, b: Protocol) -> list[Message]:
    return talk(a, b, a.tick(b.settings.name))


def asks(a: Protocol, b: Protocol) -> Message:
    """A request that is out and unanswered."""
    request = a.tick(b.settings.name)
    assert request is not None
    return request


def answers(b: Protocol, message: Message) -> Message:
    """What ``b`` answers; something."""
    answer = b.receive(message)
    assert answer is not None
    return answer
