"""Answers that take longer than a picture: worked out in processes of their own, so that runs stay smooth.

Theory and audits run mostly in Python's interpreter, so in a thread they would delay the frames of every page. A
process can also be ended: when a page is closed, or an answer takes too long, what was being worked out for it stops.
Pages take turns (:mod:`.turns`), and small questions have a process of their own: they never wait for large ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from ..errors import SottovoceError, Unsupported
from ..scenario.loading import Origin, origins
from .turns import Turns

__all__ = ["Thinkers"]

T = TypeVar("T")

NICENESS = 5
"""Frames come before large questions where cores are few."""


class Thinkers:
    """A few processes that answer one question each at a time.

    Parameters
    ----------
    count
        How many for large questions; there is one more for small ones.
    patience
        Seconds an answer that nobody waits for any more may still take; then its process is ended.
    deadline
        Seconds that a question may take once its turn has come.
    """

    def __init__(self, count: int = 2, *, patience: float = 1.5, deadline: float = 120.0) -> None:
        self._patience, self._deadline = patience, deadline
        self._large, self._small = _Bench(count, niceness=NICENESS), _Bench(1, niceness=0)
        self._retiring: set[asyncio.Task[None]] = set()
        self._first: Future[None] | None = None

    def start(self) -> None:
        """Start the process for small questions, which the first page asks: its imports need no server yet."""
        self._first = next(iter(self._small.all)).submit(_tell_a_threshold)

    def warm_up(self, then: Callable[[], None]) -> None:
        """Start all processes, so that the first question does not wait for their imports.

        That for small questions has the cores to itself until it can tell a threshold. The others start after it, and
        ``then`` is called.
        """

        def go_on(_: object) -> None:
            with contextlib.suppress(RuntimeError):  # closed in the meantime
                for bench in (self._small, self._large):
                    for pool in bench.all.copy():
                        bench.submit(pool, _import_the_rest)
                then()

        if self._first is None:
            self.start()
        assert self._first is not None
        self._first.add_done_callback(go_on)

    async def think(self, work: Callable[..., T], *arguments: Any, page: Hashable = None, small: bool = False) -> T:
        """``work(*arguments)`` in a process; cancelling this call ends it there too.

        Parameters
        ----------
        work, arguments
            The question.
        page
            Who asks: pages take turns.
        small
            Whether it is surely answered in a moment.

        Raises
        ------
        Unsupported
            If it takes longer than the deadline, or more memory than there is.
        """
        bench = self._small if small else self._large
        await bench.turns.take(page)
        pool, future = bench.submit(bench.free.pop(), work, *arguments)
        try:
            answer = await asyncio.wait_for(asyncio.wrap_future(future), self._deadline)
        except asyncio.CancelledError:
            task = asyncio.ensure_future(self._retire(bench, pool, future))
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)
            raise
        except TimeoutError:
            bench.put_back(pool, alive=False)
            raise Unsupported(
                f"this took longer than {self._deadline:g} seconds and was given up; ask for a smaller graph or fewer "
                "steps"
            ) from None
        except BrokenProcessPool:
            bench.put_back(pool, alive=False)
            raise Unsupported("this was too much for the machine; ask for a smaller graph or fewer steps") from None
        except BaseException:
            bench.put_back(pool)
            raise
        bench.put_back(pool)
        return answer

    async def _retire(self, bench: _Bench, pool: ProcessPoolExecutor, future: Future[Any]) -> None:
        """Nobody waits: take the process back when it is done, or end it when it is not."""
        done, _ = await asyncio.wait({asyncio.ensure_future(_settled(future))}, timeout=self._patience)
        bench.put_back(pool, alive=bool(done))

    def close(self) -> None:
        """End all processes."""
        for task in self._retiring:
            task.cancel()
        for pool in self._large.all | self._small.all:
            _end(pool)


class _Bench:
    """Processes that are alike, and who is next to use one."""

    def __init__(self, count: int, *, niceness: int) -> None:
        self._niceness = niceness
        self.all = {_new_pool(niceness) for _ in range(count)}
        self.free = list(self.all)
        self.turns = Turns(count)

    def submit(
        self, pool: ProcessPoolExecutor, work: Callable[..., T], *arguments: Any
    ) -> tuple[ProcessPoolExecutor, Future[T]]:
        """Hand it this work; one whose process has died since (the system was short of memory) is replaced first."""
        try:
            return pool, pool.submit(work, *arguments)
        except BrokenProcessPool:
            pool = self._replaced(pool)
            return pool, pool.submit(work, *arguments)

    def put_back(self, pool: ProcessPoolExecutor, *, alive: bool = True) -> None:
        """The turn is over; one that is not alive, or should not be, is ended and a fresh one takes its place."""
        self.free.append(pool if alive else self._replaced(pool))
        self.turns.give_back()

    def _replaced(self, pool: ProcessPoolExecutor) -> ProcessPoolExecutor:
        self.all.discard(pool)
        _end(pool)
        fresh = _new_pool(self._niceness)
        self.all.add(fresh)
        return fresh


async def _settled(future: Future[Any]) -> None:
    with contextlib.suppress(Exception, asyncio.CancelledError):
        await asyncio.wrap_future(future)


def _new_pool(niceness: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(max_workers=1, mp_context=context, initializer=_begin, initargs=(niceness, origins()))


def _end(pool: ProcessPoolExecutor) -> None:
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()


def _begin(niceness: int, methods: tuple[Origin, ...]) -> None:
    """Ctrl-C is for the server, which ends its processes itself; methods of the user's own are loaded here too.

    One whose file is gone since is left out: questions about other methods are still answered.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(niceness)
    for origin in methods:
        with contextlib.suppress(SottovoceError):
            origin.load()


def _tell_a_threshold() -> None:
    """What the first page asks: afterwards, all that it needs is loaded."""
    from ..graphs.generators import cycle
    from .insight import threshold

    threshold(cycle(10))


def _import_the_rest() -> None:
    import scipy.sparse.linalg  # noqa: F401

    from .. import privacy, theory  # noqa: F401
    from . import insight, meter  # noqa: F401
