from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

from .settings import GRAPH

W5 = np.array([[2, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 0, 1], [0, 0, 0, 3, 1], [1, 0, 1, 1, 1]]) / 4
GRAPH5 = sv.Graph.from_edges([(0, 1), (0, 4), (1, 2), (2, 4), (3, 4)])


def formula(W, values, phi, k, sigma):
    """The published E‖x(k) − c̄‖², term by term."""
    n = len(W)
    centred, tilde = values - values.mean(), W - np.full((n, n), 1 / n)
    power = np.linalg.matrix_power
    noise = np.trace(W @ W) * phi ** (2 * k - 2)
    for t in range(k - 1):
        noise += phi ** (2 * t) * np.trace(power(tilde, 2 * k - 2 * t - 2) @ (W - np.eye(n)) @ (W - np.eye(n)))
    return centred @ power(tilde, 2 * k) @ centred + sigma**2 * noise


@pytest.mark.parametrize(
    ("graph", "weights"), [(GRAPH5, W5), (GRAPH, "metropolis"), (sv.graphs.cycle(6), "max-degree")]
)
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_mean_square_error_is_the_published_formula(graph, weights, phi):
    """Ensemble means after 1..8 rounds are the formula's within five standard errors."""
    values = np.random.default_rng(1).random(graph.num_nodes)
    method = sv.MoMurray(noise_std=0.7, noise_decay=phi, weights=weights)
    replicas = 3000
    run = sv.simulate(graph, values, method, num_steps=8, seed=2, replicas=replicas, record=list(range(1, 9)))
    W = method.mixing(graph).toarray()
    expected = np.array([formula(W, values, phi, k, 0.7) for k in range(1, 9)])
    error = run.squared_error.std(axis=0) / np.sqrt(replicas)
    assert (np.abs(run.squared_error.mean(axis=0) - expected) <= 5 * error).all()


@pytest.mark.parametrize("phi", [0.3, 0.95])
def test_rate_is_the_slower_of_noise_and_mixing(phi):
    """Late mean-square errors shrink by max(φ², λ₂²) a round."""
    method = sv.MoMurray(noise_std=1.0, noise_decay=phi)
    eigenvalues = np.linalg.eigvalsh(method.mixing(GRAPH).toarray())
    rate = max(phi, eigenvalues[-2], -eigenvalues[0]) ** 2
    run = sv.simulate(GRAPH, np.arange(8.0), method, num_steps=300, seed=2, replicas=400, record=[200, 300])
    early, late = run.squared_error.mean(axis=0)
    assert (late / early) ** 0.01 == pytest.approx(rate, rel=0.01)


def test_exact_average_in_the_limit():
    """All noise is withdrawn, and after it has vanished rounds are noiseless."""
    run = sv.simulate(GRAPH5, np.arange(5.0), sv.MoMurray(noise_std=5.0, noise_decay=0.8), num_steps=3000, seed=3)
    np.testing.assert_allclose(run.values, 2.0, atol=1e-13)
    assert (run.outstanding_noise == 0).all()
