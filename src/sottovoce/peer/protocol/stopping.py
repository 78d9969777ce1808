"""When all peers agree: the range rule, R32 to R36. No I/O, nothing durable.

Locally quiet does not mean globally settled: on a slow graph a peer sees no change for ages while the
far end is wrong. So peers gather the range of all values. Nobody counts rounds for all: a peer
enters round q + 1 when every neighbour has been heard in round q. An epoch is 2D rounds (D ≥ the
diameter): in the first D each peer also keeps widening its interval by its own value, in the last D
the union of all intervals reaches everybody. Averaging never leaves the hull of the values, so from
then on all values and their mean lie in [low, high] and, if that is narrow enough, all peers declare
it in the same epoch.

An interval that would say nothing is unbounded (``None``). It costs no bytes, publishes nothing about the value, and
makes the union of everybody who hears of it unbounded too. When a peer may tell its own interval, and how wide it is,
is decided in :func:`.disclosure.own_interval`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from .messages import Stop, Vector

__all__ = ["Interval", "RangeRule"]

Interval = tuple[Vector, Vector]


class RangeRule:
    """The stopping layer of one peer.

    Parameters
    ----------
    diameter
        D ≥ 1, an upper bound on the number of hops between any two peers. Too large costs time, too
        small by a factor of a few has been seen to be harmless, and 1 in a large network is wrong.
    tolerance
        The width, per coordinate, at which the network counts as settled.
    sample
        Gives the peer's own interval now, or ``None`` if it must not be told (R32).
    """

    def __init__(self, diameter: int, tolerance: float, sample: Callable[[], Interval | None]) -> None:
        self.epoch_rounds = 2 * diameter
        self.tolerance = tolerance
        self._sample = sample
        self.round = 0
        self.settled = False
        self.certified: Interval | None = None
        """The union over all peers that the last finished epoch found, while nothing has changed since."""
        self._settled_round = 0
        self._joined = False
        self._seen: dict[str, int] = {}
        self._interval: Interval | None = None
        self._previous: Interval | None = None

    @property
    def epoch(self) -> int:
        return self.round // self.epoch_rounds

    def stop_for(self, name: str) -> Stop:
        """What to tell ``name``. The last epoch's interval goes only to those who may still be in it."""
        behind = self._seen.get(name, -1) // self.epoch_rounds < self.epoch
        return Stop(self.round, *(self._interval or (None, None)), *((behind and self._previous) or (None, None)))

    def hear(self, name: str, stop: Stop | None, neighbours: Iterable[str]) -> None:
        """R33 to R35: a message of the current lives arrived from ``name``."""
        if stop is None:
            return
        if not self._joined:  # R35: catch up, and stay silent for the rest of that epoch
            self._joined = True
            self.round = max(self.round, stop.round)
            self._interval = None
        self._seen[name] = max(self._seen.get(name, -1), stop.round)
        their_epoch = stop.round // self.epoch_rounds
        if their_epoch == self.epoch:
            self._widen(_pair(stop.low, stop.high))
        elif their_epoch == self.epoch + 1:
            self._widen(_pair(stop.previous_low, stop.previous_high))
        elif their_epoch > self.epoch:
            self._interval = None
        self._advance(neighbours)

    def quiet(self, neighbours: Iterable[str]) -> bool:
        """R36: settled, and so is every neighbour, so that nobody waits for us and the clock may slow down."""
        return self.settled and all(self._seen.get(name, -1) >= self._settled_round for name in neighbours)

    def value_changed(self) -> None:
        """R33: the own value moved; in the first half of an epoch the interval must cover it."""
        if self._interval is not None and self.round % self.epoch_rounds < self.epoch_rounds // 2:
            self._widen(self._sample())

    def disturbed(self, *, membership: bool = True) -> None:
        """R32, R36: a neighbour or the private value changed, or a large difference was met."""
        self._interval = None
        if membership:
            self._previous = None
        self.settled = False
        self.certified = None

    def forget(self, name: str) -> None:
        """R35: the neighbour has a new life, or is gone."""
        self._seen.pop(name, None)

    def error_bound(self, x: Vector) -> float | None:
        """How far ``x`` can be from the mean of the private values, per coordinate; ``None`` if that is not known."""
        if self.certified is None:
            return None
        low, high = self.certified
        return float(np.maximum(high - x, x - low).max())

    def _widen(self, other: Interval | None) -> None:
        mine = self._interval
        if mine is None or other is None:
            self._interval = None
        else:
            self._interval = (np.minimum(mine[0], other[0]), np.maximum(mine[1], other[1]))

    def _advance(self, neighbours: Iterable[str]) -> None:
        """R34."""
        slowest = min((self._seen.get(name, -1) for name in neighbours), default=-1)
        while slowest >= self.round:
            self.round += 1
            if self.round % self.epoch_rounds == 0:
                self._finish_epoch()
                return

    def _finish_epoch(self) -> None:
        if self._interval is not None:
            self.certified = self._interval
            if float((self._interval[1] - self._interval[0]).max()) <= self.tolerance:
                self._settled_round = self._settled_round if self.settled else self.round
                self.settled = True
        self._previous = self._interval
        self._interval = self._sample()


def _pair(low: Vector | None, high: Vector | None) -> Interval | None:
    return None if low is None or high is None else (low, high)
