"""A peer's pages for supervisors, over plain HTTP on a loopback address: ``/metrics``, ``/health`` and ``/ready``.

``/health`` and ``/ready`` answer 200 or 503, with a JSON object that says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import TemporaryFailure
from ..membership.names import split_address
from .health import Health
from .metrics import PeerObserver

__all__ = ["Pages"]

_REQUEST_SECONDS = 5.0
_REQUEST_BYTES = 8192


class Pages:
    """Serves the pages of one peer.

    Parameters
    ----------
    address
        ``host:port``; port 0 lets the system choose, see :attr:`port`.
    observer
        Whose metrics to serve.
    status, health
        Called at each request, so that the answer is current.
    """

    def __init__(
        self,
        address: str,
        observer: PeerObserver,
        status: Callable[[], Mapping[str, Any]],
        health: Callable[[], Health],
    ) -> None:
        self._host, self._port = split_address(address, "metrics_listen")
        self._observer, self._status, self._health = observer, status, health
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The port in use."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        """Listen; :class:`~sottovoce.errors.TemporaryFailure` if the port is in use."""
        try:
            self._server = await asyncio.start_server(self._serve, self._host, self._port, limit=_REQUEST_BYTES)
        except OSError as error:
            raise TemporaryFailure(
                f"metrics_listen: cannot listen on {self._host}:{self._port}: {error.strerror}"
            ) from None

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Cancelled when the peer stops meanwhile: then the line is closed, and asyncio has nothing to complain about.
        with contextlib.suppress(asyncio.CancelledError), contextlib.closing(writer):
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                async with asyncio.timeout(_REQUEST_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._answer(head))
                    await writer.drain()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _answer(self, head: bytes) -> bytes:
        words = head.split(b"\r\n", 1)[0].split()
        target = words[1].split(b"?")[0] if len(words) == 3 and words[0] == b"GET" else b""
        if target == b"/metrics":
            self._observer.update(self._status())
            return _response("200 OK", "text/plain; version=0.0.4; charset=utf-8", self._observer.render())
        if target == b"/health":
            health = self._health()
            return _verdict(good=health.alive, why=health.broken)
        if target == b"/ready":
            health = self._health()
            return _verdict(good=health.ready, why=health.broken or health.waiting)
        return _response("404 Not Found", "text/plain", b"only /metrics, /health and /ready are here\n")


def _verdict(*, good: bool, why: str) -> bytes:
    body = json.dumps({"ok": good, "why": why}).encode() + b"\n"
    return _response("200 OK" if good else "503 Service Unavailable", "application/json", body)


def _response(status: str, kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
