"""Several threads on one run of a large network: their common memory, and when it is worth while.

The kernel is :mod:`.kinds.together`. Node tables have a free column for its marks here, so they are copied in when the
threads begin and copied out when something else wants to read them.
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
from .kinds.together import LAST_TAG, MARKS_A_WORD
from .random.kernels import WINDOW
from .recording import BLOCK, Sheet
from .state import State, aligned

__all__ = ["Desk", "Team", "team_for"]

LEAST_CORES = 4
"""With fewer, marking the nodes costs about what the others save."""
LEAST_NODES = 500_000
"""In smaller networks too many steps of a batch share a node, and the tables are in the cache of one core."""
LEAST_STEPS = 10**6
"""Copying the tables, and compiling once, takes as long as many steps."""
MOST_BYTES = 2**31
"""Of the second copy of the tables."""
SHARE = 512
"""Steps of a batch for each member: enough for three meetings to cost little, few enough for its cache."""
TRIAL, AGAIN = 2**17, 16
"""Steps of a span that is made to see how long it takes, and spans between two of them."""
FEWEST = 32
"""Nodes for each step of a batch, so that few steps share one."""


class Desk(NamedTuple):
    """What the members of a team share beside the nodes; a first axis of two is for batches in turn."""

    ends: npt.NDArray[np.uint64]
    """``(2, 2, batch)`` the nodes of each step."""
    draws: Array
    """``(2, 2, batch)``"""
    waiting: npt.NDArray[np.int64]
    """``(2, batch)`` the steps of each member that must wait, from where its share begins."""
    num_waiting: npt.NDArray[np.int64]
    """``(2, members)`` how many those are."""
    sums: Array
    """``(blocks, 4)`` of the nodes, where the error is recorded."""
    tags: npt.NDArray[np.int64]
    """``(2,)`` the number of the last batch, and the largest before marks are wiped."""
    here: npt.NDArray[np.int64]
    """The counter at which the members meet, alone in its cache line."""


def team_for(state: State, num_steps: int, crew: Any) -> Team | None:
    """A team where it may be faster than one thread: a large network, many steps, and a method that can."""
    setup = state.setup
    n, width = setup.graph.num_nodes, setup.method.num_fields + 1
    if n * _width(width) * state.tables.itemsize > MOST_BYTES:
        return None
    large = state.tables.shape[:2] == (1, 1) and n >= LEAST_NODES and num_steps >= max(LEAST_STEPS, n)
    if not (TOGETHER and crew.size >= LEAST_CORES and large):
        return None
    kernel = kind_of(setup.method).together(setup.method, setup.graph, setup.aliases)
    return None if kernel is None or not crew.complete() else Team(state, crew, *kernel)


class Pace:
    """Whether members together are faster than one thread alone at the moment: other programs may want the cores.

    Both are tried; the faster goes on, and the other is tried again now and then. The result does not depend on it.
    """

    def __init__(self) -> None:
        self._seconds: dict[bool, float] = {}
        self._spans = 0

    @property
    def trial(self) -> bool:
        """Whether the coming span is a short one, to see how long it takes."""
        return len(self._seconds) < 2 or self._spans % AGAIN == 0

    def most(self, steps: int) -> int:
        """The most steps of the coming span."""
        return min(TRIAL, steps) if self.trial else steps

    @property
    def together(self) -> bool:
        """Whether the members make the coming span together."""
        if len(self._seconds) < 2:
            return not self._seconds
        faster = self._seconds[True] < self._seconds[False]
        return faster != self.trial

    def took(self, seconds: float) -> None:
        """How long a step of the span took."""
        self._seconds[self.together] = seconds
        self._spans += 1


class Team:
    """Threads that make the steps of one run together."""

    def __init__(self, state: State, crew: Any, kernel: Kernel, arguments: tuple[Any, ...]) -> None:
        self.state, self.crew = state, crew
        self.kernel, self.arguments = kernel, arguments
        n, fields = state.tables.shape[2:]
        size = crew.size
        self.batch = max(WINDOW, min(SHARE * size, n // FEWEST) // WINDOW * WINDOW)
        self.columns = fields, fields + -(-size // MARKS_A_WORD)
        self.nodes = aligned((n, _width(self.columns[1])))
        self.holds = False
        self.pace = Pace()
        self.desk = Desk(
            np.zeros((2, 2, self.batch), dtype=np.uint64),
            np.zeros((2, 2, self.batch)),
            np.zeros((2, self.batch), dtype=np.int64),
            np.zeros((2, size), dtype=np.int64),
            np.zeros((-(-n // BLOCK), 4)),
            np.array([0, LAST_TAG]),
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
        self.desk.here[:] = 0
        self.crew.run([partial(self._drive, first, last, sheet, member) for member in range(self.crew.size)])

    @property
    def tables(self) -> Array:
        """The nodes in the shape of the state's tables, with more columns; or those while they are there."""
        return self.nodes[None, None] if self.holds else self.state.tables

    def take(self) -> None:
        """Have the nodes here."""
        self.nodes[...] = 0.0
        self.nodes[:, : self.columns[0]] = self.state.tables[0, 0]
        self.holds = True

    def give_back(self) -> None:
        """Have the nodes in the state's tables, for all others."""
        if self.holds:
            self.state.tables[0, 0] = self.nodes[:, : self.columns[0]]
            self.holds = False

    def _drive(self, first: int, last: int, sheet: Sheet, member: int) -> None:
        setup = self.state.setup
        where = self.nodes, self.nodes.view(np.uint64), self.nodes.view(np.uint16), self.columns, self.batch
        how = first, last, 0, np.uint64(setup.seed), setup.parameters, sheet, self.desk
        self.kernel.run(member, self.crew.size, *where, *how, *self.arguments)


def _width(fields: int) -> int:
    """Columns so that a node never straddles two cache lines of eight."""
    width = 1
    while width < min(fields, 8):
        width *= 2
    return width if fields <= 8 else -(-fields // 8) * 8
