"""Peers on a ring, in one process and in virtual time, over a medium with faults."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.errors import StoreError
from sottovoce.peer import Peer, PeerConfig
from sottovoce.peer.protocol import PeerState
from sottovoce.peer.store import MemoryStore
from sottovoce.testing import SeededPeer, VirtualClock, run_virtually
from sottovoce.testing.memory_transport import Faults, Medium, MemoryTransport

from ..helpers import Recorder

NOWHERE = "127.0.0.1:1"


def virtually(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in virtual time."""

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        run_virtually(test(**fixtures))

    return run


class Town:
    """The peers, their values, stores and observers, by name."""

    def __init__(
        self, size: int = 4, *, faults: Faults | None = None, folder: Path | None = None, **fields: Any
    ) -> None:
        self.dimension = fields.get("dimension", 1)
        self.medium = Medium(dimension=self.dimension, faults=faults or Faults())
        self.folder = folder
        self.fields = fields
        self.names = [f"p{k}" for k in range(size)]
        self.values = {name: np.full(self.dimension, float(k) * 3 - 2) for k, name in enumerate(self.names)}
        self.stores: dict[str, MemoryStore] = {}
        self.observers: dict[str, Recorder] = {}
        self.transports: dict[str, type[MemoryTransport]] = {}
        """Of peers that have another than usual."""

    def config(self, name: str, neighbours: list[str] | None = None) -> PeerConfig:
        k = self.names.index(name)
        ring = [self.names[k - 1], self.names[(k + 1) % len(self.names)]]
        fields = {
            "noise_std": 1.0, "noise_decay": 0.8, "smallest_std": None, "diameter": len(self.names) // 2,
            "grace": 3.0, "seal_std": 1.0, "unit": "0.000001", "low": -1e5, "high": 1e5, "members": 64,
            "max_degree": 8, "min_open_edges": 1, "index": k, **self.fields,
        }  # fmt: skip
        around = ring if neighbours is None else neighbours
        if fields["members"] == len(self.names):  # a network of exactly these
            fields["others"] = dict.fromkeys(set(self.names) - {name, *around}, NOWHERE)
        return PeerConfig(
            name=name, network="town", listen="127.0.0.1:0",
            data_dir=None if self.folder is None else self.folder / name,
            neighbours=dict.fromkeys(around, NOWHERE), **fields,
        )  # fmt: skip

    def peer(self, name: str, *, config: PeerConfig | None = None, value: Any = ..., fresh: bool = False) -> SeededPeer:
        config = config or self.config(name)
        if fresh:
            self.stores.pop(name, None)
        kept = self.stores.get(name)
        self.stores[name] = store = MemoryStore()
        if kept is not None:
            store._state, store._topics, store._records = kept._state, kept._topics, kept._records
        self.observers[name] = Recorder()
        return SeededPeer(
            config,
            self.values[name] if value is ... else value,
            seed=len(name) + sum(map(ord, name)),
            store=store if self.folder is None else None,
            transport=self.transports.get(name, MemoryTransport)(name, self.medium, set(config.neighbours)),
            clock=VirtualClock(sum(map(ord, name))),
            observer=self.observers[name],
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[dict[str, Peer]]:
        async with contextlib.AsyncExitStack() as stack:
            yield {name: await stack.enter_async_context(self.peer(name)) for name in self.names}

    @property
    def mean(self) -> np.ndarray:
        """The true one, not rounded."""
        return np.mean(list(self.values.values()), axis=0)

    @contextlib.asynccontextmanager
    async def pair(self) -> AsyncIterator[tuple[SeededPeer, SeededPeer]]:
        """Two peers that are each other's only neighbour."""
        one, other = (self.peer(a, config=self.config(a, [b])) for a, b in (("p0", "p1"), ("p1", "p0")))
        async with one, other:
            yield one, other


async def all_settled(peers: dict[str, Peer]) -> None:
    await asyncio.gather(*(peer.settled(2000) for peer in peers.values()))


def near(peers: dict[str, Peer], mean: Any, tolerance: float = 1e-3) -> bool:
    return all(np.abs(np.atleast_1d(peer.estimate) - mean).max() <= tolerance for peer in peers.values())


class FullDisk(MemoryStore):
    """Fails from the n-th save on."""

    def __init__(self, saves: int) -> None:
        super().__init__()
        self.left = saves

    def save(self, state: PeerState) -> None:
        self.left -= 1
        if self.left < 0:
            raise StoreError("the disk is full")
        super().save(state)
