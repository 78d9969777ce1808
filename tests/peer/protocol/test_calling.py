"""When to call whom: choices, waiting times, silent neighbours and floods, without a clock."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sottovoce.peer.protocol.calling import Contacts, exponential, timeouts
from sottovoce.testing.settings import some_settings

SETTINGS = some_settings(timeout=1.0 - 1e-6, backoff_max=8.0)


def contacts(uniform: float = 0.0, **settings: float) -> Contacts:
    return Contacts(some_settings(timeout=1.0 - 1e-6, backoff_max=8.0, **settings), lambda: uniform)  # type: ignore[arg-type]


def test_every_neighbour_is_chosen_equally_often() -> None:
    """A uniform number picks one of them, whatever their number (R27)."""
    numbers = iter(np.linspace(0.0, 1.0, 300, endpoint=False).tolist())
    chooser = Contacts(SETTINGS, lambda: next(numbers))
    chosen = [chooser.choose(["bob", "cyd", "dan"], now=0.0) for _ in range(300)]
    assert [chosen.count(name) for name in ("bob", "cyd", "dan")] == [100, 100, 100]
    assert chooser.choose([], now=0.0) is None


def test_waiting_times_have_the_mean_of_a_poisson_clock() -> None:
    """Quantiles of an exponential distribution with mean 1/rate (R27)."""
    times = [exponential(4.0, u) for u in np.linspace(0.0, 1.0, 10_000, endpoint=False)]
    assert np.mean(times) == pytest.approx(0.25, rel=1e-2)


def test_a_silent_neighbour_is_left_alone_for_longer_each_time() -> None:
    """Half to the whole of a time that doubles up to the limit; the tick is then skipped, not given to another."""
    for uniform, expected in ((0.0, [0.5, 1.0, 2.0, 4.0, 4.0]), (1.0, [1.0, 2.0, 4.0, 8.0, 8.0])):
        known = contacts(uniform)
        assert [known.failed("bob", now=0.0, late=False) for _ in range(5)] == pytest.approx(expected)
        assert known.choose(["bob"], now=expected[-1] - 0.1) is None
        assert known.choose(["bob"], now=expected[-1] + 0.1) == "bob"


def test_a_neighbour_that_is_heard_is_called_again_at_once() -> None:
    """Any message ends the pause, and the next failure begins with the shortest."""
    known = contacts()
    for _ in range(3):
        known.failed("bob", now=0.0, late=False)
    assert known.unreachable("bob")
    known.heard("bob", now=1.0)
    assert not known.unreachable("bob")
    assert known.choose(["bob"], now=1.0) == "bob"
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


@pytest.mark.parametrize(("settings", "pace"), [({}, 120), ({"rate": 50.0}, 1000), ({"bucket_burst": 1.0}, 100)])
def test_a_flood_is_cut_off_and_others_are_not(settings: dict[str, float], pace: int) -> None:
    """At least a hundred a second, more for fast networks; what one neighbour uses up is not another's."""
    known = contacts(**settings)
    assert sum(known.admits("eve", now=0.0) for _ in range(3000)) == pace
    assert known.admits("bob", now=0.0)
    assert sum(known.admits("eve", now=0.5) for _ in range(3000)) == pace // 2


def test_timeouts_double_and_grow_with_the_vector() -> None:
    """A million coordinates get a second more (R17)."""
    waits = timeouts(some_settings(dimension=1_000_000, timeout=0.5))
    assert list(itertools.islice(waits, 3)) == [1.5, 3.0, 6.0]
