"""Pages take turns: whoever asks for much waits behind whoever asks for little, not the other way round.

:class:`Turns` says who is next; :class:`Threads` compute short pieces in that order.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

__all__ = ["Compute", "Threads", "Turns"]

T = TypeVar("T")

THREADS = 4
"""Short pieces that are computed at once."""


class Turns:
    """A number of places, given to waiting pages one after the other.

    A page that waits with several things gets one place per round, so nobody waits for more than one thing of every
    other page.

    Parameters
    ----------
    places
        How many things may be under way at once.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    @contextlib.asynccontextmanager
    async def turn(self, page: Hashable) -> AsyncIterator[None]:
        """Wait for a place and hold it."""
        await self.take(page)
        try:
            yield
        finally:
            self.give_back()

    async def take(self, page: Hashable) -> None:
        """Wait for a place; whoever takes one gives it back."""
        if self._free > 0:
            self._free -= 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(page, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give_back()  # it was given and cancelled in the same moment
            raise

    def give_back(self) -> None:
        """To the first page in the round that still waits; it goes to the end of the round."""
        while self._waiting:
            page = next(iter(self._waiting))
            places = self._waiting.pop(page)
            place = places.popleft()
            if places:
                self._waiting[page] = places
            if not place.done():
                place.set_result(None)
                return
        self._free += 1


class Compute(Protocol):
    """Does a short piece of work in a thread, when its turn comes."""

    async def __call__(self, work: Callable[[], T]) -> T: ...


class Threads:
    """Where short pieces are computed, page by page in turn."""

    def __init__(self) -> None:
        self._turns = Turns(THREADS)
        self._executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="studio-run")

    async def compute(self, work: Callable[[], T], *, page: Hashable) -> T:
        """A piece for a page, when its turn comes.

        If the caller is cancelled, a piece that has begun is finished first, so that no two of a run go on at once.
        """
        async with self._turns.turn(page):
            future = asyncio.get_running_loop().run_in_executor(self._executor, work)
            try:
                return await asyncio.shield(future)
            except asyncio.CancelledError:
                await asyncio.gather(future, return_exceptions=True)
                raise

    def prepare(self, work: Callable[[], object]) -> None:
        """Something nobody waits for yet."""
        self._executor.submit(work)

    def close(self) -> None:
        """What waits is dropped."""
        self._executor.shutdown(wait=False, cancel_futures=True)
