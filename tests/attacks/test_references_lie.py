"""Vectors from which all measure (R97), proposed by a liar: nobody is kept from the answer, and all have the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.peer.protocol.intervals import Around, Reference, ends, holds
from sottovoce.peer.protocol.messages import Stop
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
