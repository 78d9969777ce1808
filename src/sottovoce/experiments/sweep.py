"""Sweeps: many runs over a grid, a list or a random sample of settings, on any executor.

A sweep is a list of :class:`Task`, each a plain description whose digest names it. Workers get descriptions and return
rows; only the coordinator writes. So results depend neither on the executor nor on order, finished
runs are skipped when a sweep is started again, and growing past one machine needs another executor, nothing else.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import itertools
import json
import os
import platform
import tomllib
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
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..errors import InvalidFile, InvalidParameter, SottovoceError
from ..graphs.named import parse_graph, with_seed
from ..methods.base import Array
from ..methods.named import METHODS
from ..simulation import simulate
from ..simulation.progress import Progress, Report
from .bench import cpu_model
from .exposure import exposure
from .paper import private_values as uniform_values
from .store import Row, SweepStore

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Audit", "SweepInterrupted", "SweepResult", "SweepSpec", "Task", "read_spec", "run_task", "sweep"]

OWN_AXES = ("graph", "method", "values", "seed")
MAX_DEATHS = 3
"""How often a run may take its worker down with it before it is recorded as failed."""
Setting = float | int | str


class SweepInterrupted(SottovoceError):
    """The sweep stopped before its end; what was finished is kept and a rerun does the rest."""


@dataclass(frozen=True)
class Audit:
    """Ask of every run what an observer could infer: see :func:`sottovoce.privacy.audit`."""

    observer: int = 0
    prior_std: float = 1.0
    num_steps: int = 1000

    def __post_init__(self) -> None:
        _whole("audit.observer", self.observer, low=0)
        _whole("audit.num_steps", self.num_steps, low=1)
        prior: object = self.prior_std  # a file may give anything
        if not isinstance(prior, int | float) or not prior > 0:
            raise InvalidParameter(f"audit.prior_std must be a number > 0, got {prior!r}")


@dataclass(frozen=True)
class Task:
    """Everything that determines one run."""

    graph: str
    method: str
    parameters: tuple[tuple[str, Setting], ...]
    values: str
    seed: int
    num_steps: int
    replicas: int
    record: int
    audit: Audit | None = None

    @property
    def digest(self) -> str:
        """Name of the run: equal settings, equal digest."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class SweepSpec:
    """What to run.

    Parameters
    ----------
    axes
        Name → settings. Names are ``graph``, ``method``, ``values`` (uniform, normal, spike), ``seed``, and any
        parameter of a method; a method ignores parameters it does not have. A random graph without a seed of its
        own takes the run's.
    runs
        Explicit settings, a mapping each, instead of or besides the grid.
    sample
        ``None``: the whole grid; a number: that many points drawn at random. An axis may then also be
        ``{"low": a, "high": b, "log": true}``.
    num_steps, replicas, record
        As in :func:`sottovoce.simulate`; ``record`` is a number of evenly spaced steps.
    audit
        What to ask about privacy, if anything.
    """

    axes: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[Mapping[str, Setting]] = ()
    sample: int | None = None
    sample_seed: int = 0
    num_steps: int = 1000
    replicas: int = 1
    record: int = 50
    audit: Audit | None = None

    def __post_init__(self) -> None:
        for name in ("num_steps", "replicas", "record"):
            _whole(name, getattr(self, name), low=1)
        _whole("sample_seed", self.sample_seed, low=0)
        if self.sample is not None:
            _whole("sample", self.sample, low=1)
        audit: object = self.audit
        if isinstance(audit, Mapping):
            object.__setattr__(self, "audit", _audit(audit))
        tables: list[object] = [self.axes, *self.runs]  # what a file gave need not have the declared types
        if not all(isinstance(table, Mapping) for table in tables):
            raise InvalidParameter("axes must be a table of lists, and runs a list of tables")
        known = {*OWN_AXES, *(p for cls in METHODS.values() for p in inspect.signature(cls).parameters)}
        for name in {*self.axes, *(key for run in self.runs for key in run)}:
            if name not in known:
                raise InvalidParameter(f"axes may be {', '.join(sorted(known))}; got {name!r}")
        if not self.axes and not self.runs:
            raise InvalidParameter("a sweep needs axes or runs; both are empty")
        for name, settings in self.axes.items():
            if isinstance(settings, Mapping):
                _check_range(name, settings, self.sample)
            elif not isinstance(settings, Sequence) or isinstance(settings, str) or not settings:
                raise InvalidParameter(f"axis {name} must be a list of settings, got {settings!r}")

    @property
    def parameters(self) -> dict[str, str]:
        """Varied method parameters, each a column of the results: name → ``"number"`` or ``"text"``."""
        settings: dict[str, list[Any]] = {}
        for name, axis in self.axes.items():
            settings.setdefault(name, []).extend([0.0] if isinstance(axis, Mapping) else axis)
        for run in self.runs:
            for name, setting in run.items():
                settings.setdefault(name, []).append(setting)
        return {
            name: "number" if all(isinstance(s, int | float) for s in settings[name]) else "text"
            for name in sorted(settings)
            if name not in OWN_AXES
        }

    @property
    def settings(self) -> dict[str, Any]:
        """What all runs of the sweep share; a folder holds one set of it."""
        audit = None if self.audit is None else dataclasses.asdict(self.audit)
        return {"num_steps": self.num_steps, "replicas": self.replicas, "record": self.record, "audit": audit}

    def tasks(self) -> list[Task]:
        """All runs, each once, in a fixed order."""
        return list(dict.fromkeys(self._task(point) for point in self._points()))

    def _points(self) -> Iterator[dict[str, Setting]]:
        yield from (dict(run) for run in self.runs)
        if not self.axes:
            return
        if self.sample is None:
            for settings in itertools.product(*self.axes.values()):
                yield dict(zip(self.axes, settings, strict=True))
            return
        rng = np.random.default_rng(self.sample_seed)
        for _ in range(self.sample):
            yield {name: _draw(rng, settings) for name, settings in self.axes.items()}

    def _task(self, point: Mapping[str, Setting]) -> Task:
        method = str(point.get("method", "noise-insertion"))
        if method not in METHODS:
            raise InvalidParameter(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        seed = _whole("seed", point.get("seed", 1), low=0)
        accepted = inspect.signature(METHODS[method]).parameters
        parameters = tuple(sorted((k, v) for k, v in point.items() if k not in OWN_AXES and k in accepted))
        return Task(
            graph=with_seed(str(point.get("graph", "cycle:10")), seed),
            method=method,
            parameters=parameters,
            values=str(point.get("values", "uniform")),
            seed=seed,
            num_steps=self.num_steps,
            replicas=self.replicas,
            record=self.record,
            audit=self.audit,
        )


def _whole(name: str, value: object, *, low: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise InvalidParameter(f"{name} must be a whole number ≥ {low}, got {value!r}")
    return value


def _check_range(name: str, settings: Mapping[str, Any], sample: int | None) -> None:
    """A range has two ends in order, positive ones if it is logarithmic."""
    if sample is None:
        raise InvalidParameter(f"axis {name} is a range, which needs sample = N")
    low, high = settings.get("low"), settings.get("high")
    if not isinstance(low, int | float) or not isinstance(high, int | float) or not low < high:
        raise InvalidParameter(f"axis {name} must have numbers low < high, got {low!r} and {high!r}")
    if settings.get("log") and low <= 0:
        raise InvalidParameter(f"axis {name} is logarithmic, so low must be > 0, got {low!r}")


def _audit(fields: Mapping[str, Any]) -> Audit:
    try:
        return Audit(**fields)
    except TypeError:
        known = ", ".join(f.name for f in dataclasses.fields(Audit))
        raise InvalidParameter(f"audit has {known}; got {', '.join(map(str, fields))}") from None


def _draw(rng: np.random.Generator, settings: Any) -> Setting:
    if isinstance(settings, Mapping):
        low, high = float(settings["low"]), float(settings["high"])
        return (
            float(np.exp(rng.uniform(np.log(low), np.log(high))))
            if settings.get("log")
            else float(rng.uniform(low, high))
        )
    chosen: Setting = settings[int(rng.integers(len(settings)))]
    return chosen


def read_spec(path: str | os.PathLike[str]) -> SweepSpec:
    """Read a TOML file: the fields of :class:`SweepSpec`, with ``[axes]``, ``[[runs]]`` and ``[audit]`` tables."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidFile(f"{path} does not exist") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidFile(f"{path} is not a TOML file: {error}") from None
    return _spec_from(content)


def _spec_from(content: Mapping[str, Any]) -> SweepSpec:
    fields = {f.name for f in dataclasses.fields(SweepSpec)}
    unknown = set(content) - fields
    if unknown:
        raise InvalidParameter(f"unknown key {min(unknown)!r}; a sweep has {', '.join(sorted(fields))}")
    return SweepSpec(**content)


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
    graph = parse_graph(task.graph)
    method = METHODS[task.method](**dict(task.parameters))
    values = _private_values(task.values, graph.num_nodes, task.seed)
    run = simulate(
        graph, values, method, num_steps=task.num_steps, replicas=task.replicas, seed=task.seed,
        record=min(task.record, task.num_steps), threads=1, progress=False,
    )  # fmt: skip
    base = _which(task) | {"num_nodes": graph.num_nodes, "num_edges": graph.num_edges, "status": str(run.status)}
    if task.audit is not None:
        audit = task.audit
        left = exposure(method, run, audit.observer, audit.prior_std, audit.num_steps).left
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


def _private_values(kind: str, n: int, seed: int) -> Array:
    rng = np.random.default_rng([seed, n])
    if kind == "uniform":
        return uniform_values(n, seed)
    if kind == "normal":
        return rng.normal(size=n)
    if kind == "spike":
        return np.where(np.arange(n) == 0, float(n), 0.0)
    raise InvalidParameter(f"values must be uniform, normal or spike, got {kind!r}")


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
    spec = spec if isinstance(spec, SweepSpec) else _spec_from(spec)
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
        workers = min(len(left), len(os.sched_getaffinity(0)))
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
