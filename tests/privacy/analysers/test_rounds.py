"""Audits of synchronous methods against dense conditioning of their joint law."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, Unsupported
from sottovoce.privacy import CuriousNodes, EveryoneBut, WireTap, audit_rounds
from sottovoce.privacy.analysers.rounds import linear_posterior

GRAPH = sv.Graph.from_edges([(0, 1), (1, 2), (2, 3), (0, 3), (2, 4)])
ROUNDS, PRIOR = 5, 1.3


def _messages(method: sv.Method, curious: int) -> np.ndarray:
    """Rows of all messages heard over (private values, draws): the method's own code, fed unit vectors.

    Rounds are linear in values and draws, so running the method on each unit vector gives one column.
    """
    W = method.mixing(GRAPH).toarray()
    n, m = GRAPH.num_nodes, GRAPH.num_edges
    width = n + m + n * ROUNDS
    near = GRAPH.neighbours_of(curious)
    columns = []
    for unit in np.eye(width):
        values, pairs, draws = unit[:n], unit[n : n + m], unit[n + m :].reshape(ROUNDS, n)
        nodes = method.initial(GRAPH, values)
        if isinstance(method, sv.PairwiseCancelling):
            nodes[:, 2] = 0.0
            np.add.at(nodes[:, 2], GRAPH.edges[:, 0], pairs)
            np.add.at(nodes[:, 2], GRAPH.edges[:, 1], -pairs)
        heard = []
        for k in range(ROUNDS):
            sent = np.array([method.send(nodes, i, draws[k, i], k, method.parameters(GRAPH)) for i in range(n)])
            heard += sent[near].tolist()
            for i in range(n):
                method.receive(nodes, i, sent[i], float(W[i] @ sent), k, method.parameters(GRAPH))
        columns.append(heard)
    rows = np.array(columns).T
    own_pairs = n + np.flatnonzero((GRAPH.edges == curious).any(axis=1))
    own_draws = n + m + np.arange(ROUNDS) * n + curious
    return np.delete(rows, [curious, *own_pairs, *own_draws], axis=1)


@pytest.mark.parametrize(
    "method",
    [
        sv.SynchronousAveraging(),
        sv.MoMurray(noise_std=0.8, noise_decay=0.7),
        sv.ManitaraHadjicostis(noise_std=0.8, num_rounds=2),
        sv.ManitaraHadjicostis(noise_std=np.array([1, 0.5, 2, 1, 1.0]), num_rounds=np.array([1, 2, 3, 1, 2.0])),
        sv.PairwiseCancelling(pair_noise_std=1.5, own_noise_std=0.4),
    ],
    ids=repr,
)
@pytest.mark.parametrize("curious", [0, 4])
def test_audit_equals_dense_conditioning(method: sv.Method, curious: int) -> None:
    """Posterior deviations equal those of the joint Gaussian law of everything the method's own code sends."""
    honest = GRAPH.num_nodes - 1
    rows = _messages(method, curious)
    rows[:, :honest] *= PRIOR
    posterior = np.eye(rows.shape[1]) - np.linalg.pinv(rows, rcond=1e-10) @ rows
    expected = PRIOR * np.sqrt(np.diag(posterior)[:honest].clip(0))
    report = audit_rounds(GRAPH, method, CuriousNodes([curious]), PRIOR, num_rounds=ROUNDS)
    assert np.delete(report.posterior_std, curious) == pytest.approx(expected, abs=1e-6)
    assert report.posterior_std[curious] == 0.0


@pytest.mark.parametrize(
    "method",
    [sv.Nozari(noise_scale=0.6, noise_decay=0.7, noise_share=0.8), sv.Huang(noise_scale=0.6, noise_decay=0.8)],
    ids=lambda method: method.name,
)
def test_linear_posterior_equals_dense_least_squares(method: sv.Method) -> None:
    """Under Laplace noise the best linear estimates have the deviations of dense least squares with its variances."""
    honest = GRAPH.num_nodes - 1
    rows = _messages(method, 0)
    rows[:, :honest] *= PRIOR
    rows[:, honest:] *= np.sqrt(2.0)
    posterior = np.eye(rows.shape[1]) - np.linalg.pinv(rows, rcond=1e-10) @ rows
    expected = PRIOR * np.sqrt(np.diag(posterior)[:honest].clip(0))
    found = linear_posterior(GRAPH, method, 0, np.full(5, PRIOR), ROUNDS)  # type: ignore[arg-type]
    assert found[1:] == pytest.approx(expected, abs=1e-6)


def test_plain_averaging_hides_nothing_from_neighbours() -> None:
    """Without noise the first round gives every neighbour away, exactly."""
    report = audit_rounds(GRAPH, sv.SynchronousAveraging(), CuriousNodes([0]), num_rounds=1)
    assert report.posterior_std[GRAPH.neighbours_of(0)].tolist() == [0.0, 0.0]
    assert "disclosed" in repr(report)


def test_assumptions_name_broadcast() -> None:
    """The report says that messages are heard by all neighbours."""
    method = sv.MoMurray(noise_std=1.0, noise_decay=0.9)
    report = audit_rounds(GRAPH, method, CuriousNodes([0]), num_rounds=1)
    assert any("broadcast" in line for line in report.assumptions)


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
    assert "having believed ±2 beforehand; without the noise the same rounds would have told it exactly" in (
        report.sentence(plain)
    )
    assert report.steps.tolist() == [0, 1, 2, 3]
    assert "3 rounds" in repr(report)
    assert report.plot().axes[0].get_xlabel() == "round"


def test_everyone_but_one_is_all_others_curious() -> None:
    """The worst coalition is the same as naming all its members."""
    method = sv.PairwiseCancelling(pair_noise_std=1.0, own_noise_std=0.5)
    together = audit_rounds(GRAPH, method, EveryoneBut(2), num_rounds=4)
    named = audit_rounds(GRAPH, method, CuriousNodes([0, 1, 3, 4]), num_rounds=4)
    assert np.array_equal(together.history, named.history)
    # All pair noise is shared with a colluder: only the own noise is left, against a prior of ±1.
    assert together.posterior_std[2] == pytest.approx(0.5 / np.hypot(1.0, 0.5))


def test_what_is_not_covered_is_refused() -> None:
    """Laplace noise, pairwise methods, other views and impossible numbers of rounds are refused."""
    averaging = sv.SynchronousAveraging()
    with pytest.raises(Unsupported, match="got WireTap"):
        audit_rounds(GRAPH, averaging, WireTap([0]), num_rounds=1)  # type: ignore[arg-type]
    with pytest.raises(Unsupported, match="got standard"):
        audit_rounds(GRAPH, sv.StandardGossip(), CuriousNodes([0]), num_rounds=1)
    with pytest.raises(Unsupported, match="got nozari"):
        audit_rounds(GRAPH, sv.Nozari(noise_scale=1.0, noise_decay=0.5), CuriousNodes([0]), num_rounds=1)
    with pytest.raises(InvalidParameter, match="num_rounds"):
        audit_rounds(GRAPH, averaging, CuriousNodes([0]), num_rounds=-1)
    with pytest.raises(InvalidParameter, match="at least one honest node"):
        audit_rounds(GRAPH, averaging, CuriousNodes(range(5)), num_rounds=1)
