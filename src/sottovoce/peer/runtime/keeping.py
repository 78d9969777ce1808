"""R1: what is about to be said is on disk. And telling whoever waits that something has changed, or failed.

An input that has nothing to say is stored with the next one that has, or a moment later: a crash in between is the
loss of a message, which the protocol survives anyway, and an exchange costs one transaction on each side.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from ...errors import PeerError, StoreError
from ..protocol import PeerState, Protocol
from ..store.base import StateStore
from ..transport.base import Observer

__all__ = ["Keeper"]

_FLUSH_DELAY = 0.2
"""Seconds after which an input that nothing was sent for is stored on its own; mostly something is sent before."""


class Keeper:
    """A protocol and the store of its state. A store that fails ends the peer.

    Parameters
    ----------
    protocol, store
        What to keep, and where.
    observer
        Where a failure is logged.
    also
        Told of a failure, too.
    """

    def __init__(
        self,
        protocol: Protocol,
        store: StateStore,
        observer: Observer,
        also: Callable[[PeerError], None] = lambda _failure: None,
    ) -> None:
        self.protocol = protocol
        self._also = also
        self.failure: PeerError | None = None
        """Why the peer had to stop, if it had to."""
        self._store, self._observer = store, observer
        self._saved: PeerState | None = None
        self._flush: asyncio.TimerHandle | None = None
        self._waiting: dict[asyncio.Future[None], Callable[[], bool]] = {}

    # -- the store ------------------------------------------------------------------------------

    def commit(self) -> None:
        """Store the present state. Returns when it is on disk; raises if it is not, now and ever after."""
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        if self.protocol.state is self._saved:
            return
        self.check()
        try:
            self._store.save(self.protocol.state)
        except StoreError as failure:
            self._observer.log("error", "store failed", why=str(failure))
            self.fail(failure)
            raise
        self._saved = self.protocol.state

    def commit_soon(self) -> None:
        """Store the present state within a moment, unless :meth:`commit` comes first."""
        if self._flush is None and self.protocol.state is not self._saved:
            self._flush = asyncio.get_running_loop().call_later(_FLUSH_DELAY, self._commit_quietly)

    def _commit_quietly(self) -> None:
        with contextlib.suppress(PeerError):  # remembered, and told to whoever waits
            self.commit()

    def end(self, reason: PeerError) -> None:
        """Store nothing any more; whoever waits is told why, and nobody else."""
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        self.failure = self.failure or reason
        self.tell()

    # -- news -----------------------------------------------------------------------------------

    def fail(self, failure: PeerError) -> None:
        """From now on nothing can be stored, so nothing may be said. The first reason is kept."""
        if self.failure is None:
            self.failure = failure
            self._also(failure)
        self.tell()

    def check(self) -> None:
        """Raise the reason, if the peer had to stop."""
        if self.failure is not None:
            raise self.failure

    def tell(self) -> None:
        """Wake whoever waits for something that is so now; the others sleep on."""
        for waiting, holds in list(self._waiting.items()):
            if not waiting.done() and (self.failure is not None or holds()):
                waiting.set_result(None)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something is so, or raise the reason why it will not be."""
        while True:
            self.check()
            if holds():
                return
            waiting = asyncio.get_running_loop().create_future()
            self._waiting[waiting] = holds
            try:
                await waiting
            finally:
                del self._waiting[waiting]
