"""A long life: memory and database stay the same size, and the mean does not drift."""

from __future__ import annotations

import itertools
import resource
from pathlib import Path

import numpy as np
import pytest

from sottovoce.peer.protocol import PeerState, Protocol
from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.protocol.noise import account_for, rounded
from sottovoce.peer.store import Identity
from sottovoce.peer.store.sqlite import SqliteStore
from sottovoce.testing import balance
from sottovoce.testing.settings import some_settings

NAMES = ("ada", "bob", "cyd")
VALUES = {"ada": 1_000_000_000, "bob": 1_001_000_001, "cyd": 999_500_000}


class Triangle:
    """Three peers with real stores; every state is saved before its message goes on."""

    def __init__(self, folder: Path) -> None:
        rng, stamps = np.random.default_rng(0), itertools.count(2**57)
        self.stores = {name: SqliteStore(folder / name, Identity("net", name, 1, "0.000001")) for name in NAMES}
        self.peers = {}
        for name in NAMES:
            state = PeerState(np.array([VALUES[name]]), account_for(1.0, 0.9999, None))
            settings = some_settings(name, bucket_burst=1e9, bucket_refill=1e9, noise_decay=0.9999)
            self.peers[name] = Protocol(
                settings, state, draw=rounded(rng.standard_normal), coin=lambda count: rng.integers(2, size=count),
                stamp=lambda: next(stamps),
            )  # fmt: skip
        for a, b in itertools.permutations(NAMES, 2):
            self.deliver(self.peers[a].add(b))
        self.pairs = itertools.cycle(itertools.permutations(NAMES, 2))

    def deliver(self, message: Message | None) -> None:
        while message is not None:
            self.stores[message.src].save(self.peers[message.src].state)
            message = self.peers[message.dst].receive(message)

    def exchange(self) -> None:
        a, b = next(self.pairs)
        self.peers[b].tick(None)
        self.deliver(self.peers[a].tick(b))

    def files(self) -> int:
        folders = [store.path.parent for store in self.stores.values()]
        return sum(path.stat().st_size for folder in folders for path in folder.iterdir())

    def mass_error(self) -> int:
        return int(abs(balance.unaccounted({name: peer.state for name, peer in self.peers.items()})[0]))


def memory() -> int:
    """Kilobytes, at their highest so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def endure(folder: Path, exchanges: int) -> tuple[int, int, int]:
    """(growth of memory in kB, growth of files in bytes, mass error) after a warm-up of a tenth."""
    triangle = Triangle(folder)
    for _ in range(exchanges // 10):
        triangle.exchange()
    before = memory(), triangle.files()
    for _ in range(exchanges):
        triangle.exchange()
    grown = memory() - before[0], triangle.files() - before[1]
    error = triangle.mass_error()
    applied = sum(peer.exchanges for peer in triangle.peers.values()) // 2
    for store in triangle.stores.values():
        store.close()
    assert applied >= exchanges
    return *grown, error


def test_a_thousand_exchanges_leave_no_trace(tmp_path: Path) -> None:
    """Files do not grow beyond the write-ahead log's limit, and the sum is exact."""
    _, files, error = endure(tmp_path, 1000)
    assert files < 3 * 5_000_000
    assert error == 0


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_million_exchanges_leave_no_trace(tmp_path: Path) -> None:
    """Memory grows by less than 10 MB, files by nothing beyond their logs, and the sum is still exact."""
    kilobytes, files, error = endure(tmp_path, 1_000_000)
    assert kilobytes < 10_000
    assert files < 3 * 5_000_000
    assert error == 0
