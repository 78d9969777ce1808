"""One topic of 100 000 numbers between twenty peers: processor time and bytes, beside plain gossip of the same vectors.

Everything runs in one process: twenty peers that talk gRPC over mutual TLS on this machine's own interface, with noise
from the operating system, once with their state in memory and once on disk. The floor is what nobody can do without:
as many averagings as plain gossip needs to the same tolerance, and for each of them one vector each way in a bare gRPC
call over the same TLS, 8 bytes a number. Bytes are what the messages hold, without TLS and gRPC's own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
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
from sottovoce.peer.runtime.randomness import system_normal
from sottovoce.peer.store import MemoryStore
from sottovoce.peer.transport.base import SilentObserver
from sottovoce.peer.transport.codec import Codec
from sottovoce.testing.stage import free_addresses

PEERS, TOLERANCE = 20, 1e-3
EDGES = [(k, (k + hop) % PEERS) for k in range(PEERS) for hop in (1, 4)]
NETWORK = {
    "noise_std": 0.1, "noise_decay": 0.5, "seal_std": 0.1, "smallest_std": None, "tolerance": TOLERANCE,
    "unit": "0.000001", "low": -10.0, "high": 10.0, "grace": 1.0,
}  # fmt: skip


class Applied(SilentObserver):
    """Counts exchanges and seconds of noise for all."""

    def __init__(self) -> None:
        self.exchanges = 0

    def count(self, event: str, neighbour: str = "") -> None:
        self.exchanges += event == "applied"


class Meter:
    """Processor seconds, seconds on the wall, and the bytes of all messages while it lasts."""

    def __init__(self) -> None:
        self.bytes = 0
        self.processor = self.wall = 0.0

    def __enter__(self) -> Meter:
        self._encode, meter = Codec.encode, self

        def encode(codec: Codec, message: Any) -> bytes:
            content = meter._encode(codec, message)
            meter.bytes += len(content)
            return content

        Codec.encode = encode  # type: ignore[method-assign]
        self._began = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.processor, self.wall = time.process_time() - self._began[0], time.perf_counter() - self._began[1]
        Codec.encode = self._encode  # type: ignore[method-assign]


def configurations(folder: Path, dimension: int) -> list[PeerConfig]:
    """Twenty members, four neighbours each."""
    names = [f"p{number:02d}" for number in range(PEERS)]
    addresses = dict(zip(names, free_addresses(PEERS), strict=True))
    made = found_network("bench", addresses, graphs.Graph.from_edges(EDGES), folder, **NETWORK)
    return [replace(PeerConfig.load(path), longest_topic=dimension) for path in made.values()]


async def topic(
    configs: list[PeerConfig], values: np.ndarray, *, on_disk: bool, missing: str = "wait"
) -> dict[str, float]:
    """One average, and what it took."""
    applied = Applied()
    async with contextlib.AsyncExitStack() as stack:
        peers = []
        for config in configs:
            kept = config if on_disk else replace(config, data_dir=None)
            store = None if on_disk else MemoryStore()
            peers.append(await stack.enter_async_context(Peer(kept, standing=False, store=store, observer=applied)))
        await asyncio.sleep(1.0)
        before = peak_bytes()
        with Meter() as meter:
            calls = (peer.average(value, topic="t", missing=missing) for peer, value in zip(peers, values, strict=True))
            found = await asyncio.gather(*calls)
        assert np.abs(found[0].mean - values.mean(axis=0)).max() <= TOLERANCE
    return {
        "exchanges": applied.exchanges, "processor": meter.processor, "wall": meter.wall,
        "bytes": meter.bytes / PEERS, "peak": (peak_bytes() - before) / PEERS,
    }  # fmt: skip


@contextlib.asynccontextmanager
async def bare(config: PeerConfig, other: PeerConfig) -> AsyncIterator[Callable[[Any], Awaitable[bytes]]]:
    """A call over mutual TLS that brings back what it is given."""

    async def answer(content: bytes, _context: object) -> bytes:
        return content

    size = [(f"grpc.max_{way}_message_length", -1) for way in ("send", "receive")]
    server = aio.server(options=size)
    handler = grpc.unary_unary_rpc_method_handler(answer)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Bare", {"Call": handler}),))
    own, theirs = check_identity(other), check_identity(config)
    pair = [(own.key, own.certificate)]
    port = server.add_secure_port(
        "127.0.0.1:0", grpc.ssl_server_credentials(pair, own.members[config.name], require_client_auth=True)
    )
    await server.start()
    trusted = grpc.ssl_channel_credentials(theirs.members[other.name], theirs.key, theirs.certificate)
    options = [("grpc.ssl_target_name_override", other.certificate_name), *size]
    async with aio.secure_channel(f"127.0.0.1:{port}", trusted, options=options) as channel:
        yield channel.unary_unary("/bench.Bare/Call")
    await server.stop(0)


async def floor(configs: list[PeerConfig], values: np.ndarray, seed: int) -> dict[str, float]:
    """Plain gossip until all are within the tolerance of each other; each vector of it really travels."""
    rng, x, exchanges = np.random.default_rng(seed), values.copy(), 0
    async with bare(configs[0], configs[1]) as call:
        await call(b"")
        with Meter() as meter:
            while np.ptp(x[:, :: max(1, x.shape[1] // 1000)], axis=0).max() > TOLERANCE:
                i, j = EDGES[rng.integers(len(EDGES))]
                there = np.frombuffer(await call(x[i].tobytes()), dtype=np.float64)
                x[i] = x[j] = (there + x[j]) / 2.0
                exchanges += 1
    size = 8 * values.shape[1]
    return {
        "exchanges": exchanges, "processor": meter.processor, "wall": meter.wall, "bytes": 2 * exchanges * size / PEERS
    }  # fmt: skip


def noise_seconds(dimension: int) -> float:
    """Processor seconds of one draw of noise."""
    began = time.process_time()
    for _ in range(10):
        system_normal(dimension)
    return (time.process_time() - began) / 10


async def measure(dimension: int, folder: Path, missing: str) -> dict[str, Any]:
    values = np.random.default_rng(1).normal(size=(PEERS, dimension))
    configs = configurations(folder, dimension)
    return {
        "floor": await floor(configs, values, seed=2),
        "in memory": await topic(configs, values, on_disk=False, missing=missing),
        "floor again": await floor(configs, values, seed=3),
        "on disk": await topic(configs, values, on_disk=True, missing=missing),
        "noise": noise_seconds(dimension),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimension", type=int, default=100_000)
    parser.add_argument("--missing", default="wait")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = asyncio.run(measure(arguments.dimension, Path(name) / "net", arguments.missing))
    least = (found["floor"]["processor"] + found["floor again"]["processor"]) / 2
    for what, row in found.items():
        if isinstance(row, dict):
            share, sent = row["processor"] / least, row["bytes"] / 1e6
            print(f"{what}: {row['exchanges']} exchanges, {row['processor']:.2f} s of processor, {share:.2f} of the "
                  f"floor, {row['wall']:.1f} s on the wall, {sent:.1f} MB sent by each, "
                  f"{row.get('peak', 0) / 1e6:.1f} MB more memory each")  # fmt: skip
    print(f"one draw of noise: {1e3 * found['noise']:.1f} ms")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
