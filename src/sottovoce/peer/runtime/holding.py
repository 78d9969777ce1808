"""R94: answers that are held back for a moment, because there may be something to say by then.

Two neighbours that go from round to round would call each other in each of them. But a call has an answer: so the one
that enters a round first calls, and is answered when the other has entered it, too.
"""

from __future__ import annotations

import asyncio

from ..protocol.messages import Message
from ..transport.base import HeldAnswer

__all__ = ["HeldAnswers"]


class HeldAnswers:
    """At most one for each neighbour: who calls again is answered for the call before, with nothing."""

    def __init__(self) -> None:
        self._held: dict[str, HeldAnswer] = {}

    def hold(self, name: str, seconds: float) -> HeldAnswer:
        """An answer for ``name`` that is nothing after so many seconds, unless :meth:`give` comes first."""
        self._let_go(name, self._held.get(name))
        loop = asyncio.get_running_loop()
        answer = self._held[name] = HeldAnswer(loop=loop)
        loop.call_later(seconds, self._let_go, name, answer)
        return answer

    def waits(self, name: str) -> bool:
        """Whether ``name`` is still to be answered."""
        return name in self._held and not self._held[name].done()

    def give(self, name: str, reply: Message) -> None:
        """Answer ``name``, which waits."""
        self._held.pop(name).set_result(reply)

    def _let_go(self, name: str, answer: HeldAnswer | None) -> None:
        if answer is not None and not answer.done():
            answer.set_result(None)
        if self._held.get(name) is answer:
            self._held.pop(name, None)
