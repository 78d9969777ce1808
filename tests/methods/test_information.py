"""The information in a node's messages for those who know everything else: one formula for account and planner."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.methods.noise_insertion import information


@given(std=st.floats(1e-3, 1e3), decay=st.floats(0.05, 0.999999), count=st.integers(0, 60))
def test_closed_form_is_the_sum(std: float, decay: float, count: int) -> None:
    """The geometric closed form equals adding up the messages one by one."""
    total = math.fsum(1.0 / (std * decay**t) ** 2 for t in range(count))
    assert float(information(std, decay, count)) == pytest.approx(total, rel=1e-9)


def test_no_cancellation_close_to_one() -> None:
    """For φ = 1 − 10⁻¹², where differences would leave no digits, the sum is the number of messages."""
    assert information(2.0, 1 - 1e-12, [0, 1, 2, 7]) * 4.0 == pytest.approx([0, 1, 2, 7], rel=1e-10, abs=0)


def test_information_at_the_edges() -> None:
    """No message, nothing; no noise, or a message after the only draw, everything; overflow is infinite."""
    assert information(0.0, 0.5, [0, 1]).tolist() == [0.0, np.inf]
    assert information(1.0, 0.0, [0, 1, 2]).tolist() == [0.0, 1.0, np.inf]
    assert float(information(1.0, 0.5, 5000)) == np.inf
