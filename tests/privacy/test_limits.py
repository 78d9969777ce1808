"""What is disclosed in the long run, checked against long audits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.privacy import (
    CuriousNodes,
    audit,
    audit_rounds,
    disclosed_by_broadcast,
    disclosed_eventually,
    firewalled,
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[sv.Graph, CuriousNodes]:
    n = draw(st.integers(3, 6))
    edges = {(draw(st.integers(0, k - 1)), k) for k in range(1, n)}
    for _ in range(draw(st.integers(0, 5))):
        i, j = sorted(draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True)))
        edges.add((i, j))
    observers = draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n - 1))
    return sv.Graph.from_edges(sorted(edges), num_nodes=n), CuriousNodes(observers)


@given(case=cases())
def test_pairwise_rule_matches_long_audits(case: tuple[sv.Graph, CuriousNodes]) -> None:
    """After a long run exactly the nodes all of whose edges are heard are disclosed."""
    graph, view = case
    # Every edge fires once before any repeats, so that honest neighbours meet while noise is large.
    rng = np.random.default_rng(0)
    edges = np.concatenate([rng.permutation(graph.num_edges) for _ in range(60)])
    report = audit(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.7), edges, view, tolerance=1e-4)
    assert report.disclosed.tolist() == disclosed_eventually(graph, view).tolist()


@given(case=cases())
def test_broadcast_rule_matches_long_audits(case: tuple[sv.Graph, CuriousNodes]) -> None:
    """After many rounds of broadcast exactly the nodes whose closed neighbourhood is heard are disclosed."""
    graph, view = case
    method = sv.MoMurray(noise_std=1.0, noise_decay=0.6)
    report = audit_rounds(graph, method, view, num_rounds=60)
    assert report.disclosed.tolist() == disclosed_by_broadcast(graph, view).tolist()


@pytest.mark.parametrize("prior", [1.0, 10.0, 1000.0])
def test_triangle(prior: float) -> None:
    """On the triangle pairwise gossip leaves the observer with the sum, broadcast gives it both values."""
    graph = sv.graphs.complete(3)
    rng = np.random.default_rng(4)
    unheard = int(np.flatnonzero((graph.edges == [1, 2]).all(axis=1))[0])
    edges = np.concatenate([[unheard], rng.integers(0, 3, 400)])
    report = audit(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8), edges, CuriousNodes([0]), prior)
    assert report.posterior_std[1:] == pytest.approx(prior / np.sqrt(2), rel=1e-9)
    assert not report.disclosed[1:].any()
    method = sv.MoMurray(noise_std=1.0, noise_decay=0.8)
    broadcast = audit_rounds(graph, method, CuriousNodes([0]), prior, num_rounds=200)
    assert broadcast.posterior_std == pytest.approx(0, abs=1e-9)


def test_triangle_in_random_order() -> None:
    """Whatever the order, the observer of the triangle stays uncertain, by at most τ/√2 in the end."""
    graph = sv.graphs.complete(3)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8)
    for seed in range(5):
        edges = np.random.default_rng(seed).integers(0, 3, 400)
        report = audit(graph, method, edges, CuriousNodes([0]), 1.0)
        assert (report.posterior_std[1:] > 0.3).all()
        assert (report.posterior_std[1:] <= 1 / np.sqrt(2) + 1e-9).all()


def test_at_once_the_order_decides() -> None:
    """φ = 0 on C₁₀: many runs disclose a value that the graph's rule calls protected, none one behind a firewall."""
    graph, view = sv.graphs.cycle(10), CuriousNodes([0])
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.0)
    rule, surprised = disclosed_eventually(graph, view), 0
    for seed in range(60):
        edges = np.random.default_rng(seed).integers(0, 10, 200)
        report = audit(graph, method, edges, view, steps=[200])
        surprised += bool((report.disclosed & ~rule).any())
        protected = firewalled(graph, method, edges, view)
        assert not (report.disclosed & protected).any()
        assert (report.flat_std[protected] > 0.5).all()
    assert 20 <= surprised <= 45


def test_withdrawn_slowly_one_unheard_meeting_is_enough() -> None:
    """0 < φ: whoever has met somebody unheard is never disclosed; the rule of the graph and the firewall agree."""
    graph, view = sv.graphs.cycle(10), CuriousNodes([0])
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.6)
    rule = disclosed_eventually(graph, view, method)
    for seed in range(10):
        edges = np.random.default_rng(seed).integers(0, 10, 300)
        assert firewalled(graph, method, edges, view).tolist() == (~rule).tolist()
        report = audit(graph, method, edges, view, steps=[300])
        assert (report.posterior_std >= report.kept_std * (1 - 1e-9)).all()
        assert not (report.disclosed & ~rule).any()


def test_the_rule_refuses_what_it_does_not_cover() -> None:
    """φ = 0 and σ = 0 are outside the rule, and it says so."""
    for method in (sv.NoiseInsertion(1.0, 0.0), sv.StandardGossip()):
        with pytest.raises(sv.errors.Unsupported, match="order of exchanges"):
            disclosed_eventually(sv.graphs.cycle(4), CuriousNodes([0]), method)
