"""Small networks for the tests of the peer's outer parts."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
from pathlib import Path
from typing import Any, NamedTuple

from sottovoce.cli.main import main
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.credentials import Credentials
from sottovoce.peer.membership.keys import key_pem, new_key, self_signed
from sottovoce.peer.transport.grpc import GrpcTransport


def make_config(name: str = "a", folder: Path | str = "data", **fields: Any) -> PeerConfig:
    given: dict[str, Any] = {
        "name": name,
        "network": "net",
        "listen": "127.0.0.1:0",
        "data_dir": folder,
        "noise_std": 1.0,
        "noise_decay": 0.9,
        "smallest_std": None,
        "seal_std": 1.0,
        "unit": "0.000001",
        "low": -1e6,
        "high": 1e6,
        "members": 8,
        "max_degree": 4,
        "min_open_edges": 1,
        "diameter": 2,
        "backoff_max": 0.2,
    }
    return PeerConfig(**(given | fields))


class Society:
    """Parties with keys of their own; each has everybody's certificate, as if from a roster."""

    def __init__(self, *names: str, network: str = "net", days: float = 30) -> None:
        self.network = network
        self.keys = {name: new_key() for name in names}
        self.certificates = {n: self_signed(key, f"{n}.{network}", days=days) for n, key in self.keys.items()}

    def credentials(self, name: str, **instead: str) -> Credentials:
        """What `name` shows and believes; `instead`: certificates that it believes instead of the real ones."""
        others = {n: c.encode() for n, c in (self.certificates | instead).items() if n != name}
        end = dt.datetime.now(dt.UTC) + dt.timedelta(days=30)
        return Credentials(self.certificates[name].encode(), key_pem(self.keys[name]), others, end)

    def transport(self, name: str, observer: Any = None, **fields: Any) -> GrpcTransport:
        """A transport for `name`; `fields` of its configuration."""
        return GrpcTransport(make_config(name, network=self.network, **fields), self.credentials(name), observer)


class Recorder:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.lines: list[tuple[str, str, dict[str, object]]] = []

    def counted(self, event: str) -> int:
        return sum(name == event for name, _ in self.events)

    def count(self, event: str, neighbour: str = "") -> None:
        self.events.append((event, neighbour))

    def log(self, level: str, event: str, **fields: object) -> None:
        self.lines.append((level, event, fields))

    @property
    def names(self) -> set[str]:
        return {event for event, _ in self.events}


class Result(NamedTuple):
    """How a command ended, and what it said on both streams."""

    exit_code: int
    output: str


def run(*arguments: str | Path) -> Result:
    """The command line, in this process, with errors turned into exit codes as in real life."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            return Result(int(end.code or 0), output.getvalue())
    raise AssertionError("main always exits")
