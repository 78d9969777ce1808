"""The planner: what it fills in is true, and what cannot be had is said."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.methods.noise_insertion import information
from sottovoce.theory.planner.question import markov_share

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
    """Without an ensemble, 90 % of runs are planned for by Markov's inequality, and that is said."""
    found = sv.theory.plan(CYCLE, relative_error=1e-2, probability=0.9, noise_std=1.0, runs=0)
    assert found.relative_error <= 1e-3
    assert found.error_from == "markov"
    assert any("Markov" in reason for reason in found.reasons)


def test_an_ensemble_saves_steps() -> None:
    """From simulated runs fewer steps suffice than Markov's inequality asks for."""
    wishes = {"relative_error": 1e-2, "probability": 0.9, "noise_std": 1.0}
    cautious, sampled = sv.theory.plan(CYCLE, **wishes, runs=0), sv.theory.plan(CYCLE, **wishes)
    assert sampled.error_from == "ensemble"
    assert sampled.num_steps < cautious.num_steps


@pytest.mark.parametrize("size", [2, 3, 4, 30])
def test_markov_speaks_of_the_error_relative_to_the_values_themselves(size: int) -> None:
    """If the expectation is planned by the stated share, the relative error of normal values is met often enough.

    On two nodes ‖c − c̄‖² is often small: a tenth of the error is not enough for 90 % of runs there.
    """
    rng = np.random.default_rng(size)
    spread = rng.chisquare(size - 1, 200_000) / (size - 1)
    for probability in (0.5, 0.9):
        noise = markov_share(size, probability) * rng.choice([0.0, 10.0], 200_000, p=[0.9, 0.1])  # mean: the share
        assert np.mean(noise <= spread) >= probability


def test_the_noise_that_hides_most_for_given_steps() -> None:
    """With steps and accuracy given σ and φ meet the error with equality, and no other φ hides more from the others."""
    found = sv.theory.plan(CYCLE, relative_error=1e-4, num_steps=500)
    assert found.feasible
    assert expected_relative(CYCLE, found, [500])[0] == pytest.approx(1e-4, rel=1e-9)
    for decay in (0.9, found.noise_decay[0] - 0.01, (1 + found.noise_decay[0]) / 2):
        other = sv.theory.plan(CYCLE, relative_error=1e-4, num_steps=500, noise_decay=decay)
        assert other.hidden_std <= found.hidden_std * 1.02
    hopeless = sv.theory.plan(CYCLE, relative_error=1e-12, num_steps=20)
    assert not hopeless.feasible
    assert any("too few even without noise" in reason for reason in hopeless.reasons)


def test_very_many_steps_are_no_division_by_zero() -> None:
    """Where noise of any size is withdrawn to nothing, σ stays finite and leaves rounding room for the values."""
    found = sv.theory.plan(CYCLE, relative_error=0.1, num_steps=100_000)
    assert found.feasible
    assert found.noise_std.max() <= 1e6
    fixed = sv.theory.plan(CYCLE, relative_error=0.1, num_steps=100_000, noise_decay=0.5)
    assert fixed.noise_std[0] == 1e6
    assert any("almost any size" in reason for reason in fixed.reasons)


def test_the_largest_decay_for_given_noise_and_steps() -> None:
    """With σ, accuracy and steps given φ is the largest that fits, far above the free one; a larger one does not."""
    found = sv.theory.plan(CYCLE, relative_error=1e-3, num_steps=2000, noise_std=1.0)
    assert found.feasible
    assert expected_relative(CYCLE, found, [2000])[0] == pytest.approx(1e-3, rel=1e-6)
    assert (found.noise_decay > found.free_decay).all()
    over = sv.theory.plan(
        CYCLE, relative_error=1e-3, num_steps=2000, noise_std=1.0, noise_decay=found.noise_decay + 1e-5
    )
    assert not over.feasible
    loud = sv.theory.plan(CYCLE, relative_error=1e-3, num_steps=220, noise_std=50.0)
    assert not loud.feasible
    assert any("too few for this σ" in reason for reason in loud.reasons)


def test_privacy_allows_only_so_many_steps() -> None:
    """With σ and a wish the steps are the most for which the joint law of the counts keeps the promise."""
    found = sv.theory.plan(CYCLE, noise_std=1.0, noise_decay=0.9, hidden_std=0.2, probability=0.9)
    limit = 9  # messages that leave ± 0.2
    assert 1 / np.sqrt(information(1.0, 0.9, limit)) >= 0.2 > 1 / np.sqrt(information(1.0, 0.9, limit + 1))
    assert sv.theory.count_probability(CYCLE, found.num_steps, limit).low >= 0.9
    assert sv.theory.count_probability(CYCLE, found.num_steps + 1, limit).low < 0.9
    assert found.hidden_std >= 0.2
    assert found.hidden_probability == 0.9
    certain = sv.theory.plan(CYCLE, noise_std=1.0, noise_decay=0.9, hidden_std=0.2)
    assert certain.num_steps == limit  # one node might take part in every step
    assert certain.hidden_probability == 1.0


def test_no_probability_no_promise() -> None:
    """Without a probability and a wish nothing is promised about everyone else, and the answer says so."""
    found = sv.theory.plan(CYCLE, noise_std=1.0, noise_decay=0.9, num_steps=50)
    assert found.hidden_probability is None
    assert any("No promise is made" in reason for reason in found.reasons)


def test_where_withdrawing_contradicts_a_wish_noise_stays() -> None:
    """σ, φ, an accuracy and a wish that collide: a budget keeps the wish in every run, at an error that is reached."""
    found = sv.theory.plan(CYCLE, noise_std=1.0, noise_decay=0.9, hidden_std=0.1, relative_error=0.05)
    assert found.feasible
    assert found.budget == 0.1
    assert found.hidden_probability == 1.0
    assert expected_relative(CYCLE, found, [found.num_steps])[0] <= 0.05
    greedy = sv.theory.plan(CYCLE, noise_std=1.0, noise_decay=0.9, hidden_std=0.2, relative_error=1e-6)
    assert not greedy.feasible
    assert any("Not both" in reason for reason in greedy.reasons)


@pytest.mark.parametrize("graph", [sv.graphs.star(20), sv.graphs.complete(10), CYCLE], ids=lambda g: g.name)
def test_one_draw_attains_the_price_of_hiding(graph: sv.Graph) -> None:
    """A wish against everyone else costs h²/((n − 1) s²) and no less; the plan comes as near as two percent."""
    least = 0.05**2 / (graph.num_nodes - 1)
    found = sv.theory.plan(graph, relative_error=1.02 * least, hidden_std=0.05)
    assert found.feasible
    assert least <= found.relative_error <= 1.02 * least
    assert found.hidden_std == pytest.approx(0.05)
    assert (found.noise_decay == 0.0).all()
    never = sv.theory.plan(graph, relative_error=0.9 * least, hidden_std=0.05)
    assert not never.feasible
    assert any(f"{least:.3g}" in reason for reason in never.reasons)


def test_more_draws_where_neighbours_shall_know_less() -> None:
    """With both wishes nodes draw more than once: more noise at first, the same budget."""
    found = sv.theory.plan(
        sv.graphs.complete(5), relative_error=0.2, hidden_std=0.05, neighbour_std=0.3, probability=0.8, runs=0
    )
    assert found.feasible
    assert found.budget == 0.05
    assert found.noise_std[0] > 0.1
    assert found.neighbour_std is not None
    assert found.neighbour_std >= 0.298


def test_noise_against_neighbours() -> None:
    """A wish against neighbours alone gives σ and φ; exact audits of random schedules keep it more often than asked."""
    graph = sv.graphs.complete(4)
    found = sv.theory.plan(graph, relative_error=0.05, neighbour_std=0.3, probability=0.8, runs=0, schedules=60)
    assert found.feasible
    assert found.neighbour_sampled is not None
    assert found.neighbour_sampled[1] >= 0.3
    exposed = sv.privacy.exposure_quantile(
        graph, found.method, num_steps=found.num_steps, probability=0.8, schedules=150, seed=9
    )
    assert exposed.kept(0.3)[1] >= 0.8
    with pytest.raises(InvalidParameter, match="needs probability"):
        sv.theory.plan(graph, relative_error=0.05, neighbour_std=0.3)
    with pytest.raises(InvalidParameter, match="below value_std"):
        sv.theory.plan(graph, relative_error=0.05, neighbour_std=1.0, probability=0.9)


def test_rare_edges_and_large_graphs() -> None:
    """Unequal edges are planned for, and a graph too large for the exact way falls back on the bound and says so."""
    chances = np.array([0.4] + [0.6 / 9] * 9)
    slow = sv.theory.plan(CYCLE, relative_error=1e-3, noise_std=1.0, edge_probabilities=chances)
    assert slow.num_steps > sv.theory.plan(CYCLE, relative_error=1e-3, noise_std=1.0).num_steps
    large = sv.theory.plan(sv.graphs.cycle(3000), relative_error=1e-3, noise_std=1.0)
    assert large.basis == "bound"
    assert (large.truly_free_decay < large.free_decay).all()
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


@pytest.mark.parametrize("graph", [sv.graphs.path(3), CYCLE, sv.graphs.random_geometric(25, seed=4)])
@pytest.mark.parametrize("std", [1.0, 1e4])
def test_no_error_below_rounding_is_promised(graph: sv.Graph, std: float) -> None:
    """Real runs end below what the plan says of rounding, not far below, and far above the wish."""
    found = sv.theory.plan(graph, relative_error=1e-60, noise_std=std)
    assert not found.feasible
    assert any("Rounding is in the way" in reason for reason in found.reasons)
    values = np.random.default_rng(1).standard_normal(graph.num_nodes)
    run = sv.simulate(graph, values, found.method, num_steps=found.num_steps, seed=1, replicas=100, record=1)
    left = run.final_relative_error.mean()
    assert 1e-3 * found.rounding_error < left < found.rounding_error


def test_louder_noise_is_rounded_more() -> None:
    """What ordinary noise allows is not promised under noise that drowns the values; without a wish nothing is."""
    assert sv.theory.plan(CYCLE, relative_error=1e-20, noise_std=1.0).feasible
    drowned = sv.theory.plan(CYCLE, relative_error=1e-20, noise_std=1e8)
    assert not drowned.feasible
    assert drowned.relative_error <= 1e-20 < drowned.rounding_error
    assert sv.theory.plan(CYCLE, num_steps=10**6, noise_std=1.0).feasible


def test_rounding_is_weighed_with_the_probability() -> None:
    """By Markov's inequality rounding has to leave a share of the wish only."""
    wish = 2.0 * sv.theory.plan(CYCLE, relative_error=1e-29, noise_std=1.0).rounding_error
    assert sv.theory.plan(CYCLE, relative_error=wish, noise_std=1.0).feasible
    assert not sv.theory.plan(CYCLE, relative_error=wish, noise_std=1.0, probability=0.95, runs=0).feasible
