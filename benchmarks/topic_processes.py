"""The same topic between peers in several processes, so that it may use all cores of the machine."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from topic_network import PATIENCE, TOLERANCE, Applied, configurations, measured, running

from sottovoce.foundation.system import keep_freed_memory
from sottovoce.peer.membership.config import PeerConfig


class Crew:
    """Twenty peers in several processes; each topic is one call."""

    def __init__(self, values: np.ndarray, lines: list[Connection]) -> None:
        self._mean, self._lines = values.mean(axis=0), lines
        self.topic("first")  # connects them, and is not counted

    def topic(self, name: str, missing: str = "wait") -> dict[str, Any]:
        """What one topic took: processor time of all processes, and seconds until the last peer had its answer."""
        began = time.perf_counter()
        for line in self._lines:
            line.send((name, missing))
        told = [line.recv() for line in self._lines]
        assert max(np.abs(mean - self._mean).max() for _, _, mean in told) <= TOLERANCE
        rows = [row for row, _, _ in told]
        summed = ("exchanges", "processor", "calls", "bytes", "draws")
        return {key: sum(row[key] for row in rows) for key in summed} | {
            "wall": max(ended for _, ended, _ in told) - began,
            "peak": 0.0,
        }


@contextlib.contextmanager
def crew(values: np.ndarray, folder: Path, processes: int, *, on_disk: bool) -> Iterator[Crew]:
    """Found a network, and start its peers in so many processes; they end with the block."""
    configs = configurations(folder, values.shape[1])
    context = multiprocessing.get_context("spawn")
    lines, workers = [], []
    for number in range(processes):
        ours, theirs = context.Pipe()
        part = slice(number, None, processes)
        worker = context.Process(target=_work, args=(configs[part], values[part], theirs, on_disk))
        worker.start()
        theirs.close()  # so that a worker that dies is noticed
        lines.append(ours)
        workers.append(worker)
    try:
        yield Crew(values, lines)
    finally:
        for line in lines:
            line.close()
        for worker in workers:
            worker.join(PATIENCE)
            worker.terminate()  # one that waits for peers of a worker that has died


def _work(configs: list[PeerConfig], values: np.ndarray, line: Connection, on_disk: bool) -> None:  # noqa: FBT001
    keep_freed_memory()
    with contextlib.suppress(EOFError):  # the end
        asyncio.run(_peers(configs, values, line, on_disk=on_disk))


async def _peers(configs: list[PeerConfig], values: np.ndarray, line: Connection, *, on_disk: bool) -> None:
    applied = Applied()
    async with running(configs, applied, on_disk=on_disk) as peers:
        while True:
            name, missing = await asyncio.to_thread(line.recv)
            found = await measured(peers, values, name, missing, applied)
            await asyncio.to_thread(line.send, found)  # until it is read: others may need these peers meanwhile
