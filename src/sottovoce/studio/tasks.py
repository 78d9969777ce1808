"""What is under way for one page: at most one thing of a kind, every failure a sentence, and a word while it lasts."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.websockets import WebSocketDisconnect

from ..errors import SottovoceError

__all__ = ["Tasks", "in_words", "sentence_about"]

log = logging.getLogger(__name__)

QUIET = 0.5
"""Seconds before something is said to take its time."""

AGAIN = 1.0
"""Seconds between two words about it."""


def sentence_about(error: Exception, what: str) -> str:
    """What a page is told of a failure: our own errors are sentences already, others go to the log."""
    if isinstance(error, SottovoceError):
        return in_words(str(error))
    if isinstance(error, ArithmeticError):
        return "the numbers here grow beyond what a computer can hold; ask for smaller ones"
    if isinstance(error, MemoryError):
        return "this needs more memory than there is; ask for a smaller graph or fewer steps"
    log.error("the studio could not finish %s", what, exc_info=error)
    return "something went wrong here; the server's log says more"


NAMES = {
    "noise_std": "noise σ",
    "noise_decay": "decay φ",
    "seal_std": "deviation of seals",
    "num_steps": "number of steps",
    "num_rounds": "number of rounds",
    "private_values": "values",
    "num_nodes": "number of nodes",
}
"""What people call what the code calls otherwise; all other names lose their underscores."""

_CODE_NAME = re.compile(r"(?<![\w'\"=:,.])[a-z]+(?:_[a-z]+)+(?![\w=(])")


def in_words(sentence: str) -> str:
    """A sentence of the package for somebody who does not read code; what stands in quotes is left as it was typed.

    Examples
    --------
    >>> in_words("noise_decay must be finite and in [0, 1), got 2")
    'decay φ must be finite and in [0, 1), got 2'
    >>> in_words("step_size must be above 0; method 'noise-insertion:noise_std=1' is refused")
    "step size must be above 0; method 'noise-insertion:noise_std=1' is refused"
    """
    return _CODE_NAME.sub(lambda found: NAMES.get(found[0], found[0].replace("_", " ")), sentence)


class Tasks:
    """Named tasks of one page.

    Parameters
    ----------
    say
        Sends one message to the page; raises :class:`WebSocketDisconnect` when it is gone.
    """

    def __init__(self, say: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        self._say = say
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.shares: dict[str, float | None] = {}
        """How much of a task is done, where it is known."""

    def start(self, name: str, work: Callable[[], Awaitable[None]], *, run: int, announced: bool = True) -> None:
        """Begin; what goes wrong is said, and that it takes long if ``announced``."""
        self.shares[name] = None
        self._tasks[name] = asyncio.ensure_future(self._guard(name, work, run, announced=announced))

    async def cancel(self, *names: str) -> None:
        """End these, or all, and wait until they have ended."""
        tasks = [self._tasks.pop(name) for name in names or tuple(self._tasks) if name in self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guard(self, name: str, work: Callable[[], Awaitable[None]], run: int, *, announced: bool) -> None:
        with contextlib.suppress(WebSocketDisconnect):
            try:
                async with self._announcing(name, run) if announced else contextlib.nullcontext():
                    await work()
            except WebSocketDisconnect:
                raise
            except Exception as error:
                await self._say({"type": "error", "run": run, "about": name, "message": sentence_about(error, name)})

    @contextlib.asynccontextmanager
    async def _announcing(self, name: str, run: int) -> AsyncIterator[None]:
        """Say that it is worked on, if it takes long, and that it is over."""
        said = False

        async def announce() -> None:
            nonlocal said
            await asyncio.sleep(QUIET)
            while True:
                said = True
                await self._say(
                    {"type": "working", "run": run, "about": name, "share": self.shares[name], "over": False}
                )
                await asyncio.sleep(AGAIN)

        announcing = asyncio.ensure_future(announce())
        try:
            yield
        finally:
            announcing.cancel()
            await asyncio.gather(announcing, return_exceptions=True)
            if said:
                await self._say({"type": "working", "run": run, "about": name, "share": 1.0, "over": True})
