"""When to call whom: choices, waiting times, silent neighbours and floods, without a clock."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.peer.protocol.calling import Contacts, exponential
from sottovoce.peer.protocol.messages import Kind
from sottovoce.testing.settings import some_settings

SETTINGS = some_settings(timeout=1.0 - 1e-6, backoff_max=8.0)


def contacts(uniform: float = 0.0, **settings: float) -> Contacts:
    return Contacts(some_settings(timeout=1.0 - 1e-6, backoff_max=8.0, **settings), lambda: uniform)  # type: ignore[arg-type]


def test_waiting_times_have_the_mean_of_a_poisson_clock() -> None:
    """Quantiles of an exponential distribution with mean 1/rate (R27)."""
    times = [exponential(4.0, u) for u in np.linspace(0.0, 1.0, 10_000, endpoint=False)]
    assert np.mean(times) == pytest.approx(0.25, rel=1e-2)


def test_a_silent_neighbour_is_left_alone_for_longer_each_time() -> None:
    """Half to the whole of a time that doubles up to the limit; the tick is then skipped, not given to another."""
    for uniform, expected in ((0.0, [0.5, 1.0, 2.0, 4.0, 4.0]), (1.0, [1.0, 2.0, 4.0, 8.0, 8.0])):
        known = contacts(uniform)
        assert [known.failed("bob", now=0.0, late=False) for _ in range(5)] == pytest.approx(expected)
        assert not known.may_call("bob", now=expected[-1] - 0.1)
        assert known.may_call("bob", now=expected[-1] + 0.1)


def test_a_neighbour_that_is_heard_is_called_again_at_once() -> None:
    """Any message ends the pause, and the next failure begins with the shortest."""
    known = contacts()
    for _ in range(3):
        known.failed("bob", now=0.0, late=False)
    assert known.unreachable("bob")
    known.heard("bob", now=1.0)
    assert not known.unreachable("bob")
    assert known.may_call("bob", now=1.0)
    assert known.silence("bob", now=3.5) == 2.5
    assert known.failed("bob", now=1.0, late=False) == 0.5


def test_one_late_answer_does_not_make_a_neighbour_unreachable() -> None:
    """If it was heard just now it is there; a refused connection, or a long silence, is another matter."""
    known = contacts()
    known.heard("bob", now=0.0)
    assert known.failed("bob", now=3.9, late=True) is None
    assert not known.unreachable("bob")
    assert known.failed("bob", now=4.1, late=True) is not None
    known.heard("bob", now=5.0)
    assert known.failed("bob", now=5.1, late=False) is not None


@pytest.mark.parametrize(
    ("settings", "pace"), [({}, 160), ({"rate": 50.0}, 4000), ({"rate": 1.0, "bucket_burst": 1.0}, 100)]
)
def test_a_flood_is_cut_off_and_others_are_not(settings: dict[str, float], pace: int) -> None:
    """At least a hundred a second, more for fast networks; what one neighbour uses up is not another's."""
    known = contacts(**settings)
    assert sum(known.admits("eve", now=0.0) for _ in range(5000)) == pace
    assert known.admits("bob", now=0.0)
    assert sum(known.admits("eve", now=0.5) for _ in range(5000)) == pace // 2


def answer(known: Contacts, name: str, seconds: float, now: float = 0.0) -> None:
    known.answered(name, Kind.REQ, now, seconds)


def test_requests_and_greetings_are_waited_for_separately() -> None:
    """A request is stored before it is answered: what greetings take says nothing about it (R70)."""
    known = contacts()
    known.answered("bob", Kind.HELLO, 0.0, 0.3)
    assert (known.wait("bob", Kind.HELLO), known.wait("bob", Kind.REQ)) == pytest.approx((0.9, 1.0))
    known.gave_up("bob", Kind.REQ, now=7.0, spent=7.0)
    assert (known.wait("bob", Kind.HELLO), known.wait("bob", Kind.REQ)) == pytest.approx((0.9, 2.0))
    assert known.wait("bob", Kind.REQ, repeated=2) == pytest.approx(8.0)


def test_who_does_not_answer_requests_is_asked_less_and_less_often() -> None:
    """R71: one lost request costs nothing; then pauses double, up to the limit; greetings do not end them."""
    known, pauses = contacts(1.0), []
    for _ in range(6):
        known.gave_up("bob", Kind.REQ, now=0.0, spent=1.0)
        known.heard("bob", now=0.1)
        pauses.append(next((k for k in range(100) if known.may_call("bob", now=k - 0.5)), None))
    assert pauses == [0, 2, 3, 5, 9, 10]  # 0, 1, 2, 4, 8, and 9 at most, in halves
    answer(known, "bob", 0.1)
    assert known.may_call("bob", now=0.1)


def test_a_long_wait_in_vain_is_followed_by_nine_times_as_long() -> None:
    """R71: so that such a neighbour has this peer locked for a tenth of the time, whatever the longest pause is."""
    known = contacts(1.0)
    for _ in range(9):
        known.gave_up("bob", Kind.REQ, now=0.0, spent=5.0)
    assert not known.may_call("bob", now=44.9)
    assert known.may_call("bob", now=45.1)


def test_who_greets_and_does_not_answer_is_known() -> None:
    """From the third request in a row on, while it is heard, with the time since the first."""
    known = contacts()
    for k in range(3):
        known.heard("bob", now=10.0 * k + 9.0)
        assert known.unanswered_for("bob", now=10.0 * k + 9.0) is None
        assert not known.once_only("bob")
        known.gave_up("bob", Kind.REQ, now=10.0 * (k + 1), spent=2.0)
    assert known.once_only("bob")
    assert known.unanswered_for("bob", now=50.0) == 42.0
    known.failed("bob", now=50.0, late=False)
    assert known.unanswered_for("bob", now=50.0) is None  # it is not there at all
    known.heard("bob", now=51.0)
    assert known.unanswered_for("bob", now=51.0) == 43.0
    answer(known, "bob", 0.1)
    assert known.unanswered_for("bob", now=51.0) is None
    assert not known.once_only("bob")


def test_a_neighbour_that_was_silent_altogether_does_not_greet() -> None:
    """Requests that nobody answered while nothing was heard say nothing about greetings."""
    known = contacts()
    for _ in range(5):
        known.gave_up("bob", Kind.REQ, now=10.0, spent=2.0)
    assert known.unanswered_for("bob", now=20.0) is None


def test_who_is_much_slower_than_the_others_is_asked_less_often() -> None:
    """R71: more than three times the middle one of the others is slow; alone, or hardly noticed, is not."""
    known = contacts()
    answer(known, "bob", 5.0)
    assert known.may_call("bob", now=0.0)  # nobody to compare with
    for name, seconds in (("ann", 0.1), ("cyd", 1.0), ("dan", 2.0)):
        answer(known, name, seconds)
    for seconds, slow in ((2.9, False), (3.1, True)):
        answer(known, "bob", seconds, now=100.0)
        assert known.may_call("bob", now=100.0 + 5.9 * seconds) is not slow
        assert known.may_call("bob", now=100.0 + 6.1 * seconds)
    near = contacts()
    answer(near, "ann", 0.01)
    answer(near, "bob", 0.19)
    assert near.may_call("bob", now=0.0)


def test_the_clock_rests_for_what_a_call_usually_takes() -> None:
    """R72: not for more than three times the middle one of the others, or the first wait where none is known."""
    known = contacts()
    assert [known.to_rest_for("bob", seconds) for seconds in (2.9, 50.0)] == pytest.approx([2.9, 3.0])
    for name, seconds in (("ann", 0.1), ("bob", 40.0), ("cyd", 0.2), ("dan", 2.0)):
        answer(known, name, seconds)
    assert [known.to_rest_for("bob", seconds) for seconds in (0.5, 50.0)] == pytest.approx([0.5, 0.6])
