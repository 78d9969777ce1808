"""R1: nothing is said that is not on disk, and a disk that fails ends the peer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sottovoce.errors import StoreError
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.store import Identity, MemoryStore, Store
from sottovoce.peer.store.sqlite import SqliteStore
from sottovoce.peer.transport.base import Handler, RosterHandler
from sottovoce.testing import SeededPeer, VirtualClock
from sottovoce.testing.memory_transport import MemoryTransport

from .town import FullDisk, Town, virtually


class Overheard(MemoryTransport):
    """Notes, for every message that leaves, what the sender's store holds at that moment."""

    def __init__(self, name: str, town: Town, neighbour: str, store: Any) -> None:
        super().__init__(name, town.medium, {neighbour})
        self.store = store
        self.said: list[tuple[Message, Any]] = []

    def note(self, message: Message | None) -> None:
        if message is not None:
            state = self.store._state if isinstance(self.store, MemoryStore) else self.store._standing._saved
            self.said.append((message, state))

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        self.note(message)
        return await super().call(dst, message, timeout)

    async def serve(self, handler: Handler, rosters: RosterHandler | None = None) -> None:
        async def noting(src: str, message: Message) -> Message | None:
            reply = await handler(src, message)
            self.note(reply)
            return reply

        await super().serve(noting, rosters)


def overheard(town: Town, store: Store) -> tuple[SeededPeer, Overheard]:
    transport = Overheard("p1", town, "p0", store)
    config = town.config("p1", ["p0"])
    return SeededPeer(config, 1.0, seed=1, store=store, transport=transport, clock=VirtualClock(1)), transport


def check(transport: Overheard) -> None:
    """The store was never behind what was said."""
    for message, state in transport.said:
        edge = state.edges["p0"]
        assert (edge.sid, edge.s, edge.r) >= (message.src_sid, message.s, message.r)
        assert state.requests >= message.xid or message.kind.name != "REQ"


@virtually
async def test_what_is_sent_is_already_on_disk(tmp_path: Path) -> None:
    """At every call and every reply the store holds the counters that the message shows."""
    town = Town(2, diameter=1)
    peer, transport = overheard(town, SqliteStore(tmp_path, Identity("town", "p1", 1, "0.000001")))
    async with town.peer("p0", config=town.config("p0", ["p1"])), peer:
        await asyncio.sleep(10.0)
    check(transport)
    assert len(transport.said) > 30
    assert {"REQ", "REP", "HELLO"} <= {message.kind.name for message, _ in transport.said}


@virtually
async def test_a_request_that_shows_nothing_new_waits_for_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the noise gone an exchange costs one transaction at each end: a register, or the copy of one (R14, R18)."""
    town = Town(2, diameter=1, noise_decay=0.1, sync_interval=0.5)
    peer, transport = overheard(town, SqliteStore(tmp_path, Identity("town", "p1", 1, "0.000001")))
    async with town.peer("p0", config=town.config("p0", ["p1"])), peer:
        await asyncio.sleep(20.0)
        writes, write = [], SqliteStore.write
        monkeypatch.setattr(SqliteStore, "write", lambda self, change: (writes.append(1), write(self, change)))
        said, exchanges = len(transport.said), peer.status().exchanges
        await asyncio.sleep(100.0)
        exchanges = peer.status().exchanges - exchanges
    requests = sum(message.kind is Kind.REQ for message, _ in transport.said[said:])
    assert requests > 50
    assert exchanges > 100
    assert len(writes) <= exchanges + requests / 64 + 2
    check(transport)


@virtually
async def test_a_peer_that_cannot_store_falls_silent() -> None:
    """When the disk is full it stops speaking at once, and whoever waits for it is told why."""
    town = Town(2, diameter=1)
    peer, transport = overheard(town, FullDisk(4))
    async with town.peer("p0", config=town.config("p0", ["p1"])), peer:
        failed = asyncio.ensure_future(peer.failed())
        with pytest.raises(StoreError, match="disk is full"):
            await peer.settled(100)
        assert "disk is full" in str(await failed)
        count = len(transport.said)
        await asyncio.sleep(50)
        assert len(transport.said) == count > 0
    check(transport)


@virtually
async def test_a_settled_peer_whose_disk_fails_stops() -> None:
    """Also while it sleeps between heartbeats: the reason reaches whoever waits, and it falls silent."""
    town = Town(2, diameter=1)
    async with town.pair() as (peer, other):
        await asyncio.gather(peer.settled(1000), other.settled(1000))
        await asyncio.gather(peer.quiet(1000), other.quiet(1000))
        peer._kept._store = FullDisk(0)
        assert "disk is full" in str(await asyncio.wait_for(peer.failed(), 1000))
        exchanges = other.status().exchanges
        await asyncio.sleep(100)
        assert other.status().exchanges == exchanges


@virtually
async def test_an_input_without_an_answer_is_stored_a_moment_later() -> None:
    """What nothing was sent for does not wait for the next message to be kept."""
    town = Town(2, diameter=1, rate=1e-6)
    async with town.pair() as (peer, other):
        await asyncio.sleep(1.0)
        other._protocol.tick(None)  # fills the bucket
        request = peer._protocol.tick("p1")
        assert request is not None
        reply = other._protocol.receive(request)
        assert reply is not None
        assert await peer._standing.talker.hear("p1", reply) is None  # type: ignore[union-attr]
        assert town.stores["p0"]._state is not peer._protocol.state
        await asyncio.sleep(0.25)
        assert town.stores["p0"]._state is peer._protocol.state
