"""The range rule by itself: rounds, epochs, intervals."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.peer.protocol.intervals import BLOCK, Interval
from sottovoce.peer.protocol.messages import Stop
from sottovoce.peer.protocol.stopping import RangeRule


class Line:
    """Peers on a path that tell each other in turn; their values do not move."""

    def __init__(self, values: list[int], *, diameter: int, tolerance: int) -> None:
        self.values: list[int | None] = list(values)
        self.rules = [
            RangeRule(diameter, tolerance, lambda k=k: self.sample(k), member=k)  # type: ignore[misc]
            for k in range(len(values))
        ]

    def sample(self, k: int) -> Interval | None:
        value = self.values[k]
        return None if value is None else (np.array([value]), np.array([value]))

    def neighbours(self, k: int) -> list[str]:
        return [str(j) for j in (k - 1, k + 1) if 0 <= j < len(self.rules)]

    def sweep(self) -> None:
        for k in range(len(self.rules) - 1):
            for src, dst in ((k, k + 1), (k + 1, k)):
                stop, declared = self.rules[src].stop_for(str(dst)), self.rules[src].only
                self.rules[dst].hear(str(src), stop, self.neighbours(dst), declared)


def told(rule: RangeRule, name: str) -> Stop:
    stop = rule.stop_for(name)
    assert stop is not None
    return stop


def test_all_learn_the_range_of_all() -> None:
    """After two epochs everybody's interval is that of the whole path, end to end."""
    line = Line([0, 1, 5, 2], diameter=3, tolerance=10)
    for _ in range(40):
        line.sweep()
    for rule in line.rules:
        assert rule.settled
        assert rule.certified is not None
        assert (rule.certified[0][0], rule.certified[1][0]) == (0, 5)
        assert rule.error_bound(np.array([1])) == 4
        assert rule.contributors == 0b1111


@pytest.mark.parametrize("offset", [-1000, 0, 1000])
@pytest.mark.parametrize(("tolerance", "settled"), [(4, False), (5, True)])
def test_only_the_width_of_the_range_decides(offset: int, tolerance: int, settled: bool) -> None:
    """All declare if the range is at most the tolerance wide, and nobody otherwise, wherever the values lie."""
    line = Line([offset, offset + 1, offset + 5, offset + 2], diameter=3, tolerance=tolerance)
    for _ in range(40):
        line.sweep()
    assert [rule.settled for rule in line.rules] == [settled] * 4
    assert all(rule.certified is not None for rule in line.rules)


def test_one_silent_value_keeps_all_from_settling() -> None:
    """A peer that must not tell its value makes everybody's interval unbounded, and nothing is certified."""
    line = Line([0, 0, 0, 0], diameter=3, tolerance=10)
    line.values[3] = None
    for _ in range(40):
        line.sweep()
    assert not any(rule.settled or rule.certified for rule in line.rules)
    line.values[3] = 0
    for _ in range(40):
        line.sweep()
    assert all(rule.settled for rule in line.rules)


def test_a_silent_neighbour_stalls_and_does_not_mislead() -> None:
    """A peer that is never heard keeps its neighbour, and those behind it, in the same epoch."""
    line = Line([0, 0, 0, 90], diameter=3, tolerance=10)
    for _ in range(40):
        for k in range(2):
            for src, dst in ((k, k + 1), (k + 1, k)):
                line.rules[dst].hear(str(src), line.rules[src].stop_for(str(dst)), line.neighbours(dst))
    assert not any(rule.settled for rule in line.rules)
    assert max(rule.round for rule in line.rules) < 6


def test_a_change_unsettles_and_ends_the_epoch_without_a_bound() -> None:
    """After a membership or value change the old bound is gone and a whole new epoch is needed."""
    line = Line([0, 1], diameter=1, tolerance=10)
    for _ in range(20):
        line.sweep()
    rule = line.rules[0]
    rule.disturbed(membership=False)  # a large difference: what the last epoch found was true when it was found
    assert told(rule, "late").previous_low is not None
    rule.disturbed()
    assert told(rule, "late").previous_low is None
    assert not rule.settled
    assert rule.error_bound(np.array([0])) is None
    assert told(rule, "1").low is None
    for _ in range(20):
        line.sweep()
    assert rule.settled


def test_the_last_epoch_travels_only_to_those_who_need_it() -> None:
    """An interval costs bytes: two vectors in the same epoch, four to a peer that is behind, none when unbounded."""
    line = Line([0, 1], diameter=1, tolerance=10)
    assert line.rules[0].stop_for("1") is None
    for _ in range(9):
        line.sweep()
    counts = {sum(v is not None for v in told(line.rules[0], name)[1:5]) for name in ("1", "stranger")}
    assert counts <= {2, 4}
    assert sum(v is not None for v in told(line.rules[0], "stranger")[1:5]) == 4


def newcomer(diameter: int = 2) -> RangeRule:
    return RangeRule(diameter, 10, lambda: (np.array([0]), np.array([0])))


def test_a_newcomer_enters_at_the_least_round_of_its_neighbours() -> None:
    """When it has heard all of them; it does not make them wait through all it missed, and stays silent (R35, R48)."""
    rule = newcomer()
    rule.hear("one", Stop(42), ["one", "two"])
    assert not rule.joined
    assert rule.stop_for("one") is None
    rule.hear("two", Stop(41), ["one", "two"])
    assert (rule.joined, rule.round) == (True, 41)
    assert told(rule, "one").low is None


def test_newcomers_do_not_wait_for_each_other() -> None:
    """One that is in no round yet counts as heard, and not as round 0 (R48)."""
    rule = newcomer()
    rule.hear("other newcomer", None, ["old", "other newcomer"])
    rule.hear("old", Stop(41), ["old", "other newcomer"])
    assert (rule.joined, rule.round) == (True, 41)


@pytest.mark.parametrize("lie", [2**40, 2**62 - 1])
def test_a_newcomer_is_not_led_astray(lie: int) -> None:
    """A neighbour that claims an absurd round does not carry it away, whether heard first or last (R48)."""
    for order in (("liar", "honest"), ("honest", "liar")):
        rule = newcomer()
        for name in order:
            rule.hear(name, Stop(lie if name == "liar" else 7), ["liar", "honest"])
        assert rule.round == 7
        assert told(rule, "honest").round == 7


@pytest.mark.parametrize("lie", [2**40, 2**62 - 1])
def test_a_round_that_cannot_be_is_not_believed(lie: int) -> None:
    """Its interval is not, the round counts as our own, and who is honest goes on without harm (R48)."""
    line = Line([0, 1, 90], diameter=2, tolerance=10)
    for _ in range(20):
        line.sweep()
    rule = line.rules[1]
    before = rule.round
    narrow = np.array([0]), np.array([0])
    for _ in range(30):
        assert not rule.hear("2", Stop(rule.round + lie - 2**30, *narrow, *narrow), ["0", "2"])
        line.rules[0].hear("1", rule.stop_for("0"), ["1"])
        rule.hear("0", line.rules[0].stop_for("1"), ["0", "2"])
        assert not rule.settled
        assert not line.rules[0].settled
    assert before < rule.round < before + 100
    for _ in range(80):
        line.sweep()
    assert abs(line.rules[1].round - line.rules[2].round) <= 2
    line.values[2] = 1
    for _ in range(80):
        line.sweep()
    assert all(one.settled for one in line.rules)


def test_a_peer_that_was_carried_off_falls_back() -> None:
    """Alone with a liar it enters at its round; the first honest round brings it back, without a bound (R48)."""
    rule = newcomer()
    rule.hear("liar", Stop(2**40), ["liar", "honest"])
    rule.hear("honest", None, ["liar", "honest"])
    assert rule.round == 2**40
    rule.hear("honest", Stop(3, np.array([0]), np.array([0])), ["liar", "honest"])
    assert rule.round == 3
    assert told(rule, "honest").low is None
    late = newcomer()
    late.hear("liar", Stop(2**62 - 1), ["liar"])
    assert late.round <= 1


def test_an_interval_is_needed_from_every_neighbour_in_every_epoch() -> None:
    """A neighbour two rounds ahead, heard once, does not count for the whole next epoch (R48)."""
    rule = RangeRule(1, 10, lambda: (np.array([0]), np.array([0])))
    here = ["ahead", "other"]
    rule.hear("ahead", Stop(3), here)
    rule.hear("other", Stop(1), here)
    assert rule.round == 1
    rule.hear("ahead", Stop(3), here)  # its values are not known: the interval is unbounded
    for q in range(1, 6):
        rule.hear("other", Stop(q, np.array([0]), np.array([0]), np.array([0]), np.array([0])), here)
    assert not rule.settled
    assert rule.round == 3


def test_another_roster_ends_the_epoch_without_a_declaration() -> None:
    """The bound is gone and the epoch has its new length (R49)."""
    line = Line([0, 1], diameter=1, tolerance=10)
    for _ in range(20):
        line.sweep()
    rule = line.rules[0]
    assert rule.settled
    rule.resize(3, 10, 1)
    assert (rule.settled, rule.certified, rule.epoch_rounds) == (False, None, 6)


def test_a_round_is_news_until_it_is_told() -> None:
    """Entering a round is news for each neighbour once, if the own value may be told (R62)."""
    rule = newcomer()
    rule.hear("one", Stop(0), ["one", "two"])
    assert not rule.has_news_for("one")
    rule.hear("two", Stop(0), ["one", "two"])
    rule.hear("one", Stop(0), ["one", "two"])
    assert rule.round == 1
    assert rule.has_news_for("one")
    rule.stop_for("one")
    assert [rule.has_news_for(name) for name in ("one", "two")] == [False, True]


def test_who_may_not_tell_its_value_has_no_news() -> None:
    """It advances with the others, but does not hurry them; when its value is ready it does (R62)."""
    line = Line([0, 1], diameter=2, tolerance=10)
    line.values[0] = None
    for _ in range(12):
        line.sweep()
        assert not line.rules[0].has_news_for("1")
    line.values[0] = 1
    line.rules[0].value_changed()
    line.rules[0]._told.clear()
    assert line.rules[0].has_news_for("1")


def test_an_epoch_is_promising_until_something_speaks_against_it() -> None:
    """Not without an interval, and not when it is wider than the tolerance (R62)."""
    rule = RangeRule(2, 10, lambda: None)
    assert not rule.promising
    for width, promising in ((10, True), (11, False)):
        rule._interval = (np.array([0]), np.array([width]))
        assert rule.promising is promising
    rule.settled = True
    assert rule.promising


def test_the_bound_is_the_distance_to_the_farther_end() -> None:
    """Whichever end that is, and the worst coordinate counts."""
    rule = RangeRule(1, 10, lambda: None)
    rule.certified = (np.array([10, 100]), np.array([30, 105]))
    for x, bound in (([15, 100], 15), ([27, 100], 17), ([20, 120], 20), ([20, 80], 25)):
        assert rule.error_bound(np.array(x)) == bound


def test_the_own_value_is_gathered_in_the_first_half_of_an_epoch_only() -> None:
    """A change in the first half widens the interval; in the second half it has to wait for the next epoch (R33)."""
    value, zero = 0, np.array([0])
    rule = RangeRule(1, 10, lambda: (np.array([value]), np.array([value])))
    for number in range(2):
        rule.hear("1", Stop(number, zero, zero), ["1"])
    for value, highest in ((5, 5), (7, 5)):  # noqa: B007 - the rule asks for it
        rule.value_changed()
        assert told(rule, "1").high == highest
        rule.hear("1", Stop(rule.round, zero, zero), ["1"])


def test_the_clock_slows_down_once_the_neighbour_has_settled_too() -> None:
    """Not before it is heard in the round in which this peer settled, and not later (R36)."""
    point = (np.array([0]), np.array([0]))
    rule = RangeRule(1, 10, lambda: point)
    for number in range(4):
        assert not rule.quiet(["1"])
        rule.hear("1", Stop(number, *point), ["1"])
    assert rule.settled
    assert not rule.quiet(["1"])
    rule.hear("1", Stop(4, *point), ["1"])
    assert rule.quiet(["1"])
    assert not rule.quiet(["1", "unheard"])


def test_of_an_epoch_that_cannot_end_in_agreement_a_topic_tells_nothing() -> None:
    """While a topic has no answer, an interval wider than the tolerance does not travel; afterwards it does."""
    for restless in (True, False):
        line = Line([0, 100], diameter=1, tolerance=10)
        for rule in line.rules:
            rule.restless = restless
        seen = 0
        for _ in range(20):
            line.sweep()
            stops = [told(rule, "x") for rule in line.rules]
            seen = max(seen, *(0 if s.low is None or s.high is None else int(s.high[0] - s.low[0]) for s in stops))
        assert seen == (0 if restless else 100)


def test_who_is_bound_is_told_to_all() -> None:
    """The set of those that let nobody in or out any more reaches everybody, and is gathered anew in every epoch."""
    line = Line([0, 1, 2, 3], diameter=3, tolerance=10)
    line.rules[0].bound = line.rules[2].bound = True
    found = []
    for _ in range(60):
        line.sweep()
        found += [rule.agreement() for rule in line.rules]
    agreed = [agreement for agreement in found if agreement is not None]
    assert {agreement.contributors for agreement in agreed} == {0b1111}
    assert {agreement.ready for agreement in agreed} == {0b0101}


def test_an_epoch_with_anybody_else_than_was_declared_ends_without_agreement() -> None:
    """One peer has declared the first three; with the fourth among them nobody agrees any more."""
    line = Line([0, 1, 2, 3], diameter=3, tolerance=10)
    line.rules[0].declare(0b0111, (np.array([0]), np.array([2])))
    found = []
    for _ in range(60):
        line.sweep()
        found += [rule.agreement() for rule in line.rules]
    assert found.count(None) == len(found)


def intervals_told(line: Line, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many intervals travel until all are in their fourth epoch."""
    stop_for, count = RangeRule.stop_for, 0

    def counting(rule: RangeRule, name: str) -> Stop | None:
        nonlocal count
        stop = stop_for(rule, name)
        count += stop is not None and stop.low is not None
        return stop

    with monkeypatch.context() as patch:
        patch.setattr(RangeRule, "stop_for", counting)
        for _ in range(2000):
            if min(rule.epoch for rule in line.rules) >= 3:
                break
            line.sweep()
    return count


@pytest.mark.parametrize("early", [True, False])
def test_an_interval_is_told_to_each_neighbour_once(early: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values stand still: what a neighbour has taken in is left out, however many rounds an epoch has (R87)."""
    counts = []
    for diameter in (5, 50):
        line = Line([0, 1, 5, 2], diameter=diameter, tolerance=10)
        for rule in line.rules:
            rule.early = early
        counts.append(intervals_told(line, monkeypatch))
        assert all(rule.settled for rule in line.rules)
    assert 0 < counts[1] <= counts[0] + 6


def test_a_topic_tells_nothing_in_the_first_half_of_an_epoch() -> None:
    """Nor does it need to: all agree on the same range and members as with intervals in every round (R87)."""
    for early in (True, False):
        line = Line([0, 1, 5, 2], diameter=3, tolerance=10)
        for rule in line.rules:
            rule.early = early
        for _ in range(40):
            line.sweep()
            for rule in line.rules:
                first = rule.joined and rule.round % rule.epoch_rounds < 3
                assert early or not first or told(rule, "stranger").low is None
        for rule in line.rules:
            assert rule.certified is not None
            assert (rule.certified[0][0], rule.certified[1][0], rule.contributors) == (0, 5, 0b1111)


def test_who_lacks_an_interval_that_was_left_out_has_not_heard_it() -> None:
    """The round does not go on until it is told; in the first half of an epoch nothing is lacking (R87)."""
    rule, zero = newcomer(diameter=1), np.array([0])
    for stop in (Stop(0, version=7), Stop(1, zero, zero, version=7), Stop(2, version=8)):
        assert told(rule, "one").taken == 0 if rule.joined else True
        rule.hear("one", stop, ["one"])
    assert rule.round == 3
    rule.hear("one", Stop(3, version=8), ["one"])
    assert (rule.round, told(rule, "one").taken) == (3, 0)
    rule.hear("one", Stop(3, zero, zero, version=8), ["one", "other"])
    assert (rule.round, told(rule, "one").taken) == (3, 8)
    rule.hear("one", Stop(3, version=8), ["one"])
    assert (rule.round, rule.settled) == (4, True)


def test_a_message_that_arrives_after_a_later_one_takes_nothing_back() -> None:
    """What was taken in with the later one stays: left out from then on, it is not lacking (R87)."""
    rule, zero = newcomer(diameter=2), np.array([0])
    for number in range(6):
        rule.hear("one", Stop(number, zero, zero, version=7), ["one"])
    rule.hear("one", Stop(6, zero, zero + 3, version=9), ["one", "two"])
    rule.hear("one", Stop(6, zero, zero + 1, version=8), ["one", "two"])
    assert told(rule, "one").taken == 9
    rule.hear("one", Stop(6, version=9), ["one"])
    assert rule.round == 7
    rule.hear("one", Stop(7, version=8), ["one"])
    assert rule.round == 8


def test_what_a_neighbour_has_taken_in_is_not_told_again_until_it_changes() -> None:
    """Its word for it counts in the same epoch; a wider interval, and the next epoch's, are told (R87)."""
    rule, zero = newcomer(diameter=2), np.array([0])
    for number in range(5):
        rule.hear("one", Stop(number, zero, zero, version=1), ["one"])
    number = told(rule, "one").version
    assert told(rule, "one").low is not None
    rule.hear("one", Stop(5, zero, zero, version=2, taken=number), ["one", "two"])
    assert told(rule, "one") == told(rule, "one")._replace(low=None, high=None, version=number)
    rule.hear("one", Stop(5, zero, zero + 3, version=3, taken=number), ["one", "two"])
    wider = told(rule, "one")
    assert wider.high is not None
    assert (int(wider.high[0]), wider.version > number) == (3, True)


def test_members_count_only_with_their_interval() -> None:
    """Paths that are longer than D: who was heard of, and whose interval cannot have come, is in no agreement (R87)."""
    line = Line([0, 1, 2, 3, 4], diameter=2, tolerance=10)
    for early, found in ((False, 0b00111), (True, 0b11111)):
        for rule in line.rules:
            rule.early = early
        for _ in range(40):
            line.sweep()
        assert line.rules[0].contributors == found


def test_an_interval_is_compared_to_its_last_number() -> None:
    """Where one long interval leaves another only in its last coordinate, at either end, the union is wider."""
    many = 3 * BLOCK + 5
    inside = np.zeros(many, dtype=np.int64), np.full(many, 4)
    for end, beyond in ((0, -1), (1, 5)):
        value = np.full(many, 2)
        rule = RangeRule(1, 100, lambda value=value: (value, value))  # type: ignore[misc]
        rule.joined, rule._interval = True, inside
        value[-1] = beyond
        rule.value_changed()
        assert rule._interval is not None
        assert rule._interval[end][-1] == beyond
        assert rule._interval[end][:-1].tolist() == inside[end][:-1].tolist()


def test_a_late_rumour_of_a_member_does_not_stand_for_its_interval() -> None:
    """In the first half of a topic's epoch members are only heard of (R87), however late such a message arrives."""
    own = np.array([0]), np.array([0])
    rule = RangeRule(2, 10, lambda: own, member=0)
    rule.early, rule.restless = False, True
    rule.hear("n", Stop(0, contributors=0b010), ["n"])
    for number in (0, 1, 2, 3):  # through an epoch, so that the next has its own interval from the beginning
        rule.hear("n", Stop(number, *own, contributors=0b010, version=5), ["n"])
    rule.hear("n", Stop(4, contributors=0b010, version=6), ["n"])
    rule.hear("n", Stop(5, contributors=0b010, version=6), ["n"])
    assert rule.round == 6
    rule.hear("n", Stop(6, *own, contributors=0b010, version=6), ["n"])
    assert told(rule, "m").contributors == 0b011
    rule.hear("n", Stop(5, contributors=0b110, version=6), ["n"])  # what it said before, and had heard of
    assert told(rule, "m").contributors == 0b011
    assert rule.heard_of & 0b100
    rule.hear("n", Stop(7, contributors=0b110, version=6), ["n"])  # its interval is the same, and now holds that one's
    assert rule.contributors == 0b111
