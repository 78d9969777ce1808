"""Topics before, during and after a change of the roster: sets of members are numbered anew, and nobody is renamed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from sottovoce.errors import ProtocolViolation, TopicClosed
from sottovoce.peer.protocol.messages import Kind
from sottovoce.peer.runtime.conversation import Conversation
from sottovoce.peer.transport.codec import Codec
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.transport import hello

VALUES = {"abe": 99.0, "bob": 10.0, "cyd": 20.0, "dan": 60.0}
FIRST, MEAN = ("bob", "cyd", "dan"), 30.0


async def answers(net: LocalNetwork, missing: str = "wait") -> dict[str, object]:
    """What each member is told: the mean and with whom, or why not."""

    async def one(name: str) -> object:
        try:
            found = await net[name].average(VALUES[name], topic="may", missing=missing, timeout=60.0)
        except TopicClosed as closed:
            return str(closed)
        return round(found.mean, 3), found.contributors

    return dict(zip(net, await asyncio.gather(*map(one, net)), strict=True))


def renewed(before: LocalNetwork, names: Sequence[str]) -> LocalNetwork:
    """The same peers with a later roster, and perhaps others."""
    after = LocalNetwork(names, seed=2, roster=2)
    after._stores |= {name: store.copy() for name, store in before._stores.items() if name in names}
    return after


@pytest.mark.parametrize("missing", ["wait", "drop"])
@pytest.mark.parametrize("ended", [True, False], ids=["ended", "with the answer, and not ended"])
def test_a_newcomer_is_not_taken_for_one_of_them(ended: bool, missing: str) -> None:
    """Somebody joins whose name comes first: the answer is still that of the three, and not the newcomer's."""

    async def scenario() -> None:
        async with LocalNetwork(FIRST, seed=1, roster=1) as net:
            assert await answers(net, missing) == dict.fromkeys(FIRST, (MEAN, FIRST))
            if ended:
                await asyncio.gather(*(net[name].quiet(60.0) for name in net))
                assert {net[name].topics()["may"] for name in net} == {"closed"}
            else:
                for name in FIRST:
                    await net.kill(name)
        async with renewed(net, ["abe", *FIRST]) as net:
            if not ended:
                assert any(net[name].topics()["may"] == "open" for name in FIRST)
            found = await answers(net, missing)
            assert {name: found[name] for name in FIRST} == dict.fromkeys(FIRST, (MEAN, FIRST))
            assert str(found["abe"]) == "topic 'may' was closed with bob, cyd, dan, without an answer for this peer"

    run_virtually(scenario())


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "with the answer, and not ended"])
def test_one_who_has_left_is_still_named(ended: bool) -> None:
    """The answer that is kept is the mean of the three, although one of them is a member no more."""

    async def scenario() -> None:
        async with LocalNetwork(FIRST, seed=1, roster=1) as net:
            await answers(net)
            if ended:
                await asyncio.gather(*(net[name].quiet(60.0) for name in net))
            else:
                for name in FIRST:
                    await net.kill(name)
        async with renewed(net, ["cyd", "dan"]) as net:
            assert await answers(net) == dict.fromkeys(["cyd", "dan"], (MEAN, FIRST))
            assert {net[name].topics()["may"] for name in net} == {"closed"}

    run_virtually(scenario())


@pytest.mark.parametrize("seed", range(3, 13))
def test_a_roster_may_change_while_an_answer_is_being_told(seed: int) -> None:
    """In running peers, at once after the answer: what they hold is numbered anew, and the topic ends everywhere."""

    async def scenario() -> None:
        async with LocalNetwork(FIRST, seed=seed, roster=1) as net:
            later = LocalNetwork(["abe", *FIRST], seed=seed, roster=2)
            net.medium.codec = Codec.from_config(later.config("bob"))
            await answers(net)
            assert any(net[name].topics()["may"] == "open" for name in net)
            for name in net:
                net[name].config = later.config(name)
                net[name]._known_topics.reconfigure(later.config(name))
            await asyncio.gather(*(net[name].quiet(600.0) for name in net))
            assert await answers(net) == dict.fromkeys(FIRST, (MEAN, FIRST))

    run_virtually(scenario())


def test_who_waits_for_a_topic_that_a_roster_ends_is_told_at_once() -> None:
    """One of those who had agreed is a member no more (R49): a call without a time-out must not wait for ever."""

    async def scenario() -> None:
        async with LocalNetwork(FIRST, seed=1, roster=1) as net:
            later = LocalNetwork(["cyd", "dan"], seed=1, roster=2)
            calls = {name: net[name].average(VALUES[name], topic="may", missing="drop") for name in FIRST}
            waiting = {name: asyncio.ensure_future(call) for name, call in calls.items()}
            await asyncio.sleep(1e-4)
            open_here = [next(iter(net[name]._known_topics._open.values())).protocol for name in FIRST]
            while not all(one.bound for one in open_here):
                await asyncio.sleep(1e-4)
            assert not any(one.declared for one in open_here)
            await net.kill("bob")
            net.medium.codec = Codec.from_config(later.config("cyd"))
            for name in later:
                net[name].config = later.config(name)
                net[name]._known_topics.reconfigure(later.config(name))
            for name in later:
                with pytest.raises(TopicClosed, match="without an answer for this peer"):
                    await asyncio.wait_for(waiting[name], 1.0)
            await asyncio.gather(*waiting.values(), return_exceptions=True)

    run_virtually(scenario())


def test_a_topic_that_ends_while_the_silent_are_asked_again_stores_nothing_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The call had run out of patience and was asking who is there when the topic ended: its state stays deleted."""
    ended: list[bytes] = []
    late: list[bytes] = []

    async def scenario() -> None:
        async with LocalNetwork(FIRST, seed=1) as net:
            for other in set(FIRST) - {"bob"}:
                await net.kill(other)
            kept = net["bob"]._known_topics
            real = Conversation.surely_silent

            async def meanwhile(conversation: Conversation) -> list[str]:
                topic = next(topic for topic, one in kept._open.items() if one is conversation)
                await kept._end(topic, conversation)
                ended.append(topic)
                monkeypatch.setattr(conversation.keeper, "commit", lambda: late.append(topic))
                return await real(conversation)

            monkeypatch.setattr(Conversation, "surely_silent", meanwhile)
            with pytest.raises(TopicClosed):
                await net["bob"].average(1.0, topic="may", missing="drop", timeout=1.0)

    run_virtually(scenario())
    assert len(ended) == 1
    assert late == []


def test_sets_of_another_roster_are_neither_believed_nor_a_lie() -> None:
    """A neighbour that knows of more members names more of them: that is no reason to refuse what it says."""
    codec = Codec(1, 3, roster=2)
    ahead = hello("ada", "bob", roster=3, closed=0b1111, topic=b"t" * 16)
    assert codec.decode(codec.encode(ahead), src="ada", dst="bob") == ahead
    with pytest.raises(ProtocolViolation, match="closed must be among 3 members"):
        codec.decode(codec.encode(replace(ahead, roster=2)), src="ada", dst="bob")

    async def scenario() -> None:
        async with LocalNetwork(FIRST, seed=4, roster=2) as net:
            asking = asyncio.ensure_future(net["bob"].average(10.0, topic="may", missing="drop", timeout=30.0))
            await asyncio.sleep(1.0)
            (conversation,) = net["bob"]._known_topics._open.values()
            protocol = conversation.protocol
            for kind in (Kind.CLOSED, Kind.HELLO):
                said = replace(hello("dan", "bob"), kind=kind, roster=3, closed=0b111, topic=protocol.topic)
                protocol.receive(said)
                assert not protocol.ended
                assert not protocol.bound
                assert not protocol.declared_elsewhere
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    run_virtually(scenario())
