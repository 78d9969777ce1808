"""What neighbours have been told, as far as this end knows: rules R30, R88 and R94.

A call that is answered has arrived. Of an answer nobody knows: its sender hears nothing more of it. So whoever greets
again from the same round is told again what it may have missed.
"""

from __future__ import annotations

from .core import Core
from .messages import Kind, Message

__all__ = ["Arrivals"]


class Arrivals(Core):
    """What a protocol remembers of the messages that it has sent."""

    def delivered(self, message: Message) -> None:
        """R88: ``message`` has arrived."""
        link = self._links.get(message.dst)
        if link is not None:
            link.delivered, link.doubtful = _round_of(message), -1

    def answered(self, reply: Message) -> None:
        """R88, R94: ``reply`` is on its way. It counts as delivered, but nobody will know if it is lost."""
        self.delivered(reply)
        self._doubt(reply)

    def _doubt(self, message: Message) -> None:
        """R94: ``message`` may be lost. Requests are repeated by themselves (R17), and so is what answers them."""
        link = self._links.get(message.dst)
        if link is not None and message.kind is Kind.HELLO:
            link.doubtful = _round_of(message)

    def _greets_again(self, m: Message) -> bool:
        """R94: whether the last greeting of ``m``'s sender was from the same round, which is not after ours."""
        link, number = self._links[m.src], _round_of(m)
        before, link.greeted = link.greeted, number
        return 0 <= number == before and number <= self.rule.round

    def _may_have_missed(self, name: str) -> bool:
        """R94: whether ``name`` was told of our round in a way of which nobody knows whether it arrived."""
        link = self._links[name]
        return link.doubtful == self.rule.round and not self.declared and link.news >= 1.0

    def reached(self, name: str) -> None:
        """R30: ``name`` is there: it has said something, or has at least taken what was said to it."""
        link = self._links.get(name)
        if link is not None:
            link.silent = False


def _round_of(message: Message) -> int:
    return -1 if message.stop is None else message.stop.round
