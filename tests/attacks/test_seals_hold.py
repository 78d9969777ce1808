"""Sealed edges against those who see most: draining, refusing, colluding. Nobody knows more than the theorem allows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.privacy.gaussian.seals import sealed_std

from .transcript import Watched

PRIOR, SEAL = 10.0, 20.0
TRIANGLE, COMPLETE = sv.graphs.complete(3), sv.graphs.complete(4)


def least(graph: sv.Graph, coalition: tuple[int, ...], seal: float = SEAL) -> np.ndarray:
    return sealed_std(graph.edges, graph.num_nodes, coalition, seal_std=seal, prior_std=PRIOR)


def gossip(watched: Watched, exchanges: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(exchanges):
        i, j = watched.graph.edges[rng.integers(watched.graph.num_edges)].tolist()
        watched.exchange(*((i, j) if rng.integers(2) else (j, i)))


def holds(watched: Watched, coalition: tuple[int, ...]) -> None:
    found, bound = watched.posterior_std(PRIOR), least(watched.graph, coalition)
    assert (found >= bound * (1 - 1e-4)).all(), (found, bound)  # the coefficients are rounded


def test_draining_the_noise_gains_nothing() -> None:
    """Sixty calls in a row before anything else happens teach c + m, not c: what the theorem says is left."""
    watched = Watched(TRIANGLE, (0,), seal_std=SEAL)
    for _ in range(60):
        watched.exchange(0, 1)
    holds(watched, (0,))
    alone = watched.posterior_std(PRIOR)[1]
    assert alone == pytest.approx(PRIOR * SEAL / np.hypot(PRIOR, SEAL), rel=0.01)  # prior and one seal
    gossip(watched, 120, seed=1)
    holds(watched, (0,))


def test_without_seals_draining_reads_the_value() -> None:
    """The control: the same sixty calls on edges that opened at zero leave almost nothing of a prior of 10."""
    watched = Watched(TRIANGLE, (0,), seal_std=0.0)
    for _ in range(60):
        watched.exchange(0, 1)
    assert watched.posterior_std(PRIOR)[1] < 1e-3


def test_the_bound_is_attained() -> None:
    """Who drains both others before they talk to each other is left with what the theorem says, to a thousandth."""
    watched = Watched(TRIANGLE, (0,), seal_std=SEAL)
    for other in (1, 2):
        for _ in range(60):
            watched.exchange(0, other)
    np.testing.assert_allclose(watched.posterior_std(PRIOR), least(TRIANGLE, (0,)), rtol=1e-3)


def test_a_neighbour_that_refuses_gains_nothing() -> None:
    """It keeps what it was shown and never answers, while the others go on."""
    watched = Watched(COMPLETE, (3,), seal_std=SEAL)
    rng = np.random.default_rng(3)
    for _ in range(150):
        i, j = rng.choice(4, size=2, replace=False).tolist()
        if i != 3:
            watched.exchange(i, j, refuse=j == 3)
    holds(watched, (3,))


def test_an_asker_that_lies_gains_nothing() -> None:
    """It shows whatever it likes and takes the answers: what it chose it knows."""
    watched = Watched(TRIANGLE, (0,), seal_std=SEAL)
    rng = np.random.default_rng(4)
    for step in range(80):
        if step % 2:
            watched.exchange(*((1, 2) if rng.integers(2) else (2, 1)))
        else:
            watched.lies_next(0, 1 + step % 4 // 2, np.zeros(watched.size, dtype=np.int64))
    holds(watched, (0,))


@pytest.mark.parametrize("coalition", list(itertools.combinations(range(4), 2)))
def test_every_pair_on_four_peers(coalition: tuple[int, int]) -> None:
    """Two of four pool everything: the other two still hide behind the seal they share."""
    watched = Watched(COMPLETE, coalition, seal_std=SEAL)
    gossip(watched, 200, seed=sum(coalition))
    holds(watched, coalition)
    assert watched.posterior_std(PRIOR).max() > 0.66 * PRIOR


def pairs_of(graph: sv.Graph) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(graph.num_nodes), 2))


SLOW = [pytest.param(part, marks=pytest.mark.slow) for part in (1, 2)]


@pytest.mark.parametrize("part", [0, *SLOW])
def test_every_pair_on_a_random_geometric_graph(part: int) -> None:
    """Whoever colludes, and whatever the honest part falls into: a sample of the pairs quickly, all of them slowly."""
    graph = sv.graphs.random_geometric(9, seed=5)
    pairs = pairs_of(graph)
    for coalition in pairs[::9] if part == 0 else pairs[part - 1 :: 2]:
        watched = Watched(graph, coalition, seal_std=SEAL, noise_decay=0.6)
        gossip(watched, 220, seed=part)
        holds(watched, coalition)
