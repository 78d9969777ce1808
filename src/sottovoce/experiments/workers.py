"""Who runs the tasks of a sweep: worker processes of this machine, or any executor.

Tasks are handed out in batches, a limited number at a time. A worker returns a batch after half a second, whatever is
left of it goes back to the queue: no setting decides how many runs make a batch.

Answers of worker processes travel in files. A pool's pipe holds 64 kB: a worker that ends in the middle of a longer
answer, killed or because the sweep is stopped, would leave the pool waiting for the rest of it for ever.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory, mkstemp
from typing import Any

from ..errors import SottovoceError
from ..foundation.cores import available_cores
from .runs import Batch, OtherVersion, Outcome, failed, run_batch
from .spec import Task

__all__ = ["TROUBLE", "WorkersCannotStart", "outcomes"]

MAX_DEATHS = 3
"""How often a run may take its worker down with it before it is recorded as failed."""

LARGEST_BATCH = 512
WINDOW = 1000
"""Batches that an executor holds at a time: more than most clusters have workers, and few to keep track of."""

HEARTBEAT = 0.25
"""Seconds after which a waiting sweep is given the chance to do something else."""


class WorkersCannotStart(SottovoceError):
    """Worker processes end before they can do anything."""


TROUBLE = (BrokenExecutor, CancelledError, OSError, MemoryError, OtherVersion, WorkersCannotStart)
"""What ends a sweep: not one run is in trouble but those who do them."""


def outcomes(tasks: Sequence[Task], executor: Executor | None) -> Generator[list[Outcome]]:
    """Outcomes as they come, in any order; an empty list now and then when there is nothing."""
    if executor is None:
        yield from _on_this_machine(tasks)
    else:
        yield from _Desk(executor, tasks, window=WINDOW, largest=LARGEST_BATCH).work()


class _Desk:
    """Hands tasks to one executor and takes in what they gave.

    Attributes
    ----------
    waiting
        Tasks that are with nobody.
    running
        Those that an executor has.
    """

    def __init__(
        self, executor: Executor, tasks: Sequence[Task], *, window: int, largest: int, files: _Files | None = None
    ) -> None:
        self.executor, self.window, self.largest = executor, window, largest
        self.waiting = deque(tasks)
        self.running: dict[Future[Any], tuple[Task, ...]] = {}
        self._run: Callable[[Batch], Any] = run_batch if files is None else files.run
        self._answer: Callable[[Any], list[Outcome]] = list if files is None else files.read
        self._alone: set[Task] = set()  # their batch was given up: each is tried by itself
        self._size = 1
        self._ended: SimpleQueue[Future[Any]] = SimpleQueue()

    def work(self) -> Iterator[list[Outcome]]:
        """Until nothing is left. Whatever is finished is yielded before any trouble is raised."""
        try:
            while self.waiting or self.running:
                self._hand_out()
                trouble = None
                try:
                    ended = [self._ended.get(timeout=HEARTBEAT)]
                except Empty:
                    yield []
                    continue
                while not self._ended.empty():
                    ended.append(self._ended.get())
                for future in ended:
                    try:
                        yield self._taken_in(future)
                    except TROUBLE as error:
                        trouble = error
                if trouble is not None:
                    raise trouble
        finally:
            for future in self.running:
                future.cancel()

    def _hand_out(self) -> None:
        """Fill the window, but look at the first answers soon: they tell how large batches can be."""
        while self.waiting and len(self.running) < self.window and (not self.running or self._ended.empty()):
            batch = self._next_batch()
            try:
                future = self.executor.submit(self._run, Batch(batch))
            except BaseException:
                self.waiting.extendleft(reversed(batch))
                raise
            self.running[future] = batch
            future.add_done_callback(self._ended.put)

    def _next_batch(self) -> tuple[Task, ...]:
        size = 1 if self.waiting[0] in self._alone else min(self._size, len(self.waiting))
        return tuple(self.waiting.popleft() for _ in range(size))

    def _taken_in(self, future: Future[Any]) -> list[Outcome]:
        """What a batch gave; the rest of it waits again. On trouble it stays among the running."""
        batch = self.running[future]
        try:
            done = self._answer(future.result())
        except TROUBLE:
            raise
        except Exception as error:  # a cluster gave up on this batch: one of its runs, perhaps
            del self.running[future]
            if len(batch) == 1:
                return [failed(batch[0], error)]
            self._alone.update(batch)
            self.waiting.extendleft(reversed(batch))
            return []
        del self.running[future]
        if len(done) < len(batch):
            self.waiting.extendleft(reversed(batch[len(done) :]))
            self._size = max(1, len(done))
        elif len(batch) == self._size:
            self._size = min(2 * self._size, self.largest)
        return done


# -- this machine -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Files:
    """Where workers of this machine leave their answers; through the pipe goes only a file's name."""

    folder: str
    work: Callable[[Batch], list[Outcome]]

    def run(self, batch: Batch) -> str:
        """In the worker."""
        done = self.work(batch)
        descriptor, name = mkstemp(dir=self.folder)
        with os.fdopen(descriptor, "wb") as file:
            pickle.dump(done, file)
        return name

    def read(self, name: str) -> list[Outcome]:
        """In the coordinator, which alone may read what its own workers wrote; each answer once."""
        path = Path(name)
        done: list[Outcome] = pickle.loads(path.read_bytes())  # noqa: S301 – the folder is ours alone
        path.unlink()
        return done


def _on_this_machine(tasks: Sequence[Task]) -> Iterator[list[Outcome]]:
    """One process per core; if one dies, what was running then is done again run by run, to find the one to blame."""
    waiting: Sequence[Task] = tasks
    suspects: Sequence[Task] = ()
    deaths: Counter[Task] = Counter()
    while waiting or suspects:
        alone = bool(suspects)
        workers = 1 if alone else min(len(waiting), available_cores())
        with TemporaryDirectory(prefix="sottovoce-") as folder, _pool(workers) as pool:
            desk = _Desk(
                pool,
                suspects if alone else waiting,
                window=1 if alone else workers + 1,
                largest=1 if alone else LARGEST_BATCH,
                files=_Files(folder, run_batch),
            )
            try:
                yield from desk.work()
            except BrokenExecutor as error:
                killed = [task for batch in desk.running.values() for task in batch]
                deaths.update(killed)
                given_up = [task for task in killed if deaths[task] >= MAX_DEATHS]
                again = [task for task in killed if deaths[task] < MAX_DEATHS]
                yield [failed(task, error) for task in given_up]
                suspects = [*again, *desk.waiting] if alone else again
            else:
                suspects = ()
            if not alone:
                waiting = tuple(desk.waiting)


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes that end with this block at once if it is left by an error, or with this process."""
    context = get_context("spawn")
    heard, held = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_follow, initargs=(heard,))
    try:
        try:
            pool.submit(os.getpid).result()
        except BrokenExecutor as error:
            raise WorkersCannotStart(
                "worker processes end before they can do anything; if this is a script, put the call under "
                "'if __name__ == \"__main__\":', because each worker imports it"
            ) from error
        yield pool
    except BaseException:
        held.close()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    finally:
        pool.shutdown(wait=True)
        held.close()
        heard.close()


def _follow(heard: Connection) -> None:
    """End this worker when the coordinator closes its end of the pipe, on purpose or by dying.

    Ctrl-C in a terminal reaches the whole group of processes: only the coordinator answers it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        try:
            heard.poll(None)
        finally:
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
