"""Numbers in text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import InvalidFile
from sottovoce.foundation.text import listed, number_in, number_rows


@given(st.integers() | st.floats(allow_nan=False))
def test_a_number_that_was_printed_is_read_back(number: float) -> None:
    """Exactly."""
    assert number_in(repr(number)) == number


@given(st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4), min_size=1))
def test_a_table_that_was_printed_is_read_back(rows: list[list[float]]) -> None:
    """With any of the separators."""
    for separator in (" ", ",", ";", " ; "):
        assert number_rows("\n".join(separator.join(map(repr, row)) for row in rows), "t") == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "t contains no numbers"),
        ("only\nwords", "t contains no numbers"),
        ("node value\n1\n2 x", "t, line 3: expected numbers"),
        ("1 x", "t, line 1: expected numbers"),
        ("1\n" + "9" * 400, "t, line 2: numbers must be finite"),
    ],
)
def test_errors_name_the_line_and_not_its_content(text: str, words: str) -> None:
    """It may be a private value."""
    with pytest.raises(InvalidFile) as refused:
        number_rows(text, "t")
    assert str(refused.value) == words


@given(st.lists(st.integers(), max_size=40))
def test_a_list_is_python(items: list[int]) -> None:
    """On one line or several."""
    assert eval(listed(items)) == items
