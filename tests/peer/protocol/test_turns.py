"""Whose turn it is when the own clock rings, and when it rings next (R27, R96)."""

from __future__ import annotations

import asyncio
from collections import Counter

import numpy as np
import pytest

from sottovoce.peer.protocol import Protocol
from sottovoce.peer.protocol.calling import steady
from sottovoce.peer.protocol.core import Core
from sottovoce.peer.protocol.settings import TopicSettings
from sottovoce.testing import LocalNetwork, run_virtually
from sottovoce.testing.memory_transport import Faults

from .pair import exchange, peer, talk

NAMES = ["bob", "cyd", "dan", "eve"]


def of_a_topic(one: Protocol, missing: str = "wait") -> Protocol:
    one.settings = TopicSettings.of(one.settings, dimension=1, missing=missing, topic="t")
    return one


def in_the_middle(missing: str = "wait") -> Protocol:
    """Ada, with four neighbours, in a topic or not."""
    ada = of_a_topic(peer("ada"), missing) if missing else peer("ada")
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
    """Same rate: at random times with any pause (R27), or between half of and one and a half times the mean (R96)."""
    ada = in_the_middle(missing)
    pauses = [ada.pause(uniform) for uniform in np.linspace(0.0, 1.0, 10_000, endpoint=False)]
    mean = 1.0 / (4 * ada.settings.rate)
    assert np.mean(pauses) == pytest.approx(mean, rel=1e-2)
    if missing:
        assert (min(pauses), max(pauses)) == pytest.approx((0.5 * mean, 1.5 * mean), rel=1e-3)
    else:
        assert max(pauses) > 5.0 * mean


async def seconds_of_a_topic(seed: int, loss: float) -> float:
    names = [f"p{k}" for k in range(8)]
    ring = [(names[k], names[(k + 1) % 8]) for k in range(8)]
    async with LocalNetwork(names, ring, seed=seed, faults=Faults(loss=loss), diameter=4, noise_decay=0.5) as net:
        began = asyncio.get_running_loop().time()
        await asyncio.gather(*(net[name].average(float(k), topic="t") for k, name in enumerate(names)))
        return asyncio.get_running_loop().time() - began


@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_a_topic_with_turns_takes_two_thirds_of_the_time(loss: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a ring of eight, beside neighbours that are drawn and times that are, also where messages are lost."""
    found = [run_virtually(seconds_of_a_topic(seed, loss)) for seed in range(4)]

    def drawn(self: Core, uniform: float) -> str:
        return self.state.active[int(uniform * len(self.state.active))]

    monkeypatch.setattr(Core, "whose_turn", drawn)
    monkeypatch.setattr("sottovoce.peer.protocol.machine.steady", lambda rate, uniform: -np.log1p(-uniform) / rate)
    before = [run_virtually(seconds_of_a_topic(seed, loss)) for seed in range(4)]
    assert sum(found) < 2 / 3 * sum(before)


def test_the_mean_of_a_steady_clock_is_its_rate() -> None:
    assert np.mean([steady(8.0, uniform) for uniform in np.linspace(0.0, 1.0, 1001)]) == pytest.approx(1 / 8)
