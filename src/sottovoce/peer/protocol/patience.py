"""How long to wait for an answer: an estimate of the round trip, for one neighbour and one kind of message.

Requests and greetings are waited for separately: a request is stored by the other end before it is answered, and a
neighbour may answer greetings and no requests.
"""

from __future__ import annotations

from .messages import Kind
from .settings import Settings
from .units import LONG

__all__ = ["Patience", "first_wait", "held_back", "moment", "travel_time"]

_SECONDS_PER_COORDINATE = 1e-6
"""What a wait is lengthened by, so that a million coordinates have time to travel and to be stored."""

_SECONDS_PER_LONG_COORDINATE = 5e-6
"""The same for one message of a topic, whose neighbours' round trips were perhaps learned from shorter ones."""

_LEAST_SHARE = 0.2
"""The shortest wait, as a share of the first: a disk that pauses for a moment is no lost message."""

_MOMENT_SHARE, _TRAVEL_SHARE = 0.04, 0.1
"""A moment, as a share of the first wait, and of what a wait is lengthened by where vectors are long."""

_MOST_SHARE = 20.0
"""The longest wait, in first ones."""


def first_wait(settings: Settings) -> float:
    """R17: how long to wait for the first answer ever; a million coordinates get a second more.

    Examples
    --------
    >>> from sottovoce.testing.settings import some_settings
    >>> first_wait(some_settings(dimension=250_000, timeout=0.25))
    0.5
    """
    return settings.timeout + _SECONDS_PER_COORDINATE * settings.dimension


def travel_time(settings: Settings) -> float:
    """R70: what a wait is lengthened by where vectors are long: to send one again costs more than to wait for it.

    Examples
    --------
    >>> from sottovoce.testing.settings import some_settings
    >>> travel_time(some_settings(dimension=100_000)), travel_time(some_settings(dimension=100))
    (0.5, 0.0)
    """
    return _SECONDS_PER_LONG_COORDINATE * settings.dimension if settings.dimension >= LONG else 0.0


def moment(settings: Settings) -> float:
    """R94: how long an end that is to speak second waits for the first.

    Examples
    --------
    >>> from sottovoce.testing.settings import some_settings
    >>> [round(moment(some_settings(dimension=numbers, timeout=0.25)), 3) for numbers in (1, 100_000)]
    [0.01, 0.06]
    """
    return _MOMENT_SHARE * settings.timeout + _TRAVEL_SHARE * travel_time(settings)


def held_back(settings: Settings, kind: Kind) -> float:
    """R94, R95: how long an answer to such a message may be held back at most; who waits for it waits longer by that.

    Otherwise an answer that comes from far away, and is held back, would be late: round trips over a steady line leave
    nothing to spare.

    Examples
    --------
    >>> from sottovoce.testing.settings import some_settings
    >>> [held_back(some_settings(dimension=1, timeout=0.25), kind) for kind in (Kind.HELLO, Kind.REQ, Kind.BYE)]
    [0.02, 0.0, 0.0]
    """
    waits = kind is Kind.HELLO or (kind is Kind.REQ and settings.dimension >= LONG)
    return 2.0 * moment(settings) if waits else 0.0


class Patience:
    """R70: the mean round trip and four times its deviation, as TCP has it; twice as long at each repetition.

    With R the first round trip: mean R and deviation R/2, so that the wait is 3R. Each later one moves the mean by
    1/8 and the deviation by 1/4 of the way. A message that was given up doubles the waits until an answer comes:
    otherwise a neighbour that is further away than expected would never be heard in time.

    Parameters
    ----------
    first
        Seconds to wait as long as nothing is known. Later it is between a fifth and twenty times as much.

    Examples
    --------
    >>> patience = Patience(0.25)
    >>> patience.wait(), patience.wait(repeated=2)
    (0.25, 1.0)
    >>> patience.gave_up()
    >>> patience.wait()
    0.5
    >>> patience.answered(0.3)
    >>> round(patience.wait(), 9), round(patience.round_trip, 9)
    (0.9, 0.3)
    """

    __slots__ = ("_deviation", "_doublings", "_first", "round_trip")

    def __init__(self, first: float) -> None:
        self._first = first
        self.round_trip: float | None = None
        """The mean round trip in seconds; ``None``: not known."""
        self._deviation = 0.0
        self._doublings = 0

    def wait(self, repeated: int = 0) -> float:
        """How long to wait for the answer to a message that has been sent ``repeated`` times before."""
        known = self._first if self.round_trip is None else self.round_trip + 4.0 * self._deviation
        doublings = min(self._doublings + repeated, 60)
        return min(max(known, _LEAST_SHARE * self._first) * 2.0**doublings, _MOST_SHARE * self._first)

    def answered(self, seconds: float) -> None:
        """An answer came after so long."""
        self._doublings = 0
        if self.round_trip is None:
            self.round_trip, self._deviation = seconds, seconds / 2.0
            return
        error = seconds - self.round_trip
        self._deviation += (abs(error) - self._deviation) / 4.0
        self.round_trip += error / 8.0

    def gave_up(self) -> None:
        """No answer came in time, and the message is not sent again."""
        self._doublings += 1
