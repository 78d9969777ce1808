"""Promise: a peer whose honest neighbour is frozen does not lay its value open to the other one.

The attempts: the honest neighbour stops at some moment, and the curious one goes on calling as fast as it may, with a
large budget of calls; at once, or after a while; and it stops before the edges are open.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.privacy import CuriousNodes, audit_transcript
from sottovoce.privacy.gaussian.seals import sealed_std
from sottovoce.testing import SimulatedNetwork, Transcript

NAMES = ["eve", "hal", "vic"]
TRIANGLE = sv.graphs.complete(3)
PRIOR, SEAL = 10.0, 20.0


def network(seed: int, *, min_open_edges: int = 2, seal_std: float = SEAL) -> SimulatedNetwork:
    net = SimulatedNetwork(
        itertools.combinations(NAMES, 2), {"eve": 1.0, "hal": 2.0, "vic": 42.0}, noise_std=1.0, noise_decay=0.8,
        seed=seed, seal_std=seal_std, tolerance=1e-3, rate=5.0, min_open_edges=min_open_edges, bucket_refill=20.0,
    )  # fmt: skip
    net.witness = Transcript(NAMES, seal_std=seal_std)
    return net


def freeze(net: SimulatedNetwork) -> None:
    net.partition(["eve", "vic"], ["hal"])


def calls(net: SimulatedNetwork, seconds: float) -> None:
    """eve calls vic fifty times a second, whatever her own clock says."""
    for _ in range(round(50 * seconds)):
        net.run(0.02)
        net._act("eve", lambda protocol: (protocol.give_up(), protocol.tick("vic"))[1])


def left(net: SimulatedNetwork) -> np.ndarray:
    records = net.witness.records  # type: ignore[attr-defined]
    return audit_transcript(TRIANGLE, records, CuriousNodes([0]), PRIOR).posterior_std


@pytest.mark.parametrize("min_open_edges", [1, 2])
@pytest.mark.parametrize("seconds", [0.3, 3.0])
def test_the_theorem_holds_with_the_honest_neighbour_frozen(seconds: float, min_open_edges: int) -> None:
    """Twenty seconds of calls leave at least what the sealed edge to the frozen neighbour promises (R30, R46)."""
    least = sealed_std(TRIANGLE.edges, 3, [0], seal_std=SEAL, prior_std=PRIOR)
    for seed in range(3):
        net = network(seed, min_open_edges=min_open_edges)
        net.run(seconds)
        freeze(net)
        calls(net, 20.0)
        assert left(net)[2] >= least[2] * (1 - 1e-6)


def test_the_noise_is_still_there_when_the_neighbour_is_back() -> None:
    """Frozen soon after the start: twenty seconds of calls make vic use up a few draws, not hundreds (R55)."""
    used = []
    for seed in range(5):
        net = network(seed, min_open_edges=1)
        net.run(0.5, until=lambda net=net: net.states()["vic"].sealed_edges == 2)  # type: ignore[misc]
        freeze(net)
        calls(net, 20.0)
        used.append(net.states()["vic"].account.messages)
        assert net.states()["eve"].edges["vic"].s + net.states()["eve"].edges["vic"].r > 60
    assert max(used) <= 25
    assert np.median(used) <= 12


def test_alone_with_one_neighbour_nothing_more_is_shown() -> None:
    """With two edges demanded vic shows eve nothing once hal has not answered, and speaks again when hal is back (R30).

    The interval of a value that was settled before is told as before; the value in it stays as it is.
    """
    for seed in range(4):
        net = network(seed)
        net.run(3.0)
        freeze(net)
        vic = net.peers["vic"].protocol
        assert vic is not None
        while not vic._links["hal"].silent:
            calls(net, 0.5)
            assert net.now < 60.0
        records, value = list(net.witness.records), vic.state.shown  # type: ignore[attr-defined]
        calls(net, 10.0)
        later = net.witness.records[len(records) :]  # type: ignore[attr-defined]
        assert not [record for record in later if record in (sv.privacy.Shown(2, 0), sv.privacy.Moved(0, 2))]
        assert np.array_equal(vic.state.shown, value)
        net.heal()
        assert net.run(300.0, until=lambda net=net: net.settled)  # type: ignore[misc]
        assert net.largest_error() <= 1e-3


def test_an_edge_that_never_opened_protects_nobody() -> None:
    """hal is frozen from the start: one sealed edge is too few, and vic shows nothing at all (R30)."""
    net = network(2)
    freeze(net)
    for name in ("eve", "vic"):
        net.crash(name, lose_disk=True)
    net.run(5.0)
    calls(net, 10.0)
    state = net.states()["vic"]
    assert (state.sealed_edges, state.account.messages) == (1, 0)
