"""Reports: what an audit found, told in numbers and words."""

from __future__ import annotations

import pytest

import sottovoce as sv
from sottovoce.errors import Unsupported
from sottovoce.privacy import CuriousNodes, audit, audit_rounds

GRAPH = sv.Graph.from_edges([(0, 1), (1, 2), (2, 3), (0, 3), (2, 4)])
PATH = sv.graphs.path(3)
HALF = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5)
FIRED = [0, 1, 0]


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


def test_a_round_report_is_told_like_any_audit() -> None:
    """Rows, share leaked, the sentence with and without noise, and a figure counted in rounds."""
    method, view = sv.MoMurray(noise_std=1.0, noise_decay=0.9), CuriousNodes([0])
    report = audit_rounds(GRAPH, method, view, 2.0, num_rounds=3)
    plain = audit_rounds(GRAPH, sv.SynchronousAveraging(), view, 2.0, num_rounds=3)
    node = report.most_exposed
    row = report.rows()[node]
    assert row["posterior_std"] == report.posterior_std[node] == report.history[-1, node]
    assert row["variance_leaked"] == pytest.approx(1.0 - (report.posterior_std[node] / 2.0) ** 2)
    assert f"node {node}" in report.sentence(plain)
    assert "having believed ±2 beforehand; without the noise the same rounds would have revealed it exactly" in (
        report.sentence(plain)
    )
    assert any("messages are broadcast" in line for line in report.assumptions)
    assert report.steps.tolist() == [0, 1, 2, 3]
    assert "3 rounds" in repr(report)
    assert report.plot().get_xlabel() == "round"


def test_rounds_have_no_mu() -> None:
    """An audit of rounds finds no Fisher information: asking for μ, ε or δ is refused, not answered with nothing."""
    report = audit(PATH, sv.MoMurray(noise_std=1.0, noise_decay=0.9), 3, CuriousNodes([0]))
    for call in (
        lambda: report.mu(1.0),
        lambda: report.epsilon(1e-5, sensitivity=1.0),
        lambda: report.delta(1.0, sensitivity=1.0),
    ):
        with pytest.raises(Unsupported, match="an audit of rounds finds no Fisher information"):
            call()
    assert "flat_std" not in report.rows()[1]
