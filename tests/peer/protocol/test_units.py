"""Values become whole numbers of units once, exactly, and come back with the digits of the unit (R43)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import ConfigError, InvalidValues
from sottovoce.peer.protocol.units import LARGEST, Unit

UNITS = ["1", "0.01", "0.05", "1e-6", "0.000001", "250", "2.5e3", "0.125"]


@given(st.sampled_from(UNITS), st.floats(-1e9, 1e9))
def test_a_value_is_rounded_once_and_exactly(text: str, value: float) -> None:
    """The nearest whole number of units to the decimal number that the float stands for, ties to even."""
    expected = round(Fraction(Decimal(repr(value))) / Fraction(Decimal(text)))
    assert Unit(text).from_values([value]).tolist() == [expected]


@given(st.sampled_from(UNITS), st.integers(-(10**12), 10**12))
def test_ties_go_to_even(text: str, whole: int) -> None:
    """Half a unit more than an even number stays, half a unit more than an odd one goes up."""
    value = float((Decimal(whole) + Decimal("0.5")) * Decimal(text))
    if Fraction(Decimal(repr(value))) == (Fraction(whole) + Fraction(1, 2)) * Fraction(Decimal(text)):
        assert Unit(text).from_values(value).tolist() == [whole + whole % 2]


@given(st.sampled_from(UNITS), st.integers(-LARGEST, LARGEST))
def test_text_is_exact(text: str, whole: int) -> None:
    """What is printed, read as a decimal number, is that many units and not almost."""
    (printed,) = Unit(text).to_text(np.array([whole]))
    assert Decimal(printed) == Decimal(whole) * Decimal(text)
    assert "e" not in printed.lower()


def test_what_a_party_writes_is_what_it_reads() -> None:
    """Cents, percentages, millionths: in and out again without a trace of binary numbers."""
    for unit, texts in (
        ("0.01", ["61.05", "-0.07", "1234567.89"]),
        ("0.1", ["99.9", "0.3"]),
        ("0.000001", ["0.100001"]),
    ):
        h = Unit(unit)
        assert h.to_text(h.from_values([float(text) for text in texts])) == texts


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "", "a cent", "1e400", 0.01, None])
def test_a_unit_is_a_positive_decimal_text(text: object) -> None:
    """Everything else is refused, floats too: 0.01 as a float is not 0.01."""
    with pytest.raises(ConfigError, match="positive decimal number"):
        Unit(text)  # type: ignore[arg-type]


def test_too_large_a_value_is_refused_and_not_shown() -> None:
    """Beyond 2**60 units, before anything overflows."""
    for value in (1.3e18, -1e300, float("inf"), float("nan")):
        with pytest.raises(InvalidValues) as refusal:
            Unit("1").from_values([1.0, value])
        assert "1.3" not in str(refusal.value)
