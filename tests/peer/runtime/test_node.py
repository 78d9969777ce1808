"""The life of real nodes in virtual time: they settle, restart, lose disks, come and go, and keep their values."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import ConfigError, InvalidParameter, PeerError
from sottovoce.peer.protocol import PeerState
from sottovoce.peer.store.sqlite import read_state
from sottovoce.testing import run_virtually
from sottovoce.testing.memory_transport import Faults

from .town import NOWHERE, Town, all_settled, near, virtually


@virtually
async def test_peers_settle_on_the_mean() -> None:
    """Four peers find the mean of their values, say so, and their bound holds."""
    town = Town(faults=Faults(loss=0.05, delay=0.01))
    async with town.running() as peers:
        await all_settled(peers)
        assert near(peers, town.mean)
        for peer in peers.values():
            status = peer.status()
            assert status.plus_minus is not None
            assert abs(peer.estimate - town.mean[0]) <= status.plus_minus
            assert status.settled
            assert "settled" in status.statement


@virtually
async def test_vectors_settle_coordinate_by_coordinate() -> None:
    """The mean of vectors, and an estimate that is an array."""
    town = Town(3, dimension=5)
    town.values = {name: np.arange(5.0) * (k + 1) for k, name in enumerate(town.names)}
    async with town.running() as peers:
        await all_settled(peers)
        assert near(peers, town.mean)
        assert isinstance(peers["p0"].estimate, np.ndarray)


@virtually
async def test_a_restart_resumes_from_disk(tmp_path: Path) -> None:
    """Stopped and started again without a value, a peer goes on where it was; all still find the mean."""
    town = Town(3, folder=tmp_path)
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


@virtually
async def test_an_empty_disk_is_refilled_by_the_neighbours() -> None:
    """A peer that comes back with nothing but its value recovers its flows; the mean is that of all."""
    town = Town(4)
    async with town.running() as peers:
        await asyncio.sleep(5.0)
        await peers["p2"]._end()  # no farewell
        async with town.peer("p2", fresh=True) as again:
            peers["p2"] = again
            await all_settled(peers)
            assert near(peers, town.mean)
            assert town.observers["p2"].counted("adopted") == 2


@virtually
async def test_leaving_leaves_the_mean_of_the_others() -> None:
    """After a graceful leave the rest settles on its own mean, without any operator's help."""
    town = Town(5, diameter=4)
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


@virtually
async def test_an_operator_removes_a_dead_neighbour() -> None:
    """While it is silent nothing is certified; once dropped, the others settle on their own mean."""
    town = Town(4, diameter=4)
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


@virtually
async def test_a_late_joiner_is_counted_in() -> None:
    """A new peer added on both sides moves the mean to that of all."""
    town = Town(4, diameter=4)
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


@virtually
async def test_a_live_change_of_value_moves_the_mean() -> None:
    """Noise starts afresh, all un-settle, and settle on the new mean."""
    town = Town(4)
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


@virtually
async def test_a_partition_heals_by_itself() -> None:
    """Each half keeps what was moved; joined again, all find the mean."""
    town = Town(6, diameter=3)
    async with town.running() as peers:
        await asyncio.sleep(2.0)
        town.medium.partition({"p0", "p1", "p2"}, {"p3", "p4", "p5"})
        await asyncio.sleep(20.0)
        assert not any(peer.status().settled for peer in peers.values())
        town.medium.heal()
        await all_settled(peers)
        assert near(peers, town.mean)


@virtually
async def test_a_spent_budget_is_said_and_kept() -> None:
    """With a budget that freezes the noise early, no coalition learns more than was allowed, and status says why."""
    town = Town(3, smallest_std=0.2)
    async with town.running() as peers:
        await asyncio.sleep(60.0)
        for peer in peers.values():
            status = peer.status()
            assert status.budget_spent
            assert status.known_to >= 0.2 * (1 - 1e-9)
            assert not status.settled
            assert "budget is spent" in status.statement


@virtually
async def test_settled_heartbeats_are_rare() -> None:
    """A settled network calls once per neighbour and sync interval (R36)."""
    town = Town(3, sync_interval=10.0)
    async with town.running() as peers:
        await all_settled(peers)
        await asyncio.gather(*(peer.quiet(1000) for peer in peers.values()))
        before = sum(peer.status().exchanges for peer in peers.values())
        await asyncio.sleep(100.0)
        calls = (sum(peer.status().exchanges for peer in peers.values()) - before) / 2
        assert 20 < calls < 100  # 3 peers × 2 neighbours × 10 intervals = 60; at full rate it would be 1200


# -- what it tells ----------------------------------------------------------------------------------


@virtually
async def test_status_shows_nothing_private_before_an_exchange() -> None:
    """Alone, the estimate is the private value: it is not shown. Nor is it in any representation or log line."""
    town = Town(2, diameter=1)
    async with town.peer("p0", value=123.456789, config=town.config("p0", ["p1"])) as peer:
        await asyncio.sleep(5.0)
        status = peer.status()
        assert status.estimate is None
        shown = json.dumps(status.to_dict()) + repr(peer) + repr(status) + repr(peer._protocol.state)
        assert "123.4" not in shown + repr(town.observers["p0"].lines)


@virtually
async def test_status_shows_nothing_private_after_everybody_left() -> None:
    """When the last neighbour is dropped the estimate falls back to the private value, so it is hidden again."""
    town = Town(2, diameter=1)
    async with town.peer("p0", config=town.config("p0", ["p1"])) as one:
        async with town.peer("p1", config=town.config("p1", ["p0"])) as other:
            await asyncio.gather(one.settled(1000), other.settled(1000))
            assert one.status().estimate is not None
            await other.leave()
        await asyncio.sleep(0.1)
        assert one.status().estimate is None
        await one.drop_neighbour("p1")
        assert one.status().estimate is None


@virtually
async def test_status_is_plain_data() -> None:
    """It survives JSON, also while nothing is known and bounds are infinite."""
    town = Town(2, diameter=1)
    async with town.peer("p0", config=town.config("p0", ["p1"])) as peer:
        plain = json.loads(json.dumps(peer.status().to_dict(), allow_nan=False))
        assert plain["known_to"] is None
        assert plain["neighbours"]["p1"]["state"] == "blank"


@virtually
async def test_the_status_of_everybody_names_a_member_that_is_gone() -> None:
    """R90: of the standing average too, three hops away: who, since when, and who says so, also as JSON."""
    town = Town(6, diameter=3, members=6)
    async with town.running() as peers:
        await all_settled(peers)
        await town.medium.members["p0"].close()
        await peers["p0"]._halt()
        await asyncio.sleep(60.0)
        (missing,) = peers["p3"].status().to_dict()["missing"]
        assert (missing["name"], missing["contributed"]) == ("p0", True)
        assert missing["witness"] in ("p1", "p5")
        assert 45.0 <= missing["seconds"] <= 75.0
        (seen,) = peers["p1"].status().missing
        assert (seen.name, seen.witness) == ("p0", "")
        await peers["p3"].set_value(7.0)  # and now it cannot settle any more
        await asyncio.sleep(20.0)
        assert "no bound: others say they wait for p0 (not answering for" in peers["p3"].status().statement


def holders(root: object, secret: float) -> list[str]:
    """Types of the objects reachable from `root`, other than by way of a durable state, that hold the number."""
    seen: set[int] = set()
    found, frontier = [], [root]
    while frontier:
        thing = frontier.pop()
        if id(thing) in seen or isinstance(thing, type | ModuleType | FunctionType | PeerState):
            continue
        seen.add(id(thing))
        held: Any = thing if isinstance(thing, int | float | np.ndarray) else None
        if held is not None and np.any(np.asarray(held, dtype=object) == secret):
            found.append(type(thing).__name__)
        frontier.extend(gc.get_referents(thing))
    return found


@virtually
async def test_the_private_value_is_kept_in_the_durable_state_only() -> None:
    """Nothing that a running peer refers to holds the number, except the state that it must store."""
    town = Town(2, diameter=1)
    town.values["p0"] = np.array([31415.9265])
    unstarted = town.peer("p0")
    assert holders(unstarted, 31415_926500) == ["ndarray"]
    async with town.pair() as (peer, other):
        assert peer._protocol.state.value.tolist() == [31415_926500]
        for secret in (31415.9265, 31415_926500):
            assert holders([peer, town.medium, town.observers], secret) == []
        await asyncio.gather(peer.settled(1000), other.settled(1000))
        for secret in (31415.9265, 31415_926500):
            assert holders([peer, other, town.medium, town.observers], secret) == []


def test_a_peer_without_a_value_leaves_no_trace(tmp_path: Path) -> None:
    """Neither a value nor a store: refused before anything is made on disk."""
    town = Town(2, folder=tmp_path)
    with pytest.raises(ConfigError, match="needs its private value"):
        run_virtually(town.peer("p0", value=None).__aenter__())
    assert list(tmp_path.iterdir()) == []


@virtually
async def test_bad_beginnings_are_refused() -> None:
    """A value of the wrong size, a peer that was not started, neighbours that cannot be."""
    town = Town(2, diameter=1)
    with pytest.raises(ValueError, match="must have 1 coordinates"):
        town.peer("p0", value=[1.0, 2.0])
    with pytest.raises(PeerError, match="not been started"):
        town.peer("p0").status()
    with pytest.raises(PeerError, match="not been started"):
        await town.peer("p0").leave()
    async with town.peer("p0") as peer:
        with pytest.raises(InvalidParameter, match="neighbour must be one"):
            await peer.drop_neighbour("eve")
        with pytest.raises(InvalidParameter, match="own neighbour"):
            await peer.add_neighbour("p0", NOWHERE)


@pytest.mark.parametrize("steps", range(4))
def test_a_peer_that_is_told_to_stop_together_with_news_stops(steps: int) -> None:
    """The own clock of a quiet peer wakes for news; an end that comes at the same moment is not lost."""

    async def scenario() -> None:
        town = Town(2, diameter=1)
        async with town.pair() as (peer, other):
            await asyncio.gather(peer.quiet(2000), other.quiet(2000))
            await asyncio.sleep(20.0)  # its clock has noticed
            assert peer._protocol.quiet
            peer._protocol.rule.disturbed()
            assert not peer._protocol.quiet
            peer._kept.tell()
            for _ in range(steps):
                await asyncio.sleep(0)
            clock = peer._standing._clockwork
            assert clock is not None
            clock.cancel()
            await asyncio.wait([clock], timeout=1000.0)
            assert clock.done()

    run_virtually(scenario())
