"""How fast two peers exchange, and whether thirty keep settling on this machine.

The yardstick is taken in the same run: bare gRPC calls over the same TLS with one durable write on each side, by the
same event loop. What a peer does beyond that (checking messages, drawing noise, the ledger, the stopping rule) may at
most double the time.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import grpc
import numpy as np
from grpc import aio

from sottovoce import graphs
from sottovoce.peer import Peer
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.credentials import check_identity
from sottovoce.peer.membership.founding import found_network
from sottovoce.testing.stage import free_addresses

# Many short windows in turn, because the disk and the load of this machine vary.
SECONDS = 1.0
ROUNDS = 15


def configs(folder: Path) -> list[PeerConfig]:
    """Two neighbours: the first calls as fast as it is answered, the second only answers, without a limit."""
    addresses = dict(zip(("ada", "bob"), free_addresses(2), strict=True))
    made = found_network(
        "bench", addresses, graphs.path(2), folder, noise_std=1.0, noise_decay=0.9999, smallest_std=None,
        tolerance=4e-6, timeout=5.0, grace=1.0, bucket_burst=1e9, bucket_refill=1e9,
    )  # fmt: skip
    ada, bob = (PeerConfig.load(path) for path in made.values())
    return [replace(ada, rate=1e6), replace(bob, rate=2.0)]


async def exchanges_per_second(ada: PeerConfig, bob: PeerConfig) -> float:
    async with Peer(ada, value=np.array([1.0])) as first, Peer(bob, value=np.array([2.0])):
        while first.status().to_dict()["exchanges"] < 50:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        before, began = first.status().to_dict()["exchanges"], time.perf_counter()
        await asyncio.sleep(SECONDS)
        return float((first.status().to_dict()["exchanges"] - before) / (time.perf_counter() - began))


def database(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("create table state (key integer primary key, value blob)")
    connection.execute("insert into state values (1, x'00')")
    return connection


async def bare_calls_per_second(ada: PeerConfig, bob: PeerConfig, folder: Path) -> float:
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
        for number in range(50):
            await call(number.to_bytes(100))
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < SECONDS:
            payload = count.to_bytes(100)  # different each time: SQLite does not write what has not changed
            await call(payload)
            mine.execute(write, (payload,))
            count += 1
        rate = count / (time.perf_counter() - began)
    await server.stop(0)
    mine.close()
    theirs.close()
    return rate


def bench_exchanges(folder: Path) -> None:
    """Exchanges with TLS, durable state and the whole protocol: at least half as many as bare calls."""
    ours, bare = [], []
    for number in range(ROUNDS):
        place = folder / str(number)
        pair = configs(place)
        bare.append(asyncio.run(bare_calls_per_second(*pair, place)))
        ours.append(asyncio.run(exchanges_per_second(*pair)))
    ratio = statistics.median(ours) / statistics.median(bare)
    print(f"exchanges {statistics.median(ours):.0f}/s, bare calls {statistics.median(bare):.0f}/s, ratio {ratio:.2f}")


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
        bench_exchanges(Path(name))
    bench_thirty_peers()
