"""Private values as they come in: one way to give them, one check and one sentence, whoever asks for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidInput, InvalidValues
from sottovoce.theory.gossip.edge_transitive import symmetric_error
from sottovoce.theory.gossip.resolvent import resolvent_bound

FRIENDS = sv.Graph.from_edges([("ada", "bob"), ("bob", "carol"), ("carol", "ada")])
TRIANGLE = sv.graphs.cycle(3)
ORDER = [1.0, 10.0, 3.0]
BY_NAME = {"carol": 3.0, "ada": 1.0, "bob": 10.0}
BY_NUMBER = {2: 3.0, 0: 1.0, 1: 10.0}
NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5)
FLOWS = [0.5, -1.0, 0.25]

ASKING: list[Callable[[sv.Graph, Any], Any]] = [
    lambda g, v: sv.simulate(g, v, NOISY, num_steps=9, seed=1).values,
    lambda g, v: sv.compare(g, v, [NOISY], num_steps=9, seed=1, replicas=2).runs[0].values,
    lambda g, v: sv.ensemble(g, v, NOISY, num_steps=9, seed=1, schedules=2).relative_error,
    lambda g, v: sv.theory.expected_error(g, v, NOISY, 3),
    lambda g, v: sv.theory.expected_error_split(g, v, NOISY, 3).disagreement,
    lambda g, v: symmetric_error(g, v, NOISY, 3),
    *(lambda g, v, form=form: sv.theory.error_bound(g, v, NOISY, 3, form) for form in ("printed", "corrected")),
    *(lambda g, v, form=form: sv.theory.error_bound(g, v, NOISY, 3, form) for form in ("sharpened", "resolvent")),
    lambda g, v: resolvent_bound(g, v, NOISY, 3),
    lambda g, v: sv.theory.corollary_bound(g, v, 1.0, 0.5, 3),
    lambda g, v: sv.theory.dual_value(g, v, FLOWS),
    lambda g, v: sv.theory.dual_gap(g, v, FLOWS),
    lambda g, v: sv.theory.values_of_duals(g, v, FLOWS),
    lambda g, v: sv.theory.duals_of_values(g, v, [14.0, 0.0, 0.0]),
    lambda g, v: sv.theory.duals_of_values(g, [14.0, 0.0, 0.0], v),
    lambda g, v: sv.theory.edge_duals(g, v, [0, 1, 2]),
]


@pytest.mark.parametrize("ask", ASKING)
@pytest.mark.parametrize(("graph", "given"), [(FRIENDS, BY_NAME), (TRIANGLE, BY_NUMBER), (FRIENDS, BY_NUMBER)])
def test_values_by_node_mean_the_same_everywhere(ask, graph, given):
    """A mapping, or a Series with such an index in any order: as in the order of the nodes."""
    pd = pytest.importorskip("pandas")
    wanted = ask(graph, ORDER)
    for each in (given, pd.Series(given)):
        np.testing.assert_array_equal(ask(graph, each), wanted)


@pytest.mark.parametrize("ask", ASKING)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1e200, 0.0, 1.0], "at most 1e.150 in size"),
        ([np.nan, 0.0, 1.0], "must be finite; the entry of node 0 is not"),
        ([1.0, 2.0], r"must have shape \(3,\) or \(3, d\), got \(2,\)"),
        (np.zeros((3, 0)), r"must have shape \(3,\) or \(3, d\), got \(3, 0\)"),
        ([1.0, 2j, 3.0], "must be real numbers, got complex ones"),
        ([[1.0], [2.0, 3.0], [4.0]], "must be numbers, one or one vector per node"),
        (np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False]), "must have no masked entries"),
        ({"ada": 1.0, "bob": 2.0}, "must have an entry for every node; none for carol"),
        ({**BY_NAME, "eve": 4.0}, "must be one of ada, bob, carol, got 'eve'"),
    ],
)
def test_values_that_do_not_fit_are_refused_in_the_same_words(ask, given, message):
    """Before anything is computed of them: no warning, no NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InvalidValues, match=message):
            ask(FRIENDS, given)


def test_vectors_by_node_in_a_table():
    """Rows by name; the columns are coordinates, also where there are as many as nodes."""
    pd = pytest.importorskip("pandas")
    rows = np.arange(9.0).reshape(3, 3) ** 2
    wanted = sv.theory.expected_error(FRIENDS, rows, NOISY, 3)
    table = pd.DataFrame(rows, index=["ada", "bob", "carol"])
    for given in (table, table.loc[["carol", "ada", "bob"]], {"bob": rows[1], "ada": rows[0], "carol": rows[2]}):
        np.testing.assert_array_equal(sv.theory.expected_error(FRIENDS, given, NOISY, 3), wanted)
        assert sv.simulate(FRIENDS, given, NOISY, num_steps=1).private_values.tolist() == rows.tolist()


def test_a_name_that_is_there_twice_is_refused():
    """A Series may have it; the last of them used to count."""
    pd = pytest.importorskip("pandas")
    given = pd.Series([1.0, 2.0, 3.0, 4.0], index=["ada", "bob", "carol", "ada"])
    with pytest.raises(InvalidValues, match="one entry per node, got two for ada"):
        sv.simulate(FRIENDS, given, NOISY, num_steps=1)


def test_flows_are_of_one_number_per_node():
    """Vectors would be added to flows along the wrong axis."""
    with pytest.raises(InvalidValues, match=r"one number per node here, got shape \(3, 3\)"):
        sv.theory.values_of_duals(TRIANGLE, np.eye(3), FLOWS)


HIDDEN = np.ma.masked_array([0.2, 0.2, 0.6], mask=[False, True, False])


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("noise_std", lambda: sv.NoiseInsertion(HIDDEN, 0.5)),
        ("noise_decay", lambda: sv.NoiseInsertion(1.0, HIDDEN)),
        ("noise_std", lambda: sv.theory.corollary_bound(TRIANGLE, ORDER, HIDDEN, 0.5, 3)),
        ("limits", lambda: sv.theory.count_probability(TRIANGLE, 3, HIDDEN)),
        ("prior_std", lambda: sv.privacy.audit(TRIANGLE, NOISY, [0], sv.privacy.CuriousNodes([0]), HIDDEN)),
        ("prior_std", lambda: sv.privacy.audit(TRIANGLE, NOISY, [0], sv.privacy.CuriousNodes([0]), SQUARE)),
        ("prior_mean", lambda: sv.privacy.attack(RUN, sv.privacy.CuriousNodes([0]), prior_mean=HIDDEN)),
        ("edge_probabilities", lambda: sv.theory.contraction_factor(TRIANGLE, edge_probabilities=HIDDEN)),
        ("edge_probabilities", lambda: sv.Stage(edge_probabilities=HIDDEN)),
        ("node_rates", lambda: sv.Stage(node_rates=HIDDEN)),
        ("values of a stage", lambda: sv.Stage(9, values=HIDDEN)),
        ("private_values", lambda: sv.theory.primal_value(HIDDEN, ORDER)),
        ("values", lambda: sv.theory.primal_value(ORDER, HIDDEN)),
        ("private_values", lambda: sv.theory.mo_murray_error(np.full((3, 3), 1 / 3), HIDDEN, 0.5, 3)),
    ],
)
def test_what_is_masked_is_refused_by_name(name, ask):
    """Whatever stands below the mask was meant to be left out."""
    with pytest.raises(InvalidInput, match=f"^{name} must have no masked entries"):
        ask()


RUN = sv.simulate(TRIANGLE, ORDER, NOISY, num_steps=3, seed=1)
SQUARE = np.ma.masked_array(np.eye(3), mask=np.eye(3) == 0)


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("noise_std", lambda given: sv.NoiseInsertion(given, 0.5)),
        ("noise_decay", lambda given: sv.NoiseInsertion(1.0, given)),
        ("noise_std", lambda given: sv.theory.corollary_bound(FRIENDS, ORDER, given, 0.5, 3)),
        ("limits", lambda given: sv.theory.count_probability(FRIENDS, 3, given)),
        ("edge_probabilities", lambda given: sv.theory.contraction_factor(FRIENDS, edge_probabilities=given)),
        ("edge_probabilities", lambda given: sv.Stage(edge_probabilities=given)),
        ("node_rates", lambda given: sv.Stage(node_rates=given)),
        ("private_values", lambda given: sv.theory.primal_value(given, ORDER)),
        ("values", lambda given: sv.theory.primal_value(ORDER, given)),
        ("private_values", lambda given: sv.theory.mo_murray_error(np.full((3, 3), 1 / 3), given, 0.5, 3)),
    ],
)
def test_what_is_taken_by_position_has_no_names(name, ask):
    """Where the names of a graph are not looked up, they are not passed over either."""
    pd = pytest.importorskip("pandas")
    given = {"carol": 0.5, "ada": 0.2, "bob": 0.3}
    for each in (given, pd.Series(given)):
        with pytest.raises(InvalidInput, match=f"^{name} must be numbers in the order of the graph's"):
            ask(each)
    ask(pd.Series([0.5, 0.2, 0.3]))
