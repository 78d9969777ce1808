"""Several threads on one run of a large network: their common memory, and when it is worth while.

The kernel is :mod:`.kinds.together`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..methods.base import Array
from .atomics import TOGETHER
from .compiling import Kernel
from .kinds import kind_of
from .random.kernels import WINDOW
from .recording import BLOCK, Sheet
from .state import State

__all__ = ["Desk", "Team", "team_for"]

LEAST_CORES = 4
"""With fewer, marking the nodes costs about what the others save."""
LEAST_NODES = 500_000
"""In smaller networks too many steps of a batch share a node, and the tables are in the cache of one core."""
LEAST_STEPS = 10**6
"""Copying the tables, and compiling once, takes as long as many steps."""
SHARE = 2048
"""Steps of a batch for each member: enough for three meetings to cost little, few enough for its cache."""
TRIAL, FIRST, AGAIN = 2**17, 4, 16
"""Steps of a span that is made to see how long it takes, how many of them are first, and spans between two later."""
FEWEST = 32
"""Nodes for each step of a batch, so that few steps share one."""
PLACES = 16
"""Places for each mark of a batch, so that few nodes share one."""


class Desk(NamedTuple):
    """What the members of a team share beside the nodes."""

    marks: npt.NDArray[np.uint64]
    """``(2, members, words)`` a bit for each node, or for several: for batches in turn, by each member."""
    sums: Array
    """``(blocks, 4)`` of the nodes, where the error is recorded."""
    here: npt.NDArray[np.int64]
    """The counter at which the members meet, alone in its cache line."""
    done: npt.NDArray[np.int64]
    """Likewise one of those that have made all their steps."""


def team_for(state: State, num_steps: int, crew: Any) -> Team | None:
    """A team where it may be faster than one thread: a large network, many steps, and a method that can."""
    setup = state.setup
    n = setup.graph.num_nodes
    large = state.tables.shape[:2] == (1, 1) and n >= LEAST_NODES and num_steps >= max(LEAST_STEPS, n)
    if not (TOGETHER and crew.size >= LEAST_CORES and large):
        return None
    kernel = kind_of(setup.method).together(setup.method, setup.graph, setup.aliases)
    return None if kernel is None or not crew.complete() else Team(state, crew, *kernel)


class Pace:
    """Whether members together are faster than one thread alone at the moment: other programs may want the cores.

    Both are tried twice; the faster goes on, and the other is tried again now and then. The result does not depend on
    it.
    """

    def __init__(self) -> None:
        self._seconds = {True: float("inf"), False: float("inf")}
        self._spans = 0

    @property
    def trial(self) -> bool:
        """Whether the coming span is a short one, to see how long it takes."""
        return self._spans < FIRST or self._spans % AGAIN == 0

    def most(self, steps: int) -> int:
        """The most steps of the coming span."""
        return min(TRIAL, steps) if self.trial else steps

    @property
    def together(self) -> bool:
        """Whether the members make the coming span together."""
        if self._spans < FIRST:
            return self._spans % 2 == 0
        faster = self._seconds[True] < self._seconds[False]
        return faster != self.trial

    def took(self, seconds: float) -> None:
        """How long a step of the span took; at first the caches are cold, so that the faster of two counts."""
        known = self._seconds[self.together] if self._spans < FIRST else seconds
        self._seconds[self.together] = min(known, seconds)
        self._spans += 1


class Team:
    """Threads that make the steps of one run together."""

    def __init__(self, state: State, crew: Any, kernel: Kernel, arguments: tuple[Any, ...]) -> None:
        self.state, self.crew = state, crew
        self.kernel, self.arguments = kernel, arguments
        n, size = state.tables.shape[2], crew.size
        self.batch = max(WINDOW, min(SHARE * size, n // FEWEST) // WINDOW * WINDOW)
        self.pace = Pace()
        places = min(PLACES * 2 * self.batch, n)
        words = 2 ** max(0, (places - 1).bit_length() - 6)
        self.desk = Desk(
            np.zeros((2, size, words), dtype=np.uint64),
            np.zeros((-(-n // BLOCK), 4)),
            np.zeros(8, dtype=np.int64),
            np.zeros(8, dtype=np.int64),
        )

    def prepare(self, sheet: Sheet) -> None:
        """Compile, before threads wait for each other."""
        with self.kernel.first_call(f"{self.state.setup.method.name} (on several cores)"):
            self._drive(0, 0, sheet, 0)

    def make(self, first: int, last: int, sheet: Sheet, alone: Callable[[], None]) -> None:
        """Make steps and record them: all members together, or ``alone`` where that was faster."""
        began = time.perf_counter()
        if self.pace.together:
            self.work(first, last, sheet)
        else:
            alone()
        self.pace.took((time.perf_counter() - began) / (last - first))

    def work(self, first: int, last: int, sheet: Sheet) -> None:
        """Make steps and record them, all members together."""
        self.desk.here[:] = self.desk.done[:] = 0
        self.crew.run([partial(self._drive, first, last, sheet, member) for member in range(self.crew.size)])

    def _drive(self, first: int, last: int, sheet: Sheet, member: int) -> None:
        setup = self.state.setup
        how = self.batch, first, last, 0, np.uint64(setup.seed), setup.parameters, sheet, self.desk
        self.kernel.run(member, self.crew.size, self.state.tables[0, 0], *how, *self.arguments)
