"""How fast two peers exchange, what a million coordinates cost, and whether thirty keep settling on this machine.

The yardstick is taken in the same run and in turn, a twentieth of a second each, because disk and load vary: bare gRPC
calls over the same TLS with one durable write on each side, by the same event loop. Processor time and time on the
wall are both compared; on a busy machine the first says more.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from grpc import aio
from rows import peak_bytes

from sottovoce import graphs
from sottovoce.peer import Peer
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.credentials import check_identity
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.runtime.clock import SystemClock
from sottovoce.peer.transport.base import SilentObserver
from sottovoce.testing.stage import free_addresses

WINDOWS = 60
CALLS = 40
"""Calls, and exchanges, in one window."""


def configs(folder: Path, dimension: int = 1, **fields: float) -> list[PeerConfig]:
    """Two neighbours: the first calls as fast as it is answered, the second only answers, without a limit."""
    addresses = dict(zip(("ada", "bob"), free_addresses(2), strict=True))
    made = found_network(
        "bench", addresses, graphs.path(2), folder, noise_std=1.0, noise_decay=0.9999, smallest_std=None,
        tolerance=4e-6, timeout=5.0, grace=1.0, bucket_burst=1e9, bucket_refill=1e9, dimension=dimension, **fields,
    )  # fmt: skip
    ada, bob = (PeerConfig.load(path) for path in made.values())
    return [replace(ada, rate=1e6), replace(bob, rate=2.0)]


class Applied(SilentObserver):
    """Counts exchanges, without the cost of a status."""

    exchanges = 0

    def count(self, event: str, neighbour: str = "") -> None:
        self.exchanges += event == "applied"


class Gate(SystemClock):
    """A clock that can be held."""

    def __init__(self) -> None:
        super().__init__()
        self.running = asyncio.Event()
        self.running.set()

    async def sleep(self, seconds: float) -> None:
        await self.running.wait()
        await super().sleep(seconds)


def database(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("create table state (key integer primary key, value blob)")
    connection.execute("insert into state values (1, x'00')")
    return connection


@contextlib.asynccontextmanager
async def bare(ada: PeerConfig, bob: PeerConfig, folder: Path) -> AsyncIterator[Callable[[bytes], Awaitable[Any]]]:
    """One call over TLS and one write to disk on each side."""
    mine, theirs = database(folder / "mine.db"), database(folder / "theirs.db")
    write = "update state set value = ? where key = 1"

    async def answer(content: bytes, _context: object) -> bytes:
        theirs.execute(write, (content,))
        return content

    server = aio.server()
    handler = grpc.unary_unary_rpc_method_handler(answer)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Bare", {"Call": handler}),))
    own, other = check_identity(bob), check_identity(ada)
    pair = [(own.key, own.certificate)]
    port = server.add_secure_port(
        "127.0.0.1:0", grpc.ssl_server_credentials(pair, own.members[ada.name], require_client_auth=True)
    )
    await server.start()
    trusted = grpc.ssl_channel_credentials(other.members[bob.name], other.key, other.certificate)
    options = [("grpc.ssl_target_name_override", bob.certificate_name)]
    async with aio.secure_channel(f"127.0.0.1:{port}", trusted, options=options) as channel:
        call = channel.unary_unary("/bench.Bare/Call")

        async def once(payload: bytes) -> None:
            await call(payload)
            mine.execute(write, (payload,))

        yield once
    await server.stop(0)
    mine.close()
    theirs.close()


async def timed(work: Awaitable[int]) -> np.ndarray:
    """Processor seconds and seconds on the wall for each of those that were done."""
    began = np.array([time.process_time(), time.perf_counter()])
    done = await work
    return (np.array([time.process_time(), time.perf_counter()]) - began) / done


async def in_turn(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Mean processor seconds and seconds on the wall of a bare call, and of an exchange."""
    ada, bob = configs(folder)
    gate, applied, number = Gate(), Applied(), 0
    async with (
        bare(ada, bob, folder) as call,
        Peer(ada, value=np.array([1.0]), clock=gate),
        Peer(bob, value=np.array([2.0]), observer=applied),
    ):

        async def calls() -> int:
            nonlocal number
            for _ in range(CALLS):
                number += 1  # different each time: SQLite does not write what has not changed
                await call(number.to_bytes(100))
            return CALLS

        async def exchanged() -> int:
            before = applied.exchanges
            gate.running.set()
            while applied.exchanges - before < CALLS:  # noqa: ASYNC110
                await asyncio.sleep(0.004)
            return applied.exchanges - before

        await exchanged()
        rows = []
        for _ in range(WINDOWS):
            gate.running.clear()
            await asyncio.sleep(0.08)  # what was stored late is on disk
            rows.append((await timed(calls()), await timed(exchanged())))
    plain, ours = np.mean(rows, axis=0)
    return plain, ours


def bench_exchanges(folder: Path) -> None:
    """Exchanges with TLS, durable state and the whole protocol, beside bare calls."""
    plain, ours = asyncio.run(in_turn(folder))
    for what, one, other in zip(("processor", "wall"), plain * 1e6, ours * 1e6, strict=True):
        print(f"{what}: a bare call {one:.0f} µs, an exchange {other:.0f} µs, ratio {one / other:.2f}")


async def long_vectors(folder: Path, dimension: int) -> tuple[np.ndarray, float]:
    """Processor seconds and seconds on the wall of one exchange, and the memory that two peers needed, in vectors."""
    ada, bob = configs(folder, dimension)
    values, applied = np.linspace(0.0, 1.0, dimension), Applied()
    before = peak_bytes()

    async def exchanged(count: int) -> int:
        begun = applied.exchanges
        while applied.exchanges < begun + count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return applied.exchanges - begun

    async with Peer(ada, value=values), Peer(bob, value=1.0 - values, observer=applied):
        await exchanged(2)
        took = await timed(exchanged(6))
    return took, (peak_bytes() - before) / (8 * dimension)


def bench_long_vectors(folder: Path, dimension: int = 1_000_000) -> None:
    """A million coordinates: under a second an exchange."""
    (processor, wall), vectors = asyncio.run(long_vectors(folder, dimension))
    print(f"{dimension} coordinates: an exchange takes {processor:.2f} s of processor, {wall:.2f} s on the wall; "
          f"two peers hold {vectors:.0f} vectors at most")  # fmt: skip


def bench_thirty_peers() -> None:
    """Thirty processes on this machine settle, and nothing was lost."""
    ended = subprocess.run(
        [sys.executable, "-m", "sottovoce", "network", "up", "--peers", "30", "--seconds", "240", "--json"],
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    result = json.loads(ended.stdout)
    print(f"30 peers, {result['edges']} edges: settled after {result['seconds']:.0f} s, "
          f"largest error {result['proof']['largest_error']:.1e}")  # fmt: skip
    assert ended.returncode == 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        bench_exchanges(Path(name) / "short")
        bench_long_vectors(Path(name) / "long")
    bench_thirty_peers()
