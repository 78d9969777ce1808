"""One topic of 100 000 numbers between twenty peers: seconds and bytes, beside plain gossip of the same vectors.

Twenty peers talk gRPC over mutual TLS on this machine's own interface, with noise from the operating system, all in one
process: once with their state in memory and once on disk. Both are also run with the peers in two processes
(``--processes``), so that two cores have work. Five floors carry out as many averagings as plain gossip needs to the
same tolerance:

- *arithmetic*: nothing travels;
- *transfer*: for each of them a vector goes there and back in a bare gRPC call over the same TLS, 8 bytes a number,
  between twenty servers with a connection for each edge;
- *streams*: the same over a call for each edge that goes on, as peers have them;
- *transfer at the pace of clocks*: the same, not as fast as it goes but when twenty clocks ring, as often as those of
  peers in a hurry do;
- *transfer and disk*: each end also writes its vector to a file and waits for the disk.

All of them run in turns, several times, because the speed of a machine changes within minutes. Of each the middle one
by processor time is reported, and the least and most of all.

The account tells where the time goes: the same topic with hardly any numbers is what calls and decisions cost, draws
of noise are counted and timed, and so are the bytes in calls of their size; what is left is work on vectors. Bytes are
what messages hold, without TLS and gRPC's own. ``--json`` keeps the result, ``--table`` prints the page's tables of it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from grpc import aio
from rows import peak_bytes
from topic_network import EDGES, NETWORK, PEERS, TOLERANCE, Applied, Meter, configurations, measured, running
from topic_processes import Crew, crew
from topic_tables import account, table

from sottovoce.foundation.system import KEPT_BLOCK, keep_freed_memory
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.credentials import check_identity
from sottovoce.peer.protocol.calling import HURRY
from sottovoce.peer.runtime.randomness import system_noise

_TRIM_THRESHOLD = -1
"""What glibc calls the number of bytes that it keeps."""
SPREAD = ("processor", "wall", "bytes", "peak")
"""Of these the least and the most of all turns are kept."""
FEW = 64
"""Numbers of a topic that costs calls and decisions, and nothing for its vectors."""


async def topic(
    configs: list[PeerConfig], values: np.ndarray, name: str = "t", *, on_disk: bool, missing: str = "wait"
) -> dict[str, float]:
    """One average, and what it took: the second round of a training. The first goes before it and is not counted."""
    applied = Applied()
    async with running(configs, applied, on_disk=on_disk) as peers:
        before = peak_bytes()
        await measured(peers, values, f"before {name}", "wait", applied)
        row, _, mean = await measured(peers, values, name, missing, applied)
        assert np.abs(mean - values.mean(axis=0)).max() <= TOLERANCE
    return row | {"peak": (peak_bytes() - before) / PEERS}


Call = Callable[[int, int, bytes], Awaitable[bytes]]


@contextlib.asynccontextmanager
async def bare(configs: list[PeerConfig], *, streams: bool = False) -> AsyncIterator[Call]:
    """Twenty servers that send back what they are given, and a connection for each edge, over mutual TLS.

    With ``streams`` each edge has one call that goes on, as peers have, and vectors go there and back over it.
    """

    async def answer(content: bytes, _context: object) -> bytes:
        return content

    async def answers(_stream: object, context: Any) -> None:
        while isinstance(content := await context.read(), bytes):
            await context.write(content)

    size = [(f"grpc.max_{way}_message_length", -1) for way in ("send", "receive")]
    methods = {
        "Call": grpc.unary_unary_rpc_method_handler(answer),
        "Stream": grpc.stream_stream_rpc_method_handler(answers),
    }
    handler = grpc.method_handlers_generic_handler("bench.Bare", methods)
    who = [check_identity(config) for config in configs]
    async with contextlib.AsyncExitStack() as stack:
        ports = []
        for own in who:
            server = aio.server(options=size)
            server.add_generic_rpc_handlers((handler,))
            anchors = b"".join(own.members.values())
            trusted = grpc.ssl_server_credentials([(own.key, own.certificate)], anchors, require_client_auth=True)
            ports.append(server.add_secure_port("127.0.0.1:0", trusted))
            await server.start()
            stack.push_async_callback(server.stop, 0)
        calls = {}
        for i, j in EDGES:
            theirs = grpc.ssl_channel_credentials(who[i].members[configs[j].name], who[i].key, who[i].certificate)
            options = [("grpc.ssl_target_name_override", configs[j].certificate_name), *size]
            channel = aio.secure_channel(f"127.0.0.1:{ports[j]}", theirs, options=options)
            await stack.enter_async_context(channel)
            calls[i, j] = _one_after_the_other(channel) if streams else channel.unary_unary("/bench.Bare/Call")
            await calls[i, j](b"")
        yield lambda i, j, content: calls[i, j](content)


def _one_after_the_other(channel: aio.Channel) -> Callable[[bytes], Awaitable[bytes]]:
    """Calls over one stream, each when the one before is answered."""
    stream, turn = channel.stream_stream("/bench.Bare/Stream")(), asyncio.Lock()

    async def call(content: bytes) -> bytes:
        async with turn:
            await stream.write(content)
            return await stream.read()

    return call


def _spread(x: np.ndarray) -> float:
    """How far apart they are, in about a thousand of the coordinates."""
    return float(np.ptp(x[:, :: max(1, x.shape[1] // 1000)], axis=0).max())


async def floor(
    values: np.ndarray,
    seed: int,
    configs: list[PeerConfig] | None = None,
    folder: Path | None = None,
    *,
    streams: bool = False,
) -> dict[str, float]:
    """Plain gossip until all are within the tolerance of each other.

    With ``configs`` each vector of it really travels; with ``folder``, each end also writes it and waits for the disk.
    """
    rng, x, exchanges, size = np.random.default_rng(seed), values.copy(), 0, 8 * values.shape[1]
    async with contextlib.AsyncExitStack() as stack:
        call = None if configs is None else await stack.enter_async_context(bare(configs, streams=streams))
        files = [] if folder is None else [stack.enter_context((folder / str(k)).open("wb")) for k in range(PEERS)]
        with Meter() as meter:
            while _spread(x) > TOLERANCE:
                i, j = EDGES[rng.integers(len(EDGES))]
                there = x[i] if call is None else np.frombuffer(await call(i, j, x[i].tobytes()), dtype=np.float64)
                x[i] = x[j] = (there + x[j]) / 2.0
                for k in (i, j) if files else ():
                    os.pwrite(files[k].fileno(), x[k].data, 0)
                    os.fdatasync(files[k].fileno())
                exchanges += 1
    return meter.row(exchanges, calls=exchanges, bytes=0.0 if call is None else 2 * exchanges * size / PEERS)


async def paced(values: np.ndarray, seed: int, configs: list[PeerConfig]) -> dict[str, float]:
    """As :func:`floor` with transfers, when twenty clocks ring: each eight times a second for each neighbour (R99)."""
    rng, x, exchanges, agreed = np.random.default_rng(seed), values.copy(), 0, asyncio.Event()
    ways = [[(i, j) for i, j in EDGES if k in (i, j)] for k in range(PEERS)]
    async with bare(configs) as call:

        async def ring(way: list[tuple[int, int]]) -> None:
            nonlocal exchanges
            while True:
                await asyncio.sleep(rng.exponential(1.0 / (len(way) * configs[0].rate * HURRY)))
                i, j = way[rng.integers(len(way))]
                await call(i, j, x[i].tobytes())
                x[i] = x[j] = (x[i] + x[j]) / 2.0  # as they are now: another clock may have rung meanwhile
                exchanges += 1
                if _spread(x) <= TOLERANCE:
                    agreed.set()

        with Meter() as meter:
            clocks = [asyncio.create_task(ring(way)) for way in ways]
            await agreed.wait()
        for clock in clocks:
            clock.cancel()
        await asyncio.gather(*clocks, return_exceptions=True)
    return meter.row(exchanges, calls=exchanges, bytes=2 * exchanges * 8 * values.shape[1] / PEERS)


def noise_seconds(dimension: int) -> float:
    """Processor seconds of a draw of noise, on average over the sizes that a topic's draws have, seals included."""
    size = NETWORK["noise_std"] / float(NETWORK["unit"])
    sizes = [size, size, *(size * NETWORK["noise_decay"] ** t for t in range(21))]
    began = time.process_time()
    for one in sizes:
        system_noise(dimension, one)
    return (time.process_time() - began) / len(sizes)


async def call_seconds(configs: list[PeerConfig]) -> dict[str, float]:
    """Processor seconds of a bare call without content over a stream, and of each byte that it carries.

    Calls one after the other for the bytes. Those of a topic come alone, two hundred a second at random times, and wake
    gRPC's threads each time: so are the calls timed that carry nothing.
    """
    number, size, spent = 200, 400_000, []
    rng = np.random.default_rng(0)
    async with bare(configs, streams=True) as call:

        async def alone(k: int) -> None:
            await asyncio.sleep(rng.random())
            await call(*EDGES[k % len(EDGES)], b"1")

        for content in (b"1", bytes(size)):
            began = time.process_time()
            for k in range(number):
                await call(*EDGES[k % len(EDGES)], content)
            spent.append((time.process_time() - began) / number)
        began = time.process_time()
        await asyncio.gather(*(alone(k) for k in range(number)))
        each = (time.process_time() - began) / number
    return {"call": each, "call in a row": spent[0], "byte": (spent[1] - spent[0]) / (2 * size)}


def keep_as_twenty() -> None:
    """Let this process keep what twenty of them keep of the memory that they free: they all run in this one."""
    keep_freed_memory()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_TRIM_THRESHOLD, PEERS * 2 * KEPT_BLOCK)


Row = dict[str, Any]


async def turn(
    values: np.ndarray, configs: list[PeerConfig], crews: dict[str, Crew], folder: Path, seed: int, missing: str
) -> dict[str, Row]:
    """Each of them once, with the edges of this seed."""
    name = str(seed)
    return {
        "arithmetic": await floor(values, seed),
        "transfer": await floor(values, seed, configs),
        "streams": await floor(values, seed, configs, streams=True),
        "in memory": await topic(configs, values, name, on_disk=False, missing=missing),
        "paced": await paced(values, seed, configs),
        "transfer and disk": await floor(values, seed, configs, folder),
        "on disk": await topic(configs, values, name, on_disk=True, missing=missing),
        "few numbers": await topic(configs, values[:, :FEW], name, on_disk=False, missing=missing),
        **{kind: one.topic(name, missing) for kind, one in crews.items()},
    }


def middle(rows: list[Row]) -> Row:
    """The middle one of several runs by processor time, and the least and most of all."""
    found = sorted(rows, key=lambda row: float(row["processor"]))[len(rows) // 2]
    return found | {f"{what}s": [min(row[what] for row in rows), max(row[what] for row in rows)] for what in SPREAD}


async def measure(dimension: int, folder: Path, missing: str, turns: int, processes: int) -> dict[str, Any]:
    values = np.random.default_rng(1).normal(size=(PEERS, dimension))
    with (
        crew(values, folder / "a", processes, on_disk=False) as in_memory,
        crew(values, folder / "b", processes, on_disk=True) as on_disk,
    ):
        crews = {"in memory, processes": in_memory, "on disk, processes": on_disk}
        configs = configurations(folder / "in one", dimension)
        keep_as_twenty()  # as peers with long vectors do: so the floor gains from it, too
        await floor(values, 2, configs)  # the first one finds everything cold
        found = [await turn(values, configs, crews, folder, 2 + number, missing) for number in range(turns)]
    return {
        "processes": processes,
        "dimension": dimension,
        "peers": PEERS,
        "turns": turns,
        **{name: middle([one[name] for one in found]) for name in found[0]},
        "draw": noise_seconds(dimension),
        **await call_seconds(configs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimension", type=int, default=100_000)
    parser.add_argument("--missing", default="wait")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--processes", type=int, default=2, help="that the same peers are spread over, too")
    parser.add_argument("--json", type=Path, help="keep the result in this file")
    parser.add_argument("--table", type=Path, help="measure nothing: print the tables of such a file")
    arguments = parser.parse_args()
    if arguments.table:
        found = json.loads(arguments.table.read_text(encoding="utf-8"))
    else:
        with tempfile.TemporaryDirectory() as name:
            folder, how = Path(name), (arguments.missing, arguments.turns, arguments.processes)
            found = asyncio.run(measure(arguments.dimension, folder, *how))
    print(table(found), account(found), sep="\n\n")
    peak = max(found[name]["peaks"][1] for name in ("in memory", "on disk"))
    print(f"\n{peak / 1e6:.0f} MB more memory for each peer")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
