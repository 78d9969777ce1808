"""The solvers, forced on small graphs where the dense one decides."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce import graphs
from sottovoce.graphs.spectrum import solvers
from sottovoce.graphs.spectrum.lanczos import eigenpairs, lanczos
from sottovoce.graphs.spectrum.ritz import Estimate, Problem

from ..strategies import connected_graphs

# One graph per difficulty: α double, α sixfold, a bottleneck, eigenvalues close together, a tree with hubs.
VARIED = [
    graphs.cycle(60),
    graphs.hypercube(6),
    graphs.barbell(15, 4),
    graphs.random_regular(80, 3, seed=1),
    graphs.barabasi_albert(60, 1, seed=1),
]

SOLVERS = {
    "lanczos": lambda p: lanczos(p, patient=True),
    "factorised": lambda p: solvers.factorised(p, envelope_limit=math.inf),
    "factorised, own ordering": lambda p: solvers.factorised(p, fill_reducing=True),
    "multigrid": solvers.multigrid,
}


def problem(graph: sv.Graph, weights: np.ndarray | None = None) -> Problem:
    return Problem(graph.num_nodes, graph.edges, weights)


@pytest.mark.parametrize("graph", VARIED, ids=lambda g: g.name)
@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_equals_the_dense_one(name, graph):
    """Nine digits, and its own error bound covers the rest; a factorisation also counts, just below α."""
    exact = solvers.dense(problem(graph)).value
    found = SOLVERS[name](problem(graph))
    off = abs(found.value - exact)
    assert off <= min(1e-9 * exact, found.error + 1e-13)
    if name.startswith("factorised"):
        assert exact * (1 - 2e-3) <= found.lower_bound <= exact


@given(connected_graphs(min_nodes=25, max_nodes=60), st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", ["lanczos", "factorised", "multigrid"])
def test_solvers_equal_the_dense_one_on_random_weighted_graphs(name, graph, seed):
    """Weights over three orders of magnitude."""
    weights = 10 ** np.random.default_rng(seed).uniform(-3, 0, graph.num_edges)
    exact = solvers.dense(problem(graph, weights)).value
    found = SOLVERS[name](problem(graph, weights))
    assert abs(found.value - exact) <= max(1e-8 * exact, 2 * found.error)
    assert found.error <= 1e-3 * exact


@given(connected_graphs(min_nodes=4), st.integers(0, 2**32 - 1))
def test_the_count_of_eigenvalues_is_right(graph, seed):
    """Sylvester's law against the full spectrum, in the middle of its widest gap."""
    matrix = graphs.laplacian(graph, np.random.default_rng(seed).uniform(0.5, 1.5, graph.num_edges))
    spectrum = np.linalg.eigvalsh(matrix.toarray())
    place = int(np.argmax(np.diff(spectrum)))
    shift = float(spectrum[place] + spectrum[place + 1]) / 2
    assert solvers._eigenvalues_below(matrix, shift, fill_reducing=True) == place + 1


def test_the_count_finds_an_eigenvalue_that_was_missed():
    """An answer that is a true eigenvalue, with no residual at all, but the wrong one."""
    wrong, right = (4 * math.sin(k * math.pi / 80) ** 2 for k in (2, 1))
    assert solvers.with_count(problem(graphs.path(40)), Estimate(wrong, 1e-15, 1e-15)) is None
    counted = solvers.with_count(problem(graphs.path(40)), Estimate(right, 1e-15, 1e-15))
    assert counted.lower_bound == pytest.approx(right, rel=1e-8)


def test_each_solver_leaves_to_others_what_does_not_suit_it():
    """Lanczos gives up early on a ring, and the factor on a graph with a wide envelope."""
    assert lanczos(problem(graphs.cycle(5000))) is None
    assert solvers.factorised(problem(graphs.random_regular(1000, 8, seed=1))) is None


def test_multigrid_leaves_the_global_random_state_alone():
    """pyamg draws from it; a caller that uses it too sees no difference."""
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    solvers.multigrid(problem(graphs.grid(20, 20)))
    assert np.random.random() == expected  # noqa: NPY002


@pytest.mark.parametrize("seed", range(3))
def test_lehmanns_bound_holds_once_ritz_values_have_settled(seed):
    """At every step from the first one with two digits: α lies between the bound and the Ritz value."""
    from sottovoce.graphs.spectrum.lanczos import _smallest, recurrence

    graph = graphs.random_regular(400, 6, seed=seed)
    matrix = graphs.laplacian(graph)
    exact = np.linalg.eigvalsh(matrix.toarray())[1]
    start = np.random.default_rng(seed).standard_normal(400)
    start -= start.mean()
    made = recurrence(lambda v: matrix @ v, start / np.linalg.norm(start))
    rows = [(alpha, beta) for _, (_, alpha, beta) in zip(range(90), made, strict=False)]
    judged = 0
    for steps in range(40, 91, 10):
        value, residual, error, _ = _smallest(*map(list, zip(*rows[:steps], strict=True)), 1e-14)
        assert value >= exact - 1e-12
        if judged or error < 1e-2 * value:
            judged += 1
            assert value - error <= exact + 1e-12  # what is called exact is rounded, too
            assert error <= residual
    assert judged >= 3


def test_the_lean_hierarchy_finds_the_same(monkeypatch):
    """It only preconditions: the digits come from the iteration."""
    graph = graphs.random_geometric(3000, seed=1)
    problem = Problem(graph.num_nodes, graph.edges)
    usual = solvers.multigrid(problem)
    monkeypatch.setattr(solvers, "LEAN_EDGES", 0)
    lean = solvers.multigrid(problem)
    assert lean.value == pytest.approx(usual.value, rel=1e-12)
    assert lean.error <= 1e-9 * lean.value


def test_a_cluster_that_the_fast_algorithm_gives_up_on_is_solved_by_the_slow_one(monkeypatch):
    """Eigenvalues and vectors are those of the full matrix, whichever of LAPACK's ways was taken."""
    rng = np.random.default_rng(5)
    diagonal, beside = rng.uniform(1, 2, size=12), rng.uniform(0.1, 1, size=11)
    full = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    real, taken = scipy.linalg.eigh_tridiagonal, []

    def gives_up(*matrix, lapack_driver="auto"):
        taken.append(lapack_driver)
        if lapack_driver == "auto":
            raise np.linalg.LinAlgError("stemr did not converge")
        return real(*matrix, lapack_driver=lapack_driver)

    monkeypatch.setattr(scipy.linalg, "eigh_tridiagonal", gives_up)
    values, vectors = eigenpairs(diagonal, beside)
    assert taken == ["auto", "stev"]
    np.testing.assert_allclose(full @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(full), atol=1e-12)
