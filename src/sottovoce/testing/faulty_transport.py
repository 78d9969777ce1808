"""A transport that loses some of its calls on purpose, around a real one; for the chaos demonstration and tests."""

from __future__ import annotations

import asyncio
import random

from ..errors import InvalidParameter
from ..peer.membership.config import PeerConfig
from ..peer.protocol.messages import Message
from ..peer.transport.base import CallFailed, Handler, RosterHandler, Transport

__all__ = ["FaultyTransport"]


class FaultyTransport:
    """Loses requests before they leave and replies after they arrived, each with probability `loss`.

    Parameters
    ----------
    inner
        The transport that really carries the rest.
    loss
        Share of messages lost, in each direction.
    seed
        For repeatable tests; by default different each time.
    """

    def __init__(self, inner: Transport, loss: float, *, seed: int | None = None) -> None:
        if not 0 <= loss <= 1:
            raise InvalidParameter(f"loss must lie in [0, 1], got {loss}")
        self._inner, self._loss, self._random = inner, loss, random.Random(seed)

    async def serve(self, handler: Handler, rosters: RosterHandler | None = None) -> None:
        await self._inner.serve(handler, rosters)

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        """As the inner one, except for the losses; a loss looks like a neighbour that does not answer in time."""
        if self._random.random() < self._loss:
            await asyncio.sleep(timeout)
            raise CallFailed(dst, "timeout")
        reply = await self._inner.call(dst, message, timeout)
        if self._random.random() < self._loss:
            await asyncio.sleep(timeout)
            raise CallFailed(dst, "timeout")
        return reply

    async def ask_roster(self, dst: str, number: int, document: bytes | None, timeout: float) -> bytes | None:  # noqa: ASYNC109 - handed on
        return await self._inner.ask_roster(dst, number, document, timeout)

    async def renew(self, config: PeerConfig) -> None:
        await self._inner.renew(config)

    def add_neighbour(self, name: str, address: str | None) -> None:
        self._inner.add_neighbour(name, address)

    async def drop_neighbour(self, name: str) -> None:
        await self._inner.drop_neighbour(name)

    async def close(self) -> None:
        await self._inner.close()
