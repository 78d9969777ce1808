"""Talking to a studio in tests: one page's side of the websocket."""

from __future__ import annotations

import json
import socket
import threading
import time
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPConnection
from typing import Any

import numpy as np
import uvicorn
from websockets.sync.client import ClientConnection, connect

NOISY = "noise-insertion:noise_std=1,noise_decay=0.9"
SMALL: dict[str, Any] = {"graph": "cycle:10", "values": "uniform", "methods": [NOISY], "seed": 3, "num_steps": 200}


@dataclass
class Answer:
    """What came back for a request."""

    status_code: int
    headers: Message
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json.loads(self.content)


class Studio:
    """A real server on a port of this machine, and requests to it."""

    def __init__(self, app: Any) -> None:
        config = uvicorn.Config(app, log_level="error", ws="websockets-sansio", timeout_graceful_shutdown=2)
        self._server = uvicorn.Server(config)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]})

    def __enter__(self) -> Studio:
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(120)
        self._listener.close()

    def request(
        self, kind: str, path: str, *, content: bytes | str = b"", headers: dict[str, str] | None = None
    ) -> Answer:
        connection = HTTPConnection(self.address, timeout=240)
        body = content.encode() if isinstance(content, str) else content
        connection.request(kind, path, body=body if kind == "POST" else None, headers=headers or {})
        response = connection.getresponse()
        answer = Answer(response.status, response.headers, response.read())
        connection.close()
        return answer

    def get(self, path: str, **keywords: Any) -> Answer:
        return self.request("GET", path, **keywords)

    def post(self, path: str, *, data: Any = None, **keywords: Any) -> Answer:
        if data is not None:
            keywords["content"] = json.dumps(data)
        return self.request("POST", path, **keywords)

    def open(self, origin: str | None = "own") -> ClientConnection:
        """Open the websocket as a page of this server does, or of another."""
        own = f"http://{self.address}" if origin == "own" else origin
        return connect(
            f"ws://{self.address}/stream",
            origin=own,  # type: ignore[arg-type]
            max_size=None,
            ping_interval=None,  # a test that does not read for a while is still there
            open_timeout=240,
            close_timeout=1,
        )


def unpack(data: bytes) -> dict[str, Any]:
    """A binary frame, with (index, length) pairs replaced by arrays."""
    length = int.from_bytes(data[:4], "little")
    header: dict[str, Any] = json.loads(data[4 : 4 + length])
    numbers = np.frombuffer(data[4 + length :], dtype="<f8")
    lengths: dict[int, int] = {}
    for lane in header["lanes"]:
        for value in [*lane.values(), *(v["counts"] for v in lane.values() if isinstance(v, dict))]:
            if isinstance(value, list):
                lengths[value[0]] = value[1]
    starts = np.concatenate([[0], np.cumsum([lengths[k] for k in range(len(lengths))])])
    assert starts[-1] == len(numbers)
    for lane in header["lanes"]:
        for part in [lane, *(v for v in lane.values() if isinstance(v, dict))]:
            for key, value in part.items():
                if isinstance(value, list):
                    part[key] = numbers[starts[value[0]] : starts[value[0] + 1]]
    return header


class Visitor:
    """What a page does: send commands, wait for answers of a kind, and keep the curve as it grows."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.curves: list[list[tuple[float, float]]] = []

    def say(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def hear(self) -> dict[str, Any]:
        raw = self.socket.recv(timeout=240)
        message = unpack(raw) if isinstance(raw, bytes) else json.loads(raw)
        if message["type"] == "ready":
            self.curves = []
        if message["type"] == "frame":
            if message["rewound"] or not self.curves:
                self.curves = [[] for _ in message["lanes"]]
            for curve, lane in zip(self.curves, message["lanes"], strict=True):
                curve.extend(zip(lane["steps"].tolist(), lane["errors"].tolist(), strict=True))
        return message

    def until(self, kind: str, **wanted: Any) -> dict[str, Any]:
        """The next message of this kind with these entries; an unexpected error fails the test."""
        while True:
            message = self.hear()
            if message["type"] == kind and all(message.get(k) == v for k, v in wanted.items()):
                return message
            assert message["type"] != "error", message

    def until_ready(self, run: int) -> dict[str, Any]:
        """The answer to this set-up; complaints about other things do not matter."""
        while (message := self.hear())["type"] != "ready" or message["run"] != run:
            pass
        return message

    def set_up(self, **changes: Any) -> dict[str, Any]:
        self.say(type="setup", run=1, problem=SMALL | changes)
        return self.until("ready")
