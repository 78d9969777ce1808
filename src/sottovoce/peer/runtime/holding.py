"""R94, R95: answers that are held back for a moment, because there may be something better to say by then.

Two neighbours that go from round to round would call each other in each of them. But a call has an answer: so the one
that enters a round first calls, and is answered when the other has entered it, too. And a request with a long vector
that finds this peer locked need not be refused if the lock ends soon.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ...errors import PeerError
from ..protocol.messages import Message
from ..transport.base import HeldAnswer

__all__ = ["HeldAnswers"]


def _nothing() -> None:
    """What most answers are in the end."""


class HeldAnswers:
    """At most one for each neighbour: who calls again is answered for the call before."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[HeldAnswer, Callable[[], Message | None]]] = {}

    def hold(self, name: str, seconds: float, at_last: Callable[[], Message | None] = _nothing) -> HeldAnswer:
        """An answer for ``name``: what :meth:`give` says, or ``at_last`` after so many seconds or at :meth:`finish`."""
        self.finish(name)
        loop = asyncio.get_running_loop()
        answer = HeldAnswer(loop=loop)
        self._held[name] = answer, at_last
        loop.call_later(seconds, self._time_is_up, name, answer)
        return answer

    def waits(self, name: str) -> bool:
        """Whether ``name`` is still to be answered."""
        return name in self._held and not self._held[name][0].done()

    def give(self, name: str, reply: Message) -> None:
        """Answer ``name``, which waits."""
        self._held.pop(name)[0].set_result(reply)

    def finish(self, *names: str) -> None:
        """Answer these now, as after their time. Of whoever waits no more nothing is done."""
        for answer, at_last in [self._held.pop(name) for name in names if name in self._held]:
            if not answer.done():
                try:
                    answer.set_result(at_last())
                except PeerError as failure:
                    answer.set_exception(failure)

    def finish_all(self) -> None:
        """Answer all that wait."""
        self.finish(*self._held)

    def let_go(self) -> None:
        """Answer all with nothing: the conversation is over."""
        for answer, _ in self._held.values():
            if not answer.done():
                answer.set_result(None)
        self._held.clear()

    def _time_is_up(self, name: str, answer: HeldAnswer) -> None:
        if name in self._held and self._held[name][0] is answer:
            self.finish(name)
