"""The exact expectation against brute force: second moments of (x − c̄, u), edge by edge, with dense matrices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, InvalidValues, Unsupported

Array = npt.NDArray[np.float64]


def brute_force(
    graph: sv.Graph, values: Array, std: Array, decay: Array, num_steps: int, chances: Array
) -> tuple[Array, Array, Array]:
    """½ E‖x − c̄‖², (n/2) E(mean − c̄)² and Σ E u² for k = 0..num_steps, straight from Algorithm 1."""
    n = graph.num_nodes
    node = np.zeros(n)
    for (i, j), p in zip(graph.edges, chances, strict=True):
        node[i] += p
        node[j] += p
    factor, fresh = 1 - node * (1 - decay**2), std**2
    moments = np.zeros((2 * n, 2 * n))
    moments[:n, :n] = np.outer(values - values.mean(), values - values.mean())
    totals, means, outstanding = [], [], []
    for _ in range(num_steps + 1):
        totals.append(np.trace(moments[:n, :n]) / 2)
        means.append(moments[:n, :n].sum() / (2 * n))
        outstanding.append(np.trace(moments[n:, n:]))
        following = np.zeros_like(moments)
        for (i, j), p in zip(graph.edges, chances, strict=True):
            withdraw, average, insert = np.eye(2 * n), np.eye(2 * n), np.zeros((2 * n, 2))
            for place, node_index in enumerate((i, j)):
                withdraw[node_index, n + node_index] = -1
                withdraw[n + node_index, n + node_index] = 0
                insert[[node_index, n + node_index], place] = 1
            average[np.ix_([i, j], [i, j])] = 0.5
            step, put = average @ withdraw, average @ insert
            following += p * (step @ moments @ step.T + put @ np.diag(fresh[[i, j]]) @ put.T)
        moments, fresh = following, fresh * factor
    return np.array(totals), np.array(means), np.array(outstanding)


def random_case(seed: int) -> tuple[sv.Graph, Array, Array, Array, Array]:
    """A random connected graph of 2 to 7 nodes with random values, noise (some none) and edge probabilities."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    edges = {(int(rng.integers(0, i)), i) for i in range(1, n)}
    edges |= {
        tuple(sorted(map(int, pair))) for pair in rng.integers(0, n, (rng.integers(0, 2 * n), 2)) if pair[0] != pair[1]
    }
    graph = sv.Graph.from_edges(sorted(edges), num_nodes=n)
    std = rng.exponential(2.0, n) * (rng.random(n) > 0.25)
    decay = rng.random(n) * (rng.random(n) > 0.25)
    chances = np.full(graph.num_edges, 1 / graph.num_edges) if seed % 2 else rng.dirichlet(np.ones(graph.num_edges))
    return graph, rng.normal(size=n), std, decay, chances


@pytest.mark.parametrize("seed", range(40))
def test_expectation_equals_brute_force(seed: int) -> None:
    """Both algorithms and the split agree with dense second moments to 1e−10 on random graphs."""
    graph, values, std, decay, chances = random_case(seed)
    method = sv.NoiseInsertion(noise_std=std, noise_decay=decay)
    total, mean, _ = brute_force(graph, values, std, decay, 25, chances)
    scale = total.max()
    for algorithm in ("steps", "spectral"):
        parts = sv.theory.expected_error_split(
            graph, values, method, 25, edge_probabilities=chances, algorithm=algorithm
        )
        np.testing.assert_allclose(parts.total, total, rtol=1e-10, atol=1e-14 * scale)
        np.testing.assert_allclose(parts.mean_error, mean, rtol=1e-10, atol=1e-14 * scale)
        np.testing.assert_allclose(parts.disagreement, total - mean, rtol=1e-10, atol=1e-13 * scale)


@pytest.mark.parametrize("seed", range(10))
def test_outstanding_variance_equals_brute_force(seed: int) -> None:
    """The closed form of E u² is what the dense second moments say, φ = 0 included."""
    graph, values, std, decay, chances = random_case(seed)
    method = sv.NoiseInsertion(noise_std=std, noise_decay=decay)
    _, _, outstanding = brute_force(graph, values, std, decay, 12, chances)
    closed = sv.theory.outstanding_variance(graph, method, np.arange(13), edge_probabilities=chances)
    np.testing.assert_allclose(closed.sum(axis=1), outstanding, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize(
    "graph",
    [sv.graphs.cycle(10), sv.graphs.path(12), sv.graphs.star(9), sv.graphs.random_geometric(30, seed=2)],
    ids=lambda graph: graph.name,
)
@pytest.mark.parametrize("decay", [0.0, 0.9, 0.99])
def test_jumping_equals_stepping(graph: sv.Graph, decay: float) -> None:
    """Lanczos and the step-by-step recursion give the same 1 500 numbers, relatively, however small they get."""
    values = np.random.default_rng(1).random(graph.num_nodes)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=decay)
    stepped = sv.theory.expected_error(graph, values, method, 1500, algorithm="steps")
    jumped = sv.theory.expected_error(graph, values, method, 1500, algorithm="spectral")
    np.testing.assert_allclose(jumped, stepped, rtol=1e-9)
    at = [1500, 0, 3, 700, 700]
    chosen = sv.theory.expected_error(graph, values, method, at=at, algorithm="spectral")
    np.testing.assert_allclose(chosen, stepped[at], rtol=1e-9)


def test_far_beyond_any_recursion() -> None:
    """At k = 10⁷ the expectation has settled into its rate: E G_{2k} = E G_k · rate^k."""
    graph = sv.graphs.cycle(8)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=1 - 1e-6)
    rate = sv.theory.asymptotic_rate(graph, method)
    near, far = sv.theory.expected_error(graph, np.arange(8.0), method, at=[10**7, 2 * 10**7])
    assert rate.regime == "noise"
    assert far / near == pytest.approx(np.exp(10**7 * np.log1p(rate.rate - 1)), rel=1e-7)


@pytest.mark.parametrize(("decay", "k"), [(0.0, 200_000), (0.995, 2_000_000)])
def test_jumping_far_on_an_irregular_graph(decay: float, k: int) -> None:
    """On a random geometric graph E G falls by the exact rate between far-away steps: no spurious mode survives."""
    graph = sv.graphs.random_geometric(60, seed=1)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=decay)
    rate = sv.theory.asymptotic_rate(graph, method)
    near, far = sv.theory.expected_error(graph, np.arange(60.0), method, at=[k, k + 10_000])
    assert far / near == pytest.approx(rate.rate**10_000, rel=1e-8)
    assert far > 0


def test_columns_add_up() -> None:
    """Vector-valued data: the expectation is the sum over columns."""
    graph, rng = sv.graphs.cycle(6), np.random.default_rng(2)
    method = sv.NoiseInsertion(noise_std=0.5, noise_decay=0.8)
    table = rng.normal(size=(6, 3))
    apart = sum(sv.theory.expected_error(graph, table[:, c], method, 30) for c in range(3))
    np.testing.assert_allclose(sv.theory.expected_error(graph, table, method, 30), apart, rtol=1e-12)


def test_without_noise_it_is_standard_gossip() -> None:
    """σ = 0 and standard gossip have the same expectation, whatever φ."""
    graph, values = sv.graphs.star(5), np.arange(5.0)
    silent = sv.NoiseInsertion(noise_std=0.0, noise_decay=0.9)
    np.testing.assert_array_equal(
        sv.theory.expected_error(graph, values, silent, 20),
        sv.theory.expected_error(graph, values, sv.StandardGossip(), 20),
    )


def test_equal_values_without_noise_have_no_error() -> None:
    """Nothing to average and nothing inserted: exactly zero, by both algorithms and all bounds."""
    graph, values = sv.graphs.cycle(5), np.full(5, 2.0)
    for algorithm in ("steps", "spectral"):
        assert not sv.theory.expected_error(graph, values, sv.StandardGossip(), 50, algorithm=algorithm).any()
    assert not sv.theory.error_bound(graph, values, sv.StandardGossip(), 50).any()


def test_a_rare_edge_is_alloutstanding_to_never_fire() -> None:
    """An edge of probability zero is as good as absent."""
    square = sv.graphs.cycle(4)
    never = np.array([1 / 3, 1 / 3, 1 / 3, 0.0])
    kept = [tuple(edge) for edge, p in zip(square.edges.tolist(), never, strict=True) if p]
    line = sv.Graph.from_edges(kept, num_nodes=4)
    method, values = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5), np.arange(4.0)
    np.testing.assert_allclose(
        sv.theory.expected_error(square, values, method, 40, edge_probabilities=never),
        sv.theory.expected_error(line, values, method, 40),
        rtol=1e-12,
    )


def test_rate_is_the_largest_eigenvalue() -> None:
    """The matrix-free rate is the spectral radius of the n² × n² second-moment matrix on centred matrices."""
    for graph in (sv.graphs.path(4), sv.graphs.star(5), sv.graphs.cycle(6), sv.graphs.complete(2)):
        n = graph.num_nodes
        dense = np.zeros((n * n, n * n))
        for i, j in graph.edges:
            b = np.zeros(n)
            b[i], b[j] = 1, -1
            w = np.eye(n) - 0.5 * np.outer(b, b)
            dense += np.kron(w, w) / graph.num_edges
        centre = np.eye(n) - 1 / n
        keep = np.kron(centre, centre)
        largest = np.linalg.eigvalsh(keep @ dense @ keep)[-1]
        assert sv.theory.second_moment_rate(graph) == pytest.approx(largest, abs=1e-12)


def test_regimes() -> None:
    """On C₁₀ noise takes over between φ = 0.9 and 0.98, as in the paper's figure; gossip's true rate is below ρ."""
    graph = sv.graphs.cycle(10)
    slow = sv.theory.asymptotic_rate(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.98))
    fast = sv.theory.asymptotic_rate(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9))
    assert (slow.regime, fast.regime) == ("noise", "gossip")
    assert slow.rate == slow.noise_rate == pytest.approx(1 - 0.2 * (1 - 0.98**2))
    assert fast.rate == fast.gossip_rate < sv.theory.contraction_factor(graph)
    assert slow.slowest_nodes.tolist() == list(range(10))
    baseline = sv.theory.asymptotic_rate(graph, sv.StandardGossip())
    assert (baseline.regime, baseline.noise_rate, len(baseline.slowest_nodes)) == ("gossip", 0.0, 0)


def test_bad_input_is_named() -> None:
    """Errors name the parameter and never show a private value."""
    graph, method = sv.graphs.cycle(5), sv.StandardGossip()
    with pytest.raises(InvalidValues, match=r"must have shape \(5,\) or \(5, d\)") as caught:
        sv.theory.expected_error(graph, [123.456, 2.0], method, 3)
    assert "123" not in str(caught.value)
    with pytest.raises(InvalidValues, match="finite"):
        sv.theory.expected_error(graph, [np.nan] * 5, method, 3)
    with pytest.raises(InvalidParameter, match="num_steps"):
        sv.theory.expected_error(graph, np.zeros(5), method, -1)
    with pytest.raises(InvalidParameter, match="at must"):
        sv.theory.expected_error(graph, np.zeros(5), method, at=[0.5])
    with pytest.raises(InvalidParameter, match="algorithm"):
        sv.theory.expected_error(graph, np.zeros(5), method, 3, algorithm="magic")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="sum to 1"):
        sv.theory.expected_error(graph, np.zeros(5), method, 3, edge_probabilities=np.ones(5))
    with pytest.raises(Unsupported, match="StandardGossip"):
        sv.theory.expected_error(graph, np.zeros(5), sv.PushSum(), 3)
    with pytest.raises(Unsupported, match="error_bound"):
        sv.theory.expected_error(sv.graphs.path(9000), np.zeros(9000), method, 3)
