"""The graph type: what it keeps, what it refuses, and that nobody can change it."""

from __future__ import annotations

import copy
import pickle
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import InvalidGraph, InvalidParameter
from sottovoce.graphs import validation

from .strategies import connected_graphs, edge_lists


@given(edge_lists())
def test_from_edges_keeps_the_order_of_rows_and_puts_the_smaller_end_first(made):
    """Edge index k is row k of what was given."""
    edges, n = made
    graph = sv.Graph.from_edges(edges, n)
    assert graph.edges.tolist() == [sorted(pair) for pair in edges]
    assert graph.num_nodes == n
    assert graph.num_edges == len(edges)


@given(connected_graphs())
def test_neighbour_lists_agree_with_the_edges(graph):
    """Each entry of the CSR arrays is one end of one edge, every edge appears twice, in edge order."""
    seen = []
    for node in range(graph.num_nodes):
        span = slice(graph.indptr[node], graph.indptr[node + 1])
        for neighbour, edge in zip(graph.neighbours[span], graph.incident_edges[span], strict=True):
            assert sorted((node, int(neighbour))) == graph.edges[edge].tolist()
            seen.append(int(edge))
        assert graph.incident_edges[span].tolist() == sorted(graph.incident_edges[span].tolist())
        assert graph.neighbours_of(node).tolist() == graph.neighbours[span].tolist()
    assert sorted(seen) == sorted(2 * list(range(graph.num_edges)))
    assert graph.degrees.tolist() == np.diff(graph.indptr).tolist()


@given(connected_graphs())
def test_few_edges_and_many_have_the_same_neighbour_lists(graph):
    """With and without SciPy, entry by entry."""
    incident, other_end = graph._counted(np.ascontiguousarray(graph.edges[:, ::-1]).reshape(-1))
    assert graph.incident_edges.tolist() == incident.tolist()
    assert graph.neighbours.tolist() == other_end.tolist()
    assert {array.dtype for array in (graph.incident_edges, graph.neighbours)} == {np.dtype(np.int32)}


def test_edges_of_any_integer_type_are_held_in_32_bits():
    """4·10⁷ edges must not cost 640 MB."""
    for dtype in (np.int8, np.uint16, np.int64, np.uint64, np.float64):
        graph = sv.Graph.from_edges(np.array([[1, 0], [1, 2]], dtype=dtype))
        assert graph.edges.dtype == np.int32
        assert graph.edges.tolist() == [[0, 1], [1, 2]]


def test_edges_may_come_from_any_iterable():
    """A generator of pairs, a set, a list of lists."""
    expected = sv.Graph.from_edges([(0, 1), (1, 2)])
    assert sv.Graph.from_edges((i, i + 1) for i in range(2)) == expected
    assert sv.Graph.from_edges([[0, 1], [1, 2]]) == expected
    assert sv.Graph.from_edges({(0, 1)}).num_edges == 1


def test_the_callers_array_is_neither_frozen_nor_shared():
    """Changing it afterwards changes nothing, and it can be changed."""
    mine = np.array([[0, 1], [1, 2]], dtype=np.int32)
    graph = sv.Graph.from_edges(mine)
    mine[0] = (0, 2)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("name", ["edges", "degrees", "indptr", "neighbours", "incident_edges", "positions"])
def test_arrays_are_read_only(name):
    """A graph cannot be changed through its arrays, also after a pickle or a copy."""
    for graph in (
        sv.graphs.cycle(5),
        pickle.loads(pickle.dumps(sv.graphs.cycle(5))),
        copy.deepcopy(sv.graphs.cycle(5)),
    ):
        array = getattr(graph, name)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_fields_cannot_be_assigned():
    """Frozen."""
    with pytest.raises(AttributeError):
        sv.graphs.cycle(5).num_nodes = 6  # type: ignore[misc]


@given(connected_graphs())
def test_pickles_are_equal_and_carry_nothing_worked_out(graph):
    """What can be recomputed does not travel to other processes."""
    before = len(pickle.dumps(graph))
    sv.algebraic_connectivity(graph)
    assert graph.neighbours is not None
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    assert hash(again) == hash(graph)
    assert len(pickle.dumps(graph)) == before


def test_equality_is_about_nodes_and_edges_in_order():
    """Not about names; another order of edges is another graph, because edge indices differ."""
    one = sv.Graph.from_edges([(0, 1), (1, 2)], name="one")
    assert one == sv.Graph.from_edges([(1, 0), (1, 2)], name="two")
    assert one != sv.Graph.from_edges([(1, 2), (0, 1)])
    assert one.fingerprint != sv.Graph.from_edges([(1, 2), (0, 1)]).fingerprint
    assert one != "one"


def test_repr_is_for_people():
    """Name and size."""
    assert repr(sv.graphs.cycle(10)) == "<Graph cycle(10): 10 nodes, 10 edges>"


@pytest.mark.parametrize(
    ("edges", "num_nodes", "message"),
    [
        ([], None, "empty"),
        ([(0, 1), (1, 2), (2, 2)], None, r"self-loop at node 2 \(row 2\)"),
        ([(1, 2), (0, 1), (1, 2)], None, r"\(1, 2\) more than once"),
        ([(0, -1)], None, "node -1; nodes are numbered from 0"),
        ([(0, 1), (1, 5)], 3, r"node 5, but num_nodes = 3 allows 0\.\.2"),
        ([(0, 1, 2)], None, r"shape \(m, 2\), got \(1, 3\)"),
        ([(0, 1), (2,)], None, "pairs of node numbers"),
        ([(0, 1.5)], None, "whole numbers"),
        ([(0, float("nan"))], None, "whole numbers"),
        ([("a", 1)], None, "whole numbers, or of names, got a mixture"),
        ([(True, False)], None, "whole numbers"),
        (3, None, "pairs of node numbers, got int"),
        ([(0, 10**12)], None, "num_nodes must be at most"),
        ([(0, 1)], 2**40, "num_nodes must be at most"),
    ],
)
def test_what_is_not_a_graph_is_refused_by_name(edges, num_nodes, message):
    """The message says what is wrong and where."""
    with pytest.raises(InvalidGraph, match=message):
        sv.Graph.from_edges(edges, num_nodes)


@pytest.mark.parametrize("num_nodes", [1, 2.5, True, "four"])
def test_num_nodes_must_be_a_whole_number(num_nodes):
    """At least 2."""
    with pytest.raises(InvalidParameter, match="num_nodes must be a whole number ≥ 2"):
        sv.Graph.from_edges([(0, 1)], num_nodes)


@pytest.mark.parametrize(
    ("edges", "num_nodes", "count", "nodes"),
    [
        ([(0, 1), (2, 3)], None, 2, "0 and 2"),
        ([(0, 1)], 3, 2, "0 and 2"),
        ([(0, 1)], 10, 9, "0 and 2"),
        ([(1, 2)], 3, 2, "0 and 1"),
        ([(0, 2_000_000_000)], None, 2_000_000_000, "0 and 1"),
        ([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], None, 2, "0 and 3"),
    ],
)
def test_a_disconnected_graph_is_refused_with_the_number_of_components(edges, num_nodes, count, nodes):
    """And with a node from two of them; also when naming every node would not fit in memory."""
    with pytest.raises(InvalidGraph, match=f"it has {count} components; for instance nodes {nodes} cannot"):
        sv.Graph.from_edges(edges, num_nodes)


@given(st.integers(2, 30), st.integers(0, 40), st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from([0, 20]))
def test_components_agree_with_networkx_whatever_the_size_of_the_pieces(n, m, seed, chunk, few):
    """Taking the edges a few at a time, or one by one, gives the same partition."""
    pairs = np.random.default_rng(seed).integers(n, size=(m, 2)).astype(np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "CHUNK", chunk)
        patch.setattr(validation, "FEW_EDGES", few)
        count, label = validation.components(pairs, n)
    other = nx.Graph()
    other.add_nodes_from(range(n))
    other.add_edges_from(pairs.tolist())
    parts = list(nx.connected_components(other))
    assert count == len(parts) == len(set(label.tolist()))
    for part in parts:
        assert len({int(label[node]) for node in part}) == 1


def test_the_constructor_checks_like_from_edges():
    """There is no unchecked way in."""
    graph = sv.Graph(3, [(1, 0), (1, 2)], positions=[[0, 0], [1, 0], [2, 0]])  # type: ignore[arg-type]
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.positions is not None
    with pytest.raises(InvalidGraph, match="not connected"):
        sv.Graph(4, np.array([[0, 1], [2, 3]], dtype=np.int32))
    for wrong in ([[0.0, 0.0]], [[0, 0], [1, float("nan")], [2, 0]]):
        with pytest.raises(InvalidGraph, match=r"positions must be \(3, 2\) finite"):
            sv.Graph(3, [(0, 1), (1, 2)], positions=wrong)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(0, 2**31 - 2), st.integers(0, 2**31 - 2)), min_size=1, max_size=20))
def test_edge_keys_round_trip(pairs):
    """Key and pair determine each other, for node numbers up to 31 bits."""
    array = np.array(pairs)
    keys = validation.edge_keys(array)
    assert validation.edges_of_keys(keys).tolist() == np.sort(array, axis=1).tolist()


def test_a_large_graph_needs_no_scipy(monkeypatch):
    """Checked, sorted and searched in an installation for peers as with SciPy: more edges than are few."""
    with_scipy = sv.graphs.random_regular(2100, 12, seed=3)
    monkeypatch.setitem(sys.modules, "scipy", None)
    without = sv.Graph.from_edges(with_scipy.edges)
    assert without.num_edges > validation.FEW_EDGES
    found = without.neighbours.copy(), without.incident_edges.copy(), sv.graphs.diameter_bounds(without)
    with pytest.raises(InvalidGraph, match="2 components"):
        sv.Graph.from_edges(np.concatenate([with_scipy.edges, with_scipy.edges + 2100]))
    monkeypatch.undo()
    assert np.array_equal(found[0], with_scipy.neighbours)
    assert np.array_equal(found[1], with_scipy.incident_edges)
    assert found[2] == sv.graphs.diameter_bounds(with_scipy)
