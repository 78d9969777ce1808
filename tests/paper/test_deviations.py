"""Where we depart from the paper: for each point the smallest counterexample (docs/explanation/deviations)."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

K2 = sv.graphs.complete(2)


def test_theorem_1_is_off_by_one() -> None:
    """Two nodes, equal values, one step: E G_1 = σ²/2, the printed bound says at most φ²σ²/2."""
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.7)
    truth = sv.theory.expected_error(K2, [5.0, 5.0], method, 20)
    printed = sv.theory.error_bound(K2, [5.0, 5.0], method, 20, form="printed")
    np.testing.assert_allclose(truth[1:], 0.5 * 0.49 ** np.arange(20), rtol=1e-12)
    np.testing.assert_allclose(printed[1:], 0.49 * truth[1:], rtol=1e-12)


@pytest.mark.parametrize("graph", [sv.graphs.path(3), sv.graphs.star(5), sv.graphs.cycle(10)], ids=lambda g: g.name)
def test_theorem_1_is_off_by_one_on_any_graph(graph: sv.Graph) -> None:
    """Equal values, one step: the truth is N exactly, the printed bound Nψ¹ < N; the corrected one meets it."""
    values, method = np.ones(graph.num_nodes), sv.NoiseInsertion(noise_std=2.0, noise_decay=0.5)
    level = 4.0 * graph.degrees.sum() / (4 * graph.num_edges)
    assert sv.theory.expected_error(graph, values, method, 1)[1] == pytest.approx(level)
    assert sv.theory.error_bound(graph, values, method, 1)[1] == pytest.approx(level)
    assert sv.theory.error_bound(graph, values, method, 1, form="printed")[1] < 0.999 * level


def test_theorem_1_is_refuted_by_a_simulation() -> None:
    """Twenty thousand runs of one step on K₂: their mean is above the printed bound by twenty standard errors."""
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.7)
    run = sv.simulate(K2, [5.0, 5.0], method, num_steps=1, seed=1, replicas=20_000, threads=1, progress=False)
    half = 0.5 * run.squared_error[:, -1]
    printed = sv.theory.error_bound(K2, [5.0, 5.0], method, 1, form="printed")[1]
    assert (half.mean() - printed) / (half.std() / np.sqrt(20_000)) > 20


def test_corollary_inherits_it() -> None:
    """K₂ with γ = 0.51 (φ = 0.7), equal values, one step: the printed corollary is below the truth."""
    truth = sv.theory.expected_error(K2, [5.0, 5.0], sv.NoiseInsertion(1.0, 0.7), 1)[1]
    assert sv.theory.corollary_bound(K2, [5.0, 5.0], 1.0, 0.51, 1, form="printed")[1] < truth
    assert sv.theory.corollary_bound(K2, [5.0, 5.0], 1.0, 0.51, 1)[1] == pytest.approx(truth)


def test_dual_value_is_undefined_under_noise() -> None:
    """K₂ after one noisy step: x ∉ c + range(Aᵀ), so no y has x(y) = x; without the outstanding noise there is one."""
    values = np.array([0.0, 2.0])
    run = sv.simulate(K2, values, sv.NoiseInsertion(1.0, 0.5), num_steps=1, seed=1, threads=1, progress=False)
    with pytest.raises(sv.errors.InvalidParameter, match="same sum"):
        sv.theory.duals_of_values(K2, values, run.values)
    flows = sv.theory.duals_of_values(K2, values, run.values - run.outstanding_noise)
    np.testing.assert_allclose(sv.theory.values_of_duals(K2, values, flows) + run.outstanding_noise, run.values)


def test_contraction_step_of_the_proof_needs_the_true_mean() -> None:
    """K₂ after one noisy step: xᵀLx = 0 although x ≠ c̄, so xᵀLx ≥ α‖x − c̄‖² fails; for x − u it holds."""
    values = np.array([0.0, 2.0])
    run = sv.simulate(K2, values, sv.NoiseInsertion(1.0, 0.5), num_steps=1, seed=1, threads=1, progress=False)
    x, y = run.values, run.values - run.outstanding_noise
    alpha = sv.algebraic_connectivity(K2)
    assert (x[0] - x[1]) ** 2 < alpha * np.sum((x - 1.0) ** 2) - 1e-6
    assert (y[0] - y[1]) ** 2 >= alpha * np.sum((y - 1.0) ** 2) - 1e-12


def test_zero_decay_inserts_once() -> None:
    """φ = 0: φ⁰v⁰ is the first draw and φ^{−1}v^{−1} is taken as zero; the second activation withdraws, for good."""
    method, values = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.0), np.array([5.0, 5.0])
    first = sv.simulate(K2, values, method, num_steps=1, seed=3, threads=1, progress=False)
    second = sv.simulate(K2, values, method, num_steps=2, seed=3, threads=1, progress=False)
    assert abs(first.values[0] - 5.0) > 1e-3
    np.testing.assert_allclose(second.values, 5.0, atol=1e-12)
    assert not second.outstanding_noise.any()
    assert sv.theory.expected_error(K2, values, method, 3).tolist() == pytest.approx([0.0, 0.5, 0.0, 0.0])


def test_node_clocks_are_not_uniform_edges() -> None:
    """P₄ with equal node clocks: the middle edge fires with probability ¼, not ⅓. With clocks ∝ degree, ⅓."""
    graph = sv.graphs.path(4)
    ends, degrees = graph.edges, graph.degrees

    def chances(clock: np.ndarray) -> np.ndarray:
        share = clock / clock.sum() / degrees
        return share[ends[:, 0]] + share[ends[:, 1]]

    equal = chances(np.ones(4))
    np.testing.assert_allclose(equal, [0.375, 0.25, 0.375])
    np.testing.assert_allclose(chances(degrees.astype(float)), 1 / 3)
    slower = sv.theory.contraction_factor(graph, edge_probabilities=equal)
    assert slower > sv.theory.contraction_factor(graph) + 0.005
    three = sv.graphs.path(3)  # on three nodes the two ways still agree: four is the smallest
    share = (1 / 3) / three.degrees
    np.testing.assert_allclose(share[three.edges[:, 0]] + share[three.edges[:, 1]], 0.5)


def test_inverted_fraction() -> None:
    """K₃: √(1 − n d_min/(2(n−1)d_i)) is the threshold ½; with the fraction upside down it is √⅔ and slows the rate."""
    graph = sv.graphs.complete(3)
    n, smallest = 3, graph.degrees.min()
    threshold = sv.theory.threshold_decay(graph)
    sufficient = np.sqrt(1 - n * smallest / (2 * (n - 1) * graph.degrees))
    inverted = np.sqrt(1 - (n - 1) * smallest / (2 * n * graph.degrees))
    np.testing.assert_allclose(sufficient, threshold)
    np.testing.assert_allclose(inverted, np.sqrt(2 / 3))
    rate = sv.theory.asymptotic_rate(graph, sv.NoiseInsertion(1.0, inverted))
    assert rate.rate > sv.theory.contraction_factor(graph) + 0.1


@pytest.mark.parametrize(
    "graph", [sv.graphs.star(6), sv.graphs.barbell(4, 2), sv.graphs.random_geometric(20, seed=1)], ids=lambda g: g.name
)
def test_sufficient_choice_is_sufficient(graph: sv.Graph) -> None:
    """The α-free choice never exceeds the threshold, because α ≤ n d_min/(n − 1)."""
    n = graph.num_nodes
    inside = 1 - n * graph.degrees.min() / (2 * (n - 1) * graph.degrees)
    assert (np.sqrt(np.maximum(inside, 0)) <= sv.theory.threshold_decay(graph) + 1e-12).all()


def test_the_threshold_is_one_of_the_bound() -> None:
    """C₁₀ at the corollary's φ: the guarantee is not slowed, the real rate is, because gossip is faster than ρ."""
    graph = sv.graphs.cycle(10)
    rate = sv.theory.asymptotic_rate(graph, sv.NoiseInsertion.largest_free(graph, 1.0))
    assert rate.regime == "noise"
    assert rate.gossip_rate < rate.rate == pytest.approx(sv.theory.contraction_factor(graph))


def test_one_noise_memory_for_all_never_returns() -> None:
    """A known re-implementation keeps one last draw for the whole network, not one per node: its mean stays off."""
    rng, graph = np.random.default_rng(7), sv.graphs.path(3)
    offsets = []
    for _ in range(200):
        x, count, last = np.zeros(3), np.zeros(3, dtype=int), 0.0
        for edge in rng.integers(0, 2, 60):
            for node in graph.edges[edge]:
                draw = rng.normal()
                x[node] += 0.5 ** count[node] * draw - (0.5 ** (count[node] - 1) * last if count[node] else 0.0)
                last, count[node] = draw, count[node] + 1
            x[graph.edges[edge]] = x[graph.edges[edge]].mean()
        offsets.append(x.mean())
    assert np.std(offsets) > 0.1
    ours = sv.simulate(
        graph, np.zeros(3), sv.NoiseInsertion(1.0, 0.5), num_steps=60, seed=1, replicas=200, threads=1, progress=False
    )
    assert np.abs(ours.values.mean(axis=1)).max() < 1e-3
