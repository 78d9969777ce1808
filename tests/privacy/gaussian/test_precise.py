"""The filter with many digits, against the one in doubles and against numbers that doubles cannot hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce.privacy.gaussian.knowledge import Knowledge
from sottovoce.privacy.gaussian.precise import FEWEST_BITS, PreciseKnowledge, agreed


@pytest.mark.parametrize("flat", [False, True], ids=["prior", "flat"])
@pytest.mark.parametrize("seed", range(4))
def test_both_filters_agree_where_doubles_suffice(seed, flat):
    """The same moves with noise of ordinary size: same deviations, infinities included."""
    rng = np.random.default_rng(seed)
    one = np.vstack([np.eye(4)] * 2)
    start = (np.zeros((8, 0)), one) if flat else (one, None)
    plain, precise = Knowledge(*start), PreciseKnowledge(*start, bits=256)
    for _ in range(40):
        p, q = (int(k) for k in 4 + rng.permutation(4)[:2])
        noise = float(rng.uniform(0.5, 1.0))
        for known in (plain, precise):
            if noise < 0.7:
                known.observe(p, noise)
            else:
                known.mix(p, q, noise)
                known.add_noise({p: 0.1, q: 0.2})
    assert precise.std(slice(0, 4)) == pytest.approx(plain.std(slice(0, 4)), rel=1e-9)


def test_a_difference_of_ten_to_the_minus_forty_is_seen():
    """Two looks at a + b and at a + b + 10⁻⁴⁰ b, each ± 10⁻⁷⁰, tell a and b to about 10⁻³⁰."""
    factor, diffuse = np.zeros((4, 0)), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    known = PreciseKnowledge(factor, diffuse, bits=800)
    known._diffuse[3, 1] += (1 << 800) // 10**40
    known.observe(2, 1e-70)
    known.observe(3, 1e-70)
    assert known.std(slice(0, 2)) == pytest.approx(np.full(2, math.sqrt(2) * 1e-30), rel=1e-9)


def test_agreement_is_asked_for_twice():
    """An answer counts once more digits do not change it; one that never settles is no answer."""
    asked = []

    def settles(bits):
        asked.append(bits)
        return np.array([1.0 if bits > 500 else 1.0 / bits])

    assert agreed(settles, np.zeros(1)) == pytest.approx([1.0])
    assert asked[0] == FEWEST_BITS
    assert len(asked) == 4
    assert agreed(lambda bits: np.array([1.0 / bits]), np.zeros(1)) is None
    assert agreed(lambda bits: None, np.zeros(1)) is None
