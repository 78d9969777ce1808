from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

from .equations import assert_equation
from .settings import GRAPH


def equation(method, replay):
    """x ← (1 − s) x + s W (x + η) with η ~ Laplace(b q^k)."""
    x, W, s = replay.values, method.mixing(replay.graph).toarray(), method.mixing_share
    yield x
    for k in replay.steps():
        eta = method.noise_scale * method.noise_decay**k * replay.draws(method, k)
        x = (1.0 - s) * x + s * (W @ (x + eta))
        yield x


@pytest.mark.parametrize(("decay", "share"), [(0.7, 0.6), (0.3, 1.0), (0.0, 1.0)])
def test_equation(decay, share):
    """Compiled runs follow the equation; with s = 1 a node moves all the way, and then one draw may be all."""
    assert_equation(sv.Huang(noise_scale=0.5, noise_decay=decay, mixing_share=share), equation)


def test_limit_is_random_unbiased_and_known():
    """All nodes agree on c̄ + (s/n) Σ_i Σ_t η_i(t): mean c̄, variance (2/n) s²b²/(1 − q²), five standard errors."""
    method = sv.Huang(noise_scale=0.5, noise_decay=0.8, mixing_share=0.5)
    replicas = 3000
    run = sv.simulate(GRAPH, np.arange(8.0), method, num_steps=300, seed=1, replicas=replicas, record=1)
    limit = run.values.mean(axis=1)
    assert np.ptp(run.values, axis=1).max() < 1e-3
    variance = sv.theory.huang_variance(0.5, 0.8, 0.5, 8)
    assert variance == pytest.approx(2 / 8 * 0.5**2 * 0.5**2 / (1 - 0.8**2)) == method.guarantee(GRAPH).remaining / 8
    assert abs(limit.mean() - 3.5) < 5 * np.sqrt(variance / replicas)
    squares = (limit - 3.5) ** 2
    assert abs(squares.mean() - variance) < 5 * squares.std() / np.sqrt(replicas)
    assert np.sqrt(squares.mean()) > 0.1
