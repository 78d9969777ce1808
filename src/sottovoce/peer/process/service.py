"""One peer as a process: it is checked first (:mod:`.checks`), then it runs until a signal or the operator ends it.

The node knows nothing of signals, sockets for the operator, logs or metrics pages; they are put around it here.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError, InvalidParameter, PeerError
from ..membership.config import IdentityFiles, PeerConfig
from ..membership.credentials import trusted_roster
from ..membership.exposure import Knowledge, what_others_know
from ..membership.files import edit_without
from ..membership.keys import write_private
from ..protocol.state import check_value
from ..runtime.node import Peer
from ..transport.base import Transport
from ..transport.handshakes import HandshakeWatch
from . import logs
from .backup import write_backup
from .checks import LEFT, Checked, check_everything
from .control import ControlServer, decode_value
from .health import health_of
from .metrics import PeerObserver
from .pages import Pages

__all__ = ["run_peer", "start_peer"]

Wrap = Callable[[Transport], Transport]

_SHOWN = 8
"""Coordinates of a long estimate that a status shows."""


def start_peer(
    path: Path,
    value: NDArray[np.float64] | None,
    *,
    replace_value: bool = False,
    log_level: str = "info",
    observe: Callable[[Any], PeerObserver] = PeerObserver,
    wrap: Wrap | None = None,
) -> str:
    """Check, then run the peer described by the file at ``path`` as this process; how it ended.

    Parameters
    ----------
    path, value
        The configuration; the private value, ``None`` if the peer has run before. If the store has another, that
        one counts.
    replace_value
        Let the given value take the place of a different stored one.
    log_level
        Least level of the lines that are logged.
    observe
        Makes the observer from a logger.
    wrap
        Puts something around the transport.
    """
    with HandshakeWatch() as watch:
        checked = check_everything(path, value)
        logs.configure(watch.stream, level=log_level, peer=checked.config.name, network=checked.config.network)
        observer = observe(logs.get_logger("peer"))
        watch.report_to(observer)
        with logs.everything_as_json():
            return asyncio.run(run_peer(checked, observer, wrap=wrap, replace_value=replace_value))


async def run_peer(
    checked: Checked, observer: PeerObserver, *, wrap: Wrap | None = None, replace_value: bool = False
) -> str:
    """Run until SIGTERM, SIGINT, ``stop`` or ``leave``; returns which of "stopped" and "left" it was.

    A store that fails (a full disk, say) also ends it, with that error. For the parameters see :func:`start_peer`.
    """
    from .timing import TimedTransport

    transport: Transport = TimedTransport(checked.config, checked.credentials, observer)
    transport = transport if wrap is None else wrap(transport)
    farewells: set[asyncio.Task[None]] = set()
    observer.when(
        "parted",
        lambda name: farewells.add(asyncio.ensure_future(_farewell(checked.path, name, observer))),
    )
    peer = Peer(
        checked.config, value=checked.value, replace_value=replace_value, transport=transport, observer=observer
    )
    async with peer:
        ending = _Ending()
        async with _around(peer, checked, observer, ending):
            observer.log(
                "info",
                "peer started",
                neighbours=len(checked.config.neighbours),
                roster=checked.credentials.roster,
                digest=checked.credentials.digest,
            )
            watch = asyncio.ensure_future(_watch_store(peer, ending))
            try:
                how = await ending.wait()
            finally:
                watch.cancel()
            observer.log("info", "peer stopping", how=how)
    observer.log("info", "peer stopped", how=how)
    if ending.failure is not None:
        raise ending.failure
    return how


async def _farewell(path: Path, name: str, observer: PeerObserver) -> None:
    """A neighbour has parted: it is no neighbour after a restart either, until an operator adds it again."""
    try:
        edit_without(path, name, dropped=True)
    except ConfigError as error:
        observer.log("error", "a neighbour left, but the file could not be changed", neighbour=name, why=str(error))
    else:
        observer.log("info", "neighbour left; it is listed under `without` now", neighbour=name)


async def _watch_store(peer: Peer, ending: _Ending) -> None:
    """A peer whose store fails must not go on: it would forget what it has said."""
    ending.failure = await peer.failed()
    ending.come("failed")


@functools.lru_cache(maxsize=8)
def _known(files: IdentityFiles, network: str, name: str, _number: int, sealed: frozenset[str]) -> Knowledge:
    """What others can know of a peer's value, from its roster of that number and its own ledger."""
    return what_others_know(trusted_roster(files, network), name, sealed)


class _Ending:
    """The one event that ends a peer's process, and why it came."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._how = "stopped"
        self.failure: PeerError | None = None

    def come(self, how: str) -> None:
        if not self._event.is_set():
            self._how = how
            self._event.set()

    async def wait(self) -> str:
        await self._event.wait()
        return self._how


@contextlib.asynccontextmanager
async def _around(peer: Peer, checked: Checked, observer: PeerObserver, ending: _Ending) -> AsyncIterator[None]:
    """Signals, the operator's socket and the metrics page, for as long as the peer runs."""
    config = checked.config
    assert config.data_dir is not None
    commands = _Commands(peer, checked, observer, ending)
    control = ControlServer(config.data_dir, commands.by_name())
    page = (
        Pages(
            config.metrics_listen,
            observer,
            lambda: peer.status().to_dict(),
            lambda: health_of(peer.status().to_dict(), peer.trouble, config.min_open_edges),
        )
        if config.metrics_listen
        else None
    )
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.come, "stopped")
    reloads: set[asyncio.Task[None]] = set()
    loop.add_signal_handler(signal.SIGHUP, lambda: reloads.add(asyncio.ensure_future(commands.reload())))
    try:
        if page is not None:
            await page.start()
        await control.start()  # last: whoever is answered here finds the pages, too
        yield
    finally:
        if page is not None:
            await page.close()
        await control.close()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.remove_signal_handler(number)


@dataclass(frozen=True, eq=False)
class _Commands:
    """What the operator can ask of a running peer."""

    peer: Peer
    checked: Checked
    observer: PeerObserver
    ending: _Ending

    def by_name(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "set-value": self.set_value,
            "add": self.add,
            "drop": self.drop,
            "leave": self.leave,
            "roster": self.roster,
            "backup": self.backup,
            "stop": self.stop,
        }

    async def status(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The status; of a long estimate only the beginning, unless all of it is asked for."""
        status = self.peer.status().to_dict()
        if status["estimate"] is not None and asked.get("full") is not True:
            status["estimate"] = status["estimate"][:_SHOWN]
        counts = self.observer.counts("refused-")
        counts.pop("refused-by", None)  # that is us being refused
        roster = {"number": self.peer.config.roster, "digest": self.peer.config.roster_digest.hex()}
        sealed = frozenset(name for name, neighbour in status["neighbours"].items() if neighbour["sealed"])
        config = self.peer.config
        assert config.identity is not None
        known = await asyncio.to_thread(_known, config.identity, config.network, config.name, config.roster, sealed)
        return {"status": status | {"roster": roster, "known": known.to_dict()}, "refusals": counts}

    async def set_value(self, asked: dict[str, Any]) -> dict[str, Any]:
        config = self.checked.config
        given = decode_value(asked.get("value"))
        value = check_value(given, dimension=config.dimension, low=config.low, high=config.high)
        await self.peer.set_value(value, new_secret=asked.get("new_secret") is True)
        self.observer.log("info", "value changed")
        return {}

    async def add(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = str(asked.get("neighbour"))
        edit_without(self.checked.path, name, dropped=False)  # the file first: a restart must know it too
        around = PeerConfig.load(self.checked.path).neighbours
        if name not in around:
            raise InvalidParameter(f"neighbour must be one that the roster puts next to this peer, got {name!r}")
        await self.peer.add_neighbour(name, around[name])
        self.observer.log("info", "neighbour added", neighbour=name)
        return {}

    async def drop(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = str(asked.get("neighbour"))
        if name not in self.peer.status().to_dict()["neighbours"]:
            raise InvalidParameter(f"neighbour must be one of this peer's, got {name!r}")
        edit_without(self.checked.path, name, dropped=True)
        told = await self.peer.drop_neighbour(name)
        self.observer.log("info", "neighbour dropped", neighbour=name, told=told)
        return {"told": told}

    async def backup(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Write a backup into the named file: the private value must not go out over the socket."""
        path = Path(str(asked.get("path")))
        if not path.is_absolute():
            raise InvalidParameter(f"path must be absolute, got {str(path)!r}")
        write_backup(path, self.checked.config, self.peer.durable_state)
        self.observer.log("info", "backup written")
        return {}

    async def reload(self) -> None:
        """What SIGHUP asks for: take up the roster, and with it the key, that were put in place; or say why not."""
        try:
            notice = await self.peer.follow_roster()
        except PeerError as error:
            self.observer.log("error", "cannot reload", why=str(error))
        else:
            self.observer.log("info", "reloaded", roster=self.peer.config.roster, notice=notice)

    async def roster(self, _asked: dict[str, Any]) -> dict[str, Any]:
        """A later roster was put in place: take it up."""
        return {"notice": await self.peer.follow_roster()}

    async def leave(self, _asked: dict[str, Any]) -> dict[str, Any]:
        untold = await self.peer.leave()
        assert self.checked.config.data_dir is not None
        write_private(self.checked.config.data_dir / LEFT, b"")
        self.ending.come("left")
        return {"untold": untold}

    async def stop(self, _asked: dict[str, Any]) -> dict[str, Any]:
        self.ending.come("stopped")
        return {}
