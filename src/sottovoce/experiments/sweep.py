"""Sweeps: many runs on any executor; :mod:`.spec` says which.

Workers get descriptions and return numbers (:mod:`.runs`, :mod:`.workers`); only the coordinator writes. So results
depend neither on the executor nor on order, finished runs are skipped when a sweep is started again, and growing past
one machine needs another executor, nothing else.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import SottovoceError
from ..foundation.interrupting import StopAsked, StopRequest, stop_requests
from ..foundation.progress import Progress, Report
from .runs import Outcome
from .script import refuse_unguarded_script
from .spec import SweepSpec, Task, spec_from
from .store import SweepStore
from .workers import TROUBLE, outcomes

if TYPE_CHECKING:
    import pyarrow

__all__ = ["SweepInterrupted", "SweepResult", "sweep"]

SECONDS_AT_RISK, SHARE_AT_RISK = 5.0, 0.02
"""Finished runs are written after five seconds, in a long sweep after 2 % of its time: few files, and little is lost
when the coordinator is killed."""

ROWS_PER_FILE = 500_000
"""About 5 MB; held in memory until then."""


class SweepInterrupted(SottovoceError):
    """The sweep stopped before its end; what was finished is kept and a rerun does the rest.

    Attributes
    ----------
    signal
        The signal that stopped it, if one did.
    """

    def __init__(self, message: str, signal: int | None = None) -> None:
        super().__init__(message)
        self.signal = signal


@dataclass(frozen=True)
class SweepResult:
    """What a sweep left: the folder, how many runs it holds, and why some failed."""

    store: SweepStore
    finished: int
    skipped: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Error → how many runs failed with it, most frequent first."""

    @property
    def failures(self) -> int:
        """How many runs failed."""
        return sum(self.reasons.values())

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
        ``None``: one process per core, replaced if a worker dies. Workers import the running script, so it must
        have the call under ``if __name__ == "__main__":``.
    progress
        As in :func:`sottovoce.simulate`; where standard error is no terminal, a line now and then.

    Raises
    ------
    SweepInterrupted
        If the executor goes away, a worker has another version of this package, the disk is full, or the process gets
        Ctrl-C or SIGTERM. What was finished is kept.
    """
    if executor is None:
        refuse_unguarded_script()
    spec = spec if isinstance(spec, SweepSpec) else spec_from(spec)
    tasks = spec.tasks()
    kept = SweepStore(store, spec.parameters, spec.settings)
    with stop_requests() as stop, kept.writing():
        done = kept.finished()
        todo = [task for task in tasks if task.digest not in done]
        kept.forget_failures(task.digest for task in todo)
        intake = _Intake(kept)
        try:
            with Progress(len(todo), "sweeping", report=progress, lines=True) as bar:
                _run(todo, executor, intake, bar, stop)
        except (KeyboardInterrupt, StopAsked, *TROUBLE) as error:
            with suppress(OSError):  # a full disk, perhaps the reason why we are here
                intake.flush()
            asked = _asked(error, stop)
            why = f"{type(error).__name__}: {error}" if asked is None else signal.Signals(asked).name
            raise SweepInterrupted(
                f"stopped after {intake.written} of {len(todo)} runs ({why}); "
                f"they are kept in {kept.folder}, and the same command does the rest",
                asked,
            ) from error
    return SweepResult(kept, intake.finished, len(tasks) - len(todo), dict(intake.reasons.most_common()))


def _run(todo: Sequence[Task], executor: Executor | None, intake: _Intake, bar: Progress, stop: StopRequest) -> None:
    with closing(outcomes(todo, executor)) as some:
        for few in some:
            intake.take(few)
            if few:
                bar.at(intake.finished)
            stop.check()
    intake.flush()


def _asked(error: BaseException, stop: StopRequest) -> int | None:
    """The signal that asked to stop; it may have ended the workers, too, and they are missed before it is looked at."""
    if stop.signal is not None:
        return stop.signal
    return signal.SIGINT if isinstance(error, KeyboardInterrupt) else None


class _Intake:
    """Takes in outcomes and writes them before too much is at risk."""

    def __init__(self, store: SweepStore) -> None:
        self.finished = self.written = 0
        self.reasons: Counter[str] = Counter()
        self._store = store
        self._began = time.monotonic()
        self._held: list[Outcome] = []
        self._rows = 0
        self._oldest = 0.0

    def take(self, some: Sequence[Outcome]) -> None:
        """These are finished."""
        now = time.monotonic()
        if some and not self._held:
            self._oldest = now
        self._held.extend(some)
        self._rows += sum(outcome.num_rows for outcome in some)
        self.finished += len(some)
        self.reasons.update(outcome.error for outcome in some if outcome.error is not None)
        patience = max(SECONDS_AT_RISK, SHARE_AT_RISK * (now - self._began))
        if self._held and (self._rows >= ROWS_PER_FILE or now - self._oldest >= patience):
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if self._held:
            self._store.write(self._held)
            self.written += len(self._held)
            self._held, self._rows = [], 0
