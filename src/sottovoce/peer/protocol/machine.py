"""A peer's state machine on top of the ledger of each edge: rules R14 to R31, R44, R46 to R53, R60 to R62, R80 on.

:class:`Protocol` is told what happened (a tick of its clock, a message, a timer, an operator's wish) and
says what to send. Time does not exist here and randomness arrives as three functions. After each call
:attr:`Protocol.state` is the durable state, a new immutable value if anything durable changed; it
must be stored before the returned message leaves (R1). A call that returns nothing may be stored later,
together with the next one that does: a crash in between is the loss of a message.

What may be shown of the value is decided in :mod:`.disclosure`, when to call whom in :mod:`.calling`, who is around in
:mod:`.members`, what has arrived there in :mod:`.arrival`, how a topic ends in :mod:`.ending`; what a protocol holds is
in :mod:`.core`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ...errors import ConfigError, ProtocolViolation
from ...privacy.gaussian.account import Account
from .bounds import Movement, bounds_of
from .calling import exponential, hurried, own_rate, rest, steady
from .closing import in_the_order_of
from .core import NEWS_REFILL
from .disclosure import may_show, noise_is_held
from .ending import Ending
from .ledger import Reaction, meet, step
from .messages import Kind, Message, Vector, check_arrived, extremes, farthest, within, without_sets
from .noise import begin_afresh, draw_if_needed, noise_in_place, rearm
from .settings import Settings
from .state import Link, PeerState, Pending
from .steps import half, kept_within, reach, reach_of_half
from .terms import dispute
from .units import LARGEST, LONG

__all__ = ["WAITS_AFTER", "Protocol"]

ENOUGH_TOKENS = 1.5
"""R28: what is in the own bucket for a neighbour where it is worth while to ask it for an exchange of long vectors."""

REPEATS_AFTER = 2
"""R88: own calls to each neighbour in one round after which those that only wait are greeted again."""

WAITS_AFTER = 20
"""R88: own calls in one round after which a peer that has nothing to ask only waits."""


class Protocol(Ending):
    """One peer's state machine, for one topic (R50).

    Parameters
    ----------
    settings
        What does not change.
    state
        The durable state: loaded (R2), or a new one (R3).
    draw
        ``draw(d, size)`` gives d independent normal numbers of deviation ``size``, rounded (R45). In a real peer they
        come from the operating system.
    coin
        ``coin(d)`` gives d independent fair bits, 0 or 1, as whole numbers; from the operating system, too (R44).
    stamp
        Gives ``(unix milliseconds << 16) | 16 random bits``, from which life ids are made.
    recovering
        R3: the store was empty, so neighbours may hold the only copy of our ledgers. No exchange is started
        until all have answered or :attr:`recovering` is set to false because they had time enough.
    on_event
        Called with an event's name and the neighbour it concerns, for metrics.
    """

    @classmethod
    def resume(
        cls,
        settings: Settings,
        stored: PeerState | None,
        *,
        value: Vector | None,
        account: Account,
        neighbours: Iterable[str],
        **outside: Any,
    ) -> Self:
        """R2, R3: go on from what was stored, or begin with the private value, as configured now.

        Parameters
        ----------
        settings, stored
            The settings; the state in the store, if there is one.
        value
            The private value in units; ``None``: the stored one. A value other than the stored one may be related to
            it.
        account
            The noise and budget configured; what was shown before is carried over.
        neighbours
            The names configured.
        **outside
            ``draw``, ``coin``, ``stamp`` and ``on_event``, as for the class.
        """
        if stored is not None:
            before = stored.account
            state = replace(stored, account=replace(account, information=before.information, messages=before.messages))
            state = begin_afresh(state) if state.noise is None else state
            state = replace(state, certificate=in_the_order_of(settings.order, state.certificate))
        elif value is not None:
            state = begin_afresh(PeerState(value, account))  # R3: the account may know of an earlier disk
        else:
            raise ConfigError(f"peer {settings.name!r} has no stored state, so it needs its private value")
        protocol = cls(settings, state, recovering=not state.edges, **outside)  # R3: also from a backup
        if value is not None and not np.array_equal(value, state.value):
            protocol.set_value(value, new_secret=False)
        protocol.align(neighbours)
        return protocol

    # -- inputs: the own clock and the timer ----------------------------------------------------

    def tick(self, name: str | None) -> Message | None:
        """R16, R28: the own clock rang and chose ``name``; ``None`` if nobody can be called now."""
        active = self.state.active
        self._still = self.rule.round, self._still[1] + 1 if self._still[0] == self.rule.round else 0
        for neighbour in active:
            link = self._links[neighbour]
            link.tokens = min(link.tokens + self.settings.bucket_refill / len(active), self.settings.bucket_burst)
            link.news = min(link.news + NEWS_REFILL / len(active), 2.0 * self.rule.epoch_rounds)
        if self._still[1] >= WAITS_AFTER and (self.missing or self.absences.misses_anybody):
            self.follow()
        if self.pending is not None or name is None or name not in self.state.edges:
            return None
        edge = self.state.edges[name]
        if name in self.ended or (edge.blank and self._links[name].not_yet):  # R81, R85
            return None
        if edge.blank or edge.psid == 0:
            return self.greet(name)
        if self._has_said_enough(name):
            return None if self._was_told_just_now(name) else self.greet(name)
        self.recovering = self.recovering and any(self.state.edges[other].blank for other in active)
        if self.recovering:  # R3
            return None
        if self.settings.dimension >= LONG and self._links[name].tokens < min(
            ENOUGH_TOKENS, self.settings.bucket_burst
        ):
            return None  # R28: its bucket is as empty as the one here, and a request that it refuses is as dear as any
        if not may_show(self.state, self._links, self.settings):
            self._count("nothing-to-show", name)
            return self.greet(name)  # nothing about the value, but the ledger and the rounds go on
        self.state = draw_if_needed(self.state, self._draw, self.settings.units)
        message = self._say(Kind.REQ, name, xid=self._next_request(), x=self.state.shown)
        self.pending = Pending(name, message, self.settings.retries)
        return message

    def _has_said_enough(self, name: str) -> bool:
        """R84, R88: whether a topic needs no more exchanges over this edge, as far as this end knows.

        Not if their last exchange met a large difference: the two must find out whether they agree now. Otherwise with
        the answer there; and before, while this end's value is nearly what it was after that exchange, and its noise is
        gone or may not be withdrawn now (R55). If that is so at both ends of all edges, all values lie within half the
        tolerance, and agreement comes by itself.
        """
        link, settings = self._links[name], self.settings
        if not settings.missing or link.disagreement > settings.tolerance_units:
            return False
        near = settings.tolerance_units / (4 * settings.diameter)
        stays = noise_is_held(self.state, self._links) or noise_in_place(self.state, settings.units) == 0.0
        return self.declared or (link.moved <= near and stays)

    def _was_told_just_now(self, name: str) -> bool:
        """R88: whether a greeting would only repeat what has arrived: this round, which has not lasted long."""
        young = self._still[1] < REPEATS_AFTER * len(self.state.active)
        return young and self._links[name].delivered == self.rule.round and not self.declared

    @property
    def waits_in_round(self) -> list[str]:
        """R90: the neighbours that keep this peer in its round, if it has called twenty times in it."""
        if self._still[0] != self.rule.round or self._still[1] < WAITS_AFTER:
            return []
        return [name for name in self.state.active if self.rule.waits_for(name)]

    @property
    def quiet(self) -> bool:
        """R36, R88: whether nobody needs this peer to hurry: all is done, or it only waits for others."""
        if not self.rule.restless:
            return self.rule.quiet(self.state.active)
        talking = [name for name in self.state.active if not (self.state.edges[name].blank or self._links[name].silent)]
        still = self._still[0] == self.rule.round and self._still[1] >= WAITS_AFTER
        too_few = self.live_sealed_edges < self.settings.min_open_edges  # R30: it can only wait for others
        return still and (too_few or all(map(self._has_said_enough, talking)))

    def pause(self, uniform: float, took: float = 0.0, lately: float = 0.0) -> float:
        """R27, R36, R72, R96, R99: seconds until the own clock rings next, from a number uniform in [0, 1).

        ``took``: how long its last call has taken, 0 if it has called nobody; ``lately``: what calls usually take.
        """
        idle = self.quiet or self.declared
        rate = own_rate(self.settings, max(len(self.state.active), 1), quiet=idle)
        if not self.settings.missing:
            usual = exponential(rate, uniform)
        else:
            usual = steady(rate if idle else hurried(self.settings, rate, lately), uniform)
        return max(usual, rest(self.settings, took))

    def unanswered(self, message: Message, *, late: bool) -> Message | None:
        """R17: ``message`` brought no answer, only because time ran out if ``late``. What to send again, if anything.

        Only the pending request is repeated, the same bytes a few times; then it is given up.
        """
        self._doubt(message)
        if self.pending is None or self.pending.message is not message:
            return None
        if not late or self.pending.tries == 0:
            self._links[self.pending.peer].silent = True  # R30
            self.give_up()
            return None
        self.pending = replace(self.pending, tries=self.pending.tries - 1)
        return message

    def give_up(self, request: Message | None = None) -> None:
        """R17: stop waiting for ``request``, or for any. Always safe: the outcome is unknown and will be repaired."""
        if self.pending is not None and (request is None or request is self.pending.message):
            self._count("given-up", self.pending.peer)
            self.pending = None

    # -- inputs: messages -----------------------------------------------------------------------

    def receive(self, m: Message) -> Message | None:
        """One message from an authenticated neighbour; what to answer, if anything.

        Raises
        ------
        ProtocolViolation
            The message breaks the protocol. Nothing has changed.
        """
        self._check_address(m)
        if self._check_terms(m):
            return self.greet(m.src)
        same = m.roster == self.settings.roster
        m = m if same else without_sets(m)
        check_arrived(m, dimension=self.settings.dimension, members=self.settings.members)
        self._let_in(m)
        self._heed_refusal(m)
        if m.src not in self.state.edges:
            return self._without_record(m)
        self.reached(m.src)
        self._links[m.src].not_yet = m.kind is Kind.NOT_YET
        self.ended.pop(m.src, None)
        if m.kind in (Kind.NOT_YET, Kind.CLOSED):
            self._heed_end(m)
            return None
        edge = self.state.edges[m.src]
        if edge.parted and m.kind is not Kind.BYE and self.bound:  # R83
            return self._closed(m.src)
        if edge.parted and m.kind is not Kind.BYE and not self._links[m.src].openings.has(self._seconds()):
            self._count("opened-too-often", m.src)  # R53
            return None
        reaction = meet(edge, m, self._new_sid, self._seal)
        movement = self._check_flow(m, reaction)
        if edge.blank and not reaction.edge.blank and not self._links[m.src].openings.take(self._seconds()):
            self._stay_parted(m.src, edge)
            return None
        self._accept(m.src, reaction, movement)
        if reaction.answer is Kind.BYE:  # R52
            return self._farewell(m.src, m.src_sid)
        if not reaction.proceed:
            return None if reaction.answer is None else self._say(reaction.answer, m.src)
        self._lift_refusal(m.src)
        if same:
            self._heed_absences(m)
            if not self.rule.hear(m.src, m.stop, self.state.active, m.closed):
                self._count("round-ahead", m.src)  # R48
        if self.settings.missing:
            self._conclude(m, adopted=edge.blank and not m.blank)
        return self._payload(m)

    def _check_address(self, m: Message) -> None:
        if m.dst != self.settings.name:
            raise ProtocolViolation(f"{m.kind.name} from {m.src} is for somebody else")
        if m.topic != self.topic:
            raise ProtocolViolation(f"{m.kind.name} from {m.src} is about a topic that does not run here")

    def _check_terms(self, m: Message) -> bool:
        """R49, R60: nothing of a neighbour whose terms differ is believed, until a greeting shows that they agree.

        R89: of a topic it is told the own terms, once, so that both ends can say what differs; whether it must be now.
        """
        if m.src not in self.state.edges:
            return False
        self.rosters[m.src] = m.roster
        known = m.src in self.disputes
        if m.terms is not None:
            own, same = self.settings, m.roster == self.settings.roster
            why = dispute(own.name, own.terms, m.src, m.terms, same_roster=same)
            if why is None and same and own.roster_digest != m.digest:
                ours, theirs = own.roster_digest.hex()[:32] or "none", m.digest.hex()[:32] or "none"
                why = f"{own.name} and {m.src} hold different rosters {m.roster}, with the digests {ours} and {theirs}"
            if why is None:
                self.disputes.pop(m.src, None)
            else:
                self._count("terms-differ", m.src)
                self.disputes[m.src] = why
        if m.src not in self.disputes or m.kind is Kind.BYE:
            return False
        if known or not self.settings.missing:
            raise ProtocolViolation(self.disputes[m.src])
        return True

    def _check_flow(self, m: Message, reaction: Reaction) -> Movement:
        """R42, R47: twice the limit, because our own last step may be new to the neighbour."""
        edge, limit, known = reaction.edge, 2 * self.settings.edge_limit(m.src), self._links[m.src].bounds
        if not reaction.moved:
            return Movement(None, 0, known)
        moved = None if reaction.previous is None else reaction.previous - edge.g
        step = 0 if moved is None else farthest(moved)
        if moved is not None and known is not None and known.of(self.state.edges[m.src]):
            known = known.copied(edge, step)
            if known.flow <= limit:
                return Movement(moved, step, known)
        found = bounds_of(edge)
        if found.flow > limit:
            raise ProtocolViolation(
                f"{m.kind.name} from {m.src}: the flow of an edge must stay within {limit} units of "
                f"{self.settings.unit}"
            )
        return Movement(moved, step, found)

    def _accept(self, name: str, reaction: Reaction, movement: Movement) -> None:
        """Make the outcome of the ledger rules ours."""
        edge = reaction.edge
        if reaction.event:
            self._count(reaction.event, name)
        if reaction.new_life:
            self._links[name].last_xid = 0
            self.rule.forget(name)
        if edge is self.state.edges[name]:
            return
        opened = self.state.edges[name].blank and not edge.blank
        self._put(name, edge, movement.vector)
        if reaction.replaced:
            self._unlock(name)
            before = self._links[name]
            self._links[name] = Link(tokens=before.tokens, openings=before.openings)
        if reaction.forgotten:  # as R23: without that flow the old noise may be all that covers the value
            self.state = rearm(self.state)
        if reaction.forgotten or opened:
            self.rule.disturbed()
        self._links[name].bounds = movement.bounds
        if movement.vector is not None:  # R13: a request of ours was applied
            self.state = replace(self.state, fresh=self.state.fresh and noise_is_held(self.state, self._links))
            self._exchanged(name, 2 * movement.step, movement.step)

    def _payload(self, m: Message) -> Message | None:
        if m.kind is Kind.REQ:
            return self._respond(m)
        if m.kind is Kind.HELLO:  # R22, R62, R94
            again = self._greets_again(m)
            if self.has_news(m.src) or (again and self._may_have_missed(m.src)):
                return self._tell_news(m.src)
            return self._say(Kind.HELLO, m.src) if m.r < self.state.edges[m.src].s else None
        if self.pending is not None and self.pending.peer == m.src and self.pending.message.xid == m.xid:  # R21
            self.pending = None
            if m.kind is Kind.BUSY:
                self._count("refused-by", m.src)
        return None

    def _respond(self, m: Message) -> Message:
        """R18 to R20."""
        edge, link = self.state.edges[m.src], self._links[m.src]
        duplicate = m.xid <= link.last_xid
        link.last_xid = max(m.xid, link.last_xid)
        refusal = self._refusal(m, link, duplicate=duplicate)
        if m.r < edge.s:
            return self._say(Kind.REP, m.src, xid=m.xid)
        if not refusal and m.x is not None:
            refusal = self._apply(m, m.x, link)
        if refusal:
            self._count(refusal, m.src)
            return self._say(Kind.BUSY, m.src, xid=m.xid)
        return self._say(Kind.REP, m.src, xid=m.xid)

    def _refusal(self, m: Message, link: Link, *, duplicate: bool) -> str:
        """Why a request is not applied (R18, R19), or nothing."""
        if duplicate:
            return "duplicate"
        if m.x is None or not within(m.x, self.settings.limits.value):
            return "value-out-of-range"
        if self.pending is not None:
            return "locked"
        if link.tokens < 1:
            return "too-fast"
        return "" if may_show(self.state, self._links, self.settings) else "nothing-to-show"

    def _apply(self, m: Message, theirs: Vector, link: Link) -> str:
        """R20: the exchange happens here and nowhere else. Returns why not, or nothing."""
        state = draw_if_needed(self.state, self._draw, self.settings.units)
        edge, difference, limit = state.edges[m.src], theirs - state.shown, self.settings.edge_limit(m.src)
        least, most = extremes(difference)
        wanted, reached = half(difference, self._coin), reach_of_half(least, most)
        known = link.bounds if link.bounds is not None and link.bounds.of(edge) else bounds_of(edge)
        near = known.flow + max(reached) > limit
        amount = kept_within(wanted, edge.flow, limit) if near else wanted
        changed = step(edge, amount)
        far = near or known.register + max(reached) > LARGEST
        bounds = bounds_of(changed) if far else known.stepped(changed, max(reached))
        if bounds.register > LARGEST:
            return "register-full"
        if amount is not wanted:
            self._count("flow-limit", m.src)
        link.tokens -= 1.0
        link.bounds, link.step = bounds, reached if amount is wanted else reach(amount)
        held = noise_is_held(state, self._links)
        self.state = replace(state.with_edge(m.src, changed, amount), fresh=held)
        self._count("applied", m.src)
        self._exchanged(m.src, max(most, -least), max(link.step))
        return ""
