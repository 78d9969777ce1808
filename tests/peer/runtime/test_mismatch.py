"""Members that contribute to one topic on different terms are told so at once, with both names and both settings."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import TopicClosed, TopicMismatch, TopicUnfinished
from sottovoce.peer import Average
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.protocol.openings import topic_id
from sottovoce.peer.protocol.settings import Settings
from sottovoce.peer.runtime.elsewhere import REMEMBERED, Elsewhere
from sottovoce.peer.runtime.releasing import disagreement, released_name
from sottovoce.privacy import Release
from sottovoce.testing import LocalNetwork, run_virtually

NAMES = ["ada", "bob", "cyd"]
PLAIN: dict[str, Any] = {"value": 1.0, "topic": "x"}


def released(**change: Any) -> Release:
    agreed = {"epsilon": 2.0, "delta": 1e-6, "low": 0.0, "high": 10.0, "unit": "0.000001", "honest": 3}
    return Release(**{**agreed, **change})


def talk(ours: dict[str, Any], cyds: dict[str, Any], *, late: float = 0.0, **settings: Any) -> list[Any]:
    """What becomes of the calls of ada, bob and cyd; cyd comes ``late`` seconds later."""

    async def third(net: LocalNetwork) -> Average:
        await asyncio.sleep(late)
        return await net["cyd"].average(timeout=30.0, **cyds)

    async def all_three() -> list[Any]:
        async with LocalNetwork(NAMES, **settings) as net:
            calls = [net[name].average(timeout=30.0, **ours) for name in NAMES[:2]]
            found = await asyncio.gather(*calls, third(net), return_exceptions=True)
            assert asyncio.get_running_loop().time() < 30.0 or isinstance(found[0], TopicUnfinished | Average)
            return found

    return run_virtually(all_three())


@pytest.mark.parametrize("late", [0.0, 10.0])
@pytest.mark.parametrize(
    ("ours", "cyds", "words"),
    [
        (PLAIN, {**PLAIN, "value": [1.0, 2.0]}, "ada has dimension 1 and cyd has 2; all contributors to topic 'x'"),
        (PLAIN, {**PLAIN, "missing": "drop"}, "ada has missing wait and cyd has drop"),
        (PLAIN, {**PLAIN, "value": [1.0]}, "ada has shape () and cyd has (1,); all contributors to topic 'x' must"),
        (
            {**PLAIN, "value": [1.0, 2.0]}, {**PLAIN, "value": np.ones((2, 1))},
            "ada has shape (2,) and cyd has (2, 1)",
        ),
        ({**PLAIN, "value": {"a": 1.0, "b": 2.0}}, {**PLAIN, "value": {"b": 1.0, "z": 2.0}}, "must give the same keys"),
        ({**PLAIN, "value": {"a": 1.0, "b": 2.0}}, {**PLAIN, "value": [1.0, 2.0]}, "and cyd has (2,)"),
        (
            {**PLAIN, "weight": 2.0}, {**PLAIN, "value": [1.0, 1.0]},
            "ada has shape weighted () and cyd has (2,); all contributors to topic 'x' must give the same",
        ),
        (PLAIN, {**PLAIN, "weight": 2.0}, "ada has shape () and cyd has weighted ()"),
        (
            {**PLAIN, "value": [1.0, 1.0], "release": released(dimension=2)},
            {**PLAIN, "value": {"a": 1.0, "b": 1.0}, "release": released(dimension=2)},
            "ada has shape (2,) and cyd has tree",
        ),
        (
            {**PLAIN, "release": released()}, {**PLAIN, "release": released(epsilon=9.0, honest=2)},
            "in the release of topic 'x', ada has epsilon 2.0 and cyd has 9.0, ada has honest 3 and cyd has 2",
        ),
        ({**PLAIN, "release": released()}, PLAIN, "of topic 'x', ada makes a private release and cyd does not"),
        (PLAIN, {**PLAIN, "release": released()}, "of topic 'x', cyd makes a private release and ada does not"),
    ],
)  # fmt: skip
def test_both_sides_are_told_what_differs(ours: Any, cyds: Any, words: str, late: float) -> None:
    """At once, whoever comes first; the sentence of each names itself and a neighbour."""
    ada, bob, cyd = talk(ours, cyds, late=late)
    assert {type(one) for one in (ada, bob, cyd)} == {TopicMismatch}
    assert words in str(ada)
    assert "bob" in str(bob)
    assert "cyd" in str(bob)
    assert "cyd" in str(cyd)


@pytest.mark.parametrize(
    ("ours", "cyds"),
    [
        ([1.0, 2.0], np.array([1.0, 2.0], dtype=np.float32)),
        ([1.0, 2.0], (1, 2)),
        ([[1.0, 2.0], [3.0, 4.0]], np.ones((2, 2))),
        ({"a": [1.0], "b": 2.0}, {"b": 2, "a": np.ones(1)}),
        ({1: 1.0, 2: 2.0}, {np.int64(2): 2.0, np.int64(1): 1.0}),
    ],
)
def test_the_same_numbers_are_not_refused_for_how_they_are_held(ours: Any, cyds: Any) -> None:
    """Lists and arrays, kinds of numbers, the order of keys: nothing that changes what a number stands for."""
    found = talk({**PLAIN, "value": ours}, {**PLAIN, "value": cyds})
    assert {answer.number for answer in found} == {3}


@pytest.mark.parametrize("how", [{"value": {"a": 1.0, "b": 2.0}}, {"value": 1.0, "weight": 1.0}])
def test_who_has_lost_its_disk_is_not_told_an_answer_of_another_shape(how: dict[str, Any]) -> None:
    """The others have ended the topic and keep its answer, two numbers in a row: they would be read as others."""

    async def again(how: dict[str, Any]) -> Average:
        async with LocalNetwork(NAMES) as net:
            await asyncio.gather(*(net[name].average([1.0, 2.0], topic="x") for name in NAMES))
            await asyncio.sleep(20.0)
            await net.kill("ada", lose_disk=True)
            await net.start("ada")
            return await net["ada"].average(topic="x", timeout=30.0, **how)

    assert run_virtually(again({"value": [1.0, 2.0]})).number == 3
    with pytest.raises(TopicClosed):
        run_virtually(again(how))


def test_peers_that_tell_no_shape_are_averaged_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of before: their greetings have none, and what they read of ours is as it was."""
    told = Settings.terms.func
    monkeypatch.setattr(
        Settings, "terms", property(lambda own: told(own)._replace(**{"shape": ""} if own.name == "cyd" else {}))
    )
    found = talk({**PLAIN, "value": {"a": 1.0, "b": 2.0}}, {**PLAIN, "value": {"a": 1.0, "b": 2.0}})
    assert {answer.number for answer in found} == {3}


def test_topics_of_other_names_are_told_at_the_end() -> None:
    """Two names are two topics; who waits for whom hears what the other has opened instead."""
    ada, _, cyd = talk({**PLAIN, "topic": "2026-11"}, {**PLAIN, "topic": "2026-1l"})
    assert {type(ada), type(cyd)} == {TopicUnfinished}
    assert "cyd (not contributed for 30 s, last heard" in str(ada)
    assert "has opened '2026-1l' to which this peer has not contributed" in str(ada)
    assert "has opened '2026-11' to which this peer has not contributed" in str(cyd)


def test_who_is_left_out_anyway_stops_nobody() -> None:
    """With "drop" the others get their mean without the one that differs, and that one is told why."""
    ours = {**PLAIN, "missing": "drop"}
    ada, bob, cyd = talk(ours, {**ours, "value": [9.0, 9.0]})
    assert ada.mean == bob.mean == pytest.approx(1.0, abs=1e-3)
    assert ada.contributors == ("ada", "bob")
    assert isinstance(cyd, TopicMismatch)


def test_a_topic_that_differs_is_not_the_end_of_others() -> None:
    """After a mismatch the same peers agree in another topic."""

    async def both() -> list[Any]:
        async with LocalNetwork(NAMES) as net:
            values = {"ada": 1.0, "bob": 2.0, "cyd": [3.0, 3.0]}
            refused = [net[name].average(value, topic="x", timeout=30.0) for name, value in values.items()]
            assert {type(one) for one in await asyncio.gather(*refused, return_exceptions=True)} == {TopicMismatch}
            return await asyncio.gather(*(net[name].average(1.0, topic="y", timeout=60.0) for name in NAMES))

    assert {answer.number for answer in run_virtually(both())} == {3}


def test_names_are_believed_only_if_they_are_the_topics() -> None:
    """A greeting whose name has another id is not noted; of many names the last few are kept."""

    async def terms() -> Any:
        async with LocalNetwork(NAMES) as net:
            return net.config("ada").terms

    shared = run_virtually(terms())
    heard = Elsewhere()

    def greeting(name: str, topic: bytes) -> Message:
        return Message(Kind.HELLO, "bob", "ada", 1, 0, blank=True, topic=topic, terms=shared._replace(topic=name))

    assert not heard.note(greeting("x", topic_id("y")))
    assert not heard.note(replace(greeting("x", topic_id("x")), terms=None))
    for number in range(100):
        assert heard.note(greeting(f"t{number}", topic_id(f"t{number}")))
    assert heard.opened_by("bob", set()) == [f"t{number}" for number in range(100 - REMEMBERED, 100)]
    assert heard.opened_by("bob", {topic_id("t99")})[-1] == "t98"
    assert heard.disagreement("ada", "t99", "bob") is None


@pytest.mark.parametrize(
    "name",
    [
        "{} [release ε=1 δ=1 " + 30_000 * "…",
        "{} [release ε=1 δ=1 " + 15_000 * "1…",
        "{} [release ε=1 δ=1 1…2 unit 1 honest " + 30_000 * "1",
        "{}" + 1_500 * " [release ε=1 δ=1 1…",
        "{} [release ε=" + 30_000 * "1",
    ],
    ids=["dots", "numbers", "digits", "beginnings", "one number"],
)
def test_names_that_look_nearly_like_releases_are_read_once(name: str) -> None:
    """Reading a name takes time in proportion to its length; two of its fields could be divided at every dot."""
    began, plain = time.process_time(), released_name("x", released(), 3)
    assert disagreement("ada", plain, "bob", name.format("x")) is None
    assert time.process_time() - began < 0.5
