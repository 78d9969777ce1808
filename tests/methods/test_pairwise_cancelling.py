from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.methods.pairwise_cancelling import ADDED

from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """x ← W x from c + s_Δ Bᵀg + s_η η: all noise is in the first message."""
    x, W = replay.values, method.mixing(replay.graph).toarray()
    yield x
    x = x + method.pair_noise_std * replay.shared() + method.own_noise_std * replay.draws(method, 0)
    for _ in replay.steps():
        x = W @ x
        yield x


@pytest.mark.parametrize("own", [0.0, 0.1])
def test_equation(own):
    """Compiled runs follow the equation, with and without noise that does not cancel."""
    assert_equation(sv.PairwiseCancelling(pair_noise_std=3.0, own_noise_std=own), equation)


def test_pair_noise_cancels_exactly():
    """Without own noise the average is exact however large the pair noise is, and the sum is right from the start."""
    run = sv.simulate(GRAPH, VALUES, sv.PairwiseCancelling(pair_noise_std=100.0), num_steps=1, seed=1)
    assert run.relative_error[-1] > 100
    assert abs(run.mean_offset) < 1e-12
    np.testing.assert_allclose(run.resume(800).values, VALUES.mean(), atol=1e-10)


def test_masks_have_the_stated_covariance():
    """What is added in all has covariance s_η²I + s_Δ²L, entry by entry within five standard errors."""
    graph, replicas = sv.graphs.path(4), 20_000
    method = sv.PairwiseCancelling(pair_noise_std=1.5, own_noise_std=0.5)
    run = sv.simulate(graph, np.zeros(4), method, num_steps=1, seed=2, replicas=replicas, record=1)
    masks = run.tables[:, 0, :, ADDED]
    products = masks[:, :, None] * masks[:, None, :]
    expected = 0.25 * np.eye(4) + 2.25 * sv.graphs.laplacian(graph).toarray()
    np.testing.assert_allclose(sv.theory.cancelling_covariance(graph, 1.5, 0.5), expected)
    assert (np.abs(products.mean(axis=0) - expected) < 5 * products.std(axis=0) / np.sqrt(replicas)).all()


def test_own_noise_leaves_its_mean():
    """The limit is c̄ + mean(η): variance s_η²/n."""
    replicas = 3000
    method = sv.PairwiseCancelling(pair_noise_std=3.0, own_noise_std=0.4)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=300, seed=3, replicas=replicas, record=1)
    squares = run.mean_offset**2
    assert abs(squares.mean() - 0.16 / 8) < 5 * squares.std() / np.sqrt(replicas)
    promised = method.guarantee(GRAPH)
    assert (promised.factor, promised.remaining) == (sv.SynchronousAveraging().guarantee(GRAPH).factor, 0.4**2)


def test_coordinates_have_masks_of_their_own():
    """Vector data: the masks of two coordinates are uncorrelated."""
    run = sv.simulate(GRAPH, np.zeros((8, 200)), sv.PairwiseCancelling(pair_noise_std=1.0), num_steps=1, seed=4)
    masks = run.tables[0, :, :, ADDED]
    first, second = masks[:100].reshape(-1), masks[100:].reshape(-1)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.2


def test_cancelling_noise():
    """Down to what the own noise leaves of the sum: μ² → Δ²/(n s_η²); without own noise the sum is known exactly."""
    graph = sv.graphs.cycle(6)
    levels = [sv.theory.cancelling_mu(graph, s, 0.5).max() for s in (0.0, 1.0, 10.0, 1e4)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] == pytest.approx(2.0)
    assert levels[-1] == pytest.approx(np.sqrt(1 / (6 * 0.25)), rel=1e-6)
    assert np.isinf(sv.theory.cancelling_mu(graph, 1.0)).all()


def test_an_honest_neighbour_is_needed():
    """A node whose neighbours are all curious is protected by its own noise alone."""
    mu = sv.theory.cancelling_mu(sv.graphs.path(4), 100.0, 2.0, curious=[1])
    assert mu[0] == pytest.approx(0.5)
    assert mu[1] == 0.0
    assert (mu[2:] < 0.5).all()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"pair_noise_std": -1.0}, "pair_noise_std"),
        ({"own_noise_std": np.inf}, "own_noise_std"),
        ({"curious": [3]}, r"curious must be in 0\.\.2, got 3"),
        ({"sensitivity": -1.0}, "sensitivity"),
    ],
)
def test_bad_input_is_named(given, says):
    """Sizes below zero or without end, and nodes that are not there, are refused."""
    with pytest.raises(InvalidParameter, match=says):
        sv.theory.cancelling_mu(sv.graphs.path(3), **({"pair_noise_std": 1.0, "own_noise_std": 1.0} | given))
