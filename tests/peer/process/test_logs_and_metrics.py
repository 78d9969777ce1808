from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import InvalidValues, TemporaryFailure
from sottovoce.peer.process.health import Health
from sottovoce.peer.process.logs import configure, everything_as_json, get_logger
from sottovoce.peer.process.metrics import NEIGHBOUR_STATES, PeerObserver
from sottovoce.peer.process.pages import Pages

SECRET = 31415.9265
GOOD = Health("", "")
STATUS = {
    "name": "a",
    "settled": True,
    "plus_minus": 0.125,
    "draws": 7,
    "exchanges": 9,
    "noise_std": 2.0,
    "noise_left": 0.5,
    "account": 3.0,
    "budget_share": 0.75,
    "estimate": [SECRET],
    "notices": ["roster 2 waits for your yes"],
    "neighbours": {"b": {"state": "open", "unanswered": 70.0}, "c": {"state": "open"}, "d": {"state": "blank"}},
}


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    configure(stream, peer="a")
    yield stream
    configure()


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


def test_what_libraries_and_python_say_becomes_json(stream: io.StringIO) -> None:
    """Warnings of the standard library, errors nobody caught in a thread or a finaliser: type and place, no content."""

    def careless() -> None:
        raise ValueError(f"{SECRET} is bad")

    with everything_as_json():
        logging.getLogger("asyncio").error("Task failed\nfuture: <%s>", SECRET, exc_info=ValueError(str(SECRET)))
        logging.getLogger("asyncio").warning("\n".join(["Task failed", str(SECRET)]))
        thread = threading.Thread(target=careless)
        thread.start()
        thread.join()
        logging.getLogger("asyncio").info("of no interest")
    logged = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in logged] == ["Task failed", "Task failed", "an error that nobody caught"]
    assert [line["component"] for line in logged] == ["asyncio", "asyncio", "python"]
    assert logged[0]["error"] == logged[2]["error"] == "ValueError"
    assert str(SECRET) not in stream.getvalue()
    logging.getLogger("asyncio").error("after the end")
    assert "after the end" not in stream.getvalue()


def test_the_gauges_follow_the_status() -> None:
    """Scales and counts are exported; the estimate is not."""
    observer = PeerObserver()
    observer.count("refused-invalid-message", "b")
    observer.note_call("b", 0.005)
    observer.note_identity(3, 1e9)
    observer.update(STATUS)
    text = observer.render().decode()
    for line in (
        "sottovoce_settled 1.0",
        "sottovoce_noise_left_ratio 0.25",
        "sottovoce_budget_spent_ratio 0.75",
        'sottovoce_neighbours{state="open"} 2.0',
        'sottovoce_neighbours{state="unreachable"} 0.0',
        "sottovoce_error_bound 0.125",
        "sottovoce_neighbours_not_answering 1.0",
        "sottovoce_notices 1.0",
        'sottovoce_call_seconds_bucket{le="0.01",neighbour="b"} 1.0',
        "sottovoce_roster_number 3.0",
        'sottovoce_events_total{event="refused-invalid-message",neighbour="b"} 1.0',
    ):
        assert line in text
    assert str(SECRET) not in text
    assert "sottovoce_build_info{" in text
    assert "process_resident_memory_bytes" in text


def test_what_is_not_there_is_counted_too() -> None:
    """Every state of a neighbour has a count from the start, back to zero when nobody is in it; no bound is +Inf."""
    observer = PeerObserver()
    for state in NEIGHBOUR_STATES:
        assert f'sottovoce_neighbours{{state="{state}"}} 0.0' in observer.render().decode()
    assert "sottovoce_error_bound +Inf" in observer.render().decode()
    observer.update(STATUS)
    observer.update({"neighbours": {"b": {"state": "unreachable"}}})
    text = observer.render().decode()
    assert 'sottovoce_neighbours{state="open"} 0.0' in text
    assert 'sottovoce_neighbours{state="unreachable"} 1.0' in text
    assert "sottovoce_error_bound +Inf" in text


async def ask(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = b""
    with contextlib.closing(writer), contextlib.suppress(ConnectionResetError):  # what is not read to the end is reset
        writer.write(request)
        writer.write_eof()
        answer = await reader.read()
    return answer


async def served(*requests: bytes, health: Health = GOOD) -> list[bytes]:
    server = Pages("127.0.0.1:0", PeerObserver(), lambda: STATUS, lambda: health)
    await server.start()
    try:
        return [await ask(server.port, request) for request in requests]
    finally:
        await server.close()


def test_the_page() -> None:
    """GET /metrics, /health and /ready answer; anything else, including noise, gets a 404 or a closed connection."""
    metrics, health, ready, other, post, noise, flood = asyncio.run(
        served(
            b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /health HTTP/1.1\r\n\r\n",
            b"GET /ready HTTP/1.1\r\n\r\n",
            b"GET /../etc HTTP/1.1\r\n\r\n",
            b"POST /metrics HTTP/1.1\r\n\r\n",
            b"\x00\xff\r\n",
            b"A" * 20_000,
        )
    )
    assert b"200 OK" in metrics
    assert b"sottovoce_settled 1.0" in metrics
    for answer in (health, ready):
        assert b"200 OK" in answer
        assert json.loads(answer.split(b"\r\n\r\n")[1]) == {"ok": True, "why": ""}
    assert b"404" in other
    assert b"404" in post
    assert noise == b""
    assert flood == b""
    assert not any(str(SECRET).encode() in answer for answer in (metrics, health, other))


def test_a_peer_that_stops_hangs_up_on_whoever_asks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A line to the pages that is open at the end is closed then, and nothing is logged about it."""

    async def scenario() -> bytes:
        pages = Pages("127.0.0.1:0", PeerObserver(), lambda: STATUS, lambda: GOOD)
        await pages.start()
        reader, writer = await asyncio.open_connection("127.0.0.1", pages.port)
        with contextlib.closing(writer):
            assert await ask(pages.port, b"GET /health HTTP/1.1\r\n\r\n")  # so the line before it has been taken, too
            for serving in asyncio.all_tasks() - {asyncio.current_task()}:
                serving.cancel()  # as at the end of a process
            answer = await reader.read()
        await pages.close()
        return answer

    assert asyncio.run(scenario()) == b""
    assert [said for said in caplog.messages if "StreamReaderProtocol" in said] == []


@pytest.mark.parametrize(
    ("health", "alive", "ready"),
    [(Health("", "bob is away"), b"200", b"503"), (Health("the disk is full", ""), b"503", b"503")],
)
def test_health_and_readiness_can_fail(health: Health, alive: bytes, ready: bytes) -> None:
    """A missing neighbour makes a peer not ready; a failed store makes it dead. Both say why."""
    requests = (b"GET /health HTTP/1.1\r\n\r\n", b"GET /ready HTTP/1.1\r\n\r\n")
    first, second = asyncio.run(served(*requests, health=health))
    assert first.split()[1] == alive
    assert second.split()[1] == ready
    assert json.loads(second.split(b"\r\n\r\n")[1]) == {"ok": False, "why": health.broken or health.waiting}


def test_a_port_in_use_passes() -> None:
    """Two peers with the same metrics port: the second is told to try again later."""

    async def scenario() -> None:
        pages = (PeerObserver(), dict[str, Any], lambda: GOOD)
        first = Pages("127.0.0.1:0", *pages)
        await first.start()
        try:
            with pytest.raises(TemporaryFailure, match="metrics_listen"):
                await Pages(f"127.0.0.1:{first.port}", *pages).start()
        finally:
            await first.close()

    asyncio.run(scenario())
