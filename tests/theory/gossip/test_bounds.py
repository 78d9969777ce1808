"""The bounds of Theorem 1 in their three forms, and the quantities they are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import InvalidParameter

GRAPHS = [
    sv.graphs.complete(2),
    sv.graphs.path(3),
    sv.graphs.star(6),
    sv.graphs.cycle(7),
    sv.graphs.barbell(4, 1),
    sv.graphs.random_geometric(12, seed=5),
]


def plain_bound(graph: sv.Graph, values: np.ndarray, std: np.ndarray, decay: np.ndarray, k: int, form: str) -> float:
    """The theorem with loops, as one reads it."""
    d, m, n = graph.degrees, graph.num_edges, graph.num_nodes
    alpha = sv.algebraic_connectivity(graph)
    rho, r = 1 - alpha / (2 * m), 1 - d / m * (1 - decay**2)
    bound = 0.5 * np.sum((values - values.mean()) ** 2)
    for t in range(k):
        level = np.sum(d * std**2 * r ** (t + 1 if form == "printed" else t)) / (4 * m)
        if form == "sharpened":
            with np.errstate(divide="ignore", invalid="ignore"):
                outstanding = std**2 * decay**-2.0 * (r**t - (1 - d / m) ** t)
            once = std**2 * t * d / m * (1 - d / m) ** max(t - 1, 0)
            level -= np.sum((d / (n - 1) - alpha / n) * np.where(decay > 0, outstanding, once)) / (4 * m)
        bound = rho * bound + level
    return float(bound)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
@pytest.mark.parametrize("form", ["printed", "corrected", "sharpened"])
def test_closed_form_equals_the_sum(graph: sv.Graph, form: str) -> None:
    """The closed-form sums equal the recursion they solve, with mixed σ and φ including zeros."""
    rng = np.random.default_rng(graph.num_nodes)
    n = graph.num_nodes
    std, decay = rng.random(n) * (np.arange(n) != 1), rng.random(n) * (np.arange(n) % 3 != 0)
    values = rng.normal(size=n)
    bound = sv.theory.error_bound(graph, values, sv.NoiseInsertion(std, decay), 30, form=form)  # type: ignore[arg-type]
    plain = [plain_bound(graph, values, std, decay, k, form) for k in range(31)]
    np.testing.assert_allclose(bound, plain, rtol=1e-10, atol=1e-16)


@given(st.integers(0, 10**6))
def test_order_of_the_forms(seed: int) -> None:
    """exact ≤ sharpened ≤ corrected on random graphs with random noise and random edge probabilities."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    tree = {(int(rng.integers(0, i)), i) for i in range(1, n)}
    more = {tuple(sorted(map(int, pair))) for pair in rng.integers(0, n, (n, 2)) if pair[0] != pair[1]}
    graph = sv.Graph.from_edges(sorted(tree | more), num_nodes=n)
    chances = rng.dirichlet(np.ones(graph.num_edges))
    method = sv.NoiseInsertion(rng.exponential(size=n), rng.random(n))
    values = rng.normal(size=n) * rng.integers(0, 2)
    exact = sv.theory.expected_error(graph, values, method, 40, edge_probabilities=chances)
    sharp = sv.theory.error_bound(graph, values, method, 40, form="sharpened", edge_probabilities=chances)
    corrected = sv.theory.error_bound(graph, values, method, 40, edge_probabilities=chances)
    slack = 1e-12 * corrected.max()
    assert (exact <= sharp + slack).all()
    assert (sharp <= corrected + slack).all()


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_equality_on_complete_graphs(n: int) -> None:
    """On complete graphs exact, sharpened and corrected are the same number for every k."""
    rng = np.random.default_rng(n)
    graph, values = sv.graphs.complete(n), rng.normal(size=n)
    method = sv.NoiseInsertion(rng.random(n), rng.random(n))
    exact = sv.theory.expected_error(graph, values, method, 60)
    for form in ("corrected", "sharpened"):
        bound = sv.theory.error_bound(graph, values, method, 60, form=form)  # type: ignore[arg-type]
        np.testing.assert_allclose(bound, exact, rtol=1e-10, atol=1e-15)


def test_cycle_of_ten() -> None:
    """C₁₀: α = 0.3819660, ρ = 0.9809017, threshold 0.9510565."""
    graph = sv.graphs.cycle(10)
    assert sv.algebraic_connectivity(graph) == pytest.approx(0.3819660, abs=5e-8)
    assert sv.theory.contraction_factor(graph) == pytest.approx(0.9809017, abs=5e-8)
    np.testing.assert_allclose(sv.theory.threshold_decay(graph), 0.9510565, atol=5e-8)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_threshold_is_where_noise_and_gossip_are_equally_slow(graph: sv.Graph) -> None:
    """At φ_i = threshold, r_i = ρ for every node, so that every node is slowest; a little above it r_i > ρ."""
    threshold = sv.theory.threshold_decay(graph)
    at = sv.NoiseInsertion(noise_std=1.0, noise_decay=threshold)
    assert len(sv.theory.slowest_nodes(graph, at)) == graph.num_nodes
    rho = sv.theory.contraction_factor(graph)
    np.testing.assert_allclose(sv.theory.noise_envelope(graph, at, 5), rho ** np.arange(6), rtol=1e-9, atol=1e-15)
    above = 1 - graph.degrees / graph.num_edges * (1 - (threshold + 1e-3) ** 2)
    assert (above > rho).all()
    np.testing.assert_allclose(threshold, sv.NoiseInsertion.largest_free(graph, 1.0).noise_decay, atol=1e-12)


def test_long_cycle_keeps_its_digits() -> None:
    """On a cycle of a million nodes ρ rounds to one, and the bound still falls at the right speed."""
    graph = sv.graphs.cycle(10**6)
    alpha = 4 * np.sin(np.pi / 10**6) ** 2
    values = np.zeros(10**6)
    values[0] = 1.0
    half_life = int(np.log(2) / (alpha / (2 * graph.num_edges)))
    bound = sv.theory.error_bound(graph, values, sv.StandardGossip(), at=[0, half_life], connectivity=alpha)
    assert bound[1] / bound[0] == pytest.approx(0.5, rel=1e-6)


def test_many_nodes_many_steps() -> None:
    """Random σ and φ on 20 000 nodes: a thousand values of k up to 10⁷ agree with node-by-node sums at a few."""
    n, rng = 20_000, np.random.default_rng(1)
    graph = sv.graphs.cycle(n)
    alpha = 4 * np.sin(np.pi / n) ** 2
    std, decay = rng.random(n), 1 - 10.0 ** rng.uniform(-5, 0, n)
    values = rng.random(n)
    at = np.unique(np.geomspace(1, 10**7, 1000).astype(np.int64))
    method = sv.NoiseInsertion(std, decay)
    for form in ("printed", "corrected", "sharpened"):
        many = sv.theory.error_bound(graph, values, method, form=form, at=at, connectivity=alpha)  # type: ignore[arg-type]
        few = sv.theory.error_bound(graph, values, method, form=form, at=at[::200], connectivity=alpha)  # type: ignore[arg-type]
        np.testing.assert_allclose(many[::200], few, rtol=1e-10)


@pytest.mark.parametrize("form", ["printed", "corrected", "sharpened"])
def test_every_step_and_chosen_steps_agree(form: str) -> None:
    """The block-wise evaluation of all k = 0..20 000 equals the closed form at chosen k, with many different nodes."""
    graph, rng = sv.graphs.random_geometric(400, seed=1), np.random.default_rng(2)
    decay = np.concatenate([np.zeros(20), np.full(20, 1e-5), 1 - 10.0 ** rng.uniform(-6, 0, 360)])
    method, values = sv.NoiseInsertion(rng.random(400), decay), rng.random(400)
    every = sv.theory.error_bound(graph, values, method, 20_000, form=form)  # type: ignore[arg-type]
    at = np.array([0, 1, 2, 63, 64, 65, 255, 2500, 2501, 19_999, 20_000])
    chosen = sv.theory.error_bound(graph, values, method, form=form, at=at)  # type: ignore[arg-type]
    np.testing.assert_allclose(every[at], chosen, rtol=1e-11)


def test_corollary_bounds_the_theorem() -> None:
    """With φ_i = √(1 − γ/d_i) the corollary is at least the corrected theorem, for γ on both sides of α/2."""
    graph = sv.graphs.random_geometric(20, seed=3)
    values = np.random.default_rng(0).random(20)
    alpha = sv.algebraic_connectivity(graph)
    for gamma in (0.1 * alpha, 0.5 * alpha, float(graph.degrees.min())):
        decay = np.sqrt(np.maximum(1 - gamma / graph.degrees, 0))
        theorem = sv.theory.error_bound(graph, values, sv.NoiseInsertion(1.0, decay), 500)
        corollary = sv.theory.corollary_bound(graph, values, 1.0, gamma, 500)
        assert (theorem <= corollary * (1 + 1e-12)).all()


def test_columns_add_up() -> None:
    """Vector-valued data: bounds add over the columns."""
    graph, table = sv.graphs.star(5), np.random.default_rng(0).normal(size=(5, 2))
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5)
    for form in ("printed", "corrected", "sharpened"):
        apart = [sv.theory.error_bound(graph, table[:, c], method, 9, form=form) for c in range(2)]  # type: ignore[arg-type]
        np.testing.assert_allclose(sv.theory.error_bound(graph, table, method, 9, form=form), sum(apart))  # type: ignore[arg-type]


def test_noise_envelope_without_noise_is_zero() -> None:
    """Nobody inserts noise: there is no envelope, and nobody is slowest."""
    graph = sv.graphs.cycle(4)
    assert sv.theory.noise_envelope(graph, sv.StandardGossip(), 3).tolist() == [0.0] * 4
    assert sv.theory.slowest_nodes(graph, sv.StandardGossip()).tolist() == []


def test_one_noisy_node() -> None:
    """With a single noisy node the envelope is its own r^t, and it is the slowest whatever the silent ones' φ."""
    graph, std = sv.graphs.star(5), np.array([1.0, 0, 0, 0, 0])
    method = sv.NoiseInsertion(noise_std=std, noise_decay=np.array([0.5, 0.9, 0.9, 0.9, 0.9]))
    assert sv.theory.slowest_nodes(graph, method).tolist() == [0]
    np.testing.assert_allclose(sv.theory.noise_envelope(graph, method, 4), 0.25 ** np.arange(5))


def test_bad_input_is_named() -> None:
    """Unknown forms and impossible γ are refused by name."""
    graph = sv.graphs.cycle(5)
    with pytest.raises(InvalidParameter, match="form must be one of printed, corrected, sharpened"):
        sv.theory.error_bound(graph, np.zeros(5), sv.StandardGossip(), 3, form="exact")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="gamma"):
        sv.theory.corollary_bound(graph, np.zeros(5), 1.0, 2.5, 3)
    with pytest.raises(InvalidParameter, match="form"):
        sv.theory.corollary_bound(graph, np.zeros(5), 1.0, 1.0, 3, form="sharpened")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="one entry per edge"):
        sv.theory.contraction_factor(graph, edge_probabilities=[1.0])
    with pytest.raises(InvalidParameter, match="≥ 0"):
        sv.theory.contraction_factor(graph, edge_probabilities=[1.5, -0.5, 0, 0, 0])


PIECES: list[Callable[[sv.Graph, list[float]], object]] = [
    lambda g, p: sv.simulate(g, [1.0, 2.0, 3.0], sv.StandardGossip(), num_steps=2, edge_probabilities=p),
    lambda g, p: sv.theory.contraction_factor(g, edge_probabilities=p),
    lambda g, p: sv.theory.threshold_decay(g, edge_probabilities=p),
    lambda g, p: sv.theory.noise_envelope(g, sv.StandardGossip(), 2, edge_probabilities=p),
    lambda g, p: sv.theory.slowest_nodes(g, sv.StandardGossip(), edge_probabilities=p),
    lambda g, p: sv.theory.outstanding_variance(g, sv.StandardGossip(), [2], edge_probabilities=p),
    lambda g, p: sv.theory.error_bound(g, np.zeros(3), sv.StandardGossip(), 2, edge_probabilities=p),
    lambda g, p: sv.theory.error_bound(g, np.zeros(3), sv.StandardGossip(), 2, form="resolvent", edge_probabilities=p),
    lambda g, p: sv.theory.corollary_bound(g, np.zeros(3), 1.0, 0.5, 2, edge_probabilities=p),
    lambda g, p: sv.theory.expected_error(g, np.zeros(3), sv.StandardGossip(), 2, edge_probabilities=p),
    lambda g, p: sv.theory.expected_error_split(g, np.zeros(3), sv.StandardGossip(), 2, edge_probabilities=p),
    lambda g, p: sv.theory.rate_bounds(g, edge_probabilities=p),
    lambda g, p: sv.theory.proved_free_decay(g, edge_probabilities=p),
    lambda g, p: sv.theory.asymptotic_rate(g, sv.StandardGossip(), edge_probabilities=p),
    lambda g, p: sv.theory.second_moment_rate(g, edge_probabilities=p),
    lambda g, p: sv.theory.count_probability(g, 3, 3, edge_probabilities=p),
    lambda g, p: sv.theory.count_limits(g, 3, 0.5, edge_probabilities=p),
    lambda g, p: sv.theory.largest_count(g, 3, 0.5, edge_probabilities=p),
    lambda g, p: sv.theory.most_steps(g, 3, 0.5, edge_probabilities=p),
    lambda g, p: sv.theory.acceleration(g, edge_probabilities=p),
    lambda g, p: sv.theory.averaging_time(g, 0.1, edge_probabilities=p),
    lambda g, p: sv.theory.high_probability_steps(g, 0.1, 0.5, edge_probabilities=p),
]


@pytest.mark.parametrize("ask", PIECES)
def test_chances_that_leave_pieces_are_refused_as_a_run_refuses_them(ask) -> None:
    """A rate of 1 for a network that never agrees would look like an answer."""
    says = "edge_probabilities leave no way to a common average: the graph of edges that can fire is not connected"
    with pytest.raises(InvalidParameter, match=says):
        ask(sv.graphs.path(3), [0.0, 1.0])
