"""A transcript of real peers: plain records of what happened, in order, and of who could see it.

An audit of fired edges takes every message to be part of an exchange. Peers also show what comes to nothing: a request
that is refused shows a value under a draw that is then used with somebody else, and the intervals by which peers find
out that they agree show values to everybody. Four records describe all of it; what follows from them for a view is
:mod:`.analysers.peer_transcripts`. No value and no draw is in a record.

Nodes are numbers; whoever has names keeps a list of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..graphs.graph import Graph
from ..methods.base import Array
from .view import View

__all__ = ["Drawn", "Moved", "Record", "Sealed", "Shown", "TranscriptReport", "checked_records"]


@dataclass(frozen=True)
class Drawn:
    """A node replaced its noise by a fresh draw of deviation ``std`` ≥ 0."""

    node: int
    std: float


@dataclass(frozen=True)
class Shown:
    """A node showed its value with the noise in place: in a request (refused or not), a reply, or an interval.

    ``to`` is the neighbour that saw it; ``None`` means everybody, as with the intervals of the settled rule,
    whose middle is the value.
    """

    node: int
    to: int | None


@dataclass(frozen=True)
class Moved:
    """Two nodes moved to the mean of what both showed last: an exchange was applied."""

    first: int
    second: int


@dataclass(frozen=True)
class Sealed:
    """The two ends of an edge shared a random number of deviation ``std``, which one added and the other subtracted."""

    first: int
    second: int
    std: float


Record = Drawn | Shown | Moved | Sealed


@dataclass(frozen=True, eq=False, repr=False)
class TranscriptReport:
    """What a view learned from a transcript; returned by :func:`audit_transcript`."""

    graph: Graph
    view: View
    num_records: int
    prior_std: Array | None
    posterior_std: Array
    """``(n,)`` posterior standard deviation; 0 for the observer's own nodes. NaN where digits did not suffice."""
    observers: npt.NDArray[np.bool_]

    @property
    def most_exposed(self) -> int:
        """The honest node that the view knows best."""
        honest = np.flatnonzero(~self.observers)
        return int(honest[np.argmin(np.nan_to_num(self.posterior_std[honest], nan=np.inf))])

    def __repr__(self) -> str:
        node = self.most_exposed
        return (
            f"<TranscriptReport of {self.view.describe()} on {self.graph.name}, {self.num_records} records: "
            f"closest ±{self.posterior_std[node]:.3g} ({self.graph.label(node)})>"
        )


def checked_records(records: Iterable[Record], graph: Graph) -> list[Record]:
    """Records about nodes and edges of the graph, in a list.

    Raises
    ------
    InvalidParameter
        With the number of the first record that is none, or that names what the graph does not have.
    """
    edges = {frozenset(pair) for pair in graph.edges.tolist()}
    found = list(records)
    for place, record in enumerate(found):
        if not isinstance(record, Record):
            raise InvalidParameter(
                f"records[{place}] must be Drawn, Shown, Moved or Sealed, got {type(record).__name__}"
            )
        if isinstance(record, Drawn | Sealed) and not 0.0 <= record.std < np.inf:
            raise InvalidParameter(f"records[{place}].std must be a finite number ≥ 0, got {record.std:g}")
        if isinstance(record, Moved | Sealed):
            pair = {record.first, record.second}
        else:
            pair = {record.node} if isinstance(record, Drawn) or record.to is None else {record.node, record.to}
        if not all(0 <= node < graph.num_nodes for node in pair) or (len(pair) == 2 and frozenset(pair) not in edges):
            raise InvalidParameter(f"records[{place}] must be about nodes and edges of the graph, got {sorted(pair)}")
    return found
