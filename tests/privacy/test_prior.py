"""Beliefs that go together: a covariance as prior."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.privacy import CuriousNodes, attack, audit

GRAPH = sv.graphs.path(4)
METHOD = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.6)
EDGES = np.array([0, 1, 2, 1, 0, 0, 2, 1, 0])
VIEW = CuriousNodes([1])


def covariance(correlation: float) -> np.ndarray:
    return 4.0 * ((1 - correlation) * np.eye(4) + correlation)


def conditioned(matrix: np.ndarray) -> np.ndarray:
    """Posterior deviations from the whole transcript as one linear map, in plain NumPy."""
    steps = len(EDGES)
    width = 4 + 2 * steps
    g = np.hstack([np.eye(4), np.zeros((4, 2 * steps))])
    size, rows = np.ones(4), [g[1].copy()]
    for step, edge in enumerate(EDGES):
        pair = GRAPH.edges[edge]
        shown = g[pair].copy()
        for side, node in enumerate(pair):
            if node != 1:
                shown[side, 4 + 2 * step + side] += size[node]
            size[node] *= 0.6
        if 1 in pair:
            rows += [row for node, row in zip(pair, shown, strict=True) if node != 1]
        g[pair] += 0.5 * (shown[::-1] - shown)
    total = np.eye(width)
    total[:4, :4] = matrix
    seen = np.array(rows)
    gain = np.linalg.solve(seen @ total @ seen.T, seen @ total)
    return np.sqrt(np.maximum(np.diag(total - total @ seen.T @ gain)[:4], 0.0))


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9])
def test_correlated_beliefs_equal_plain_conditioning(correlation):
    """The observer's own value tells something of the others too."""
    report = audit(GRAPH, METHOD, EDGES, VIEW, covariance(correlation))
    assert report.posterior_std == pytest.approx(conditioned(covariance(correlation)), abs=1e-9)
    assert report.prior_std.tolist() == [2.0] * 4


def test_a_diagonal_covariance_is_a_list_of_deviations():
    """Same numbers as prior_std."""
    ours = audit(GRAPH, METHOD, EDGES, VIEW, np.diag([1.0, 4.0, 9.0, 0.25]))
    assert ours.history == pytest.approx(audit(GRAPH, METHOD, EDGES, VIEW, [1.0, 2.0, 3.0, 0.5]).history, rel=1e-12)


def test_the_attack_attains_it():
    """χ² of the scores over 2 000 coordinates drawn from the covariance."""
    root = np.linalg.cholesky(covariance(0.6))
    values = 5.0 + root @ np.random.default_rng(0).normal(size=(4, 2000))
    run = sv.simulate(GRAPH, values, METHOD, num_steps=12, seed=3)
    found = attack(run, VIEW, covariance(0.6), prior_mean=5.0)
    scores = found.standard_score[[0, 2, 3]]
    assert np.abs((scores**2).mean(axis=1) - 1.0).max() < 5 * np.sqrt(2 / 2000)


@pytest.mark.parametrize("bad", [np.ones((4, 4)), np.eye(3), np.triu(np.ones((4, 4))), np.full((4, 4), np.nan)])
def test_a_covariance_is_checked(bad):
    """Size, symmetry, and that no value follows from the others."""
    with pytest.raises(InvalidParameter, match="prior_std as a covariance must be"):
        audit(GRAPH, METHOD, EDGES, VIEW, bad)


FRIENDS = sv.Graph.from_edges([("ada", "bob"), ("bob", "carol"), ("carol", "dora")])
BELIEFS = {"dora": 0.5, "carol": 3.0, "ada": 1.0, "bob": 2.0}


def test_beliefs_by_name_are_those_of_the_nodes():
    """As private values are given: a mapping or a Series, in any order."""
    pd = pytest.importorskip("pandas")
    run = sv.simulate(FRIENDS, [4.0, 3.0, 2.0, 1.0], METHOD, num_steps=9, seed=1)
    wanted = audit(FRIENDS, METHOD, EDGES, VIEW, [1.0, 2.0, 3.0, 0.5]).posterior_std
    attacked = attack(run, VIEW, [1.0, 2.0, 3.0, 0.5], prior_mean=[1.0, 2.0, 3.0, 0.5]).estimate
    for given in (BELIEFS, pd.Series(BELIEFS)):
        np.testing.assert_array_equal(audit(FRIENDS, METHOD, EDGES, VIEW, given).posterior_std, wanted)
        np.testing.assert_array_equal(attack(run, VIEW, given, prior_mean=given).estimate, attacked)
        exposed = sv.privacy.exposure(FRIENDS, METHOD, EDGES, prior_std=given)
        assert exposed.prior_std.tolist() == [1.0, 2.0, 3.0, 0.5]
    with pytest.raises(
        InvalidParameter, match="prior_std must have an entry for every node; none for bob, carol, dora"
    ):
        audit(FRIENDS, METHOD, EDGES, VIEW, {"ada": 1.0})


def test_a_covariance_by_name_in_both_directions():
    """A table of pandas, its rows and columns in any order."""
    pd = pytest.importorskip("pandas")
    names, matrix = ["ada", "bob", "carol", "dora"], covariance(0.3) + np.diag([1.0, 2.0, 3.0, 4.0])
    table = pd.DataFrame(matrix, index=names, columns=names)
    wanted = audit(FRIENDS, METHOD, EDGES, VIEW, matrix).posterior_std
    for rows, columns in ((names, names), (names[::-1], names[::-1]), (names[::-1], names)):
        given = table.loc[rows, columns]
        np.testing.assert_array_equal(audit(FRIENDS, METHOD, EDGES, VIEW, given).posterior_std, wanted)
