"""Twenty peers and what measures them: for ``bench_topics.py`` and the processes that it starts."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce import graphs
from sottovoce.peer import Peer
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.protocol import noise
from sottovoce.peer.store import MemoryStore
from sottovoce.peer.transport.base import SilentObserver
from sottovoce.peer.transport.codec import Codec
from sottovoce.testing.stage import free_addresses

PEERS, TOLERANCE = 20, 1e-3
PATIENCE = 60.0
"""Seconds after an answer in which neighbours have theirs, too."""
EDGES = [(k, (k + hop) % PEERS) for k in range(PEERS) for hop in (1, 4)]
NETWORK = {
    "noise_std": 0.1, "noise_decay": 0.5, "seal_std": 0.1, "smallest_std": None, "tolerance": TOLERANCE,
    "unit": "0.000001", "low": -10.0, "high": 10.0, "grace": 1.0,
}  # fmt: skip


class Applied(SilentObserver):
    """Counts exchanges for all."""

    def __init__(self) -> None:
        self.exchanges = 0

    def count(self, event: str, neighbour: str = "") -> None:
        self.exchanges += event == "applied"


class Meter:
    """Processor seconds, seconds on the wall, and while it lasts the messages, their bytes, and the draws of noise."""

    def __init__(self) -> None:
        self.messages = self.bytes = self.draws = 0
        self.processor = self.wall = 0.0

    def __enter__(self) -> Meter:
        self._encode, self._draw, meter = Codec.encode, noise.whole_noise, self

        def encode(codec: Codec, message: Any) -> bytes:
            content = meter._encode(codec, message)
            meter.messages += 1
            meter.bytes += len(content)
            return content

        def draw(count: int, size: float, source: Any) -> Any:
            meter.draws += size > 0
            return meter._draw(count, size, source)

        Codec.encode, noise.whole_noise = encode, draw  # type: ignore[method-assign]
        self._began = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.processor, self.wall = time.process_time() - self._began[0], time.perf_counter() - self._began[1]
        Codec.encode, noise.whole_noise = self._encode, self._draw  # type: ignore[method-assign]

    def row(self, exchanges: int, **more: float) -> dict[str, float]:
        """What it says, of a run with so many exchanges."""
        found = {"exchanges": exchanges, "processor": self.processor, "wall": self.wall, "calls": self.messages / 2}
        return found | {"bytes": self.bytes / PEERS, "draws": self.draws, "peak": 0.0} | more


def configurations(folder: Path, dimension: int) -> list[PeerConfig]:
    """Twenty members, four neighbours each."""
    names = [f"p{number:02d}" for number in range(PEERS)]
    addresses = dict(zip(names, free_addresses(PEERS), strict=True))
    made = found_network("bench", addresses, graphs.Graph.from_edges(EDGES), folder, **NETWORK)
    return [replace(PeerConfig.load(path), longest_topic=dimension) for path in made.values()]


@contextlib.asynccontextmanager
async def running(configs: list[PeerConfig], applied: Applied, *, on_disk: bool) -> AsyncIterator[list[Peer]]:
    """These peers, connected or about to be."""
    async with contextlib.AsyncExitStack() as stack:
        peers = []
        for config in configs:
            kept = config if on_disk else replace(config, data_dir=None)
            store = None if on_disk else MemoryStore()
            peers.append(await stack.enter_async_context(Peer(kept, standing=False, store=store, observer=applied)))
        yield peers


async def measured(
    peers: list[Peer], values: np.ndarray, name: str, missing: str, applied: Applied
) -> tuple[dict[str, float], float, np.ndarray]:
    """One topic: what it took, when the last of these peers had its answer, and the answer.

    What neighbours still need of them after that belongs to the topic's processor time, and not to its seconds on the
    wall: nobody waits for it.
    """
    applied.exchanges = 0
    with Meter() as meter:
        began, calls = time.perf_counter(), zip(peers, values, strict=True)
        found = await asyncio.gather(*(peer.average(value, topic=name, missing=missing) for peer, value in calls))
        ended = time.perf_counter()
        await asyncio.gather(*(peer.quiet(PATIENCE) for peer in peers))
    return meter.row(applied.exchanges, wall=ended - began), ended, found[0].mean
