"""One average as a program asks for it: what is refused before it is contributed, and how the answer is read."""

from __future__ import annotations

from typing import Any

import pytest

from sottovoce.errors import InvalidParameter
from sottovoce.peer.runtime.averaging import Question
from sottovoce.privacy import Release
from sottovoce.testing import LocalNetwork, run_virtually

NAMES = ["ada", "bob", "cyd"]
CONFIG = LocalNetwork(NAMES).config("ada")


@pytest.mark.parametrize("weight", [-61.77, "61.77 kg", 0.0, float("nan"), float("inf"), [61.77]])
def test_a_bad_weight_is_refused_and_not_shown(weight: Any) -> None:
    """A weight tells of whom a value is about: how many patients, how much money."""
    with pytest.raises(InvalidParameter, match="weight must be a positive number") as refused:
        Question.of(1.0, weight, CONFIG)
    assert "61" not in str(refused.value)


def test_a_weight_beside_a_release_is_not_shown() -> None:
    """It is refused, whatever it is."""
    agreed = Release(epsilon=2.0, delta=1e-6, low=0.0, high=10.0, unit="0.000001", honest=3)

    async def call() -> None:
        async with LocalNetwork(NAMES) as net:
            with pytest.raises(InvalidParameter, match="weight must be left out") as refused:
                await net["ada"].average(1.0, topic="t", weight=61.77, release=agreed)
            assert "61" not in str(refused.value)

    run_virtually(call())
