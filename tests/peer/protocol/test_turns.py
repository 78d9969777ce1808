"""Whose turn it is when the own clock rings, and when it rings next (R27, R96, R99)."""

from __future__ import annotations

import asyncio
from collections import Counter

import numpy as np
import pytest

from sottovoce.peer.protocol import Protocol, calling
from sottovoce.peer.protocol.calling import HURRY, RESTS, recent, steady
from sottovoce.peer.protocol.core import Core
from sottovoce.peer.protocol.machine import WAITS_AFTER
from sottovoce.peer.protocol.settings import TopicSettings
from sottovoce.peer.protocol.units import LONG
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.memory_transport import Faults

from .pair import exchange, peer, talk

NAMES = ["bob", "cyd", "dan", "eve"]


def of_a_topic(one: Protocol, missing: str = "wait", dimension: int = 1) -> Protocol:
    one.settings = TopicSettings.of(one.settings, dimension=dimension, missing=missing, topic="t")
    return one


def in_the_middle(missing: str = "wait", dimension: int = 1) -> Protocol:
    """Ada, with four neighbours, in a topic or not."""
    ada = of_a_topic(peer("ada"), missing, dimension) if missing else peer("ada")
    for name in NAMES:
        ada.add(name)
    return ada


def beside_bob() -> tuple[Protocol, Protocol]:
    """The same, and Bob, who has an open edge with her."""
    ada, bob = in_the_middle(), of_a_topic(peer("bob", 5.0))
    bob.add("ada")
    talk(ada, bob, ada.greet("bob"))
    return ada, bob


def turns(ada: Protocol, count: int) -> list[str]:
    """For whom her clock rings, so many times."""
    numbers = np.random.default_rng(count).random(count)
    found = [ada.whose_turn(uniform) for uniform in numbers]
    assert None not in found
    return [name for name in found if name is not None]


def test_every_neighbour_of_a_standing_average_is_chosen_equally_often() -> None:
    """A uniform number picks one of them, whoever had the last turn (R27)."""
    ada = in_the_middle(missing="")
    found = Counter(ada.whose_turn(uniform) for uniform in np.linspace(0.0, 1.0, 400, endpoint=False))
    assert found == dict.fromkeys(NAMES, 100)
    assert peer("ada").whose_turn(0.5) is None


def test_in_a_topic_neighbours_take_turns() -> None:
    """Each of them once before anybody has a second turn, in an order that is drawn (R96)."""
    ada = in_the_middle()
    found = turns(ada, 40)
    assert all(sorted(found[k : k + 4]) == NAMES for k in range(0, 40, 4))
    assert len({tuple(turns(in_the_middle(), count)[:4]) for count in range(4, 40)}) > 10


@pytest.mark.parametrize("own", [True, False])
def test_an_exchange_is_a_turn_whoever_asked(own: bool) -> None:
    """Who has just exchanged with Ada comes last: asking again at once would change nothing (R96)."""
    ada, bob = beside_bob()
    for one in (ada, bob):
        one.tick(None)
    exchange(*((ada, bob) if own else (bob, ada)))
    assert ada.exchanges == 1
    assert turns(ada, 4)[3] == "bob"


def test_who_asks_all_the_time_takes_nobody_elses_turn() -> None:
    """However often Bob exchanges with her, Ada's clock rings for all others as if he were not there (R96)."""
    ada, bob = beside_bob()
    found = []
    for _ in range(21):
        for one in (ada, bob):
            one.tick(None)
        exchange(bob, ada)
        found += turns(ada, 1)
    assert ada.exchanges == 21
    assert Counter(found) == {"cyd": 7, "dan": 7, "eve": 7}


@pytest.mark.parametrize("missing", ["", "wait", "drop"])
def test_clocks_of_topics_ring_nearly_regularly(missing: str) -> None:
    """At random times with any pause (R27); or after half of to one and a half times the mean (R96), faster (R99)."""
    ada = in_the_middle(missing)
    pauses = [ada.pause(uniform) for uniform in np.linspace(0.0, 1.0, 10_000, endpoint=False)]
    mean = 1.0 / (4 * ada.settings.rate * (HURRY if missing else 1.0))
    assert np.mean(pauses) == pytest.approx(mean, rel=1e-2)
    if missing:
        assert (min(pauses), max(pauses)) == pytest.approx((0.5 * mean, 1.5 * mean), rel=1e-3)
    else:
        assert max(pauses) > 5.0 * mean


@pytest.mark.parametrize("dimension", [1, LONG])
@pytest.mark.parametrize("lately", [0.0, 0.001, 0.01, 0.03, 0.1, 1.0, 60.0])
def test_a_topic_hurries_as_far_as_calls_are_answered(lately: float, dimension: int) -> None:
    """Never slower than without R99, at most four times as fast, and locked for a quarter of the time at most."""
    ada = in_the_middle(dimension=dimension)
    mean = np.mean([ada.pause(uniform, lately, lately) for uniform in np.linspace(0.0, 1.0, 2001)])
    usual = 1.0 / (4 * ada.settings.rate)
    assert usual / HURRY * 0.999 <= mean
    assert mean >= 0.999 * min(usual, RESTS * lately)
    if dimension == 1:
        assert mean <= 1.001 * usual
    else:
        assert mean >= 0.999 * RESTS * lately  # R72


def test_whoever_only_waits_does_not_hurry() -> None:
    """A topic that waits for others costs heartbeats (R88), and so does the standing average, with or without R99."""
    ada, standing = in_the_middle(), in_the_middle(missing="")
    ada.rule.restless = True  # as that of a topic without its answer is
    assert ada.pause(0.5) == pytest.approx(1.0 / (4 * HURRY * ada.settings.rate))
    assert standing.pause(0.5, lately=0.001) == standing.pause(0.5)
    for _ in range(WAITS_AFTER):
        ada.tick(None)
    assert ada.quiet
    assert ada.pause(0.5) == pytest.approx(ada.settings.sync_interval / 4)


def test_one_slow_call_does_not_slow_a_clock_down() -> None:
    """An eighth of the way (R99): of two neighbours that differ, both count; calls that were not made do not."""
    lately = 0.0
    for took in (0.0, 0.004, 0.0, 0.004, 0.1, 0.0):
        lately = recent(lately, took)
    assert lately == pytest.approx(0.016)


async def seconds_of_a_topic(seed: int, loss: float = 0.0, distance: float = 0.0) -> float:
    names = [f"p{k}" for k in range(8)]
    ring = [(names[k], names[(k + 1) % 8]) for k in range(8)]
    faults = Faults(loss=loss, distance=distance)
    async with LocalNetwork(names, ring, seed=seed, faults=faults, diameter=4, noise_decay=0.5) as net:
        began = asyncio.get_running_loop().time()
        await asyncio.gather(*(net[name].average(float(k), topic="t") for k, name in enumerate(names)))
        return asyncio.get_running_loop().time() - began


@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_a_topic_with_turns_takes_two_thirds_of_the_time(loss: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a ring of eight, beside neighbours that are drawn and times that are, also where messages are lost."""
    monkeypatch.setattr(calling, "HURRY", 1.0)
    found = [run_virtually(seconds_of_a_topic(seed, loss)) for seed in range(4)]

    def drawn(self: Core, uniform: float) -> str:
        return self.state.active[int(uniform * len(self.state.active))]

    monkeypatch.setattr(Core, "whose_turn", drawn)
    monkeypatch.setattr("sottovoce.peer.protocol.machine.steady", lambda rate, uniform: -np.log1p(-uniform) / rate)
    before = [run_virtually(seconds_of_a_topic(seed, loss)) for seed in range(4)]
    assert sum(found) < 2 / 3 * sum(before)


@pytest.mark.parametrize(("distance", "share"), [(0.001, 0.4), (0.005, 0.55), (0.01, 0.65), (0.02, 1.0), (0.1, 1.3)])
def test_a_topic_over_near_lines_takes_a_fraction_of_the_time(
    distance: float, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside clocks that do not hurry (R99); over long lines it takes about as long as with those.

    All lines are equally long here. If pauses followed from what calls took alone, clocks would fall into step: the
    same peers would be asked again and again while they are locked, and some would exchange with nobody.
    """
    found = [run_virtually(seconds_of_a_topic(seed, distance=distance)) for seed in range(4)]
    monkeypatch.setattr(calling, "HURRY", 1.0)
    before = [run_virtually(seconds_of_a_topic(seed, distance=distance)) for seed in range(4)]
    assert sum(found) < share * sum(before)


def test_the_mean_of_a_steady_clock_is_its_rate() -> None:
    assert np.mean([steady(8.0, uniform) for uniform in np.linspace(0.0, 1.0, 1001)]) == pytest.approx(1 / 8)
