"""The CPU's executor: replicas advance together, a span of steps at a time, on all cores.

The compiled drivers record by themselves; between two spans Ctrl-C and the progress bar are looked at. What a replica
does depends on (seed, replica, step) alone: not on how many others run, on threads or on spans.

A run that is to stop at a wanted error records every step of a span in a buffer. Replicas that were below it somewhere
in the span are put back to its beginning and run again to that step, so that stopping is exact and no driver knows
of it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..foundation.cores import available_cores
from ..foundation.interrupting import Interrupt
from ..foundation.progress import Progress, Report
from ..methods.base import Array
from .crew import Crew
from .keeping import places_of_kept, room_for_kept, with_kept
from .kinds import kind_of
from .records import NEVER
from .solution import Solution
from .state import State

if TYPE_CHECKING:
    from .compiling import Kernel

__all__ = ["Runner", "advance"]

CHUNK = 2**22
"""Work (over all replicas and coordinates) one thread does before Ctrl-C and the progress bar are looked at."""

SHEET = 2**20
"""Numbers on a sheet of records that has a column for each coordinate of each replica, about."""
ROWS = 2**15
"""Rows that are recorded in a span at most: so many, and a list of their steps, stay in the cache of a core."""

Indices = npt.NDArray[np.int64]
Rows = tuple[Indices, Array, Array]
"""The first three of a :class:`~sottovoce.simulation.recording.Sheet`."""


def advance(
    state: State,
    end: int,
    *,
    stop_at: float | None,
    threads: int | None,
    report: Report | bool | None,
) -> Solution:
    """Run ``state`` to step ``end``, recording what its recorder has planned."""
    begin = state.num_steps
    crew = Crew(_useful_cores(state) if threads is None else threads)
    runner = runner_for(state, crew, together=0 if state.keepers else end - begin)
    began = time.perf_counter()  # now the kernel is compiled or loaded, once in a process
    with crew, Interrupt() as interrupt, Progress(end - begin, "simulating", report=report) as progress:
        for keeper in state.keepers:
            keeper.take(state, begin)
        if state.recorder.plan[0] == begin and (stop_at is not None or not runner.notes_first):
            runner.note(begin)
        if stop_at is not None:
            state.stopped[:] = runner.measured(np.arange(state.setup.replicas))[0] <= stop_at * state.setup.scale
        at = state.next_step(end)
        while at < end and not interrupt.seen():
            if stop_at is None:
                runner.span(at, end)
            else:
                runner.watched_span(at, end, stop_at * state.setup.scale)
            if state.statistic is not None:
                state.statistic.check()
            at = state.next_step(end)
            progress.at(max(0, min(at, state.num_steps) - begin))
        if state.num_steps < end and state.recorder.last != state.num_steps:
            runner.note_end(begin)
    state.elapsed += time.perf_counter() - began
    return state.solution(interrupted=interrupt.seen() and state.next_step(end) < end)


def runner_for(state: State, crew: Crew, *, together: int) -> Runner:
    """What runs the spans: the one for networks that change, where stages were given."""
    if not state.setup.stages:
        return Runner(state, crew, together=together)
    from .changing.running import StagedRunner

    return StagedRunner(state, crew, together=0)


def _useful_cores(state: State) -> int:
    """Cores that can be used: one run of a small network has work for one, and need not ask for more."""
    from . import team

    small = state.tables.shape[:2] == (1, 1) and state.setup.graph.num_nodes < team.LEAST_NODES
    return 1 if small else available_cores()


class Runner:
    """Runs spans of a state and fills its records."""

    def __init__(self, state: State, crew: Crew, *, together: int) -> None:
        """``together`` is the number of steps that a team may make."""
        from .recording import NUM_CARRIED, Sheet, outstanding_field
        from .team import team_for

        setup = state.setup
        kind, method, graph = kind_of(setup.method), setup.method, setup.graph
        self.state, self.crew = state, crew
        self.plan = state.recorder.plan
        self.work, self.record_work = kind.work(method, graph), kind.record_work(method, graph)
        self.look_every = kind.look_every(method, graph)
        self.beside = state.common is not None
        self.seed = np.uint64(setup.seed)
        replicas, coordinates = state.tables.shape[:2]
        self.outstanding, self.new_sheet = outstanding_field(method), Sheet
        shape = (NUM_CARRIED, coordinates) if self.beside else (coordinates, NUM_CARRIED)
        self.carried, self.means = np.zeros((replicas, *shape)), setup.means
        self.after = None if state.common is None else state.common.copy()

        nothing = np.empty((0, replicas, coordinates))
        self.no_records = np.array([NEVER]), nothing, nothing
        self.kept = room_for_kept(state)
        self.team = team_for(state, together, crew)
        self.notes_first = kind.notes_first and not (self.beside or setup.stages or self.team or state.keepers)
        if self.team is not None:
            self.team.prepare(self.sheet(*self.no_records))
        self.load()

    def sheet(self, steps: Indices, squared: Array, masses: Array) -> Any:
        """Where a kernel is to record: a :class:`~sottovoce.simulation.recording.Sheet`."""
        field = self.state.setup.method.mass_field
        sums = self.carried, self.means, field, self.outstanding
        return self.new_sheet(steps, squared, masses, *sums, places_of_kept(self.state, steps[:-1]), *self.kept)

    def load(self) -> None:
        """Have the kernel, its last arguments and the average that errors are measured from."""
        setup, kind = self.state.setup, kind_of(self.state.setup.method)
        get = kind.vectors if self.beside else kind.driver
        self.use(*get(setup.method, setup.graph, setup.aliases), setup.means)

    def use(self, kernel: Kernel, arguments: tuple[Any, ...], means: Array) -> None:
        """From now on steps are made by this kernel; it is compiled if it was not."""
        self.kernel, self.arguments, self.means = kernel, arguments, means
        if not kernel.called:
            with kernel.first_call(self.state.setup.method.name):
                self.drive(np.empty(0, dtype=np.int64), (0, 0), 0, 0, self.no_records)

    def drive(self, active: Indices, cut: tuple[int, int], first: int, last: int, records: Rows) -> None:
        """Make the steps of some replicas and coordinates."""
        how = (self.seed, self.state.setup.parameters, self.sheet(*records), *self.arguments)
        self.kernel.run(*self.tables(), active, *cut, first, last, *how)

    # -- spans -----------------------------------------------------------------------------------

    def span(self, at: int, end: int) -> None:
        """All replicas that are at step ``at`` make the coming steps, and record where they should."""
        active = self.state.going_on(at)
        share = self._share(active)
        passed = self.plan.passed(at)
        low = passed if self.state.recorder.count else self.plan.passed(at - 1)  # the first row may be that of ``at``
        rows = min(self._room(), max(1, CHUNK // (share * self.record_work)))
        enough = self.plan[min(passed + rows - 1, len(self.plan))]
        most = CHUNK if self.team is None else self.team.pace.most(CHUNK)
        if self.state.values is not None:
            enough = min(enough, self.state.values.enough(at, rows))
        until = self._until(at, min(end, enough), max(256 // self.work, most // (share * self.work), 1))
        self._recorded(active, at, until, self.plan.part_and_next(low, self.plan.passed(until)))
        self.state.steps_done[active] = until

    def watched_span(self, at: int, end: int, wanted: float) -> None:
        """The same, but a replica stops where its error is first at most ``wanted``."""
        state, active = self.state, self.state.going_on(at)
        steps = max(256, CHUNK // 8 // self._share(active), state.setup.graph.num_nodes) // self.work
        until = self._until(at, end, max(1, min(steps, self._room())))
        looks = np.arange(at + self.look_every - at % self.look_every, until + 1, self.look_every)
        recorded = self.plan.part(self.plan.passed(at), self.plan.passed(until))
        rows = looks if self.look_every == 1 else np.union1d(looks, with_kept(state, recorded, at, until))
        before = state.tables[active], None if state.common is None else state.common[active]
        squared, masses = self._measured(active, at, until, np.append(rows, until + self.look_every))
        below = (squared if rows is looks else squared[np.searchsorted(rows, looks)]) <= wanted
        stops = np.where(below.any(axis=0), looks[below.argmax(axis=0)] if len(looks) else until, until)
        stopping = np.flatnonzero(below.any(axis=0))
        self._again(active[stopping], [None if b is None else b[stopping] for b in before], at, stops[stopping])
        state.steps_done[active] = stops
        state.stopped[active[stopping]] = True
        for keeper in state.keepers:
            for place in stopping.tolist():
                keeper.forget_after(int(active[place]), int(stops[place]), until)
        recorded = recorded[recorded <= stops.max()]
        where = np.searchsorted(rows, recorded)
        gone = recorded[:, None] > stops
        errors, drifts = state.recorder.rows(len(recorded))
        errors[:, active] = np.where(gone, np.nan, squared[where])
        drifts[:, active] = np.where(gone, np.nan, self.drift(masses[where][:, active]))

    def note_end(self, begin: int) -> None:
        """Record where a run was interrupted: at its beginning only if that was planned."""
        if self.state.num_steps > begin or self.plan[0] == begin:
            self.note(self.state.num_steps)

    def note(self, step: int) -> None:
        """Record the replicas that are at ``step`` there."""
        here = np.flatnonzero(self.state.steps_done == step)
        squared, drifts = self.state.recorder.row(step)
        squared[here], masses = self.measured(here)
        drifts[here] = self.drift(masses)

    def drift(self, masses: Array) -> Array:
        """What is missing of these masses, which have the coordinates last and are overwritten."""
        return self.state.setup.drift(masses)

    def tables(self) -> tuple[Array | None, ...]:
        """The node tables as the driver takes them."""
        if self.beside:
            return self.state.tables.transpose(0, 2, 3, 1), self.state.common, self.after
        return (self.state.tables,)

    def measured(self, replicas: Indices) -> tuple[Array, Array]:
        """‖x − x*‖² and masses of replicas where they are."""
        from .recording import note_all

        setup, tables = self.state.setup, self.state.tables
        if setup.method.lazy:
            from .recording import settled

            tables = settled(setup.method, tables, self.state.steps_done, setup.parameters, replicas)
        parts, masses = np.empty((2, 1, *tables.shape[:2]))
        if tables.shape[2] > setup.graph.num_nodes:  # rows of neighbours are no values
            tables = tables[:, :, : setup.graph.num_nodes]
        sheet = self.sheet(self.no_records[0], parts, masses)
        if self.beside:
            from .kinds.vectors import note_rows

            note_rows(self.tables()[0], replicas, sheet)
        else:
            note_all(tables, replicas, sheet)
        squared = parts[0, replicas]
        return squared[:, 0] if squared.shape[1] == 1 else squared.sum(axis=-1), masses[0, replicas]

    # -- parts of them ---------------------------------------------------------------------------

    def _share(self, active: Indices) -> int:
        return -(-len(active) * self.state.num_coordinates // self.crew.size)

    def _room(self) -> int:
        """Rows that can be recorded in a span. Those of numbers are where they stay, those of vectors on a sheet."""
        replicas, coordinates = self.state.tables.shape[:2]
        return ROWS if coordinates == 1 else max(16, SHEET // (replicas * coordinates))

    def _until(self, at: int, end: int, steps: int) -> int:
        """At most so many steps on, and not past a replica that waits to be joined."""
        if len(self.state.stopped) == 1:
            return min(end, at + steps)
        ahead = self.state.steps_done[~self.state.stopped & (self.state.steps_done > at)]
        return min(end, at + steps, int(ahead.min()) if len(ahead) else end)

    def _recorded(self, active: Indices, first: int, last: int, steps: Indices) -> None:
        """Make steps; all rows go to the recorder."""
        rows = with_kept(self.state, steps[:-1], first, last)
        if len(rows) > len(steps) - 1:
            self._picked(active, first, last, rows, steps)
            return
        if len(steps) == 1:
            self._make(active, first, last, (steps, *self.no_records[1:]))
            return
        squared, drifts = self.state.recorder.rows(len(steps) - 1, all_filled=len(active) == len(self.state.stopped))
        if self.state.num_coordinates == 1:
            self._make(active, first, last, (steps, squared[..., None], drifts[..., None]))
            self.drift(drifts[..., None])  # in place
            return
        squared[:, active], masses = self._measured(active, first, last, steps)
        drifts[:, active] = self.drift(masses[:, active])

    def _picked(self, active: Indices, first: int, last: int, rows: Indices, steps: Indices) -> None:
        """Make steps with a record at all of ``rows``, of which ``steps`` go to the recorder."""
        squared, masses = self._measured(active, first, last, np.append(rows, steps[-1]))
        where = np.searchsorted(rows, steps[:-1])
        errors, drifts = self.state.recorder.rows(len(where))
        errors[:, active] = squared[where]
        drifts[:, active] = self.drift(masses[where][:, active])

    def _measured(self, active: Indices, first: int, last: int, steps: Indices) -> tuple[Array, Array]:
        """Make steps; ``(rows, active)`` squared errors, ``(rows, replicas, coordinates)`` masses."""
        parts, masses = np.empty((2, len(steps) - 1, *self.state.tables.shape[:2]))
        self._make(active, first, last, (steps, parts, masses))
        return parts[:, active].sum(axis=-1), masses

    def _make(self, active: Indices, first: int, last: int, records: Rows) -> None:
        """Make steps on all cores: replicas are shared out, or coordinates where replicas are too few.

        A team makes the steps of a single run.
        """
        if self.team is not None:
            alone = partial(self.drive, active, (0, 1), first, last, records)
            self.team.make(first, last, self.sheet(*records), alone)
            return
        size, coordinates = self.crew.size, self.state.num_coordinates
        if size == 1:
            parts = [(active, (0, coordinates))]
        elif len(active) >= size:
            parts = [(part, (0, coordinates)) for part in np.array_split(active, size)]
        else:
            cuts = np.linspace(0, coordinates, min(size, coordinates) + 1).astype(int).tolist()
            parts = [(active, (low, high)) for low, high in pairwise(cuts)]
        self.crew.run([partial(self.drive, part, cut, first, last, records) for part, cut in parts])
        self._catch_up(active)

    def _catch_up(self, replicas: Indices) -> None:
        """What is common to the coordinates of each, after the steps that were made."""
        if self.state.common is not None and self.after is not None:
            self.state.common[replicas] = self.after[replicas]

    def _again(self, replicas: Indices, before: Sequence[Array | None], first: int, stops: Indices) -> None:
        """Put replicas back to step ``first``, and run each to where it stops."""
        self.state.tables[replicas], common = before
        if self.state.common is not None:
            self.state.common[replicas] = common
        cut = (0, self.state.num_coordinates)
        ways = zip(replicas, stops.tolist(), strict=True)
        self.crew.run([partial(self.drive, np.array([r]), cut, first, stop, self.no_records) for r, stop in ways])
        self._catch_up(replicas)
