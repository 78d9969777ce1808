"""A whole network on this machine: real processes, real TLS, real disks, and kills on request.

:class:`Stage` founds a network in a folder, starts one process per peer, watches them through their control sockets,
kills, wipes and restarts them on request, and reads their stores afterwards. What their stores prove is in
:mod:`.proof`.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import PeerError
from ..graphs import Graph
from ..peer.membership.changes import current, install, publish, with_member, without_member
from ..peer.membership.config import PeerConfig
from ..peer.membership.founding import found_network, join
from ..peer.membership.keys import make_identity, write_private
from ..peer.membership.roster import SignedRoster
from ..peer.process.control import ask, peek
from .worker import LIE

__all__ = ["Stage", "free_addresses"]

_STOP_SECONDS = 60.0
"""What a peer needs to end in good order on a machine that is busy with much else; usually it is a second."""


_RESERVED: list[socket.socket] = []
_MOST = 200
"""Ports that are kept at a time, unless more are asked for at once: a process may have a thousand files open."""


def free_addresses(count: int) -> list[str]:
    """Loopback addresses with ports that nobody uses, nor will be given, while this process runs.

    Each port stays bound by a socket that does not listen, so that the system gives it to nobody who asks for any port
    and two networks that are founded at the same time never meet. Whoever names the port can listen on it, because
    servers ask for ``SO_REUSEADDR``. A port is let go when two hundred others have been asked for since.
    """
    made = [socket.socket() for _ in range(count)]
    _RESERVED.extend(made)
    for one in made:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", 0))
    for old in _RESERVED[: -max(count, _MOST)]:  # only now: the system may give a port that was let go at once again
        old.close()
    del _RESERVED[: -max(count, _MOST)]
    return [f"127.0.0.1:{one.getsockname()[1]}" for one in made]


@atexit.register
def _give_back() -> None:
    for one in _RESERVED:
        one.close()


class Stage:
    """A network of processes; use as a context manager, so that none outlives it.

    Parameters
    ----------
    folder
        Where the network is founded; must not exist.
    graph
        Who is whose neighbour.
    private_values
        One row per peer: a number or a vector each.
    loss
        Share of messages that every peer loses on purpose.
    journal
        Let every peer write down when it applied an exchange and with whom, for :meth:`fired_edges`.
    outbound_only
        Names of peers that do not listen; peers are called p01, p02, …
    liars
        Names of peers that lie, and how (see :mod:`.liars`), from :meth:`let_lie` on.
    **settings
        Shared settings and fields of :class:`PeerConfig` for all peers, see :func:`found_network`.
    """

    def __init__(
        self,
        folder: Path,
        graph: Graph,
        private_values: NDArray[np.float64],
        *,
        loss: float = 0.0,
        journal: bool = False,
        outbound_only: Sequence[str] = (),
        liars: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        self.folder, self.graph = folder, graph
        self._loss, self._disturbed, self._liars = loss, journal or loss > 0, dict(liars or {})
        self.names = [f"p{number:02d}" for number in range(1, graph.num_nodes + 1)]
        values = np.asarray(private_values, dtype=np.float64).reshape(graph.num_nodes, -1)
        free = dict(zip(self.names, free_addresses(graph.num_nodes), strict=True))
        addresses = {name: None if name in outbound_only else address for name, address in free.items()}
        self.configs = found_network("stage", addresses, graph, folder, days=2, dimension=values.shape[1], **settings)
        for name, value in zip(self.names, values, strict=True):
            self.write_value(name, value)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
        for process in self.processes.values():
            process.wait()

    def write_value(self, name: str, value: NDArray[np.float64]) -> None:
        """Put a peer's private value into a file that only its owner can read."""
        write_private(self.folder / name / "value.txt", " ".join(map(repr, value.tolist())).encode())

    def data_dir(self, name: str) -> Path:
        """The folder of a peer's durable state."""
        return self.folder / name / "data"

    def log_file(self, name: str) -> Path:
        """Where a peer's log goes."""
        return self.folder / name / "log.jsonl"

    def journal_file(self, name: str) -> Path:
        """Where a peer writes down when it applied an exchange, and with whom."""
        return self.folder / name / "journal.txt"

    def fired_edges(self) -> NDArray[np.int64]:
        """The edges in the order in which exchanges were applied on them, from all peers' journals."""
        number = {frozenset(map(int, edge)): index for index, edge in enumerate(self.graph.edges)}
        entries = []
        for node, name in enumerate(self.names):
            path = self.journal_file(name)
            for line in path.read_text(encoding="ascii").splitlines() if path.exists() else ():
                moment, other = line.split()
                entries.append((int(moment), number[frozenset((node, self.names.index(other)))]))
        return np.array([edge for _, edge in sorted(entries)], dtype=np.int64)

    def start(self, *names: str) -> None:
        """Start these peers' processes (default: all)."""
        for name in names or self.names:
            with self.log_file(name).open("ab") as log:
                self.processes[name] = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                    [sys.executable, "-m", *self._command(name)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    env=_environment(),
                )

    def _command(self, name: str) -> list[str]:
        """The real command, or the worker that can also keep a journal and lose messages."""
        config, value = str(self.configs[name]), str(self.folder / name / "value.txt")
        if self._disturbed or name in self._liars:
            lie = self._liars.get(name, "")
            return ["sottovoce.testing.worker", config, value, str(self.journal_file(name)), str(self._loss), lie]
        return ["sottovoce", "peer", "start", config, "--value-from", value]

    def add(self, name: str, neighbours: Sequence[str], value: NDArray[np.float64]) -> None:
        """A new member, in a new roster that one running peer is given; the new peer itself is not started."""
        [address] = free_addresses(1)
        _, card = make_identity(name, "stage", self.folder / name, address=address)
        signed = publish(self.folder, with_member(current(self.folder), card, neighbours, [name, *self.names]))
        like = self.config(neighbours[0])
        own = {field: getattr(like, field) for field in ("smallest_std", "timeout", "backoff_max", "grace")}
        self.configs[name] = join(self.folder / name, card, signed, **own)
        self.write_value(name, value)
        self._spread(signed)
        self.names.append(name)

    def remove(self, name: str) -> None:
        """A member is gone for good, in a new roster that one running peer is given."""
        self.names.remove(name)
        self._spread(publish(self.folder, without_member(current(self.folder), name)))

    def _spread(self, signed: SignedRoster) -> None:
        """Give it to those that do not run and to the first that does; the others get it from their neighbours."""
        running = [name for name in self.names if name in self.processes and self.processes[name].poll() is None]
        for name in self.names:
            if name not in running[1:]:
                install(self.config(name), signed)
        if running:
            self.ask(running[0], "roster")

    def let_lie(self, name: str) -> None:
        """From now on this liar lies."""
        (self.folder / name / LIE).touch()

    def kill(self, name: str) -> None:
        """End a peer at whatever it is doing, as a power cut would."""
        process = self.processes[name]
        process.send_signal(signal.SIGKILL)
        process.wait()

    def wipe(self, name: str) -> None:
        """Destroy a killed peer's disk."""
        shutil.rmtree(self.data_dir(name), ignore_errors=True)

    def stop(self, *names: str) -> dict[str, int]:
        """Ask these peers (default: all) to end in good order; returns their exit codes."""
        chosen = [name for name in names or self.names if name in self.processes]
        for name in chosen:
            if self.processes[name].poll() is None:
                self.processes[name].send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        codes = {}
        for name in chosen:
            try:
                codes[name] = self.processes[name].wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.kill(name)
                codes[name] = -signal.SIGKILL
        return codes

    def ask(self, name: str, command: str, **fields: Any) -> dict[str, Any]:
        """Send an operator's command to a peer."""
        return ask(self.data_dir(name), command, **fields)

    def status(self, name: str) -> dict[str, Any] | None:
        """A peer's status, or ``None`` while it does not answer."""
        return peek(self.data_dir(name))

    def statuses(self, names: Sequence[str] = ()) -> dict[str, dict[str, Any] | None]:
        """The status of every peer."""
        return {name: self.status(name) for name in names or self.names}

    def wait_until(
        self, condition: Any, *, seconds: float, names: Sequence[str] = (), pause: float = 0.2
    ) -> Mapping[str, dict[str, Any] | None]:
        """Wait until `condition` holds for the statuses of these peers; raise if a process ends or time is up."""
        deadline = time.monotonic() + seconds
        while True:
            statuses = self.statuses(names)
            if all(status is not None and condition(status) for status in statuses.values()):
                return statuses
            self.check_alive(names)
            if time.monotonic() > deadline:
                raise PeerError(f"{seconds:g} seconds were not enough")
            time.sleep(pause)

    def check_alive(self, names: Sequence[str] = ()) -> None:
        """Raise if one of these peers' processes has ended by itself, with the end of its log."""
        for name in names or list(self.processes):
            process = self.processes.get(name)
            if process is not None and process.poll() not in (None, -signal.SIGKILL):
                tail = self.log_file(name).read_text(errors="replace").splitlines()[-3:]
                raise PeerError(f"peer {name} ended with code {process.poll()}: {' | '.join(tail)}")

    def config(self, name: str) -> PeerConfig:
        """A peer's configuration as it is on disk now."""
        return PeerConfig.load(self.configs[name])


def _environment() -> dict[str, str]:
    """The environment of this process, with our sources importable in the children and their threads kept few."""
    source = str(Path(__file__).resolve().parents[2])
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
