"""One vector from which all measure (R97), and values that are gathered before they may be told (R98)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.peer.protocol.intervals import Around, Interval, Reference, ends, holds, measured, union, width
from sottovoce.peer.protocol.messages import Message, Stop, Told
from sottovoce.peer.protocol.stopping import RangeRule
from sottovoce.testing import SimulatedNetwork

Lie = Callable[[Stop], Stop]


class Graph:
    """Peers with vectors that do not move unless told to, on any graph. They talk over one edge at a time."""

    def __init__(self, edges: list[tuple[int, int]], values: np.ndarray, *, diameter: int, tolerance: int) -> None:
        self.edges, self.values = edges, values.astype(np.int64)
        self.mute: set[int] = set()
        self.lies: dict[int, Lie] = {}
        self.told: list[tuple[int, int, Stop]] = []
        self.rules = [self.rule(k, diameter, tolerance) for k in range(len(values))]

    def rule(self, k: int, diameter: int, tolerance: int) -> RangeRule:
        rule = RangeRule(
            diameter, tolerance, lambda: None if k in self.mute else self.own(k), member=k, collect=lambda: self.own(k)
        )
        rule.early, rule.restless, rule.references.wanted = False, True, True
        return rule

    def own(self, k: int) -> Interval:
        return self.values[k].copy(), self.values[k].copy()

    def around(self, k: int) -> list[str]:
        return [str(a + b - k) for a, b in self.edges if k in (a, b)]

    def tell(self, src: int, dst: int) -> None:
        stop = self.rules[src].stop_for(str(dst))
        if stop is not None and src in self.lies:
            stop = self.lies[src](stop)
        if stop is not None:
            self.told.append((src, dst, stop))
        self.rules[dst].hear(str(src), stop, self.around(dst), self.rules[src].only)

    def exchange(self, a: int, b: int) -> None:
        total = self.values[a] + self.values[b]
        self.values[a], self.values[b] = total // 2, total - total // 2
        self.rules[a].value_changed()
        self.rules[b].value_changed()

    def sweep(self) -> None:
        for a, b in self.edges:
            self.tell(a, b)
            self.tell(b, a)

    def until(self, epoch: int) -> None:
        for _ in range(1000):
            if min(rule.epoch for rule in self.rules) >= epoch:
                return
            self.sweep()
        raise AssertionError("the rounds stand still")


PATH = [(0, 1), (1, 2), (2, 3)]


def near(count: int = 4, *, size: int = 5, most: int = 40) -> np.ndarray:
    rng = np.random.default_rng(3)
    return 10**6 * rng.integers(-5, 6, size=size) + rng.integers(0, most, size=(count, size))


def vectors_in(stop: Stop) -> int:
    return sum(vector is not None for vector in (stop.low, stop.high, stop.previous_low, stop.previous_high))


def test_two_numbers_tell_an_interval() -> None:
    """All have the same interval, with all values; no vector travels but the reference, once each way at most."""
    graph = Graph(PATH, near(), diameter=3, tolerance=100)
    graph.until(2)
    low, high = graph.rules[0].certified or pytest.fail("nothing was found")
    assert (low <= graph.values.min(axis=0)).all()
    assert (high >= graph.values.max(axis=0)).all()
    for rule in graph.rules:
        assert rule.settled
        assert rule.contributors == 0b1111
        np.testing.assert_array_equal(rule.certified, (low, high))
    carried = [stop for _, _, stop in graph.told if stop.round < 12]
    assert sum(map(vectors_in, carried)) == 0
    assert any(stop.around for stop in carried)
    reference = {(src, dst) for src, dst, stop in graph.told if stop.centre is not None}
    assert {(0, 1), (1, 2), (2, 3)} <= reference
    assert sum(stop.centre is not None for stop in carried) <= 2 * len(PATH)


def test_the_first_that_was_heard_of_proposes() -> None:
    """One vector for all; nobody else's travels."""
    graph = Graph(PATH, near(), diameter=3, tolerance=100)
    graph.until(2)
    proposed = {stop.owner for _, _, stop in graph.told if stop.reference}
    assert proposed == {0}
    for _, _, stop in graph.told:
        if stop.centre is not None:
            np.testing.assert_array_equal(stop.centre, graph.values[0])


def test_a_proposal_that_is_still_near_does_not_travel_again() -> None:
    """In the next epochs its name is enough; when values have gone away from it, another is proposed."""
    graph = Graph(PATH, near(), diameter=3, tolerance=400)
    graph.until(2)
    graph.told.clear()
    graph.until(4)
    assert all(stop.centre is None for _, _, stop in graph.told)
    assert any(stop.around for _, _, stop in graph.told)
    graph.values += 1000
    for rule in graph.rules:
        rule.value_changed()
    graph.until(7)
    assert any(stop.centre is not None for _, _, stop in graph.told)
    assert all(rule.settled for rule in graph.rules)


def test_who_is_far_from_the_reference_tells_vectors() -> None:
    """The answer is found all the same, wherever the range of values allows it."""
    values = near(most=10)
    values[3] += 70
    graph = Graph(PATH, values, diameter=3, tolerance=100)
    graph.until(2)
    assert all(rule.settled for rule in graph.rules)
    assert sum(vectors_in(stop) for src, _, stop in graph.told if src == 3) > 0
    for rule in graph.rules[1:]:
        np.testing.assert_array_equal(rule.certified, graph.rules[0].certified)


@pytest.mark.parametrize("wanted", [True, False])
def test_values_that_rest_are_not_kept_from_agreement_by_an_old_reference(wanted: bool) -> None:
    """All within half the tolerance, the first still near what it proposed: measured from that they are too wide."""
    graph = Graph(PATH, np.zeros((4, 2)), diameter=3, tolerance=100)
    for rule in graph.rules:
        rule.references.wanted = wanted
    graph.until(2)
    graph.values[:] = [[25, 0], [25, -33], [40, -33], [75, 0]]
    for rule in graph.rules:
        rule.value_changed()
        rule.disturbed()
    graph.until(6)
    for rule in graph.rules:
        assert rule.settled
        np.testing.assert_array_equal(rule.certified, graph.rules[0].certified)


def test_after_an_epoch_in_vectors_references_are_used_again() -> None:
    """One epoch is lost for values far from each other; the next is told as it is, and those after it are not."""
    graph = Graph(PATH, near(most=400), diameter=3, tolerance=100)
    graph.until(2)
    assert not any(rule.settled for rule in graph.rules)
    for _ in range(20):
        for a, b in graph.edges:
            graph.exchange(a, b)
    graph.until(3)
    graph.told.clear()
    graph.until(4)
    assert all(rule.settled for rule in graph.rules)
    assert sum(vectors_in(stop) for _, _, stop in graph.told) == 0


def far_away(stop: Stop) -> Stop:
    other = Reference(0, np.full(5, 10**9))
    return stop._replace(reference=other.digest, owner=0, centre=other.vector)


def two_under_one_name() -> Lie:
    turn = itertools.count()
    one = Reference(0, np.full(5, 10**9))
    return lambda stop: stop._replace(reference=one.digest, owner=0, centre=one.vector + next(turn) % 2)


@pytest.mark.parametrize("member", [0, 1, 3])
@pytest.mark.parametrize("lie", [far_away, two_under_one_name()], ids=["far away", "two under one name"])
def test_a_liars_reference_keeps_nobody_from_the_answer(member: int, lie: Lie) -> None:
    """Everybody else tells vectors then, or measures from an honest one; what is found holds all honest values."""
    graph = Graph([*PATH, (0, 3)], near(), diameter=2, tolerance=100)
    graph.lies[member] = lie
    graph.until(4)
    for k, rule in enumerate(graph.rules):
        if k != member:
            assert rule.settled
            assert rule.certified is not None
            assert holds(rule.certified, graph.own(k))


def test_another_vector_under_the_name_of_a_reference_is_not_taken_up() -> None:
    """The digest is computed where the vector arrives (R97)."""
    graph = Graph(PATH, near(), diameter=3, tolerance=100)
    graph.until(1)
    references, true = graph.rules[2].references, Reference(0, np.arange(5))
    lie = Stop(6, reference=true.digest, owner=0, centre=true.vector + 1)
    assert not references.hear("1", lie, early=True, next_epoch=False)
    assert references.hear("1", lie._replace(centre=true.vector), early=True, next_epoch=False)
    assert references.held is not None
    np.testing.assert_array_equal(references.held.vector, true.vector)


def test_an_interval_around_another_reference_counts_as_not_heard() -> None:
    """Its two numbers mean nothing here (R87, R97)."""
    graph = Graph(PATH, near(), diameter=3, tolerance=100)
    while min(rule.round for rule in graph.rules) < 9:
        graph.sweep()
    rule, held, other = graph.rules[3], graph.rules[3].references.held, Reference(0, np.arange(5))
    assert held is not None
    number = rule.round
    for reference in (other, held):
        stop = Stop(number, around=Told(reference.digest, 1, 1), version=10**6, reference=held.digest)
        rule.hear("2", stop, ["2"])
        assert (rule.round > number) == (reference is held)


def test_a_better_reference_comes_too_late_in_the_second_half() -> None:
    """Whoever took it up would have a wider interval than those that it does not reach any more."""
    graph = Graph(PATH, near(), diameter=3, tolerance=100)
    while min(rule.round for rule in graph.rules) < 9:
        graph.sweep()
    rule, vectors = graph.rules[3], [graph.values[3] - number for number in range(40)]
    held, interval = rule.references.held, rule._interval
    better = min((Reference(0, vector) for vector in vectors), key=lambda reference: reference.digest)
    assert held is not None
    assert held.digest > better.digest
    rule.hear("2", Stop(rule.round - 1, version=10**6, reference=better.digest, centre=better.vector), ["2"])
    assert rule.references.held is held
    assert rule._interval is interval


def test_what_is_measured_from_another_reference_has_another_number() -> None:
    """Where intervals are told in every round, a neighbour may have taken in the narrower one (R87, R97)."""
    graph = Graph([(0, 1)], near(2, most=5), diameter=2, tolerance=100)
    for rule in graph.rules:
        rule.early = True
    graph.until(1)
    rule, better = graph.rules[1], Reference(0, graph.values[1] - 20)
    rule.references.held = Reference(1, graph.values[1])
    rule._interval = rule.references.seen_from(graph.own(1))
    before = rule.stop_for("0")
    rule.hear("0", Stop(rule.round, version=5, reference=better.digest, centre=better.vector, owner=0), ["0"])
    after = rule.stop_for("0")
    assert before is not None
    assert after is not None
    assert after.reference == better.digest
    assert after.version > before.version


def test_a_neighbour_that_lost_the_reference_is_told_vectors() -> None:
    """Whoever starts again in the middle of an epoch says that it holds none, and nobody waits for ever (R87, R97)."""
    graph = Graph(PATH, near(), diameter=3, tolerance=100)
    graph.until(1)
    while min(rule.round for rule in graph.rules) < 9:
        graph.sweep()
    graph.rules[2] = graph.rule(2, 3, 100)
    for rule in graph.rules:
        rule.forget("2")
    graph.until(5)
    assert all(rule.settled for rule in graph.rules)


def test_two_numbers_of_another_reference_are_not_read() -> None:
    """They count as not heard, in this epoch and in the last one; from the reference that is held they are (R97)."""
    graph = Graph([(0, 1)], near(2), diameter=2, tolerance=100)
    graph.until(1)
    while graph.rules[1].round < 6:
        graph.sweep()
    rule, other = graph.rules[1], Reference(0, np.arange(5))
    assert rule.references.held is not None
    for name, moves in ((other.digest, False), (rule.references.held.digest, True)):
        told, before = Told(name, 7, 7), rule.round
        rule.hear("0", Stop(before, version=90, around=told, reference=name), ["0"])
        assert (rule.round > before) is moves
        rule.hear("0", Stop(8, previous_version=90, previous_around=told, reference=name), ["0"])
    assert rule.epoch == 2


def restarted(graph: Graph) -> None:
    graph.rules[2] = graph.rule(2, 3, 400)


def on_another_roster(graph: Graph) -> None:
    for k, rule in enumerate(graph.rules):
        rule.resize(3, 400, k)


@pytest.mark.parametrize("happens", [restarted, on_another_roster])
def test_whoever_has_lost_a_reference_gets_it_again(happens: Callable[[Graph], None]) -> None:
    """It had named it before, and values rest, so that the same is proposed again; nobody has a new life (R2, R49)."""
    graph = Graph(PATH, near(), diameter=3, tolerance=400)
    graph.until(2)
    happens(graph)
    graph.until(max(rule.epoch for rule in graph.rules) + 3)
    graph.told.clear()
    graph.until(max(rule.epoch for rule in graph.rules) + 2)
    assert sum(vectors_in(stop) for _, _, stop in graph.told) == 0
    assert any(stop.around for _, _, stop in graph.told)


def test_another_roster_decides_anew_whether_references_are_worth_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who was there before it does as those who start with it (R49, R97)."""
    monkeypatch.setattr("sottovoce.peer.protocol.core.WANTED_FROM", 1)
    net = SimulatedNetwork(
        [("ada", "bob")], {"ada": 1.0, "bob": 2.0}, noise_std=1.0, noise_decay=0.5, seed=1, missing="wait"
    )
    ada = net.peers["ada"].protocol
    assert ada is not None
    for diameter in (1, 3, 2):
        ada.reconfigure(replace(ada.settings, diameter=diameter))
        assert ada.rule.references.wanted == (diameter == 3)


def test_one_that_forgets_what_it_held_does_not_stop_the_rounds() -> None:
    """It shows no name in its next message; what it is told from then on are vectors."""
    graph = Graph(PATH, near(), diameter=3, tolerance=100)
    graph.until(1)
    while graph.rules[2].references.held is None or min(rule.round for rule in graph.rules) < 9:
        graph.sweep()
    graph.rules[2].references.held = graph.rules[2].references._last = None
    graph.told.clear()
    graph.until(2)
    assert any(stop.low is not None for _, dst, stop in graph.told if dst == 2)


def test_a_reference_of_the_next_epoch_is_kept_for_it() -> None:
    """A neighbour that is an epoch ahead may not speak again before its first round is over here, too."""
    graph = Graph([(0, 1)], near(2), diameter=1, tolerance=100)
    graph.until(1)
    rule, other = graph.rules[1], Reference(0, np.arange(5))
    ahead = Stop(rule.round + 2 - rule.round % 2, reference=other.digest, owner=0, centre=other.vector)
    rule.hear("0", ahead, ["0"])
    for number in itertools.count(rule.round):
        if rule.epoch * 2 >= ahead.round:
            break
        rule.hear("0", Stop(number), ["0"])
    assert rule.references.held is not None
    assert rule.references.held.digest == other.digest


def test_a_value_that_may_not_be_told_yet_is_gathered_and_not_told() -> None:
    """Ready in time for the second half: the epoch is not lost, and holds what the value was before (R98)."""
    for speaks in (True, False):
        graph = Graph(PATH, near(most=10), diameter=3, tolerance=100)
        graph.mute.add(2)
        graph.until(1)
        before = graph.values[2].copy()
        graph.values[2] += 20
        graph.rules[2].value_changed()
        assert all(stop.low is None and stop.around is None for _, _, stop in graph.told)
        if speaks:
            graph.mute.clear()
        graph.until(2)
        assert [rule.settled for rule in graph.rules] == [speaks] * 4
        if speaks:
            assert all(holds(rule.certified, (before, before)) for rule in graph.rules if rule.certified)
            assert all(holds(rule.certified, graph.own(2)) for rule in graph.rules if rule.certified)


def test_a_topic_that_begins_to_tell_in_every_round_does_not_tell_what_it_only_gathered() -> None:
    """Agreement among fewer than all, in an epoch after which one may not tell its value (R87, R98)."""
    net = SimulatedNetwork(
        [("ada", "bob"), ("bob", "cyd")], {"ada": 1.0, "bob": 5.0, "cyd": 9.0}, noise_std=0.01, noise_decay=0.1, seed=1,
        diameter=2, members=4, missing="wait",
    )  # fmt: skip
    ada = net.peers["ada"].protocol
    assert ada is not None
    assert net.run(100.0, until=lambda: ada.rule.promising and ada.rule.round % 4 == 3)
    told: list[Stop] = []

    def listen(m: Message) -> Message:
        told.extend([] if m.stop is None else [m.stop])
        return m

    net.stopped_ticking, net.liars["ada"] = True, listen
    ada._links["bob"].disagreement = 10**9
    epoch = ada.rule.epoch
    net.run(5.0)
    assert ada.rule.early
    assert {stop.round // 4 for stop in told} > {epoch + 1}
    assert all(stop.low is None for stop in told if stop.round // 4 > epoch)


def test_who_may_not_tell_its_value_proposes_nothing() -> None:
    """A proposal is a value that the whole network sees (R32, R97)."""
    graph = Graph(PATH, near(), diameter=3, tolerance=100)
    graph.mute.add(0)
    graph.until(3)
    assert not any(stop.reference or stop.centre is not None for _, _, stop in graph.told)
    assert not any(rule.settled for rule in graph.rules)


def test_a_proposal_is_withdrawn_when_members_change() -> None:
    """What might be told when the epoch began may lack its cover now (R32): nobody is told it who has not been yet."""
    graph = Graph([(0, 1), (1, 2), (2, 3)], near(), diameter=3, tolerance=100)
    graph.until(1)
    first = graph.rules[0]
    assert first.references.held is not None
    first.disturbed()
    assert told_centre(graph, 0, 1) is None
    assert first.references.held is None
    graph.until(4)
    assert all(rule.settled for rule in graph.rules)


def told_centre(graph: Graph, src: int, dst: int) -> np.ndarray | None:
    stop = graph.rules[src].stop_for(str(dst))
    assert stop is not None
    return stop.centre


def test_no_representation_shows_a_number() -> None:
    """Neither of a value nor of how far one is from the reference: such words end in logs."""
    vector = np.full(3, 987_654)
    reference = Reference(1, vector)
    told = Told(reference.digest, 987_654, 987_654)
    stop = Stop(2, vector, vector, around=told, reference=reference.digest, owner=1, centre=vector)
    for shown in (reference, Around(reference, 987_654, 987_654), told, stop):
        assert "987" not in repr(shown).replace(reference.digest.hex()[:16], "")


Step = tuple[int, str]


@st.composite
def networks(draw: st.DrawFn) -> tuple[Graph, list[Step]]:
    """A connected graph, values near each other or not, and what happens on which edge."""
    count = draw(st.integers(2, 6))
    tree = [(draw(st.integers(0, k - 1)), k) for k in range(1, count)]
    pairs = [pair for pair in itertools.combinations(range(count), 2) if pair not in tree]
    edges = tree + draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3) if pairs else st.just([]))
    spread = draw(st.sampled_from([0, 3, 8, 14, 30]))
    vector = st.lists(st.integers(-spread, spread), min_size=3, max_size=3)
    values = np.array(draw(st.lists(vector, min_size=count, max_size=count)))
    what = st.sampled_from(["talk", "half of it is lost", "exchange"])
    steps = draw(st.lists(st.tuples(st.integers(0, len(edges) - 1), what), max_size=200))
    return Graph(edges, values, diameter=max(count - 1, 1), tolerance=16), steps


@given(networks())
@settings(max_examples=200, deadline=None)
def test_what_is_found_holds_all_values_in_any_order(case: tuple[Graph, list[Step]]) -> None:
    """Messages are lost, values move: whoever finds agreement in an epoch finds the same, and all values stay in it."""
    graph, steps = case
    for number, what in steps:
        a, b = graph.edges[number]
        if what == "exchange":
            graph.exchange(a, b)
            continue
        graph.tell(a, b)
        if what == "talk":
            graph.tell(b, a)
        for rule in graph.rules:
            assert rule.certified is None or all(holds(rule.certified, graph.own(k)) for k in range(len(graph.rules)))
    graph.until(max(rule.epoch for rule in graph.rules) + 3)
    found = [rule.certified for rule in graph.rules if rule.certified is not None]
    for one in found:
        assert width(one) <= 16
        assert all(holds(one, graph.own(k)) for k in range(len(graph.rules)))
        np.testing.assert_array_equal(one, found[0])
    spread = int(np.ptp(graph.values, axis=0).max())
    assert found or spread > 8, "twice the range of all values is no more than the tolerance, so all go along"


numbers = st.lists(st.integers(-50, 50), min_size=4, max_size=4).map(np.array)


@given(numbers, numbers, numbers, numbers)
def test_intervals_around_one_reference_unite_as_vectors_do(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, centre: np.ndarray
) -> None:
    """The same union, the same width and the same order, told one way or the other or mixed."""
    reference, again = Reference(0, centre), Reference(3, centre.copy())
    one = measured((np.minimum(a, b), np.maximum(a, b)), reference)
    other = measured((np.minimum(b, c), np.maximum(b, c)), again)
    exact = union(ends(one), ends(other))
    for left, right in ((one, other), (ends(one), other), (one, ends(other))):
        np.testing.assert_array_equal(ends(union(left, right)), exact)
        assert holds(left, right) == holds(ends(one), ends(other))
    both = union(one, other)
    assert isinstance(both, Around)
    assert width(both) == width(exact)
    assert holds(one, (np.minimum(a, b), np.maximum(a, b)))
