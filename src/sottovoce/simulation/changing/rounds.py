"""Synchronous methods on a network that changes: whoever is not heard is replaced by oneself.

A node that hears nothing from a neighbour, because the message was lost, the neighbour is down or gone, or the link is
not there, puts its own number in the place of the one that is missing; weights stay as they are. Two neighbours who do
not hear each other so keep the sum, and one who hears without being heard does not. Who is down or gone does not act.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...methods.base import Array, RoundMethod
from ..compiling import Kernel, specialised
from ..kinds import parts_of
from ..kinds.round import LAWS, NO_NOISE, node_draw, unit_draws
from ..random.streams import Stream
from ..recording import as_they_are
from .fates import arrives, arrives_at
from .noting import note_counted
from .timetable import Period

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["check", "driver", "plain_step"]

send, receive, law = RoundMethod.send, RoundMethod.receive, NO_NOISE  # a method's own take their place in `drive`
shown = as_they_are  # likewise


def check(method: RoundMethod, period: Period) -> None:
    """Every synchronous method can be run: it is told a number in place of each that is missing."""


def drive(
    tables: Any,
    active: Any,
    first_coordinate: Any,
    last_coordinate: Any,
    first: Any,
    last: Any,
    seed: Any,
    parameters: Any,
    sheet: Any,
    noisy_rounds: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    heard: Any,
    able: Any,
    counted: Any,
    loss: Any,
) -> None:
    """Make the rounds; see :func:`sottovoce.simulation.kinds.round.drive`. A message is addressed by the entry of the
    mixing matrix that it is for; ``heard`` says of each whether it can be.
    """
    n = tables.shape[2]
    draws = np.zeros(n)
    said = np.zeros(n)
    for r in active:
        for c in range(first_coordinate, last_coordinate):
            nodes, row = tables[r, c], 0
            for step in range(first, last):
                if law != NO_NOISE and step < noisy_rounds:
                    unit_draws(draws, step * n, r, c, seed, law)
                for i in range(n):
                    if able[i]:
                        said[i] = send(nodes, i, draws[i], step, parameters)
                for i in range(n):
                    if able[i]:
                        combined = 0.0
                        for k in range(indptr[i], indptr[i + 1]):
                            from_there = indices[k] == i or (
                                heard[k] and arrives_at(step * len(indices) + k, r, seed, loss)
                            )
                            combined += weights[k] * (said[indices[k]] if from_there else said[i])
                        receive(nodes, i, said[i], combined, step, parameters)
                if sheet.steps[row] == step + 1:
                    note_counted(sheet, row, r, c, shown(nodes, sheet.steps[row], parameters), counted)
                    row += 1


def driver(method: RoundMethod, period: Period) -> tuple[Kernel, tuple[Any, ...]]:
    """The driver for one period, and its last arguments."""
    kernel = specialised(drive, **parts_of(method), law=LAWS[type(method).noise])
    mixing = method.mixing(period.graph)
    matrix = (mixing.indptr.astype(np.int64), mixing.indices.astype(np.int64), mixing.data)
    failing = (_heard(mixing, period), period.able, period.counted, period.loss)
    return kernel, (method.noisy_rounds(period.graph), *matrix, *failing)


def plain_step(method: RoundMethod, period: Period, nodes: Array, parameters: Array, stream: Stream, step: int) -> None:
    """One round by the interpreter."""
    cls, graph, mixing = type(method), period.graph, method.mixing(period.graph)
    heard, working = _heard(mixing, period), np.flatnonzero(period.able).tolist()
    said = {i: cls.send(nodes, i, node_draw(method, graph, stream, step, i), step, parameters) for i in working}
    for i in working:
        combined = 0.0
        for k in range(int(mixing.indptr[i]), int(mixing.indptr[i + 1])):
            j = int(mixing.indices[k])
            missing = j != i and not (heard[k] and arrives(stream, step * len(heard) + k, period.loss))
            combined += float(mixing.data[k]) * said[i if missing else j]
        cls.receive(nodes, i, said[i], combined, step, parameters)


def _heard(mixing: scipy.sparse.csr_array, period: Period) -> npt.NDArray[np.bool_]:
    """Whether each entry of the mixing matrix stands for somebody who speaks, on a link that is there."""
    graph, n = period.graph, period.graph.num_nodes
    listener = np.repeat(np.arange(n), np.diff(mixing.indptr))
    speaker = mixing.indices.astype(np.int64)
    known = graph.edges[:, 0].astype(np.int64) * n + graph.edges[:, 1]
    missing = np.isin(np.minimum(listener, speaker) * n + np.maximum(listener, speaker), known[~period.links])
    return np.asarray(period.able[speaker] & ~missing)
