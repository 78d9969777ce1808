"""What a stage may say, on a graph, for a method: everything else is refused in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidFile, InvalidInput, InvalidParameter, Unsupported
from sottovoce.simulation.changing.saving import read_stages

GRAPH = sv.graphs.cycle(6)
VALUES = np.arange(6.0)


def run(stages, method=None, graph=GRAPH, values=VALUES, **how):
    return sv.simulate(graph, values, method or sv.StandardGossip(), num_steps=40, seed=1, stages=stages, **how)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sv.Stage(-1), "start must be a whole number"),
        (lambda: sv.Stage(loss=1.0), r"loss must be finite and in \[0, 1\)"),
        (lambda: sv.Stage(down="ada"), "down must be a list of nodes, got str"),
        (lambda: sv.Stage(node_rates=np.ones(6), edge_probabilities=np.ones(6) / 6), "both say what fires"),
        (lambda: run([sv.Stage(5)]), "must begin at step 0, got 5"),
        (lambda: run([sv.Stage(), sv.Stage(9), sv.Stage(9)]), "one after the other, got 9, then 9"),
        (lambda: run(["loss"]), "must be Stage objects, got str"),
        (lambda: run(3), "must be Stage objects, got int"),
        (lambda: run(sv.Stage(down=[6])), r"down must be in 0..5, got 6"),
        (lambda: run(sv.Stage(gone=["ada"])), "gone must be a number"),
        (lambda: run(sv.Stage(gone=range(6))), "gone must leave a node, got all 6"),
        (lambda: run(sv.Stage(edges=[(0, 2)])), "among those of the graph, got one between node 0 and node 2"),
        (lambda: run(sv.Stage(edges=[(0, 1), (1, 0)])), "once each, got one twice"),
        (lambda: run(sv.Stage(edges=[])), "at least one pair of nodes"),
        (lambda: run(sv.Stage(edges=[(0, 1)], edge_probabilities=[0.5, 0.5])), r"one entry per edge \(1\)"),
        (lambda: run(sv.Stage(node_rates=[1.0, 2.0])), r"rates must be one number per node \(6\)"),
        (lambda: run(sv.Stage(node_rates=np.zeros(6))), "above 0 at some node"),
        (lambda: run(sv.Stage(values={0: 1.0})), "values of the first stage must be None"),
        (lambda: run([sv.Stage(), sv.Stage(5, values={0: "x"})]), "values of a stage must be numbers"),
        (lambda: run([sv.Stage(), sv.Stage(5, values=np.ones((6, 2)))]), r"they had before, \(6,\), got \(6, 2\)"),
        (lambda: run([sv.Stage(), sv.Stage(5, values={0: np.inf})]), "must be finite"),
    ],
)
def test_what_makes_no_sense_is_refused(make, words):
    """The sentence names the parameter and what it got."""
    with pytest.raises(InvalidInput, match=words):
        make()


@pytest.mark.parametrize(
    ("stages", "method", "words"),
    [
        (sv.Stage(loss=0.1), sv.BlockGossip(block_size=2), "in a set of edges is not defined"),
        ([sv.Stage(), sv.Stage(9, values={0: 1.0})], sv.MoMurray(1.0, 0.9), "private value changes"),
        (sv.Stage(loss=0.1), sv.BinaryOracle(step_size=0.1), "an update reads more than two nodes"),
        (sv.Stage(edge_probabilities=np.ones(6) / 6), sv.PushSum(), "does not fire one edge at a time"),
        ([sv.Stage(), sv.Stage(9, values={0: 1.0})], sv.HeavyBallGossip(momentum=0.3), "private value changes"),
        ([sv.Stage(gone=[0]), sv.Stage(9)], sv.SealedGossip(seal_std=1.0), "no node can join later"),
        (sv.Stage(gone=[0]), sv.AsynchronousPdmm.customary(GRAPH)[0], "when a neighbour leaves"),
    ],
)
def test_what_a_method_does_not_say_is_refused(stages, method, words):
    """Nothing is guessed where a method says nothing of what failing does."""
    with pytest.raises(Unsupported, match=words):
        run(stages, method)


def test_graphs_without_a_list_of_edges_and_devices_are_refused():
    """Neither a circulant graph nor a GPU runs stages."""
    from sottovoce.graphs.circulant import Circulant

    with pytest.raises(Unsupported, match="on the CPU, on a Graph"):
        run(sv.Stage(loss=0.1), graph=Circulant(6, [1]))
    with pytest.raises(Unsupported, match="on the CPU, on a Graph"):
        run(sv.Stage(loss=0.1), device="gpu")


def test_private_values_are_not_shown():
    """Neither the repr of a stage nor a sentence about its values contains any of them."""
    stage = sv.Stage(5, loss=0.25, down=[1, 2], gone=[3], values={0: 123.456})
    assert repr(stage) == "Stage(start=5, loss=0.25, down=2 nodes, gone=1 node, values=…)"
    with pytest.raises(InvalidInput) as caught:
        run([sv.Stage(), sv.Stage(5, values={0: [123.456, 1.0]})])
    assert "123" not in str(caught.value)


def test_a_file_of_stages(tmp_path):
    """A TOML file says the same as the objects, names and numbers in quotes included."""
    path = tmp_path / "changes.toml"
    path.write_text(
        '[[stage]]\nloss = 0.1\n[[stage]]\nstart = 10\ndown = [2]\nvalues = { "4" = 2.5 }\nedges = [[0, 1], [1, 2]]\n'
    )
    here = run([sv.Stage(loss=0.1), sv.Stage(10, down=[2], values={4: 2.5}, edges=[(0, 1), (1, 2)])])
    there = run(read_stages(path))
    np.testing.assert_array_equal(here.values, there.values)
    assert there.true_mean == pytest.approx((VALUES.sum() - 4 + 2.5) / 6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[stage]]\nlos = 0.1\n", "a stage has no 'los'; it may have down,"),
        ("loss = 0.1\n", r"must have tables \[\[stage\]\] and nothing else"),
        ("[[stage]]\nloss = 2\n", "loss must be finite"),
        ("[[stage", "is not a file of stages"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, text, words):
    """The sentence names the file."""
    path = tmp_path / "changes.toml"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=words) as caught:
        read_stages(path)
    assert "changes.toml" in str(caught.value)


def test_a_missing_file_is_refused(tmp_path):
    """There is no traceback of the operating system."""
    with pytest.raises(InvalidFile, match="is not a file of stages"):
        read_stages(tmp_path / "none.toml")


def test_values_by_node_are_copied_and_read_by_their_index():
    """Neither a dictionary that changes later nor the order of a pandas Series makes a difference."""
    import pandas

    given = {4: 2.5, 0: 1.5}
    stages = [sv.Stage(), sv.Stage(5, values=given)]
    series = [sv.Stage(), sv.Stage(5, values=pandas.Series([2.5, 1.5], index=[4, 0]))]
    given[4] = 9.0
    expected = (VALUES.sum() - 4 + 2.5 - 0 + 1.5) / 6
    assert run(stages).true_mean == pytest.approx(expected)
    assert run(series).true_mean == pytest.approx(expected)


def test_names_serve_as_nodes():
    """Nodes and edges of a stage may be given by name."""
    graph = sv.Graph.from_edges([("ada", "bob"), ("bob", "carol")])
    stages = [sv.Stage(), sv.Stage(2, gone=["carol"], edges=[("bob", "ada")], values={"ada": 3.0})]
    found = sv.simulate(graph, [1.0, 2.0, 9.0], sv.StandardGossip(), num_steps=5, seed=1, stages=stages)
    assert found.true_mean == 2.5
    with pytest.raises(InvalidParameter, match="down must be one of ada, bob, carol, got 'dan'"):
        sv.simulate(graph, [1.0, 2.0, 9.0], sv.StandardGossip(), num_steps=5, seed=1, stages=sv.Stage(down=["dan"]))
