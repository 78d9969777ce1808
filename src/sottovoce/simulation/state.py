"""A run under way: what the executors change. Nothing of it is seen outside; what is seen is a Solution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..graphs.values import LARGEST_VALUE
from ..methods.base import VALUE, Array, Method
from .edge_noise import share_edge_noise
from .keeping import Keeper, Kept, StatisticKeeper
from .kinds import kind_of
from .records import Plan, Recorder, Records
from .setup import Setup
from .solution import Solution, Status

__all__ = ["State", "aligned", "start_of"]

FEW = 2**12
"""Numbers whose squares are summed in no time."""


@dataclass(eq=False)
class State:
    """Node tables, how far each replica has come, and the records so far."""

    setup: Setup
    tables: Array
    """``(replicas, coordinates, nodes, fields)``; without the common ones where those are apart."""
    common: Array | None
    """``(replicas, nodes, common fields)`` of vectors that have their coordinates side by side in memory."""
    steps_done: npt.NDArray[np.int64]
    stopped: npt.NDArray[np.bool_]
    recorder: Recorder
    before: Records
    elapsed: float = 0.0
    values: Keeper | None = None
    """For the values at chosen steps, if they are wanted."""
    statistic: StatisticKeeper | None = None
    """Likewise for a statistic of the user's."""

    @classmethod
    def at_start(cls, setup: Setup, plan: Plan) -> State:
        """Before the first step, with room for what will be recorded."""
        state = cls.empty(setup, plan, beside=True)
        state.fill()
        return state

    @classmethod
    def empty(cls, setup: Setup, plan: Plan, *, beside: bool = False) -> State:
        """The same with tables that hold nothing yet: for an executor that fills them by itself.

        ``beside``: vectors may have their coordinates side by side in memory.
        """
        rows, replicas, coordinates = setup.method.num_rows(setup.graph), setup.replicas, setup.private_values[0].size
        shape = (replicas, coordinates, rows, setup.method.num_fields)
        tables, common = _room(setup, shape) if beside else (aligned(shape), None)
        return cls(
            setup,
            tables,
            common,
            steps_done=np.zeros(replicas, dtype=np.int64),
            stopped=np.zeros(replicas, dtype=bool),
            recorder=Recorder(plan, replicas),
            before=Records.none(replicas),
        )

    def fill(self) -> None:
        """Put every replica at the start."""
        setup = self.setup
        if self.common is None or _fills_otherwise(setup.method):
            for c, nodes in enumerate(start_of(setup)):
                self.tables[:, c] = nodes
        else:
            columns = setup.private_values.reshape(setup.graph.num_nodes, -1)
            self.tables[...] = 0.0
            self.tables[..., VALUE] = columns.T
            self.common[:] = next(start_of(setup))[:, self.tables.shape[-1] :]
        share_edge_noise(self.tables, self.setup.method, self.setup.graph, self.setup.seed)

    @classmethod
    def after(cls, solution: Solution, plan: Plan) -> State:
        """Where a solution ended; everything that will change is copied."""
        shape = (*solution.tables.shape[:-1], solution.method.num_fields)
        tables, common = _room(solution, shape)
        tables[...] = solution.tables[..., : tables.shape[-1]]
        if common is not None:
            whole = solution.common is None  # a run on a device, or of an earlier version
            common[:] = solution.tables[:, 0, :, tables.shape[-1] :] if whole else solution.common
        return cls(
            solution,
            tables,
            common,
            steps_done=solution.steps_done.copy(),
            stopped=solution.stopped.copy(),
            recorder=Recorder(plan, solution.replicas),
            before=solution.records,
            elapsed=solution.elapsed,
        )

    @property
    def num_steps(self) -> int:
        """Steps run by the replica that ran longest."""
        return int(self.steps_done[0] if len(self.steps_done) == 1 else self.steps_done.max())

    @property
    def num_coordinates(self) -> int:
        """1 for scalar data, d for vectors."""
        return int(self.tables.shape[1])

    def going_on(self, step: int) -> npt.NDArray[np.int64]:
        """The replicas that are at ``step`` and have not stopped."""
        if len(self.stopped) == 1:  # most runs, and many are short
            return np.arange(int(self.steps_done[0] == step and not self.stopped[0]))
        return np.flatnonzero(~self.stopped & (self.steps_done == step))

    def next_step(self, end: int) -> int:
        """The least step at which a replica is that has not stopped, or ``end``."""
        if len(self.stopped) == 1:
            return end if self.stopped[0] else int(self.steps_done[0])
        return int(self.steps_done.min(initial=end, where=~self.stopped))

    @property
    def keepers(self) -> list[Keeper]:
        """What is to be kept beside errors."""
        return [keeper for keeper in (self.values, self.statistic) if keeper is not None]

    def _kept(self, keeper: Keeper | None, before: str) -> Kept | None:
        earlier: Kept | None = getattr(self.setup, before, None)  # a run that goes on is set up by a solution
        return earlier if keeper is None else keeper.kept(earlier, self.num_steps)

    def solution(self, *, interrupted: bool = False, finite: bool | None = None) -> Solution:
        """What has been found, from now on unchangeable; ``finite`` if it is known whether numbers and errors are."""
        if finite is None:
            finite = _all_finite(self.tables, self.setup.graph.num_nodes)
        return Solution(
            **self.setup.as_dict(),
            tables=self.tables,
            common=self.common,
            steps_done=self.steps_done,
            stopped=self.stopped,
            status=self._status(interrupted=interrupted, finite=finite),
            elapsed=self.elapsed,
            records=self.before.then(self.recorder.records()),
            kept_values=self._kept(self.values, "kept_values"),
            kept_statistic=self._kept(self.statistic, "kept_statistic"),
        )

    def _status(self, *, interrupted: bool, finite: bool) -> Status:
        if not finite:
            return Status.DIVERGED
        if interrupted:
            return Status.INTERRUPTED
        if self.stopped.all():
            return Status.STOPPED_AT_ERROR
        return Status.OUTSIDE_GUARANTEE if self.setup.notes else Status.COMPLETED


def _room(setup: Setup, shape: tuple[int, ...]) -> tuple[Array, Array | None]:
    """Room for ``(replicas, coordinates, nodes, fields)`` tables, and for what is common to all coordinates."""
    method = setup.method
    replicas, coordinates, nodes, fields = shape
    if setup.stages or not kind_of(method).beside(method, coordinates):
        return aligned(shape), None
    common: int = getattr(method, "common_fields", 0)
    rows = aligned((replicas, nodes, fields - common, coordinates))
    return rows.transpose(0, 3, 1, 2), np.empty((replicas, nodes, common))


def _fills_otherwise(method: Method) -> bool:
    """Whether tables begin with something else than zeros, values and common columns."""
    return not getattr(method, "common_fields", 0) and type(method).initial is not Method.initial


def start_of(setup: Setup) -> Iterator[Array]:
    """The node table of each coordinate before the first step, the same for all replicas but for shared edge noise."""
    columns = setup.private_values.reshape(setup.graph.num_nodes, -1)
    return (setup.method.initial(setup.graph, column) for column in columns.T)


def _all_finite(tables: Array, num_nodes: int) -> bool:
    """Whether all numbers are finite, and no value is larger than those that a run may begin with: errors are squares.

    A sum that is finite says so at once; one that is not may be that of large numbers.
    """
    if tables.size <= FEW and np.vdot(tables, tables) <= LARGEST_VALUE**2:  # which never warns
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        if not (np.isfinite(tables.sum()) or np.isfinite(tables).all()):
            return False
    values = tables[:, :, :num_nodes, VALUE]
    return bool(values.min() >= -LARGEST_VALUE and values.max() <= LARGEST_VALUE)


def aligned(shape: tuple[int, ...]) -> Array:
    """Uninitialised floats that begin on a cache line, so that a node's row never straddles two."""
    size = math.prod(shape)
    raw = np.empty(size + 8)
    skip = (-raw.__array_interface__["data"][0] % 64) // raw.itemsize
    return raw[skip : skip + size].reshape(shape)
