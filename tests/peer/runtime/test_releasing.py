"""Topics whose answers are private releases, in networks of peers in virtual time. The noise is the real one."""

from __future__ import annotations

import asyncio
import math
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import InvalidParameter, InvalidValues, TopicClosed, TopicMismatch, TopicUnfinished
from sottovoce.peer import Average, Peer
from sottovoce.peer.runtime.releasing import cost_of, released_name
from sottovoce.privacy import Release
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.memory_transport import MemoryTransport

NAMES = ["ada", "bob", "cyd", "dan"]
AGREED: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "low": 0.0, "high": 10.0, "unit": "0.000001", "honest": 4}
RELEASE = Release(**AGREED)


async def contribute(net: LocalNetwork, names: list[str], topic: str = "x", **how: Any) -> list[Average]:
    """All of these contribute 5 to a release."""
    return await asyncio.gather(*(net[name].average(5.0, topic=topic, **{"release": RELEASE, **how}) for name in names))


def test_a_network_has_the_error_of_a_central_server() -> None:
    """Ten peers, 2000 numbers: the mean's error is within 1.1 of a server's with the same noise; all get the same."""
    size, names = 2000, [f"p{k}" for k in range(10)]
    release = Release(epsilon=100.0, delta=1e-6, low=0.0, high=1.0, unit="0.000001", honest=10, dimension=size)
    values = {name: np.linspace(0.0, 0.1 * k, size).round(6) for k, name in enumerate(names)}

    async def together() -> list[Average]:
        async with LocalNetwork(names) as net:
            return await asyncio.gather(*(net[n].average(values[n], topic="x", release=release) for n in names))

    answers = run_virtually(together())
    off = answers[0].mean - np.mean(list(values.values()), axis=0)
    assert 1.0 / 1.1 < math.sqrt(float(np.mean(off**2))) / release.central_error(10) < 1.1
    assert all(np.array_equal(answer.mean, answers[0].mean) for answer in answers)


def test_the_answer_says_what_was_reached() -> None:
    """With all members ε is at most what was agreed; with one left out it is that of one honest member fewer."""

    async def talk() -> tuple[list[Average], list[Average]]:
        async with LocalNetwork(NAMES) as net:
            return await contribute(net, NAMES), await contribute(net, NAMES[:3], "y", missing="drop", timeout=30.0)

    whole, fewer = run_virtually(talk())
    assert {answer.epsilon for answer in whole} == {RELEASE.epsilon_reached(4)}
    assert {answer.number for answer in fewer} == {3}
    assert {answer.epsilon for answer in fewer} == {RELEASE.epsilon_reached(3)}
    assert RELEASE.epsilon_reached(4) <= 2.0 < RELEASE.epsilon_reached(3)


def test_releases_add_up_for_each_secret() -> None:
    """Two releases about one secret cost twice one; another secret, and averages without noise, are not in it."""

    async def talk() -> tuple[Any, Any]:
        async with LocalNetwork(NAMES) as net:
            for topic, secret in (("x", "age"), ("y", "age"), ("z", "pay")):
                await contribute(net, NAMES, topic, secret=secret)
            await contribute(net, NAMES, "plain", secret="age", release=None)
            before = net["ada"].released()
            await net["ada"].quiet()
            await net.kill("ada")
            await net.start("ada")
            return before, net["ada"].released()

    before, after = run_virtually(talk())
    once = RELEASE.cost(4)
    assert before == after == {"age": once + once, "pay": once}


def test_a_release_that_ended_without_a_peer_counts() -> None:
    """Who came late has contributed, and that its value is in no answer is what others say."""

    async def talk() -> Any:
        async with LocalNetwork(NAMES) as net:
            await contribute(net, NAMES[:3], missing="drop", timeout=20.0)
            with pytest.raises(TopicClosed, match="without an answer for this peer"):
                await contribute(net, ["dan"], missing="drop", timeout=20.0)
            return net["dan"].released()

    assert run_virtually(talk()) == {"topics": RELEASE.cost(3)}


def test_a_disk_that_is_lost_gives_no_second_answer() -> None:
    """Noise is drawn anew then. Whenever the disk is lost, all who have an answer have the same one."""

    async def talk(seconds: float, missing: str) -> set[float]:
        async with LocalNetwork(NAMES, seed=int(100 * seconds)) as net:
            how: dict[str, Any] = {"missing": missing, "timeout": 40.0}
            others = asyncio.ensure_future(contribute(net, NAMES[1:], **how))
            first = asyncio.ensure_future(contribute(net, ["ada"], **how))
            await asyncio.sleep(seconds)
            await net.kill("ada", lose_disk=True)
            await net.start("ada")
            before = await asyncio.gather(first, return_exceptions=True)
            again = await contribute(net, ["ada"], **how)
            answers = [*await others, *again, *(before[0] if isinstance(before[0], list) else [])]
            return {round(answer.mean, 3) for answer in answers}

    for k in range(10):
        assert len(run_virtually(talk(0.2 + 0.15 * k, ("wait", "drop")[k % 2]))) == 1


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "open"])
def test_a_release_is_the_same_when_members_have_joined(ended: bool) -> None:
    """A loop over rounds that is run again from its start drew noise anew for each round, and counted it twice."""

    async def talk() -> None:
        async with LocalNetwork(NAMES, roster=1) as before:
            if ended:
                first = await contribute(before, NAMES)
                await asyncio.gather(*(before[name].quiet(60.0) for name in NAMES))
            else:
                with pytest.raises(TopicUnfinished):
                    await contribute(before, ["ada"], timeout=1.0)
            known, given = before["ada"].topics(), before["ada"].contributed(_full("x"))
            cost = before["ada"].released()
        after = LocalNetwork([*NAMES, "eve"], seed=2, roster=2)
        after._stores |= {name: store.copy() for name, store in before._stores.items()}
        async with after as net:
            if ended:
                assert await contribute(net, NAMES, timeout=60.0) == first
            else:
                with pytest.raises(TopicUnfinished):
                    await contribute(net, ["ada"], timeout=1.0)
                assert net["ada"].contributed(_full("x")) == given
            assert (net["ada"].topics(), net["ada"].released()) == (known, cost)

    run_virtually(talk())


def _full(topic: str) -> str:
    return released_name(topic, RELEASE, len(NAMES))


@pytest.mark.parametrize("how", [{"topic": None}, {"release": "ε = 2"}])
def test_a_release_of_something_else_is_refused(how: dict[str, Any]) -> None:
    """A topic without a name was called "None"; what is no agreement ended in a traceback."""

    async def talk() -> None:
        async with LocalNetwork(NAMES) as net:
            with pytest.raises(InvalidParameter, match=r"topic must be printable text|release must be a Release, got"):
                await contribute(net, ["ada"], timeout=0.1, **how)
            assert net["ada"].topics() == {}

    run_virtually(talk())


def test_noise_is_drawn_once_for_a_topic() -> None:
    """Asking again, also after a power cut, waits on with the same contribution: no second draw to compare with."""
    name = released_name("x", RELEASE, 4)

    async def talk() -> tuple[Any, Any, list[Average]]:
        async with LocalNetwork(NAMES) as net:
            with pytest.raises(TopicUnfinished):
                await contribute(net, ["ada"], timeout=5.0)
            first = net["ada"]._known_topics.contributed(name)
            await net.kill("ada")
            await net.start("ada")
            with pytest.raises(TopicUnfinished):
                await contribute(net, ["ada"], timeout=5.0)
            second = net["ada"]._known_topics.contributed(name)
            answers = await contribute(net, NAMES)
            return first, second, [*answers, *await contribute(net, ["ada"])]

    first, second, answers = run_virtually(talk())
    assert first[0] != 5_000_000  # noise of a deviation of millions of units is in it
    assert np.array_equal(first, second)
    assert len({answer.mean for answer in answers}) == 1


def test_who_agreed_to_something_else_is_not_mixed_in() -> None:
    """One member that agreed to less noise, or to none, is in another topic: no answer, and both sides are named."""
    weaker = Release(**{**AGREED, "epsilon": 9.0})

    async def talk(other: Release | None) -> None:
        async with LocalNetwork(NAMES) as net:
            calls = [contribute(net, NAMES[:3], timeout=20.0), contribute(net, ["dan"], release=other, timeout=20.0)]
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(one) for one in found] == [TopicMismatch] * 2
            assert all("dan" in str(one) for one in found)

    run_virtually(talk(weaker))
    run_virtually(talk(None))


def test_clipping_is_part_of_a_release_only() -> None:
    """Without one it did nothing: a value out of range was refused, as if nobody had said ``clip``."""

    async def talk() -> None:
        async with LocalNetwork(NAMES) as net:
            with pytest.raises(InvalidParameter, match="clip must be left out where no release is given"):
                await net["ada"].average(1.0, topic="x", clip=True)
            assert net["ada"].topics() == {}

    run_virtually(talk())


def test_clipping_is_counted() -> None:
    """Refused unless declared; counted for the one who was clipped only."""

    async def talk() -> list[Average]:
        async with LocalNetwork(NAMES) as net:
            with pytest.raises(InvalidValues, match="outside"):
                await net["ada"].average(11.0, topic="x", release=RELEASE)
            own = net["ada"].average(11.0, topic="x", release=RELEASE, clip=True)
            clipped, others = await asyncio.gather(own, contribute(net, NAMES[1:]))
            return [clipped, *others]

    assert [answer.clipped for answer in run_virtually(talk())] == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"unit": "0.001"}, "unit"), ({"dimension": 2}, "dimension"), ({"honest": 5}, "honest"),
        ({"epsilon": 0.01}, "room"),
    ],
)  # fmt: skip
def test_an_agreement_must_fit_the_network(change: dict[str, Any], words: str) -> None:
    """Unit, size, members and range are compared before anything is contributed."""

    async def talk() -> dict[str, str]:
        async with LocalNetwork(NAMES) as net:
            with pytest.raises(InvalidParameter, match=words):
                await contribute(net, ["ada"], release=Release(**{**AGREED, **change}))
            with pytest.raises(InvalidParameter, match="weight"):
                await contribute(net, ["ada"], weight=2.0)
            return net["ada"].topics()

    assert run_virtually(talk()) == {}


def test_a_value_without_noise_does_not_enter_a_release() -> None:
    """The full name of a release is refused where no release is given."""

    async def talk() -> None:
        async with LocalNetwork(NAMES) as net:
            with pytest.raises(InvalidParameter, match="release"):
                await contribute(net, ["ada"], released_name("x", RELEASE, 4), release=None, timeout=5.0)

    run_virtually(talk())


def test_the_name_carries_the_agreement() -> None:
    """What a release cost is read back from its name; a plain name costs nothing."""
    odd = Release(epsilon=0.1, delta=1e-9, low=-1e-3, high=1e5, unit="0.25", honest=3, releases=7, dimension=2)
    assert cost_of(released_name("a [b] × 2", odd, 9), 9) == odd.cost(3)
    assert cost_of(released_name("x", odd, 9), 8) == odd.cost(2)
    assert cost_of(released_name("x", odd, 9), 1) == odd.cost(1)
    assert cost_of("x", 4) is None


def test_nobody_beyond_the_members_is_counted_as_honest() -> None:
    """Who contributed is what neighbours say. More of them than there were members lower no ε."""
    assert cost_of(released_name("x", RELEASE, 4), 9) == RELEASE.cost(4)


def test_a_peer_goes_on_while_its_noise_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of a long vector takes seconds. A real peer draws it beside its event loop, which ends the draw here."""
    drawing, drawn = threading.Event(), threading.Event()
    contribution = Release.contribution

    def slow(release: Release, *arguments: Any, **keywords: Any) -> Any:
        drawing.set()
        assert drawn.wait(60.0), "the event loop did not go on"
        return contribution(release, *arguments, **keywords)

    async def go_on() -> None:
        while not drawing.is_set():
            await asyncio.sleep(0.01)
        drawn.set()

    async def talk() -> Average:
        here = LocalNetwork(["ada", "bob"])
        peers = [
            Peer(
                here.config(name), standing=False, transport=MemoryTransport(name, here.medium, {"ada", "bob"} - {name})
            )
            for name in here
        ]
        async with peers[0], peers[1]:
            calls = [peer.average(5.0, topic="x", release=replace(RELEASE, honest=2)) for peer in peers]
            found = await asyncio.gather(*calls, go_on())
        answer: Average = found[0]
        return answer

    monkeypatch.setattr(Release, "contribution", slow)
    assert asyncio.run(talk()).number == 2


def test_two_calls_at_once_contribute_one_draw() -> None:
    """Whoever asks twice for the same topic gets the same answer twice: noise is drawn once for a topic."""

    async def talk() -> list[Average]:
        async with LocalNetwork(NAMES) as net:
            return await contribute(net, [*NAMES, "ada"])

    answers = run_virtually(talk())
    assert {answer.mean for answer in answers} == {answers[0].mean}
