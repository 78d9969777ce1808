"""The peers' protocol, given the same edges and draws, takes the steps of Algorithm 1."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.peer.protocol import PeerState, Protocol, Settings
from sottovoce.peer.protocol.messages import Kind
from sottovoce.privacy.gaussian.account import Account

GRAPHS = {"cycle": sv.graphs.cycle(7), "star": sv.graphs.star(6), "barbell": sv.graphs.barbell(4, 2)}


class Ensemble:
    """One protocol per node; an exchange happens when and between whom the test says."""

    def __init__(self, graph: sv.Graph, values: Any, noise_std: Any, noise_decay: Any) -> None:
        self.next_draw: Any = None
        self.peers = []
        for node in range(graph.num_nodes):
            dimension = len(values[node])
            settings = Settings(name=name(node), diameter=1, dimension=dimension, bucket_burst=1e9, bucket_refill=1e9)
            state = PeerState(values[node], Account(noise_std, noise_decay))
            self.peers.append(Protocol(settings, state, draw=lambda count: self.next_draw, stamp=lambda: 1))
        for i, j in graph.edges:
            self.peers[i].add(name(j))
            self.peers[j].add(name(i))
            self.talk(i, j, self.peers[i].greet(name(j)))

    def talk(self, i: int, j: int, message: Any) -> Any:
        """Deliver and answer until nobody has anything to say."""
        first = None
        while message is not None:
            message = self.peers[j].receive(message)
            first = first or message
            i, j = j, i
        return first

    def exchange(self, i: int, j: int, draw_i: Any, draw_j: Any) -> None:
        self.peers[j].tick(None)  # fills the token bucket
        self.next_draw = draw_i
        request = self.peers[i].tick(name(j))
        self.next_draw = draw_j
        reply = self.talk(i, j, request)
        assert reply.kind is Kind.REP

    @property
    def values(self) -> np.ndarray:
        return np.array([peer.state.shown for peer in self.peers])


def name(node: int) -> str:
    return f"p{node:03d}"


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_every_step_is_that_of_the_simulation(graph: sv.Graph) -> None:
    """After each of 300 exchanges all values and the outstanding noise equal the compiled simulation's to rounding."""
    method = sv.NoiseInsertion(noise_std=2.0, noise_decay=0.9)
    values = np.random.default_rng(3).normal(size=graph.num_nodes) * 10
    run = sv.simulate(graph, values, method, num_steps=300, seed=5)
    ensemble = Ensemble(graph, values[:, None], 2.0, 0.9)
    for step, (edge, draws) in enumerate(zip(run.fired_edges(), run.draws(), strict=True), start=1):
        ensemble.exchange(*graph.edges[edge], *draws[:, None])
        if step in (1, 2, 3, 10, 50, 300):
            expected = sv.simulate(graph, values, method, num_steps=step, seed=5)
            np.testing.assert_allclose(ensemble.values[:, 0], expected.values, rtol=0, atol=1e-12)
            noise = [0.0 if p.state.noise is None else p.state.noise[0] for p in ensemble.peers]
            np.testing.assert_allclose(noise, expected.outstanding_noise, rtol=0, atol=1e-12)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_every_step_is_exact_in_rational_numbers(graph: sv.Graph) -> None:
    """With fractions instead of floats the two are equal, with nothing left to rounding."""
    rng = np.random.default_rng(4)
    n, std, decay = graph.num_nodes, Fraction(3, 2), Fraction(9, 10)
    values = [Fraction(int(v), 7) for v in rng.integers(-50, 50, size=n)]
    ensemble = Ensemble(graph, [np.array([v], dtype=object) for v in values], std, decay)
    x, noise, count = list(values), [Fraction(0)] * n, [0] * n
    for _ in range(100):
        i, j = (int(end) for end in graph.edges[rng.integers(graph.num_edges)])
        draws = [Fraction(int(d), 1000) for d in rng.integers(-3000, 3000, size=2)]
        for node, draw in zip((i, j), draws, strict=True):  # Algorithm 1
            fresh = decay ** count[node] * std * draw
            x[node] += fresh - noise[node]
            noise[node] = fresh
            count[node] += 1
        x[i] = x[j] = (x[i] + x[j]) / 2
        ensemble.exchange(i, j, *(np.array([d], dtype=object) for d in draws))
        assert ensemble.values[:, 0].tolist() == x


def test_vectors_are_averaged_coordinate_by_coordinate() -> None:
    """A run with vectors is one run per coordinate, with the same edges."""
    graph = sv.graphs.cycle(5)
    values = np.random.default_rng(1).normal(size=(5, 3))
    draws = np.random.default_rng(2).normal(size=(40, 2, 3))
    together = Ensemble(graph, values, 1.0, 0.8)
    apart = [Ensemble(graph, values[:, [k]], 1.0, 0.8) for k in range(3)]
    for step in range(40):
        i, j = graph.edges[step % 5]
        together.exchange(i, j, *draws[step])
        for k in range(3):
            apart[k].exchange(i, j, *draws[step][:, [k]])
    np.testing.assert_array_equal(together.values, np.hstack([one.values for one in apart]))
