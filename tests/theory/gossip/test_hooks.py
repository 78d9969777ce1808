"""What error_bound, expected_error, threshold_decay and the rates reach by themselves: large symmetric graphs, seals,
noise that stays, the resolvent bound.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, Unsupported

SEALED = sv.SealedGossip(seal_std=2.0, noise_std=0.5, noise_decay=0.6)
FROZEN = sv.BudgetedNoiseInsertion.with_draws(3, hidden_std=0.5, noise_decay=0.6)
ONE_DRAW = sv.BudgetedNoiseInsertion.with_draws(1, hidden_std=0.5)


@pytest.mark.parametrize("method", [SEALED, sv.SealedGossip(3.0), FROZEN, ONE_DRAW], ids=lambda m: m.label())
@pytest.mark.parametrize("graph", [sv.graphs.star(5), sv.graphs.random_geometric(9, seed=2)], ids=lambda g: g.name)
def test_expectation_of_seals_and_of_noise_that_stays_is_the_mean_of_runs(graph: sv.Graph, method: sv.Method) -> None:
    """Within five standard errors of 20 000 runs at six steps; and the corrected bound is never below it."""
    values, at = np.linspace(-1, 1, graph.num_nodes) ** 3, [0, 1, 3, 8, 16, 30]
    exact = sv.theory.expected_error(graph, values, method, at=at)
    run = sv.simulate(
        graph, values, method, num_steps=30, seed=4, replicas=20_000, record=at, threads=1, progress=False
    )
    half = 0.5 * run.squared_error
    assert (np.abs(half.mean(axis=0) - exact) <= 5 * half.std(axis=0) / np.sqrt(20_000) + 1e-12).all()
    assert (sv.theory.error_bound(graph, values, method, at=at) >= exact * (1 - 1e-12)).all()


def test_budgets_that_are_never_spent_change_nothing() -> None:
    """With more draws than steps budgeted noise insertion has the expectation of noise insertion."""
    graph, values = sv.graphs.path(4), [0.0, 1.0, 5.0, 2.0]
    budgeted = sv.BudgetedNoiseInsertion.with_draws(40, hidden_std=0.1, noise_decay=0.9)
    np.testing.assert_allclose(
        sv.theory.expected_error(graph, values, budgeted, 30),
        sv.theory.expected_error(graph, values, budgeted.before, 30),
        rtol=1e-11,
    )


def test_noise_that_stays_ends_where_the_method_says() -> None:
    """In the end half the method's stated remaining error is expected, on unequal nodes too."""
    graph = sv.graphs.star(4)
    method = sv.BudgetedNoiseInsertion(np.array([1.0, 2.0, 0.5, 0.7]), np.array([0.5, 0.0, 0.9, 0.3]), 0.2)
    left = sv.theory.expected_error(graph, np.zeros(4), method, at=[1500])[0]
    assert left == pytest.approx(0.5 * method.guarantee(graph).remaining, rel=1e-9)


@pytest.mark.parametrize("method", [SEALED, sv.NoiseInsertion(1.0, 0.8)], ids=lambda m: m.label())
def test_resolvent_form_is_a_bound_and_falls_at_nearly_the_true_rate(method: sv.Method) -> None:
    """On a grid it is above the expectation everywhere and within a factor of 200 where ρ is off by 10⁴."""
    graph, at = sv.graphs.grid(4, 5), [0, 1, 10, 100, 1500]
    values = np.random.default_rng(1).normal(size=20)
    exact = sv.theory.expected_error(graph, values, method, at=at)
    bound = sv.theory.error_bound(graph, values, method, at=at, form="resolvent")
    assert (bound >= exact * (1 - 1e-12)).all()
    assert bound[-1] < 200 * exact[-1]
    assert sv.theory.error_bound(graph, values, method, at=at)[-1] > 1e4 * exact[-1]


def test_what_has_no_bound_is_refused() -> None:
    """Noise that stays has the corrected form only, and unknown forms are named."""
    with pytest.raises(Unsupported, match="corrected error_bound"):
        sv.theory.error_bound(sv.graphs.cycle(5), np.zeros(5), FROZEN, 3, form="resolvent")
    with pytest.raises(Unsupported, match="to be split"):
        sv.theory.expected_error_split(sv.graphs.cycle(5), np.zeros(5), FROZEN, 3)
    with pytest.raises(InvalidParameter, match="corollary or resolvent"):
        sv.theory.threshold_decay(sv.graphs.cycle(5), form="free")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "graph", [sv.graphs.star(7), sv.graphs.grid(3, 4), sv.graphs.barbell(4, 2)], ids=lambda g: g.name
)
def test_resolvent_threshold_leaves_the_real_rate_alone(graph: sv.Graph) -> None:
    """With the proved truly free φ averaging decides; the corollary's φ is at least as large."""
    free, corollary = sv.theory.threshold_decay(graph, form="resolvent"), sv.theory.threshold_decay(graph)
    assert (free <= corollary).all()
    method = sv.NoiseInsertion(1.0, np.maximum(free - 1e-9, 0.0))
    assert sv.theory.asymptotic_rate(graph, method).regime == "gossip"


@pytest.mark.parametrize(
    "graph", [sv.graphs.cycle(600), sv.graphs.torus(24, 24), sv.graphs.star(600)], ids=lambda g: g.name
)
def test_symmetric_graphs_go_by_their_spectrum(graph: sv.Graph) -> None:
    """The way chosen for large edge-transitive graphs agrees with the step-by-step one, with noise and with seals."""
    values = np.random.default_rng(2).normal(size=graph.num_nodes)
    for method in (sv.NoiseInsertion(1.0, 0.7), SEALED):
        chosen = sv.theory.expected_error(graph, values, method, at=[0, 1, 7, 40])
        np.testing.assert_allclose(
            chosen, sv.theory.expected_error(graph, values, method, at=[0, 1, 7, 40], algorithm="steps"), rtol=1e-10
        )
    even = np.full(graph.num_edges, 1 / graph.num_edges)
    with pytest.raises(Unsupported, match="equally likely"):
        sv.theory.expected_error(graph, values, SEALED, 3, edge_probabilities=even, algorithm="symmetric")


def test_a_million_nodes_have_an_expectation_and_a_rate() -> None:
    """On a cycle of 10⁶ nodes the first step removes what averaging one edge removes, and noise adds σ²/2."""
    size = 10**6
    ring, values = sv.graphs.cycle(size), np.random.default_rng(3).normal(size=size)
    before, after = sv.theory.expected_error(ring, values, sv.NoiseInsertion(1.0, 0.9), 1)
    step = 0.25 * np.mean((values - np.roll(values, 1)) ** 2)
    assert after - before == pytest.approx(0.5 - step, abs=1e-8)
    rate = sv.theory.asymptotic_rate(ring, sv.NoiseInsertion(1.0, 0.9))
    assert rate.regime == "gossip"
    assert (sv.theory.threshold_decay(ring, form="resolvent") <= 1.0).all()


def test_large_values_do_not_drown_the_noise() -> None:
    """K₂ with values 10⁸ apart: after one step they agree, and the expected error is the noise's, σ²φ^{2(k−1)}/2."""
    pair, method = sv.graphs.complete(2), sv.NoiseInsertion(1.0, 0.5)
    for algorithm in ("steps", "spectral", "auto"):
        got = sv.theory.expected_error(pair, [0.0, 1e8], method, 3, algorithm=algorithm)  # type: ignore[arg-type]
        np.testing.assert_allclose(got[1:], [0.5, 0.125, 0.03125], rtol=1e-12)


def test_no_noise_may_fade_slowly_on_two_nodes() -> None:
    """On K₂ the largest free φ is 0 also for a graph that came from networkx, where α is 2 up to rounding."""
    pair = sv.Graph.from_networkx(nx.complete_graph(2))
    assert sv.NoiseInsertion.largest_free(pair, noise_std=1.0).noise_decay.tolist() == [0.0, 0.0]
    assert sv.theory.threshold_decay(pair).tolist() == [0.0, 0.0]
