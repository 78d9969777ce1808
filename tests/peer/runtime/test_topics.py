"""Topics between running peers, in virtual time: one answer for all, late refused, the missing left out."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import (
    ConfigError,
    InvalidParameter,
    InvalidValues,
    PeerError,
    TemporaryFailure,
    TopicClosed,
    TopicMismatch,
    TopicUnfinished,
)
from sottovoce.peer import Average
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.protocol.openings import topic_id
from sottovoce.peer.store import MemoryStore
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.memory_transport import Faults

from .topic_town import all_average, open_town, protocols_of, town
from .town import virtually


@virtually
async def test_all_get_the_mean_of_all_and_its_members() -> None:
    """Five peers, one name: the same digits, the same five contributors, and nothing left but the record."""
    here = town()
    async with open_town(here) as peers:
        values = {name: float(k * k) for k, name in enumerate(here.names)}
        found = await all_average(peers, "2026-11/salaries", values)
        assert {answer.mean for answer in found.values()} == {found["p0"].mean}
        assert {answer.contributors for answer in found.values()} == {tuple(here.names)}
        assert abs(found["p0"].mean - np.mean(list(values.values()))) <= found["p0"].plus_minus <= 0.0005
        await asyncio.sleep(20.0)
        for name, peer in peers.items():
            assert peer.topics() == {"2026-11/salaries": "closed"}
            assert here.stores[name]._topics == {}
            assert peer._known_topics._open == {}


@virtually
async def test_topics_run_side_by_side_and_do_not_mix() -> None:
    """Three topics of different dimensions at once, beside the standing average: each has its own mean."""
    here = town()
    async with open_town(here, standing=True) as peers:
        one, two, three = await asyncio.gather(
            all_average(peers, "numbers", {name: float(k) for k, name in enumerate(here.names)}),
            all_average(peers, "vectors", {name: np.full(7, 10.0 * k) for k, name in enumerate(here.names)}),
            all_average(peers, "trees", {name: {"w": [1.0 * k], "b": -1.0 * k} for k, name in enumerate(here.names)}),
        )
        assert abs(one["p1"].mean - 2.0) < 1e-3
        assert np.abs(two["p2"].mean - 20.0).max() < 1e-3
        assert abs(three["p3"].mean["w"][0] - 2.0) < 1e-3
        assert abs(three["p3"].mean["b"] + 2.0) < 1e-3
        await asyncio.gather(*(peer.settled(2000) for peer in peers.values()))
        assert all(abs(peer.estimate - here.mean[0]) < 1e-3 for peer in peers.values())


@virtually
async def test_the_missing_are_left_out_and_a_late_contribution_is_refused() -> None:
    """With "drop" the others get their own mean after the time-out; who comes later is told so, and changes nothing."""
    here = town()
    async with open_town(here) as peers:
        values = {name: float(k) for k, name in enumerate(here.names) if name != "p2"}
        found = await all_average(peers, "t", values, timeout=20, missing="drop")
        assert {answer.contributors for answer in found.values()} == {("p0", "p1", "p3", "p4")}
        assert abs(found["p0"].mean - 2.0) < 1e-3
        with pytest.raises(TopicClosed, match="without an answer for this peer"):
            await peers["p2"].average(1000.0, topic="t", timeout=60, missing="drop")
        again = await peers["p0"].average(values["p0"], topic="t", missing="drop")
        assert again.mean == found["p0"].mean


@pytest.mark.parametrize("ring", [False, True])
def test_those_who_come_late_together_get_no_answer_of_their_own(ring: bool) -> None:
    """Three have an answer. The others learn with whom it was closed, or whom they wait for: there is no second one."""
    names = [f"p{k}" for k in range(8)]
    around = [(one, names[k - 1]) for k, one in enumerate(names)] if ring else None

    async def late() -> dict[str, Any]:
        async with LocalNetwork(names, around) as net:

            async def all_of(some: list[str]) -> list[Any]:
                calls = [net[name].average(1.0, topic="t", missing="drop", timeout=9) for name in some]
                return await asyncio.gather(*calls, return_exceptions=True)

            assert {found.contributors for found in await all_of(names[:3])} == {("p0", "p1", "p2")}
            return dict(zip(names[3:], await all_of(names[3:]), strict=True))

    for name, error in run_virtually(late()).items():
        assert isinstance(error, TopicUnfinished)
        met = {"p3": ["p2"], "p7": ["p0"]}.get(name, []) if ring else ["p0", "p1", "p2"]
        for other in met:
            assert f"{other} says that it was closed without this peer, with p0, p1, p2" in str(error)
        assert met or re.search("its rounds wait for p[3-7]|no word of p[3-7]", str(error))


@virtually
async def test_one_that_falls_silent_is_left_out_with_its_whole_contribution() -> None:
    """It contributed, exchanged and died: the others agree on the mean without it."""
    here = town(6, noise_decay=0.9)
    async with open_town(here, *here.names[:5]) as peers:
        values = {name: float(k) for k, name in enumerate(here.names)}
        dying = here.peer("p5", value=None)
        dying._takes_part = False
        await dying.__aenter__()
        calls = [peers[name].average(values[name], topic="t", timeout=60, missing="drop") for name in peers]
        last = asyncio.ensure_future(dying.average(600.0, topic="t", missing="drop"))
        answers = asyncio.gather(*calls)
        await asyncio.sleep(0.75)
        assert dying._known_topics._open
        last.cancel()
        await here.medium.members["p5"].close()
        await dying._known_topics.stop()
        found = await answers
        assert {answer.contributors for answer in found} == {tuple(here.names[:5])}
        assert abs(found[0].mean - 2.0) < 1e-3


@virtually
async def test_a_contribution_cannot_be_changed() -> None:
    """Another value, policy or secret for the same name is refused before anything is sent."""
    here = town()
    async with open_town(here) as peers:
        with pytest.raises(TopicUnfinished):
            await peers["p0"].average(1.0, topic="t", timeout=1)
        with pytest.raises(InvalidParameter, match="cannot be changed"):
            await peers["p0"].average(2.0, topic="t", timeout=1)
        with pytest.raises(InvalidParameter, match="missing must be 'wait'"):
            await peers["p0"].average(1.0, topic="t", timeout=1, missing="drop")
        with pytest.raises(InvalidParameter, match="secret must be 'topics' for topic 't', got 'salary'"):
            await peers["p0"].average(1.0, topic="t", timeout=1, secret="salary")
        for bad in ("", "x" * 257, "a\n", 3):
            with pytest.raises(InvalidParameter, match="topic must be"):
                await peers["p0"].average(1.0, topic=bad)  # type: ignore[arg-type]
        with pytest.raises(InvalidValues, match="declared range"):
            await peers["p0"].average(1e9, topic="u")
        with pytest.raises(InvalidParameter, match="longest_topic"):
            await peers["p0"].average(np.zeros(5000), topic="u")
        assert peers["p0"].topics() == {"t": "open"}


@virtually
async def test_contributors_that_disagree_about_the_shape_are_told_both_sides() -> None:
    """Two shapes under one name: refused, naming both peers and both dimensions, with no answer."""
    here = town(3)
    async with open_town(here) as peers:
        calls = [peers[name].average(np.zeros(2 + (name == "p1")), topic="t", timeout=20) for name in here.names]
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(error, TopicMismatch) for error in ended)
        assert "p0 has dimension 2 and p1 has 3" in str(ended[0])


@virtually
async def test_a_topic_survives_the_death_of_the_process() -> None:
    """One peer's process dies while the topic is open; restarted, it goes on by itself and gets the same answer."""
    here = town(noise_decay=0.9)
    async with open_town(here, "p0", "p1", "p2", "p3") as peers:
        values = {name: float(k) for k, name in enumerate(here.names)}
        dying = here.peer("p4", value=None)
        dying._takes_part = False
        await dying.__aenter__()
        last = asyncio.ensure_future(dying.average(4.0, topic="t"))
        calls = asyncio.gather(*(peers[name].average(values[name], topic="t") for name in peers))
        await asyncio.sleep(0.5)
        assert not last.done()
        last.cancel()
        kept = dict(here.stores["p4"]._topics)
        await dying.close()
        assert kept
        here.stores["p4"]._topics.update({topic: _reopened(state) for topic, state in kept.items()})
        again = here.peer("p4", value=None)
        again._takes_part = False
        async with again:
            found = await calls
            mine = await again.average(4.0, topic="t", timeout=100)
        assert {answer.mean for answer in [*found, mine]} == {mine.mean}
        assert mine.number == 5


def _reopened(store: MemoryStore) -> MemoryStore:
    fresh = MemoryStore()
    fresh._state = store._state
    return fresh


@virtually
async def test_weights_make_a_weighted_mean() -> None:
    """Three hospitals of different size: the mean over patients, not over hospitals."""
    here = town(3)
    weights = {"p0": 10.0, "p1": 30.0, "p2": 60.0}
    async with open_town(here) as peers:
        calls = [peers[name].average(float(k), topic="t", weight=weights[name]) for k, name in enumerate(here.names)]
        found = await asyncio.gather(*calls)
        assert all(abs(answer.mean - 1.5) < 1e-4 for answer in found)
        with pytest.raises(InvalidParameter, match="weight must be a positive number"):
            await peers["p0"].average(1.0, topic="u", weight=0.0)


@virtually
async def test_accounts_add_up_over_the_topics_of_a_secret() -> None:
    """The same secret in two topics is shown twice, and its account says so; another secret has its own."""
    here = town(3)
    async with open_town(here) as peers:
        for topic, secret in (("a", "salary"), ("b", "salary"), ("c", "age")):
            values = {name: float(k) for k, name in enumerate(here.names)}
            await all_average(peers, topic, values, secret=secret)
        await asyncio.sleep(60.0)
        shown = {secret: account.information for secret, account in peers["p0"].accounts().items()}
        parts = {record.name: record.information - record.carried for record in here.stores["p0"].topics().values()}
        assert shown["salary"] == pytest.approx(parts["a"] + parts["b"])
        assert parts["a"] > 0.0
        assert shown["age"] == pytest.approx(parts["c"])


@virtually
async def test_a_budget_is_spent_by_all_topics_of_a_secret_together() -> None:
    """What the first topic used up the second cannot use: its noise stays larger, and no two run at once."""
    here = town(3, smallest_std=0.2)
    async with open_town(here) as peers:
        values = {name: float(k) for k, name in enumerate(here.names)}
        calls = [asyncio.ensure_future(peers[name].average(values[name], topic="a", timeout=60)) for name in here.names]
        await asyncio.sleep(0.5)
        with pytest.raises(PeerError, match="in use for topic 'a'"):
            await peers["p0"].average(1.0, topic="b")
        await asyncio.gather(*calls, return_exceptions=True)
        account = peers["p0"].accounts()["topics"]
        assert 0.0 < account.information <= account.budget * (1 + 1e-12)


PATH = [("ada", "bob"), ("bob", "cyd"), ("cyd", "dan")]


@virtually
async def test_rounds_with_a_budget_follow_each_other() -> None:
    """The second was refused, to wait for the answer of the first, which was there: neighbours did not have it yet."""
    async with LocalNetwork(["ada", "bob", "cyd", "dan"], PATH, smallest_std=0.02, tolerance=5.0) as net:

        async def learn(name: str) -> list[float]:
            how: dict[str, Any] = {"timeout": 60.0, "secret": "pay"}
            return [(await step.average(3.0)).mean async for step in net[name].rounds("r", 3, **how)]

        found = await asyncio.gather(*map(learn, net))
        assert np.abs(np.array(found) - 3.0).max() <= 2.5
        for name in net:
            account = net[name].accounts()["pay"]
            assert 0.0 < account.information <= account.budget * (1 + 1e-12)


@virtually
async def test_a_secret_that_is_in_use_until_a_neighbour_is_back_is_refused_in_time() -> None:
    """A neighbour died before it had the answer: the next topic waits as long as it may, and then says for what."""
    async with LocalNetwork(["ada", "bob", "cyd", "dan"], PATH, seed=1, smallest_std=0.02, tolerance=5.0) as net:
        calls = {name: asyncio.ensure_future(net[name].average(1.0, topic="a")) for name in net}
        while not any(call.done() for call in calls.values()):
            await asyncio.sleep(0.001)
        one, other = next((a, b) for a, b in [*PATH, *map(reversed, PATH)] if calls[a].done() and not calls[b].done())
        await net.kill(other)
        with pytest.raises(PeerError, match="is in use for topic 'a': wait until its neighbours have its answer, too"):
            await net[one].average(1.0, topic="b", timeout=20.0)
        assert net[one].topics() == {"a": "open"}
        for call in calls.values():
            call.cancel()
        await asyncio.gather(*calls.values(), return_exceptions=True)


@virtually
async def test_loss_and_repetition_change_nothing() -> None:
    """A fifth of all messages lost, a fifth repeated: the mean and the members are right, round after round."""
    here = town(faults=Faults(loss=0.2, duplication=0.2, delay=0.02))
    async with open_town(here) as peers:
        for round_ in range(3):
            values = {name: float(k + round_) for k, name in enumerate(here.names)}
            found = await all_average(peers, f"round {round_}", values)
            assert {answer.number for answer in found.values()} == {5}
            assert all(abs(answer.mean - 2.0 - round_) <= answer.plus_minus for answer in found.values())


@virtually
async def test_a_member_that_dies_after_it_said_that_it_is_bound_keeps_nobody_from_the_answer() -> None:
    """R91: all are bound to the same set and know it, nobody has declared it: the answer is there, with the dead one.

    The rounds do not go on without it; those who wait for it declare, long before the time-out.
    """
    names = ["ada", "bob", "cyd", "dan"]
    ring = [("ada", "bob"), ("bob", "cyd"), ("cyd", "dan"), ("dan", "ada")]
    async with LocalNetwork(names, ring, faults=Faults(distance=0.01)) as net:
        calls = {
            name: asyncio.ensure_future(net[name].average(1.0 * k, topic="t", missing="drop", timeout=300.0))
            for k, name in enumerate(names)
        }
        while not any(name != "dan" and one.holders & 0b1000 for name, one in protocols_of(net, "t").items()):
            await asyncio.sleep(0.005)
            assert asyncio.get_running_loop().time() < 30.0
        assert not any(protocol.declared for protocol in protocols_of(net, "t").values())
        await net.kill("dan")
        with contextlib.suppress(PeerError):
            await calls.pop("dan")
        answers = await asyncio.gather(*calls.values())
        assert {answer.contributors for answer in answers} == {tuple(names)}
        assert all(abs(answer.mean - 1.5) <= answer.plus_minus for answer in answers)
        assert asyncio.get_running_loop().time() < 60.0


async def left_by_a_lost_disk(seed: int) -> Average | None:
    """Ada lacks the answer, Dan had it and has lost his disk, Cyd has closed: what Ada gets, if it ever is so."""
    names = ["ada", "bob", "cyd", "dan"]
    ring = [("ada", "bob"), ("bob", "cyd"), ("cyd", "dan"), ("dan", "ada")]
    async with LocalNetwork(names, ring, seed=seed, diameter=2, faults=Faults(distance=0.01)) as net:
        calls = [asyncio.ensure_future(net[name].average(1.0 * k, topic="t")) for k, name in enumerate(names)]
        while not any(protocol.declared for protocol in protocols_of(net, "t").values()):
            await asyncio.sleep(0.005)
            assert asyncio.get_running_loop().time() < 60.0
        if protocols_of(net, "t")["ada"].declared:
            await asyncio.gather(*calls)
            return None
        await net.kill("ada")
        with contextlib.suppress(PeerError):
            await calls[0]
        try:
            async with asyncio.timeout(30.0):
                await asyncio.gather(*calls[1:])
        except TimeoutError:  # somebody else lacks it too, and waits for Ada
            return None
        await asyncio.sleep(5.0)
        await net.kill("dan", lose_disk=True)
        assert net["cyd"].topics() == {"t": "closed"}
        await net.start("ada")
        await net.start("dan")
        return await net["ada"].average(0.0, topic="t", timeout=60.0)


def test_a_disk_that_is_lost_after_the_answer_keeps_it_from_nobody() -> None:
    """R92: the one neighbour that is left has the answer, and that is enough."""
    answers = (run_virtually(left_by_a_lost_disk(seed)) for seed in range(20))
    answer = next(answer for answer in answers if answer is not None)
    assert answer.contributors == ("ada", "bob", "cyd", "dan")
    assert abs(answer.mean - 1.5) <= answer.plus_minus


@virtually
async def test_who_lost_its_disk_is_told_the_answer_by_those_who_closed() -> None:
    """R93: after a lost disk the same call gives the same answer, also for another value; a late one gets nothing."""
    names = ["ada", "bob", "cyd", "dan"]
    async with LocalNetwork(names) as net:
        calls = [
            net[name].average(1.0 * k, topic="t", missing="drop", timeout=10.0) for k, name in enumerate(names[:3])
        ]
        first = await asyncio.gather(*calls)
        await asyncio.sleep(10.0)
        with pytest.raises(TopicClosed, match="was closed with ada, bob, cyd"):
            await net["dan"].average(5.0, topic="t", missing="drop", timeout=10.0)
        for dan_is_there in (True, False):
            await net.kill("cyd", lose_disk=True)
            if not dan_is_there:
                await net.kill("dan")
            again = await (await net.start("cyd")).average(77.0, topic="t", missing="drop", timeout=30.0)
            assert (again.mean, again.contributors) == (first[2].mean, ("ada", "bob", "cyd"))


@virtually
async def test_a_peer_without_a_part_in_the_standing_average_drops_a_neighbour() -> None:
    """It is out of the topics that are open and of those to come; one that is away has not heard it, another has."""
    async with LocalNetwork(["ada", "bob", "cyd", "eve"]) as net:
        calls = [asyncio.ensure_future(net[name].average(2.0, topic="t", missing="drop")) for name in net.names[:3]]
        await asyncio.sleep(5.0)
        await net.kill("eve")
        assert [await net[name].drop_neighbour("eve") for name in ("ada", "bob", "cyd")] == [False, False, False]
        assert {answer.contributors for answer in await asyncio.gather(*calls)} == {("ada", "bob", "cyd")}
        assert [await net["ada"].drop_neighbour("bob"), await net["bob"].drop_neighbour("ada")] == [True, True]
        for stranger in ("eve", "zoe"):
            with pytest.raises(InvalidParameter, match=f"neighbour must be one of this peer's, got '{stranger}'"):
                await net["ada"].drop_neighbour(stranger)


@virtually
async def test_who_calls_while_a_peer_stops_hears_that_it_cannot_be_answered_now() -> None:
    """That is no failure of the peer, and the transport does not log it as one; whoever waits is told the same."""
    async with LocalNetwork(["ada", "bob"]) as net:
        waiting = asyncio.ensure_future(net["ada"].average(1.0, topic="t"))
        await asyncio.sleep(1.0)
        await net["ada"]._topics.stop()
        greeting = Message(Kind.HELLO, "bob", "ada", 7, 0, blank=True, topic=topic_id("t"))
        for call in (net["ada"]._hear("bob", greeting), waiting):
            with pytest.raises(TemporaryFailure, match="the peer has been stopped; what was contributed stays"):
                await call


@virtually
async def test_an_answer_is_told_again_a_few_times_and_not_as_often_as_asked() -> None:
    """R93: a greeting is short and an answer may be long; half a minute later it is told again, to others at once."""
    async with LocalNetwork(["ada", "bob", "cyd"]) as net:
        await asyncio.gather(*(net[name].average(1.0, topic="t", timeout=60.0) for name in ("ada", "bob", "cyd")))
        await asyncio.sleep(10.0)
        greeting = Message(Kind.HELLO, "bob", "ada", 7, 0, blank=True, topic=topic_id("t"))

        async def told(name: str) -> int:
            answers = [await net["ada"]._hear(name, greeting) for _ in range(20)]
            # Nothing is said instead of CLOSED alone: that would mean that there is no answer.
            assert all(answer.kind is Kind.CLOSED and answer.stop is not None for answer in answers if answer)
            return sum(answer is not None for answer in answers)

        assert [await told("bob"), await told("bob"), await told("cyd")] == [3, 0, 3]
        assert net["ada"]._topics._retelling._told.keys() == {(topic_id("t"), "bob"), (topic_id("t"), "cyd")}
        await asyncio.sleep(31.0)
        assert await told("bob") == 3
        assert len(net["ada"]._topics._retelling._told) == 1  # of others nothing is kept


@virtually
async def test_who_lost_its_disk_and_the_answer_on_the_way_gets_it_all_the_same() -> None:
    """R93: as long as nothing arrives it greets on, also beyond what is told at once."""
    async with LocalNetwork(["ada", "bob"]) as net:
        first, _ = await asyncio.gather(*(net[name].average(1.0, topic="t", timeout=60.0) for name in ("ada", "bob")))
        await asyncio.sleep(10.0)
        await net.kill("bob", lose_disk=True)
        net["ada"]._topics._retelling._told[topic_id("t"), "bob"] = [asyncio.get_running_loop().time()] * 3
        again = await (await net.start("bob")).average(5.0, topic="t", timeout=60.0)
        assert (again.mean, again.contributors) == (first.mean, ("ada", "bob"))


@virtually
async def test_one_lost_message_leaves_nobody_out() -> None:
    """With "drop", a neighbour whose last heartbeat was lost is greeted again at the time-out, and stays in it."""
    here = town()
    async with open_town(here) as peers:
        values = {name: float(k) for k, name in enumerate(here.names) if name != "p4"}
        calls = asyncio.ensure_future(all_average(peers, "t", values, timeout=20, missing="drop"))
        await asyncio.sleep(19.99)
        peers["p0"]._contacts.failed("p1", asyncio.get_running_loop().time(), late=False)
        assert (await calls)["p0"].contributors == ("p0", "p1", "p2", "p3")


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"timeout": -1}, "timeout must be a finite number of seconds, at least 0, or None, got -1"),
        ({"timeout": float("nan")}, "timeout must be .* got nan"),
        ({"timeout": "5"}, "timeout must be .* got '5'"),
        ({"timeout": True}, "timeout must be .* got True"),
        ({"timeout": 10**400}, "timeout must be .* got 10000"),
        ({"secret": 7}, "secret must be printable text of 1 to 256 characters, got 7"),
        ({"secret": ""}, "secret must be .* got ''"),
        ({"missing": "ignore"}, "missing must be 'wait' or 'drop', got 'ignore'"),
    ],
)
def test_a_call_that_makes_no_sense_contributes_nothing(how: dict[str, Any], why: str) -> None:
    """Refused before anything is stored or said: a contribution could not be taken back."""

    async def ask() -> None:
        async with LocalNetwork(["ada", "bob"]) as net:
            with pytest.raises((InvalidParameter, ConfigError), match=why):
                await net["ada"].average(1.0, topic="t", **how)
            assert net["ada"].topics() == {}

    run_virtually(ask())


@virtually
async def test_who_is_just_starting_says_nothing_about_its_topics() -> None:
    """A message that comes before open topics have been resumed is not answered: CLOSED would be wrong."""
    here = town(3)
    async with open_town(here) as peers:
        waiting = asyncio.ensure_future(peers["p0"].average(1.0, topic="t"))
        await asyncio.sleep(1.0)
        topics = peers["p0"]._known_topics
        greeting = next(iter(topics._open.values())).protocol.greet("p1")
        early = topics._open.pop(topic_id("t"))
        assert await topics.hear("p1", replace(greeting, src="p1", dst="p0")) is None
        topics._open[topic_id("t")] = early
        waiting.cancel()


def test_neighbours_are_in_the_same_order_in_every_process() -> None:
    """A set of names has another order in each: a network with a seed would not go the same way twice."""
    names = [f"p{number:02d}" for number in range(20)]

    async def edges() -> list[str]:
        async with LocalNetwork(names) as net:
            with contextlib.suppress(TopicUnfinished):
                await net["p00"].average(1.0, topic="t", timeout=0.1)
            return list(net["p00"]._known_topics._open[topic_id("t")].protocol.state.edges)

    assert run_virtually(edges()) == names[1:]
