from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.graphs.chances import Chances
from sottovoce.methods.released import SealedNoise
from sottovoce.methods.sealed import sealed_moments
from sottovoce.testing.reference import algorithm_1
from sottovoce.theory.gossip.exact import moments_trace
from sottovoce.theory.gossip.setting import Noise

from .equations import assert_equation
from .settings import GRAPH, VALUES

CHANCES = np.arange(1.0, 10.0) / 45


def equation(method, replay):
    """x(0) = c + s Bᵀg, then Algorithm 1 line by line."""
    x = replay.values + method.seal_std * replay.shared()
    yield x
    steps = algorithm_1(replay.graph, x, method.after, replay.num_steps, replay.seed, replica=replay.replica)
    for x, _ in steps:
        yield x


@pytest.mark.parametrize(
    "method",
    [
        sv.SealedGossip(seal_std=3.0),
        sv.SealedGossip(seal_std=0.0, noise_std=1.0, noise_decay=0.5),
        sv.SealedGossip(seal_std=3.0, noise_std=np.linspace(0, 2, 8), noise_decay=np.linspace(0, 0.9, 8)),
    ],
    ids=lambda m: m.label(),
)
def test_equation(method):
    """Compiled runs follow the equation, step 0 included, with and without noise."""
    assert_equation(method, equation)


def test_seals_do_not_depend_on_how_the_run_is_cut():
    """Stopping after a step and going on adds no second seal: the values end at the true mean."""
    run = sv.simulate(GRAPH, VALUES, sv.SealedGossip(seal_std=100.0), num_steps=1, seed=1)
    np.testing.assert_allclose(run.resume(1).resume(2998).values, VALUES.mean(), atol=1e-12)


@pytest.mark.parametrize("probabilities", [None, CHANCES])
@pytest.mark.parametrize(("std", "decay"), [(0.0, 0.0), ([0.0, 1.0, 2.0, 0.5, 0.0, 1.0, 1.0, 3.0], [0.0, 0.9] * 4)])
def test_exact_expectation_is_the_mean_of_runs(probabilities, std, decay):
    """The second moments started at s² L give E G_k, k = 0 included: within five standard errors of 4 000 runs."""
    method, steps = sv.SealedGossip(seal_std=2.0, noise_std=std, noise_decay=decay), np.array([0, 1, 2, 5, 20, 60])
    run = sv.simulate(
        GRAPH, VALUES, method, num_steps=60, seed=3, replicas=4000, record=steps, edge_probabilities=probabilities
    )
    start, chances = sealed_moments(GRAPH, VALUES, 2.0), Chances(GRAPH, probabilities)
    exact = moments_trace(start, 1, Noise.of(method.after, chances), chances, steps, "steps")
    found = 0.5 * run.squared_error
    assert (np.abs(found.mean(axis=0) - exact) < 5 * found.std(axis=0) / np.sqrt(4000)).all()
    initial = 0.5 * ((VALUES - VALUES.mean()) ** 2).sum() + 4.0 * GRAPH.num_edges
    assert exact[0] == pytest.approx(initial)
    bound = sv.theory.error_bound(GRAPH, VALUES, method.after, 60, at=steps, edge_probabilities=probabilities)
    bound = bound + 4.0 * GRAPH.num_edges * (1.0 - chances.contraction_gap) ** steps
    assert (bound >= exact * (1 - 1e-12)).all()


def test_vector_values_have_seals_of_their_own():
    """Two coordinates of zeros end up with uncorrelated starts, and the moments count both."""
    run = sv.simulate(GRAPH, np.zeros((8, 400)), sv.SealedGossip(seal_std=1.0), num_steps=1, seed=2, record=[0])
    assert run.squared_error[0] == pytest.approx(np.trace(sealed_moments(GRAPH, np.zeros((8, 400)), 1.0)), rel=0.1)
    two = sealed_moments(GRAPH, np.stack([VALUES, VALUES], axis=1), 1.5)
    np.testing.assert_allclose(two, 2 * sealed_moments(GRAPH, VALUES, 1.5), atol=1e-12)


def test_what_it_releases():
    """The description holds the seal and Algorithm 1 as it follows; it is no plain withdrawn noise."""
    shown = sv.SealedGossip(seal_std=2.0, noise_std=1.0, noise_decay=0.5).releases(GRAPH)
    assert isinstance(shown, SealedNoise)
    assert shown.seal_std == 2.0
    assert shown.after.noise_std.tolist() == [1.0] * 8
    assert shown.after.noise_decay.tolist() == [0.5] * 8


def test_parameters_out_of_range_are_refused():
    """The error names the parameter that is out of range, also those of the noise that follows."""
    with pytest.raises(errors.InvalidParameter, match="seal_std"):
        sv.SealedGossip(seal_std=-1.0)
    with pytest.raises(errors.InvalidParameter, match="noise_decay"):
        sv.SealedGossip(seal_std=1.0, noise_std=1.0, noise_decay=1.0)
    with pytest.raises(errors.InvalidParameter, match="one per node"):
        sv.simulate(GRAPH, VALUES, sv.SealedGossip(1.0, noise_std=[1.0, 2.0]), num_steps=1)
