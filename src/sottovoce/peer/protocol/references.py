"""One vector from which all peers of a topic measure their intervals, so that two numbers tell them: rule R97.

An interval is two vectors, and telling it to each neighbour as often as it grew was a third of what a topic of long
vectors sent. When averaging ends all values are nearly the same, so one of them will do for all. The first by number of
the members that were heard of *proposes* its own when an epoch begins. It spreads with the messages of the first half,
which has D rounds and therefore reaches everybody. From then on an interval is told by the name of a reference, which
both ends hold, and two numbers: how far below and above it all that was gathered goes, in any coordinate.

Nothing depends on who proposes, nor on that all have the same. An interval around a reference holds the one that it
stands for. Who has no reference, or goes further from it than half the tolerance, tells vectors; so does who
talks to somebody that does not say that it holds the reference. Intervals around one reference unite exactly, and so do
all others, as vectors: peers that have gathered the same intervals have the same union, however they were told. If all
are told around one reference their union is no wider than the tolerance. If some are told as vectors it may be wider,
although all values agree; and where values hardly move any more the next epoch would be lost in the same way. So the
epoch after one that was lost with a reference is *exact*: told in vectors.

A reference is named by its digest: who is told another vector under that name does not take it up. A liar that proposes
a vector far from all values has everybody tell vectors, as without references.

What a proposal shows is an own interval, of which :func:`.disclosure.own_interval` says when the whole network may see
it.
"""

from __future__ import annotations

from .intervals import Around, Interval, Range, Reference, measured
from .messages import Stop, Told
from .units import LONG

__all__ = ["FAR", "WANTED_FROM", "References"]

WANTED_FROM = LONG
"""Numbers of a vector from which on references are used (R72)."""

FAR = 3
"""Diameter from which on they are: over one or two rounds an interval is told hardly more often than a reference."""

NEAR_SHARE = 2
"""An interval is told around a reference if it goes no further, either way, than the tolerance divided by this.

With 3, one topic in four of the benchmark was told in vectors for one value that was too far."""

KEPT_SHARE = 4
"""The last reference is proposed again, and need not travel, if the own interval goes no further from it than the
tolerance divided by this."""


class References:
    """What one peer measures from, and what each neighbour is known to hold.

    Parameters
    ----------
    member
        Number of this peer.
    tolerance
        Wider intervals are of no use.
    """

    def __init__(self, member: int, tolerance: int) -> None:
        self.member, self.tolerance = member, tolerance
        self.wanted = False
        """Whether to propose, to tell and to take up any: topics with long vectors do."""
        self.exact = False
        """Whether this epoch's own interval is told as it is, in vectors."""
        self.held: Reference | None = None
        """That of the present epoch."""
        self._last: Reference | None = None
        self._coming: Reference | None = None
        self._theirs: dict[str, bytes] = {}
        self._had: dict[str, bytes] = {}
        self._sent: dict[str, int] = {}

    def begin(self, own: Interval | None, heard_of: int, *, exact: bool) -> None:
        """An epoch begins. The first of all that were heard of proposes its own interval's lower end."""
        self.exact = exact
        self._last, self.held, self._coming = self.held or self._last, self._coming, None
        first = heard_of & ((1 << self.member) - 1) == 0
        if self.wanted and first and own is not None and not exact:
            proposed, last = own[0], self._last
            if last is not None and self._is_near(measured(own, last), KEPT_SHARE):
                proposed = last.vector
            self.held = _first(self.held, Reference(self.member, proposed))

    def withdraw(self) -> None:
        """R32: the own value is not to be told any more as it was when it was proposed."""
        self.held, self._last = (None if one and one.owner == self.member else one for one in (self.held, self._last))

    def hear(self, name: str, stop: Stop, *, early: bool, next_epoch: bool) -> bool:
        """What ``name`` holds. Returns whether it is better than what was held; ``early``: there is time to change."""
        if not self.wanted:
            return False
        self._theirs[name] = stop.reference
        if not stop.reference:
            return False
        self._had[name] = stop.reference
        told = self._told(stop) if early or next_epoch else None
        if told is None:
            return False
        if next_epoch:
            self._coming = _first(self._coming, told)
            return False
        before, self.held = self.held, _first(self.held, told)
        return self.held is not before

    def _told(self, stop: Stop) -> Reference | None:
        """The reference that is told, if its numbers are there and are what its name says."""
        for known in (self.held, self._coming, self._last):
            if known is not None and known.digest == stop.reference:
                return known if known.owner == stop.owner else Reference(stop.owner, known.vector)
        if stop.centre is None:
            return None
        told = Reference(stop.owner, stop.centre)
        return told if told.digest == stop.reference else None

    def told_to(self, name: str, interval: Range) -> Told | None:
        """An interval without vectors, if it can be told to ``name`` so."""
        if not isinstance(interval, Around) or self._theirs.get(name) != interval.reference.digest:
            return None
        return Told(interval.reference.digest, interval.below, interval.above)

    def told_by(self, told: Told | None) -> Around | None:
        """What that is here, if the reference of this epoch is the one that it names."""
        if told is None or self.held is None or self.held.digest != told.reference:
            return None
        return Around(self.held, told.below, told.above)

    def with_reference(self, name: str, stop: Stop, *, in_time: bool) -> Stop:
        """With the name of what is held, and its numbers for a neighbour that has not said that it has them.

        Once in a round, whatever a liar proposes meanwhile: that is enough to reach everybody in the first half.
        """
        held = self.held
        if held is None:
            return stop
        tells = in_time and self._had.get(name) != held.digest and self._sent.get(name) != stop.round
        if tells:
            self._sent[name] = stop.round
        return stop._replace(reference=held.digest, owner=held.owner, centre=held.vector if tells else None)

    def seen_from(self, interval: Range) -> Range:
        """The interval around the reference, where there is one and that is near."""
        if self.held is None or self.exact or (isinstance(interval, Around) and interval.reference is self.held):
            return interval
        around = measured(interval, self.held)
        return around if self._is_near(around, NEAR_SHARE) else interval

    def _is_near(self, around: Around, share: int) -> bool:
        return max(around.below, around.above) <= self.tolerance // share

    def resize(self, member: int, tolerance: int) -> None:
        """R49: another roster, in which members have other numbers."""
        self.member, self.tolerance = member, tolerance
        self.held = self._last = self._coming = None
        self._theirs.clear()
        self._had.clear()
        self._sent.clear()

    def forget(self, name: str) -> None:
        """The neighbour may have lost what it held."""
        self._theirs.pop(name, None)
        self._had.pop(name, None)
        self._sent.pop(name, None)


def _first(one: Reference | None, other: Reference) -> Reference:
    """All choose the same of two: that of the first member, by name of the reference if both say that they are."""
    if one is None:
        return other
    if one.owner != other.owner:
        return min(one, other, key=lambda reference: reference.owner)
    return min(one, other, key=lambda reference: reference.digest)
