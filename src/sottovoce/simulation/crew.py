"""Threads that run kernels, which leave the interpreter's lock to others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

__all__ = ["Crew"]


class Crew:
    """Threads that run kernels on shares of the active replicas, or of the coordinates."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True)

    @property
    def pool(self) -> ThreadPoolExecutor:
        """Made when it is needed: a short run takes less time than making it."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=self.size, thread_name_prefix="sottovoce")
        return self._pool

    def run(self, tasks: Sequence[Callable[[], object]]) -> None:
        """Run all of them to the end; a single one needs no other thread."""
        if len(tasks) == 1:
            tasks[0]()
            return
        for future in [self.pool.submit(task) for task in tasks]:
            future.result()

    def run_beside(self, work: Callable[[], object], helpers: Sequence[Callable[[], object]]) -> bool:
        """Do ``work`` in this thread, with every helper in one of its own at the same time.

        ``False``, and nothing is run, if there are not so many threads: none waits for one that never comes.
        """
        decided = threading.Event()
        all_there: list[bool] = []

        def begin(helper: Callable[[], object]) -> None:
            decided.wait()
            if all_there:
                helper()

        try:
            futures = [self.pool.submit(begin, helper) for helper in helpers]
            all_there.append(True)
        except RuntimeError:  # what found no thread is still in the queue
            return False
        finally:
            decided.set()
        work()
        for future in futures:
            future.result()
        return True
