"""Several threads on one run of a large network: when it is worth while. What they do: :mod:`.kinds.together`."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .atomics import TOGETHER
from .compiling import Kernel
from .kinds import kind_of
from .kinds.together import Desk
from .recording import Sheet, worth_carrying
from .records import NEVER
from .state import State

__all__ = ["Team", "team_for"]

LEAST_NODES = 100_000
"""Smaller networks are usually run in many replicas, or for few steps."""
MOST_HELPERS = 3
"""More would have nothing to do: finding out what happens takes less than three times as long as doing it."""
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
    kernels = kind_of(setup.method).together(setup.method, setup.graph, setup.aliases)
    return None if kernels is None else Team(state, crew, *kernels)


class Pace:
    """Whether several threads are faster than one at the moment: other programs may want the cores.

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
        """Whether helpers take part in the coming span."""
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
    """Threads that share the work of one run."""

    def __init__(self, state: State, crew: Any, maker: Kernel, helper: Kernel, arguments: tuple[Any, ...]) -> None:
        self.state, self.crew = state, crew
        self.maker, self.helper, self.arguments = maker, helper, arguments
        self.num_helpers = min(crew.size - 1, MOST_HELPERS)
        self.desk = Desk.empty(state.tables.shape[2], self.num_helpers)
        self.pace = Pace()

    def prepare(self, sheet: Sheet) -> None:
        """Compile, before threads wait for each other."""
        with self.maker.first_call(f"{self.state.setup.method.name} (on several cores)"):
            self._make(0, 0, sheet)
            self._help(0, 0, 0, sheet)

    def make(self, first: int, last: int, sheet: Sheet, alone: Callable[[], None]) -> None:
        """Make steps and record them: with helpers, or ``alone`` where that was faster or sums are carried."""
        if self._carried(sheet):
            alone()
            return
        began = time.perf_counter()
        if not (self.pace.together and self.work(first, last, sheet)):
            alone()
        self.pace.took((time.perf_counter() - began) / (last - first))

    def work(self, first: int, last: int, sheet: Sheet) -> bool:
        """Make steps and record them with all threads; ``False``, and nothing is made, if some are not to be had."""
        self.desk.clear()
        helpers = [partial(self._help, helper, first, last, sheet) for helper in range(self.num_helpers)]
        done: bool = self.crew.run_beside(partial(self._make, first, last, sheet), helpers)
        return done

    def _carried(self, sheet: Sheet) -> bool:
        """Whether somewhere the sums are carried from step to step, which can only be done in order."""
        between = np.diff(sheet.steps).min(initial=NEVER)
        return bool(sheet.carried[0, 0, -1] != 0.0 or worth_carrying(between, self.state.tables.shape[2]))

    def _make(self, first: int, last: int, sheet: Sheet) -> None:
        setup = self.state.setup
        how = first, last, 0, np.uint64(setup.seed), setup.parameters, sheet, self.desk
        try:
            self.maker.run(self.state.tables[0, 0], *how, *self.arguments)
        except BaseException:
            self.desk.made[:] = NEVER  # an update raised: nobody is to wait for its batch
            raise

    def _help(self, helper: int, first: int, last: int, sheet: Sheet) -> None:
        how = first, last, 0, np.uint64(self.state.setup.seed), sheet, self.desk, helper
        self.helper.run(self.state.tables[0, 0], *how, *self.arguments)
