"""The compiled driver for methods in which a set of distinct edges fires per step.

Sets are drawn by Floyd's method: for l = m − b, …, m − 1 a number t uniform in 0..l is taken, or l itself if t
is in the set already. All sets of size b are equally likely, each step uses b blocks of random words, and
with b = 1 the edges are those of :func:`~sottovoce.simulation.random.kernels.pair_driver`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba.extending import register_jitable

from ..compiling import compiled
from ..random.kernels import HALF, WINDOW, fill_words

__all__ = ["block_driver", "block_indices"]

u64 = np.uint64


@compiled
def block_indices(out: Any, marks: Any, first: Any, replica: Any, seed: Any) -> None:
    """The sets at steps ``first, first + 1, …``: ``out`` is ``(steps, size)``, ``marks`` ``(m,)`` scratch."""
    size, m = out.shape[1], len(marks)
    words = np.empty((4, WINDOW), dtype=np.uint64)
    marks[:] = -1
    begin, end = first * size, (first + out.shape[0]) * size
    for start in range(begin, end, WINDOW):
        fill_words(words, start, replica, 0, seed)
        for k in range(min(WINDOW, end - start)):
            at = start + k - begin
            step, place = at // size, at % size
            last = m - size + place
            choices = u64(last + 1)
            edge = np.int64((words[1, k] * choices + ((words[0, k] * choices) >> HALF)) >> HALF)
            if marks[edge] == step:
                edge = last
            marks[edge] = step
            out[step, place] = edge


@cache
def block_driver(update: Callable[..., None]) -> Callable[..., None]:
    """Compile the driver for one method's update; see :func:`~sottovoce.simulation.random.kernels.pair_driver`."""
    register_jitable(update)

    def drive(
        tables: Any,
        active: Any,
        first_coordinate: Any,
        last_coordinate: Any,
        first: Any,
        last: Any,
        seed: Any,
        edges: Any,
        size: Any,
        parameters: Any,
    ) -> None:
        steps = max(1, 4096 // size)  # sets drawn together
        marks = np.empty(edges.shape[0], dtype=np.int64)
        ends = np.empty((size, 2), dtype=np.int64)
        for r in active:
            for c in range(first_coordinate, last_coordinate):
                for start in range(first, last, steps):
                    sets = np.empty((min(steps, last - start), size), dtype=np.int64)
                    block_indices(sets, marks, start, r, seed)
                    for k in range(sets.shape[0]):
                        for place in range(size):
                            ends[place, 0] = edges[sets[k, place], 0]
                            ends[place, 1] = edges[sets[k, place], 1]
                        update(tables[r, c], ends, start + k, parameters)

    drive.__qualname__ = f"drive_{update.__module__.rpartition('.')[2]}"
    return compiled(drive)
