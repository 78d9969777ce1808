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
"""Frames come first where cores are few."""


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
        self._large, self._small = _Bench(count), _Bench(1)
        self._retiring: set[asyncio.Task[None]] = set()

    def warm_up(self) -> None:
        """Start the processes, so that the first question does not wait for their imports.

        The one for small questions has the cores to itself first: the first page asks a small one.
        """
        for pool in self._small.all:
            pool.submit(_get_ready).add_done_callback(lambda _: self._start_large())

    def _start_large(self) -> None:
        with contextlib.suppress(RuntimeError):  # closed in the meantime
            for pool in tuple(self._large.all):
                pool.submit(_get_ready)

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
        pool = bench.free.pop()
        future = pool.submit(work, *arguments)
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

    def __init__(self, count: int) -> None:
        self.all = {_new_pool() for _ in range(count)}
        self.free = list(self.all)
        self.turns = Turns(count)

    def put_back(self, pool: ProcessPoolExecutor, *, alive: bool = True) -> None:
        """The turn is over; one that is not alive, or should not be, is ended and a fresh one takes its place."""
        if not alive:
            self.all.discard(pool)
            _end(pool)
            pool = _new_pool()
            self.all.add(pool)
        self.free.append(pool)
        self.turns.give_back()


async def _settled(future: Future[Any]) -> None:
    with contextlib.suppress(Exception, asyncio.CancelledError):
        await asyncio.wrap_future(future)


def _new_pool() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(max_workers=1, mp_context=context, initializer=_begin, initargs=(origins(),))


def _end(pool: ProcessPoolExecutor) -> None:
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()


def _begin(methods: tuple[Origin, ...]) -> None:
    """Ctrl-C is for the server, which ends its processes itself; methods of the user's own are loaded here too.

    One whose file is gone since is left out: questions about other methods are still answered.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    for origin in methods:
        with contextlib.suppress(SottovoceError):
            origin.load()


def _get_ready() -> None:
    """Import what answers need, by giving one: what a first call loads and prepares is then there."""
    from ..privacy import audit  # noqa: F401
    from . import insight, meter  # noqa: F401
    from .limits import Limits
    from .reading import read_scenario

    problem = read_scenario({"methods": ["noise-insertion:noise_std=1,noise_decay=0.9"]}, Limits())
    found = insight.threshold(problem.graph)
    insight.theory_curves(problem, problem.methods[0], found["algebraicConnectivity"], Limits())
