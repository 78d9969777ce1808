"""The conversation with one page over a websocket: commands come in, pictures go out.

:mod:`.messages` says what travels. Every message that follows from a ``setup`` carries its ``run``
number, so that a page can drop what a former setup still had under way. At most one thing of a kind is
under way for a page (:mod:`.tasks`): a run, theory, an audit, a guess, a look at peers. Whatever fails becomes a
sentence; only the page ends the talk.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from starlette.websockets import WebSocket, WebSocketDisconnect

from ..errors import InvalidParameter
from ..foundation.arguments import number, whole
from ..foundation.bucket import TokenBucket
from .answers import Answers
from .driving import Driver
from .limits import Limits
from .live import Watcher
from .messages import parse, speed_of, write
from .observing import read_observer, read_prior
from .opening import opening
from .playing import Playback
from .reading import is_small, read_scenario
from .tasks import Tasks, sentence_about
from .thinking import Thinkers
from .thresholds import Thresholds
from .turns import Threads

__all__ = ["Conversation"]

T = TypeVar("T")

KEPT = 50
"""Commands that may wait until a run is prepared."""

ANY_TIME = ("setup", "live", "history")
"""Commands that do not wait for it."""


class Conversation:
    """One open page.

    Parameters
    ----------
    socket
        An accepted websocket.
    limits
        What it may ask for.
    threads, thinkers, thresholds
        Where slices of runs are computed, where answers that take longer are, and thresholds that are known.
    watcher
        Reads the status of peers.
    """

    def __init__(
        self,
        socket: WebSocket,
        limits: Limits,
        *,
        threads: Threads,
        thinkers: Thinkers,
        thresholds: Thresholds,
        watcher: Watcher,
    ) -> None:
        self._socket, self._limits, self._watcher = socket, limits, watcher
        self._threads, self._thinkers = threads, thinkers
        rate = limits.messages_per_second
        self._allowance = TokenBucket(rate=rate, burst=4 * rate)
        self._tasks = Tasks(self._say)
        self._answers = Answers(self, limits, thinkers, thresholds, say=self._say, compute=self._compute)
        self._preparing = False
        self._kept: list[dict[str, Any]] = []
        self._driver: Driver | None = None
        self._run = 0
        self._commands: dict[str, Callable[[Mapping[str, Any]], Awaitable[None]]] = {
            "setup": self._setup,
            "play": self._play,
            "pause": self._pause,
            "step": self._step,
            "seek": self._seek,
            "speed": self._set_speed,
            "watch": self._watch,
            "guess": self._guess,
            "compare": self._compare,
            "live": self._live,
            "history": self._history,
        }

    async def hold(self) -> None:
        """Until the page is closed; then everything under way for it stops."""
        try:
            while True:
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                await self._hear(message.get("text") or "")
        except WebSocketDisconnect:
            pass  # while answering
        finally:
            await self._tasks.cancel()
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await self._socket.close()

    async def _hear(self, text: str) -> None:
        try:
            message = self._accepted(text)
        except InvalidParameter as error:
            await self._complain(error, "")
            return
        if message["type"] in ANY_TIME or not self._preparing:
            await self._carry_out(message)
        elif len(self._kept) < KEPT:
            self._kept.append(message)
        else:
            await self._complain(InvalidParameter("the run is still being prepared; please wait"), message["type"])

    def _accepted(self, text: str) -> dict[str, Any]:
        """A command, unless there are too many, or it is too long, or none."""
        if not self._allowance.take(time.monotonic()):
            raise InvalidParameter("that was a lot of requests at once; please wait a moment")
        if len(text) > self._limits.message_bytes:
            raise InvalidParameter(f"a message may have at most {self._limits.message_bytes:,} bytes")
        return parse(text)

    async def _carry_out(self, message: dict[str, Any]) -> None:
        try:
            await self._commands[message["type"]](message)
        except WebSocketDisconnect:
            raise
        except Exception as error:
            await self._complain(error, message["type"])

    async def _complain(self, error: Exception, about: str, **more: Any) -> None:
        message = sentence_about(error, about or "reading a message")
        await self._say({"type": "error", "about": about, "message": message, **more})

    # -- commands ------------------------------------------------------------------------------

    async def _setup(self, message: Mapping[str, Any]) -> None:
        await self._tasks.cancel("setup", "play", "theory", "privacy", "guess", "compare")
        self._driver, self._kept, self._preparing = None, [], False
        self._run = whole("run", message.get("run", 0), low=0, high=2**53)
        self._preparing = True
        self._start("setup", partial(self._prepare, message.get("problem"), message.get("at", 0)))

    async def _prepare(self, asked: object, at: object) -> None:
        """Show the problem, or say why not; then carry out what was asked meanwhile."""
        try:
            await self._show(asked, at)
        except WebSocketDisconnect:
            raise
        except Exception as error:
            await self._complain(error, "setup", run=self._run)
        while self._kept:
            await self._carry_out(self._kept.pop(0))
        self._preparing = False

    async def _show(self, asked: object, at: object) -> None:
        """Build the problem and show its beginning."""
        if is_small(asked):
            problem = await self._compute(lambda: read_scenario(asked, self._limits))
        else:
            problem = await self._thinkers.think(read_scenario, asked, self._limits, page=self)
        target = whole("at", at, low=0, high=problem.num_steps)
        graph = problem.graph
        drawn = graph.num_nodes <= self._limits.drawn_nodes and graph.num_edges <= self._limits.drawn_edges
        playback = Playback(problem, drawn=drawn)
        self._driver = driver = Driver(
            playback, self._run, self._limits, compute=self._compute, say=self._say, send=self._send
        )
        ready = await self._compute(lambda: opening(problem, drawn=drawn))
        await self._say({"type": "ready", "run": self._run, **ready})
        await driver.show()
        if target:
            self._run_to(driver, target)
        self._start("theory", partial(self._answers.theory, self._run, problem))

    async def _play(self, message: Mapping[str, Any]) -> None:
        driver = self._need_driver()
        driver.speed = speed_of(message)
        if driver.playback.finished:
            await driver.rewind()
        await self._tasks.cancel("play")
        self._start("play", driver.run_on, announced=False)

    async def _pause(self, message: Mapping[str, Any]) -> None:
        await self._tasks.cancel("play")
        if self._driver is not None:  # a piece under way was finished, and its picture was not sent
            await self._driver.show()
        await self._say({"type": "paused", "run": self._run})

    async def _step(self, message: Mapping[str, Any]) -> None:
        driver = self._need_driver()
        count = whole("count", message.get("count", 1), low=1, high=self._limits.steps)
        await self._tasks.cancel("play")
        self._run_to(driver, min(driver.playback.step + count, driver.playback.problem.num_steps))

    async def _seek(self, message: Mapping[str, Any]) -> None:
        driver = self._need_driver()
        target = whole("step", message.get("step"), low=0, high=driver.playback.problem.num_steps)
        await self._tasks.cancel("play")
        if target < driver.playback.step:
            await driver.rewind()
        self._run_to(driver, target)

    async def _set_speed(self, message: Mapping[str, Any]) -> None:
        speed = speed_of(message)
        if self._driver is not None:
            self._driver.speed = speed

    async def _watch(self, message: Mapping[str, Any]) -> None:
        playback = self._need_playback()
        await self._tasks.cancel("privacy", "guess")
        observer, prior = read_observer(message, playback.problem.graph), read_prior(message)
        if observer is not None:
            self._start("privacy", partial(self._answers.privacy, self._run, playback, observer, prior))

    async def _guess(self, message: Mapping[str, Any]) -> None:
        playback = self._need_playback()
        await self._tasks.cancel("guess")
        observer, prior = read_observer(message, playback.problem.graph), read_prior(message)
        step = whole("step", message.get("step"), low=1, high=playback.problem.num_steps)
        centre = message.get("centre")
        if centre is not None:
            centre = number("centre", centre, low=-1e100, high=1e100)
        if observer is not None:
            question = observer, prior, centre, step
            self._start("guess", partial(self._answers.guess, self._run, playback, question))

    async def _compare(self, message: Mapping[str, Any]) -> None:
        playback = self._need_playback()
        await self._tasks.cancel("compare")
        self._start("compare", partial(self._answers.comparison, self._run, playback.problem))

    async def _history(self, message: Mapping[str, Any]) -> None:
        await self._say({"type": "history", **self._watcher.memory.history()})

    async def _live(self, message: Mapping[str, Any]) -> None:
        await self._tasks.cancel("live")
        if message.get("on") is not False:
            self._start("live", self._say_live, announced=False)

    def _need_driver(self) -> Driver:
        if self._driver is None:
            raise InvalidParameter("nothing is set up yet")
        return self._driver

    def _need_playback(self) -> Playback:
        return self._need_driver().playback

    def _run_to(self, driver: Driver, target: int) -> None:
        self._start("play", partial(driver.run_to, target, partial(self._tasks.shares.__setitem__, "play")))

    async def _say_live(self) -> None:
        while True:
            await self._say({"type": "live", **await self._watcher.look()})
            await asyncio.sleep(1.0)

    # -- plumbing ------------------------------------------------------------------------------

    async def _compute(self, work: Callable[[], T]) -> T:
        return await self._threads.compute(work, page=self)

    def _start(self, name: str, work: Callable[[], Awaitable[None]], *, announced: bool = True) -> None:
        self._tasks.start(name, work, run=self._run, announced=announced)

    async def _say(self, message: dict[str, Any]) -> None:
        await self._send(write(message))

    async def _send(self, data: str | bytes) -> None:
        """To the page.

        Raises
        ------
        WebSocketDisconnect
            If it is gone.
        """
        try:
            await (self._socket.send_text(data) if isinstance(data, str) else self._socket.send_bytes(data))
        except RuntimeError:  # Starlette's word for: it was closed already
            raise WebSocketDisconnect(1006) from None
