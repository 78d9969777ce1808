"""A peer for programs without asyncio: the event loop runs in a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from ...errors import PeerError, TemporaryFailure
from ...privacy.gaussian.account import Account
from ...privacy.releases import ReleaseCost
from ..membership.config import PeerConfig
from ..protocol.status import PeerStatus
from .averaging import Average
from .node import Peer

__all__ = ["BlockingPeer"]

Result = TypeVar("Result")

_PATIENCE = 5.0
"""Seconds in which calls that are told to end do so, whatever else the machine does; usually it is a moment."""


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
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._calls: set[concurrent.futures.Future[Any]] = set()
        """Those under way, in any thread; the lock is held while one is added, and from the end on there is no more."""

    def __enter__(self) -> Self:
        self._check_process()
        if self._thread.ident is not None:
            raise PeerError("a BlockingPeer is used in one `with` only, once: make another one")
        self._thread.start()
        try:
            self._peer = self._result(self._begun(self._started()))
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if os.getpid() != self._process:  # a fork: the loop and its thread are the other process's
            return
        with self._lock:
            peer, self._peer = self._peer, None
        try:
            if peer is not None:
                self._result(self._begun(peer.close()))
                concurrent.futures.wait(set(self._calls), timeout=_PATIENCE)
        finally:
            self._stop()

    def average(self, value: Any, **how: Any) -> Average:
        """As :meth:`Peer.average`. Interrupted, the call ends at once and the contribution stays."""
        return self._run(self._running.average(value, **how))

    def quiet(self, timeout: float | None = None) -> None:
        """As :meth:`Peer.quiet`."""
        self._run(self._running.quiet(timeout))

    def follow_roster(self) -> str:
        """As :meth:`Peer.follow_roster`."""
        return self._run(self._running.follow_roster())

    def status(self) -> PeerStatus:
        """As :meth:`Peer.status`."""
        return self._run(_asked(self._running.status))

    def topics(self) -> dict[str, str]:
        """As :meth:`Peer.topics`."""
        return self._run(_asked(self._running.topics))

    def accounts(self) -> Mapping[str, Account]:
        """As :meth:`Peer.accounts`."""
        return self._run(_asked(self._running.accounts))

    def released(self) -> Mapping[str, ReleaseCost]:
        """As :meth:`Peer.released`."""
        return self._run(_asked(self._running.released))

    def _check_process(self) -> None:
        if os.getpid() != self._process:  # the loop is the other one's, and its thread is not here to answer
            raise PeerError("a BlockingPeer is used in the process that made it: after a fork make another one")

    @property
    def _running(self) -> Peer:
        self._check_process()
        if self._peer is None:
            raise PeerError("the peer does not run: use `with`")
        return self._peer

    async def _started(self) -> Peer:
        return await self._make().__aenter__()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        with self._lock:
            if self._peer is None:  # closed a moment ago
                work.close()
                raise TemporaryFailure("the peer has been stopped")
            future = self._begun(work)
            self._calls.add(future)
        future.add_done_callback(self._calls.discard)
        return self._result(future)

    def _begun(self, work: Coroutine[Any, Any, Result]) -> concurrent.futures.Future[Result]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _result(self, future: concurrent.futures.Future[Result]) -> Result:
        try:
            return future.result()
        except concurrent.futures.CancelledError:  # by :meth:`_stop`
            raise TemporaryFailure("the peer has been stopped; what was contributed stays") from None
        except BaseException:
            future.cancel()
            concurrent.futures.wait([future], timeout=_PATIENCE)
            raise

    def _stop(self) -> None:
        left = set(self._calls)
        for call in left:
            call.cancel()
        concurrent.futures.wait(left, timeout=_PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _asked(question: Callable[[], Result]) -> Result:
    """Ask in the peer's own thread: what is looked at there does not change meanwhile."""
    return question()
