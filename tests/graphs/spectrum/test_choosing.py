"""The algebraic connectivity as users get it: right, with a true statement of its accuracy, or refused."""

from __future__ import annotations

import math
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce import graphs
from sottovoce.errors import InvalidParameter, NumericalFailure
from sottovoce.graphs.spectrum import choosing, solvers
from sottovoce.graphs.spectrum.ritz import Estimate, Problem

from ..strategies import connected_graphs, without_family

LANCZOS = "sottovoce.graphs.spectrum.lanczos.lanczos"


# -- the answer --------------------------------------------------------------------------------------


@given(connected_graphs())
def test_any_small_graph_agrees_with_networkx(graph):
    """The examination supports ten digits and more, and the counted lower bound is one."""
    found = graphs.connectivity(graph)
    expected = np.sort(nx.laplacian_spectrum(graph.to_networkx()))[1]
    assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert found.digits >= 10
    assert found.lower_bound <= expected * (1 + 1e-9) + 1e-13


@pytest.mark.parametrize(
    ("graph", "solver"),
    [(graphs.cycle(2000), "factorised"), (graphs.grid(50, 60), "multigrid"), (graphs.hypercube(11), "lanczos")],
    ids=lambda g: g.name if isinstance(g, sv.Graph) else "",
)
def test_the_sparse_way_agrees_with_the_closed_form(graph, solver):
    """Above the dense size, with the family forgotten: nine digits, by the solver meant for it."""
    found = graphs.connectivity(without_family(graph))
    assert found.solver == solver
    assert found.value == pytest.approx(sv.algebraic_connectivity(graph), rel=1e-9)
    assert found.digits >= 8


@given(connected_graphs(), st.integers(0, 2**32 - 1))
def test_weighted_connectivity_is_that_of_the_weighted_laplacian(graph, seed):
    """L_p = Σ p_e b_e b_eᵀ, built here from its definition."""
    weights = np.random.default_rng(seed).uniform(0.1, 2.0, graph.num_edges)
    rows = sv.theory.incidence(graph).toarray()
    matrix = rows.T @ np.diag(weights) @ rows
    assert np.allclose(graphs.laplacian(graph, weights).toarray(), matrix, atol=1e-14)
    found = sv.algebraic_connectivity(graph, weights)
    assert found == pytest.approx(np.linalg.eigvalsh(matrix)[1], rel=1e-9, abs=1e-12)


def test_equal_weights_scale_the_closed_form():
    """Uniform edge probabilities 1/m give α/m, without a solver."""
    graph = graphs.cycle(10**5)
    found = graphs.connectivity(graph, np.full(10**5, 1e-5))
    assert found.solver == "closed form"
    assert found.value == pytest.approx(1e-5 * sv.algebraic_connectivity(graph), rel=1e-12)


@pytest.mark.parametrize("weight", [1e-6, 1e-20])
def test_a_very_weak_link_keeps_its_digits(weight):
    """Two cliques of ten joined by an edge of weight w: α = w·2²/20 to first order, far below the rounding of L."""
    graph = graphs.barbell(10)
    weights = np.where((graph.edges == (9, 10)).all(axis=1), weight, 1.0)
    assert sv.algebraic_connectivity(graph, weights) == pytest.approx(weight / 5, rel=1e-5)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0], r"weights must have shape \(3,\), one per edge, got \(2,\)"),
        ([1.0, 0.0, 1.0], "finite and above 0, got 0.0 for edge 1"),
        ([1.0, float("nan"), 1.0], "finite and above 0, got nan for edge 1"),
        (["a", "b", "c"], "weights must be numbers"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    """One positive number per edge."""
    with pytest.raises(InvalidParameter, match=message):
        sv.algebraic_connectivity(graphs.cycle(3), weights)


# -- accuracy on request -----------------------------------------------------------------------------


def test_large_graphs_take_the_single_precision_way_unless_more_digits_are_asked_for(monkeypatch):
    """Five digits at half the price; with ``digits=9``, double precision."""
    graph = graphs.random_regular(1500, 8, seed=1)
    precise = graphs.connectivity(graph)
    assert precise.digits >= 8
    monkeypatch.setattr(choosing, "SINGLE_PRECISION_WORK", 0)
    quick = graphs.connectivity(without_family(graph))
    assert quick.solver == "lanczos"
    assert 5 <= quick.digits < 8
    assert abs(quick.value - precise.value) <= quick.error
    assert graphs.connectivity(without_family(graph), digits=9).digits >= 9


@pytest.mark.parametrize("digits", [0, 13, True, 2.5])
def test_digits_have_a_range(digits):
    """1 to 12."""
    with pytest.raises(InvalidParameter, match="digits must be a whole number from 1 to 12"):
        graphs.connectivity(graphs.cycle(5), digits=digits)


def test_counting_on_request():
    """Lanczos and multigrid cannot count; asked to, a factorisation does, and the answer is remembered."""
    graph = graphs.random_geometric(1200, seed=1)
    assert graphs.connectivity(graph).lower_bound is None
    counted = graphs.connectivity(graph, count=True)
    assert counted.value * (1 - 2e-3) < counted.lower_bound < counted.value
    assert graphs.connectivity(graph) is counted


# -- failure -----------------------------------------------------------------------------------------


def test_an_answer_whose_check_fails_is_not_given(monkeypatch):
    """NumericalFailure, with what each solver reached."""
    monkeypatch.setattr(solvers, "dense", lambda p: Estimate(0.5, 0.1, 0.1))
    with pytest.raises(NumericalFailure, match=r"was not found to 5 digits \(dense: 0.5 ± 0.1\)"):
        graphs.connectivity(graphs.barbell(5))


def test_a_failing_solver_is_followed_by_the_next(monkeypatch):
    """Until one passes; the failure names them all, and the missing package."""
    graph = graphs.random_regular(700, 4, seed=1)
    monkeypatch.setattr(LANCZOS, lambda p, **_: Estimate(1.0, 0.5, 0.5))
    assert graphs.connectivity(graph).solver == "multigrid"
    monkeypatch.setattr(solvers, "has_multigrid", lambda: False)
    monkeypatch.setattr(solvers, "factorised", lambda p, **_: None)
    with pytest.raises(NumericalFailure, match=r"lanczos: 1 ± 0\.5; factorised: not for this graph.*sottovoce\[amg\]"):
        graphs.connectivity(without_family(graph))


def test_without_multigrid_a_factorisation_takes_over(monkeypatch):
    """Same value, and counted."""
    monkeypatch.setitem(sys.modules, "pyamg", None)
    assert solvers.multigrid(Problem(4, graphs.cycle(4).edges)) is None
    found = graphs.connectivity(without_family(graphs.grid(30, 30)))
    assert found.solver == "factorised"
    assert found.lower_bound is not None
    assert found.value == pytest.approx(sv.algebraic_connectivity(graphs.grid(30, 30)), rel=1e-10)


def test_an_eigenvalue_above_an_independent_bound_is_not_believed(monkeypatch):
    """A solver that reports the wrong eigenvalue, without a residual: the distances from a far end show it."""
    wrong = 4 * math.sin(2 * math.pi / 180) ** 2  # grid(20, 90) has α = 4 sin²(π/180)
    monkeypatch.setattr(LANCZOS, lambda p, **_: None)
    monkeypatch.setattr(solvers, "factorised", lambda p, **_: None)
    monkeypatch.setattr(solvers, "multigrid", lambda p, **_: Estimate(wrong, 0.0, 1e-18))
    with pytest.raises(NumericalFailure, match="above a bound on it, so the smallest was missed"):
        graphs.connectivity(without_family(graphs.grid(20, 90)))


@given(connected_graphs(), st.integers(0, 2**32 - 1))
def test_independent_bounds_are_bounds(graph, seed):
    """α never exceeds them, with weights or without."""
    weights = np.random.default_rng(seed).uniform(0.01, 1, graph.num_edges)
    for given_ in (None, weights):
        problem = Problem(graph.num_nodes, graph.edges, given_)
        exact = solvers.dense(problem).value
        for solver in ("lanczos", "multigrid"):
            assert exact <= choosing._upper_bound(problem, solver) * (1 + 1e-9)


# -- memory ------------------------------------------------------------------------------------------


def test_results_are_remembered_per_graph_and_weights(monkeypatch):
    """The second question costs nothing; other weights are worked out."""
    graph = graphs.random_geometric(60, seed=1)
    weights = np.linspace(1, 2, graph.num_edges)
    first, weighted = graphs.connectivity(graph), graphs.connectivity(graph, weights)
    monkeypatch.setattr(choosing, "_solve", None)
    assert graphs.connectivity(graph) is first
    assert graphs.connectivity(graph, weights.tolist()) is weighted
    with pytest.raises(TypeError):
        graphs.connectivity(graph, weights[::-1])


def test_only_a_few_weightings_are_remembered():
    """Asking for many does not fill the memory."""
    graph = graphs.path(3)
    for weight in range(1, 30):
        graphs.connectivity(graph, [1.0, float(weight)])
    assert len(graph.__dict__["_connectivity"]) <= choosing.CACHED_RESULTS


def test_the_answer_does_not_depend_on_chance():
    """Twice the same graph, twice the same bits."""
    graph = graphs.random_geometric(3000, seed=2)
    assert graphs.connectivity(graph) == graphs.connectivity(without_family(graph))


# -- large -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("graph", [graphs.cycle(10**5), graphs.grid(1000, 1000)], ids=lambda g: g.name)
def test_large_graphs_are_right_to_eight_digits(graph):
    """Against the closed form, which the solver does not know."""
    found = graphs.connectivity(without_family(graph))
    assert found.digits >= 8
    assert found.value == pytest.approx(sv.algebraic_connectivity(graph), rel=1e-9)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_large_geometric_graph_agrees_with_an_independent_solver():
    """RGG(2·10⁴) by multigrid, and by ARPACK in shift-invert mode; 10⁵ nodes to eight digits by its own account."""
    import scipy.sparse
    import scipy.sparse.linalg

    graph = graphs.random_geometric(20_000, seed=1)
    found = solvers.multigrid(Problem(graph.num_nodes, graph.edges))
    matrix = scipy.sparse.csc_matrix(graphs.laplacian(graph))
    values = scipy.sparse.linalg.eigsh(matrix, k=3, sigma=-1e-3, which="LM", return_eigenvectors=False, tol=1e-12)
    assert found.value == pytest.approx(np.sort(values)[1], rel=1e-8)
    assert graphs.connectivity(graphs.random_geometric(10**5, seed=1)).digits >= 8


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_large_random_regular_graph_is_right_to_five_digits():
    """10⁶ nodes: near the value that Alon and Friedman give for the edge of the bulk."""
    found = graphs.connectivity(graphs.random_regular(10**6, 16, seed=1))
    assert found.digits >= 5
    edge = 16 - 2 * math.sqrt(15)
    assert edge - 0.01 < found.value < edge + 0.05


MILLION = """
import re
from pathlib import Path
from sottovoce import graphs
found = graphs.connectivity(graphs.random_geometric(10**6, seed=1))
# Not ru_maxrss: on Linux that of a new program begins at the size of the process that started it.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
print(found.solver, found.digits, 1024 * int(peak))
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_geometric_graph_of_a_million_nodes_fits_into_two_gigabytes():
    """The graph, its check and its algebraic connectivity to eight digits, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", MILLION], capture_output=True, text=True, check=True)
    solver, digits, peak = done.stdout.split()
    assert solver == "multigrid"
    assert int(digits) >= 8
    assert int(peak) < 2e9
