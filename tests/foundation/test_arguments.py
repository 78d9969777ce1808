"""Checks of arguments: what passes, and the sentence for what does not."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import InvalidParameter
from sottovoce.foundation.arguments import brief, checked, entries_of, keys_of, number, per_node, unnamed, whole


@pytest.mark.parametrize("value", [10, 10.0, np.int32(10), np.float32(10), np.array(10)])
def test_a_whole_number_of_any_type_becomes_an_int(value: object) -> None:
    """What NumPy, JSON and ``1e1`` give."""
    for high in (None, 10, 11):
        found = whole("n", value, low=10, high=high)
        assert found == 10
        assert type(found) is int


@pytest.mark.parametrize("value", [True, np.True_, 2.5, np.nan, np.inf, "10", None, [10], np.array(2.5), -1, 11])
def test_what_is_no_whole_number_in_the_range_is_refused(value: object) -> None:
    """The message has the name, the range and at most a little of what was given."""
    with pytest.raises(InvalidParameter, match=r"n must be a whole number in \[0, 10\], got "):
        whole("n", value, low=0, high=10)


def test_only_a_little_of_a_bad_argument_is_shown() -> None:
    """A message stays one sentence whatever was given."""
    with pytest.raises(InvalidParameter, match="≥ 0, got 'xxxx") as refused:
        whole("n", "x" * 10_000, low=0)
    assert len(str(refused.value)) < 100


@pytest.mark.parametrize("value", [True, "0.5", b"1", None, {}, 10**400, [0.5, 0.5], [[1.0]], np.nan, np.inf, 0.0, 1.5])
def test_what_is_no_number_in_the_interval_is_refused(value: object) -> None:
    """Text is not read as a number, and an open end is outside."""
    with pytest.raises(InvalidParameter, match="share must be "):
        number("share", value, low=0.0, high=1.0, low_open=True)


@pytest.mark.parametrize(("value", "ends"), [(0.0, {}), (1.0, {}), (0.5, {"low_open": True, "high_open": True})])
def test_a_number_in_the_interval_is_returned_as_a_float(value: float, ends: dict[str, bool]) -> None:
    """A closed end belongs to the interval."""
    for given in (value, np.float32(value), np.array(value)):
        for function in (checked, number):
            found = function("share", given, low=0.0, high=1.0, **ends)
            assert type(found) is float
            assert found == value


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_an_open_end_is_outside(value: float) -> None:
    """The message shows which ends are open."""
    with pytest.raises(InvalidParameter, match=r"share must be finite and in \(0, 1\), got"):
        checked("share", value, low=0.0, high=1.0, low_open=True, high_open=True)


@pytest.mark.parametrize("value", [0.0, 1e-320, 1e-51, 1e51, 1e308, [1.0, 1e-200]])
def test_a_deviation_whose_square_is_lost_is_refused(value: object) -> None:
    """Deviations are squared and divided by each other: beyond 10⁵⁰ nothing that comes of it is true."""
    with pytest.raises(InvalidParameter, match=r"prior_std must be finite and in \[1e-50, 1e\+50\], got"):
        checked("prior_std", value, low=0.0, low_open=True)


def test_a_deviation_that_may_be_nothing_may_be_tiny() -> None:
    """Nobody divides by it: that its square is 0 in doubles does no harm."""
    assert number("noise_std", 1e-320, low=0.0) == 1e-320
    with pytest.raises(InvalidParameter, match=r"noise_std must be finite and in \[0, 1e\+50\], got 1e\+51"):
        number("noise_std", 1e51, low=0.0)


def test_a_vector_is_a_copy_that_cannot_be_changed() -> None:
    """What a method was made with stays what it was, whatever the caller does with its array."""
    given = np.array([0.1, 0.2])
    found = checked("share", given, low=0.0, high=1.0)
    given[0] = 0.9
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [0.1, 0.2]
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 0.9


def test_a_bad_entry_of_a_vector_is_named() -> None:
    """The node and its number, and the reason if there is one."""
    with pytest.raises(InvalidParameter, match=r"in \[0, 1\] \(it is a share\), got 1.5 at node 2"):
        checked("share", [0.1, 1.0, 1.5], low=0.0, high=1.0, why="it is a share")
    with pytest.raises(InvalidParameter, match=r"got shape \(1, 2\)"):
        checked("share", [[0.1, 0.2]], low=0.0)


def test_one_number_serves_all_nodes_and_a_vector_must_fit() -> None:
    """One number, or as many as there are nodes."""
    assert per_node("std", 2.0, 3).tolist() == [2.0, 2.0, 2.0]
    assert per_node("std", np.array([1.0, 2.0]), 2).tolist() == [1.0, 2.0]
    with pytest.raises(InvalidParameter, match=r"std must be one number or one per node \(3\), got 2 numbers"):
        per_node("std", np.array([1.0, 2.0]), 3)


def test_a_parameter_in_a_label_is_short() -> None:
    """A number, or the range of a vector."""
    assert brief(0.5) == "0.5"
    assert brief(np.array([0.5, 0.5])) == "0.5"
    assert brief(np.array([0.978111, 0.5])) == "0.5…0.9781"


def test_nothing_is_said_to_be_nothing() -> None:
    """``None`` is refused under its own name, and not as the NaN that NumPy makes of it."""
    with pytest.raises(InvalidParameter, match=r"noise_decay must be a number or one number per node, got None"):
        checked("noise_decay", None, low=0.0)


def test_entries_with_names_are_found_without_pandas() -> None:
    """Mappings, and whatever has an index and items; a list has no names."""
    pd = pytest.importorskip("pandas")
    for given in ({"b": 1.0, "a": 2.0}, pd.Series({"b": 1.0, "a": 2.0})):
        assert (keys_of(given), entries_of(given)) == (["b", "a"], [1.0, 2.0])
    table = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=["b", "a"])
    assert keys_of(table) == ["b", "a"]
    assert np.array(entries_of(table)).tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert [keys_of(plain) for plain in ([1.0], (1.0,), np.ones(1), 1.0, None, "text")] == [None] * 6


@pytest.mark.parametrize("read", [lambda v: checked("std", v, low=0.0), lambda v: per_node("std", v, 3)])
def test_a_masked_entry_is_refused(read) -> None:
    """NumPy would take the number below the mask; a mask that hides nothing does no harm."""
    with pytest.raises(InvalidParameter, match="std must have no masked entries: a number is needed in the place of"):
        read(np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False]))
    assert read(np.ma.masked_array([1.0, 2.0, 3.0], mask=False)).tolist() == [1.0, 2.0, 3.0]


def test_names_are_refused_where_no_graph_is_known() -> None:
    """A Series was taken by position, whatever its index said; 0, 1, … in order say nothing else than the position."""
    pd = pytest.importorskip("pandas")
    says = r"noise_std must be numbers in the order of the graph's nodes \(graph.labels\): names mean nothing here; got"
    for given in ({"b": 1.0, "a": 2.0}, {1: 1.0, 0: 2.0}, {1: 1.0, 2: 2.0}):
        for each in (given, pd.Series(given)):
            for read in (unnamed, lambda name, v: checked(name, v, low=0.0), lambda name, v: per_node(name, v, 2)):
                with pytest.raises(InvalidParameter, match=says):
                    read("noise_std", each)
    for each in ({0: 1.0, 1: 2.0}, pd.Series([1.0, 2.0])):
        assert per_node("noise_std", checked("noise_std", each, low=0.0), 2).tolist() == [1.0, 2.0]
    with pytest.raises(InvalidParameter, match=r"in the order of the graph's edges \(graph.edges\)"):
        unnamed("edge_probabilities", {1: 0.5, 0: 0.5}, of="edges")
