"""When to call whom, how long to wait, whom to leave alone, whose messages to look at: decisions about time.

Time is an argument and randomness a function, as everywhere in the protocol. Nothing here is durable: after a
start every neighbour counts as reachable.

Every edge must fire equally often, as in the paper, although nobody sees the whole graph: a peer with d
neighbours calls at rate λd and picks one of them uniformly, so each direction of each edge has rate λ (R27).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from ...foundation.bucket import TokenBucket
from .messages import Kind
from .patience import Patience, first_wait
from .settings import Settings
from .units import LONG

__all__ = [
    "HURRY", "LONGEST_TALK", "RESTS", "Contacts", "exponential", "hurried", "jittered", "own_rate", "recent", "rest",
    "steady",
]  # fmt: skip

LONGEST_TALK = 4
"""Messages in a row to one neighbour in one turn; more can wait for the next tick."""

RESTS = 3.0
"""R72: how long a peer with long vectors rests after a call, as a multiple of what that took."""

HURRY = 4.0
"""R99: how many times as often as usual the clock of a topic rings at most."""

_LEAST_PACE = 100.0
"""Messages a second that a neighbour may always send."""

_DOUBTFUL = 3
"""Requests in a row without an answer after which a neighbour is only tried."""

_SLOW = 3.0
"""Who takes so many times as long as the middle one of the others is slow."""

_NOTICED_SHARE = 0.2
"""Answers faster than this share of the first wait are never slow."""


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


def steady(rate: float, uniform: float) -> float:
    """Waiting time of a clock that rings nearly regularly, from a number uniform in [0, 1).

    Examples
    --------
    >>> [steady(4.0, uniform) for uniform in (0.0, 0.5)]
    [0.125, 0.25]
    """
    return (0.5 + uniform) / rate


def rest(settings: Settings, took: float) -> float:
    """R72: seconds for which the own clock is silent at least, after a call that took so many.

    A peer that has asked is locked, and refuses whoever asks it. Where vectors are long, a refused request costs nearly
    as much as an exchange: so a peer that cannot keep up with its clock is locked for a quarter of the time at most.

    Examples
    --------
    >>> from sottovoce.testing.settings import some_settings
    >>> rest(some_settings(dimension=100_000), 0.5), rest(some_settings(dimension=10), 0.5)
    (1.5, 0.0)
    """
    return RESTS * took if settings.dimension >= LONG else 0.0


def hurried(settings: Settings, rate: float, lately: float) -> float:
    """R99: ticks per second of a topic's clock, where it would usually be ``rate`` and calls lately took ``lately``.

    Somebody waits for the answer: so it rings as often as calls are answered, within limits. A peer that has asked is
    locked; it does not hurry so much that this is so for more than a quarter of the time. Where vectors are long, the
    rest after each call (R72) sees to that.

    Examples
    --------
    >>> from sottovoce.testing.settings import some_settings
    >>> [round(hurried(some_settings(), 8.0, lately), 9) for lately in (0.001, 0.02, 0.3)]
    [32.0, 16.666666667, 8.0]
    >>> hurried(some_settings(dimension=100_000), 8.0, 0.3)
    32.0
    """
    if settings.dimension >= LONG:
        return HURRY * rate
    return max(1.0 / max(RESTS * lately, 1.0 / (HURRY * rate)), rate)


def recent(lately: float, took: float) -> float:
    """What calls lately took, after one that took so many seconds; 0: none has, and none was made.

    Each moves the mean by an eighth, as in R70: one slow call must not slow the clock down for long.

    Examples
    --------
    >>> recent(0.0, 0.08), recent(0.08, 0.0), recent(0.08, 0.16)
    (0.08, 0.08, 0.09)
    """
    if not took or not lately:
        return took or lately
    return lately + (took - lately) / 8.0


def jittered(seconds: float, uniform: float) -> float:
    """Between half of and the whole time, so that peers that lost the same neighbour do not all return at once."""
    return seconds * (0.5 + 0.5 * uniform)


@dataclass(slots=True)
class _Contact:
    """What is known about reaching one neighbour."""

    pace: TokenBucket
    requests: Patience
    greetings: Patience
    heard: float | None = None
    failures: int = 0
    until: float = -math.inf
    unanswered: int = 0
    """Requests in a row that brought no answer."""
    since: float = 0.0
    """When the first of them was sent."""
    ask_after: float = -math.inf
    """When the next request may be sent; greetings may at any time."""


class Contacts:
    """Which neighbours answer, how long to wait for them, when each may be called again, and how much each may say.

    A neighbour that cannot be reached is left alone for a while, twice as long after each failure, up to a limit. One
    that does not answer *requests* is asked less and less often, whatever else it says: a peer that has asked is locked
    until it gives up, and would neglect the others. The token bucket of R28 limits *exchanges*, which is what noise and
    privacy need; the one here keeps a flood of any messages from using up the processor.

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
    >>> contacts.may_call("ada", now=4.9), contacts.may_call("ada", now=5.1)
    (False, True)
    """

    def __init__(self, settings: Settings, uniform: Callable[[], float]) -> None:
        self._first, self._most, self._uniform = first_wait(settings), settings.backoff_max, uniform
        pace = max(_LEAST_PACE, 20.0 * HURRY * settings.rate, 20.0 * settings.bucket_burst)
        self._known: defaultdict[str, _Contact] = defaultdict(
            lambda: _Contact(TokenBucket(pace, pace), Patience(self._first), Patience(self._first))
        )

    def may_call(self, name: str, now: float) -> bool:
        """Whether ``name`` need not be left alone at present. If it must, nobody else is called in its place (R27)."""
        contact = self._known[name]
        return now >= contact.until and now >= contact.ask_after

    def admits(self, name: str, now: float) -> bool:
        """Whether a message from ``name`` may be looked at now, or is part of a flood."""
        return self._known[name].pace.take(now)

    # -- how long to wait -----------------------------------------------------------------------

    def wait(self, name: str, kind: Kind, repeated: int = 0) -> float:
        """R17, R70: seconds to wait for the answer of ``name`` to a message of this kind, sent so often before."""
        return self._patience(name, kind).wait(repeated)

    def answered(self, name: str, kind: Kind, now: float, seconds: float) -> None:
        """``name`` has answered a message of this kind after so many seconds.

        R71: who takes more than three times as long as the middle one of the others is asked less often, so that it
        has this peer locked for at most a seventh of the time.
        """
        self._patience(name, kind).answered(seconds)
        if kind is not Kind.REQ:
            return
        contact = self._known[name]
        contact.unanswered, contact.ask_after = 0, -math.inf
        usual = self._usual(name)
        if usual is not None and seconds > _SLOW * usual and seconds > _NOTICED_SHARE * self._first:
            contact.ask_after = now + 6.0 * seconds

    def _usual(self, name: str) -> float | None:
        """The middle one of the other neighbours' round trips of requests; ``None``: none is known."""
        others = sorted(
            other.requests.round_trip
            for other_name, other in self._known.items()
            if other_name != name and other.requests.round_trip is not None
        )
        return others[(len(others) - 1) // 2] if others else None

    def to_rest_for(self, name: str, seconds: float) -> float:
        """R72: how much of the time that a call to ``name`` took counts for the rest of the own clock.

        Not what it took longer than R71 puts up with: otherwise a neighbour that does not answer would stop the clock
        for all others, for three times as long as it was waited for.
        """
        usual = self._usual(name)
        return min(seconds, _SLOW * (self._first if usual is None else usual))

    def gave_up(self, name: str, kind: Kind, now: float, spent: float) -> None:
        """A message of this kind was given up after ``spent`` seconds: answers of ``name`` did not come in time.

        R71: from the second request in a row on, the next one has to wait: as long as was waited for this one, then
        twice, four times as long and so on, up to the longest pause, or nine times as long where that is more.
        """
        self._patience(name, kind).gave_up()
        if kind is not Kind.REQ:
            return
        contact = self._known[name]
        if contact.unanswered == 0:
            contact.since = now - spent
        contact.unanswered += 1
        if contact.unanswered > 1:
            pause = min(spent * 2.0 ** min(contact.unanswered - 2, 60), max(self._most, 9.0 * spent))
            contact.ask_after = now + jittered(pause, self._uniform())

    def once_only(self, name: str) -> bool:
        """Whether requests to ``name`` are sent only once now, because several in a row were not answered."""
        return self._known[name].unanswered >= _DOUBTFUL

    def unanswered_for(self, name: str, now: float) -> float | None:
        """Seconds since ``name`` is heard and does not answer requests; ``None``: it answers, or is gone."""
        contact = self._known[name]
        if contact.unanswered < _DOUBTFUL or contact.failures > 0 or contact.heard is None:
            return None
        return now - contact.since if contact.heard > contact.since else None

    def _patience(self, name: str, kind: Kind) -> Patience:
        contact = self._known[name]
        return contact.requests if kind is Kind.REQ else contact.greetings

    # -- who is there ---------------------------------------------------------------------------

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
