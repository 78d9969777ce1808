"""What running peers say about themselves, for the live view. Never a private value: peers do not tell them.

The peers of one network folder are asked through their control sockets, as ``sottovoce network status``
does, so only peers of this machine and of this user answer. Of an answer only the fields in
:data:`SHOWN` go to a page. What a peer said last is kept when it is gone, and what was seen can be replayed
(:mod:`.remembering`).
"""

from __future__ import annotations

import asyncio
import itertools
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..errors import SottovoceError
from ..foundation.extras import install_line
from .remembering import Memory

__all__ = ["SHOWN", "Watcher"]

SHOWN = (
    "estimate",
    "plus_minus",
    "settled",
    "statement",
    "noise_left",
    "noise_std",
    "known_to",
    "smallest_std",
    "budget_spent",
    "exchanges",
    "uptime",
)
"""Fields of a peer's status that a page may see."""

COORDINATES = 4
"""Of a vector estimate the first few are shown."""

PATIENCE = 2.0
"""Seconds a peer may take to answer before it counts as silent."""

FRESH = 0.7
"""Seconds for which one look serves all pages."""

MOST_PEERS = 200


class Watcher:
    """Looks at the peers of one network folder.

    Parameters
    ----------
    network
        The folder that ``sottovoce network create`` made; ``None``: there is nothing to watch.
    """

    def __init__(self, network: Path | None = None) -> None:
        self._network = network
        self._askers = ThreadPoolExecutor(max_workers=8, thread_name_prefix="studio-ask")
        self._pending: dict[str, Future[dict[str, Any] | None]] = {}
        self._last: tuple[float, dict[str, Any]] | None = None
        self._lock = asyncio.Lock()
        self.memory = Memory()

    async def follow(self) -> None:
        """Look every second, whether a page watches or not, so that the history begins when the studio does."""
        while self._network is not None:
            await self.look()
            await asyncio.sleep(1.0)

    async def look(self) -> dict[str, Any]:
        """All peers now, or a sentence that says why there are none."""
        async with self._lock:
            if self._last is None or time.monotonic() - self._last[0] > FRESH:
                self._last = (time.monotonic(), await self._look())
                self._last = (time.monotonic(), self._last[1])
            return self._last[1]

    def close(self) -> None:
        """Ask nobody any more."""
        self._askers.shutdown(wait=False, cancel_futures=True)

    async def _look(self) -> dict[str, Any]:
        if self._network is None:
            return _nothing(
                "No network is being watched. Start the studio with --network FOLDER, the folder that "
                "“sottovoce network create” made; “sottovoce network up --keep FOLDER --stay” runs one to try it with."
            )
        try:
            configs = await asyncio.to_thread(self._members)
        except ImportError:
            return _nothing(f"Peers are not available in this installation: {install_line('grpc')}.")
        except SottovoceError as error:
            if self.memory.network:  # it was there: its folder is gone, what it said is not
                return self.memory.look(self.memory.network, self.memory.edges, dict.fromkeys(self.memory.names))
            return _nothing(f"This network cannot be watched: {error}.")
        answers = await asyncio.gather(*(self._ask(name, config.data_dir) for name, config in configs.items()))
        names = list(configs)
        edges = {
            tuple(sorted((names.index(name), names.index(other))))
            for name, config in configs.items()
            for other in config.neighbours
            if other in configs
        }
        network = next(iter(configs.values())).network
        return self.memory.look(network, sorted(edges), dict(zip(names, answers, strict=True)))

    def _members(self) -> dict[str, Any]:
        from ..peer.membership.founding import members

        assert self._network is not None
        return dict(itertools.islice(members(self._network).items(), MOST_PEERS))

    async def _ask(self, name: str, folder: Path) -> dict[str, Any] | None:
        """A peer's status, or ``None`` if it does not answer in time."""
        from ..peer.process.control import peek

        pending = self._pending.get(name)
        if pending is not None and not pending.done():
            return None  # still waiting for an earlier answer
        self._pending[name] = future = self._askers.submit(peek, folder)
        try:
            status = await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(future)), PATIENCE)
        except TimeoutError:
            return None
        return None if status is None else shown(status)


def shown(status: dict[str, Any]) -> dict[str, Any]:
    """What a page may see of a status."""
    answer = {field: status.get(field) for field in SHOWN}
    estimate = status.get("estimate")
    answer["estimate"] = None if estimate is None else list(estimate)[:COORDINATES]
    answer["dimension"] = status.get("dimension", 1)
    share = status.get("budget_share")
    answer["budgetLeft"] = None if share is None else 1.0 - share
    answer["neighbours"] = {
        name: {"state": neighbour.get("state"), "lastHeard": neighbour.get("last_heard")}
        for name, neighbour in status.get("neighbours", {}).items()
    }
    return answer


def _nothing(message: str) -> dict[str, Any]:
    return {"available": False, "message": message, "peers": [], "edges": []}
