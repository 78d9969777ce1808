"""A token bucket: so many a second on average, some at once."""

from __future__ import annotations

__all__ = ["Bucket"]


class Bucket:
    """Holds up to ``burst`` tokens, is full at first, and gains ``rate`` of them a second. Time is an argument.

    Examples
    --------
    >>> bucket = Bucket(rate=1.0, burst=2.0, now=0.0)
    >>> [bucket.take(now=0.0) for _ in range(3)], bucket.take(now=1.0)
    ([True, True, False], True)
    """

    def __init__(self, *, rate: float, burst: float, now: float) -> None:
        self._rate, self._burst = rate, burst
        self._level, self._at = burst, now

    def take(self, now: float) -> bool:
        """Take one token, if there is one."""
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        if self._level < 1.0:
            return False
        self._level -= 1.0
        return True
