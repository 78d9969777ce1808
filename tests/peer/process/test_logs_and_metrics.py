from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import structlog

from sottovoce.errors import ConfigError, InvalidValues
from sottovoce.peer.process.logs import configure, get_logger
from sottovoce.peer.process.metrics import MetricsServer, PeerObserver

SECRET = 31415.9265
STATUS = {
    "name": "a",
    "settled": True,
    "draws": 7,
    "exchanges": 9,
    "noise_std": 2.0,
    "noise_left": 0.5,
    "account": 3.0,
    "budget_share": 0.75,
    "estimate": [SECRET],
    "neighbours": {"b": {"state": "open"}, "c": {"state": "open"}, "d": {"state": "blank"}},
}


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    configure(stream, peer="a")
    yield stream
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def test_lines_are_json(stream: io.StringIO) -> None:
    """Each line is one JSON object with time, level, component and the process's context."""
    get_logger("node").info("started", port=7001, seconds=0.25)
    line = json.loads(stream.getvalue())
    assert line | {"timestamp": ""} == {
        "event": "started", "level": "info", "component": "node", "peer": "a", "port": 7001, "seconds": 0.25,
        "timestamp": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    "carrier", [SECRET, [SECRET], np.array([SECRET]), np.float64(SECRET), {"x": SECRET}, (SECRET,), complex(SECRET)]
)
def test_values_are_withheld_in_whatever_they_come(stream: io.StringIO, carrier: object) -> None:
    """A careless call cannot log a value: only allow-listed names may hold a fraction."""
    get_logger("node").warning("careless", value=carrier)
    assert str(SECRET) not in stream.getvalue()
    assert "[withheld]" in stream.getvalue()


def test_foreign_exceptions_lose_their_message(stream: io.StringIO) -> None:
    """Of an unexpected error the type and the place are logged; of our own also the message."""
    logger = get_logger("node")
    for error in (ValueError(f"{SECRET} is bad"), InvalidValues("the private value must have 2 coordinates")):
        try:
            raise error
        except ValueError:
            logger.exception("failed")
    foreign, own = (json.loads(line) for line in stream.getvalue().splitlines())
    assert str(SECRET) not in stream.getvalue()
    assert foreign["error"] == "ValueError"
    assert __name__ in foreign["place"]
    assert "coordinates" in own["reason"]


def test_the_gauges_follow_the_status() -> None:
    """Scales and counts are exported; the estimate is not."""
    observer = PeerObserver()
    observer.count("refused-invalid-message", "b")
    observer.update(STATUS)
    text = observer.render().decode()
    for line in (
        "sottovoce_settled 1.0",
        "sottovoce_noise_left_ratio 0.25",
        "sottovoce_budget_spent_ratio 0.75",
        'sottovoce_neighbours{state="open"} 2.0',
        'sottovoce_events_total{event="refused-invalid-message",neighbour="b"} 1.0',
    ):
        assert line in text
    assert str(SECRET) not in text


async def ask(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def served(*requests: bytes) -> list[bytes]:
    server = MetricsServer("127.0.0.1:0", PeerObserver(), lambda: STATUS)
    await server.start()
    try:
        return [await ask(server.port, request) for request in requests]
    finally:
        await server.close()


def test_the_page() -> None:
    """GET /metrics and /health answer; anything else, including noise, gets a 404 or a closed connection."""
    metrics, health, other, post, noise, flood = asyncio.run(
        served(
            b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /health HTTP/1.1\r\n\r\n",
            b"GET /../etc HTTP/1.1\r\n\r\n",
            b"POST /metrics HTTP/1.1\r\n\r\n",
            b"\x00\xff\r\n",
            b"A" * 20_000,
        )
    )
    assert b"200 OK" in metrics
    assert b"sottovoce_settled 1.0" in metrics
    assert json.loads(health.split(b"\r\n\r\n")[1]) == {"name": "a", "settled": True, "healthy": True}
    assert b"404" in other
    assert b"404" in post
    assert noise == b""
    assert flood == b""
    assert not any(str(SECRET).encode() in answer for answer in (metrics, health, other))


def test_a_port_in_use_is_bad_input() -> None:
    """Two peers with the same metrics port: the second is refused."""

    async def scenario() -> None:
        first = MetricsServer("127.0.0.1:0", PeerObserver(), dict[str, Any])
        await first.start()
        try:
            with pytest.raises(ConfigError, match="metrics_listen"):
                await MetricsServer(f"127.0.0.1:{first.port}", PeerObserver(), dict[str, Any]).start()
        finally:
            await first.close()

    asyncio.run(scenario())
