"""The model of exchanges: who is hidden among whom."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.privacy import CuriousNodes, Pooled, WireTap
from sottovoce.privacy.analysers.model import hidden_groups


@given(seed=st.integers(0, 500), curious=st.sets(st.integers(0, 11), max_size=4), taps=st.sets(st.integers(0, 10)))
def test_groups_are_the_components_of_what_is_not_heard(seed: int, curious: set[int], taps: set[int]) -> None:
    """Take away the observers and the heard edges; what hangs together is a group, in increasing order."""
    graph = sv.graphs.erdos_renyi(12, 0.3, seed=seed)
    view = Pooled(*([CuriousNodes(curious)] if curious else []), WireTap(taps or {0}))
    rest = nx.Graph(graph.edges[~view.heard_edges(graph)].tolist())
    rest.add_nodes_from(set(range(12)) - curious)
    rest.remove_nodes_from(curious)
    group_of, groups = hidden_groups(graph, view)
    assert sorted(group.tolist() for group in groups) == sorted(sorted(part) for part in nx.connected_components(rest))
    for k, members in enumerate(groups):
        assert (group_of[members] == k).all()
    assert np.flatnonzero(group_of < 0).tolist() == sorted(curious)
