"""A network of real peers in one process, without sockets, files or keys: for tests of programs that use topics.

>>> import asyncio
>>> from sottovoce.testing import LocalNetwork, run_virtually
>>> async def salaries():
...     async with LocalNetwork(["ada", "bob", "cyd"]) as net:
...         calls = [net[name].average(pay, topic="2026-11") for name, pay in zip(net, [40.0, 50.0, 60.0])]
...         return await asyncio.gather(*calls)
>>> [round(answer.mean, 3) for answer in run_virtually(salaries())]
[50.0, 50.0, 50.0]

In virtual time (:func:`run_virtually`) a test takes no time at all; it works with ``asyncio.run`` as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from ..errors import InvalidParameter
from ..peer.membership.config import PeerConfig
from ..peer.runtime.node import Peer
from ..peer.store import MemoryStore
from ..peer.transport.codec import Codec
from .memory_transport import Faults, Medium, MemoryTransport
from .virtual import SeededPeer, VirtualClock

__all__ = ["LocalNetwork"]


class LocalNetwork:
    """Peers by name; use as an asynchronous context manager.

    Noise and seals come from a seed: nothing here protects anybody.

    Parameters
    ----------
    names
        Of the members.
    edges
        Pairs of names; by default everybody is everybody's neighbour.
    seed
        Decides everything random.
    faults
        What goes wrong between peers.
    **settings
        Fields of :class:`~sottovoce.peer.PeerConfig`, the same for all. Unless given: unit 10⁻⁶, values within ± 1000,
        noise of deviation 1 that decays by 0.8, seals of deviation 1, and ``min_open_edges`` 1, so that two members can
        go on when others are left out. A ``peer.toml`` has 2 unless it says otherwise: give ``min_open_edges=2`` to see
        what that does.
    """

    def __init__(
        self,
        names: Sequence[str],
        edges: Iterable[tuple[str, str]] | None = None,
        *,
        seed: int = 0,
        faults: Faults | None = None,
        **settings: Any,
    ) -> None:
        self.names = sorted(names)
        if len(set(self.names)) != len(self.names) or len(self.names) < 2:
            raise InvalidParameter(f"names must be at least two different ones, got {list(names)!r}")
        pairs = list(itertools.combinations(self.names, 2)) if edges is None else list(edges)
        self._around = {name: sorted({b for a, b in _both_ways(pairs) if a == name}) for name in self.names}
        degree = max(map(len, self._around.values()))
        self._settings: dict[str, Any] = {
            "noise_std": 1.0, "noise_decay": 0.8, "smallest_std": None, "seal_std": 1.0, "unit": "0.000001",
            "low": -1e3, "high": 1e3, "diameter": max(len(self.names) - 1, 1), "min_open_edges": 1,
            "members": len(self.names), "max_degree": degree, "grace": 1.0, **settings,
        }  # fmt: skip
        self.medium = Medium(
            num_members=len(self.names), seed=seed, faults=faults or Faults(),
            longest_topic=self._settings.get("longest_topic", 4096),
        )  # fmt: skip
        self.medium.codec = Codec.from_config(self.config(self.names[0]))
        self._seed = seed
        self._stores = {name: MemoryStore() for name in self.names}
        self._peers: dict[str, Peer] = {}

    async def __aenter__(self) -> Self:
        for name in self.names:
            await self.start(name)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for peer in list(self._peers.values()):
            await peer.close()
        self._peers.clear()

    def __getitem__(self, name: str) -> Peer:
        """The running peer of this name."""
        if name not in self._peers:
            raise InvalidParameter(f"name must be that of a running peer, one of {sorted(self._peers)}, got {name!r}")
        return self._peers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def config(self, name: str) -> PeerConfig:
        """The configuration of one of them."""
        number = self.names.index(name)
        others = set(self.names) - {name, *self._around[name]}
        return PeerConfig(
            name=name, network="local", listen="127.0.0.1:0", data_dir=None, index=number,
            neighbours=dict.fromkeys(self._around[name], "127.0.0.1:1"),
            others=dict.fromkeys(others, "127.0.0.1:1"), **self._settings,
        )  # fmt: skip

    def peer(self, name: str) -> Peer:
        """A peer that is not started yet, with what its store holds."""
        config, seed = self.config(name), 1000 * self._seed + self.names.index(name)
        transport = MemoryTransport(name, self.medium, set(config.neighbours))
        return SeededPeer(
            config, standing=False, seed=seed, store=self._stores[name], transport=transport, clock=VirtualClock(seed)
        )

    async def start(self, name: str) -> Peer:
        """Start a peer."""
        self._peers[name] = await self.peer(name).__aenter__()
        return self._peers[name]

    async def kill(self, name: str, *, lose_disk: bool = False) -> None:
        """End a peer as a power cut would: what it has not stored is lost, and with ``lose_disk`` the rest too."""
        peer, store = self._peers.pop(name), self._stores[name]
        self._stores[name] = MemoryStore() if lose_disk else store.copy()
        store.close()
        with contextlib.suppress(asyncio.CancelledError):
            await self.medium.members[name].close()
        await peer._halt()


def _both_ways(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for a, b in pairs:
        yield a, b
        yield b, a
