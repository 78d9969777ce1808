"""The transport of a peer's process: gRPC, how long answers take, and which roster and certificate are in use."""

from __future__ import annotations

import time

from ..membership.config import PeerConfig
from ..membership.credentials import Credentials
from ..protocol.messages import Message
from ..transport.grpc import GrpcTransport
from .metrics import PeerObserver

__all__ = ["TimedTransport"]


class TimedTransport(GrpcTransport):
    """Tells the observer how long each answered call took, and which certificate it shows."""

    def __init__(self, config: PeerConfig, credentials: Credentials, observer: PeerObserver) -> None:
        super().__init__(config, credentials, observer)
        self._gauges = observer
        self._note_identity()

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        """As the other; see :class:`~sottovoce.peer.transport.base.Transport`."""
        began = time.perf_counter()
        reply = await super().call(dst, message, timeout)
        self._gauges.note_call(dst, time.perf_counter() - began)
        return reply

    async def renew(self, config: PeerConfig) -> None:
        """As the other."""
        await super().renew(config)
        self._note_identity()

    def _note_identity(self) -> None:
        self._gauges.note_identity(self._credentials.roster, self._credentials.expires.timestamp())
