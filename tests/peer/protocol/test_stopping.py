"""The range rule by itself: rounds, epochs, intervals."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.peer.protocol.messages import Stop
from sottovoce.peer.protocol.stopping import Interval, RangeRule


class Line:
    """Peers on a path that tell each other in turn; their values do not move."""

    def __init__(self, values: list[float], *, diameter: int, tolerance: float) -> None:
        self.values: list[float | None] = list(values)
        self.rules = [RangeRule(diameter, tolerance, lambda k=k: self.sample(k)) for k in range(len(values))]  # type: ignore[misc]

    def sample(self, k: int) -> Interval | None:
        value = self.values[k]
        return None if value is None else (np.array([value]), np.array([value]))

    def neighbours(self, k: int) -> list[str]:
        return [str(j) for j in (k - 1, k + 1) if 0 <= j < len(self.rules)]

    def sweep(self) -> None:
        for k in range(len(self.rules) - 1):
            for src, dst in ((k, k + 1), (k + 1, k)):
                self.rules[dst].hear(str(src), self.rules[src].stop_for(str(dst)), self.neighbours(dst))


def test_all_learn_the_range_of_all() -> None:
    """After two epochs everybody's interval is that of the whole path, end to end."""
    line = Line([0.0, 0.1, 0.5, 0.2], diameter=3, tolerance=1.0)
    for _ in range(40):
        line.sweep()
    for rule in line.rules:
        assert rule.settled
        assert rule.certified is not None
        assert (rule.certified[0][0], rule.certified[1][0]) == (0.0, 0.5)
        assert rule.error_bound(np.array([0.1])) == pytest.approx(0.4)
        assert rule.error_bound(np.array([0.45])) == pytest.approx(0.45)


@pytest.mark.parametrize("offset", [-100.0, 0.0, 100.0])
@pytest.mark.parametrize(("tolerance", "settled"), [(0.4, False), (0.6, True)])
def test_only_the_width_of_the_range_decides(offset: float, tolerance: float, settled: bool) -> None:
    """All declare if the range is at most the tolerance wide, and nobody otherwise, wherever the values lie."""
    line = Line([offset, offset + 0.1, offset + 0.5, offset + 0.2], diameter=3, tolerance=tolerance)
    for _ in range(40):
        line.sweep()
    assert [rule.settled for rule in line.rules] == [settled] * 4
    assert all(rule.certified is not None for rule in line.rules)


def test_one_silent_value_keeps_all_from_settling() -> None:
    """A peer that must not tell its value makes everybody's interval unbounded, and nothing is certified."""
    line = Line([0.0, 0.0, 0.0, 0.0], diameter=3, tolerance=1.0)
    line.values[3] = None
    for _ in range(40):
        line.sweep()
    assert not any(rule.settled or rule.certified for rule in line.rules)
    line.values[3] = 0.0
    for _ in range(40):
        line.sweep()
    assert all(rule.settled for rule in line.rules)


def test_a_silent_neighbour_stalls_and_does_not_mislead() -> None:
    """A peer that is never heard keeps its neighbour, and those behind it, in the same epoch."""
    line = Line([0.0, 0.0, 0.0, 9.0], diameter=3, tolerance=1.0)
    for _ in range(40):
        for k in range(2):
            for src, dst in ((k, k + 1), (k + 1, k)):
                line.rules[dst].hear(str(src), line.rules[src].stop_for(str(dst)), line.neighbours(dst))
    assert not any(rule.settled for rule in line.rules)
    assert max(rule.round for rule in line.rules) < 6


def test_a_change_unsettles_and_ends_the_epoch_without_a_bound() -> None:
    """After a membership or value change the old bound is gone and a whole new epoch is needed."""
    line = Line([0.0, 0.1], diameter=1, tolerance=1.0)
    for _ in range(20):
        line.sweep()
    rule = line.rules[0]
    rule.disturbed(membership=False)  # a large difference: what the last epoch found was true when it was found
    assert rule.stop_for("late").previous_low is not None
    rule.disturbed()
    assert rule.stop_for("late").previous_low is None
    assert not rule.settled
    assert rule.error_bound(np.array([0.0])) is None
    assert rule.stop_for("1").low is None
    for _ in range(20):
        line.sweep()
    assert rule.settled


def test_the_last_epoch_travels_only_to_those_who_need_it() -> None:
    """An interval costs bytes: two vectors in the same epoch, four to a peer that is behind, none when unbounded."""
    line = Line([0.0, 0.1], diameter=1, tolerance=1.0)
    assert line.rules[0].stop_for("1") == Stop(0)
    for _ in range(9):
        line.sweep()
    counts = {sum(v is not None for v in line.rules[0].stop_for(name)[1:]) for name in ("1", "stranger")}
    assert counts <= {2, 4}
    assert sum(v is not None for v in line.rules[0].stop_for("stranger")[1:]) == 4


def test_a_newcomer_starts_in_the_round_it_hears() -> None:
    """It does not make the others wait through all the rounds it missed, and stays silent in that epoch (R35)."""
    rule = RangeRule(2, 1.0, lambda: (np.zeros(1), np.zeros(1)))
    rule.hear("old", Stop(41, np.zeros(1), np.ones(1)), ["old"])
    assert rule.round == 42
    assert rule.stop_for("old").low is None


def test_jumping_far_ahead_only_unbounds() -> None:
    """A neighbour that claims to be epochs ahead cannot narrow anybody's interval."""
    line = Line([0.0, 0.1], diameter=1, tolerance=1.0)
    for _ in range(10):
        line.sweep()
    rule = line.rules[0]
    rule.hear("1", Stop(rule.round + 100, np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1)), ["1", "other"])
    assert rule.stop_for("1").low is None


def test_the_bound_is_the_distance_to_the_farther_end() -> None:
    """Whichever end that is, and the worst coordinate counts."""
    rule = RangeRule(1, 1.0, lambda: None)
    rule.certified = (np.array([1.0, 10.0]), np.array([3.0, 10.5]))
    for x, bound in (([1.5, 10.0], 1.5), ([2.75, 10.0], 1.75), ([2.0, 12.0], 2.0), ([2.0, 8.0], 2.5)):
        assert rule.error_bound(np.array(x)) == pytest.approx(bound)


def test_the_own_value_is_gathered_in_the_first_half_of_an_epoch_only() -> None:
    """A change in the first half widens the interval; in the second half it has to wait for the next epoch (R33)."""
    value = 0.0
    rule = RangeRule(1, 1.0, lambda: (np.array([value]), np.array([value])))
    for number in range(2):
        rule.hear("1", Stop(number, np.zeros(1), np.zeros(1)), ["1"])
    for value, highest in ((0.5, 0.5), (0.75, 0.5)):  # noqa: B007 - the rule asks for it
        rule.value_changed()
        assert rule.stop_for("1").high == pytest.approx(highest)
        rule.hear("1", Stop(rule.round, np.zeros(1), np.zeros(1)), ["1"])


def test_the_clock_slows_down_once_the_neighbour_has_settled_too() -> None:
    """Not before it is heard in the round in which this peer settled, and not later (R36)."""
    point = (np.zeros(1), np.zeros(1))
    rule = RangeRule(1, 1.0, lambda: point)
    for number in range(4):
        assert not rule.quiet(["1"])
        rule.hear("1", Stop(number, *point), ["1"])
    assert rule.settled
    assert not rule.quiet(["1"])
    rule.hear("1", Stop(4, *point), ["1"])
    assert rule.quiet(["1"])
    assert not rule.quiet(["1", "unheard"])


def interval(rule: RangeRule) -> list[float] | None:
    """What the rule tells a neighbour about the current epoch."""
    stop = rule.stop_for("a")
    return None if stop.low is None or stop.high is None else [float(stop.low[0]), float(stop.high[0])]


def test_a_round_is_over_when_every_neighbour_was_heard_in_it() -> None:
    """One neighbour that was never heard keeps the peer in its round, however often the other speaks (R34)."""
    rule = RangeRule(2, 1.0, lambda: (np.zeros(1), np.zeros(1)))
    for number in range(5):
        rule.hear("a", Stop(number), ["a", "b"])
    assert rule.round == 0
    rule.hear("b", Stop(0), ["a", "b"])
    assert rule.round == 1


def test_a_moving_value_widens_the_interval_in_the_first_half_of_an_epoch_only() -> None:
    """In the second half the union travels and no value is added (R33); an unbounded interval stays unbounded."""
    value = [0.0]
    rule = RangeRule(2, 1.0, lambda: (np.array([value[0]]), np.array([value[0]])))
    rule.value_changed()
    assert interval(rule) is None
    for number in range(4):
        rule.hear("a", Stop(number), ["a"])
    assert rule.round == 4  # a new epoch of four rounds
    assert interval(rule) == [0.0, 0.0]
    seen = []
    for number, moved in enumerate([0.1, -0.2, 0.3, -0.4], start=4):
        value[0] = moved
        rule.value_changed()
        seen.append(interval(rule))
        rule.hear("a", Stop(number, np.zeros(1), np.zeros(1)), ["a"])
    assert seen == [[0.0, 0.1], [-0.2, 0.1], [-0.2, 0.1], [-0.2, 0.1]]


def test_the_clock_slows_only_when_every_neighbour_has_settled_too() -> None:
    """A settled peer is quiet once it has heard each neighbour in the round in which it settled, or later (R36)."""
    rule = RangeRule(1, 1.0, lambda: (np.zeros(1), np.zeros(1)))
    for number in range(4):
        rule.hear("a", Stop(number, np.zeros(1), np.zeros(1)), ["a"])
    assert rule.settled
    assert rule.round == 4
    assert not rule.quiet(["a"])
    rule.hear("a", Stop(4, np.zeros(1), np.zeros(1)), ["a"])
    assert rule.quiet(["a"])
    assert not rule.quiet(["a", "b"])
