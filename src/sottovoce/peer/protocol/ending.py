"""How a topic ends at one peer: what it makes of agreement, and of what neighbours say. R82 to R85, R91 to R93.

What a certificate is, and why the answer is the same for all, is in :mod:`.closing`.
"""

from __future__ import annotations

from dataclasses import replace

from .closing import Certificate, followed, in_the_order_of, named, renewed
from .intervals import union, width
from .members import Membership
from .messages import Kind, Message, within
from .openings import closed
from .settings import Settings

__all__ = ["Ending"]


class Ending(Membership):
    """A protocol's certificate, and the answers that neighbours have told."""

    def _conclude(self, m: Message, *, adopted: bool = False) -> None:
        """R82 to R84, R91: an epoch may have ended in agreement, or a neighbour is bound, or has declared.

        ``adopted``: this end had lost its ledger. A set with this peer in it may be counted on by others since then.
        """
        held, found = self.state.certificate, self.rule.agreement()
        self._links[m.src].held = m.held
        if m.closed:
            self.declared_elsewhere = self._links[m.src].closed = m.closed
        if found is not None:
            again = held is not None and held.contributors == found.contributors
            self.unready = found.contributors & ~found.ready if again else 0
            if self.settings.missing == "wait" and found.contributors.bit_count() < self.settings.members:
                self.rule.tell_early()
            if not self.refused_by(found.contributors):
                held = renewed(held, found, missing=self.settings.missing, members=self.settings.members)
            held = self._undisputed(held, allowing=set())
        if m.held and m.held == self._held:  # R91
            self.holders |= m.holders
        self._note_offer(m)
        counted_on = m.closed | (m.held if adopted else 0)  # whoever has declared a set has counted on all of it
        self._heed_claim(m.src, counted_on)
        self._hold(held)

    def _undisputed(self, certificate: Certificate | None, *, allowing: set[int]) -> Certificate | None:
        """R83: an answer only if this peer and all neighbours that answer have said before that this set binds them.

        A member that lies can name others, and say that they are bound, to one neighbour alone and in the last moment.
        ``allowing``: what they may have said instead.
        """
        if certificate is self.state.certificate or certificate is None or self.settings.missing != "drop":
            return certificate
        links = (self._links[name] for name in self.state.active)
        said = {self._held, *(link.closed or link.held for link in links if not link.silent)}
        return replace(certificate, declared=False) if said - {certificate.contributors} - allowing else certificate

    def _heed_claim(self, name: str, counted_on: int) -> None:
        """R83: a neighbour counts on these; if this peer is one of them, it lets nobody in or out any more."""
        if self.settings.missing == "drop" and counted_on >> self.settings.index & 1:
            self._claims.add(name)
            self.rule.bound = True

    def forget_claims(self, *names: str) -> None:
        """R83: these are gone for good, as an operator says or the roster: what they alone have said binds nobody."""
        self._claims.difference_update(names)
        for name in names:
            self._lift_refusal(name)
        self.rule.bound = self.rule.bound and (bool(self._claims) or self.state.certificate is not None)

    def reconfigure(self, settings: Settings) -> None:
        """R49: what a new roster says; sets of members are in its order from now on, and neighbours tell theirs anew.

        Whoever holds a certificate with a member that is in the roster no more has to end the topic before.
        """
        self.state = replace(self.state, certificate=in_the_order_of(settings.order, self.state.certificate))
        self.ended.clear()
        self._offers.clear()
        self.declared_elsewhere = 0
        for link in self._links.values():
            link.closed = link.held = 0
        super().reconfigure(settings)
        self.holders = 1 << settings.index if self._held else 0
        self._heed_certificate()

    def _heed_refusal(self, m: Message) -> None:
        """R85: with "drop", whether a neighbour lets nobody in any more, and this peer is not among its members.

        Durable: it may not say so again. It takes that back only as one that has lost its disk and begins anew.
        """
        settings, known = self.settings, m.src in self.state.refusals or m.src not in self.settings.order
        concerned = m.src in self.state.edges or (m.src in self._left_out and not self.bound)
        if m.kind is Kind.NOT_YET:
            self._lift_refusal(m.src)
        elif m.kind not in (Kind.BYE, Kind.CLOSED) or settings.missing != "drop" or known or not concerned:
            return
        elif m.closed and not m.closed >> settings.index & 1:
            told = tuple(named(m.closed, settings.order))
            self.state = replace(self.state, refusals={**self.state.refusals, m.src: told})

    def _lift_refusal(self, name: str) -> None:
        if name in self.state.refusals:
            kept = {other: told for other, told in self.state.refusals.items() if other != name}
            self.state = replace(self.state, refusals=kept)

    def refused_by(self, members: int) -> dict[str, tuple[str, ...]]:
        """R85: neighbours that have closed the topic without this peer and are not among these members, and with whom.

        These members came late, too, and have no answer of their own: there would be two under one name. Nor does the
        topic end here for what one neighbour says: it may lie.
        """
        roll, among = self.settings.order, named(members, self.settings.order)
        return {name: told for name, told in self.state.refusals.items() if name in roll and name not in among}

    def _heed_end(self, m: Message) -> None:
        """R81, R85: the neighbour has not contributed yet; or it holds no ledger any more, because the topic is over.

        Who is bound to the same set has its answer by that. Who has none comes too late, or has lost it.
        """
        if m.kind is Kind.NOT_YET or not self.settings.missing or m.roster != self.settings.roster:
            return  # by another roster nobody knows with whom it is over
        self._links[m.src].closed = m.closed
        self._hold(self._undisputed(followed(self.state.certificate, m.closed), allowing={0}))
        self._note_offer(m)
        if self.has_lost:  # who has not, knows better; R93: who cannot tell believes nobody alone
            self._heed_claim(m.src, m.closed)
        if not self.declared:
            self.ended[m.src] = m.closed
            if all(name in self.ended for name in self.state.active):
                self._hold(self._taken_back())

    def _note_offer(self, m: Message) -> None:
        """R92, R93: a neighbour has told an answer."""
        if m.closed and m.stop is not None and m.stop.low is not None and m.stop.high is not None:
            width = int((m.stop.high - m.stop.low).max())
            self._offers[m.src] = Certificate(m.closed, m.stop.low + m.stop.high, width, declared=True)

    def _taken_back(self) -> Certificate | None:
        """R93: the answer that this peer had before it lost its disk: what those tell who have closed with it.

        Other neighbours may have none to tell: they have not contributed, and are not in it, or were closed out like
        that. A peer that knows that it has lost nothing is told an invention.
        """
        held, told = self.state.certificate, [one for name, one in self._offers.items() if name in self.ended]
        if held is not None or not told or not told[0].contributors >> self.settings.index & 1:
            return held
        first, limit = told[0], self.settings.tolerance_units
        if not self.may_have_lost or self._contradicted(first):
            return held
        same = all(width(union(one.interval, first.interval)) <= limit for one in told)
        one_set = {*(one.contributors for one in told), *self.ended.values()} == {first.contributors}
        blank = all(self.state.edges[name].blank for name in self.state.active)
        return first if same and one_set and blank else held

    def _contradicted(self, told: Certificate) -> bool:
        """Whether the answer is none that there can be, or names a neighbour that says it has not contributed."""
        if not within(told.twice, 2 * self.settings.limits.value):
            return True
        roll, absent = self.settings.order, [name for name in self.state.active if self._links[name].not_yet]
        return any(name not in roll or told.contributors >> roll.index(name) & 1 for name in absent)

    @property
    def sets_told(self) -> dict[str, int]:
        """R83, R90: the set of members that each neighbour has said last to be bound by, or to have as its answer."""
        told = {name: self._links[name].closed or self._links[name].held for name in self.state.active}
        return {name: members for name, members in told.items() if members}

    def has_answer(self, name: str) -> bool:
        """R84: whether a neighbour has said that it has the answer."""
        return self._links[name].closed != 0

    def follow(self) -> None:
        """R84, R91: the rounds do not go on. The set that this peer is bound to may be final all the same."""
        found = followed(self.state.certificate, self.declared_elsewhere, self.holders)
        self._hold(self._undisputed(found, allowing={0}))
        if not self.declared:
            self._hold(self._taken_over())
        if not self.declared:
            self._hold(self._taken_back())

    def _taken_over(self) -> Certificate | None:
        """R92: the answer that neighbours have told, if it is this peer's, too, although one of them is missing."""
        held, settings = self.state.certificate, self.settings
        there = [name for name in self.state.active if name not in self.missing and not self.absences.misses(name)]
        offer = next((self._offers[name] for name in there if name in self._offers), None)
        if offer is None or len(there) == len(self.state.active):
            return held
        if any(self._links[name].closed != offer.contributors for name in there):
            return held
        everybody = offer.contributors.bit_count() == settings.members
        if not offer.contributors >> settings.index & 1 or not (everybody or settings.missing == "drop"):
            return held
        if held is not None and held.contributors != offer.contributors:
            return held
        own = self.state.shown
        return offer if width(union((own, own), offer.interval)) <= settings.tolerance_units else held

    def _hold(self, certificate: Certificate | None) -> None:
        if certificate is not self.state.certificate:
            if certificate is not None and certificate.roll != self.settings.order:
                certificate = replace(certificate, roll=self.settings.order)
            before = self._held
            self.state = replace(self.state, certificate=certificate)
            if self._held != before:  # R91
                self.holders = 1 << self.settings.index if self._held else 0
            self._heed_certificate()

    def _closed(self, name: str) -> Message:
        """R83: what a newcomer is told."""
        held = self.state.certificate
        return closed(self.settings, name, 0 if held is None else held.contributors, topic=self.topic)
