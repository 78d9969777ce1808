"""When to call whom, how long to wait, whom to leave alone, whose messages to look at: decisions about time.

Time is an argument and randomness a function, as everywhere in the protocol. Nothing here is durable: after a
start every neighbour counts as reachable.

Every edge must fire equally often, as in the paper, although nobody sees the whole graph: a peer with d
neighbours calls at rate λd and picks one of them uniformly, so each direction of each edge has rate λ (R27).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...foundation.bucket import TokenBucket
from .settings import Settings

__all__ = ["LONGEST_TALK", "Contacts", "exponential", "jittered", "own_rate", "timeouts"]

LONGEST_TALK = 4
"""Messages in a row to one neighbour in one turn; more can wait for the next tick."""

_SECONDS_PER_COORDINATE = 1e-6
"""What a timeout is lengthened by, so that a million coordinates have time to travel and to be stored."""

_LEAST_PACE = 100.0
"""Messages a second that a neighbour may always send."""


def own_rate(settings: Settings, neighbours: int, *, quiet: bool) -> float:
    """Ticks per second of a peer's own clock: λd (R27), or a heartbeat per neighbour once settled (R36).

    Examples
    --------
    >>> from sottovoce.testing.settings import some_settings
    >>> settings = some_settings(rate=2.0, sync_interval=4.0)
    >>> own_rate(settings, 3, quiet=False), own_rate(settings, 3, quiet=True)
    (6.0, 0.75)
    """
    return neighbours * (min(settings.rate, 1.0 / settings.sync_interval) if quiet else settings.rate)


def exponential(rate: float, uniform: float) -> float:
    """Waiting time of a Poisson process, from a number uniform in [0, 1)."""
    return -math.log1p(-uniform) / rate


def jittered(seconds: float, uniform: float) -> float:
    """Between half of and the whole time, so that peers that lost the same neighbour do not all return at once."""
    return seconds * (0.5 + 0.5 * uniform)


def timeouts(settings: Settings) -> Iterator[float]:
    """R17: how long to wait for an answer, and for the answer to each repetition, twice as long each time.

    Examples
    --------
    >>> from sottovoce.testing.settings import some_settings
    >>> waits = timeouts(some_settings(dimension=250_000, timeout=0.25))
    >>> [next(waits) for _ in range(3)]
    [0.5, 1.0, 2.0]
    """
    wait = settings.timeout + _SECONDS_PER_COORDINATE * settings.dimension
    while True:
        yield wait
        wait *= 2.0


@dataclass(slots=True)
class _Contact:
    """What is known about reaching one neighbour."""

    pace: TokenBucket
    heard: float | None = None
    failures: int = 0
    until: float = -math.inf


class Contacts:
    """Which neighbours answer, when each may be called again, and how much each may say.

    A neighbour that does not answer is left alone for a while, twice as long after each failure, up to a limit. The
    token bucket of R28 limits *exchanges*, which is what noise and privacy need; the one here keeps a flood of any
    messages from using up the processor.

    Parameters
    ----------
    settings
        Of this peer.
    uniform
        Gives numbers in [0, 1).

    Examples
    --------
    >>> from sottovoce.testing.settings import some_settings
    >>> contacts = Contacts(some_settings(timeout=1.0 - 1e-6, backoff_max=5.0), lambda: 1.0)
    >>> [contacts.failed("ada", now=0.0, late=False) for _ in range(4)]
    [1.0, 2.0, 4.0, 5.0]
    >>> contacts.choose(["ada"], now=4.9), contacts.choose(["ada"], now=5.1)
    (None, 'ada')
    """

    def __init__(self, settings: Settings, uniform: Callable[[], float]) -> None:
        self._first, self._most, self._uniform = next(timeouts(settings)), settings.backoff_max, uniform
        pace = max(_LEAST_PACE, 20.0 * settings.rate, 20.0 * settings.bucket_burst)
        self._known: defaultdict[str, _Contact] = defaultdict(lambda: _Contact(TokenBucket(pace, pace)))

    def choose(self, active: Sequence[str], now: float) -> str | None:
        """R27: one of the neighbours, uniformly; ``None`` if there is none, or it is to be left alone at present."""
        if not active:
            return None
        choice = active[min(int(self._uniform() * len(active)), len(active) - 1)]
        return None if now < self._known[choice].until else choice

    def admits(self, name: str, now: float) -> bool:
        """Whether a message from ``name`` may be looked at now, or is part of a flood."""
        return self._known[name].pace.take(now)

    def failed(self, name: str, now: float, *, late: bool) -> float | None:
        """A call to ``name`` failed; ``late``: only because time ran out.

        Returns the seconds for which it is left alone; ``None`` if only one answer is late and it was heard just now.
        """
        contact = self._known[name]
        if late and contact.heard is not None and now - contact.heard < 4.0 * self._first:
            return None
        nominal = min(self._first * 2.0 ** min(contact.failures, 60), self._most)
        pause = jittered(nominal, self._uniform())
        contact.failures += 1
        contact.until = now + pause
        return pause

    def heard(self, name: str, now: float) -> None:
        """A message came from ``name``: it is there."""
        contact = self._known[name]
        contact.heard, contact.failures, contact.until = now, 0, -math.inf

    def unreachable(self, name: str) -> bool:
        """Whether the last call to ``name`` failed and nothing was heard since."""
        return self._known[name].failures > 0

    def silence(self, name: str, now: float) -> float | None:
        """Seconds since the last message from ``name``; ``None``: none since the start."""
        heard = self._known[name].heard
        return None if heard is None else now - heard
