"""The audit against brute-force conditioning of the joint law, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sottovoce as sv

from .exact_gaussian import Transcript


@st.composite
def small_cases(draw: st.DrawFn) -> dict[str, object]:
    """A connected graph of 2–5 nodes, up to 7 exchanges, dyadic σ and φ (zero included), and a view."""
    n = draw(st.integers(2, 5))
    edges = {(draw(st.integers(0, k - 1)), k) for k in range(1, n)}
    for _ in range(draw(st.integers(0, 4))):
        i, j = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
        if i != j:
            edges.add((min(i, j), max(i, j)))
    graph = sv.Graph.from_edges(sorted(edges), num_nodes=n)
    fired = draw(st.lists(st.integers(0, graph.num_edges - 1), min_size=1, max_size=7))
    std = [draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)])) for _ in range(n)]
    decay = [draw(st.sampled_from([Fraction(0), Fraction(1, 8), Fraction(1, 2), Fraction(7, 8)])) for _ in range(n)]
    case = {"graph": graph, "fired": fired, "std": std, "decay": decay, "observers": set(), "tapped": set()}
    if draw(st.booleans()):
        nodes = draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n - 1))
        return case | {"observers": nodes, "view": sv.privacy.CuriousNodes(nodes)}
    taps = draw(st.sets(st.integers(0, graph.num_edges - 1), min_size=1, max_size=graph.num_edges))
    pairs = {tuple(int(v) for v in graph.edges[k]) for k in taps}
    return case | {"tapped": pairs, "view": sv.privacy.WireTap(pairs)}


def _both(case: dict[str, object], prior_std: float | None) -> tuple[sv.privacy.Report, Transcript]:
    graph = case["graph"]
    method = sv.NoiseInsertion(noise_std=np.array(case["std"], float), noise_decay=np.array(case["decay"], float))
    report = sv.privacy.audit(graph, method, case["fired"], case["view"], prior_std)
    exchanges = [tuple(graph.edges[k].tolist()) for k in case["fired"]]
    exact = Transcript(graph.num_nodes, exchanges, case["std"], case["decay"], case["observers"], case["tapped"])
    return report, exact


@given(case=small_cases(), prior=st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(10)]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_posterior_equals_exact_conditioning(case: dict[str, object], prior: Fraction) -> None:
    """With a Gaussian prior the audit's deviations are the exact conditional deviations; zeros are zeros."""
    report, exact = _both(case, float(prior))
    expected = exact.posterior_std(prior**2)
    assert report.posterior_std[exact.honest] == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert ((report.posterior_std[exact.honest] == 0) == (np.array(expected) == 0)).all()


@given(case=small_cases())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_flat_prior_equals_best_unbiased_estimate(case: dict[str, object]) -> None:
    """With a flat prior the audit gives the exact deviation of the best unbiased estimate, infinities included."""
    report, exact = _both(case, None)
    assert report.posterior_std[exact.honest] == pytest.approx(exact.flat_std(), rel=1e-9, abs=1e-13)


@given(case=small_cases())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_information_equals_inverse_variance_with_others_known(case: dict[str, object]) -> None:
    """Fisher information is one over the variance of the best unbiased estimate when all others are known."""
    report, exact = _both(case, 1.0)
    with np.errstate(divide="ignore"):
        deviation = 1.0 / np.sqrt(report.fisher_information[exact.honest])
    # Where unheard noise cancels exactly the reported information ends at the inverse square of the rounding floor.
    assert deviation == pytest.approx(exact.known_others_std(), rel=1e-9, abs=1e-11)
