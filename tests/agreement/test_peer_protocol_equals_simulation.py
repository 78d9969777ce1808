"""The peers' protocol, given the same edges, draws and coins, takes the steps of Algorithm 1 in whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.peer.protocol import PeerState, Protocol
from sottovoce.peer.protocol.messages import Kind
from sottovoce.peer.protocol.noise import rounded as rounded_noise
from sottovoce.privacy.gaussian.account import Account
from sottovoce.testing.settings import some_settings

GRAPHS = {"cycle": sv.graphs.cycle(7), "star": sv.graphs.star(6), "barbell": sv.graphs.barbell(4, 2)}
UNIT = Fraction(1, 10**6)


class Ensemble:
    """One protocol per node; an exchange happens when and between whom the test says, with its draws and coins."""

    def __init__(self, graph: sv.Graph, values: Any, noise_std: float, noise_decay: float, seal_std: float) -> None:
        self.next_draw: Any = None
        self.next_coin: Any = None
        self.peers = []
        noise = {"noise_std": noise_std, "noise_decay": noise_decay, "seal_std": seal_std}
        for node in range(graph.num_nodes):
            settings = some_settings(
                name(node), dimension=len(values[node]), bucket_burst=1e9, bucket_refill=1e9, **noise
            )
            state = PeerState(values[node], Account(noise_std, noise_decay))
            sources = {"draw": rounded_noise(lambda _: self.next_draw), "coin": lambda _: self.next_coin}
            self.peers.append(Protocol(settings, state, stamp=lambda: 1, **sources))
        self.seals = {}
        rng = np.random.default_rng(11)
        for i, j in graph.edges.tolist():
            self.next_draw = rng.standard_normal(len(values[0]))
            self.peers[i].add(name(j))
            self.peers[j].add(name(i))
            self.talk(i, j, self.peers[i].greet(name(j)))
            self.seals[i, j] = self.peers[i].state.edges[name(j)].flow

    def talk(self, i: int, j: int, message: Any) -> Any:
        """Deliver and answer until nobody has anything to say."""
        first = None
        while message is not None:
            message = self.peers[j].receive(message)
            first = first or message
            i, j = j, i
        return first

    def exchange(self, i: int, j: int, draw_i: Any, draw_j: Any, coin: Any) -> None:
        self.peers[j].tick(None)  # fills the token bucket
        self.next_draw, self.next_coin = draw_i, coin
        request = self.peers[i].tick(name(j))
        self.next_draw = draw_j
        reply = self.talk(i, j, request)
        assert reply.kind is Kind.REP

    @property
    def values(self) -> np.ndarray:
        return np.array([peer.state.shown for peer in self.peers])


def name(node: int) -> str:
    return f"p{node:03d}"


def rounded(number: Fraction) -> int:
    """To the nearest whole number, ties to even."""
    return round(number)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_every_step_is_that_of_algorithm_1_in_rational_numbers(graph: sv.Graph) -> None:
    """x(0) = c + Bm, then 150 steps: noise replaced, both to the average, odd halves by the coin. Equal, not close.

    The reference computes in fractions of the value's own dimension and knows nothing of registers.
    """
    rng = np.random.default_rng(4)
    n, std, decay = graph.num_nodes, 1.5, 0.75
    private = rng.integers(-(10**8), 10**8, size=n)
    ensemble = Ensemble(graph, [np.array([v]) for v in private], std, decay, 2.0)
    x = [Fraction(int(v)) * UNIT for v in private]
    for (i, j), seal in ensemble.seals.items():
        x[i] += int(seal[0]) * UNIT
        x[j] -= int(seal[0]) * UNIT
    noise, count = [Fraction(0)] * n, [0] * n
    for _ in range(150):
        i, j = (int(end) for end in graph.edges[rng.integers(graph.num_edges)])
        draws, coin = rng.standard_normal(2), int(rng.integers(2))
        for node, draw in zip((i, j), draws.tolist(), strict=True):
            size = std * decay ** count[node] / float(UNIT)
            fresh = rounded(Fraction(draw * size)) * UNIT if size >= 1 / 16 else Fraction(0)
            x[node] += fresh - noise[node]
            noise[node] = fresh
            count[node] += 1
        total, average = x[i] + x[j], (x[i] + x[j]) / 2
        x[j] = (math.floor(average / UNIT) + (coin if (total / UNIT) % 2 else 0)) * UNIT
        x[i] = total - x[j]
        ensemble.exchange(i, j, draws[:1], draws[1:], np.array([coin]))
        assert [int(v) * UNIT for v in ensemble.values[:, 0]] == x


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_every_step_is_that_of_the_simulation_to_rounding(graph: sv.Graph) -> None:
    """Without seals, all values equal the compiled simulation's to a unit for each rounding they have been through.

    After t steps at most t halves and 2t draws were rounded by half a unit each, and averaging never enlarges that.
    """
    method = sv.NoiseInsertion(noise_std=2.0, noise_decay=0.9)
    values = np.random.default_rng(3).normal(size=graph.num_nodes) * 10
    whole = np.rint(values / float(UNIT)).astype(np.int64)
    run = sv.simulate(graph, whole * float(UNIT), method, num_steps=300, seed=5)
    ensemble = Ensemble(graph, whole[:, None], 2.0, 0.9, 0.0)
    coins = np.random.default_rng(8)
    for step, (edge, draws) in enumerate(zip(run.fired_edges(), run.draws(), strict=True), start=1):
        ensemble.exchange(*graph.edges[edge].tolist(), *draws[:, None], coins.integers(2, size=1))
        if step in (1, 2, 3, 10, 50, 300):
            expected = sv.simulate(graph, whole * float(UNIT), method, num_steps=step, seed=5)
            error = ensemble.values[:, 0] * float(UNIT) - expected.values
            assert abs(error).max() <= 1.5 * step * float(UNIT) + 1e-9
            assert abs(error).max() < 5e-6


def test_vectors_are_averaged_coordinate_by_coordinate() -> None:
    """A run with vectors is one run per coordinate, with the same edges, draws and coins."""
    graph = sv.graphs.cycle(5)
    values = np.random.default_rng(1).integers(-(10**7), 10**7, size=(5, 3))
    draws = np.random.default_rng(2).normal(size=(40, 2, 3))
    coins = np.random.default_rng(3).integers(2, size=(40, 3))
    together = Ensemble(graph, values, 1.0, 0.8, 0.0)
    apart = [Ensemble(graph, values[:, [k]], 1.0, 0.8, 0.0) for k in range(3)]
    for step in range(40):
        i, j = graph.edges[step % 5].tolist()
        together.exchange(i, j, *draws[step], coins[step])
        for k in range(3):
            apart[k].exchange(i, j, *draws[step][:, [k]], coins[step][[k]])
    np.testing.assert_array_equal(together.values, np.hstack([one.values for one in apart]))
