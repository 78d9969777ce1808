"""Checks of arguments: what passes, and the sentence for what does not."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import InvalidParameter
from sottovoce.foundation.arguments import number, whole


@pytest.mark.parametrize("value", [10, 10.0, np.int32(10), np.float32(10), np.array(10)])
def test_a_whole_number_of_any_type_becomes_an_int(value: object) -> None:
    """What NumPy, JSON and ``1e1`` give."""
    found = whole("n", value, low=0)
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
