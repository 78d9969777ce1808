"""What a peer counts, for Prometheus, and a small HTTP page that serves it on a loopback address.

Metrics hold counts, durations and scales that follow from the configuration (how much noise amplitude is left, what
share of the budget is spent). They never hold a private value, a noise draw, a flow or the estimate.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import ConfigError
from ..membership.names import split_address

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

__all__ = ["MetricsServer", "PeerObserver"]

_REQUEST_SECONDS = 5.0
_REQUEST_BYTES = 8192


class PeerObserver:
    """Counts and logs what one peer's node and transport report; a registry of its own, so peers can share a process.

    Examples
    --------
    >>> observer = PeerObserver()
    >>> observer.count("refused-not-a-neighbour")
    >>> observer.counts("refused-")
    {'refused-not-a-neighbour': 1}
    """

    def __init__(self, logger: Any = None) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge

        self.registry: CollectorRegistry = CollectorRegistry()
        self._logger = logger
        self._actions: dict[str, Callable[[str], None]] = {}
        into: dict[str, Any] = {"registry": self.registry, "namespace": "sottovoce"}
        self._events = Counter("events", "What happened, by event and neighbour.", ["event", "neighbour"], **into)
        self._settled = Gauge("settled", "1 while the network has declared itself settled.", **into)
        self._draws = Gauge("noise_draws", "Noise draws since the value or the membership last changed.", **into)
        self._noise = Gauge("noise_left_ratio", "Noise amplitude left, as a share of the first draw's.", **into)
        self._budget = Gauge("budget_spent_ratio", "Share of the privacy budget spent; 0 without a budget.", **into)
        self._exchanges = Gauge("exchanges", "Exchanges this peer took part in since it started.", **into)
        self._neighbours = Gauge("neighbours", "Neighbours by state.", ["state"], **into)
        self._expiry = Gauge("certificate_expiry_timestamp_seconds", "When this peer's certificate ends.", **into)

    def count(self, event: str, neighbour: str = "") -> None:
        """Count one event, and do what was asked to be done when it comes."""
        self._events.labels(event, neighbour).inc()
        if event in self._actions:
            self._actions[event](neighbour)

    def when(self, event: str, act: Callable[[str], None]) -> None:
        """From now on call ``act`` with the neighbour's name whenever ``event`` is counted."""
        self._actions[event] = act

    def log(self, level: str, event: str, **fields: object) -> None:
        """Write one log line, if there is a logger."""
        if self._logger is not None:
            getattr(self._logger, level)(event, **fields)

    def counts(self, prefix: str = "") -> dict[str, int]:
        """Events so far whose name begins with `prefix`, summed over neighbours."""
        found: dict[str, int] = {}
        for metric in self._events.collect():
            for sample in metric.samples:
                event = sample.labels["event"]
                if sample.name.endswith("_total") and event.startswith(prefix):
                    found[event] = found.get(event, 0) + int(sample.value)
        return found

    def note_expiry(self, timestamp: float) -> None:
        """When the certificate ends, in seconds since 1970."""
        self._expiry.set(timestamp)

    def update(self, status: Mapping[str, Any]) -> None:
        """Take the gauges from a peer's status; keys that are missing are left alone."""
        self._settled.set(1 if status.get("settled") else 0)
        self._draws.set(status.get("draws") or 0)
        self._exchanges.set(status.get("exchanges") or 0)
        if status.get("noise_std"):
            self._noise.set((status.get("noise_left") or 0.0) / status["noise_std"])
        self._budget.set(status.get("budget_share") or 0.0)
        self._neighbours.clear()
        for neighbour in status.get("neighbours", {}).values():
            self._neighbours.labels(str(neighbour.get("state", "unknown"))).inc()

    def render(self) -> bytes:
        """The Prometheus text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)


class MetricsServer:
    """``/metrics`` and ``/health`` over plain HTTP on a loopback address.

    Parameters
    ----------
    address
        ``host:port``; port 0 lets the system choose, see :attr:`port`.
    observer, status
        What to serve; `status` is called at each request, so gauges are current.
    """

    def __init__(self, address: str, observer: PeerObserver, status: Callable[[], Mapping[str, Any]]) -> None:
        self._host, self._port = split_address(address, "metrics_listen")
        self._observer, self._status = observer, status
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The port in use."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        """Listen; a port in use is a configuration error."""
        try:
            self._server = await asyncio.start_server(self._serve, self._host, self._port, limit=_REQUEST_BYTES)
        except OSError as error:
            raise ConfigError(f"metrics_listen: cannot listen on {self._host}:{self._port}: {error.strerror}") from None

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
            status = self._status()
            body = {"name": status.get("name"), "settled": status.get("settled"), "healthy": True}
            return _response("200 OK", "application/json", json.dumps(body).encode())
        return _response("404 Not Found", "text/plain", b"only /metrics and /health are here\n")


def _response(status: str, kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
