"""The transport of a peer's process: gRPC, and how long answers take."""

from __future__ import annotations

import time

from ..membership.config import PeerConfig
from ..membership.credentials import Credentials
from ..protocol.messages import Message
from ..transport.grpc import GrpcTransport
from .metrics import PeerObserver

__all__ = ["TimedTransport"]


class TimedTransport(GrpcTransport):
    """Tells the observer how long each answered call took. Calls that failed are counted elsewhere."""

    def __init__(self, config: PeerConfig, credentials: Credentials, observer: PeerObserver) -> None:
        super().__init__(config, credentials, observer)
        self._note_call = observer.note_call

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        """As the other; see :class:`~sottovoce.peer.transport.base.Transport`."""
        began = time.perf_counter()
        reply = await super().call(dst, message, timeout)
        self._note_call(dst, time.perf_counter() - began)
        return reply
