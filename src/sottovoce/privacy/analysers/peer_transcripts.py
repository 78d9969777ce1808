"""What a view learns from the records of real peers, exactly: refused requests and intervals included.

Rows of the filter are the honest private values c, the values less their noise g, and the noise f in place. A draw
makes f fresh; what is shown is a look at g + f without further noise; an exchange replaces g by the mean of both g
plus half the difference of the f. So a draw that was shown in a refused request is the same draw that the next
exchange uses, and the look at it counts there too. Seals are in g; the observer knows those of its own edges.

It is taken that an exchange is applied at both ends at once, which holds where no message is lost for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...graphs.graph import Graph, check_graph
from ...methods.base import Array
from ..gaussian.knowledge import Knowledge
from ..prior import checked_belief, given_own
from ..records import Drawn, Moved, Record, Sealed, Shown, TranscriptReport, checked_records
from ..view import View, honest_nodes
from .recheck import SLACK

__all__ = ["audit_transcript"]


def audit_transcript(
    graph: Graph,
    records: Iterable[Record],
    view: View,
    prior_std: float | npt.ArrayLike | Mapping[Any, Any] | None = 1.0,
) -> TranscriptReport:
    """What ``view`` reveals of every private value after these records.

    Parameters
    ----------
    graph, records
        The network, and what happened in it: :class:`Drawn`, :class:`Shown`, :class:`Moved`, :class:`Sealed`, in order.
    view
        Who watches. Curious nodes see what is shown to them, a tap what is shown over its edges.
    prior_std
        As in :func:`audit`.

    Examples
    --------
    Node 1 asks curious node 0, is refused, and then exchanges with node 2 under the same draw. It asks again under the
    next one, of deviation ½. Had the first request not been seen, ± 0.894 would be left, not ± 0.548.

    >>> import sottovoce as sv
    >>> from sottovoce.privacy import Drawn, Moved, Shown
    >>> before = [Drawn(1, 1.0), Shown(1, 0)]
    >>> exchange = [Drawn(1, 1.0), Drawn(2, 1.0), Shown(1, 2), Shown(2, 1), Moved(1, 2)]
    >>> after = [Drawn(1, 0.5), Shown(1, 0)]
    >>> path, view = sv.graphs.path(3), sv.privacy.CuriousNodes([0])
    >>> audit_transcript(path, before + exchange[1:] + after, view).posterior_std.round(3).tolist()
    [0.0, 0.548, 0.894]
    >>> audit_transcript(path, exchange + after, view).posterior_std.round(3).tolist()
    [0.0, 0.894, 0.894]
    """
    check_graph(graph)
    deviations, covariance = checked_belief(prior_std, graph)
    belief = deviations if covariance is None else covariance
    happened = checked_records(records, graph)
    watching = view.observers(graph)
    state = _Peers(graph, view, belief)
    for record in happened:
        state.play(record)
    std = state.std()
    if belief is None:
        # A prior adds information: a flat-prior deviation below that is an error of rank or rounding.
        sizes = [record.std for record in happened if isinstance(record, Drawn)]
        least = _Peers(graph, view, np.full(graph.num_nodes, max(sizes, default=0.0) or 1.0))
        for record in happened:
            least.play(record)
        std = np.where(std < least.std() * (1.0 - SLACK), np.nan, std)
    return TranscriptReport(graph, view, len(happened), deviations, std, watching)


class _Peers:
    """Honest peers and what a view knows of them."""

    def __init__(self, graph: Graph, view: View, belief: Array | None) -> None:
        self.honest = honest_nodes(view, graph)
        self.watching = view.observers(graph)
        self.tapped = {frozenset(pair) for pair in graph.edges[view.heard_edges(graph)].tolist()}
        self.place = {int(node): k for k, node in enumerate(self.honest)}
        self.size = size = len(self.honest)
        one = np.zeros((3 * size + 1, size))
        one[: 2 * size] = np.vstack([np.eye(size)] * 2)
        if belief is None:
            self.known = Knowledge(factor=np.zeros((len(one), 0)), diffuse=one)
        elif belief.ndim == 1:
            self.known = Knowledge(factor=one * belief[self.honest])
        else:
            own = given_own(belief, self.watching)[np.ix_(self.honest, self.honest)]
            self.known = Knowledge(factor=one @ np.linalg.cholesky(own))

    def play(self, record: Record) -> None:
        """Let one thing happen."""
        match record:
            case Drawn(node, std):
                if node in self.place:
                    self._replace([self._noise(node)], {})
                    self.known.add_noise({self._noise(node): std})
            case Shown(node, to):
                if node in self.place and (to is None or frozenset((node, to)) in self.tapped):
                    self._replace([3 * self.size], {self._value(node): 1.0, self._noise(node): 1.0})
                    self.known.observe(3 * self.size, 0.0)
            case Moved(first, second):
                self._move(first, second)
            case Sealed(first, second, std):
                if first in self.place and second in self.place:
                    self.known.add_noise({self._value(first): std, self._value(second): -std})

    def std(self) -> Array:
        """``(n,)`` deviations of the private values."""
        out = np.zeros(len(self.watching))
        out[self.honest] = self.known.std(slice(0, self.size))
        return out

    def _move(self, first: int, second: int) -> None:
        """If the observer saw both values it knows by how much they moved, and g stays as uncertain as it was."""
        if frozenset((first, second)) in self.tapped:
            return
        mine, theirs = self._value(first), self._value(second)
        mean = {mine: 0.5, theirs: 0.5}
        half = {self._noise(first): -0.5, self._noise(second): 0.5}
        self._replace([mine, theirs], mean | half, mean | {row: -share for row, share in half.items()})

    def _value(self, node: int) -> int:
        return self.size + self.place[node]

    def _noise(self, node: int) -> int:
        return 2 * self.size + self.place[node]

    def _replace(self, rows: list[int], *combinations: dict[int, float]) -> None:
        matrix = np.zeros((len(rows), 3 * self.size + 1))
        for k, combination in enumerate(combinations):
            matrix[k, list(combination)] = list(combination.values())
        self.known.combine(np.array(rows), matrix)
