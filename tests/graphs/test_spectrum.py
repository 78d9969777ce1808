from __future__ import annotations

import math
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce import graphs
from sottovoce.errors import InvalidParameter, NumericalFailure
from sottovoce.graphs import solvers, spectrum
from sottovoce.graphs.lanczos import lanczos
from sottovoce.graphs.ritz import Estimate, Problem

from .strategies import connected_graphs, without_family

FAMILIES = [
    *(graphs.cycle(n) for n in (3, 4, 5, 10, 37)),
    *(graphs.path(n) for n in (2, 3, 10, 41)),
    *(graphs.complete(n) for n in (2, 3, 9)),
    *(graphs.star(n) for n in (2, 3, 4, 12)),
    *(graphs.grid(*size) for size in ((1, 2), (2, 1), (2, 2), (1, 7), (3, 5), (6, 6))),
    *(graphs.torus(*size) for size in ((3, 3), (3, 7), (4, 4))),
    *(graphs.hypercube(d) for d in (1, 2, 5)),
]

# One graph per character: multiple α (cycle, square grid, torus, hypercube, star, complete), crowded (regular),
# a bottleneck (barbell), hubs (Barabási–Albert), a tree, something geometric. All with at least 25 nodes.
VARIED = [
    graphs.cycle(60),
    graphs.path(50),
    graphs.grid(7, 7),
    graphs.torus(5, 8),
    graphs.hypercube(6),
    graphs.star(40),
    graphs.complete(30),
    graphs.barbell(15, 4),
    graphs.random_regular(80, 3, seed=1),
    graphs.barabasi_albert(90, 2, seed=1),
    graphs.barabasi_albert(60, 1, seed=1),
    graphs.random_geometric(100, seed=1),
]


def problem(graph: sv.Graph, weights: np.ndarray | None = None) -> Problem:
    return Problem(graph.num_nodes, graph.edges, weights)


def second_smallest(graph: sv.Graph, weights: np.ndarray | None = None) -> float:
    return float(np.linalg.eigvalsh(graphs.laplacian(graph, weights).toarray())[1])


# -- the answer --------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", FAMILIES, ids=lambda g: g.name)
def test_closed_forms_equal_the_eigensolver(graph):
    """For every family that has one, also at n = 2 where several families meet in one edge."""
    exact = graphs.connectivity(graph)
    assert exact.solver == "closed form"
    assert exact.value == pytest.approx(second_smallest(graph), rel=1e-11)
    assert graphs.connectivity(without_family(graph)).solver == "dense"
    assert sv.algebraic_connectivity(without_family(graph)) == pytest.approx(exact.value, rel=1e-12)


def test_closed_forms_do_not_lose_digits_on_long_rings():
    """2(1 − cos x) would be off in the seventh digit at n = 10⁶; the series says what it is."""
    x = 2 * math.pi / 10**6
    assert sv.algebraic_connectivity(graphs.cycle(10**6)) == pytest.approx(x**2 - x**4 / 12, rel=1e-14)


@given(connected_graphs())
def test_any_small_graph_agrees_with_networkx(graph):
    """And the examination supports twelve digits."""
    found = graphs.connectivity(graph)
    expected = np.sort(nx.laplacian_spectrum(graph.to_networkx()))[1]
    assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert found.digits >= 10
    assert found.lower_bound is not None
    assert found.lower_bound <= expected * (1 + 1e-9) + 1e-13


@pytest.mark.filterwarnings("default")
def test_a_middling_graph_agrees_with_networkx():
    """Above the dense size, where the solvers of networkx still work."""
    graph = graphs.watts_strogatz(1500, 6, 0.2, seed=3)
    expected = nx.algebraic_connectivity(graph.to_networkx(), method="lanczos", tol=1e-12, seed=1)
    assert sv.algebraic_connectivity(graph) == pytest.approx(expected, rel=1e-8)


def test_the_laplacian_is_degrees_minus_adjacency():
    """As networkx has it."""
    graph = graphs.random_geometric(30, seed=1)
    assert np.array_equal(graphs.laplacian(graph).toarray(), nx.laplacian_matrix(graph.to_networkx()).toarray())


# -- weights -----------------------------------------------------------------------------------------


@given(connected_graphs(), st.integers(0, 2**32 - 1))
def test_weighted_connectivity_is_that_of_the_weighted_laplacian(graph, seed):
    """L_p = Σ p_e b_e b_eᵀ, built here from its definition."""
    weights = np.random.default_rng(seed).uniform(0.1, 2.0, graph.num_edges)
    incidence = np.zeros((graph.num_edges, graph.num_nodes))
    rows = np.arange(graph.num_edges)
    incidence[rows, graph.edges[:, 0]], incidence[rows, graph.edges[:, 1]] = 1, -1
    matrix = incidence.T @ np.diag(weights) @ incidence
    assert np.allclose(graphs.laplacian(graph, weights).toarray(), matrix, atol=1e-14)
    assert sv.algebraic_connectivity(graph, weights) == pytest.approx(
        np.linalg.eigvalsh(matrix)[1], rel=1e-9, abs=1e-12
    )


def test_equal_weights_scale_the_closed_form():
    """Uniform edge probabilities 1/m give α/m, without a solver, also when α is far too large to compute."""
    graph = graphs.cycle(10**5)
    found = graphs.connectivity(graph, np.full(10**5, 1e-5))
    assert found.solver == "closed form"
    assert found.value == pytest.approx(1e-5 * sv.algebraic_connectivity(graph), rel=1e-12)


def test_a_very_weak_link_keeps_its_digits():
    """Two cliques joined by an edge of weight w have α ≈ 2w/n·(…): relative accuracy, far below rounding of L."""
    graph = graphs.barbell(10)
    bridge = int(np.flatnonzero((graph.edges == (9, 10)).all(axis=1))[0])
    for weight in (1e-6, 1e-12, 1e-20):
        weights = np.ones(graph.num_edges)
        weights[bridge] = weight
        # To first order in w the eigenvector is ±1 on the cliques: α = w·2²/20.
        assert sv.algebraic_connectivity(graph, weights) == pytest.approx(weight / 5, rel=1e-5)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0], r"weights must have shape \(3,\), one per edge, got \(2,\)"),
        ([[1.0], [1.0], [1.0]], r"got \(3, 1\)"),
        ([1.0, 0.0, 1.0], "finite and above 0, got 0.0 for edge 1"),
        ([1.0, 1.0, -2.0], "finite and above 0, got -2.0 for edge 2"),
        ([1.0, float("nan"), 1.0], "finite and above 0, got nan for edge 1"),
        ([float("inf"), 1.0, 1.0], "finite and above 0, got inf for edge 0"),
        (["a", "b", "c"], "weights must be numbers"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    """One positive number per edge."""
    with pytest.raises(InvalidParameter, match=message):
        sv.algebraic_connectivity(graphs.cycle(3), weights)
    with pytest.raises(InvalidParameter, match=message):
        graphs.laplacian(graphs.cycle(3), weights)


# -- the solvers, forced on small graphs -------------------------------------------------------------

SOLVERS = {
    "lanczos": lambda p: lanczos(p, patient=True),
    "factorised": lambda p: solvers.factorised(p, envelope_limit=math.inf),
    "factorised, own ordering": lambda p: solvers.factorised(p, fill_reducing=True),
    "multigrid": solvers.multigrid,
}


@pytest.mark.parametrize("graph", VARIED, ids=lambda g: g.name)
@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_equals_the_dense_one(name, graph):
    """On every kind of graph, and its own error bound covers what it is off by."""
    exact = solvers.dense(problem(graph)).value
    found = SOLVERS[name](problem(graph))
    assert found is not None
    off = abs(found.value - exact)
    assert off <= 1e-9 * exact
    assert off <= found.error + 1e-13
    assert found.residual < 1e-3


def test_large_graphs_take_the_single_precision_way_unless_more_digits_are_asked_for(monkeypatch):
    """Five digits at half the price; with ``digits=9``, double precision."""
    graph = graphs.random_regular(1500, 8, seed=1)
    precise = graphs.connectivity(graph)
    assert precise.digits >= 8
    monkeypatch.setattr(spectrum, "SINGLE_PRECISION_WORK", 0)
    quick = graphs.connectivity(without_family(graph))
    assert quick.solver == "lanczos"
    assert 5 <= quick.digits < 8
    assert abs(quick.value - precise.value) <= quick.error
    assert graphs.connectivity(without_family(graph), digits=9).digits >= 9


def test_single_precision_is_good_for_five_digits():
    """On graphs for Lanczos; the examination is in double precision and knows."""
    for graph in (graphs.random_regular(2000, 8, seed=1), graphs.hypercube(10), graphs.erdos_renyi(800, 0.02, seed=1)):
        double, single = lanczos(problem(graph)), lanczos(problem(graph), single=True, tolerance=5e-6)
        assert abs(single.value - double.value) <= single.error + double.error
        assert single.error <= 1e-5 * single.value


@given(connected_graphs(min_nodes=25, max_nodes=60), st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", ["lanczos", "factorised", "multigrid"])
def test_solvers_equal_the_dense_one_on_random_weighted_graphs(name, graph, seed):
    """Weights over three orders of magnitude."""
    weights = 10 ** np.random.default_rng(seed).uniform(-3, 0, graph.num_edges)
    exact = solvers.dense(problem(graph, weights)).value
    found = SOLVERS[name](problem(graph, weights))
    assert found is not None
    assert abs(found.value - exact) <= max(1e-8 * exact, 2 * found.error)
    assert found.error <= 1e-3 * exact


@pytest.mark.parametrize("graph", VARIED, ids=lambda g: g.name)
def test_factorising_counts_eigenvalues(graph):
    """The lower bound is below α and close to it."""
    exact = solvers.dense(problem(graph)).value
    found = SOLVERS["factorised"](problem(graph))
    assert found.lower_bound is not None
    assert exact * (1 - 2e-3) <= found.lower_bound <= exact


@given(connected_graphs(min_nodes=4), st.floats(0.01, 0.99))
def test_the_count_of_eigenvalues_is_right(graph, share):
    """Sylvester's law against the full spectrum, for a shift anywhere in it."""
    spectrum_ = np.linalg.eigvalsh(graphs.laplacian(graph).toarray())
    shift = share * spectrum_[-1]
    counted = solvers._eigenvalues_below(graphs.laplacian(graph), shift, fill_reducing=True)
    if np.abs(spectrum_ - shift).min() > 1e-9:
        assert counted in {None, int((spectrum_ < shift).sum())}


def test_the_count_finds_an_eigenvalue_that_was_missed():
    """An answer that is a true eigenvalue, with no residual at all, but the wrong one."""
    graph = graphs.path(40)
    wrong = 4 * math.sin(2 * math.pi / 80) ** 2  # the third smallest
    assert solvers.with_count(problem(graph), Estimate(wrong, 1e-15, 1e-15)) is None
    right = 4 * math.sin(math.pi / 80) ** 2
    counted = solvers.with_count(problem(graph), Estimate(right, 1e-15, 1e-15))
    assert counted is not None
    assert counted.lower_bound == pytest.approx(right, rel=1e-8)


def test_a_graph_with_bottlenecks_is_not_for_lanczos():
    """It gives up early instead of iterating for ever, and a wide envelope is not for the factor."""
    assert lanczos(problem(graphs.cycle(5000))) is None
    assert solvers.factorised(problem(graphs.random_regular(1000, 8, seed=1))) is None


@pytest.mark.parametrize(
    ("graph", "solver"),
    [
        (graphs.cycle(2000), "factorised"),
        (graphs.grid(50, 60), "multigrid"),
        (graphs.torus(40, 40), "multigrid"),
        (graphs.hypercube(11), "lanczos"),
        (graphs.star(1000), None),
        (graphs.complete(700), None),
    ],
    ids=lambda g: g.name if isinstance(g, sv.Graph) else "",
)
def test_the_sparse_way_agrees_with_the_closed_form(graph, solver):
    """Above the dense size, with the family forgotten: nine digits, by the solver meant for it."""
    found = graphs.connectivity(without_family(graph))
    assert found.solver != "closed form"
    if solver is not None:
        assert found.solver == solver
    assert found.value == pytest.approx(sv.algebraic_connectivity(graph), rel=1e-9)
    assert found.digits >= 8


def test_without_multigrid_a_factorisation_takes_over(monkeypatch):
    """Same value, and counted."""
    monkeypatch.setitem(sys.modules, "pyamg", None)
    assert not solvers.has_multigrid()
    assert solvers.multigrid(problem(graphs.grid(30, 30))) is None
    found = graphs.connectivity(without_family(graphs.grid(30, 30)))
    assert found.solver == "factorised"
    assert found.lower_bound is not None
    assert found.value == pytest.approx(sv.algebraic_connectivity(graphs.grid(30, 30)), rel=1e-10)


def test_multigrid_leaves_the_global_random_state_alone():
    """pyamg draws from it; whoever uses it sees nothing."""
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    solvers.multigrid(problem(graphs.grid(20, 20)))
    assert np.random.random() == expected  # noqa: NPY002


def test_the_answer_does_not_depend_on_chance():
    """Twice the same graph, twice the same bits."""
    graph = graphs.random_geometric(3000, seed=2)
    assert graphs.connectivity(graph) == graphs.connectivity(without_family(graph))


# -- accuracy, failure, memory -----------------------------------------------------------------------


def test_counting_on_request():
    """Lanczos cannot count; asked to, we do."""
    graph = graphs.random_geometric(1200, seed=1)
    plain = graphs.connectivity(graph)
    assert plain.lower_bound is None
    counted = graphs.connectivity(graph, count=True)
    assert counted.lower_bound is not None
    assert counted.value * (1 - 2e-3) < counted.lower_bound < counted.value
    assert graphs.connectivity(graph) is counted


def test_results_are_remembered_per_graph_and_weights(monkeypatch):
    """The second question costs nothing; more digits are worked out anew."""
    graph = graphs.random_geometric(60, seed=1)
    weights = np.linspace(1, 2, graph.num_edges)
    first, weighted = graphs.connectivity(graph), graphs.connectivity(graph, weights)
    monkeypatch.setattr(spectrum, "_solve", None)
    assert graphs.connectivity(graph) is first
    assert graphs.connectivity(graph, weights.tolist()) is weighted
    assert sv.algebraic_connectivity(graph) == first.value
    with pytest.raises(TypeError):
        graphs.connectivity(graph, weights[::-1])


def test_only_a_few_weightings_are_remembered():
    """Asking for a thousand does not fill the memory."""
    graph = graphs.path(3)
    for weight in range(1, 30):
        graphs.connectivity(graph, [1.0, float(weight)])
    assert len(graph.__dict__["_connectivity"]) <= spectrum.CACHED_RESULTS


def test_an_answer_whose_check_fails_is_not_given(monkeypatch):
    """NumericalFailure, with what each solver reached."""
    monkeypatch.setattr(solvers, "dense", lambda p: Estimate(0.5, 0.1, 0.1))
    with pytest.raises(NumericalFailure, match=r"was not found to 5 digits \(dense: 0.5 ± 0.1\)"):
        graphs.connectivity(graphs.barbell(5))


def test_a_failing_solver_is_followed_by_the_next(monkeypatch):
    """Until one passes; the failure names them all, and the missing package."""
    graph = graphs.random_regular(700, 4, seed=1)
    monkeypatch.setattr("sottovoce.graphs.lanczos.lanczos", lambda p, **_: Estimate(1.0, 0.5, 0.5))
    assert graphs.connectivity(graph).solver == "multigrid"
    monkeypatch.setattr(solvers, "has_multigrid", lambda: False)
    monkeypatch.setattr(solvers, "factorised", lambda p, **_: None)
    with pytest.raises(NumericalFailure, match=r"lanczos: 1 ± 0\.5; factorised: not for this graph.*sottovoce\[amg\]"):
        graphs.connectivity(without_family(graph))


def test_an_eigenvalue_above_an_independent_bound_is_not_believed(monkeypatch):
    """A solver that swears by the wrong eigenvalue, without a residual: the distances from a far end know better."""
    wrong = 4 * math.sin(2 * math.pi / 180) ** 2  # grid(20, 90) has α = 4 sin²(π/180)
    monkeypatch.setattr("sottovoce.graphs.lanczos.lanczos", lambda p, **_: None)
    monkeypatch.setattr(solvers, "factorised", lambda p, **_: None)
    monkeypatch.setattr(solvers, "multigrid", lambda p, **_: Estimate(wrong, 0.0, 1e-18))
    with pytest.raises(NumericalFailure, match="above a bound on it, so the smallest was missed"):
        graphs.connectivity(without_family(graphs.grid(20, 90)))


@given(connected_graphs(), st.integers(0, 2**32 - 1))
def test_independent_bounds_are_bounds(graph, seed):
    """α never exceeds them, with weights or without."""
    weights = np.random.default_rng(seed).uniform(0.01, 1, graph.num_edges)
    for given_ in (None, weights):
        exact = solvers.dense(problem(graph, given_)).value
        for solver in ("lanczos", "multigrid"):
            assert exact <= spectrum._upper_bound(problem(graph, given_), solver) * (1 + 1e-9)


@pytest.mark.parametrize("digits", [0, 13, -1, True, 2.5, "eight"])
def test_digits_have_a_range(digits):
    """1 to 12."""
    with pytest.raises(InvalidParameter, match="digits must be a whole number from 1 to 12"):
        graphs.connectivity(graphs.cycle(5), digits=digits)


def test_more_digits_on_request():
    """Twelve, where eight are the rule."""
    graph = graphs.random_regular(1500, 4, seed=1)
    assert graphs.connectivity(graph, digits=12).digits >= 12


# -- large -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("graph", [graphs.cycle(10**5), graphs.grid(1000, 1000)], ids=lambda g: g.name)
def test_large_graphs_are_right_to_eight_digits(graph):
    """The closed form is the judge, the solver does not know it."""
    found = graphs.connectivity(without_family(graph))
    assert found.digits >= 8
    assert found.value == pytest.approx(sv.algebraic_connectivity(graph), rel=1e-9)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_large_geometric_graph_agrees_with_an_independent_solver():
    """RGG(10⁵) by multigrid, and by ARPACK in shift-invert mode on a grounded factor."""
    import scipy.sparse
    import scipy.sparse.linalg

    graph = graphs.random_geometric(20_000, seed=1)
    found = solvers.multigrid(problem(graph))
    matrix = scipy.sparse.csc_matrix(graphs.laplacian(graph))
    values = scipy.sparse.linalg.eigsh(matrix, k=3, sigma=-1e-3, which="LM", return_eigenvectors=False, tol=1e-12)
    assert found.value == pytest.approx(np.sort(values)[1], rel=1e-8)
    large = graphs.connectivity(graphs.random_geometric(10**5, seed=1))
    assert large.digits >= 8


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_large_random_regular_graph_is_right_to_five_digits():
    """10⁶ nodes: near the value that Alon and Friedman give for the bulk's edge, and consistent with it."""
    found = graphs.connectivity(graphs.random_regular(10**6, 16, seed=1))
    assert found.digits >= 5
    edge = 16 - 2 * math.sqrt(15)
    assert edge - 0.01 < found.value < edge + 0.05
