from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.methods import nozari

from .equations import assert_equation
from .settings import GRAPH

CASES = [
    sv.Nozari(noise_scale=0.5, noise_decay=0.6),
    sv.Nozari(noise_scale=0.5, noise_decay=0.6, noise_share=1.3, step_size=0.2),
    sv.Nozari(noise_scale=np.linspace(0.1, 0.8, 8), noise_decay=np.linspace(0.3, 0.7, 8), weights="metropolis"),
    sv.Nozari(noise_scale=0.5, noise_decay=0.0),
]


def equation(method, replay):
    """x ← x − hL(x + η) + Sη with η ~ Laplace(b q^k)."""
    n = replay.graph.num_nodes
    b, q, s = (np.broadcast_to(p, n) for p in (method.noise_scale, method.noise_decay, method.noise_share))
    x, hL = replay.values, np.eye(n) - method.mixing(replay.graph).toarray()
    yield x
    for k in replay.steps():
        eta = b * q**k * replay.draws(method, k)
        x = x - hL @ (x + eta) + s * eta
        yield x


@pytest.mark.parametrize("method", CASES, ids=lambda m: m.label())
def test_equation(method):
    """Compiled runs follow the equation, for one draw and for many, one parameter or one per node."""
    assert_equation(method, equation)


@pytest.mark.parametrize("method", CASES, ids=lambda m: m.label())
def test_limit_is_unbiased_with_the_published_variance(method):
    """Every node ends at one value of mean c̄ and variance (2/n²) Σ s²b²/(1 − q²), within five standard errors."""
    replicas = 3000
    values = np.arange(8.0)
    run = sv.simulate(GRAPH, values, method, num_steps=250, seed=1, replicas=replicas, record=1)
    limit = run.values.mean(axis=1)
    assert np.ptp(run.values, axis=1).max() < 1e-4
    b, q, s = (np.broadcast_to(p, 8) for p in (method.noise_scale, method.noise_decay, method.noise_share))
    variance = 2 / 64 * (s**2 * b**2 / (1 - q**2)).sum()
    assert method.guarantee(GRAPH).remaining == pytest.approx(8 * variance)
    assert abs(limit.mean() - 3.5) < 5 * np.sqrt(variance / replicas)
    squares = (limit - 3.5) ** 2
    assert abs(squares.mean() - variance) < 5 * squares.std() / np.sqrt(replicas)


@pytest.mark.parametrize(("q", "s"), [(0.6, 1.0), (0.6, 0.7), (0.9, 1.5)])
def test_epsilon_is_what_moving_a_value_costs(q, s):
    """Other noise at one node makes all messages equal for c_i and c_i + δ; its likelihood ratio is at most e^ε.

    The noise has to change by −δ(1 − s)^k in round k, and Σ |change|/(b q^k) → δq/(b(q − |s − 1|)) = ε.
    """
    b, delta, node, rounds = 0.8, 0.3, 2, 80
    method = sv.Nozari(noise_scale=b, noise_decay=q, noise_share=s)
    W = method.mixing(GRAPH).toarray()
    rng = np.random.default_rng(1)
    one = method.initial(GRAPH, np.arange(8.0))
    other = method.initial(GRAPH, np.arange(8.0) + delta * (np.arange(8) == node))
    cost = 0.0
    for k in range(rounds):
        draws = rng.laplace(size=8)
        moved = draws.copy()
        moved[node] -= delta * (1 - s) ** k / (b * q**k)
        cost += abs(draws[node] - moved[node])
        said = [
            np.array([nozari.send(nodes, i, noise[i], k, np.zeros(1)) for i in range(8)])
            for nodes, noise in ((one, draws), (other, moved))
        ]
        np.testing.assert_allclose(said[0], said[1], atol=1e-9)
        for nodes, words in zip((one, other), said, strict=True):
            for i, combined in enumerate(W @ words):
                nozari.receive(nodes, i, words[i], combined, k, np.zeros(1))
    assert cost == pytest.approx(sv.theory.nozari_epsilon(b, q, s, sensitivity=delta), rel=1e-4)


def test_a_single_draw_is_a_single_draw():
    """q = 0 puts noise into the first round only."""
    run = sv.simulate(GRAPH, np.zeros(8), CASES[3], num_steps=5, seed=4)
    np.testing.assert_allclose(run.outstanding_noise, 0.5 * run.draws(0, 1)[0], atol=1e-15)


def test_the_end_of_the_interval_is_outside_also_where_doubles_round():
    """|0.8 − 1| is a little below 0.2 in doubles: q = 0.2 is refused all the same, and no ε of 10^15 is stated."""
    for share in (0.8, 1.2):
        with pytest.raises(errors.InvalidParameter, match="noise_decay must be in"):
            sv.Nozari(noise_scale=1.0, noise_decay=0.2, noise_share=share)
        with pytest.raises(errors.InvalidParameter, match="noise_decay must be in"):
            sv.theory.nozari_epsilon(1.0, 0.2, share)
    assert sv.theory.nozari_epsilon(1.0, 0.2 + 1e-9, 0.8) > 1e8
