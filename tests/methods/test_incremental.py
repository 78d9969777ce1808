from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors

from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """y ← W (y + z_t); the parts of every node are listed first, each normal given those before and the sum."""
    n, K = replay.graph.num_nodes, method.num_parts
    W = method.mixing(replay.graph).toarray()
    parts, wanted = [], replay.values + method.own_noise_std * replay.own()
    for t in range(K):
        rest = wanted - np.sum(parts, axis=0)
        parts.append(rest / (K - t) + method.noise_std * np.sqrt(1 - 1 / (K - t)) * replay.draws(method, t))
    y = np.zeros(n)
    yield y
    for t in replay.steps():
        y = W @ (y + (parts[t] if t < K else 0.0))
        yield y


@pytest.mark.parametrize(
    "method",
    [
        sv.IncrementalAveraging(noise_std=1.0, num_parts=7),
        sv.IncrementalAveraging(noise_std=2.0, num_parts=2, own_noise_std=0.5, weights="max-degree"),
        sv.IncrementalAveraging(noise_std=0.0, num_parts=100),
    ],
    ids=lambda m: m.label(),
)
def test_equation(method):
    """Compiled runs follow the equation, the first and the last part included."""
    assert_equation(method, equation)


def test_parts_are_independent_normals_given_their_sum():
    """The parts of a value have the covariance σ²(I − 11ᵀ/K) and add up to it in every run."""
    K, runs = 4, 20_000
    method = sv.IncrementalAveraging(noise_std=1.5, num_parts=K, weights=np.eye(2))
    run = sv.simulate(sv.graphs.complete(2), [3.0, 5.0], method, num_steps=1, seed=1, replicas=runs)
    fed = [run.values]
    for _ in range(K - 1):
        run = run.resume(1)
        fed.append(run.values)
    parts = np.diff([np.zeros_like(fed[0]), *fed], axis=0)
    np.testing.assert_allclose(parts.sum(axis=0), np.broadcast_to([3.0, 5.0], (runs, 2)), atol=1e-12)
    np.testing.assert_allclose(parts.mean(axis=1), np.outer(np.ones(K), [3.0, 5.0]) / K, atol=5 * 1.5 / np.sqrt(runs))
    found = np.cov(parts[:, :, 0])
    np.testing.assert_allclose(found, 1.5**2 * (np.eye(K) - 1 / K), atol=5 * 1.5**2 * np.sqrt(2 / runs))


def test_the_limit_is_the_average_with_the_noise_that_stays():
    """Without own noise every run ends at the average; with it, off by the mean of η, of variance s²/n."""
    exact = sv.IncrementalAveraging(noise_std=5.0, num_parts=10)
    run = sv.simulate(GRAPH, VALUES, exact, num_steps=900, seed=3, replicas=20, record=1)
    np.testing.assert_allclose(run.values, VALUES.mean(), atol=1e-11)
    noisy = sv.IncrementalAveraging(noise_std=5.0, num_parts=10, own_noise_std=0.7)
    run = sv.simulate(GRAPH, VALUES, noisy, num_steps=900, seed=3, replicas=4000, record=1)
    off = run.values.mean(axis=1) - VALUES.mean()
    np.testing.assert_allclose(off, run.outstanding_noise.mean(axis=1), atol=1e-11)
    assert off.var() == pytest.approx(0.7**2 / 8, rel=0.12)
    assert noisy.guarantee(GRAPH).remaining == pytest.approx(0.7**2)


def test_more_noise_hides_more_and_all_parts_heard_disclose():
    """A larger σ leaves node 1 more of its prior; in a triangle, where everybody is heard, it leaves nothing."""
    view = sv.privacy.CuriousNodes([0])
    left = [
        sv.privacy.audit(sv.graphs.cycle(6), sv.IncrementalAveraging(std, 5), 40, view).posterior_std[1]
        for std in (0.1, 1.0, 10.0)
    ]
    assert left[0] < left[1] < left[2]
    triangle = sv.privacy.audit(sv.graphs.complete(3), sv.IncrementalAveraging(10.0, 5), 40, view)
    assert triangle.disclosed.all()


@pytest.mark.parametrize(
    ("parameters", "named"),
    [({"noise_std": -1.0}, "noise_std"), ({"num_parts": 1}, "num_parts"), ({"own_noise_std": -1.0}, "own_noise_std")],
)
def test_parameters_out_of_range_are_refused(parameters, named):
    """The error names the parameter."""
    with pytest.raises(errors.InvalidParameter, match=named):
        sv.IncrementalAveraging(**{"noise_std": 1.0, "num_parts": 5, **parameters})
