"""Private values in words: drawn, listed, or in a file; never shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.errors import InvalidFile, InvalidInput, InvalidValues
from sottovoce.scenario.values import WAYS, ValuesSpec, read_values


@pytest.mark.parametrize("way", WAYS)
def test_values_by_name_are_their_line_of_python(way: str) -> None:
    """What is shown as Python makes the same numbers, and the name is what is printed."""
    described = ValuesSpec.parse(way)
    assert str(described) == way
    assert np.array_equal(described.build(10, seed=3), eval(described.to_python(10, seed=3), {"np": np}))


def test_the_four_ways_to_make_values() -> None:
    """Two are drawn from the seed and the size alone; a ramp and a spike are the same for every seed."""
    drawn = {way: ValuesSpec.parse(way).build(4, seed=3) for way in WAYS}
    assert np.array_equal(drawn["uniform"], np.random.default_rng([3, 4]).random(4))
    assert np.array_equal(drawn["normal"], np.random.default_rng([3, 4]).normal(size=4))
    assert drawn["ramp"].tolist() == [0.0, 1 / 3, 2 / 3, 1.0]
    assert drawn["spike"].tolist() == [4.0, 0.0, 0.0, 0.0]


def test_a_list_is_one_number_per_node() -> None:
    """Printed and read back it is the same list, and every digit survives."""
    described = ValuesSpec.parse("1, 2.50 ,-1e-17")
    assert described == ValuesSpec.parse(str(described)) == ValuesSpec.of([1, 2.5, -1e-17])
    assert described.build(3, seed=1).tolist() == [1.0, 2.5, -1e-17]
    assert eval(described.to_python(3, seed=1)) == [1.0, 2.5, -1e-17]
    with pytest.raises(InvalidValues, match="the graph has 4 nodes, got 3"):
        described.build(4, seed=1)


@pytest.mark.parametrize(
    ("name", "content", "values"),
    [
        ("v.txt", "1\n2.5\n# a comment\n\n3\n", [1.0, 2.5, 3.0]),
        ("v.csv", "x;y\n1;2\n3;4\n", [[1.0, 2.0], [3.0, 4.0]]),
        ("a,b", "1 2\n3 4", [[1.0, 2.0], [3.0, 4.0]]),
    ],
)
def test_a_file_holds_a_number_or_a_vector_on_each_line(
    tmp_path: Path, name: str, content: str, values: list[object]
) -> None:
    """Spaces, commas and semicolons separate; a heading and comments are passed over. Python reads the same."""
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    described = ValuesSpec.parse(str(path))
    assert described == ValuesSpec.parse(str(described))
    assert described.build(3, seed=1).tolist() == values
    assert np.array_equal(eval(described.to_python(3, seed=1), {"read_values": read_values}), values)


def test_a_numpy_file_is_read_without_running_anything_in_it(tmp_path: Path) -> None:
    """Numbers come back; an array of objects, which could run code, is refused."""
    np.save(tmp_path / "v.npy", np.arange(3.0))
    np.save(tmp_path / "o.npy", np.array([print], dtype=object), allow_pickle=True)
    assert ValuesSpec.parse(str(tmp_path / "v.npy")).build(3, 1).tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(InvalidFile, match="not a NumPy array of numbers"):
        ValuesSpec.parse(str(tmp_path / "o.npy")).build(1, 1)


SECRET = "7.75"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"1,{SECRET}x", "uniform, normal, ramp, spike, a file, or numbers separated by commas"),
        (f"1,{SECRET},1e200", "at most 1e\\+100 in size; that of node 2 is not"),
        (f"1,{SECRET},nan", "that of node 2 is not"),
        (f"file:1\n{SECRET}x\n", "line 2: expected numbers"),
        (f"file:1\n{SECRET} {SECRET}\n", "the same number of entries"),
        ("file:1\n1e999\n", "line 2: numbers must be finite"),
        ("file:", "contains no numbers"),
    ],
)
def test_what_is_wrong_is_said_without_showing_a_value(tmp_path: Path, text: str, words: str) -> None:
    """Errors name the node or the line; a repr says nothing."""
    if text.startswith("file:"):
        (tmp_path / "v").write_text(text[5:], encoding="utf-8")
        text = str(tmp_path / "v")
    with pytest.raises(InvalidInput, match=words) as refused:
        ValuesSpec.parse(text).build(3, seed=1)
    assert SECRET not in str(refused.value)
    assert SECRET not in repr(ValuesSpec.of([float(SECRET)]))


def test_an_unknown_word_is_no_file() -> None:
    """The message lists what there is."""
    with pytest.raises(InvalidFile, match=r"gaussian does not exist .* uniform, normal, ramp, spike"):
        ValuesSpec.parse("gaussian")
