"""A peer for programs without asyncio: the event loop runs in a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from ...errors import PeerError
from ...privacy.releases import ReleaseCost
from ..membership.config import PeerConfig
from .averaging import Average
from .node import Peer

__all__ = ["BlockingPeer"]

Result = TypeVar("Result")


class BlockingPeer:
    """:class:`Peer`, whose calls block. It may be used from several threads at once.

    Parameters
    ----------
    config, value, **keywords
        As for :class:`Peer`.
    make
        Makes the peer; for tests.

    Examples
    --------
    ::

        with BlockingPeer(PeerConfig.load("ada.toml"), standing=False) as peer:
            print(peer.average(12.5, topic="2026-11").mean)
    """

    def __init__(
        self, config: PeerConfig, value: Any = None, *, make: Callable[..., Peer] = Peer, **keywords: Any
    ) -> None:
        self._make: Callable[[], Peer] = lambda: make(config, value, **keywords)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"peer {config.name}", daemon=True)
        self._peer: Peer | None = None

    def __enter__(self) -> Self:
        if self._thread.ident is not None:
            raise PeerError("a BlockingPeer is used in one `with` only, once: make another one")
        self._thread.start()
        try:
            self._peer = self._run(self._started())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._peer is not None:
                self._run(self._peer.close())
        finally:
            self._peer = None
            self._stop()

    def average(self, value: Any, **how: Any) -> Average:
        """As :meth:`Peer.average`. Interrupted, the call ends at once and the contribution stays."""
        return self._run(self._running.average(value, **how))

    def quiet(self, timeout: float | None = None) -> None:
        """As :meth:`Peer.quiet`."""
        self._run(self._running.quiet(timeout))

    def topics(self) -> dict[str, str]:
        """As :meth:`Peer.topics`."""
        return self._running.topics()

    def released(self) -> Mapping[str, ReleaseCost]:
        """As :meth:`Peer.released`."""
        return self._running.released()

    @property
    def _running(self) -> Peer:
        if self._peer is None:
            raise PeerError("the peer does not run: use `with`")
        return self._peer

    async def _started(self) -> Peer:
        return await self._make().__aenter__()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            concurrent.futures.wait([future], timeout=5.0)
            raise

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
