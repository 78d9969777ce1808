"""A token bucket: so many a second on average, so many at once. Time is an argument, so that tests need no clock."""

from __future__ import annotations

__all__ = ["TokenBucket"]


class TokenBucket:
    """Says whether one more may pass now.

    Parameters
    ----------
    rate
        Tokens added per second.
    burst
        The most it holds; it begins full.

    Examples
    --------
    >>> bucket = TokenBucket(rate=2.0, burst=2.0)
    >>> [bucket.take(now=0.0) for _ in range(3)], bucket.take(now=0.6)
    ([True, True, False], True)
    >>> bucket.has(now=0.6), bucket.has(now=1.0)
    (False, True)
    """

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._level, self._last = burst, float("-inf")

    def has(self, now: float) -> bool:
        """Whether there is a token at the time ``now``, in seconds; a clock that goes back adds none."""
        self._level = min(self._level + max(now - self._last, 0.0) * self._rate, self._burst)
        self._last = max(now, self._last)
        return self._level >= 1.0

    def take(self, now: float) -> bool:
        """Take one token at the time ``now``, if there is one."""
        if not self.has(now):
            return False
        self._level -= 1.0
        return True
