"""Topics with everything real: TLS, sockets, SQLite, and a peer whose files are all that its next start knows."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.errors import TopicUnfinished
from sottovoce.peer import Average, Peer, PeerConfig
from sottovoce.peer.membership.founding import found_network
from sottovoce.testing.stage import free_addresses

NAMES = ["ada", "bob", "cyd"]


def founded(folder: Path) -> dict[str, Path]:
    addresses = dict(zip(NAMES, free_addresses(3), strict=True))
    return found_network(
        "disk", addresses, graphs.complete(3), folder / "net", days=2, smallest_std=None, noise_std=0.5,
        noise_decay=0.4, rate=20.0, grace=0.5, low=-1e3, high=1e3, longest_topic=20_000,
    )  # fmt: skip


async def averages(configs: dict[str, Path], topic: str, values: dict[str, object]) -> dict[str, Average]:
    """All three peers from start to end."""
    async with contextlib.AsyncExitStack() as stack:
        peers = {
            name: await stack.enter_async_context(Peer(PeerConfig.load(path), standing=False))
            for name, path in configs.items()
        }
        found = await asyncio.gather(*(peers[name].average(values[name], topic=topic, timeout=90) for name in NAMES))
        await asyncio.gather(*(peer.quiet(60) for peer in peers.values()))
        await asyncio.sleep(0.2)
    return dict(zip(NAMES, found, strict=True))


def test_topics_over_sockets_and_files(tmp_path: Path) -> None:
    """Two topics over real TLS, the second of twenty thousand numbers; then the files hold the answers and no value."""
    configs = founded(tmp_path)
    first = asyncio.run(averages(configs, "pay", {"ada": 41.0, "bob": 52.0, "cyd": 63.0}))
    assert {answer.mean for answer in first.values()} == {first["ada"].mean}
    assert abs(first["ada"].mean - 52.0) <= first["ada"].plus_minus <= 0.0005
    vectors = {name: np.full(20_000, float(k)) for k, name in enumerate(NAMES)}
    second = asyncio.run(averages(configs, "model", vectors))  # type: ignore[arg-type]
    assert np.abs(second["cyd"].mean - 1.0).max() <= 1e-3
    again = asyncio.run(averages(configs, "pay", {"ada": 41.0, "bob": 52.0, "cyd": 63.0}))
    assert again == first
    for path in configs.values():
        data = PeerConfig.load(path).data_dir
        assert data is not None
        with contextlib.closing(sqlite3.connect(data / "peer.sqlite")) as db:
            assert {what for (what,) in db.execute("SELECT what FROM state")} == {"topic", "shape"}


def test_an_open_topic_is_in_the_files(tmp_path: Path) -> None:
    """A contribution that nobody has answered yet is there after a restart, and goes on without being asked to."""
    configs = founded(tmp_path)

    async def alone() -> None:
        async with Peer(PeerConfig.load(configs["ada"]), standing=False) as peer:
            with pytest.raises(
                TopicUnfinished, match=r"waiting for bob \(not contributed for \d+ s, not heard yet\), cyd"
            ):
                await peer.average(3.0, topic="t", timeout=1.0)

    async def together() -> list[float]:
        async with contextlib.AsyncExitStack() as stack:
            peers = [await stack.enter_async_context(Peer(PeerConfig.load(configs[n]), standing=False)) for n in NAMES]
            assert peers[0].topics() == {"t": "open"}
            calls = [peer.average(0.0, topic="t", timeout=90) for peer in peers[1:]]
            return [answer.mean for answer in await asyncio.gather(*calls)]

    asyncio.run(alone())
    assert all(abs(mean - 1.0) < 1e-3 for mean in asyncio.run(together()))
