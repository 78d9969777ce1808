"""The CPU's executor: replicas advance together from one recorded step to the next, on all cores.

The recorded error is computed from the values at that step, so no step in between costs more than its two nodes. What
a replica does depends on (seed, replica, step) alone: not on how many others run, on threads or on chunks.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..foundation.cores import available_cores
from ..foundation.progress import Progress, Report
from .kinds import kind_of
from .solution import Solution
from .state import State

__all__ = ["advance"]

CHUNK = 2**22
"""Steps (over all replicas and coordinates) one thread runs before Ctrl-C and the progress bar are looked at."""

Indices = npt.NDArray[np.int64]
Span = Callable[[Indices, tuple[int, int], int, int], None]
"""(active replicas, coordinates from–to, first step, last step) → those steps are made."""


def advance(
    state: State,
    end: int,
    record: Indices,
    *,
    stop_at: float | None,
    threads: int | None,
    report: Report | bool | None,
) -> Solution:
    """Run ``state`` to step ``end``, recording at ``record``."""
    span, work = _driver(state), kind_of(state.setup.method).work(state.setup.method, state.setup.graph)
    began = time.perf_counter()
    at = begin = state.num_steps
    stops = iter([*record[record > at].tolist(), end])
    stop = next(stops)
    wanted = set(record.tolist())
    crew = _Crew(available_cores() if threads is None else threads)
    with crew.pool, _Interrupt() as interrupt, Progress(end - begin, "simulating", report=report) as progress:
        if at in wanted:
            _record(state, at, stop_at, crew)
        active = state.going_on(at)
        while at < end and len(active) and not interrupt.seen():
            share = -(-len(active) * state.num_coordinates // crew.size)
            until = min(stop, at + max(256 // work, CHUNK // (share * work), 1))
            crew.run(_tasks(span, active, state.num_coordinates, (at, until), crew.size))
            state.steps_done[active] = at = until
            if at in wanted or (interrupt.seen() and at < end):
                _record(state, at, stop_at, crew)
                active = state.going_on(at)
            if at == stop:
                stop = next(stops, end)
            progress.at(at - begin)
    state.elapsed += time.perf_counter() - began
    return state.solution(interrupted=interrupt.seen() and at < end)


def _driver(state: State) -> Span:
    """The driver for the method, compiled, with all its arguments but the span of steps."""
    setup = state.setup
    kernel, arguments = kind_of(setup.method).driver(setup.method, setup.graph, setup.aliases)
    seed, parameters = np.uint64(setup.seed), setup.parameters

    def span(active: Indices, coordinates: tuple[int, int], first: int, last: int) -> None:
        kernel.run(state.tables, active, *coordinates, first, last, seed, parameters, *arguments)

    with kernel.first_call(setup.method.name):
        span(np.empty(0, dtype=np.int64), (0, 0), 0, 0)
    return span


def _record(state: State, step: int, stop_at: float | None, crew: _Crew) -> None:
    """Measure the replicas that are at ``step``, and mark those that may stop."""
    from .recording import error_and_mass, settled

    setup, method = state.setup, state.setup.method
    here = np.flatnonzero(state.steps_done == step)
    tables = state.tables
    if method.lazy:
        tables = settled(method, tables, state.steps_done, setup.parameters, here)
    outstanding = -1 if method.outstanding_field is None else method.outstanding_field
    fields = (np.atleast_1d(setup.true_mean), method.mass_field, outstanding)
    squared, masses = state.recorder.row(step)
    crew.run([lambda part=part: error_and_mass(tables, part, *fields, squared, masses) for part in crew.parts(here)])  # type: ignore[misc]
    if stop_at is not None:
        state.stopped |= squared <= stop_at * setup.scale


def _tasks(
    span: Span, active: Indices, coordinates: int, steps: tuple[int, int], shares: int
) -> list[Callable[[], object]]:
    """The steps from–to of the active replicas, cut into shares for the crew."""
    if len(active) >= shares:
        parts = [(part, (0, coordinates)) for part in np.array_split(active, shares)]
    else:
        cuts = np.linspace(0, coordinates, min(shares, coordinates) + 1).astype(int).tolist()
        parts = [(active, (low, high)) for low, high in pairwise(cuts)]
    return [lambda part=part, cut=cut: span(part, cut, *steps) for part, cut in parts]  # type: ignore[misc]


class _Crew:
    """Threads that run kernels on shares of the active replicas, or of the coordinates."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.pool = ThreadPoolExecutor(max_workers=size, thread_name_prefix="sottovoce")

    def parts(self, replicas: Indices) -> list[Indices]:
        """Shares of them that are not empty."""
        return np.array_split(replicas, max(1, min(self.size, len(replicas))))

    def run(self, tasks: Sequence[Callable[[], object]]) -> None:
        """Run all of them to the end; a single one needs no other thread."""
        if len(tasks) == 1:
            tasks[0]()
            return
        for future in [self.pool.submit(task) for task in tasks]:
            future.result()


class _Interrupt:
    """While entered, the first Ctrl-C is remembered instead of raised, so that tables stay consistent.

    A second one is raised as usual. Outside the main thread nothing is changed: signals go elsewhere.
    """

    def __init__(self) -> None:
        self._seen = False
        self._previous: Any = None

    def seen(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._seen

    def _remember(self, *_: object) -> None:
        if self._seen:
            raise KeyboardInterrupt
        self._seen = True

    def __enter__(self) -> _Interrupt:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
