from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, NumericalFailure

from .equations import assert_equation
from .settings import GRAPH

W5 = np.array([[2, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 0, 1], [0, 0, 0, 3, 1], [1, 0, 1, 1, 1]]) / 4
GRAPH5 = sv.Graph.from_edges([(0, 1), (0, 4), (1, 2), (2, 4), (3, 4)])


def equation(method, replay):
    """x ← W (x + φ^k v(k) − φ^{k−1} v(k−1))."""
    x, W = replay.values, method.mixing(replay.graph).toarray()
    yield x
    previous = np.zeros(len(x))
    for k in replay.steps():
        current = method.noise_decay**k * method.noise_std * replay.draws(method, k)
        x, previous = W @ (x + current - previous), current
        yield x


@pytest.mark.parametrize(("decay", "weights"), [(0.7, "max-degree"), (0.0, "metropolis")])
def test_equation(decay, weights):
    """Compiled runs follow the equation; with φ = 0 the first draw is the only one."""
    assert_equation(sv.MoMurray(noise_std=1.0, noise_decay=decay, weights=weights), equation)


def test_mo_murray_error_equals_second_moments():
    """The formula equals dense second moments of (x, last draw), round by round."""
    values, decay, std = np.array([1.0, -2.0, 0.5, 3.0, 0.0]), 0.8, 1.3
    n, moments = 5, np.zeros((10, 10))
    moments[:n, :n] = np.outer(values - values.mean(), values - values.mean())
    exact = [np.trace(moments[:n, :n])]
    for k in range(12):
        # State (x, φ^{k−1} v(k−1)): subtract the old noise, add the fresh one, average.
        step = np.block([[W5, -W5], [np.zeros((n, n)), np.zeros((n, n))]])
        put = np.vstack([W5, np.eye(n)])
        moments = step @ moments @ step.T + (std * decay**k) ** 2 * put @ put.T
        exact.append(np.trace(moments[:n, :n]))
    np.testing.assert_allclose(sv.theory.mo_murray_error(W5, values, decay, 12, noise_std=std), exact, rtol=1e-10)


@pytest.mark.parametrize(
    ("graph", "weights"), [(GRAPH5, W5), (GRAPH, "metropolis"), (sv.graphs.cycle(6), "max-degree")]
)
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_ensembles_have_the_expected_error(graph, weights, phi):
    """Means of 3 000 runs after 0..8 rounds are those of theory.mo_murray_error within five standard errors."""
    values = np.random.default_rng(1).random(graph.num_nodes)
    method = sv.MoMurray(noise_std=0.7, noise_decay=phi, weights=weights)
    run = sv.simulate(graph, values, method, num_steps=8, seed=2, replicas=3000, record=list(range(9)))
    expected = sv.theory.mo_murray_error(method.mixing(graph).toarray(), values, phi, 8, noise_std=0.7)
    error = run.squared_error.std(axis=0) / np.sqrt(3000)
    assert (np.abs(run.squared_error.mean(axis=0) - expected) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("phi", [0.3, 0.95])
def test_rate_is_the_slower_of_noise_and_mixing(phi):
    """Late mean-square errors shrink by max(φ², λ₂²) a round."""
    method = sv.MoMurray(noise_std=1.0, noise_decay=phi)
    eigenvalues = np.linalg.eigvalsh(method.mixing(GRAPH).toarray())
    rate = max(phi, eigenvalues[-2], -eigenvalues[0]) ** 2
    assert method.guarantee(GRAPH).factor == pytest.approx(rate, rel=1e-12)
    run = sv.simulate(GRAPH, np.arange(8.0), method, num_steps=300, seed=2, replicas=400, record=[200, 300])
    early, late = run.squared_error.mean(axis=0)
    assert (late / early) ** 0.01 == pytest.approx(rate, rel=0.01)


def test_exact_average_in_the_limit():
    """All noise is withdrawn, and after it has vanished rounds are noiseless."""
    run = sv.simulate(GRAPH5, np.arange(5.0), sv.MoMurray(noise_std=5.0, noise_decay=0.8), num_steps=3000, seed=3)
    np.testing.assert_allclose(run.values, 2.0, atol=1e-13)
    assert (run.outstanding_noise == 0).all()


def test_without_noise_its_decay_does_not_matter():
    """σ = 0 is plain averaging, and so is its guarantee."""
    plain = sv.SynchronousAveraging().guarantee(GRAPH)
    assert sv.MoMurray(noise_std=0.0, noise_decay=0.999).guarantee(GRAPH) == plain


@pytest.mark.parametrize(
    ("decay", "answers"),
    [
        (0.9, [0.372179, 1.488716, 0.372179, 0]),
        (0.5, [0.25, 1, 0.25, 0]),
        (0.99, [0.390371, 1.561482, 0.390371, 0]),
    ],
)
def test_mo_murray_five_nodes(decay, answers):
    """Mo and Murray's own example: the fourth node, whose only neighbour is the observer, is disclosed."""
    found = sv.theory.mo_murray_disclosure(W5, 4, decay, noise_std=2.0).diagonal()[:4]
    np.testing.assert_allclose(found / 4, answers, atol=5.1e-7)


def test_a_recursion_that_does_not_settle_says_so(monkeypatch):
    """The answer is then an error, not the last iterate."""
    monkeypatch.setattr("sottovoce.methods.mo_murray.MOST_ROUNDS", 3)
    with pytest.raises(NumericalFailure, match="did not settle to 1e-13"):
        sv.theory.mo_murray_disclosure(W5, 4, 0.9)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sv.theory.mo_murray_disclosure(np.eye(3) * 2, 0, 0.9), "symmetric with rows"),
        (lambda: sv.theory.mo_murray_disclosure(np.ones((2, 3)), 0, 0.9), "square"),
        (lambda: sv.theory.mo_murray_disclosure(W5, 7, 0.9), "observer"),
        (lambda: sv.theory.mo_murray_disclosure(W5, 0, 0.0), r"noise_decay must be in \(0, 1\)"),
        (lambda: sv.theory.mo_murray_factor(W5, 1.0), "noise_decay"),
    ],
)
def test_bad_input_is_named(call, says):
    """Matrices that do not average, nodes that are not there and a decay without end are refused."""
    with pytest.raises(InvalidParameter, match=says):
        call()
