"""What methods and comparisons say about rates and limits is what :mod:`sottovoce.theory` says."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.experiments.predictions import predict
from sottovoce.methods.weights import second_modulus
from sottovoce.theory import guarantees, rounds

from ..methods.settings import GRAPH, VALUES, off_average

GRAPHS = [GRAPH, sv.graphs.cycle(10), sv.graphs.star(7), sv.graphs.complete(5)]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: g.name)
def test_factors(graph):
    """Standard, adaptive binary, accelerated, heavy-ball and synchronous factors agree."""
    weights = sv.SynchronousAveraging().mixing(graph)
    dense = weights.toarray()
    mixing = rounds.consensus_factor(dense)
    assert second_modulus(weights) == pytest.approx(mixing, rel=1e-9)
    expected = {
        sv.StandardGossip(): sv.theory.contraction_factor(graph),
        sv.BinaryOracle(step_size="adaptive"): guarantees.adaptive_binary_factor(graph),
        sv.BinaryOracle(step_size="L/4"): guarantees.adaptive_binary_factor(graph, 0.25),
        sv.AcceleratedGossip(): guarantees.acceleration(graph).factor,
        sv.HeavyBallGossip(momentum=1e-4): guarantees.heavy_ball_factor(graph, 1e-4),
        sv.SynchronousAveraging(): mixing**2,
        sv.MoMurray(noise_std=1.0, noise_decay=0.99): rounds.mo_murray_factor(dense, 0.99),
    }
    for method, factor in expected.items():
        assert predict(method, graph, 1.0).factor == pytest.approx(factor, rel=1e-9), method.name


def test_largest_guaranteed_momentum_is_where_the_factor_reaches_one():
    """β* of the method solves heavy_ball_factor = 1 of the theory."""
    for graph in GRAPHS:
        for relaxation in (0.7, 1.0, 1.4):
            largest = sv.HeavyBallGossip.largest_guaranteed(graph, relaxation)
            assert guarantees.heavy_ball_factor(graph, largest, relaxation) == pytest.approx(1.0, abs=1e-12)


def test_oracles():
    """The horizon's best step and the gap oracle's bound on moves agree."""
    step, _ = guarantees.best_binary_step(0.7, 50)
    assert sv.BinaryOracle.for_horizon(initial_error=0.7, num_steps=50).step_size == pytest.approx(step)
    assert sv.GapOracle(gap=0.03).most_moves(1.7) == guarantees.gap_oracle_moves(1.7, 0.03)


def test_limits_of_laplace_methods():
    """Nozari's variance of the limit, times n nodes over the scale, is the predicted limit."""
    method = sv.Nozari(noise_scale=np.linspace(0.1, 0.8, 8), noise_decay=0.5, noise_share=1.2)
    variance = rounds.nozari_variance(method.noise_scale, 0.5, 1.2, 8)
    assert predict(method, GRAPH, 2.0).limit == pytest.approx(8 * variance / 2.0)


def test_huang_ensemble_has_the_variance_of_the_theory():
    """The mean of 4 000 runs' limits scatters around c̄ with theory.huang_variance, within five standard errors."""
    method = sv.Huang(noise_scale=0.5, noise_decay=0.7, mixing_share=0.6)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=60, seed=3, replicas=4000, record=[60])
    off = (run.values.mean(axis=1) - VALUES.mean()) ** 2
    expected = rounds.huang_variance(0.5, 0.7, 0.6, GRAPH.num_nodes)
    assert abs(off.mean() - expected) <= 5 * off.std() / np.sqrt(4000)


def test_mo_murray_ensemble_is_the_theory():
    """2 000 runs on an irregular graph have the expected error of theory.mo_murray_error, five standard errors."""
    method = sv.MoMurray(noise_std=0.5, noise_decay=0.8)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=12, seed=1, replicas=2000, record=list(range(13)))
    expected = rounds.mo_murray_error(method.mixing(GRAPH).toarray(), VALUES, 0.8, 12, noise_std=0.5)
    error = run.squared_error.std(axis=0) / np.sqrt(2000)
    assert (np.abs(run.squared_error.mean(axis=0) - expected) <= 5 * error + 1e-12).all()
    assert expected[0] == pytest.approx(off_average(VALUES))
