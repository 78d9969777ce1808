"""Audits of synchronous methods against dense conditioning of their joint law."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, Unsupported
from sottovoce.methods.released import FadingNoise, LinearRounds
from sottovoce.privacy import CuriousNodes, EveryoneBut, Pooled, WireTap, audit_rounds
from sottovoce.privacy.analysers import exchanges, rounds

GRAPH = sv.Graph.from_edges([(0, 1), (1, 2), (2, 3), (0, 3), (2, 4)])
ROUNDS, PRIOR = 5, 1.3


def _messages(method: sv.Method, curious: int) -> np.ndarray:
    """Rows of all messages heard over (private values, draws): the method's own code, fed unit vectors.

    Rounds are linear in values and draws, so running the method on each unit vector gives one column.
    """
    W = method.mixing(GRAPH).toarray()
    n, m = GRAPH.num_nodes, GRAPH.num_edges
    width = 2 * n + m + n * ROUNDS
    near = GRAPH.neighbours_of(curious)
    columns = []
    for unit in np.eye(width):
        values, pairs, own, draws = np.split(unit, [n, n + m, 2 * n + m])
        draws = draws.reshape(ROUNDS, n)
        nodes = method.initial(GRAPH, values)
        if method.edge_noise_field is not None:
            np.add.at(nodes[:, method.edge_noise_field], GRAPH.edges[:, 0], pairs)
            np.add.at(nodes[:, method.edge_noise_field], GRAPH.edges[:, 1], -pairs)
        if method.start_noise_field is not None:
            nodes[:, method.start_noise_field] += own
        heard = []
        for k in range(ROUNDS):
            sent = np.array([method.send(nodes, i, draws[k, i], k, method.parameters(GRAPH)) for i in range(n)])
            heard += sent[near].tolist()
            for i in range(n):
                method.receive(nodes, i, sent[i], float(W[i] @ sent), k, method.parameters(GRAPH))
        columns.append(heard)
    rows = np.array(columns).T
    own_pairs = n + np.flatnonzero((GRAPH.edges == curious).any(axis=1))
    own_draws = n + m + np.arange(ROUNDS + 1) * n + curious
    return np.delete(rows, [curious, *own_pairs, *own_draws], axis=1)


@pytest.mark.parametrize(
    "method",
    [
        sv.SynchronousAveraging(),
        sv.MoMurray(noise_std=0.8, noise_decay=0.7),
        sv.ManitaraHadjicostis(noise_std=0.8, num_rounds=2),
        sv.ManitaraHadjicostis(noise_std=np.array([1, 0.5, 2, 1, 1.0]), num_rounds=np.array([1, 2, 3, 1, 2.0])),
        sv.PairwiseCancelling(pair_noise_std=1.5, own_noise_std=0.4),
        sv.IncrementalAveraging(noise_std=0.8, num_parts=3, own_noise_std=0.4),
        sv.IncrementalAveraging(noise_std=0.8, num_parts=9),
        sv.StateDecomposition(noise_std=0.8, coupling=0.2, secret_weight_std=0.0),
        sv.Muffliato(noise_std=0.8),
        sv.Muffliato(noise_std=0.8, acceleration=1.7, weights="max-degree"),
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
def test_laplace_audit_equals_dense_least_squares(method: sv.Method) -> None:
    """Under Laplace noise the deviations are those of dense least squares with its variances, and are called linear."""
    honest = GRAPH.num_nodes - 1
    rows = _messages(method, 0)
    rows[:, :honest] *= PRIOR
    rows[:, honest:] *= np.sqrt(2.0)
    posterior = np.eye(rows.shape[1]) - np.linalg.pinv(rows, rcond=1e-10) @ rows
    expected = PRIOR * np.sqrt(np.diag(posterior)[:honest].clip(0))
    report = audit_rounds(GRAPH, method, CuriousNodes([0]), PRIOR, num_rounds=ROUNDS)
    assert report.posterior_std[1:] == pytest.approx(expected, abs=1e-6)
    assert not report.exact
    assert any("linear in what it hears" in line for line in report.assumptions)
    assert "by a linear estimate" in report.sentence()


def test_plain_averaging_hides_nothing_from_neighbours() -> None:
    """Without noise the first round gives every neighbour away, exactly."""
    report = audit_rounds(GRAPH, sv.SynchronousAveraging(), CuriousNodes([0]), num_rounds=1)
    assert report.posterior_std[GRAPH.neighbours_of(0)].tolist() == [0.0, 0.0]
    assert "disclosed" in repr(report)


def test_everyone_but_one_is_all_others_curious() -> None:
    """The worst coalition is the same as naming all its members."""
    method = sv.PairwiseCancelling(pair_noise_std=1.0, own_noise_std=0.5)
    together = audit_rounds(GRAPH, method, EveryoneBut(2), num_rounds=4)
    named = audit_rounds(GRAPH, method, CuriousNodes([0, 1, 3, 4]), num_rounds=4)
    assert np.array_equal(together.history, named.history)
    # All pair noise is shared with a colluder: only the own noise is left, against a prior of ±1.
    assert together.posterior_std[2] == pytest.approx(0.5 / np.hypot(1.0, 0.5))


def test_only_rounds_and_only_views_of_nodes_are_supported() -> None:
    """The analyser answers for itself: linear rounds heard by nodes, and nothing else."""
    averaging, gossip = sv.SynchronousAveraging().releases(GRAPH), sv.StandardGossip().releases(GRAPH)
    taps = (WireTap([0]), Pooled(CuriousNodes([0]), WireTap([0])))
    assert rounds.supports(averaging, CuriousNodes([0]))
    assert not any(rounds.supports(averaging, view) for view in taps)
    assert not rounds.supports(gossip, CuriousNodes([0]))
    assert all(exchanges.supports(gossip, view) for view in taps)
    assert not exchanges.supports(averaging, CuriousNodes([0]))


def test_what_is_not_covered_is_refused() -> None:
    """Pairwise methods, other views and impossible numbers of rounds are refused, and the sentence says why."""
    averaging = sv.SynchronousAveraging()
    with pytest.raises(Unsupported, match="audited for CuriousNodes and EveryoneBut; got WireTap"):
        audit_rounds(GRAPH, averaging, WireTap([0]), num_rounds=1)  # type: ignore[arg-type]
    with pytest.raises(Unsupported, match="got standard; use audit"):
        audit_rounds(GRAPH, sv.StandardGossip(), CuriousNodes([0]), num_rounds=1)
    with pytest.raises(InvalidParameter, match="num_rounds"):
        audit_rounds(GRAPH, averaging, CuriousNodes([0]), num_rounds=-1)
    with pytest.raises(InvalidParameter, match="at least one honest node"):
        audit_rounds(GRAPH, averaging, CuriousNodes(range(5)), num_rounds=1)


class Stated(sv.SynchronousAveraging):
    """Averaging that states a matrix of the wrong size."""

    def releases(self, graph: sv.Graph) -> LinearRounds:
        return LinearRounds(np.zeros(5), sv.SynchronousAveraging().mixing(sv.graphs.path(4)), FadingNoise.none(5))


def test_a_statement_that_does_not_fit_the_graph_is_refused() -> None:
    """A user's description is checked like any other input."""
    with pytest.raises(InvalidParameter, match="moved must be a matrix of 5 rows"):
        audit_rounds(GRAPH, Stated(), CuriousNodes([0]), num_rounds=1)


@pytest.mark.parametrize("method", [sv.IncrementalAveraging(1.0, 4), sv.Muffliato(1.0)], ids=lambda m: m.name)
def test_a_system_without_noise_is_a_system(method: sv.Method) -> None:
    """Without its noise the same messages disclose every value that plain averaging discloses."""
    view = CuriousNodes([0])
    audited = sv.privacy.audit(GRAPH, method, 12, view, prior_std=None, without_noise=True)
    plain = sv.privacy.audit(GRAPH, sv.SynchronousAveraging(), 12, view, prior_std=None)
    assert audited.disclosed.tolist() == plain.disclosed.tolist()
    assert not sv.privacy.audit(GRAPH, method, 12, view).disclosed[1:].any()


def test_beliefs_that_go_together_reach_a_system() -> None:
    """A covariance with zeros off its diagonal is the same belief as its deviations; one without is another."""
    method, spread = sv.Muffliato(1.0), np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    apart = audit_rounds(GRAPH, method, CuriousNodes([0]), spread, num_rounds=3)
    same = audit_rounds(GRAPH, method, CuriousNodes([0]), np.diag(spread**2), num_rounds=3)
    np.testing.assert_allclose(same.history, apart.history, atol=1e-9)
    close = audit_rounds(GRAPH, method, CuriousNodes([0]), np.diag(spread**2) + 0.2, num_rounds=3)
    assert (close.posterior_std[1:] < np.sqrt(spread[1:] ** 2 + 0.2)).all()
