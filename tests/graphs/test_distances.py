from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce import graphs
from sottovoce.errors import InvalidParameter
from sottovoce.graphs import distances

from .strategies import connected_graphs


@given(connected_graphs())
def test_the_diameter_of_a_small_graph_is_exact(graph):
    """It agrees with networkx."""
    assert graphs.diameter(graph) == nx.diameter(graph.to_networkx())
    assert graphs.diameter_bounds(graph) == (graphs.diameter(graph), graphs.diameter(graph))


@given(connected_graphs(), st.integers(0, 10**6))
def test_distances_agree_with_networkx(graph, pick):
    """From any node to all."""
    node = pick % graph.num_nodes
    expected = nx.single_source_shortest_path_length(graph.to_networkx(), node)
    assert graphs.distances_from(graph, node).tolist() == [expected[i] for i in range(graph.num_nodes)]


@given(connected_graphs(max_nodes=40))
def test_the_bounds_for_large_graphs_enclose_the_diameter(graph):
    """Lower ≤ diameter ≤ upper ≤ twice the diameter."""
    lower, upper = distances._sweeps(graph)
    assert lower <= nx.diameter(graph.to_networkx()) <= upper <= 2 * nx.diameter(graph.to_networkx())


def test_large_trees_and_geometric_graphs_are_bounded_well():
    """On a tree the sweeps are exact; on a geometric graph within a third."""
    tree = sv.Graph.from_edges([(i, (i - 1) // 2) for i in range(1, 4095)])
    assert graphs.diameter_bounds(tree) == (22, 22)
    lower, upper = graphs.diameter_bounds(graphs.random_geometric(3000, seed=1))
    assert lower <= upper <= 4 * lower / 3


@pytest.mark.parametrize("node", [-1, 10, 1.5, True])
def test_an_unknown_node_is_an_error(node):
    """Named with its range."""
    with pytest.raises(InvalidParameter, match=r"node must be in 0\.\.9, got"):
        graphs.distances_from(graphs.cycle(10), node)


@given(connected_graphs())
def test_few_nodes_and_many_have_the_same_diameter(graph):
    """With and without SciPy."""
    few = distances._every_node(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "FEW_NODES", 0)
        assert distances._every_node(graph) == few


@given(connected_graphs(), st.integers(0, 10**6))
def test_a_search_without_scipy_finds_the_same(graph, pick):
    """Node by node or by SciPy's search."""
    node = pick % graph.num_nodes
    assert distances._walk(graph, node).tolist() == graphs.distances_from(graph, node).tolist()
