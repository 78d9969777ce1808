"""What others can know about a running member: from its roster, and from those of its own edges that are sealed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.graphs import Graph
from sottovoce.peer.membership.exposure import what_others_know, what_others_learn
from sottovoce.privacy.gaussian.seals import sealed_std

from .town import roster

PRIOR = 100.0 / math.sqrt(12.0)


@pytest.mark.parametrize("graph", [graphs.complete(4), graphs.cycle(6), graphs.path(4)], ids=["K4", "C6", "P4"])
def test_with_all_edges_sealed_it_is_what_the_table_said(graph: Graph) -> None:
    """Before the start and while it runs, the same worst member and the same worst pair."""
    whole = roster(graph)
    for row in what_others_learn(whole):
        known = what_others_know(whole, row[0], whole.neighbours_of(row[0]))
        assert (f"± {known.beforehand:.3g}", known.one, known.two) == row[1:4]
        assert known.unsealed == ()


def test_an_edge_that_never_opened_hides_nothing() -> None:
    """K4, only the edge to p1 sealed: p1 reads the value, p2 is left with the seal of the edge to p1."""
    whole = roster(graphs.complete(4))
    known = what_others_know(whole, "p0", ["p1"])
    assert known.unsealed == ("p2", "p3")
    assert known.neighbours["p1"] == 0.0
    assert known.one == "exactly (p1)"
    edges = [edge for edge in whole.graph.edges.tolist() if edge not in ([0, 2], [0, 3])]
    for name, index in (("p2", 2), ("p3", 3)):
        left = sealed_std(np.array(edges), 4, [index], seal_std=300.0, prior_std=PRIOR)[0]
        assert known.neighbours[name] == pytest.approx(left, rel=1e-12)
        assert 0.0 < left < PRIOR


def test_without_any_seal_everybody_may_know_it() -> None:
    """Nothing is promised of seals that do not exist."""
    known = what_others_know(roster(graphs.cycle(5)), "p0", [])
    assert set(known.neighbours.values()) == {0.0}
    assert known.unsealed == ("p1", "p4")


def test_many_pairs_are_not_tried() -> None:
    """A status must not take minutes: it says so instead."""
    known = what_others_know(roster(graphs.cycle(40)), "p0", ["p1", "p39"])
    assert known.two == "not tried"
    assert known.one != "not tried"
    large = what_others_know(roster(graphs.cycle(120)), "p0", ["p1", "p119"])
    assert large.one.endswith(", of the neighbours")
