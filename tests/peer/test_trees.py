"""Values of any shape: what comes back is what was given, and what cannot come back is refused before it is used."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pytest

from sottovoce.errors import InvalidValues
from sottovoce.peer.trees import flatten


class Model(NamedTuple):
    weights: Any
    bias: Any


class Pair(tuple[float, ...]):
    """A tuple that is not made as tuples are."""

    __slots__ = ()

    def __new__(cls, one: Any, two: Any) -> Pair:
        return super().__new__(cls, (one, two))


class Stack(list[Any]):
    """A list that is made as lists are."""


def endless() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def masked(*shape: int) -> Any:
    array = np.ma.array(np.full(shape, 61.77), mask=np.zeros(shape, dtype=bool))
    array.mask.flat[-1] = True
    return array


def test_a_named_tuple_comes_back_as_one() -> None:
    """With arrays in it, and with plain numbers, which would be one array in any other tuple."""
    vector, rebuild, _ = flatten(Model(np.ones(2), 3.0))
    back = rebuild(2.0 * vector)
    assert isinstance(back, Model)
    assert back.weights.tolist() == [2.0, 2.0]
    assert back.bias == 6.0
    vector, rebuild, _ = flatten(Model(1.0, 3.0))
    assert rebuild(vector) == Model(1.0, 3.0)


def test_other_lists_and_tuples_are_tried_before_anything_is_contributed() -> None:
    """A type that cannot be made of its items is refused by name; one that can comes back."""
    with pytest.raises(InvalidValues, match=r"the value\['a'\] must be a plain list .* a Pair cannot be made"):
        flatten({"a": Pair(np.ones(2), 3.0)})
    vector, rebuild, _ = flatten(Stack([np.ones(2), 3.0]))
    assert isinstance(rebuild(vector), Stack)


@pytest.mark.parametrize("value", [masked(3), masked(2, 2), {"a": masked(3)}, [1.0, np.ma.masked], np.ma.masked])
def test_masked_numbers_are_refused(value: Any) -> None:
    """What was masked must not be contributed; the message does not show it."""
    with pytest.raises(InvalidValues, match="masked") as refused:
        flatten(value)
    assert "61" not in str(refused.value)


def test_an_array_whose_mask_is_empty_is_an_array() -> None:
    """Nothing is hidden in it."""
    vector, *_ = flatten(np.ma.array([1.0, 2.0], mask=False))
    assert vector.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("value", [endless(), {"a": endless()}])
def test_a_value_that_holds_itself_is_refused(value: Any) -> None:
    """In a sentence, not in a thousand lines."""
    with pytest.raises(InvalidValues, match="must not hold itself"):
        flatten(value)


@pytest.mark.parametrize("value", [10**400, [1.0, 10**400], {"a": 10**400}], ids=["number", "list", "dictionary"])
def test_numbers_beyond_floats_are_refused(value: Any) -> None:
    """They are numbers, and the message says what is wrong with them."""
    with pytest.raises(InvalidValues, match="no float can hold"):
        flatten(value)


def test_whole_numbers_beyond_64_bits_are_numbers() -> None:
    """Whether they are in the network's range is another question."""
    assert flatten([10**25, 1])[0].tolist() == [1e25, 1.0]
    assert flatten(10**25)[0].tolist() == [1e25]


def test_shapes_tell_keys_and_fields_apart_and_show_neither() -> None:
    """What differs in a key, a field or a shape has another text, of a few characters."""
    trees = [
        {"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}, {"a": [1.0], "b": 2.0}, {"a": {"b": 1.0}}, {1: 1.0, 2: 1.0},
        {"1": 1.0, "2": 1.0}, {(1, "a"): 1.0, (1, "b"): 1.0}, {1.5: 1.0, 2.5: 1.0}, {b"a": 1.0, b"b": 2.0},
        Model(1.0, 2.0), [1.0, [2.0]], [[1.0], 2.0], np.ones((1,) * 32), 1.0, [1.0], [1.0, 2.0], np.ones((1, 2)),
    ]  # fmt: skip
    shapes = [flatten(tree).shape for tree in trees]
    assert len(set(shapes)) == len(trees)
    assert max(map(len, shapes)) <= 48
    assert flatten({"Mrs Smith": 1.0}).shape.startswith("tree ")
    assert "Smith" not in flatten({"Mrs Smith": 1.0}).shape


def test_a_list_of_arrays_of_one_shape_counts_as_an_array() -> None:
    """Its numbers are in the same places."""
    assert flatten([np.ones((2, 3)), np.ones((2, 3))]).shape == flatten(np.ones((2, 2, 3))).shape == "(2, 2, 3)"
    assert flatten([np.ones(2), np.ones(3)]).shape.startswith("tree ")


@pytest.mark.parametrize("kind", ["<f4", ">f4"])
@pytest.mark.parametrize("shape", [(), (3,)], ids=str)
def test_arrays_of_32_bits_come_back_as_such(kind: str, shape: tuple[int, ...]) -> None:
    """Also those without an axis, as a scalar parameter of a model is, and those in the other order of bytes."""
    flat = flatten({"scale": np.ones(shape, dtype=kind)})
    [back] = flat.rebuild(flat.vector).values()
    assert isinstance(back, np.ndarray)
    assert (back.dtype, back.shape) == (np.float32, shape)


@pytest.mark.parametrize("keys", [[frozenset("a"), frozenset("b")], [(1, frozenset())], [np.datetime64("2026-11")]])
def test_keys_that_cannot_be_compared_are_refused(keys: list[Any]) -> None:
    """They counted by their places, which differ for sets: a neighbour's numbers were added to those of another key."""
    with pytest.raises(InvalidValues, match=r"the keys of the value\['k'\] must be texts, numbers, dates, .* one is a"):
        flatten({"k": dict.fromkeys(keys, 61.77)})


def test_other_months_are_other_keys() -> None:
    """Sums by month, of which one party has begun a month later, are not those of the same months."""
    kinds = [lambda month: date(2026, month, 1), lambda hour: datetime(2026, 1, 1, hour, tzinfo=UTC), time, Decimal]
    trees = [{kind(first): 1.0, kind(first + 1): 1.0} for kind in kinds for first in (1, 2)]
    assert len({flatten(tree).shape for tree in trees}) == len(trees)


def test_a_dictionary_may_change_while_its_mean_is_waited_for() -> None:
    """A key that came had no number in the answer, and one that went was not in it."""
    value = {"b": 1.0, "a": 2.0}
    vector, rebuild, _ = flatten(value)
    del value["b"]
    value["c"] = 3.0
    assert list(rebuild(vector).items()) == [("b", 1.0), ("a", 2.0)]
