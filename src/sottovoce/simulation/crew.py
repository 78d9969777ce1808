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

    def run_two(self, here: Callable[[], object], there: Callable[[], object]) -> bool:
        """Run one in this thread and the other at the same time; ``False``, and neither is run, without a thread."""
        called_off = threading.Event()  # a task that found no thread is still in the queue
        try:
            future = self.pool.submit(lambda: None if called_off.is_set() else there())
        except RuntimeError:
            called_off.set()
            return False
        here()
        future.result()
        return True
