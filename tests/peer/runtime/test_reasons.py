"""Why a topic has no answer yet: who is missing is named, and what holds a peer itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re

import pytest

from sottovoce.errors import (
    PeerError,
    TopicClosed,
    TopicUnfinished,
)
from sottovoce.peer import Average
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.memory_transport import Faults

from .topic_town import all_average, open_town, protocols_of, town
from .town import virtually


@virtually
async def test_waiting_names_who_has_not_contributed() -> None:
    """With "wait" there is no answer without the fifth; the error names it; when it comes the same call goes on."""
    here = town()
    async with open_town(here) as peers:
        values = {name: float(k) for k, name in enumerate(here.names)}
        first = {name: value for name, value in values.items() if name != "p4"}
        waiting = [asyncio.ensure_future(peers[name].average(first[name], topic="t", timeout=30)) for name in first]
        ended = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(error, TopicUnfinished) for error in ended)
        assert ended[0].missing == ("p4",)  # type: ignore[union-attr]
        assert re.search(
            r"after 30 s: waiting for p4 \(not contributed for 30 s, last heard \d+ s ago\)", str(ended[3])
        )
        found = await all_average(peers, "t", values, timeout=100)
        assert {answer.number for answer in found.values()} == {5}


@virtually
async def test_the_status_says_what_each_open_topic_waits_for() -> None:
    """Who is missing, as this peer sees it and as others say, as plain data; nothing when the topic has ended."""
    here = town(6)
    async with open_town(here) as peers:
        waiting = [asyncio.ensure_future(peers[name].average(1.0, topic="t")) for name in here.names[1:]]
        await asyncio.sleep(20.0)
        near, far = (json.loads(json.dumps(peers[name].status().to_dict()))["topics"]["t"] for name in ("p1", "p3"))
        assert near["statement"].startswith("waiting for p0 (not contributed for 20 s, last heard")
        assert near["missing"][0]["witness"] == ""
        assert far["statement"].startswith("others say they wait for p0 (not contributed for 20 s, p")
        assert far["missing"][0]["witness"] in ("p1", "p5")
        assert 19.0 <= far["missing"][0]["seconds"] <= 20.0 == round(far["seconds"])
        await asyncio.gather(peers["p0"].average(1.0, topic="t"), *waiting)
        await asyncio.sleep(20.0)
        assert peers["p3"].status().topics == {}


@virtually
async def test_who_is_alone_is_told_whom_it_left_out() -> None:
    """With "drop" and no neighbour that contributes: no answer, and the error says who was missing."""
    async with LocalNetwork(["ada", "bob", "cyd"], [("ada", "bob"), ("bob", "cyd")]) as net:
        why = r"nobody is left to average with; it left out bob \(not contributed for 10 s, last heard 10 s ago\)"
        with pytest.raises(TopicClosed, match=why):
            await net["ada"].average(1.0, topic="t", missing="drop", timeout=10.0)
        with pytest.raises(TopicClosed, match="has ended with nobody left to average with"):
            await net["ada"].average(1.0, topic="t", missing="drop", timeout=10.0)


@virtually
async def test_a_member_that_dies_while_others_count_on_it_is_named_and_the_next_topic_goes_on() -> None:
    """With "drop" and nobody declared there is no answer, for nobody; the error says who and since when.

    Another topic has its answer without the dead one. If it comes back after all, so does the first answer, with it.
    """
    names = ["ada", "bob", "cyd", "dan"]
    ring = [("ada", "bob"), ("bob", "cyd"), ("cyd", "dan"), ("dan", "ada")]
    async with LocalNetwork(names, ring, faults=Faults(distance=0.01)) as net:
        calls = {
            name: asyncio.ensure_future(net[name].average(1.0 * k, topic="t", missing="drop", timeout=30.0))
            for k, name in enumerate(names)
        }
        while not any(protocol.bound for protocol in protocols_of(net, "t").values()):
            await asyncio.sleep(0.001)
        assert not any(protocol.declared for protocol in protocols_of(net, "t").values())
        await net.kill("dan")
        with contextlib.suppress(PeerError):
            await calls.pop("dan")
        for call in calls.values():
            seen = "waiting for dan .not answering for 5[0-9] s, last heard 5[0-9] s ago"
            told = "others say they wait for dan .not answering for 5[0-9] s, (ada|cyd) said [0-9]+ s ago"
            with pytest.raises(TopicUnfinished, match=f"no answer after 60 s: ({seen}|{told})") as error:
                await call
            assert error.value.missing == ("dan",)
        assert not any(protocol.declared for protocol in protocols_of(net, "t").values())
        again = (
            net[name].average(1.0 * k, topic="t/2", missing="drop", timeout=30.0) for k, name in enumerate(names[:3])
        )
        assert {(one.contributors, round(one.mean, 3)) for one in await asyncio.gather(*again)} == {
            (tuple(names[:3]), 1.0)
        }
        await net.start("dan")
        late = (net[name].average(1.0 * k, topic="t", missing="drop", timeout=90.0) for k, name in enumerate(names))
        assert {(one.contributors, round(one.mean, 3)) for one in await asyncio.gather(*late)} == {(tuple(names), 1.5)}


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (0.5, "is spent: noise of deviation 0.8 stays for good, too much to agree to 0.001"),
        (None, "is spent, and it shows nothing"),
    ],
)
def test_a_spent_budget_is_the_reason(before: float | None, why: str) -> None:
    """All are there, and there will be no answer: it was said that agreement takes longer, for ever."""

    async def ask() -> None:
        async with LocalNetwork(["ada", "bob", "cyd"]) as net:  # without a budget: it shows more than one pays for
            if before is None:
                await asyncio.gather(*(net[name].average(61.77, topic="first") for name in net))
                await asyncio.gather(*(net[name].quiet(60.0) for name in net))
        limited = LocalNetwork(["ada", "bob", "cyd"], smallest_std=0.5)
        limited._stores |= {name: store.copy() for name, store in net._stores.items()}
        async with limited as net:
            calls = (net[name].average(61.77, topic="t", timeout=60.0) for name in net)
            for found in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(found, TopicUnfinished)
                assert f"after 60 s: this peer's privacy budget for this secret (smallest_std) {why}" in str(found)
                assert "61" not in str(found)
            assert why in net["ada"].status().topics["t"].statement

    run_virtually(ask())


@pytest.mark.parametrize("needed", [1, 2])
def test_too_few_neighbours_left_are_the_reason(needed: int) -> None:
    """Three members, of whom one never comes: with two needed the others have no answer, and the error says why."""
    why = "this peer needs 2 open neighbours (min_open_edges) to go on and has 1"

    async def ask() -> None:
        async with LocalNetwork(["ada", "bob", "cyd"], min_open_edges=needed) as net:
            calls = [net[name].average(1.0, topic="t", timeout=20.0, missing="drop") for name in ("ada", "bob")]
            waiting = asyncio.gather(*calls, return_exceptions=True)
            await asyncio.sleep(10.0)
            assert "min_open_edges" not in net["ada"].status().topics["t"].statement
            await asyncio.sleep(20.0)
            if needed == 2:
                assert net["ada"].status().topics["t"].statement.startswith(why)
            for found in await waiting:
                assert isinstance(found, Average if needed == 1 else TopicUnfinished)
                assert needed == 1 or f"no answer after 40 s: {why}; others say they wait for cyd" in str(found)

    run_virtually(ask())
