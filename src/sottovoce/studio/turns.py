"""Pages take turns: whoever asks for much waits behind whoever asks for little, not the other way round."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Hashable

__all__ = ["Turns"]


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
