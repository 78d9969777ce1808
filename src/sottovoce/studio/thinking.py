"""Answers that take longer than a picture: worked out in processes of their own, so that runs stay smooth.

Theory and audits run mostly in Python's interpreter, so in a thread they would delay the frames of every page. A
process can also be ended: when a page is closed, what was being worked out for it stops.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from ..errors import SottovoceError, Unsupported
from ..scenario.loading import Origin, origins

__all__ = ["Thinkers"]

T = TypeVar("T")


class Thinkers:
    """A few processes that answer one question each at a time.

    Parameters
    ----------
    count
        How many.
    patience
        Seconds an answer that nobody waits for any more may still take; then its process is ended.
    """

    def __init__(self, count: int = 2, *, patience: float = 1.5) -> None:
        self._patience = patience
        self._all = {_new_pool() for _ in range(count)}
        self._free: asyncio.Queue[ProcessPoolExecutor] = asyncio.Queue()
        self._retiring: set[asyncio.Task[None]] = set()
        for pool in self._all:
            self._free.put_nowait(pool)

    def warm_up(self) -> None:
        """Start the processes, so that the first question does not wait for their imports."""
        for pool in self._all:
            pool.submit(_import_what_is_needed)

    async def think(self, work: Callable[..., T], *arguments: Any) -> T:
        """``work(*arguments)`` in a process; cancelling this call ends it there too."""
        pool = await self._free.get()
        future = pool.submit(work, *arguments)
        try:
            answer = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.ensure_future(self._retire(pool, future))
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)
            raise
        except BrokenProcessPool:
            self._replace(pool)
            raise Unsupported("this was too much for the machine; ask for a smaller graph or fewer steps") from None
        except BaseException:
            self._free.put_nowait(pool)
            raise
        self._free.put_nowait(pool)
        return answer

    async def _retire(self, pool: ProcessPoolExecutor, future: Future[Any]) -> None:
        """Nobody waits: take the process back when it is done, or end it when it is not."""
        done, _ = await asyncio.wait({asyncio.ensure_future(_settled(future))}, timeout=self._patience)
        if done:
            self._free.put_nowait(pool)
        else:
            self._replace(pool)

    def _replace(self, pool: ProcessPoolExecutor) -> None:
        self._all.discard(pool)
        _end(pool)
        fresh = _new_pool()
        self._all.add(fresh)
        self._free.put_nowait(fresh)

    def close(self) -> None:
        """End all processes."""
        for pool in self._all:
            _end(pool)
        for task in self._retiring:
            task.cancel()


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
    for origin in methods:
        with contextlib.suppress(SottovoceError):
            origin.load()


def _import_what_is_needed() -> None:
    import scipy.sparse.linalg  # noqa: F401

    from .. import privacy, theory  # noqa: F401
    from . import insight  # noqa: F401
