from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.methods.push_sum import SUM, WEIGHT

from .settings import GRAPH, VALUES


def _potential(run):
    """Φ = Σ_ij (v_ij − w_i/n)² per replica, of a run that started from the identity matrix."""
    shares = run.tables[..., SUM].transpose(0, 2, 1)  # (replicas, node i, origin j)
    weights = run.tables[:, 0, :, WEIGHT]
    return ((shares - weights[..., None] / run.graph.num_nodes) ** 2).sum(axis=(1, 2))


@pytest.mark.parametrize("n", [2, 4, 8])
def test_potential_factor_on_complete_graphs(n):
    """With targets uniform over all n, E Φ shrinks by exactly ½ − 1/(4n) a round (within five standard errors).

    Φ₁ = Σ_k ‖½d_k + ½Σ_{i→k} d_i‖² with Σ d_i = 0 gives ¼ + ¼(1 − 1/n). The lemma as published has ½ − 1/(2n).
    """
    replicas = 4000
    run = sv.simulate(sv.graphs.complete(n), np.eye(n), sv.PushSum(), num_steps=1, seed=1, replicas=replicas, record=1)
    ratio = _potential(run) / (n - 1)
    error = 5 * ratio.std() / np.sqrt(replicas)
    assert abs(ratio.mean() - (0.5 - 0.25 / n)) < error
    later = _potential(run.resume(2, record=1)) / (n - 1)
    assert abs(later.mean() - (0.5 - 0.25 / n) ** 3) < 5 * later.std() / np.sqrt(replicas)


@pytest.mark.parametrize("graph", [GRAPH, sv.graphs.star(9), sv.graphs.path(6)], ids=lambda g: g.name)
def test_estimates_converge_although_weights_do_not(graph):
    """s/w → c̄ on irregular graphs too, Σ w = n stays, and w itself does not become 1."""
    values = np.random.default_rng(2).random(graph.num_nodes)
    run = sv.simulate(graph, values, sv.PushSum(), num_steps=800, seed=3, replicas=5)
    np.testing.assert_allclose(run.values, values.mean(), atol=1e-9)
    weights = run.tables[:, 0, :, WEIGHT]
    np.testing.assert_allclose(weights.sum(axis=1), graph.num_nodes, rtol=1e-13)
    assert np.abs(weights - 1).max() > 0.1


def test_mass_is_counted_in_sums_not_in_estimates():
    """The sum of the estimates wanders while the conserved mass stays."""
    run = sv.simulate(GRAPH, VALUES, sv.PushSum(), num_steps=2, seed=3)
    assert abs(run.mean_offset) > 1e-3
    assert run.mass_error.max() < 1e-14
