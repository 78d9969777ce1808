"""Sweeps: many runs on any executor; :mod:`.spec` says which.

Workers get descriptions and return rows; only the coordinator writes. So results depend neither on the executor nor on
order, finished runs are skipped when a sweep is started again, and growing past one machine needs another executor,
nothing else.
"""

from __future__ import annotations

import itertools
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..errors import SottovoceError
from ..foundation.cores import available_cores
from ..foundation.interrupting import uninterrupted
from ..foundation.progress import Progress, Report
from ..scenario.graphs import parse_graph
from ..scenario.methods import MethodSpec
from ..scenario.values import ValuesSpec
from ..simulation import simulate
from .bench import cpu_model
from .neighbour import curious_neighbour
from .spec import SweepSpec, Task, spec_from
from .store import Row, SweepStore

if TYPE_CHECKING:
    import pyarrow

__all__ = ["SweepInterrupted", "SweepResult", "run_task", "sweep"]

MAX_DEATHS = 3
"""How often a run may take its worker down with it before it is recorded as failed."""


class SweepInterrupted(SottovoceError):
    """The sweep stopped before its end; what was finished is kept and a rerun does the rest."""


# -- one run ----------------------------------------------------------------------------------------


def run_task(task: Task) -> list[Row]:
    """Run one task and return its rows; anything that goes wrong becomes a row with the error."""
    try:
        return _rows(task)
    except (OSError, MemoryError):  # the worker's trouble, not the run's: not to be kept as its result
        raise
    except Exception as error:  # a failed run is data
        return [failed(task, error)]


def failed(task: Task, error: BaseException) -> Row:
    """The row of a run that could not be done."""
    return _which(task) | {"status": "failed", "error": f"{type(error).__name__}: {error}"}


def _which(task: Task) -> Row:
    """The columns that say which run it was and where it was done."""
    return {
        "run": task.digest,
        "graph": task.graph,
        "method": task.method,
        "values": task.values,
        "seed": task.seed,
        "version": __version__,
        "machine": f"{cpu_model()}, {platform.system()}, Python {platform.python_version()}",
        **dict(task.parameters),
    }


def _rows(task: Task) -> list[Row]:
    if task.origin is not None:
        task.origin.load()
    graph = parse_graph(task.graph)
    method = MethodSpec(task.method, task.parameters).build(graph)
    values = ValuesSpec.parse(task.values).build(graph.num_nodes, task.seed)
    run = uninterrupted(simulate(
        graph, values, method, num_steps=task.num_steps, replicas=task.replicas, seed=task.seed,
        record=min(task.record, task.num_steps), threads=1, progress=False,
    ))  # fmt: skip
    base = _which(task) | {"num_nodes": graph.num_nodes, "num_edges": graph.num_edges, "status": str(run.status)}
    if task.audit is not None:
        audit = task.audit
        left = curious_neighbour(run, audit.observer, audit.prior_std, audit.num_steps).left
        base["posterior_std"] = None if left is None else left * audit.prior_std
    errors, offsets = np.atleast_2d(run.relative_error), np.atleast_1d(run.mean_offset)
    return [
        base
        | {
            "replica": replica,
            "step": int(step),
            "transmissions": int(sent),
            "relative_error": float(errors[replica, k]),
            "mean_offset": float(offsets[replica]),
        }
        for replica in range(run.replicas)
        for k, (step, sent) in enumerate(zip(run.steps, run.transmissions, strict=True))
    ]


# -- all of them ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SweepResult:
    """What a sweep left: the folder and how many runs it holds."""

    store: SweepStore
    finished: int
    skipped: int
    failures: int

    def table(self) -> pyarrow.Table:
        """All rows of the sweep's folder."""
        return self.store.table()

    def __repr__(self) -> str:
        return (
            f"<SweepResult {self.store.folder}: {self.finished} runs done now, {self.skipped} were there, "
            f"{self.failures} failed>"
        )


def sweep(
    spec: SweepSpec | Mapping[str, Any],
    *,
    store: str | os.PathLike[str],
    executor: Executor | None = None,
    progress: Report | bool | None = None,
) -> SweepResult:
    """Run every task of ``spec`` that ``store`` does not hold yet.

    Parameters
    ----------
    spec
        A :class:`SweepSpec`, or a mapping with its fields.
    store
        Folder for the Parquet dataset; see :mod:`sottovoce.experiments.store` for its columns.
    executor
        Any :class:`concurrent.futures.Executor`, such as ``dask.distributed.Client(...).get_executor()``.
        ``None``: one process per core, replaced if a worker dies.
    progress
        As in :func:`sottovoce.simulate`.

    Raises
    ------
    SweepInterrupted
        If the executor goes away, the disk is full, or Ctrl-C is pressed. What was finished is kept.
    """
    spec = spec if isinstance(spec, SweepSpec) else spec_from(spec)
    tasks = spec.tasks()
    kept = SweepStore(store, spec.parameters, spec.settings)
    with kept.writing():
        done = kept.finished()
        todo = [task for task in tasks if task.digest not in done]
        finished = failures = 0
        with Progress(len(todo), "sweeping", report=progress) as bar:
            try:
                for task, rows in _results(todo, executor):
                    kept.write(task.digest, rows)
                    finished += 1
                    failures += rows[0]["status"] == "failed"
                    bar.at(finished)
            except (KeyboardInterrupt, OSError, MemoryError, BrokenExecutor, CancelledError) as error:
                raise SweepInterrupted(
                    f"stopped after {finished} of {len(todo)} runs ({type(error).__name__}: {error}); "
                    f"they are kept in {kept.folder}, and the same command does the rest"
                ) from error
    return SweepResult(kept, finished, len(tasks) - len(todo), failures)


def _results(tasks: Sequence[Task], executor: Executor | None) -> Iterator[tuple[Task, list[Row]]]:
    """Rows of each task as they are finished."""
    if not tasks:
        return
    if executor is not None:
        yield from _drain(executor, {task.digest: task for task in tasks})
        return
    left = {task.digest: task for task in tasks}
    deaths: dict[str, int] = {}
    while left:
        workers = min(len(left), available_cores())
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            try:
                for task, rows in _drain(pool, dict(left), window=workers + 1):
                    del left[task.digest]
                    yield task, rows
            except BrokenExecutor as error:
                for digest in list(left)[: workers + 1]:  # those that may have been running
                    deaths[digest] = deaths.get(digest, 0) + 1
                    if deaths[digest] >= MAX_DEATHS:
                        task = left.pop(digest)
                        yield task, [failed(task, error)]


def _drain(executor: Executor, left: dict[str, Task], window: int | None = None) -> Iterator[tuple[Task, list[Row]]]:
    """Submit tasks, at most ``window`` at a time, and yield results as they come."""
    queue = iter(left.values())
    running: dict[Future[list[Row]], Task] = {}
    try:
        while True:
            for task in itertools.islice(queue, None if window is None else window - len(running)):
                running[executor.submit(run_task, task)] = task
            if not running:
                return
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            # What is finished is yielded before any trouble is raised: nothing finished is lost.
            for future in sorted(finished, key=lambda future: future.cancelled() or future.exception() is not None):
                task = running.pop(future)
                try:
                    rows = future.result()
                except (BrokenExecutor, CancelledError, OSError, MemoryError):  # the executor itself is in trouble
                    raise
                except Exception as error:  # a cluster gave up on this run alone
                    rows = [failed(task, error)]
                yield task, rows
    finally:
        for future in running:
            future.cancel()
