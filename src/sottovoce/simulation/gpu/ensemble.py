"""Hundreds of thousands of replicas of a small graph: one GPU thread each, nodes in shared memory.

The threads record and stop by themselves. What they recorded in one span of steps is copied to the host while the
next span runs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from ...errors import InvalidParameter, Unsupported
from ...foundation.interrupting import Interrupt
from ...foundation.numbers import NEGLIGIBLE
from ...foundation.progress import Progress, Report
from ...graphs.values import LARGEST_VALUE
from ...methods.base import VALUE, Array
from ...methods.noise_insertion import AMPLITUDE, DECAY, OUTSTANDING
from ..recording import CARRYING, FALL, LONGEST
from ..records import Plan
from ..solution import Solution
from ..state import State, start_of
from . import compile_kernels, has_noise, require_gpu

__all__ = ["Ensemble", "advance"]

UNROLL = 6
"""Steps whose draws are prepared together by one thread."""
LAUNCH = 2**33
"""Steps over all threads in one launch: a fraction of a second, so that Ctrl-C and progress are looked at."""
ROWS = 2**21
"""Numbers recorded in one launch: while they are fetched the next launch runs."""
LAUNCHES = 2
"""Launches whose numbers are being fetched at most."""
GOING = np.iinfo(np.uint64).max
"""Among the steps at which threads stopped: this one has not."""


def advance(state: State, end: int, plan: Plan, *, stop_at: float | None, report: Report | bool | None) -> Solution:
    """Run all replicas of ``state`` to step ``end``, or until their relative error is at most ``stop_at``."""
    began = time.perf_counter()
    wanted = None if stop_at is None else stop_at * state.setup.scale
    ensemble = Ensemble(state, plan, wanted)
    with (
        Interrupt() as interrupt,
        Progress(end, "simulating on the GPU", report=report) as progress,
        Fetching() as rows,
    ):
        at = 0
        rows.pool.submit(state.tables.fill, 0.0)  # new memory is slow to write to; not in the end, when all wait for it
        for at, span in _spans(end, plan, ensemble.threads):
            rows.fetch(ensemble.run(at, span), state.recorder.rows(span.stop - span.start, all_filled=True))
            progress.at(at)
            if interrupt.seen() or (wanted is not None and ensemble.all_stopped()):
                break
    finite = ensemble.finish(at, end)
    state.elapsed += time.perf_counter() - began
    return state.solution(interrupted=interrupt.seen() and state.next_step(end) < end, finite=finite)


def _spans(end: int, plan: Plan, threads: int) -> Iterator[tuple[int, slice]]:
    """Where each launch ends, and which of the steps to record at it passes."""
    longest, most = max(UNROLL, LAUNCH // threads), max(1, ROWS // threads)
    at = low = 0
    while at < end:
        until = min(end, at + longest)
        high = min(low + most, plan.passed(until))
        until = min(until, plan[high] - 1)
        yield until, slice(low, high)
        at, low = until, high


class Fetching:
    """Copies what was recorded to the host in other threads; leaving waits for all of it."""

    def __init__(self) -> None:
        self.cupy = require_gpu()
        from cupyx import empty_pinned

        self.empty_pinned = empty_pinned  # memory that the device writes to at its own pace
        self.pool = ThreadPoolExecutor(2 * LAUNCHES, thread_name_prefix="sottovoce-fetch")
        self.under_way: list[Future[None]] = []

    def __enter__(self) -> Fetching:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=True)
        self._wait(0)

    def fetch(self, recorded: tuple[Any, Any, Any], rows: tuple[Array, Array]) -> None:
        """Copy squared errors and drifts into ``rows`` once they are there; waits for launches long before."""
        self._wait(2 * (LAUNCHES - 1))
        squared, drifts, there = recorded
        for numbers, into in ((squared, rows[0]), (drifts, rows[1])):
            self.under_way.append(self.pool.submit(self._copy, numbers, there, into))

    def _wait(self, allowed: int) -> None:
        while len(self.under_way) > allowed:
            self.under_way.pop(0).result()

    def _copy(self, numbers: Any, there: Any, into: Array) -> None:
        there.synchronize()
        with self.cupy.cuda.Stream(non_blocking=True):
            if into.size:
                np.copyto(into, numbers.get(out=self.empty_pinned(into.shape)))


class Ensemble:
    """Tables on the device, laid out [node][thread]; a thread is one replica and coordinate."""

    def __init__(self, state: State, plan: Plan, wanted: float | None = None) -> None:
        self.cupy = require_gpu()
        setup = state.setup
        self.state, self.setup = state, setup
        self.noisy = has_noise(setup.method)
        self.coordinates = state.num_coordinates
        self.threads = setup.replicas * self.coordinates
        self.nodes = setup.graph.num_nodes
        self.at = 0
        self.wanted = -1.0 if wanted is None else wanted
        if wanted is not None and self.coordinates > 1:
            raise Unsupported("stop_at with device='gpu' takes one number per node, not vectors")
        self._check_memory()
        self._upload()
        self.rows = self.cupy.asarray(plan.part(0, len(plan)).astype(np.uint64))
        self.edges = self.cupy.asarray(np.ascontiguousarray(setup.graph.edges, dtype=np.int32))
        self.means = self.cupy.asarray(setup.means)
        self.totals = self.cupy.asarray(setup.totals)
        uniform = len(setup.aliases.accept) == 0
        self.accept = None if uniform else self.cupy.asarray(setup.aliases.accept)
        self.alias = None if uniform else self.cupy.asarray(setup.aliases.alias)
        self.block, self.shared = self._block_size()
        self._compile(uniform=uniform, watching=wanted is not None)
        self.stops = self.cupy.full(self.threads, GOING, dtype=np.uint64)
        self.cupy.cuda.get_current_stream().synchronize()
        self.stream = self.cupy.cuda.Stream(non_blocking=True)

    def _compile(self, *, uniform: bool, watching: bool) -> None:
        macros = {
            "NODES": self.nodes,
            "THREADS": self.block,
            "UNROLL": UNROLL,
            "NOISY": int(self.noisy),
            "SHARED": int(self.shared > 0),
            "UNIFORM": int(uniform),
            "WATCHING": int(watching),
            "CARRYING": CARRYING,
            "FALL": FALL,
            "LONGEST": LONGEST,
            "NEGLIGIBLE": NEGLIGIBLE.hex(),
        }
        module = compile_kernels("ensemble", *(f"{key}={value}" for key, value in macros.items()))
        self._advance, self._measure = module.get_function("advance"), module.get_function("measure")
        if self.shared:
            self._advance.max_dynamic_shared_size_bytes = self.shared

    def _check_memory(self) -> None:
        columns = (3 if self.noisy else 1) + self.setup.method.num_fields
        needed = self.threads * self.nodes * 8 * columns
        free, _ = self.cupy.cuda.runtime.memGetInfo()
        if needed > free:
            raise InvalidParameter(
                f"replicas need {needed / 2**30:.1f} GiB on the device, which has {free / 2**30:.1f} GiB free"
            )

    def _upload(self) -> None:
        """The columns at the start: those of one replica, unless each has edge noise of its own."""
        self.columns = [VALUE, OUTSTANDING, AMPLITUDE] if self.noisy else [VALUE]
        self.start = self.cupy.asarray(np.stack(list(start_of(self.setup))))
        if self.setup.method.edge_noise_field is None:
            tables = self.start[None]
        else:
            self.state.fill()
            tables = self.cupy.asarray(self.state.tables)
        every = (self.setup.replicas, *self.start.shape[:2])
        self.tables = [
            self.cupy.ascontiguousarray(
                self.cupy.broadcast_to(tables[..., column], every).reshape(self.threads, self.nodes).T
            )
            for column in self.columns
        ]
        self.decay = self.cupy.ascontiguousarray(self.start[0, :, DECAY]) if self.noisy else None

    def _block_size(self) -> tuple[int, int]:
        """Threads per block and bytes of shared memory; no shared memory when 32 threads' nodes do not fit."""
        limit = int(self.cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])
        per_thread = self.nodes * 8 * len(self.columns)
        block = min(limit // per_thread // 32 * 32, 256)
        return (block, block * per_thread) if block >= 32 else (128, 0)

    def run(self, until: int, span: slice) -> tuple[Any, Any, Any]:
        """All threads to step ``until``; squared errors and drifts of these records, and the event that says when."""
        null = np.uint64(0)
        values, outstanding, amplitude = (*self.tables, null, null)[:3]
        with self.stream:
            rows = self.rows[span]
            squared, masses = self.cupy.full((2, len(rows), self.threads), np.nan)
            self._advance(
                (-(-self.threads // self.block),),
                (self.block,),
                (
                    values,
                    outstanding,
                    amplitude,
                    null if self.decay is None else self.decay,
                    self.edges,
                    np.uint64(self.setup.graph.num_edges),
                    null if self.accept is None else self.accept,
                    null if self.alias is None else self.alias,
                    np.uint64(self.at),
                    np.uint64(until),
                    np.uint64(self.setup.seed),
                    np.uint32(self.threads),
                    np.uint32(self.coordinates),
                    self.means,
                    rows,
                    np.uint32(len(rows)),
                    squared,
                    masses,
                    np.float64(self.wanted),
                    self.stops,
                ),
                shared_mem=self.shared,
            )
            errors, drifts = self._per_replica(squared, masses)
            there = self.stream.record()
        self.at = until
        return errors, drifts, there

    def _per_replica(self, squared: Any, masses: Any) -> tuple[Any, Any]:
        """The squared error over all coordinates, and the largest drift of the mass of any; coordinates come last."""
        shape = (*squared.shape[:-1], self.setup.replicas, self.coordinates)
        drifts = self.cupy.abs(masses.reshape(shape) - self.totals)
        if self.coordinates == 1:
            return squared.reshape(shape[:-1]), drifts.reshape(shape[:-1])
        return squared.reshape(shape).sum(axis=-1), drifts.max(axis=-1)

    def all_stopped(self) -> bool:
        """Whether no thread goes on."""
        with self.stream:
            return not bool((self.stops == GOING).any())

    def measured(self) -> tuple[Any, Any]:
        """‖x − x*‖² and Σ x − Σ u of every thread where it is."""
        squared, mass = self.cupy.empty((2, self.threads))
        outstanding = self.tables[1] if self.noisy else np.uint64(0)
        sums = (self.means, squared, mass, np.uint32(self.threads), np.uint32(self.coordinates))
        self._measure((-(-self.threads // 256),), (256,), (self.tables[0], outstanding, *sums))
        return squared, mass

    def finish(self, at: int, end: int) -> bool:
        """Copy what became of the replicas to the host, and record where the longest ended if nothing did yet.

        Returns whether all numbers are finite, and values not so large that errors are not.
        """
        self.stream.synchronize()
        state, stops = self.state, self.stops.get().reshape(-1, self.coordinates)[:, 0]
        state.stopped[:] = stops != GOING
        state.steps_done[:] = np.where(state.stopped, stops, at)
        state.recorder.forget_after(state.num_steps)
        if 0 < state.num_steps < end and state.recorder.last != state.num_steps:
            self._note(state.num_steps)
        whole = self.cupy.empty((*state.tables.shape[:2], self.nodes, self.start.shape[-1]))
        whole[...] = self.start
        for column, table in zip(self.columns, self.tables, strict=True):
            whole[..., column] = table.T.reshape(whole.shape[:-1])
        whole.get(out=state.tables)
        return bool(self.cupy.isfinite(whole).all() and (self.cupy.abs(self.tables[0]) <= LARGEST_VALUE).all())

    def _note(self, step: int) -> None:
        """Record the replicas that are at ``step`` there."""
        here = self.state.steps_done == step
        for row, numbers in zip(self.state.recorder.row(step), self._per_replica(*self.measured()), strict=True):
            row[here] = numbers.get()[here]
