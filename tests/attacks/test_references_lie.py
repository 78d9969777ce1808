"""Vectors from which all measure (R97), proposed by a liar: nobody is kept from the answer, and all have the same."""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.peer.protocol.closing import Agreement
from sottovoce.peer.protocol.intervals import Around, Reference, ends, holds
from sottovoce.peer.protocol.messages import Message, Stop
from sottovoce.testing import SimulatedNetwork
from tests.peer.protocol.test_references import PATH, Graph

TOLERANCE = 16


class Lied(Graph):
    """A ring of four. One of them names the references that it likes, and understands what is told around any."""

    def __init__(self, values: np.ndarray, liar: int, proposals: Iterator[Reference | None]) -> None:
        super().__init__([*PATH, (0, 3)], values, diameter=2, tolerance=TOLERANCE)
        self.liar, self.proposals, self.known = liar, proposals, dict[bytes, Reference]()

    def tell(self, src: int, dst: int) -> None:
        stop = self.rules[src].stop_for(str(dst))
        if stop is not None and src == self.liar:
            stop = self.lied(stop)
        if stop is not None and stop.centre is not None:
            self.known[stop.reference] = Reference(stop.owner, stop.centre)
        if stop is not None and dst == self.liar:
            stop = self.in_vectors(stop)
        self.rules[dst].hear(str(src), stop, self.around(dst))

    def lied(self, stop: Stop) -> Stop:
        chosen = next(self.proposals)
        if chosen is None:
            return stop
        return stop._replace(reference=chosen.digest, owner=chosen.owner, centre=chosen.vector)

    def in_vectors(self, stop: Stop) -> Stop:
        for when in ("", "previous_"):
            told = getattr(stop, f"{when}around")
            if told is not None:
                low, high = ends(Around(self.known[told.reference], told.below, told.above))
                stop = stop._replace(**{f"{when}low": low, f"{when}high": high, f"{when}around": None})
        return stop


numbers = st.integers(-TOLERANCE // 4, TOLERANCE // 4)
vectors = st.lists(numbers, min_size=3, max_size=3)
far = st.lists(st.integers(-TOLERANCE, TOLERANCE), min_size=3, max_size=3)
proposals = st.builds(lambda owner, vector: Reference(owner, np.array(vector)), st.integers(0, 3), far)


@given(
    st.lists(vectors, min_size=4, max_size=4), st.integers(0, 3),
    st.lists(proposals | st.none(), min_size=1, max_size=12),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_no_references_keep_values_that_agree_from_their_answer(
    values: list[list[int]], liar: int, said: list[Reference | None]
) -> None:
    """Values within half the tolerance, where exchanges end (R88); one liar proposes near them, in turns, to anybody.

    Two epochs may be lost: what was measured from its references was too wide. Then vectors are told.
    """
    graph = Lied(np.array(values), liar, itertools.cycle(said))
    graph.until(5)
    honest = [rule for k, rule in enumerate(graph.rules) if k != liar]
    for rule in honest:
        assert rule.settled
        assert rule.certified is not None
        assert all(holds(rule.certified, graph.own(k)) for k in range(4))
        np.testing.assert_array_equal(rule.certified, honest[0].certified)


@pytest.mark.parametrize("stalling", [False, True])
def test_better_and_better_references_cost_one_vector_for_each_edge_and_round(
    stalling: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A liar has a better one for each message, and, stalling, keeps all others in one round; they go on exchanging."""
    monkeypatch.setattr("sottovoce.peer.protocol.core.WANTED_FROM", 1)
    names = [f"p{k}" for k in range(6)]
    net = SimulatedNetwork(
        [*itertools.pairwise([*names, names[0]])], {name: [float(k), 2.0] for k, name in enumerate(names)}, seed=1,
        noise_std=1.0, noise_decay=0.8, diameter=3, members=6, missing="wait",
    )  # fmt: skip
    made = [Reference(0, np.array([number, 0])) for number in range(5000)]
    better = iter(sorted(made, key=lambda reference: reference.digest, reverse=True))
    told: Counter[tuple[str, str, int]] = Counter()

    def listen(m: Message) -> Message:
        if m.stop is not None and m.stop.centre is not None and m.dst != "p3":
            told[m.src, m.dst, m.stop.round] += 1
        return m

    def lie(m: Message) -> Message:
        if m.stop is None:
            return m
        chosen, number = next(better), min(m.stop.round, 6) if stalling else m.stop.round
        stop = m.stop._replace(round=number, reference=chosen.digest, owner=0, centre=chosen.vector)
        return replace(m, stop=stop)

    net.liars |= dict.fromkeys(names, listen) | {"p3": lie}
    net.run(10.0)
    assert len(told) > 10
    assert set(told.values()) == {1}


class Interrupted(Graph):
    """Peers that may tell their value now and then, start again, and hear what was said long ago."""

    def __init__(self, values: np.ndarray) -> None:
        super().__init__([*PATH, (0, 3)], values, diameter=2, tolerance=TOLERANCE)
        self.found: dict[int, Agreement] = {}

    def step(self, what: str, a: int, b: int) -> None:
        rounds = [rule.round for rule in self.rules]
        if what == "exchange":
            self.exchange(a, b)
        elif what == "gate":
            self.mute ^= {a}
            self.rules[a].value_changed()
        elif what == "restart":
            self.rules[a] = self.rule(a, 2, TOLERANCE)
        elif what == "late" and self.told:
            src, dst, stop = self.told[-1 - (7 * a + b) % min(len(self.told), 9)]
            self.rules[dst].hear(str(src), stop, self.around(dst))
        else:
            self.tell(a, b)
            self.tell(b, a)
        fallen_back = what != "restart" and any(map(operator.lt, (rule.round for rule in self.rules), rounds))
        if fallen_back or not any(rule.joined for rule in self.rules):
            self.found.clear()
        self.check()

    def check(self) -> None:
        """Whoever has found agreement in an epoch has found the same, and all values were in it then."""
        for rule in self.rules:
            found = rule.agreement()
            if found is not None:
                assert all(holds((found.low, found.high), self.own(k)) for k in range(4))
                assert found.contributors == 0b1111
                first = self.found.setdefault(rule.epoch, found)
                np.testing.assert_array_equal(found[:2], first[:2])


happenings = st.sampled_from(["talk"] * 6 + ["exchange", "gate", "restart", "late"])


@given(st.lists(vectors, min_size=4, max_size=4), st.lists(st.tuples(happenings, st.integers(0, 3)), max_size=250))
@settings(max_examples=100, deadline=None)
def test_gates_restarts_and_late_messages_make_no_two_answers(
    values: list[list[int]], steps: list[tuple[str, int]]
) -> None:
    """In any order; and when nothing more happens, all have an answer (R97, R98)."""
    graph = Interrupted(np.array(values))
    for what, number in steps:
        graph.step(what, *graph.edges[number])
    graph.mute.clear()
    for number in range(400):
        graph.step("talk", *graph.edges[number % 4])
    assert all(rule.settled for rule in graph.rules)
