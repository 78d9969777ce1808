"""One run of a sweep, and many of them in one go: what a worker does.

A worker gets descriptions and returns numbers; it writes nothing. Nothing here depends on where the worker is.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .._version import __version__
from ..errors import InvalidFile, SottovoceError
from ..foundation.files import is_file
from ..foundation.interrupting import uninterrupted
from ..graphs.graph import Graph
from ..graphs.naming import node_number
from ..methods.registry import find_method
from ..scenario.graphs import parse_graph
from ..scenario.methods import MethodSpec
from ..scenario.values import ValuesSpec
from ..simulation import simulate
from ..simulation.fingerprints import code_of, same_python
from .bench import cpu_model
from .neighbour import curious_neighbour
from .spec import Task, content_digest

__all__ = ["BATCH_SECONDS", "Batch", "OtherVersion", "Outcome", "failed", "run_batch", "run_task"]

BATCH_SECONDS = 0.5
"""A worker returns what it has after this time: sending a batch then costs little beside working on it."""


class OtherVersion(SottovoceError):
    """A worker has another version of this package than the process that gave it the work."""


@dataclass(frozen=True)
class Outcome:
    """What came out of one run.

    Attributes
    ----------
    run
        The digest of its task.
    shared
        The columns that are the same on all its rows.
    columns
        The others, as arrays of one length; none if the run failed.
    """

    run: str
    shared: Mapping[str, Any]
    columns: Mapping[str, npt.NDArray[Any]]

    @property
    def error(self) -> str | None:
        """Why it failed; ``None`` if it did not."""
        return self.shared.get("error")

    @property
    def num_rows(self) -> int:
        """Rows of the dataset; a failed run has one."""
        return len(next(iter(self.columns.values()))) if self.columns else 1


@dataclass(frozen=True)
class Batch:
    """Tasks for one worker, and the version of those who want to see the answer."""

    tasks: tuple[Task, ...]
    version: str = __version__
    seconds: float = BATCH_SECONDS


def run_batch(batch: Batch) -> list[Outcome]:
    """Run the tasks in order until the time is over, at least one: the first outcomes, perhaps not all.

    Raises
    ------
    OtherVersion
        If this process has another version of the package.
    """
    if batch.version != __version__:
        raise OtherVersion(
            f"a worker has sottovoce {__version__} and the sweep was started with {batch.version}; "
            "install the same version on both"
        )
    end = time.monotonic() + batch.seconds
    done: list[Outcome] = []
    for task in batch.tasks:
        done.append(run_task(task))
        if time.monotonic() > end:
            break
    return done


def run_task(task: Task) -> Outcome:
    """Run one task; anything that goes wrong becomes an outcome with the error."""
    try:
        return _run(task)
    except (OSError, MemoryError):  # the worker's trouble, not the run's: not to be kept as its result
        raise
    except Exception as error:  # a failed run is data
        return failed(task, error)


def failed(task: Task, error: BaseException) -> Outcome:
    """The outcome of a run that could not be done."""
    return Outcome(task.digest, _which(task) | {"status": "failed", "error": f"{type(error).__name__}: {error}"}, {})


def _which(task: Task) -> dict[str, Any]:
    """The columns that say which run it was and where it was done."""
    return {
        "run": task.digest,
        "graph": task.graph,
        "method": task.method,
        "values": task.values,
        "seed": task.seed,
        "version": __version__,
        "machine": _machine(),
        **dict(task.parameters),
    }


@cache
def _machine() -> str:
    return f"{cpu_model()}, {platform.system()}, Python {platform.python_version()}"


@lru_cache(maxsize=1)
def _graph(text: str, _files: Sequence[tuple[str, str]]) -> Graph:
    """The last graph is kept, with what was computed of it: neighbouring runs of a grid often share it."""
    return parse_graph(text)


def _check_code(task: Task) -> None:
    """A method of the user's must be here what it was where the work was given out."""
    here = code_of(find_method(task.method)) if task.code else ""
    if same_python(here, task.code) and here != task.code:
        raise InvalidFile(
            f"method {task.method!r} is another one here than where the work was given out: workers have it as its "
            "file has it, without what was changed since"
        )


def _run(task: Task) -> Outcome:
    if task.origin is not None:
        task.origin.load()
    _check_code(task)
    for path, digest in task.files:
        if not is_file(path) or content_digest(path) != digest:
            raise InvalidFile(f"{path} is not here, or differs from the file where the work was given out")
    graph = _graph(task.graph, task.files)
    method = MethodSpec(task.method, task.parameters).build(graph)
    audit = task.audit
    observer = None if audit is None else node_number(graph, audit.observer, f"audit.observer on {task.graph}")
    values = ValuesSpec.parse(task.values).build(graph.num_nodes, task.seed)
    run = simulate(
        graph, values, method, num_steps=task.num_steps, replicas=task.replicas, seed=task.seed,
        record=min(task.record, task.num_steps), threads=1, progress=False,
    )  # fmt: skip
    uninterrupted(run)
    shared = _which(task) | {"num_nodes": graph.num_nodes, "num_edges": graph.num_edges, "status": str(run.status)}
    if audit is not None and observer is not None:
        left = curious_neighbour(run, observer, audit.prior_std, audit.num_steps).left
        shared["posterior_std"] = None if left is None else left * audit.prior_std
    records = len(run.steps)
    columns = {
        "replica": np.repeat(np.arange(run.replicas), records),
        "step": np.tile(run.steps, run.replicas),
        "transmissions": np.tile(run.transmissions, run.replicas),
        "relative_error": np.atleast_2d(run.relative_error).reshape(-1),
        "mean_offset": np.repeat(np.atleast_1d(run.mean_offset), records),
    }
    return Outcome(task.digest, shared, columns)
