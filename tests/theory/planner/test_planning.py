"""The planner: what it fills in is true, and what cannot be had is said."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.methods.noise_insertion import information

CYCLE = sv.graphs.cycle(10)


def expected_relative(graph: sv.Graph, found: sv.theory.Plan, at: list[int], value_std: float = 1.0) -> np.ndarray:
    """The expectation over independent values: columns e_i − 1/n span Y_0 = I − 11ᵀ/n, with one column's noise."""
    columns = value_std * (np.eye(graph.num_nodes) - 1 / graph.num_nodes)
    quiet = sv.theory.expected_error(graph, columns, sv.StandardGossip(), at=at)
    noise = sv.theory.expected_error(graph, np.zeros(graph.num_nodes), found.method, at=at)
    return (quiet + noise) / (0.5 * (graph.num_nodes - 1) * value_std**2)


@pytest.mark.parametrize(
    "graph", [CYCLE, sv.graphs.star(7), sv.graphs.random_geometric(25, seed=4)], ids=lambda g: g.name
)
def test_steps_are_the_fewest(graph: sv.Graph) -> None:
    """The exact expectation meets the wish at the planned step, one step earlier it does not."""
    found = sv.theory.plan(graph, relative_error=1e-5, noise_std=2.0, value_std=0.5)
    before, at = expected_relative(graph, found, [found.num_steps - 1, found.num_steps], 0.5)
    assert at <= 1e-5 < before
    assert found.relative_error == pytest.approx(at, rel=1e-9)
    assert found.feasible
    assert found.basis == "exact"


def test_bound_basis_is_on_the_safe_side() -> None:
    """Planned from the bound the steps are more, and the corrected bound meets the wish there and not before."""
    exact = sv.theory.plan(CYCLE, relative_error=1e-4, noise_std=1.0)
    safe = sv.theory.plan(CYCLE, relative_error=1e-4, noise_std=1.0, basis="bound")
    assert safe.num_steps > exact.num_steps
    values = np.zeros(10)
    values[:2] = np.sqrt(9 / 2) * np.array([1, -1])  # ½‖c − c̄‖² = 9/2, as the plan assumes
    bound = sv.theory.error_bound(CYCLE, values, safe.method, at=[safe.num_steps - 1, safe.num_steps]) / 4.5
    assert bound[1] <= 1e-4 < bound[0]
    assert any("bound" in reason for reason in safe.reasons)


def test_default_decay_is_the_largest_free_one() -> None:
    """Without φ the plan takes the corollary's, and says what is free in truth: less."""
    found = sv.theory.plan(CYCLE, relative_error=1e-3, noise_std=1.0)
    np.testing.assert_allclose(found.noise_decay, sv.theory.threshold_decay(CYCLE))
    assert found.truly_free_decay is not None
    assert (found.truly_free_decay < found.free_decay).all()
    just = sv.NoiseInsertion(noise_std=1.0, noise_decay=found.truly_free_decay - 1e-4)
    over = sv.NoiseInsertion(noise_std=1.0, noise_decay=found.truly_free_decay + 1e-4)
    assert sv.theory.asymptotic_rate(CYCLE, just).regime == "gossip"
    assert sv.theory.asymptotic_rate(CYCLE, over).regime == "noise"


def test_slower_noise_costs_steps() -> None:
    """Each cost is the number of steps the plan with that φ needs."""
    found = sv.theory.plan(CYCLE, relative_error=1e-4, noise_std=1.0)
    assert [cost.slower for cost in found.costs] == [1, 2, 4, 10]
    steps = [cost.num_steps for cost in found.costs]
    assert steps == sorted(steps)
    again = sv.theory.plan(CYCLE, relative_error=1e-4, noise_std=1.0, noise_decay=found.costs[2].largest_decay)
    assert again.num_steps == found.costs[2].num_steps


def test_probability_by_markov() -> None:
    """Asking for 90 % of runs plans for a tenth of the error, and more than 90 % of runs keep the promise."""
    found = sv.theory.plan(CYCLE, relative_error=1e-2, probability=0.9, noise_std=1.0)
    assert found.relative_error <= 1e-3
    values = np.random.default_rng(3).normal(size=10)
    run = sv.simulate(
        CYCLE, values, found.method, num_steps=found.num_steps, seed=5, replicas=400, threads=1, progress=False
    )
    assert (run.relative_error[:, -1] <= 1e-2).mean() >= 0.9


def test_largest_noise_for_given_steps() -> None:
    """With steps and accuracy given σ is the largest that fits: the error is met with equality."""
    found = sv.theory.plan(CYCLE, relative_error=1e-4, num_steps=500)
    assert found.feasible
    assert expected_relative(CYCLE, found, [500])[0] == pytest.approx(1e-4, rel=1e-9)
    hopeless = sv.theory.plan(CYCLE, relative_error=1e-12, num_steps=20)
    assert not hopeless.feasible
    assert any("too few even without noise" in reason for reason in hopeless.reasons)


def test_privacy_allows_only_so_many_steps() -> None:
    """With σ and a wish the steps are the most for which everyone else together stays that ignorant."""
    found = sv.theory.plan(CYCLE, noise_std=1.0, noise_decay=0.9, hidden_std=0.2)
    messages = np.ceil(np.array([found.num_steps, found.num_steps + 1]) * 0.2)
    left = 1 / np.sqrt(information(1.0, 0.9, messages))
    assert left[0] >= 0.2 > left[1]
    assert found.hidden_std == pytest.approx(left[0])
    greedy = sv.theory.plan(CYCLE, noise_std=1.0, noise_decay=0.9, hidden_std=0.2, relative_error=1e-6)
    assert not greedy.feasible
    assert any("contradict" in reason for reason in greedy.reasons)


def test_noise_from_a_privacy_wish() -> None:
    """Accuracy and privacy without σ: σ is just large enough, and impossible wishes are called so."""
    found = sv.theory.plan(sv.graphs.complete(10), relative_error=0.05, hidden_std=0.02)
    assert found.feasible
    assert found.hidden_std == pytest.approx(0.02, rel=1e-6)
    assert expected_relative(found.graph, found, [found.num_steps])[0] <= 0.05
    never = sv.theory.plan(CYCLE, relative_error=1e-6, hidden_std=0.5)
    assert not never.feasible
    assert any("Not both" in reason for reason in never.reasons)


def test_rare_edges_and_large_graphs() -> None:
    """Unequal edges are planned for, and a graph too large for the exact way falls back on the bound and says so."""
    chances = np.array([0.4] + [0.6 / 9] * 9)
    slow = sv.theory.plan(CYCLE, relative_error=1e-3, noise_std=1.0, edge_probabilities=chances)
    assert slow.num_steps > sv.theory.plan(CYCLE, relative_error=1e-3, noise_std=1.0).num_steps
    large = sv.theory.plan(sv.graphs.cycle(3000), relative_error=1e-3, noise_std=1.0)
    assert large.basis == "bound"
    assert large.truly_free_decay is None
    assert large.num_steps > 10**9


def test_silent_and_idle_plans() -> None:
    """Without noise nothing costs and nothing hides; an error already met needs no step and shows nothing."""
    silent = sv.theory.plan(CYCLE, relative_error=1e-3, noise_std=0.0)
    assert silent.costs == ()
    assert silent.hidden_std == 0.0
    idle = sv.theory.plan(CYCLE, relative_error=50.0, noise_std=0.1)
    assert idle.num_steps == 0
    assert "Nobody has said anything yet." in idle.reasons
    with pytest.raises(InvalidParameter, match="connected"):
        sv.theory.plan(CYCLE, relative_error=0.1, noise_std=1.0, edge_probabilities=[0.2] * 5 + [0.0] * 5)


def test_it_prints_its_reasons() -> None:
    """The repr is the plan in words: steps, σ, φ, and every reason."""
    found = sv.theory.plan(sv.graphs.complete(2), relative_error=1e-6, noise_std=1.0)
    text = repr(found)
    assert text.startswith("Plan for complete(2): 2 steps, σ = 1, φ = 0")
    assert all(reason in text for reason in found.reasons)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"relative_error": 1e-3}, "to find the noise"),
        ({"noise_std": 1.0}, "to find the steps"),
        ({"relative_error": -1.0, "noise_std": 1.0}, "relative_error"),
        ({"relative_error": 0.1, "noise_std": 1.0, "probability": 1.0}, "probability"),
        ({"noise_std": 1.0, "num_steps": 0}, "num_steps"),
        ({"noise_std": -1.0, "num_steps": 5}, "noise_std"),
        ({"noise_std": 1.0, "noise_decay": 1.0, "num_steps": 5}, "noise_decay"),
        ({"noise_std": 1.0, "num_steps": 5, "value_std": 0.0}, "value_std"),
        ({"noise_std": 1.0, "num_steps": 5, "basis": "x"}, "basis must be 'exact' or 'bound' .* got 'x'"),
    ],
)
def test_bad_wishes_are_named(wishes: dict[str, object], message: str) -> None:
    """What is missing or out of range is named."""
    with pytest.raises(InvalidParameter, match=message):
        sv.theory.plan(CYCLE, **wishes)  # type: ignore[arg-type]
