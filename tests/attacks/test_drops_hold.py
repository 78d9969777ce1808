"""Promise: a drop holds at both ends, whoever is down, whatever is lost, and however often somebody restarts.

The attempts: the dropped peer is down and returns, with its disk or without; the drop is an edit of the configuration
while the peer itself is down; a third of all messages is lost; both ends drop each other.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from sottovoce.testing import Conditions, SimulatedNetwork

NAMES = ["ada", "bob", "cyd", "dan"]
EDGES = [("ada", "bob"), ("bob", "cyd"), ("cyd", "dan"), ("ada", "cyd")]
TOLERANCE = 1e-3


def network(seed: int) -> SimulatedNetwork:
    rng = random.Random(seed)
    return SimulatedNetwork(
        EDGES, {name: rng.uniform(0, 100) for name in NAMES}, noise_std=1.0, noise_decay=0.8, seed=seed, low=0.0,
        high=100.0, diameter=3, tolerance=TOLERANCE, rate=5.0, conditions=Conditions(loss=0.3, duplication=0.1),
    )  # fmt: skip


def down(net: SimulatedNetwork, name: str, *, lose_disk: bool = False) -> None:
    """Crash, and stay down until :meth:`SimulatedNetwork.heal`."""
    net.peers[name].crash(lose_disk=lose_disk)


def dropped_while_down(net: SimulatedNetwork) -> None:
    down(net, "bob")
    net.drop("ada", "bob")


def dropped_while_down_without_disk(net: SimulatedNetwork) -> None:
    down(net, "bob", lose_disk=True)
    net.drop("ada", "bob")


def edited_while_down(net: SimulatedNetwork) -> None:
    down(net, "ada")
    net.drop("ada", "bob")


def restarted_before_it_was_heard(net: SimulatedNetwork) -> None:
    down(net, "bob")
    net.drop("ada", "bob")
    net.run(3.0)
    net.crash("ada")


def both_at_once(net: SimulatedNetwork) -> None:
    net.drop("ada", "bob")
    net.drop("bob", "ada")


def under_way(net: SimulatedNetwork) -> None:
    net.drop("ada", "bob")


WAYS: list[Callable[[SimulatedNetwork], None]] = [
    dropped_while_down,
    dropped_while_down_without_disk,
    edited_while_down,
    restarted_before_it_was_heard,
    both_at_once,
    under_way,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 40))])
def test_a_drop_holds_at_both_ends(way: Callable[[SimulatedNetwork], None], seed: int) -> None:
    """The edge is gone on both sides, every value is in the average once, and all settle on the mean (R51, R52)."""
    net = network(seed)
    net.run(5.0)
    way(net)
    net.run(10.0)
    down_still = [name for name, peer in net.peers.items() if peer.protocol is None]
    loss = net.conditions
    net.heal()
    net.conditions = loss
    net.run(60.0)
    states = net.states()
    assert all(not state.partings for state in states.values()), down_still
    for one, other in (("ada", "bob"), ("bob", "ada")):
        record = states[one].edges.get(other)
        assert record is None or (record.blank and record.parted)
    net.heal()
    assert net.run(600.0, until=lambda: net.settled)
    assert net.largest_error() <= TOLERANCE
    net.quiesce()
    assert net.mass_error() == 0
    assert net.asymmetric_edges() == []


def test_a_drop_that_cuts_a_member_off_leaves_two_exact_means() -> None:
    """dan has one neighbour only: dropped while he is down, he holds his own value and the others hold their mean."""
    net = network(7)
    net.run(5.0)
    down(net, "dan")
    net.drop("cyd", "dan")
    net.heal()
    net.run(100.0)
    states = net.states()
    dan = states.pop("dan")
    assert dan.shown == dan.value + (0 if dan.noise is None else dan.noise)
    assert dan.active == []
    mean = sum(state.value for state in states.values()) / 3
    assert max(float(abs(state.shown - mean).max()) for state in states.values()) * net.unit.number <= TOLERANCE


def test_a_neighbour_that_never_answers_is_told_for_ever_and_holds_up_nobody() -> None:
    """The parting stays, over restarts, and the others settle; a roster without that member ends it (R51)."""
    net = network(9)
    net.run(5.0)
    net.liars["bob"] = lambda _: None
    for name in ("ada", "cyd"):
        net.drop(name, "bob")
    net.heal()
    for _ in range(3):
        net.crash("ada")
        net.run(20.0)
    assert set(net.states()["ada"].partings) == {"bob"}
    del net.peers["bob"]
    net.links = {link for link in net.links if "bob" not in link}
    net.crash("ada")
    assert net.run(600.0, until=lambda: net.settled)
    assert not net.states()["ada"].partings
    assert net.largest_error() <= TOLERANCE
