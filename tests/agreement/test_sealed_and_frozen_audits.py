"""Audits of sealed edges and of noise that stays, against brute-force conditioning in exact arithmetic."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.methods.released import FrozenNoise, SealedNoise, WithdrawnNoise
from sottovoce.privacy.analysers import exchanges
from sottovoce.privacy.view import View

from .exact_gaussian import Transcript

EXACT = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def cases(draw: st.DrawFn) -> tuple[sv.Graph, SealedNoise, list[int], View, Transcript]:
    """A graph of 2–4 nodes, a seal (zero too), σ, φ and draws per node, up to 7 exchanges, a view."""
    n = draw(st.integers(2, 4))
    edges = {(draw(st.integers(0, k - 1)), k) for k in range(1, n)}
    edges |= draw(st.sets(st.sampled_from(list(itertools.combinations(range(n), 2))), max_size=3))
    graph = sv.Graph.from_edges(sorted(edges), num_nodes=n)
    seal = draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(4)]))
    std = [draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(3)])) for _ in range(n)]
    decay = [draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(7, 8)])) for _ in range(n)]
    draws = [draw(st.sampled_from([1, 2, 3, 100])) for _ in range(n)]
    fired = draw(st.lists(st.integers(0, graph.num_edges - 1), min_size=1, max_size=7))
    pairs = [tuple(edge) for edge in graph.edges.tolist()]
    observers, tapped = set(), set()
    view: View
    if draw(st.booleans()):
        observers = draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n - 1))
        view = sv.privacy.CuriousNodes(observers)
    else:
        tapped = draw(st.sets(st.sampled_from(pairs), min_size=1))
        view = sv.privacy.WireTap(tapped)
    exact = Transcript(
        n, [pairs[k] for k in fired], std, decay, observers, tapped, dict.fromkeys(pairs, seal), draws=draws
    )
    noise = FrozenNoise(np.array(std, float), np.array(decay, float), np.array(draws, float))
    return graph, SealedNoise(float(seal), noise), fired, view, exact


@given(case=cases(), prior=st.sampled_from([Fraction(1, 4), Fraction(2)]))
@EXACT
def test_posterior_equals_exact_conditioning(case, prior):
    """With seals and noise that stays, together or not, deviations are the exact conditional ones; zeros are zeros."""
    graph, released, fired, view, exact = case
    beliefs = np.full(graph.num_nodes, float(prior))
    found = exchanges.final_posterior(graph, released, np.array(fired), view, beliefs)[exact.honest]
    expected = exact.posterior_std(prior**2)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert ((found == 0) == (np.array(expected) == 0)).all()


class Stating(sv.methods.PairMethod):
    """A method that releases what it is told to."""

    name, num_fields = "stating", 1

    def __init__(self, released):
        self.released = released

    @staticmethod
    def update(nodes, i, j, draw_i, draw_j, step, parameters):
        """Never called."""

    def releases(self, graph):
        return self.released


@given(case=cases())
@EXACT
def test_flat_prior_and_information_equal_best_unbiased_estimates(case):
    """The audit's flat-prior deviations and Fisher information are exact too, infinities included."""
    graph, released, fired, view, exact = case
    report = sv.privacy.audit(graph, Stating(released), fired, view, None)
    assert report.posterior_std[exact.honest] == pytest.approx(exact.flat_std(), rel=1e-9, abs=1e-12)
    with np.errstate(divide="ignore"):
        deviation = 1.0 / np.sqrt(report.fisher_information[exact.honest])
    assert deviation == pytest.approx(exact.known_others_std(), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize(
    "method",
    [
        sv.SealedGossip(seal_std=2.0),
        sv.SealedGossip(seal_std=1.0, noise_std=0.5, noise_decay=0.7),
        sv.BudgetedNoiseInsertion.with_draws(2, hidden_std=0.4, noise_decay=0.6),
    ],
    ids=lambda m: m.label(),
)
def test_the_attack_attains_the_audit(method):
    """Estimates from simulated runs have the predicted error: χ² of the standard scores over 400 coordinates."""
    graph, rng = sv.graphs.cycle(5), np.random.default_rng(3)
    values = rng.normal(size=(5, 400))
    run = sv.simulate(graph, values, method, num_steps=25, seed=4)
    found = sv.privacy.attack(run, sv.privacy.CuriousNodes([0]), prior_std=1.0)
    report = sv.privacy.audit(graph, method, run.fired_edges(), sv.privacy.CuriousNodes([0]), 1.0)
    np.testing.assert_allclose(found.std, report.posterior_std, rtol=1e-9)
    scores = found.standard_score[1:]
    assert np.abs((scores**2).mean(axis=1) - 1.0).max() < 5 * np.sqrt(2 / 400)


def test_no_run_shows_more_than_the_seals_allow():
    """The audit of random runs without noise stays above the guarantee; unheard exchanges only help."""
    graph = sv.graphs.grid(2, 3)
    method = sv.SealedGossip(seal_std=1.5)
    least = sv.privacy.sealed_std(graph.edges, 6, [0], seal_std=1.5, prior_std=1.0)
    for seed in range(5):
        run = sv.simulate(graph, np.zeros(6), method, num_steps=600, seed=seed)
        report = sv.privacy.audit(graph, method, run.fired_edges(), sv.privacy.CuriousNodes([0]), 1.0)
        assert (report.history >= least * (1 - 1e-9)).all()


def test_descriptions_without_noise_are_in_the_clear():
    """What noise and seals are worth is seen by leaving both out."""
    for method in (sv.SealedGossip(2.0, 1.0, 0.5), sv.BudgetedNoiseInsertion(1.0, 0.5, 0.1)):
        assert isinstance(method.releases(sv.graphs.path(3)).without_noise(), WithdrawnNoise)
        view = sv.privacy.CuriousNodes([0])
        report = sv.privacy.audit(sv.graphs.path(3), method, [0, 1, 0], view, without_noise=True)
        assert report.posterior_std.tolist() == [0.0, 0.0, 0.0]
