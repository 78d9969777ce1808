"""Members that lie: what they can shift while they stay, and that nothing of it is left once they are dropped."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.protocol.state import FIRST_OPENINGS
from sottovoce.testing import SimulatedNetwork
from sottovoce.testing.liars import LIARS, fuzzer, liar, rounds

NAMES = [f"p{k}" for k in range(8)]
LIAR = "p3"
HONEST = [name for name in NAMES if name != LIAR]
EDGES = [*itertools.pairwise([*NAMES, NAMES[0]]), ("p0", "p4"), ("p2", "p4"), ("p1", "p5")]
TOLERANCE = 1e-3


def network(seed: int) -> SimulatedNetwork:
    rng = random.Random(seed)
    return SimulatedNetwork(
        EDGES, {name: rng.uniform(0, 100) for name in NAMES}, noise_std=1.0, noise_decay=0.8, seed=seed, low=0.0,
        high=100.0, members=8, max_degree=4, diameter=5, min_open_edges=2, tolerance=TOLERANCE, rate=5.0,
    )  # fmt: skip


def shift(net: SimulatedNetwork) -> float:
    """How far the mean of the honest peers' values, noise apart, is from what all members' values make."""
    states = net.states()
    noise_free = [s.shown - (0 if s.noise is None else s.noise) for n, s in states.items() if n != LIAR]
    private = [s.value for n, s in states.items() if n != LIAR]
    return float(abs(sum(noise_free) - sum(private)).max()) * net.unit.number


def drop(net: SimulatedNetwork) -> None:
    del net.liars[LIAR]
    net.leave(LIAR)


def recovers(net: SimulatedNetwork) -> None:
    """Honest peers alone: exact balance, and all settle at the honest mean."""
    drop(net)
    net.heal()
    assert net.run(600.0, until=lambda: net.settled), "honest peers do not settle"
    assert net.largest_error() <= TOLERANCE
    net.quiesce()
    assert net.mass_error() == 0
    assert net.asymmetric_edges() == []


LONG = "lives from the future"  # honest peers wait for them


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=pytest.mark.slow) if what == LONG else what for what in LIARS]
)
def test_dropping_a_liar_restores_the_honest_mean(what: str) -> None:
    """Whatever it said for 30 seconds: within its bound while it stayed, and nothing of it afterwards (R47, R48)."""
    net = network(seed=1)
    net.run(3.0)
    net.liars[LIAR] = liar(what)
    bound = 2 * 2 * net.peers["p0"].settings.limits.edge * net.unit.number  # two edges, 2 L each
    for _ in range(30):
        net.run(1.0)
        assert shift(net) <= bound
    recovers(net)


def test_the_liars_bound_is_near_what_a_liar_can_do() -> None:
    """A register at exactly 2L on each of its k edges shifts the honest peers' sum by 2 k L, and not a unit more."""
    net = network(seed=2)
    net.run(3.0)
    limit = net.peers["p0"].settings.limits.edge

    def lie(m: Message) -> Message:
        if m.blank or m.kind is not Kind.HELLO:
            return m
        theirs = net.peers[m.dst].protocol
        assert theirs is not None
        edge = theirs.state.edges[LIAR]
        return replace(m, s=edge.r + 1, f=edge.f - 2 * limit, r=edge.s)

    protocol = net.peers[LIAR].protocol
    assert protocol is not None
    for name in ("p2", "p4"):
        target = net.peers[name].protocol
        assert target is not None
        target.receive(lie(protocol.greet(name)))
    assert shift(net) == pytest.approx(2 * 2 * limit * net.unit.number, rel=0.01)
    net.liars[LIAR] = lambda _: None
    recovers(net)


def test_the_message_that_bricked_a_network() -> None:
    """One HELLO with its own register at −10¹² units of the old kind: refused, and honest peers go on (R47)."""
    net = network(seed=3)
    net.run(3.0)
    liar, victim = net.peers[LIAR].protocol, net.peers["p4"].protocol
    assert liar is not None
    assert victim is not None
    before = victim.state.edges[LIAR]
    hello = replace(liar.greet("p4"), s=before.r + 1, f=np.array([-(10**18)]), r=before.s)
    net._deliver(hello)
    assert victim.state.edges[LIAR].g is before.g
    net._deliver(replace(hello, f=before.f + 2 * victim.settings.edge_limit(LIAR)))  # the most that it can say
    net.liars[LIAR] = lambda _: None
    net.run(20.0)
    recovers(net)


@pytest.mark.parametrize("lie", [2**40, 2**62 - 1, 0])
def test_a_lying_round_makes_nobody_settle_wrongly(lie: int) -> None:
    """It lies from the start and about nothing else: whoever says settled is right, and later all find together."""
    net = network(seed=4)
    net.liars[LIAR] = rounds(lie)
    for _ in range(60):
        net.run(0.5)
        protocols = [net.peers[name].protocol for name in HONEST]
        if any(protocol is not None and protocol.settled for protocol in protocols):
            assert net.largest_error() <= TOLERANCE
    recovers(net)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 100))])
def test_a_fuzzing_liar_is_forgotten(seed: int) -> None:
    """Random fields of random messages changed at random; then it is dropped (R47, R48)."""
    net = network(seed=100 + seed)
    net.run(1.0)
    net.liars[LIAR] = fuzzer(seed)
    bound = 2 * 2 * net.peers["p0"].settings.limits.edge * net.unit.number
    for _ in range(20):
        net.run(1.0)
        assert shift(net) <= bound
    recovers(net)


def test_leaving_and_coming_back_costs_a_few_fresh_starts_and_no_more() -> None:
    """A liar that says BYE and HELLO in turns for ten minutes: honest peers settle on their mean meanwhile (R53).

    Each of its two edges is opened as often as the bucket allows; every other message of it is ignored, so that the
    noise comes down and the account of each victim grows by that many schedules at most.
    """
    net = network(seed=5)
    net.run(3.0)
    net.liars[LIAR] = liar("leaves and comes back")
    fresh_starts = dict.fromkeys(HONEST, 0)

    def watch(name: str, before: PeerState, after: PeerState, _message: Message | None) -> None:
        if name in fresh_starts and after.account.messages < before.account.messages:
            fresh_starts[name] += 1

    net.witness = watch
    honest = [net.peers[name] for name in HONEST]
    settled = lambda: all(peer.protocol is not None and peer.protocol.settled for peer in honest)  # noqa: E731
    assert net.run(600.0, until=settled), "honest peers do not settle"
    states = {name: state for name, state in net.states().items() if name in HONEST}
    mean = sum(state.value for state in states.values()) / len(states)
    assert max(float(abs(state.shown - mean).max()) for state in states.values()) * net.unit.number <= TOLERANCE
    assert 2 <= max(fresh_starts.values()) <= FIRST_OPENINGS + 1
    assert not any(fresh_starts[name] for name in HONEST if name not in ("p2", "p4"))
    recovers(net)


def test_leaving_and_coming_back_does_not_burn_a_budget() -> None:
    """With a budget, all that a cycling liar costs is what its few openings cost: the noise still comes down (R53)."""
    net = SimulatedNetwork(
        EDGES, dict.fromkeys(NAMES, 50.0), noise_std=1.0, noise_decay=0.8, seed=6, budget=400.0, low=0.0, high=100.0,
        members=8, max_degree=4, diameter=5, min_open_edges=2, tolerance=TOLERANCE, rate=5.0,
    )  # fmt: skip
    net.run(1.0)
    net.liars[LIAR] = liar("leaves and comes back")
    net.run(120.0)
    states = net.states()
    calm, victims = states["p6"].account, [states[name].account for name in ("p2", "p4")]
    assert not calm.affords()
    assert all(account.next_noise_std <= calm.next_noise_std / 0.8 for account in victims)
