"""The one privacy formula that planning needs."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.methods.noise_insertion import information


def test_information_is_the_sum() -> None:
    """Σ_{t<T} φ^{−2t}/σ², also for φ close to one, where the quotient would cancel."""
    for decay in (0.3, 0.9, 1 - 1e-12):
        for count in (0, 1, 2, 7):
            plain = np.sum(decay ** (-2.0 * np.arange(count))) / 4.0
            assert float(information(2.0, decay, count)) == pytest.approx(plain, rel=1e-12, abs=0)


def test_information_at_the_edges() -> None:
    """No message, nothing; no noise or a second message with φ = 0, everything."""
    assert information(0.0, 0.5, [0, 1]).tolist() == [0.0, np.inf]
    assert information(1.0, 0.0, [0, 1, 2]).tolist() == [0.0, 1.0, np.inf]
    assert float(information(1.0, 0.5, 5000)) == np.inf
