"""What happened in a run on a network that changes, recomputed from its seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import Unsupported
from ...methods.base import PairMethod
from ..kinds import kind_of
from ..random.streams import Stream

if TYPE_CHECKING:
    from ..setup import Setup
    from ..solution import Solution

__all__ = ["Exchanges", "activations", "exchanges", "fired_edges"]

CHUNK = 2**22
"""Steps whose edges are held in memory at a time."""


class Exchanges(NamedTuple):
    """One entry per step."""

    edges: npt.NDArray[np.int64]
    """The edge that fired: a row of ``graph.edges``."""
    first_acted: npt.NDArray[np.bool_]
    """Whether its first end acted."""
    second_acted: npt.NDArray[np.bool_]
    """Whether its second end acted. If only one did, the answer to the other was lost."""


def fired_edges(setup: Setup, *, num_steps: int, seed: int, replica: int, start: int) -> npt.NDArray[np.int64]:
    """See :meth:`sottovoce.Solution.fired_edges`. Audits read it: refused where the edges do not say what happened."""
    parts = setup.timetable.between(start, start + num_steps)
    if any(period.loss or not period.able.all() for period, _, _ in parts):
        raise Unsupported(
            "some edges fired without an exchange, as messages were lost or nodes were not there: see exchanges(). "
            "What an observer learns from such a run is not analysed"
        )
    if any(period.values is not setup.private_values for period, _, _ in parts):
        raise Unsupported(
            "private values changed during these steps: see exchanges() for the edges. What an observer learns from "
            "such a run is not analysed"
        )
    stream, kind = Stream(seed, replica), kind_of(setup.method)
    spans = [
        kind.fired(setup.method, setup.graph, period.aliases, stream, range(low, high)) for period, low, high in parts
    ]
    return np.concatenate(spans) if spans else np.empty(0, dtype=np.int64)


def exchanges(setup: Setup, *, num_steps: int, seed: int, replica: int, start: int) -> Exchanges:
    """See :meth:`sottovoce.Solution.exchanges`."""
    from ..kinds.pair import KIND
    from .fates import FIRST, SECOND
    from .pairs import fates_of

    if not isinstance(setup.method, PairMethod):
        raise Unsupported(f"exchanges are those of methods in which one edge fires at a time, got {setup.method.name}")
    stream, edges, acting = Stream(seed, replica), [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int8)]
    if not setup.stages:
        fired = KIND.fired(setup.method, setup.graph, setup.aliases, stream, range(start, start + num_steps))
        everybody = np.ones(num_steps, dtype=bool)
        return Exchanges(fired, everybody, everybody.copy())
    for period, low, high in setup.timetable.between(start, start + num_steps):
        fired = KIND.fired(setup.method, setup.graph, period.aliases, stream, range(low, high))
        edges.append(fired)
        acting.append(fates_of(period, fired, stream, low))
    who = np.concatenate(acting)
    return Exchanges(np.concatenate(edges), (who & FIRST) > 0, (who & SECOND) > 0)


def activations(run: Solution, replica: int) -> npt.NDArray[np.int64]:
    """``(n,)`` how often each node of one replica acted."""
    counts, done = np.zeros(run.graph.num_nodes, dtype=np.int64), int(run.steps_done[replica])
    for start in range(0, done, CHUNK):
        some = run.exchanges(start, min(done, start + CHUNK), replica=replica)
        for end, acted in enumerate((some.first_acted, some.second_acted)):
            counts += np.bincount(run.graph.edges[some.edges[acted], end], minlength=run.graph.num_nodes)
    return counts
