"""Theorem 1 and Corollary 1: what holds, step by step as in the proof."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

GRAPHS = [sv.graphs.complete(2), sv.graphs.path(3), sv.graphs.star(5), sv.graphs.cycle(6), sv.graphs.barbell(3, 1)]
EQUAL = pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)


def one_step(graph: sv.Graph, x: np.ndarray, u: np.ndarray, fresh: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Values and outstanding noise after each of the m equally likely edges."""
    outcomes = []
    for i, j in graph.edges:
        y, left = x.copy(), u.copy()
        y[[i, j]] = np.mean(x[[i, j]] - u[[i, j]] + fresh[[i, j]])
        left[[i, j]] = fresh[[i, j]]
        outcomes.append((y, left))
    return outcomes


@EQUAL
def test_withdrawn_values_gossip(graph: sv.Graph) -> None:
    """Lemma 1: y = x − u moves by W_e y − ½(f_i − f_j) b_e, whatever x and u were before."""
    rng = np.random.default_rng(1)
    x, u, fresh = rng.normal(size=(3, graph.num_nodes))
    for (i, j), (after, left) in zip(graph.edges, one_step(graph, x, u, fresh), strict=True):
        b = np.zeros(graph.num_nodes)
        b[i], b[j] = 1.0, -1.0
        y = x - u
        expected = y - 0.5 * (b @ y) * b - 0.5 * (fresh[i] - fresh[j]) * b
        np.testing.assert_allclose(after - left, expected, atol=1e-14)


@EQUAL
def test_mass_is_conserved_at_every_step(graph: sv.Graph) -> None:
    """Σx − Σu = Σc after each of the first twenty steps of a run, not only on average."""
    values, method = np.random.default_rng(2).random(graph.num_nodes), sv.NoiseInsertion(3.0, 0.9)
    for k in range(1, 21):
        run = sv.simulate(graph, values, method, num_steps=k, seed=2, threads=1, progress=False)
        assert run.values.sum() - run.outstanding_noise.sum() == pytest.approx(values.sum(), abs=1e-12)


@EQUAL
def test_one_step_identity(graph: sv.Graph) -> None:
    """E G_{t+1} = E G_t − ¼ E yᵀL_p y + N ψ^t, checked on the exact second moments of y."""
    from sottovoce.graphs.chances import Chances
    from sottovoce.theory.gossip.exact import SecondMomentMap, second_moments
    from sottovoce.theory.gossip.setting import Noise

    chances = Chances(graph)
    method = sv.NoiseInsertion(1.3, 0.8)
    values = np.random.default_rng(3).normal(size=graph.num_nodes)
    start = np.outer(values - values.mean(), values - values.mean())
    level = np.sum(graph.degrees) * 1.3**2 / (4 * graph.num_edges)
    envelope = sv.theory.noise_envelope(graph, method, 10)
    laplacian = chances.laplacian.toarray()
    steps = second_moments(start, Noise.of(method, chances), 1, SecondMomentMap(chances))
    moments = [next(steps) for _ in range(11)]
    for t in range(10):
        right = 0.5 * np.trace(moments[t]) - 0.25 * np.sum(laplacian * moments[t]) + level * envelope[t]
        assert 0.5 * np.trace(moments[t + 1]) == pytest.approx(right, rel=1e-11, abs=1e-15)


@EQUAL
def test_corollary(graph: sv.Graph) -> None:
    """Corollary, corrected: exact ≤ R^k G_0 + N k R^{k−1} for γ = α/2 and for the largest γ."""
    values = np.random.default_rng(4).normal(size=graph.num_nodes)
    for gamma in (sv.algebraic_connectivity(graph) / 2, float(graph.degrees.min())):
        decay = np.sqrt(np.maximum(1 - gamma / graph.degrees, 0.0))
        exact = sv.theory.expected_error(graph, values, sv.NoiseInsertion(1.0, decay), 100)
        bound = sv.theory.corollary_bound(graph, values, 1.0, gamma, 100)
        assert (exact <= bound * (1 + 1e-12) + 1e-15).all()


def test_neighbour_mass() -> None:
    """Lemma for the sharpened form: neighbours hold Σ_{j∼i} E X_j u_i ≥ d_i E u_i² / (2(n−1)), found by enumeration."""
    graph = sv.graphs.path(4)
    n, m = 4, graph.num_edges
    variance = 0.49 ** np.arange(10)
    # cross[j, i] = E X_j u_i and own[i] = E u_i², by expanding all 3^5 edge sequences with their probabilities.
    states = [(1.0, np.zeros((n, n)), np.zeros(n), np.zeros(n, dtype=int))]
    for _ in range(5):
        following = []
        for weight, cross, own, count in states:
            for i, j in graph.edges:
                mixed, left, times = cross.copy(), own.copy(), count.copy()
                mixed[[i, j]] = mixed[[i, j]].mean(axis=0)
                for node in (i, j):
                    left[node] = variance[times[node]]
                    times[node] += 1
                    mixed[:, node] = 0.0
                    mixed[[i, j], node] = 0.5 * left[node]
                following.append((weight / m, mixed, left, times))
        states = following
        cross = sum(weight * c for weight, c, _, _ in states)
        own = sum(weight * o for weight, _, o, _ in states)
        held = graph.to_scipy().toarray() * np.asarray(cross).T
        assert (held.sum(axis=1) >= graph.degrees * own / (2 * (n - 1)) - 1e-12).all()
        np.testing.assert_allclose(np.diag(np.asarray(cross)), 0.5 * np.asarray(own), atol=1e-12)


def test_threshold_regimes_of_figure_1() -> None:
    """Equation (3): below the threshold the bound falls like ρ^k, above it like the slowest node's noise."""
    graph, values = sv.graphs.cycle(10), np.random.default_rng(5).random(10)
    at = [20_000, 20_001]
    rho = sv.theory.contraction_factor(graph)
    for decay, rate in ((0.9, rho), (0.98, 1 - 0.2 * (1 - 0.98**2))):
        one, two = sv.theory.error_bound(graph, values, sv.NoiseInsertion(1.0, decay), at=at)
        assert two / one == pytest.approx(rate, rel=1e-9)


def test_noise_is_gone_in_the_end() -> None:
    """The limit in Section 3: E(c̄ − mean x^t)² → 0."""
    graph, values = sv.graphs.cycle(10), np.random.default_rng(6).random(10)
    parts = sv.theory.expected_error_split(graph, values, sv.NoiseInsertion(1.0, 0.98), at=[0, 10, 1000, 10_000])
    assert parts.mean_error[0] == 0.0
    assert parts.mean_error[1] > 0.1
    assert parts.mean_error[3] < 1e-25
