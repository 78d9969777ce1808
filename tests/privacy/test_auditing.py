"""The audit: small answers by hand, exact zeros, long runs, monotonicity."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.privacy import CuriousNodes, EveryoneBut, WireTap, audit

PATH = sv.graphs.path(3)
HALF = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5)
FIRED = [0, 1, 0]


def test_path_with_prior() -> None:
    """Posterior deviations on the path 0–1–2 after each of three exchanges, prior deviation 1."""
    report = audit(PATH, HALF, FIRED, CuriousNodes([0]), steps=[1, 2, 3])
    assert report.history[:, 1] == pytest.approx([0.707107, 0.707107, 0.645497], abs=5e-7)
    assert report.history[:, 2] == pytest.approx([1, 1, 0.816497], abs=5e-7)


def test_path_with_flat_prior() -> None:
    """The same with a flat prior; node 2 is out of reach until step 3."""
    report = audit(PATH, HALF, FIRED, CuriousNodes([0]), None, steps=[1, 2, 3])
    assert report.history[:, 1] == pytest.approx([1, 1, 1])
    assert report.history[:, 2] == pytest.approx([math.inf, math.inf, 1.581139], abs=5e-7)


def test_path_with_other_value_known() -> None:
    """Fisher information about node 1 when node 2 is known: one over the square of the tabulated deviation."""
    report = audit(PATH, HALF, FIRED, CuriousNodes([0]), steps=[1, 2, 3])
    assert report.information_history[:, 1] ** -0.5 == pytest.approx([1, 1, 0.774597], abs=5e-7)
    assert report.mu(2.0)[1] == pytest.approx(2.0 / 0.774597, abs=1e-5)


def test_standard_gossip_hides_nothing_from_the_first_caller() -> None:
    """Without noise the deviation is exactly zero from the first exchange on."""
    report = audit(PATH, sv.StandardGossip(), FIRED, CuriousNodes([0]), steps=[1, 2, 3])
    assert report.history[:, 1].tolist() == [0, 0, 0]
    assert report.disclosed.tolist() == [True, True, True]
    assert report.fisher_information[1] == math.inf
    assert report.variance_leaked[1] == 1.0
    assert report.mutual_information[1] == math.inf


def test_standard_gossip_is_the_case_without_noise() -> None:
    """σ = 0 and standard gossip give the same report."""
    graph = sv.graphs.random_regular(8, 3, seed=2)
    edges = np.random.default_rng(5).integers(0, graph.num_edges, 120)
    silent = audit(graph, sv.NoiseInsertion(noise_std=0.0, noise_decay=0.9), edges, CuriousNodes([0]))
    plain = audit(graph, sv.StandardGossip(), edges, CuriousNodes([0]))
    assert np.array_equal(silent.posterior_std, plain.posterior_std)


@pytest.mark.parametrize("decay", [0.3, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("count", [1, 2, 20, 400, 3000])
def test_two_nodes_to_any_depth(decay: float, count: int) -> None:
    """On K₂ the flat-prior deviation is (Σ φ^{−2t})^{−1/2}, to full relative precision however small."""
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=decay)
    report = audit(sv.graphs.complete(2), method, [0] * count, CuriousNodes([0]), None)
    account = sv.privacy.Account(1.0, decay).spend(count)
    expected = account.std if account.std > 1e-140 else 0.0
    found = report.posterior_std[1] if report.posterior_std[1] > 1e-140 else 0.0
    assert found == pytest.approx(expected, rel=1e-10)


def test_no_exchanges_reveal_nothing() -> None:
    """Before the first exchange everything is as believed beforehand."""
    report = audit(PATH, HALF, [], CuriousNodes([0]), prior_std=[3.0, 2.0, 1.0])
    assert report.posterior_std.tolist() == [0.0, 2.0, 1.0]
    assert report.variance_leaked[1:].tolist() == [0.0, 0.0]
    assert report.mu(1.0)[1:].tolist() == [0.0, 0.0]


def test_units_do_not_matter() -> None:
    """Scaling σ and the prior together scales every deviation."""
    edges = np.random.default_rng(0).integers(0, 6, 80)
    graph = sv.graphs.cycle(6)
    small = audit(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.7), edges, CuriousNodes([0]), 1.0)
    large = audit(graph, sv.NoiseInsertion(noise_std=1e6, noise_decay=0.7), edges, CuriousNodes([0]), 1e6)
    assert large.posterior_std == pytest.approx(1e6 * small.posterior_std, rel=1e-9)


def test_long_run_ends_with_the_sum_of_each_group() -> None:
    """After 8 000 exchanges the observers know each group's sum to nothing and no more about its members."""
    graph = sv.graphs.cycle(8)
    edges = np.random.default_rng(3).integers(0, 8, 8_000)
    report = audit(
        graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8), edges, CuriousNodes([0, 2]), steps=[1_500, 8_000]
    )
    assert report.disclosed.tolist() == [True, True, True] + [False] * 5
    assert report.history[1, 3:] == pytest.approx(report.history[0, 3:], rel=1e-6)
    assert (report.history[1, 3:] > 0.2).all()
    # Knowing all others, the sum gives a value away.
    assert (report.fisher_information > 1e20).all()


def test_reports_do_not_depend_on_what_is_recorded() -> None:
    """The final state is the same whichever steps are requested."""
    edges = np.random.default_rng(1).integers(0, 2, 40)
    every = audit(PATH, HALF, edges, CuriousNodes([0]))
    few = audit(PATH, HALF, edges, CuriousNodes([0]), steps=[7, 3])
    assert np.array_equal(every.posterior_std, few.posterior_std)
    assert few.steps.tolist() == [3, 7]
    assert np.array_equal(few.history, every.history[[3, 7]])
    assert len(audit(PATH, HALF, np.zeros(2000, int), CuriousNodes([0])).steps) == 251


graphs = st.sampled_from([sv.graphs.cycle(5), sv.graphs.path(5), sv.graphs.complete(4), sv.graphs.star(5)])


@given(graph=graphs, seed=st.integers(0, 999), decay=st.floats(0, 0.95), prior=st.sampled_from([None, 1.0]))
def test_another_observer_never_increases_uncertainty(
    graph: sv.Graph, seed: int, decay: float, prior: float | None
) -> None:
    """A coalition with one more member knows every value at least as well, at every step."""
    edges = np.random.default_rng(seed).integers(0, graph.num_edges, 30)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=decay)
    alone = audit(graph, method, edges, CuriousNodes([0]), prior)
    both = audit(graph, method, edges, CuriousNodes([0, 2]), prior)
    assert (both.history <= alone.history * (1 + 1e-9) + 1e-12).all()
    # Beyond 10²⁴ rounding limits the information that is reported.
    assert (both.information_history >= np.minimum(alone.information_history, 1e24) * (1 - 1e-9)).all()


@given(graph=graphs, seed=st.integers(0, 999), share=st.floats(0, 1), prior=st.sampled_from([None, 1.0]))
def test_less_noise_never_increases_uncertainty(graph: sv.Graph, seed: int, share: float, prior: float | None) -> None:
    """Scaling every node's noise down leaves every value at least as well known."""
    edges = np.random.default_rng(seed).integers(0, graph.num_edges, 30)
    loud = audit(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.7), edges, CuriousNodes([0]), prior)
    low = audit(graph, sv.NoiseInsertion(noise_std=share, noise_decay=0.7), edges, CuriousNodes([0]), prior)
    assert (low.history <= loud.history * (1 + 1e-9) + 1e-12).all()


@given(graph=graphs, seed=st.integers(0, 999), decay=st.floats(0, 0.95))
def test_time_never_increases_uncertainty(graph: sv.Graph, seed: int, decay: float) -> None:
    """What was learned is not forgotten: deviations fall and information grows step by step."""
    edges = np.random.default_rng(seed).integers(0, graph.num_edges, 40)
    report = audit(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=decay), edges, WireTap([0]))
    assert (np.diff(report.history, axis=0) <= 1e-12).all()
    with np.errstate(invalid="ignore"):
        assert not (np.diff(report.information_history, axis=0) < -1e-9).any()


@given(graph=graphs, seed=st.integers(0, 999), node=st.integers(0, 3))
def test_everyone_but_one_is_the_worst_case(graph: sv.Graph, seed: int, node: int) -> None:
    """No view of others learns more about a node than everyone else together."""
    edges = np.random.default_rng(seed).integers(0, graph.num_edges, 30)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8)
    worst = audit(graph, method, edges, EveryoneBut(node)).posterior_std[node]
    for observer in set(range(graph.num_nodes)) - {node}:
        assert worst <= audit(graph, method, edges, CuriousNodes([observer])).posterior_std[node] + 1e-12


def test_report_speaks() -> None:
    """A report names its view, states its assumptions, converts to (ε, δ) and prints no array."""
    report = audit(PATH, HALF, FIRED, CuriousNodes([0]))
    assert report.most_exposed == 1
    assert "curious node 0" in repr(report)
    assert any("standard deviation 1" in line for line in report.assumptions)
    assert any("flat prior" in line for line in audit(PATH, HALF, FIRED, CuriousNodes([0]), None).assumptions)
    assert report.delta(1.0, sensitivity=1.0)[1] == sv.privacy.delta(report.mu(1.0)[1], 1.0)
    assert report.epsilon(1e-3, sensitivity=1.0)[1] == sv.privacy.epsilon(report.mu(1.0)[1], 1e-3)
    assert report.rows()[1]["posterior_std"] == report.posterior_std[1]
    assert report.rows()[0]["mutual_information"] is None


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"prior_std": 0.0}, "prior_std must be finite and above 0"),
        ({"prior_std": [1.0, 1.0]}, r"one per node \(3\)"),
        ({"steps": [4]}, r"steps must be whole numbers in 0\.\.3"),
        ({"tolerance": 2.0}, r"tolerance must be in \[0, 1\)"),
        ({"fired_edges": [5]}, r"fired_edges must be edge indices in 0\.\.1"),
        ({"fired_edges": [0.5]}, "fired_edges must be a sequence of edge indices"),
    ],
)
def test_bad_input_is_named(keywords: dict[str, object], message: str) -> None:
    """Parameters outside their range are refused by name."""
    arguments: dict[str, object] = {"fired_edges": FIRED} | keywords
    with pytest.raises(InvalidParameter, match=message):
        audit(PATH, HALF, view=CuriousNodes([0]), **arguments)  # type: ignore[arg-type]


def test_progress_is_reported() -> None:
    """A function given as ``progress`` hears how far the audit has come."""
    heard: list[tuple[int, int]] = []
    audit(PATH, HALF, [0, 1] * 100, CuriousNodes([0]), progress=lambda done, total: heard.append((done, total)))
    assert heard == [(64, 200), (128, 200), (192, 200)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": [0.5]}, r"steps must be whole numbers in 0\.\.3, got \[0\.5\]"),
        ({"steps": ["a"]}, "steps must be whole numbers"),
        ({"steps": [4]}, r"0\.\.3, got \[4\]"),
        ({"prior_std": "a"}, "prior_std must be numbers above 0 .* got 'a'"),
    ],
)
def test_what_is_no_number_is_named(options: dict[str, object], message: str) -> None:
    """Steps between steps and words for numbers are refused by name, not rounded and not as a NumPy error."""
    with pytest.raises(InvalidParameter, match=message):
        audit(PATH, HALF, FIRED, CuriousNodes([0]), **options)  # type: ignore[arg-type]
