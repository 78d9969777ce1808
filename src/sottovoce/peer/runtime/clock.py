"""Time for a peer: when to call whom (R27, R36), how long to leave a silent neighbour alone, where the time comes from.

Every edge must fire equally often, as in the paper, although nobody sees the whole graph: a peer with d
neighbours calls at rate λd and picks one of them uniformly, so each direction of each edge has rate λ.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable
from typing import Protocol

__all__ = ["Backoff", "Clock", "Pace", "SystemClock", "exponential", "own_rate"]


def own_rate(rate: float, neighbours: int, *, settled: bool, sync_interval: float) -> float:
    """Ticks per second of a peer's own clock: λd (R27), or a heartbeat per neighbour once settled (R36).

    Examples
    --------
    >>> own_rate(2.0, 3, settled=False, sync_interval=4.0), own_rate(2.0, 3, settled=True, sync_interval=4.0)
    (6.0, 0.75)
    """
    return neighbours * (min(rate, 1.0 / sync_interval) if settled else rate)


def exponential(rate: float, uniform: float) -> float:
    """Waiting time of a Poisson process, from a number uniform in [0, 1)."""
    return -math.log1p(-uniform) / rate


class Clock(Protocol):
    """Where time and the randomness of *when* come from. Noise is another matter: see :mod:`.budget`."""

    def now(self) -> float:
        """Seconds that only go forward."""

    def stamp(self) -> int:
        """``(unix milliseconds << 16) | 16 random bits``."""

    def uniform(self) -> float:
        """A number in [0, 1)."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's clock and the operating system's randomness."""

    def __init__(self) -> None:
        self._uniform: Callable[[], float] = secrets.SystemRandom().random

    def now(self) -> float:
        return time.monotonic()

    def stamp(self) -> int:
        return (time.time_ns() // 1_000_000 << 16) | secrets.randbits(16)

    def uniform(self) -> float:
        return self._uniform()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Pace:
    """How many messages a neighbour may send: so many a second on average, as many at once.

    The token bucket of R28 limits *exchanges*, which is what noise and privacy need; this one keeps a flood of
    any messages from using up the processor.

    Examples
    --------
    >>> pace = Pace(2.0)
    >>> [pace.allows("eve", now=0.0) for _ in range(3)], pace.allows("eve", now=0.6)
    ([True, True, False], True)
    """

    def __init__(self, per_second: float) -> None:
        self._rate = per_second
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, name: str, now: float) -> bool:
        """Whether a message from ``name`` may be looked at now."""
        left, last = self._left.get(name, (self._rate, now))
        left = min(left + (now - last) * self._rate, self._rate)
        allowed = left >= 1.0
        self._left[name] = (left - 1.0 if allowed else left, now)
        return allowed


class Backoff:
    """How long a neighbour that does not answer is left alone: doubling, with jitter, up to a limit.

    Parameters
    ----------
    first, most
        Seconds after the first failure; the limit.
    uniform
        Gives numbers in [0, 1): a pause is between half of and the whole nominal length, so that peers that
        lost the same neighbour do not all return at once.

    Examples
    --------
    >>> backoff = Backoff(1.0, 5.0, uniform=lambda: 1.0)
    >>> [backoff.failed("ada", now=0.0) for _ in range(4)]
    [1.0, 2.0, 4.0, 5.0]
    >>> backoff.silent("ada", now=4.9), backoff.silent("ada", now=5.1), backoff.silent("bob", now=0.0)
    (True, False, False)
    """

    def __init__(self, first: float, most: float, uniform: Callable[[], float]) -> None:
        self._first, self._most, self._uniform = first, most, uniform
        self._failures: dict[str, int] = {}
        self._until: dict[str, float] = {}

    def failed(self, name: str, now: float) -> float:
        """A call to ``name`` failed. Returns the pause in seconds."""
        count = self._failures.get(name, 0)
        self._failures[name] = count + 1
        nominal = min(self._first * 2.0 ** min(count, 60), self._most)
        pause = nominal * (0.5 + 0.5 * self._uniform())
        self._until[name] = now + pause
        return pause

    def answered(self, name: str) -> None:
        """A message came from ``name``: it is there."""
        if name in self._failures:
            del self._failures[name], self._until[name]

    def silent(self, name: str, now: float) -> bool:
        """Whether ``name`` is to be left alone at present."""
        return now < self._until.get(name, -math.inf)

    def unreachable(self, name: str) -> bool:
        """Whether the last call to ``name`` failed."""
        return name in self._failures
