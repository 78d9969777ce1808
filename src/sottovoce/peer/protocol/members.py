"""Who is around, and which value is averaged: rules R4, R23, R24, R49, R51, R53 and R83.

An edge is opened and lost by messages, too: see :mod:`.machine`. Here is what operators, rosters and programs ask for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...errors import InvalidParameter
from .arrival import Arrivals
from .core import no_absences, wants_references
from .ledger import Edge
from .messages import Kind, Message, Vector
from .noise import begin_afresh, rearm
from .parting import heard_without_record, part
from .settings import Settings
from .state import Link
from .terms import dispute

__all__ = ["Membership"]


class Membership(Arrivals):
    """A protocol's neighbours and its private value."""

    def align(self, neighbours: Iterable[str]) -> None:
        """R23: drop and add until the neighbours are these, as after a change of the configuration."""
        wanted = list(neighbours)
        for name in set(self.state.edges).difference(wanted):
            self.drop(name)
        for name in wanted:
            self.add(name)

    def add(self, name: str) -> Message | None:
        """R23: a new neighbour. Returns the HELLO to send; ``None`` if nobody is let in any more (R83)."""
        if name == self.settings.name:
            raise InvalidParameter(f"a peer cannot be its own neighbour: {name!r}")
        if name not in self.state.edges and not self.bound and not self.declared:
            self._put(name, Edge(sid=self._new_sid()))
            self.gone(name)  # R51: from here on the new life is what counts
            self._links[name] = Link()
            self._left_out.pop(name, None)
            self.rule.disturbed()
        return self.greet(name) if name in self.state.edges else None

    def leave_out(self, name: str) -> Message | None:
        """R83: as :meth:`drop`, a neighbour that is silent in a topic. It may come late, until this peer is bound."""
        link, said = self._links.get(name), self.drop(name)
        if link is not None and name not in self.state.edges:
            self._left_out[name] = link.openings
        return said

    def drop(self, name: str) -> Message | None:
        """R23, R51: forget a neighbour and the flow to it. Returns the BYE to send, again and again until answered."""
        self._left_out.pop(name, None)
        edge = self.state.edges.get(name)
        if edge is None or self.bound:  # R83
            return None
        edges = {other: kept for other, kept in self.state.edges.items() if other != name}
        state = replace(self.state, edges=edges)
        parting = part(edge, self._stamp() >> 16)
        if parting is not None:
            state = replace(state, partings={**state.partings, name: parting})
        if not edge.blank:
            state = rearm(state)
        alone = not edges and state.account.affords()  # with a spent budget no other noise can ever cover the value
        self.state = replace(state, noise=None) if alone else state
        self._links.pop(name, None)
        self._unlock(name)
        self.rosters.pop(name, None)
        self.disputes.pop(name, None)
        self.rule.forget(name)
        self.rule.disturbed()
        return self.farewell(name)

    def farewell(self, name: str) -> Message | None:
        """R51: the BYE for a neighbour that was dropped and has not answered for it yet; ``None`` if there is none."""
        parting = self.state.partings.get(name)
        return None if parting is None else self._farewell(name, parting.psid, src_sid=parting.sid)

    def gone(self, name: str) -> None:
        """R51: nobody need hear of the drop any more: the roster says that ``name`` is gone, or it is taken back."""
        if name in self.state.partings:
            kept = {other: parting for other, parting in self.state.partings.items() if other != name}
            self.state = replace(self.state, partings=kept)

    def reconfigure(self, settings: Settings) -> None:
        """R49: what a new roster says, from now on. Neighbours are another matter: :meth:`align`."""
        self.settings = settings
        self.absences, self._present = no_absences(settings), 0  # places in the roster mean others now
        self.rule.resize(settings.diameter, settings.tolerance_units, settings.index)
        self.rule.references.wanted = wants_references(settings)

    def set_value(self, value: Vector, *, new_secret: bool) -> None:
        """R24: another private value; flows stay, noise starts afresh.

        ``new_secret``: the new value tells nothing about the old one, so the account starts at zero too. Copies of the
        state from before are known by a lower number of requests (R56).
        """
        account, requests = self.state.account, self.state.requests
        if new_secret:
            account, requests = account.new_secret(), requests + 1
        self.state = begin_afresh(replace(self.state, value=value, account=account, requests=requests))
        self.rule.disturbed()

    def _let_in(self, m: Message) -> None:
        """R83: who was left out and has never met this peer in this topic comes late, unless this peer is bound."""
        own, late = self.settings, m.src in self._left_out and m.kind is Kind.HELLO and m.blank
        if not late or m.terms is None or (m.roster, m.digest) != (own.roster, own.roster_digest):
            return
        openings = self._left_out[m.src]
        if dispute(own.name, own.terms, m.src, m.terms, same_roster=True) is None and self.add(m.src) is not None:
            self._links[m.src].openings = openings

    def _without_record(self, m: Message) -> Message | None:
        """R4, R51, R52: the sender is no neighbour, or not any more."""
        before = self.state.partings.get(m.src)
        parting, ended = heard_without_record(before, m)
        if before is None:
            self._count("stranger", m.src)
        elif parting is None:
            self.gone(m.src)
            self._count("parting-heard", m.src)
        elif parting != before:
            self.state = replace(self.state, partings={**self.state.partings, m.src: parting})
        return None if ended is None else self._farewell(m.src, m.src_sid, src_sid=ended)

    def _stay_parted(self, name: str, edge: Edge) -> None:
        """R53: the edge was opened too often of late. It stays closed, and nobody waits for it."""
        self._put(name, replace(edge, parted=max(edge.parted, 1)))
        self.rule.forget(name)
        self._count("opened-too-often", name)
