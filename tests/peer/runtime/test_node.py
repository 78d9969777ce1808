"""The real node, in virtual time: asyncio, stores and a transport around the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import ConfigError, InvalidParameter, PeerError, StoreError
from sottovoce.peer import Peer, PeerConfig
from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.messages import Kind
from sottovoce.peer.store import MemoryStore
from sottovoce.peer.store.sqlite import read_state
from sottovoce.testing import SeededPeer, VirtualClock, run_virtually
from sottovoce.testing.memory_transport import Faults, Medium, MemoryTransport

NOWHERE = "127.0.0.1:1"


class Recorder:
    """An observer that keeps everything it is told."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.lines: list[tuple[str, str, dict[str, object]]] = []

    def count(self, event: str, neighbour: str = "") -> None:
        self.counts[event] = self.counts.get(event, 0) + 1

    def log(self, level: str, event: str, **fields: object) -> None:
        self.lines.append((level, event, fields))


class Town:
    """Peers on a ring, in one process, over a medium with faults."""

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

    def config(self, name: str, neighbours: list[str] | None = None) -> PeerConfig:
        k = self.names.index(name)
        ring = [self.names[k - 1], self.names[(k + 1) % len(self.names)]]
        fields = {
            "noise_std": 1.0, "noise_decay": 0.8, "smallest_std": None, "diameter": len(self.names) // 2,
            "grace": 3.0, **self.fields,
        }  # fmt: skip
        return PeerConfig(
            name=name, network="town", listen="127.0.0.1:0",
            data_dir=None if self.folder is None else self.folder / name,
            neighbours=dict.fromkeys(ring if neighbours is None else neighbours, NOWHERE), **fields,
        )  # fmt: skip

    def peer(self, name: str, *, config: PeerConfig | None = None, value: Any = ..., fresh: bool = False) -> SeededPeer:
        config = config or self.config(name)
        if fresh:
            self.stores.pop(name, None)
        kept = self.stores.get(name)
        self.stores[name] = store = MemoryStore()
        if kept is not None:
            store._state = kept._state
        self.observers[name] = Recorder()
        return SeededPeer(
            config,
            self.values[name] if value is ... else value,
            seed=len(name) + sum(map(ord, name)),
            store=store if self.folder is None else None,
            transport=MemoryTransport(name, self.medium, set(config.neighbours)),
            clock=VirtualClock(sum(map(ord, name))),
            observer=self.observers[name],
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[dict[str, Peer]]:
        async with contextlib.AsyncExitStack() as stack:
            yield {name: await stack.enter_async_context(self.peer(name)) for name in self.names}

    @property
    def mean(self) -> np.ndarray:
        return np.mean(list(self.values.values()), axis=0)


async def all_settled(peers: dict[str, Peer]) -> None:
    await asyncio.gather(*(peer.settled(2000) for peer in peers.values()))


def near(peers: dict[str, Peer], mean: Any, tolerance: float = 1e-3) -> bool:
    return all(np.abs(np.atleast_1d(peer.estimate) - mean).max() <= tolerance for peer in peers.values())


def test_peers_settle_on_the_mean() -> None:
    """Four peers find the mean of their values, say so, and their bound holds."""
    town = Town(faults=Faults(loss=0.05, delay=0.01))

    async def story() -> None:
        async with town.running() as peers:
            await all_settled(peers)
            assert near(peers, town.mean)
            for peer in peers.values():
                status = peer.status()
                assert status.plus_minus is not None
                assert abs(peer.estimate - town.mean[0]) <= status.plus_minus
                assert status.settled
                assert "settled" in status.statement

    run_virtually(story())


def test_vectors_settle_coordinate_by_coordinate() -> None:
    """The mean of vectors, and an estimate that is an array."""
    town = Town(3, dimension=5)
    town.values = {name: np.arange(5.0) * (k + 1) for k, name in enumerate(town.names)}

    async def story() -> None:
        async with town.running() as peers:
            await all_settled(peers)
            assert near(peers, town.mean)
            assert isinstance(peers["p0"].estimate, np.ndarray)

    run_virtually(story())


def test_a_restart_resumes_from_disk(tmp_path: Path) -> None:
    """Stopped and started again without a value, a peer goes on where it was; all still find the mean."""
    town = Town(3, folder=tmp_path)

    async def story() -> None:
        async with town.running() as peers:
            await asyncio.sleep(3.0)
            await peers["p1"].close()
            draws = read_state(tmp_path / "p1").account.messages
            assert draws > 0
            async with town.peer("p1", value=None) as again:
                assert again.status().draws >= draws
                peers["p1"] = again
                await all_settled(peers)
                assert near(peers, town.mean)

    run_virtually(story())


def test_an_empty_disk_is_refilled_by_the_neighbours() -> None:
    """A peer that comes back with nothing but its value recovers its flows; the mean is that of all."""
    town = Town(4)

    async def story() -> None:
        async with town.running() as peers:
            await asyncio.sleep(5.0)
            await peers["p2"]._end()  # no farewell
            async with town.peer("p2", fresh=True) as again:
                peers["p2"] = again
                await all_settled(peers)
                assert near(peers, town.mean)
                assert town.observers["p2"].counts["adopted"] == 2

    run_virtually(story())


def test_leaving_leaves_the_mean_of_the_others() -> None:
    """After a graceful leave the rest settles on its own mean, without any operator's help."""
    town = Town(5, diameter=4)

    async def story() -> None:
        async with town.running() as peers:
            await all_settled(peers)
            assert await peers.pop("p4").leave() == []
            town.values.pop("p4")
            await asyncio.sleep(0.1)
            assert not any(peer.status().settled for name, peer in peers.items() if name in ("p0", "p3"))
            await asyncio.sleep(30.0)
            await all_settled(peers)
            assert near(peers, town.mean)
            assert peers["p0"].status().neighbours["p4"].state == "parted"

    run_virtually(story())


def test_an_operator_removes_a_dead_neighbour() -> None:
    """While it is silent nothing is certified; once dropped, the others settle on their own mean."""
    town = Town(4, diameter=4)

    async def story() -> None:
        async with town.running() as peers:
            await asyncio.sleep(4.0)
            dead = peers.pop("p3")
            await dead._end()
            await asyncio.sleep(60.0)
            status = peers["p0"].status()
            assert status.neighbours["p3"].state == "unreachable"
            assert not status.settled
            assert "p3" in status.statement
            town.values.pop("p3")
            told = [await peers[name].drop_neighbour("p3") for name in ("p0", "p2")]
            assert told == [False, False]
            await all_settled(peers)
            assert near(peers, town.mean)

    run_virtually(story())


def test_a_late_joiner_is_counted_in() -> None:
    """A new peer added on both sides moves the mean to that of all."""
    town = Town(4, diameter=4)

    async def story() -> None:
        async with town.running() as peers:
            await all_settled(peers)
            town.names.append("late")
            town.values["late"] = np.array([40.0])
            config = town.config("late", ["p0", "p2"])
            async with town.peer("late", config=config) as late:
                for name in ("p0", "p2"):
                    await peers[name].add_neighbour("late", NOWHERE)
                peers["late"] = late
                await asyncio.sleep(20.0)
                await all_settled(peers)
                assert near(peers, town.mean)

    run_virtually(story())


def test_a_live_change_of_value_moves_the_mean() -> None:
    """Noise starts afresh, all un-settle, and settle on the new mean."""
    town = Town(4)

    async def story() -> None:
        async with town.running() as peers:
            await all_settled(peers)
            draws = peers["p1"].status().draws
            town.values["p1"] = np.array([100.0])
            await peers["p1"].set_value(100.0, new_secret=True)
            status = peers["p1"].status()
            assert (status.draws, status.account, status.settled) == (0, 0.0, False)
            assert draws > 0
            await asyncio.sleep(30.0)
            await all_settled(peers)
            assert near(peers, town.mean)

    run_virtually(story())


def test_a_partition_heals_by_itself() -> None:
    """Each half keeps what was moved; joined again, all find the mean."""
    town = Town(6, diameter=3)

    async def story() -> None:
        async with town.running() as peers:
            await asyncio.sleep(2.0)
            town.medium.partition({"p0", "p1", "p2"}, {"p3", "p4", "p5"})
            await asyncio.sleep(20.0)
            assert not any(peer.status().settled for peer in peers.values())
            town.medium.heal()
            await all_settled(peers)
            assert near(peers, town.mean)

    run_virtually(story())


def test_a_spent_budget_is_said_and_kept() -> None:
    """With a budget that freezes the noise early, no coalition learns more than was allowed, and status says why."""
    town = Town(3, smallest_std=0.2)

    async def story() -> None:
        async with town.running() as peers:
            await asyncio.sleep(60.0)
            for peer in peers.values():
                status = peer.status()
                assert status.budget_spent
                assert status.known_to >= 0.2 * (1 - 1e-9)
                assert not status.settled
                assert "budget is spent" in status.statement

    run_virtually(story())


def test_settled_heartbeats_are_rare() -> None:
    """A settled network calls once per neighbour and sync interval (R36)."""
    town = Town(3, sync_interval=10.0)

    async def story() -> None:
        async with town.running() as peers:
            await all_settled(peers)
            await asyncio.gather(*(peer.quiet(1000) for peer in peers.values()))
            before = sum(peer.status().exchanges for peer in peers.values())
            await asyncio.sleep(100.0)
            calls = (sum(peer.status().exchanges for peer in peers.values()) - before) / 2
            assert 20 < calls < 100  # 3 peers × 2 neighbours × 10 intervals = 60; at full rate it would be 1200

    run_virtually(story())


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


def test_nothing_is_said_that_was_not_stored() -> None:
    """When the disk is full the peer stops speaking at once, and whoever waits for it is told why."""
    town = Town(2, diameter=1)
    sent: list[Any] = []

    async def story() -> None:
        config = town.config("p1", ["p0"])
        store = FullDisk(4)
        transport = MemoryTransport("p1", town.medium, {"p0"})
        original = transport.call

        async def call(dst: str, message: Any, timeout: float) -> Any:  # noqa: ASYNC109 - as the transport's
            sent.append((store.left, message.s, message.xid, store._state))
            return await original(dst, message, timeout)

        transport.call = call  # type: ignore[method-assign]
        async with town.peer("p0", config=town.config("p0", ["p1"])):
            peer = SeededPeer(config, 1.0, seed=1, store=store, transport=transport, clock=VirtualClock(1))
            async with peer:
                failed = asyncio.ensure_future(peer.failed())
                with pytest.raises(StoreError, match="disk is full"):
                    await peer.settled(100)
                assert "disk is full" in str(await failed)
                count = len(sent)
                await asyncio.sleep(50)
                assert len(sent) == count
        for left, s, xid, state in sent:
            assert left >= 0
            assert state.edges["p0"].s >= s
            assert state.requests >= xid

    run_virtually(story())


def test_what_is_sent_is_already_on_disk(tmp_path: Path) -> None:
    """At every call and every reply the store holds the counters that the message shows (R1)."""
    town = Town(3, folder=tmp_path)
    seen = 0

    async def story() -> None:
        nonlocal seen
        async with town.running() as peers:
            for peer in peers.values():
                peer._transport.call = watched(peer, peer._transport.call)  # type: ignore[union-attr, method-assign]
                peer._transport._handler = answering(peer, peer._transport._handler)  # type: ignore[union-attr]
            await asyncio.sleep(8.0)

    def check(peer: Peer, message: Any) -> None:
        nonlocal seen
        saved = peer._store._saved  # type: ignore[union-attr]
        edge = saved.edges[message.dst]
        assert (edge.sid, edge.s, edge.r) == (message.src_sid, message.s, message.r)
        assert saved.requests >= message.xid or message.kind.name != "REQ"
        seen += 1

    def watched(peer: Peer, call: Callable[..., Any]) -> Callable[..., Any]:
        async def wrapper(dst: str, message: Any, timeout: float) -> Any:  # noqa: ASYNC109 - as the transport's
            if message.kind.name == "REQ" and peer._protocol.pending.tries == 2:  # type: ignore[union-attr]
                check(peer, message)
            return await call(dst, message, timeout)

        return wrapper

    def answering(peer: Peer, handler: Callable[..., Any]) -> Callable[..., Any]:
        async def wrapper(name: str, message: Any) -> Any:
            reply = await handler(name, message)
            if reply is not None:
                check(peer, reply)
            return reply

        return wrapper

    run_virtually(story())
    assert seen > 30


def test_status_shows_nothing_private_before_an_exchange() -> None:
    """Alone, the estimate is the private value: it is not shown. Nor is it in any representation or log line."""
    town = Town(2, diameter=1)

    async def story() -> None:
        async with town.peer("p0", value=123.456789, config=town.config("p0", ["p1"])) as peer:
            await asyncio.sleep(5.0)
            status = peer.status()
            assert status.estimate is None
            shown = json.dumps(status.to_dict()) + repr(peer) + repr(status) + repr(peer._protocol.state)  # type: ignore[union-attr]
            assert "123.4" not in shown + repr(town.observers["p0"].lines)

    run_virtually(story())


def test_status_shows_nothing_private_after_everybody_left() -> None:
    """When the last neighbour is dropped the estimate falls back to the private value, so it is hidden again."""
    town = Town(2, diameter=1)

    async def story() -> None:
        async with town.peer("p0", config=town.config("p0", ["p1"])) as one:
            async with town.peer("p1", config=town.config("p1", ["p0"])) as other:
                await asyncio.gather(one.settled(1000), other.settled(1000))
                assert one.status().estimate is not None
                await other.leave()
            await asyncio.sleep(0.1)
            assert one.status().estimate is None
            await one.drop_neighbour("p1")
            assert one.status().estimate is None

    run_virtually(story())


def test_status_is_plain_data() -> None:
    """It survives JSON, also while nothing is known and bounds are infinite."""
    town = Town(2, diameter=1)

    async def story() -> None:
        async with town.peer("p0", config=town.config("p0", ["p1"])) as peer:
            plain = json.loads(json.dumps(peer.status().to_dict(), allow_nan=False))
            assert plain["known_to"] is None
            assert plain["neighbours"]["p1"]["state"] == "blank"

    run_virtually(story())


def test_bad_beginnings_are_refused() -> None:
    """No value and no store, a value of the wrong size, a stranger dropped, a peer not started."""
    town = Town(2, diameter=1)

    async def story() -> None:
        with pytest.raises(ConfigError, match="needs its private value"):
            async with town.peer("p0", value=None):
                pass
        with pytest.raises(ValueError, match=r"coordinate|number|dimension|value"):
            town.peer("p0", value=[1.0, 2.0])
        with pytest.raises(PeerError, match="not been started"):
            town.peer("p0").status()
        async with town.peer("p0") as peer:
            with pytest.raises(InvalidParameter, match="neighbour must be one"):
                await peer.drop_neighbour("eve")
            with pytest.raises(InvalidParameter, match="own neighbour"):
                await peer.add_neighbour("p0", NOWHERE)

    run_virtually(story())


def test_a_flood_of_messages_is_cut_off() -> None:
    """Beyond a hundred a second a neighbour's messages are not even looked at, and none of them costs a transaction."""
    town = Town(2, diameter=1)

    async def story() -> None:
        async with (
            town.peer("p0", config=town.config("p0", ["p1"])) as peer,
            town.peer("p1", config=town.config("p1", ["p0"])) as other,
        ):
            await asyncio.sleep(5.0)
            request = replace(other._protocol.greet("p0"), kind=Kind.REQ, x=np.zeros(1))
            draws = peer.status().draws
            for xid in range(1000):
                await peer._talker.hear("p1", replace(request, xid=10_000 + xid))
            assert town.observers["p0"].counts["flood"] >= 850
            assert peer.status().draws <= draws + 7

    run_virtually(story())


def test_a_missing_value_is_noticed_before_anything_is_written(tmp_path: Path) -> None:
    """Without a value and without a store nothing is made on disk."""
    town = Town(2, diameter=1, folder=tmp_path)

    async def story() -> None:
        with pytest.raises(ConfigError, match="needs its private value"):
            async with town.peer("p0", value=None):
                pass

    run_virtually(story())
    assert list(tmp_path.iterdir()) == []


def test_a_settled_peer_whose_disk_fails_stops() -> None:
    """Also while it sleeps between heartbeats: the reason reaches whoever waits, and it falls silent."""
    town = Town(2, diameter=1)

    async def story() -> None:
        async with (
            town.peer("p0", config=town.config("p0", ["p1"])) as peer,
            town.peer("p1", config=town.config("p1", ["p0"])) as other,
        ):
            await asyncio.gather(peer.settled(1000), other.settled(1000))
            await asyncio.gather(peer.quiet(1000), other.quiet(1000))
            peer._keeper._store = FullDisk(0)
            assert "disk is full" in str(await asyncio.wait_for(peer.failed(), 1000))
            exchanges = other.status().exchanges
            await asyncio.sleep(100)
            assert other.status().exchanges == exchanges

    run_virtually(story())


def test_violations_are_counted_and_change_nothing() -> None:
    """A message that breaks the protocol gets no answer, is counted, and leaves the state the same object."""
    town = Town(2, diameter=1)

    async def story() -> None:
        async with (
            town.peer("p0", config=town.config("p0", ["p1"])) as peer,
            town.peer("p1", config=town.config("p1", ["p0"])) as other,
        ):
            await asyncio.sleep(5.0)
            good = other._protocol.greet("p0")
            state = peer._protocol.state
            for bad in (replace(good, s=2**40), replace(good, f=np.array([np.nan]), s=good.s + 1), replace(good, r=-1)):
                assert await peer._talker.hear("p1", bad) is None
            assert peer._protocol.state is state
            assert town.observers["p0"].counts["violation"] == 3

    run_virtually(story())
