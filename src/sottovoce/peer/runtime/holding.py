"""R94, R95: answers that are held back for a moment, because there may be something better to say by then.

Two neighbours that go from round to round would call each other in each of them. But a call has an answer: so the one
that enters a round first calls, and is answered when the other has entered it, too. And a request with a long vector
that finds this peer locked need not be refused if the lock ends soon.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..protocol.messages import Message
from ..transport.base import HeldAnswer

__all__ = ["HeldAnswers"]


def _nothing() -> None:
    """What most answers are in the end."""


@dataclass(frozen=True, slots=True)
class _Held:
    """An answer that somebody waits for, what it is at last, and when."""

    answer: HeldAnswer
    at_last: Callable[[], Message | None]
    timer: asyncio.TimerHandle


class HeldAnswers:
    """At most one for each neighbour: who calls again is answered for the call before.

    Of a call that is answered, or whose caller has hung up, nothing is kept: neither its message nor its timer.
    """

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}

    def hold(self, name: str, seconds: float, at_last: Callable[[], Message | None] = _nothing) -> HeldAnswer:
        """An answer for ``name``: what :meth:`give` says, or ``at_last`` after so many seconds or at :meth:`finish`."""
        self.finish(name)
        loop = asyncio.get_running_loop()
        answer = HeldAnswer(loop=loop)
        self._held[name] = _Held(answer, at_last, loop.call_later(seconds, self.finish, name))
        answer.add_done_callback(partial(self._hung_up, name))
        return answer

    def waits(self, name: str) -> bool:
        """Whether ``name`` is still to be answered."""
        return name in self._held and not self._held[name].answer.done()

    def give(self, name: str, reply: Message) -> None:
        """Answer ``name``, which waits."""
        self._take(name).answer.set_result(reply)

    def finish(self, *names: str) -> None:
        """Answer these now, as after their time. Of whoever waits no more nothing is done."""
        for held in [self._take(name) for name in names if name in self._held]:
            if not held.answer.done():
                try:
                    held.answer.set_result(held.at_last())
                except Exception as failure:  # told to the transport, and those behind this one are answered
                    held.answer.set_exception(failure)

    def finish_all(self) -> None:
        """Answer all that wait."""
        self.finish(*self._held)

    def let_go(self) -> None:
        """Answer all with nothing: the conversation is over."""
        for held in [self._take(name) for name in list(self._held)]:
            if not held.answer.done():
                held.answer.set_result(None)

    def _take(self, name: str) -> _Held:
        held = self._held.pop(name)
        held.timer.cancel()
        return held

    def _hung_up(self, name: str, answer: asyncio.Future[Message | None]) -> None:
        if name in self._held and self._held[name].answer is answer:
            self._take(name)
