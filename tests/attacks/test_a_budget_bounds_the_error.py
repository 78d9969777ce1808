"""Promise: with a budget the average ends as near the mean as the formula says, also when members leave and return.

The attempts: members that leave when the budget is spent or half spent, so that noise would start afresh without
anything left to bring it down again.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sottovoce.privacy.gaussian.account import Account
from sottovoce.testing import SimulatedNetwork

NAMES = ["ada", "bob", "cyd", "dan", "eve"]
SMALLEST, STD, DECAY = 0.5, 3.0, 0.8


def error_after_two_leaves(seed: int, seconds: float) -> float:
    """How far the three that stay are from their mean in the end, with its sign."""
    net = SimulatedNetwork(
        itertools.combinations(NAMES, 2), {name: 10.0 * k for k, name in enumerate(NAMES)}, noise_std=STD,
        noise_decay=DECAY, seed=seed, budget=SMALLEST**-2, unit="0.0001", tolerance=0.01, rate=5.0,
    )  # fmt: skip
    for name in ("dan", "eve"):
        net.run(seconds)
        net.leave(name)
    net.run(12.0)
    states = net.states()
    assert all(state.account.information <= SMALLEST**-2 * (1 + 1e-6) for state in states.values())
    return float(np.mean([state.shown[0] for state in states.values()]) - net.true_mean()[0]) * net.unit.number


@pytest.mark.parametrize("seconds", [0.6, 6.0], ids=["half spent", "spent"])
def test_the_error_after_two_leaves_is_what_the_formula_says(seconds: float) -> None:
    """rms error = noise of the last draw / √n, as without any change of members (R54).

    With a restart at full size each time it was twice as much here.
    """
    draws = Account(STD, DECAY, budget=SMALLEST**-2).remaining()
    formula = STD * DECAY ** (draws - 1) / math.sqrt(3)
    assert SMALLEST / math.sqrt((1 - DECAY**2) * 3) <= formula <= SMALLEST / math.sqrt((1 - DECAY**2) * 3) / DECAY
    errors = [error_after_two_leaves(seed, seconds) for seed in range(25)]
    assert 0.75 * formula < math.sqrt(np.mean(np.square(errors))) < 1.3 * formula
