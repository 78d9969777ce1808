from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

from .settings import GRAPH


def test_limit_is_random_unbiased_and_known():
    """All nodes agree on c̄ + (s/n) Σ_i Σ_t η_i(t): mean c̄, variance (2/n) s²b²/(1 − q²), five standard errors."""
    method = sv.Huang(noise_scale=0.5, noise_decay=0.8, mixing_share=0.5)
    replicas = 3000
    run = sv.simulate(GRAPH, np.arange(8.0), method, num_steps=300, seed=1, replicas=replicas, record=1)
    limit = run.values.mean(axis=1)
    assert np.ptp(run.values, axis=1).max() < 1e-3
    variance = 2 / 8 * 0.5**2 * 0.5**2 / (1 - 0.8**2)
    assert abs(limit.mean() - 3.5) < 5 * np.sqrt(variance / replicas)
    squares = (limit - 3.5) ** 2
    assert abs(squares.mean() - variance) < 5 * squares.std() / np.sqrt(replicas)
    assert np.sqrt(squares.mean()) > 0.1


@pytest.mark.parametrize("graph", [sv.graphs.cycle(5), sv.graphs.star(6)], ids=lambda g: g.name)
def test_limit_on_other_graphs(graph):
    """The variance of the limit does not depend on the graph."""
    n, replicas = graph.num_nodes, 3000
    method = sv.Huang(noise_scale=0.7, noise_decay=0.6, mixing_share=0.7)
    run = sv.simulate(graph, np.zeros(n), method, num_steps=150, seed=5, replicas=replicas, record=1)
    squares = run.mean_offset**2
    variance = 2 / n * 0.7**2 * 0.7**2 / (1 - 0.36)
    assert abs(squares.mean() - variance) < 5 * squares.std() / np.sqrt(replicas)


def test_moving_all_the_way_is_averaging_what_was_said():
    """With s = 1 the new value is the weighted average of the messages."""
    method = sv.Huang(noise_scale=1.0, noise_decay=0.3, mixing_share=1.0)
    run = sv.simulate(GRAPH, np.arange(8.0), method, num_steps=1, seed=2)
    expected = method.mixing(GRAPH).toarray() @ (np.arange(8.0) + run.draws()[0])
    assert run.values == pytest.approx(expected)
