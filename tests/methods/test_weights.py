from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.methods.weights import consensus_factor, mixing_matrix

from .settings import GRAPH, VALUES


@pytest.mark.parametrize("weights", ["metropolis", "max-degree"])
@pytest.mark.parametrize(
    "graph",
    [GRAPH, sv.graphs.star(7), sv.graphs.complete(2), sv.graphs.random_geometric(40, seed=1)],
    ids=lambda g: g.name,
)
def test_named_weights_are_symmetric_doubly_stochastic_and_contract(graph, weights):
    """Rows sum to one, only edges and the diagonal carry weight, and the factor is below 1."""
    matrix = mixing_matrix(weights, graph)
    dense = matrix.toarray()
    np.testing.assert_allclose(dense, dense.T, atol=0)
    np.testing.assert_allclose(dense.sum(axis=0), 1.0, atol=1e-14)
    assert dense.min() >= 0
    assert dense.diagonal().min() > 0
    allowed = graph.to_scipy().toarray() + np.eye(graph.num_nodes)
    assert (dense[allowed == 0] == 0).all()
    assert consensus_factor(matrix) < 1


def test_consensus_factor_of_large_matrices():
    """Beyond 256 nodes an iteration finds what the dense norm finds."""
    matrix = mixing_matrix("metropolis", sv.graphs.random_geometric(300, seed=1))
    assert consensus_factor(matrix) == pytest.approx(np.linalg.norm(matrix.toarray() - 1 / 300, 2), rel=1e-7)


def test_consensus_factor_is_the_second_eigenvalue():
    """max(|λ₂|, |λ_n|) of a symmetric W; for others the largest singular value on disagreement."""
    dense = mixing_matrix("metropolis", GRAPH).toarray()
    eigenvalues = np.linalg.eigvalsh(dense)
    assert consensus_factor(dense) == pytest.approx(max(eigenvalues[-2], -eigenvalues[0]), rel=1e-12)
    around = 0.5 * np.eye(3) + 0.5 * np.roll(np.eye(3), 1, axis=1)
    assert consensus_factor(around) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("weights", "says"), [([[1.0, 0.0]], "square"), ([[0.5, 0.5], [0.4, 0.6]], "rows and columns that add up to one")]
)
def test_matrices_that_do_not_average_are_refused(weights, says):
    """W must be square and keep both agreement and sums."""
    with pytest.raises(InvalidParameter, match=says):
        consensus_factor(weights)


def test_averaging_shrinks_by_the_consensus_factor():
    """‖x − c̄‖ shrinks by at least that factor in every round of plain averaging, and in the end by exactly it."""
    method = sv.SynchronousAveraging()
    factor = consensus_factor(method.mixing(GRAPH))
    run = sv.simulate(GRAPH, VALUES, method, num_steps=100, seed=1, record=100)
    ratios = np.sqrt(run.squared_error[1:] / run.squared_error[:-1])
    assert ratios.max() <= factor * (1 + 1e-9)
    assert ratios[-1] == pytest.approx(factor, rel=1e-6)


@pytest.mark.parametrize(
    "wrap", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix], ids=lambda w: w.__name__
)
def test_given_weights_are_used_and_kept(wrap, tmp_path):
    """Dense or sparse, the matrix is used as it is and survives saving."""
    matrix = mixing_matrix("metropolis", GRAPH).toarray()
    method = sv.SynchronousAveraging(weights=wrap(0.5 * matrix + 0.5 * np.eye(8)))
    run = sv.simulate(GRAPH, VALUES, method, num_steps=1, seed=1)
    np.testing.assert_allclose(run.values, 0.5 * (matrix @ VALUES + VALUES), atol=1e-15)
    run.save(tmp_path / "run.npz")
    assert sv.Solution.load(tmp_path / "run.npz").method == method


def test_weights_that_do_not_contract_are_noted():
    """Swapping two values in every round is doubly stochastic; it runs, and the status says it is not covered."""
    run = sv.simulate(
        sv.graphs.complete(2), [0.0, 1.0], sv.SynchronousAveraging(weights=[[0, 1], [1, 0]]), num_steps=5, seed=1
    )
    assert run.values.tolist() == [1.0, 0.0]
    assert run.status is sv.Status.OUTSIDE_GUARANTEE


def test_weights_that_are_not_symmetric_are_noted():
    """A doubly stochastic matrix with a preferred direction keeps the average and is outside the published rates."""
    around = 0.5 * np.eye(3) + 0.5 * np.roll(np.eye(3), 1, axis=1)
    run = sv.simulate(sv.graphs.complete(3), [0.0, 1.0, 5.0], sv.SynchronousAveraging(around), num_steps=200, seed=1)
    np.testing.assert_allclose(run.values, 2.0)
    assert "not symmetric" in run.notes[0]
