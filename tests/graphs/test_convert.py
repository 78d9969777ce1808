from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given

import sottovoce as sv
from sottovoce.errors import InvalidGraph

from .strategies import connected_graphs


@given(connected_graphs())
def test_networkx_round_trip(graph):
    """Nodes keep their numbers; edges are the same set."""
    other = graph.to_networkx()
    assert list(other.nodes) == list(range(graph.num_nodes))
    again = sv.Graph.from_networkx(other)
    assert sorted(again.edges.tolist()) == sorted(graph.edges.tolist())
    assert again.name == graph.name


@given(connected_graphs())
def test_scipy_round_trip(graph):
    """Adjacency out and in; it agrees with networkx's."""
    matrix = graph.to_scipy()
    assert np.array_equal(matrix.toarray(), nx.to_numpy_array(graph.to_networkx()))
    for form in (matrix, scipy.sparse.csc_matrix(matrix), scipy.sparse.coo_array(matrix), matrix.toarray()):
        assert sorted(sv.Graph.from_scipy(form).edges.tolist()) == sorted(graph.edges.tolist())


def test_labelled_nodes_are_numbered_in_networkx_order():
    """Names, tuples, anything hashable; edge attributes stay behind."""
    other = nx.Graph()
    other.add_edge("carl", "anna", weight=3.0)
    other.add_edge("anna", ("x", 1))
    assert sv.Graph.from_networkx(other).edges.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (nx.DiGraph([(0, 1)]), "directed graph or a multigraph"),
        (nx.MultiGraph([(0, 1)]), "directed graph or a multigraph"),
        (nx.Graph(), "empty"),
        (nx.empty_graph(3), "empty"),
        (nx.Graph([("a", "b"), ("b", "b")]), "self-loop at node 'b'"),
        (nx.Graph([("a", "b"), ("c", "d")]), "it has 2 components; for instance nodes '[ab]' and '[cd]' cannot reach"),
        (nx.disjoint_union(nx.path_graph(2), nx.empty_graph(2)), "it has 3 components"),
        ([(0, 1)], "networkx graph, got list"),
    ],
)
def test_what_networkx_allows_and_we_do_not(other, message):
    """The message uses the caller's labels."""
    with pytest.raises(InvalidGraph, match=message):
        sv.Graph.from_networkx(other)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1, 0], [1, 0, 1]], r"square, got shape \(2, 3\)"),
        ([[0, 1], [0, 0]], r"symmetric, but only one of its entries \(0, 1\) and \(1, 0\)"),
        ([[1, 1], [1, 0]], "self-loop at node 0"),
        ([[0, 1], [1, 2]], "self-loop at node 1"),
        (np.zeros((3, 3)), "empty"),
        ([[0]], "empty"),
        ([[0, np.nan], [np.nan, 0]], "finite"),
        ([["a"]], "square matrix of numbers"),
        ([1, 2, 3], "square"),
        (scipy.sparse.coo_array(np.kron(np.eye(2), [[0, 1], [1, 0]])), "2 components; for instance nodes 0 and 2"),
    ],
)
def test_matrices_that_are_not_an_adjacency(matrix, message):
    """Each with its reason."""
    with pytest.raises(InvalidGraph, match=message):
        sv.Graph.from_scipy(matrix)


def test_a_stored_zero_is_not_an_edge():
    """Explicit zeros in a sparse matrix are zeros."""
    rows, columns = [0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0]
    matrix = scipy.sparse.csr_array(([1.0, 1.0, 2.0, 2.0, 0.0, 0.0], (rows, columns)), shape=(3, 3))
    assert sv.Graph.from_scipy(matrix).edges.tolist() == [[0, 1], [1, 2]]
