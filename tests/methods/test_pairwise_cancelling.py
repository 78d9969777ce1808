from __future__ import annotations

import numpy as np

import sottovoce as sv
from sottovoce.methods.pairwise_cancelling import ADDED

from .settings import GRAPH, VALUES


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
    assert (np.abs(products.mean(axis=0) - expected) < 5 * products.std(axis=0) / np.sqrt(replicas)).all()


def test_own_noise_leaves_its_mean():
    """The limit is c̄ + mean(η): variance s_η²/n."""
    replicas = 3000
    method = sv.PairwiseCancelling(pair_noise_std=3.0, own_noise_std=0.4)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=300, seed=3, replicas=replicas, record=1)
    squares = run.mean_offset**2
    assert abs(squares.mean() - 0.16 / 8) < 5 * squares.std() / np.sqrt(replicas)


def test_coordinates_have_masks_of_their_own():
    """Vector data: the masks of two coordinates are uncorrelated."""
    run = sv.simulate(GRAPH, np.zeros((8, 200)), sv.PairwiseCancelling(pair_noise_std=1.0), num_steps=1, seed=4)
    masks = run.tables[0, :, :, ADDED]
    first, second = masks[:100].reshape(-1), masks[100:].reshape(-1)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.2
