"""Virtual time for asyncio: sleeping costs nothing, and hours of a network's life pass in a moment.

>>> import asyncio
>>> from sottovoce.testing import run_virtually
>>> async def a_day():
...     await asyncio.sleep(86_400)
...     return asyncio.get_running_loop().time()
>>> run_virtually(a_day()) >= 86_400
True
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple, Unpack

import numpy as np

from ..peer.protocol.noise import Draw, rounded
from ..peer.runtime.node import Peer

__all__ = ["SeededPeer", "VirtualClock", "run_virtually"]

Result = TypeVar("Result")
Given = TypeVarTuple("Given")


class _JumpingSelector(selectors.DefaultSelector):
    """Where an ordinary selector would wait for time to pass, this one lets it pass at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0.0)
        if not ready:
            if timeout is None:
                raise RuntimeError("nothing will ever happen: every task waits for another")
            self.now += max(timeout, 1e-9)
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Given]], Result], *args: *Given
    ) -> asyncio.Future[Result]:
        """What others do in a thread is done at once: time must not pass meanwhile."""
        done: asyncio.Future[Result] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done


def run_virtually(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end in virtual time. Everything it waits for must be in this process."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(work)


class VirtualClock:
    """A peer's clock that follows the event loop's time, with seeded randomness."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def now(self) -> float:
        """Seconds of the event loop."""
        return asyncio.get_running_loop().time()

    def stamp(self) -> int:
        """As :meth:`sottovoce.peer.runtime.clock.Clock.stamp`."""
        return (int(self.now() * 1000) + 1 << 16) | self._random.getrandbits(16)

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return self._random.random()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class SeededPeer(Peer):
    """A peer whose noise can be predicted by anybody who knows the seed. For tests only: it protects nothing."""

    def __init__(self, *arguments: Any, seed: int, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._generator = np.random.default_rng(seed)

    def _draw(self) -> Draw:
        return rounded(self._generator.standard_normal)

    async def _aside(self, work: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        return work(*arguments, **keywords)  # virtual time would run away while a thread computes

    def _coin(self) -> Callable[[int], Any]:
        return lambda count: self._generator.integers(2, size=count)
