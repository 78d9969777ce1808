"""Several threads on one run of a large network: when it is worth while. What they do is in :mod:`.kinds.ahead`."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .atomics import TOGETHER
from .compiling import Kernel
from .kinds import kind_of
from .kinds.ahead import MOST_HELPERS, Shelf
from .recording import Sheet
from .state import State

__all__ = ["Team", "team_for"]

LEAST_NODES = 100_000
"""In smaller networks the tables are in the cache of one core, and what others have drawn is not."""
LEAST_STEPS = 4 * 10**6
"""Loading the kernels takes as long as many steps."""
TRIAL, FIRST, AGAIN = 2**17, 4, 16
"""Steps of a span that is made to see how long it takes, how many of them are first, and spans between two later."""


def team_for(state: State, num_steps: int, crew: Any) -> Team | None:
    """A team where it may be faster than one thread: a large network, many steps, and a kind of method that can."""
    setup = state.setup
    large = state.tables.shape[:2] == (1, 1) and setup.graph.num_nodes >= LEAST_NODES and num_steps >= LEAST_STEPS
    if not (TOGETHER and crew.size > 1 and large):
        return None
    kernels = kind_of(setup.method).helped(setup.method, setup.graph, setup.aliases)
    return None if kernels is None else Team(state, crew, *kernels)


class Pace:
    """Whether a thread with helpers is faster than alone at the moment: other programs may want the cores.

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
        """Whether helpers draw ahead for the coming span."""
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
    """One thread that makes the steps of a run, and helpers that draw ahead."""

    def __init__(self, state: State, crew: Any, making: Kernel, helping: Kernel, arguments: tuple[Any, ...]) -> None:
        self.state, self.crew = state, crew
        self.making, self.helping = making, helping
        self.shelf = Shelf.empty(state.tables.shape[2])
        self.arguments = *arguments, self.shelf
        self.pace = Pace()

    def prepare(self, sheet: Sheet) -> None:
        """Compile, before threads wait for each other."""
        with self.making.first_call(f"{self.state.setup.method.name} (on several cores)"):
            self._drive(0, 0, sheet)
            self._help(0, 0, sheet)

    def make(self, first: int, last: int, sheet: Sheet, alone: Callable[[], None]) -> None:
        """Make steps and record them: with helpers, or ``alone`` where that was faster."""
        began = time.perf_counter()
        if self.pace.together:
            self.work(first, last, sheet)
        else:
            alone()
        self.pace.took((time.perf_counter() - began) / (last - first))

    def work(self, first: int, last: int, sheet: Sheet) -> None:
        """Make steps and record them, with helpers."""
        self.shelf.clear()
        helpers = min(self.crew.size - 1, MOST_HELPERS)
        self.crew.run_beside(
            partial(self._drive, first, last, sheet), [partial(self._help, first, last, sheet)] * helpers
        )

    def _drive(self, first: int, last: int, sheet: Sheet) -> None:
        setup = self.state.setup
        replicas = np.zeros(1 if first < last else 0, dtype=np.int64)
        how = replicas, 0, 1, first, last, np.uint64(setup.seed), setup.parameters, sheet
        self.making.run(self.state.tables, *how, *self.arguments)

    def _help(self, first: int, last: int, sheet: Sheet) -> None:
        seed = np.uint64(self.state.setup.seed)
        self.helping.run(self.state.tables[0, 0], first, last, 0, seed, sheet, *self.arguments)
