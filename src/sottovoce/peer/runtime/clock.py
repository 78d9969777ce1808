"""Where a peer's time, and the randomness of *when*, come from. Noise is another matter: see :mod:`.randomness`."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """What a peer asks of its clock."""

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
