"""Guarantees of the other methods, each against the thing it speaks of."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.theory import guarantees, hiding, rounds


def edge_vectors(graph: sv.Graph) -> list[np.ndarray]:
    """b_e = e_i − e_j of every edge."""
    return list(np.eye(graph.num_nodes)[graph.edges[:, 0]] - np.eye(graph.num_nodes)[graph.edges[:, 1]])


def half_square(x: np.ndarray) -> float:
    return 0.5 * float(np.sum((x - x.mean()) ** 2))


def test_averaging_time_brackets_what_happens() -> None:
    """On C₁₀, ε = 0.1: the empirical ε-averaging time of one start lies below the upper bound."""
    graph, values = sv.graphs.cycle(10), np.cos(2 * np.pi * np.arange(10) / 10)
    low, high = sv.theory.averaging_time(graph, 0.1)
    run = sv.simulate(
        graph, values, sv.StandardGossip(), num_steps=round(high), seed=1, replicas=2000,
        record=range(round(high) + 1), threads=1, progress=False,
    )  # fmt: skip
    share = (np.sqrt(run.squared_error) >= 0.1 * np.linalg.norm(values)).mean(axis=0)
    first = int(np.argmax(share <= 0.1))
    assert 0 < low < first < high
    assert sv.theory.averaging_time(sv.graphs.complete(2), 0.1) == (0.0, 1.0)


def test_high_probability_by_markov() -> None:
    """After the promised steps the relative error is met in more than the promised share of runs."""
    graph, values = sv.graphs.cycle(6), np.arange(6.0)
    steps = sv.theory.high_probability_steps(graph, 0.05, 0.8)
    run = sv.simulate(
        graph, values, sv.StandardGossip(), num_steps=steps, seed=2, replicas=1000, threads=1, progress=False
    )
    assert (run.relative_error[:, -1] <= 0.05).mean() >= 0.8
    assert sv.theory.high_probability_steps(graph, 10.0, 0.8) == 0
    with pytest.raises(InvalidParameter, match="probability"):
        sv.theory.high_probability_steps(graph, 0.1, 1.0)


def test_binary_oracle_changes_the_error_by_what_the_bound_adds_up() -> None:
    """Averaged over edges, one step changes G by exactly −λL + λ²."""
    graph, x, step = sv.graphs.star(5), np.array([0.0, 3.0, -1.0, 0.5, 2.0]), 0.3
    after = []
    for i, j in graph.edges:
        y = x.copy()
        y[i] += step if x[i] < x[j] else -step
        y[j] -= step if x[i] < x[j] else -step
        after.append(half_square(y))
    level = np.abs(x[graph.edges[:, 0]] - x[graph.edges[:, 1]]).mean()
    assert np.mean(after) == pytest.approx(half_square(x) - step * level + step**2)


def test_binary_oracle_bounds_fit_together() -> None:
    """The best constant step meets its closed bound, the 1/√t bound covers the plain sum, and bad steps are refused."""
    step, bound = guarantees.best_binary_step(4.0, 50)
    assert guarantees.binary_oracle_bound(4.0, np.full(50, step)) == pytest.approx(bound)
    for worse in (0.9 * step, 1.1 * step):
        assert guarantees.binary_oracle_bound(4.0, np.full(50, worse)) > bound
    for last in (0, 5, 1000):
        plain = guarantees.binary_oracle_bound(2.0, 0.7 / np.sqrt(np.arange(last + 1) + 1))
        assert plain <= guarantees.inverse_root_binary_bound(2.0, 0.7, last)
    with pytest.raises(InvalidParameter, match="step_sizes"):
        guarantees.binary_oracle_bound(1.0, [])


@pytest.mark.parametrize("share", [0.5, 0.25])
def test_adaptive_binary_factor(share: float) -> None:
    """One adaptive step shrinks the expected G at least by the factor, from many random states."""
    graph, rng = sv.graphs.cycle(6), np.random.default_rng(3)
    factor = guarantees.adaptive_binary_factor(graph, share)
    for _ in range(50):
        x = rng.normal(size=6) ** 3
        level = np.abs(x[graph.edges[:, 0]] - x[graph.edges[:, 1]]).mean()
        after = half_square(x) - share * level * level + (share * level) ** 2
        assert after <= factor * half_square(x) * (1 + 1e-12)
    assert guarantees.adaptive_binary_factor(graph) < guarantees.adaptive_binary_factor(graph, 0.25)


def test_gap_oracle_stops() -> None:
    """A run of the ε-gap oracle never moves more often than promised, and then every edge is closer than ε."""
    graph, rng, gap = sv.graphs.cycle(8), np.random.default_rng(4), 0.3
    x = rng.random(8)
    allowed, moves = guarantees.gap_oracle_moves(half_square(x), gap), 0
    for edge in rng.integers(0, 8, 5000):
        i, j = graph.edges[edge]
        if abs(x[i] - x[j]) >= gap:
            shift = np.sign(x[j] - x[i]) * gap / 2
            x[i], x[j], moves = x[i] + shift, x[j] - shift, moves + 1
    assert 0 < moves <= allowed
    assert np.abs(x[graph.edges[:, 0]] - x[graph.edges[:, 1]]).max() < gap
    assert guarantees.gap_oracle_bound(2.0, 0.5, 100) == pytest.approx(0.32)


def test_heavy_ball_factor_bounds_the_exact_second_moments() -> None:
    """For a momentum inside the guarantee, exact E‖x^k − c̄‖² stays below q^k (1 + q − a₁) ‖x⁰ − c̄‖²."""
    graph, beta, omega = sv.graphs.cycle(10), 0.003, 1.0
    n, x = 10, np.random.default_rng(5).normal(size=10)
    x -= x.mean()
    q = guarantees.heavy_ball_factor(graph, beta, omega)
    assert q < 1
    low = sv.algebraic_connectivity(graph) / 20
    delta = q - (1 + 3 * beta + 2 * beta**2 - (omega * (2 - omega) + omega * beta) * low)
    moments = np.outer(np.tile(x, 2), np.tile(x, 2))
    eye, zero = np.eye(n), np.zeros((n, n))
    start = np.trace(moments[:n, :n])
    for k in range(1, 120):
        following = np.zeros_like(moments)
        for b in edge_vectors(graph):
            step = np.block([[(1 + beta) * eye - omega * 0.5 * np.outer(b, b), -beta * eye], [eye, zero]])
            following += step @ moments @ step.T / graph.num_edges
        moments = following
        assert np.trace(moments[:n, :n]) <= q**k * (1 + delta) * start


def test_heavy_ball_mean() -> None:
    """With the recommended momentum the companion matrix of the mean has spectral radius √β on disagreement."""
    graph = sv.graphs.cycle(10)
    beta = guarantees.heavy_ball_momentum(graph)
    mean = np.eye(10) - sum(np.outer(b, b) for b in edge_vectors(graph)) / 20
    centre = np.eye(10) - 0.1
    companion = np.block([[(1 + beta) * centre - (np.eye(10) - mean), -beta * centre], [centre, np.zeros((10, 10))]])
    assert np.abs(np.linalg.eigvals(companion)).max() == pytest.approx(np.sqrt(beta), rel=1e-6)
    assert guarantees.heavy_ball_factor(graph, beta) > 1
    with pytest.raises(InvalidParameter, match="momentum"):
        guarantees.heavy_ball_factor(graph, 1.0)


@pytest.mark.parametrize(
    ("graph", "nu"),
    [
        (sv.graphs.cycle(10), 9),
        (sv.graphs.complete(6), 5),
        (sv.graphs.hypercube(3), 7),
        (sv.graphs.path(5), 4),
        (sv.graphs.star(6), 5),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_acceleration_constants(graph: sv.Graph, nu: float) -> None:
    """ν = n − 1 on edge-transitive graphs and m on trees."""
    assert sv.theory.acceleration(graph).nu == pytest.approx(nu)


@pytest.mark.parametrize("uniform", [True, False])
def test_acceleration_contracts_in_one_step(uniform: bool) -> None:
    """From random states, E[‖v⁺‖²_{(EZ)⁺} + ‖x⁺‖²/μ] ≤ (1 − √(μ/ν)) times the same before, also for unequal edges."""
    graph, rng = sv.graphs.barbell(3, 1), np.random.default_rng(6)
    chances = None if uniform else rng.dirichlet(np.ones(graph.num_edges))
    weights = np.full(graph.num_edges, 1 / graph.num_edges) if chances is None else chances
    found = sv.theory.acceleration(graph, edge_probabilities=chances)
    vectors = edge_vectors(graph)
    inverse = np.linalg.pinv(sum(0.5 * p * np.outer(b, b) for p, b in zip(weights, vectors, strict=True)))
    b_share, gamma = 1 - np.sqrt(found.mu / found.nu), 1 / np.sqrt(found.mu * found.nu)
    a_share = 1 / (1 + gamma * found.nu)
    for _ in range(30):
        x, v = rng.normal(size=(2, graph.num_nodes))
        x, v = x - x.mean(), v - v.mean()
        before, after = v @ inverse @ v + x @ x / found.mu, 0.0
        y = a_share * v + (1 - a_share) * x
        for p, b in zip(weights, vectors, strict=True):
            g = 0.5 * (b @ y) * b
            x_next, v_next = y - g, b_share * v + (1 - b_share) * y - gamma * g
            after += p * (v_next @ inverse @ v_next + x_next @ x_next / found.mu)
        assert after <= found.factor * before * (1 + 1e-9)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("including_self", [True, False])
def test_push_sum_factor(n: int, including_self: bool) -> None:
    """Enumerating all targets of one round, E Φ⁺ is the factor times Φ, exactly."""
    share = np.random.default_rng(7).random((n, n))
    share /= share.sum(axis=0)

    def potential(v: np.ndarray) -> float:
        return float(np.sum((v - v.sum(axis=1, keepdims=True) / n) ** 2))

    after = []
    for targets in product(range(n), repeat=n):
        if not including_self and any(source == target for source, target in enumerate(targets)):
            continue
        kept = 0.5 * share
        for source, target in enumerate(targets):
            kept[target] += 0.5 * share[source]
        after.append(potential(kept))
    factor = sv.theory.push_sum_factor(n, including_self=including_self)
    assert np.mean(after) == pytest.approx(factor * potential(share), abs=1e-15)


FIVE = np.array([[2, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 0, 1], [0, 0, 0, 3, 1], [1, 0, 1, 1, 1]]) / 4


def test_mo_murray_error_equals_second_moments() -> None:
    """The formula equals dense second moments of (x, last draw), round by round."""
    values, decay, std = np.array([1.0, -2.0, 0.5, 3.0, 0.0]), 0.8, 1.3
    n, moments = 5, np.zeros((10, 10))
    moments[:n, :n] = np.outer(values - values.mean(), values - values.mean())
    exact = [np.trace(moments[:n, :n])]
    for k in range(12):
        # State (x, φ^{k−1} v(k−1)): subtract the old noise, add the fresh one, average.
        step = np.block([[FIVE, -FIVE], [np.zeros((n, n)), np.zeros((n, n))]])
        put = np.vstack([FIVE, np.eye(n)])
        moments = step @ moments @ step.T + (std * decay**k) ** 2 * put @ put.T
        exact.append(np.trace(moments[:n, :n]))
    np.testing.assert_allclose(rounds.mo_murray_error(FIVE, values, decay, 12, noise_std=std), exact, rtol=1e-10)
    late = rounds.mo_murray_error(FIVE, values, decay, 400, noise_std=std)
    assert late[400] / late[399] == pytest.approx(rounds.mo_murray_factor(FIVE, decay), rel=1e-5)


@pytest.mark.parametrize(
    ("decay", "answers"),
    [
        (0.9, [0.372179, 1.488716, 0.372179, 0]),
        (0.5, [0.25, 1, 0.25, 0]),
        (0.99, [0.390371, 1.561482, 0.390371, 0]),
    ],
)
def test_mo_murray_five_nodes(decay: float, answers: list[float]) -> None:
    """Mo and Murray's own example: the fourth node, whose only neighbour is the observer, is disclosed."""
    np.testing.assert_allclose(hiding.mo_murray_disclosure(FIVE, 4, decay).diagonal()[:4], answers, atol=5.1e-7)


def test_laplace_schemes_add_up() -> None:
    """ε of Nozari and Huang is the sum over rounds of (remaining difference)/(noise scale); the variance likewise."""
    k = np.arange(3000)
    assert hiding.nozari_epsilon(2.0, 0.9, 0.8, sensitivity=0.5) == pytest.approx(np.sum(0.5 * (0.2 / 0.9) ** k / 2.0))
    assert hiding.huang_epsilon(2.0, 0.9, 0.3, sensitivity=0.5) == pytest.approx(np.sum(0.5 * (0.7 / 0.9) ** k / 2.0))
    assert rounds.nozari_variance(2.0, 0.9, 0.8, 7) == pytest.approx(np.sum(2 * 0.64 * 4.0 * 0.81**k) / 7)
    assert rounds.huang_variance(2.0, 0.9, 0.8, 7) == pytest.approx(np.sum(2 * 0.64 * 4.0 * 0.81**k) / 7)
    for function in (hiding.nozari_epsilon, hiding.huang_epsilon):
        with pytest.raises(InvalidParameter, match="noise_decay"):
            function(1.0, 0.1, 0.5)


def test_cancelling_noise() -> None:
    """More pairwise noise hides better, down to what the own noise leaves of the sum: μ² → Δ²/(n s_η²)."""
    graph = sv.graphs.cycle(6)
    levels = [hiding.cancelling_mu(graph, s, 0.5).max() for s in (0.0, 1.0, 10.0, 1e4)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] == pytest.approx(2.0)
    assert levels[-1] == pytest.approx(np.sqrt(1 / (6 * 0.25)), rel=1e-6)
    assert np.isinf(hiding.cancelling_mu(graph, 1.0)).all()
    lapl = np.diag(graph.degrees) - graph.to_scipy().toarray()
    np.testing.assert_allclose(hiding.cancelling_covariance(graph, 3.0, 0.5), 0.25 * np.eye(6) + 9.0 * lapl)


def test_seen_share_is_not_the_sum_of_messages() -> None:
    """Path of three, W = I − L/3: message by message node 2 shows ⅓ of its value to node 0, together all of it."""
    weights = np.eye(3) - np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]]) / 3
    messages = [np.eye(3)[1], weights[1]]
    assert sum(row[2] ** 2 / (row @ row) for row in messages) == pytest.approx(1 / 3)
    assert sv.theory.seen_share(weights, [0], 2)[2] == pytest.approx(1.0)
    long = sv.theory.seen_share(FIVE, [3], 50)
    assert long[3] == pytest.approx(1.0)
    assert ((long > -1e-12) & (long < 1 + 1e-9)).all()


def test_bad_matrices_are_refused() -> None:
    """W must be square, symmetric and doubly stochastic."""
    with pytest.raises(InvalidParameter, match="square"):
        rounds.consensus_factor([[1.0, 0.0]])
    with pytest.raises(InvalidParameter, match="symmetric"):
        rounds.consensus_factor([[0.5, 0.5], [0.4, 0.6]])
    with pytest.raises(InvalidParameter, match="noise_decay"):
        rounds.mo_murray_factor(FIVE, 1.0)
