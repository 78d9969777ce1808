"""How long to wait for an answer, from the answers so far."""

from __future__ import annotations

import pytest

from sottovoce.peer.protocol.patience import Patience, first_wait
from sottovoce.testing.settings import some_settings


def test_a_long_vector_gets_more_time() -> None:
    """A million coordinates get a second more (R17)."""
    assert first_wait(some_settings(dimension=1_000_000, timeout=0.5)) == 1.5


def test_waits_double_at_each_repetition_up_to_a_limit() -> None:
    """R17; twenty first waits are the most."""
    assert [Patience(1.0).wait(k) for k in range(7)] == [1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0]
    assert Patience(1.0).wait(10_000) == 20.0


def test_the_first_answer_makes_the_wait_three_round_trips() -> None:
    """R70: the mean, and four times a deviation that is half of it."""
    patience = Patience(1.0)
    patience.answered(2.0)
    assert (patience.round_trip, patience.wait()) == (2.0, 6.0)


def test_steady_answers_bring_the_wait_down_to_the_round_trip() -> None:
    """R70: the deviation vanishes, and a fifth of the first wait is the least."""
    near, far = Patience(1.0), Patience(1.0)
    for _ in range(60):
        near.answered(0.001)
        far.answered(0.7)
    assert near.wait() == 0.2
    assert far.wait() == pytest.approx(0.7, rel=1e-3)


def test_answers_that_vary_are_waited_for_longer() -> None:
    """R70: round trips that jump between 0.2 and 0.6 are all waited for."""
    patience = Patience(0.25)
    for _ in range(40):
        patience.answered(0.2)
        patience.answered(0.6)
    assert patience.round_trip == pytest.approx(0.4, abs=0.05)
    assert patience.wait() > 0.6


def test_a_neighbour_further_away_than_expected_is_heard_in_the_end() -> None:
    """R70: a message given up doubles all waits until an answer comes."""
    patience = Patience(0.25)
    patience.answered(0.1)
    waits = []
    for _ in range(4):
        waits.append(patience.wait())
        patience.gave_up()
    assert waits == pytest.approx([0.3, 0.6, 1.2, 2.4])
    patience.answered(0.1)
    assert patience.wait() < 0.3
