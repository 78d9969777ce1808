"""Nodes with names, from wherever a graph comes to wherever a node is asked for or shown."""

from __future__ import annotations

import json
import pickle

import networkx as nx
import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.graphs.convert import edge_probabilities

PAIRS = [("ada", "bob"), ("bob", "carol"), ("carol", "dora"), ("dora", "ada")]
FOUR = sv.Graph.from_edges(PAIRS)
VALUES = {"dora": 4.0, "ada": 1.0, "carol": 3.0, "bob": 2.0}
NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)


def test_names_are_numbered_as_they_appear():
    """The graph is that of the numbers; names go both ways."""
    assert FOUR.labels == ("ada", "bob", "carol", "dora")
    assert sv.graphs.cycle(4) == FOUR
    assert [FOUR.node(name) for name in FOUR.labels] == [0, 1, 2, 3]
    assert (FOUR.node(2), FOUR.label(2), sv.graphs.cycle(4).label(2)) == (2, "carol", "node 2")
    assert pickle.loads(pickle.dumps(FOUR)).labels == FOUR.labels
    assert sv.Graph(4, FOUR.edges, labels=("a", "b", "c", "d")).node("d") == 3


def test_tables_of_pandas_and_networkx_keep_their_names():
    """Two columns of names; nodes of networkx in its order; numbers 0, 1, … stay numbers."""
    pd = pytest.importorskip("pandas")
    assert sv.Graph.from_edges(pd.DataFrame(PAIRS, columns=["from", "to"])).labels == FOUR.labels
    drawn = nx.Graph(PAIRS)
    assert sv.Graph.from_networkx(drawn).labels == FOUR.labels
    assert FOUR.to_networkx().adj == drawn.adj
    assert sv.Graph.from_networkx(nx.cycle_graph(4)).labels is None
    assert sv.Graph.from_networkx(nx.Graph([(10, 30), (30, 20)])).labels == ("10", "30", "20")


def test_polars_too():
    """A polars frame has two columns as well."""
    pl = pytest.importorskip("polars")
    assert sv.Graph.from_edges(pl.DataFrame(PAIRS, schema=["from", "to"], orient="row")).labels == FOUR.labels


@pytest.mark.parametrize("name", ["edges.csv", "edges.txt", "edges.parquet"])
def test_files_of_names(tmp_path, name):
    """What is written is read again, names and all."""
    FOUR.to_file(tmp_path / name)
    again = sv.Graph.from_file(tmp_path / name)
    assert (again, again.labels) == (FOUR, FOUR.labels)


def test_a_heading_spaces_and_a_byte_order_mark(tmp_path):
    """As spreadsheets write it."""
    path = tmp_path / "edges.csv"
    path.write_bytes("\ufeffsource,target\r\nAda L, Bob\r\nBob,Carol # a friend\r\n".encode())
    assert sv.Graph.from_file(path).labels == ("Ada L", "Bob", "Carol")
    path.write_text("ada bob\nbob\n")
    with pytest.raises(errors.InvalidFile, match=r"line 2: expected two names, got 'bob'"):
        sv.Graph.from_file(path)
    path.write_text("0 1\n1 bob\n")
    with pytest.raises(errors.InvalidFile, match="line 2: expected two whole numbers or two names"):
        sv.Graph.from_file(path)


def test_a_name_that_text_cannot_keep_is_not_written(tmp_path):
    """It would come back as another name, or as a number."""
    odd = sv.Graph.from_edges([("a,b", "c"), ("c", "7")])
    with pytest.raises(errors.InvalidGraph, match=r"cannot be kept in a text file of edges; write a \.parquet file"):
        odd.to_file(tmp_path / "edges.csv")
    assert list(tmp_path.iterdir()) == []
    odd.to_file(tmp_path / "edges.parquet")
    assert sv.Graph.from_file(tmp_path / "edges.parquet").labels == ("a,b", "c", "7")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("ada", "ada"), ("ada", "bob")], "self-loop at node ada"),
        ([("ada", "bob"), ("bob", "ada")], r"\(ada, bob\) more than once"),
        ([("ada", "bob"), ("carol", "dora")], "nodes ada and carol cannot reach each other"),
        ([("ada", ""), ("ada", "bob")], "labels must not be empty"),
        ([("ada", 1), ("ada", 2)], "whole numbers, or of names"),
    ],
)
def test_what_is_wrong_is_said_with_names(edges, message):
    """Not with the numbers that only we know."""
    with pytest.raises(errors.InvalidGraph, match=message):
        sv.Graph.from_edges(np.array(edges, dtype=object))


def test_labels_must_fit():
    """One distinct name per node."""
    for labels, message in [(("a",), "one name per node"), (("a", "b", "c", "a"), "distinct, got 'a' twice")]:
        with pytest.raises(errors.InvalidGraph, match=message):
            sv.Graph(4, FOUR.edges, labels=labels)


def test_values_by_name_in_any_order():
    """A mapping or a Series with an index: the run is that of the numbers in the order of the nodes."""
    pd = pytest.importorskip("pandas")
    wanted = sv.simulate(FOUR, [1.0, 2.0, 3.0, 4.0], NOISY, num_steps=50, seed=3)
    for given in (VALUES, pd.Series(VALUES)):
        run = sv.simulate(FOUR, given, NOISY, num_steps=50, seed=3)
        np.testing.assert_array_equal(run.values, wanted.values)
    by_number = pd.Series([4.0, 1.0, 3.0, 2.0], index=[3, 0, 2, 1])
    run = sv.simulate(sv.graphs.cycle(4), by_number, NOISY, num_steps=50, seed=3)
    np.testing.assert_array_equal(run.values, wanted.values)
    vectors = {name: [value, 0.0] for name, value in VALUES.items()}
    assert sv.simulate(FOUR, vectors, NOISY, num_steps=5, seed=3).private_values[:, 0].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eve": 5.0}, "one of ada, bob, carol, dora, got 'eve'"),
        ({"bob": None}, "none for bob"),
        ({2: 9.0}, "two for carol"),
    ],
)
def test_values_that_do_not_fit_are_refused_without_showing_one(change, message):
    """Unknown, missing, twice: names are said, values are not."""
    given = {key: value for key, value in {**VALUES, **change}.items() if value is not None}
    with pytest.raises(errors.InvalidValues, match=message) as caught:
        sv.simulate(FOUR, given, NOISY, num_steps=5)
    assert not any(str(value) in str(caught.value) for value in (1.0, 2.0, 3.0, 4.0, 5.0, 9.0))


def test_complex_values_are_refused():
    """Their imaginary parts used to be dropped."""
    with pytest.raises(errors.InvalidValues, match="real numbers, got complex"):
        sv.simulate(FOUR, [1.0, 2j, 3.0, 4.0], NOISY, num_steps=5)


def test_observers_by_name():
    """A view takes names or numbers, and what is said of it has names."""
    fired = sv.simulate(FOUR, VALUES, NOISY, num_steps=80, seed=3).fired_edges()
    named = sv.privacy.audit(FOUR, NOISY, fired, sv.privacy.CuriousNodes(["carol"]), prior_std=1.0)
    number = sv.privacy.audit(FOUR, NOISY, fired, sv.privacy.CuriousNodes([2]), prior_std=1.0)
    np.testing.assert_array_equal(named.posterior_std, number.posterior_std)
    assert "Curious carol can estimate the private value of" in named.sentence()
    assert FOUR.label(named.most_exposed) in named.sentence()
    assert named.rows()[1]["label"] == "bob"
    tapped = sv.privacy.WireTap([("bob", "ada")]).heard_edges(FOUR)
    assert tapped.tolist() == [True, False, False, False]
    assert sv.privacy.EveryoneBut("dora").observers(FOUR).tolist() == [True, True, True, False]
    with pytest.raises(errors.InvalidParameter, match="one of ada, bob, carol, dora, got 'eve'"):
        sv.privacy.audit(FOUR, NOISY, fired, sv.privacy.CuriousNodes(["eve"]))
    with pytest.raises(errors.InvalidParameter, match="the nodes of this graph have no names"):
        sv.privacy.audit(sv.graphs.cycle(4), NOISY, fired, sv.privacy.CuriousNodes(["ada"]))
    with pytest.raises(errors.InvalidParameter, match=r"must be a list: \['ada'\]"):
        sv.privacy.CuriousNodes("ada")


def test_a_saved_run_keeps_the_names(tmp_path):
    """Loaded, resumed, asked again."""
    run = sv.simulate(FOUR, VALUES, NOISY, num_steps=20, seed=3)
    run.save(tmp_path / "run.npz")
    assert sv.Solution.load(tmp_path / "run.npz").graph.labels == FOUR.labels


def test_weights_become_chances_when_asked():
    """In the order of the graph's own edges; refused where there is none."""
    drawn = nx.Graph()
    drawn.add_weighted_edges_from([("ada", "bob", 3), ("bob", "carol", 1)])
    chances = edge_probabilities(drawn)
    assert chances.tolist() == [0.75, 0.25]
    graph = sv.Graph.from_networkx(drawn)
    sv.simulate(graph, [1, 2, 3], NOISY, num_steps=5, edge_probabilities=chances)
    drawn.add_edge("carol", "ada")
    with pytest.raises(errors.InvalidGraph, match="must have the attribute 'weight'"):
        edge_probabilities(drawn)


def test_names_on_the_command_line(tmp_path, capsys):
    """Graph, values and observer by name, in the table and in JSON."""
    from sottovoce.cli.main import main

    FOUR.to_file(tmp_path / "friends.csv")
    (tmp_path / "values.csv").write_text("who,value\n" + "".join(f"{who},{value}\n" for who, value in VALUES.items()))
    where = ["--graph", str(tmp_path / "friends.csv")]
    for arguments in (
        ["audit", *where, "--observer", "carol", "--json"],
        ["audit", *where, "--tap", "ada-bob", "--json"],
        ["compare", *where, "--values", str(tmp_path / "values.csv"), "-m", "standard", "--observer", "bob", "--json"],
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        found = json.loads(capsys.readouterr().out)
    assert found["observers"] == ["bob"]
    with pytest.raises(SystemExit) as ended:
        main(["audit", *where, "--observer", "carol"])
    assert "Curious carol" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["audit", *where, "--observer", "eve"])
    assert ended.value.code == 2
    assert "one of ada, bob, carol, dora" in capsys.readouterr().err


def test_a_picture_has_the_names():
    """Below the nodes, and in the legend of the curves."""
    fired = sv.simulate(FOUR, VALUES, NOISY, num_steps=80, seed=3).fired_edges()
    report = sv.privacy.audit(FOUR, NOISY, fired, sv.privacy.CuriousNodes(["carol"]), prior_std=1.0)
    legend = report.plot().get_legend()
    assert "dora" in [text.get_text() for text in legend.get_texts()]
    words = {text.get_text() for text in sv.plotting.plot_knowledge(report).texts}
    assert {"ada", "bob", "carol", "dora"} <= words


ONE_TO_FOUR = sv.Graph.from_networkx(nx.Graph([(1, 2), (2, 3), (3, 4)]))


def test_a_number_that_could_be_a_name_is_refused():
    """Nodes 1 to 4 of networkx: 1 is the name of number 0 and the number of name 2; text is always the name."""
    assert ONE_TO_FOUR.labels == ("1", "2", "3", "4")
    assert [ONE_TO_FOUR.node(name) for name in "1234"] == [0, 1, 2, 3]
    assert ONE_TO_FOUR.node(0) == 0  # nobody is named 0
    says = r"must say which one is meant, got 1: node number 0 is named 1, node number 1 is named 2; .* as text, '1'"
    for one in (1, np.int64(1)):
        with pytest.raises(errors.InvalidParameter, match=says):
            ONE_TO_FOUR.node(one)
    with pytest.raises(
        errors.InvalidParameter, match="got 4: node number 3 is named 4; a name is written as text, '4'"
    ):
        ONE_TO_FOUR.node(4)
    assert sv.Graph.from_edges([("0", "1"), ("1", "ada")]).node(1) == 1  # both readings are the same node


@pytest.mark.parametrize(
    "ask",
    [
        lambda: sv.simulate(ONE_TO_FOUR, [1, 2, 3, 4], NOISY, num_steps=5, stages=[sv.Stage(), STAGE]),
        lambda: sv.simulate(ONE_TO_FOUR, [1, 2, 3, 4], NOISY, num_steps=5, stages=sv.Stage(gone=[1])),
        lambda: sv.simulate(ONE_TO_FOUR, [1, 2, 3, 4], NOISY, num_steps=5, stages=sv.Stage(down=[1])),
        lambda: sv.simulate(ONE_TO_FOUR, [1, 2, 3, 4], NOISY, num_steps=5, stages=sv.Stage(edges=[(1, 2)])),
        lambda: sv.privacy.audit(ONE_TO_FOUR, NOISY, [0, 1], sv.privacy.CuriousNodes([1])),
        lambda: sv.privacy.audit(ONE_TO_FOUR, NOISY, [0, 1], sv.privacy.EveryoneBut(1)),
        lambda: sv.privacy.audit(ONE_TO_FOUR, NOISY, [0, 1], sv.privacy.WireTap([(1, 2)])),
        lambda: sv.privacy.exposure_quantile(ONE_TO_FOUR, NOISY, num_steps=2, nodes=[1]),
        lambda: sv.privacy.exposure_quantile(ONE_TO_FOUR, NOISY, num_steps=2, coalitions=[[1]]),
        lambda: sv.compare(ONE_TO_FOUR, [1, 2, 3, 4], [NOISY], num_steps=5, observers=[1]),
        lambda: sv.simulate(ONE_TO_FOUR, {1: 1.0, 2: 2.0}, NOISY, num_steps=5),
        lambda: sv.theory.expected_error(ONE_TO_FOUR, {1: 1.0, "2": 2.0, "3": 3.0, 0: 4.0}, NOISY, 3),
    ],
)
def test_one_rule_wherever_a_node_is_asked_for(ask):
    """Values, stages, views, observers."""
    with pytest.raises(errors.InvalidInput, match="must say which one is meant, got 1: node number 0 is named 1"):
        ask()


STAGE = sv.Stage(2, values={1: 9.0})


def test_a_mapping_with_every_node_may_have_names_that_are_numbers():
    """As networkx has them; the numbers 0 to 3 can only be numbers; a stage reads it as a run does."""
    wanted = sv.simulate(ONE_TO_FOUR, [1.0, 2.0, 3.0, 4.0], NOISY, num_steps=20, seed=3)
    for given in (
        {4: 4.0, 1: 1.0, 3: 3.0, 2: 2.0},
        {3: 4.0, 0: 1.0, 2: 3.0, 1: 2.0},
        {"1": 1.0, "2": 2.0, "3": 3.0, "4": 4.0},
    ):
        run = sv.simulate(ONE_TO_FOUR, given, NOISY, num_steps=20, seed=3)
        np.testing.assert_array_equal(run.values, wanted.values)
        later = sv.simulate(ONE_TO_FOUR, np.ones(4), NOISY, num_steps=9, stages=[sv.Stage(), sv.Stage(2, values=given)])
        assert later.stages[1].values.tolist() == [1.0, 2.0, 3.0, 4.0]
    part = [sv.Stage(), sv.Stage(2, values={"1": 9.0})]
    later = sv.simulate(ONE_TO_FOUR, np.ones(4), NOISY, num_steps=9, stages=part)
    assert later.stages[1].values.tolist() == [9.0, 1.0, 1.0, 1.0]


def test_a_stage_has_one_value_per_node():
    """By name and by number, or twice in a Series."""
    pd = pytest.importorskip("pandas")
    twice = [sv.Stage(), sv.Stage(2, values={"ada": 9.0, 0: 8.0})]
    with pytest.raises(errors.InvalidValues, match="values of a stage must have one entry per node, got two for ada"):
        sv.simulate(FOUR, VALUES, NOISY, num_steps=5, stages=twice)
    with pytest.raises(errors.InvalidValues, match="values of a stage must have one entry per node"):
        sv.Stage(2, values=pd.Series([1.0, 2.0], index=["ada", "ada"]))


def test_what_is_computed_for_every_node_knows_the_numbers():
    """Exposures, comparisons and the studio go through numbers: names that look like others change nothing."""
    path, fired = sv.graphs.path(4), [0, 1, 2, 1, 0]
    of = [sv.privacy.exposure(graph, NOISY, fired).posterior_std for graph in (path, ONE_TO_FOUR)]
    np.testing.assert_array_equal(*of)
    of = [sv.privacy.exposure_quantile(graph, NOISY, num_steps=2).std for graph in (path, ONE_TO_FOUR)]
    assert of[0] == of[1]
    rows = [sv.compare(graph, [1, 2, 3, 4], [NOISY], num_steps=9, seed=1).rows for graph in (path, ONE_TO_FOUR)]
    assert rows[0] == rows[1]
    from sottovoce.studio.observing import read_observer

    for asked in ({"nodes": [1]}, {"but": 1}, {"edges": [[1, 2]]}):
        views = [read_observer({"observer": asked}, graph).view() for graph in (path, ONE_TO_FOUR)]
        np.testing.assert_array_equal(views[1].observers(ONE_TO_FOUR), views[0].observers(path))
        np.testing.assert_array_equal(views[1].heard_edges(ONE_TO_FOUR), views[0].heard_edges(path))
