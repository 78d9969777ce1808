"""Driving the run behind one page: at the speed that somebody wants to watch, or straight to a step.

The run itself is a :class:`~.playing.Playback`. Here its slices are computed when the page's turn comes
(:class:`~.turns.Threads`), and pictures are sent when they are due.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from .limits import Limits
from .messages import pack
from .playing import FULLEST_SPEED_FRAMES, Playback
from .turns import Compute

__all__ = ["Driver"]

LONGEST_WAIT = 0.5
"""Seconds after which a picture is shown though the run is not yet where it should be."""


class Driver:
    """One run of one page.

    Parameters
    ----------
    playback
        The run.
    run
        Its number, which all its messages carry.
    limits
        How long it may go on by itself, and how many pictures a second a page gets.
    compute
        Does a slice, when the page's turn comes.
    say, send
        A message to the page, and bytes.
    """

    def __init__(
        self,
        playback: Playback,
        run: int,
        limits: Limits,
        *,
        compute: Compute,
        say: Callable[[dict[str, Any]], Awaitable[None]],
        send: Callable[[bytes], Awaitable[None]],
    ) -> None:
        self.playback, self._run, self._limits = playback, run, limits
        self._compute, self._say, self._send = compute, say, send
        self.speed = 1.0
        """Steps a second; it may change on the way."""

    async def show(self, *, rewound: bool = False) -> None:
        """Send the picture of now."""
        header, arrays = self.playback.frame()
        await self._send(pack(header | {"run": self._run, "rewound": rewound}, arrays))

    async def rewind(self) -> None:
        """Back to the start, with its picture."""
        self.playback.rewind()
        await self.show(rewound=True)

    async def run_to(self, target: int, note: Callable[[float], None]) -> None:
        """As fast as possible, with one picture at the end; ``note`` hears which share is done."""
        begin = self.playback.step
        while self.playback.step < target:
            await self._compute(partial(self.playback.advance, target))
            note((self.playback.step - begin) / (target - begin))
        await self.show()

    async def run_on(self) -> None:
        """At the wanted speed until the end, a pause, or the limit of time."""
        began = due = time.monotonic()
        while not self.playback.finished:
            if time.monotonic() - began > self._limits.running_seconds:
                await self._paused("paused after a long time; press Run to go on")
                return
            interval = max(1.0 / self._limits.frames_per_second, 1.0 / self.speed)
            await self._advance(interval)
            await self.show()
            if self.playback.diverged:
                await self._paused("paused: the values of a method are no longer finite numbers, it diverges here")
                return
            due = max(due + interval, time.monotonic())
            await asyncio.sleep(due - time.monotonic())

    async def _advance(self, interval: float) -> None:
        """To the step of the next picture, or as far as can be waited for."""
        playback, last = self.playback, self.playback.problem.num_steps
        most = -(-last // FULLEST_SPEED_FRAMES)
        count = int(min(max(1, round(self.speed * interval)), max(1, most)))
        shown, began = min(playback.step + count, last), time.monotonic()
        while playback.step < shown and not playback.diverged and time.monotonic() - began <= LONGEST_WAIT:
            await self._compute(partial(playback.advance, shown))

    async def _paused(self, message: str) -> None:
        await self._say({"type": "paused", "run": self._run, "message": message})
