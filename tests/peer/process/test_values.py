from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sottovoce.errors import InvalidFile, InvalidInput, InvalidValues
from sottovoce.peer.process.values import read_value
from sottovoce.peer.protocol.state import check_value

SECRET = "31415.9265"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("value", "42\n", [42.0]),
        ("value.txt", "1.5, 2.5\n-3e2", [1.5, 2.5, -300.0]),
        ("value.json", "[1, 2.5]", [1.0, 2.5]),
        ("value.csv", "1\n2\n", [1.0, 2.0]),
        ("value.csv", "age\n1\n\n2\n", [1.0, 2.0]),
        ("value.txt", "\ufeff7", [7.0]),
    ],
)
def test_what_may_be_written(tmp_path: Path, name: str, text: str, expected: list[float]) -> None:
    """A number, a list in any plain form, and a single-column CSV are read."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_value(tmp_path / name).tolist() == expected


def test_a_column_by_name_or_position(tmp_path: Path) -> None:
    """A CSV column is chosen by its title or counted from 1."""
    path = tmp_path / "table.csv"
    path.write_text('site,"income, net"\n1,10\n2,20\n')
    assert read_value(path, column="income, net").tolist() == [10.0, 20.0]
    assert read_value(path, column="1").tolist() == [1.0, 2.0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(hnp.arrays(np.float64, st.integers(1, 20), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_survive_bit_for_bit(tmp_path: Path, vector: np.ndarray) -> None:
    """NumPy files and text written with repr give back the same float64s."""
    np.save(tmp_path / "v.npy", vector)
    (tmp_path / "v.txt").write_text(" ".join(map(repr, vector.tolist())))
    for name in ("v.npy", "v.txt"):
        assert read_value(tmp_path / name).tobytes() == vector.tobytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.txt", b""),
        ("blank.txt", b"\n \n"),
        ("empty.csv", b""),
        ("title.csv", b"age\n"),
        ("empty.npy", b""),
        ("words.txt", b"12 " + SECRET.encode() + b"x"),
        ("list.json", b'["' + SECRET.encode() + b'"]'),
        ("half.json", b"[" + SECRET.encode()),
        ("nan.txt", b"nan"),
        ("inf.txt", b"1e999"),
        ("huge.json", b"[1" + b"0" * 400 + b"]"),
        ("bad.csv", b"age\n1\nx" + SECRET.encode() + b"\n"),
        ("two.csv", b"1,2\n3,4\n"),
        ("binary.txt", b"\x93NUMPY\xff\xfe"),
        ("bool.json", b"[true]"),
        ("deep.json", b"[" * 100_000),
    ],
)
def test_bad_files_give_one_sentence_without_their_content(tmp_path: Path, name: str, content: bytes) -> None:
    """Empty, not numeric, not finite: bad input, and what was read is not repeated."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        read_value(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    """An object array, which NumPy could only read by unpickling, is refused without running it."""
    witness = tmp_path / "witness"

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[object, ...]]:
            return (Path.touch, (witness,))

    np.save(tmp_path / "v.npy", np.array([Evil()], dtype=object), allow_pickle=True)
    (tmp_path / "w.npy").write_bytes(pickle.dumps(Evil()))
    for name in ("v.npy", "w.npy"):
        with pytest.raises(InvalidFile):
            read_value(tmp_path / name)
    assert not witness.exists()


@pytest.mark.parametrize("array", [np.zeros((2, 2)), np.array(["1"]), np.array([1j])])
def test_arrays_of_the_wrong_kind(tmp_path: Path, array: np.ndarray) -> None:
    """Two axes, text and complex numbers are refused."""
    np.save(tmp_path / "v.npy", array)
    with pytest.raises(InvalidFile):
        read_value(tmp_path / "v.npy")


def test_a_column_outside_csv_or_not_there(tmp_path: Path) -> None:
    """Choosing a column that cannot be chosen is refused."""
    (tmp_path / "v.txt").write_text("1")
    (tmp_path / "v.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidFile, match="column"):
        read_value(tmp_path / "v.txt", column="1")
    for column in ("c", "3", "0"):
        with pytest.raises(InvalidFile, match="no single column"):
            read_value(tmp_path / "v.csv", column=column)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    """What cannot be read is bad input."""
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(InvalidFile, match="cannot read"):
            read_value(path)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash reads from standard input, so that a value need never be on disk."""

    class Stdin:
        buffer = io.BytesIO(b"2.5")

    monkeypatch.setattr("sys.stdin", Stdin)
    assert read_value("-").tolist() == [2.5]


@pytest.mark.parametrize("value", [[[1.0]], "text", None, [1.0, 2.0], [1e7], [float("inf")], 10**400])
def test_values_from_python_are_checked(value: object) -> None:
    """Shape, finiteness and the limit are checked, and the value is not repeated."""
    with pytest.raises(InvalidValues) as caught:
        check_value(value, dimension=1, low=-1e6, high=1e6)  # type: ignore[arg-type]
    assert "10000000" not in str(caught.value)
    assert "1e" not in str(caught.value).replace("1e+06", "")


def test_masked_numbers_are_refused() -> None:
    """What was masked is not the private value of anybody."""
    with pytest.raises(InvalidValues, match="masked"):
        check_value(np.ma.array([61.77], mask=[True]), dimension=1)
    assert check_value(np.ma.array([61.77], mask=[False]), dimension=1).tolist() == [61.77]
