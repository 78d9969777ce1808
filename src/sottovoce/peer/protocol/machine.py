"""All decisions of a peer, with no I/O: rules R14 to R31, on top of the ledger of each edge.

:class:`Protocol` is told what happened (a tick of its clock, a message, a timer, an operator's wish) and
says what to send. Time does not exist here and randomness arrives as two functions. After each call
:attr:`Protocol.state` is the durable state, a new immutable value if anything durable changed; it
must be stored before the returned message leaves (R1). A call that returns nothing may be stored later,
together with the next one that does: a crash in between is the loss of a message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...errors import InvalidParameter, ProtocolViolation
from .ledger import Edge, Reaction, compose, farewell, meet, step
from .messages import Kind, Message, Vector, check_message, within
from .noise import draw_if_needed, may_draw, rearm
from .state import Link, PeerState, Pending, Settings
from .stopping import NOISE_MARGIN, Interval, RangeRule

__all__ = ["PRESUME_FROM", "Protocol"]

PRESUME_FROM = 64
"""R37: from so many coordinates on a REQ presumes that the last reply arrived; below, repeating it costs nothing."""


class Protocol:
    """One peer's state machine.

    Parameters
    ----------
    settings
        What does not change.
    state
        The durable state: loaded (R2), or a new one (R3).
    draw
        ``draw(d)`` gives d independent standard normal numbers. In a real peer they come from the operating system.
    stamp
        Gives ``(unix milliseconds << 16) | 16 random bits``, from which life ids are made.
    recovering
        R3: the store was empty, so neighbours may hold the only copy of our ledgers. No exchange is started
        until all have answered or :attr:`recovering` is set to false because they had time enough.
    on_event
        Called with an event's name and the neighbour it concerns, for metrics.
    """

    def __init__(
        self,
        settings: Settings,
        state: PeerState,
        *,
        draw: Callable[[int], Any],
        stamp: Callable[[], int],
        recovering: bool = False,
        on_event: Callable[[str, str], None] | None = None,
    ) -> None:
        self.settings = settings
        self.state = state
        self.recovering = recovering
        self.pending: Pending | None = None
        self.exchanges = 0
        """Exchanges that moved this peer's value since the start."""
        self.events: Counter[tuple[str, str]] = Counter()
        """(event, neighbour) → how often, since the start; for metrics."""
        self.rule = RangeRule(settings.diameter, settings.tolerance, self._sample)
        self._links = {name: Link() for name in state.edges}
        self._draw = draw
        self._on_event = on_event
        self._stamp = stamp
        self._zero = abs(state.value * 0)

    # -- inputs: the own clock and the timer ----------------------------------------------------

    def tick(self, name: str | None) -> Message | None:
        """R16, R28: the own clock rang and chose ``name``; ``None`` if nobody can be called now."""
        active = self.state.active
        for neighbour in active:
            link = self._links[neighbour]
            link.tokens = min(link.tokens + self.settings.refill / len(active), self.settings.burst)
        if self.pending is not None or name is None or name not in self.state.edges:
            return None
        edge = self.state.edges[name]
        if edge.blank or edge.psid == 0:
            return self.greet(name)
        self.recovering = self.recovering and any(self.state.edges[other].blank for other in active)
        if self.recovering:  # R3
            return None
        if not self._may_show():
            self._count("budget-spent", name)
            return self.greet(name)  # nothing about the value, but the ledger and the rounds go on
        state = draw_if_needed(self.state, self._draw)
        self.state = replace(state, requests=state.requests + 1)
        message = self._say(Kind.REQ, name, xid=self.state.requests, x=self.state.shown)
        self.pending = Pending(name, message, self.settings.retries)
        return message

    def expire(self) -> Message | None:
        """R17: the pending request was not answered in time. What to send again, or ``None``: given up."""
        if self.pending is None or self.pending.tries == 0:
            self.give_up()
            return None
        self.pending = replace(self.pending, tries=self.pending.tries - 1)
        return self.pending.message

    def give_up(self) -> None:
        """R17: stop waiting. Always safe: the outcome is unknown and any later message repairs it."""
        if self.pending is not None:
            self._count("given-up", self.pending.peer)
        self.pending = None

    def greet(self, name: str) -> Message:
        """R22: a HELLO, which may be sent at any time."""
        return self._say(Kind.HELLO, name)

    # -- inputs: membership and value -----------------------------------------------------------

    def add(self, name: str) -> Message:
        """R23: a new neighbour. Returns the HELLO to send."""
        if name == self.settings.name:
            raise InvalidParameter(f"a peer cannot be its own neighbour: {name!r}")
        if name not in self.state.edges:
            self._put(name, Edge(sid=self._new_sid()))
            self._links[name] = Link()
            self.rule.disturbed()
        return self.greet(name)

    def drop(self, name: str) -> Message | None:
        """R23: forget a neighbour and the flow to it. Returns the BYE to send, best effort."""
        edge = self.state.edges.get(name)
        if edge is None:
            return None
        edges = {other: kept for other, kept in self.state.edges.items() if other != name}
        state = replace(self.state, edges=edges)
        if not edge.blank:
            state = rearm(state)
        self.state = state if edges else replace(state, noise=None)
        self._links.pop(name, None)
        self._unlock(name)
        self.rule.forget(name)
        self.rule.disturbed()
        return farewell(self.settings.name, name, edge.psid)

    def set_value(self, value: Vector, *, new_secret: bool) -> None:
        """R24: another private value; flows stay, noise starts afresh.

        ``new_secret``: the new value tells nothing about the old one, so the account starts at zero too.
        """
        account = self.state.account.new_secret() if new_secret else self.state.account
        self.state = rearm(replace(self.state, value=value, account=account))
        self.rule.disturbed()

    # -- inputs: messages -----------------------------------------------------------------------

    def receive(self, m: Message) -> Message | None:
        """One message from an authenticated neighbour; what to answer, if anything.

        Raises
        ------
        ProtocolViolation
            The message breaks the protocol. Nothing has changed.
        """
        if m.dst != self.settings.name:
            raise ProtocolViolation(f"{m.kind.name} from {m.src} is for somebody else")
        check_message(m, dimension=self.settings.dimension, flow_limit=self.settings.flow_limit)
        reaction = meet(self.state.edges.get(m.src), m, self._new_sid, self._zero)
        if reaction.edge is not None:
            self._check_net_flow(m, reaction)
            self._accept(m.src, reaction)
        elif reaction.answer is Kind.BYE:
            self._count(reaction.event, m.src)
            return farewell(self.settings.name, m.src, m.src_sid)
        if not reaction.proceed:
            return None if reaction.answer is None else self._say(reaction.answer, m.src)
        self.rule.hear(m.src, m.stop, self.state.active)
        return self._payload(m)

    def _check_net_flow(self, m: Message, reaction: Reaction) -> None:
        """R42: a neighbour moves no more than agreed. Twice the limit, because our own last step may be new to it."""
        limit, edge = self.settings.net_flow_limit, reaction.edge
        if limit is None or edge is None or edge.blank or (reaction.previous is None and reaction.event != "adopted"):
            return
        if not within(edge.f - edge.g, 2 * limit):
            raise ProtocolViolation(f"{m.kind.name} from {m.src}: the net flow of an edge must stay within {limit:g}")

    def _accept(self, name: str, reaction: Reaction) -> None:
        """Make the outcome of the ledger rules ours."""
        edge = reaction.edge
        if reaction.event:
            self._count(reaction.event, name)
        if reaction.new_life:
            self._links[name].last_xid = 0
            self.rule.forget(name)
        if edge is None or edge is self.state.edges[name]:
            return
        opened = self.state.edges[name].blank and not edge.blank
        self._put(name, edge)
        if reaction.replaced:
            self._unlock(name)
            self._links[name] = Link(tokens=self._links[name].tokens)
        if reaction.forgotten:  # as R23: without that flow the old noise may be all that covers the value
            self.state = rearm(self.state)
        if reaction.forgotten or opened:
            self.rule.disturbed()
        if reaction.previous is not None:  # R13: a request of ours was applied
            self.state = replace(self.state, fresh=False)
            self._exchanged(name, 2.0 * _size(edge.g - reaction.previous))

    def _payload(self, m: Message) -> Message | None:
        if m.kind is Kind.REQ:
            return self._respond(m)
        if m.kind is Kind.HELLO:  # R22
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
        if m.x is None or not within(m.x, self.settings.value_limit):
            return "value-out-of-range"
        if self.pending is not None and self.settings.strict:
            return "locked"
        if link.tokens < 1:
            return "too-fast"
        return "" if self._may_show() else "budget-spent"

    def _apply(self, m: Message, theirs: Vector, link: Link) -> str:
        """R20: the exchange happens here and nowhere else. Returns why not, or nothing."""
        state = draw_if_needed(self.state, self._draw)
        edge, mine = state.edges[m.src], state.shown
        amount = (theirs + mine) / 2 - mine
        changed = step(edge, amount)
        limit = self.settings.net_flow_limit
        if not within(changed.f, self.settings.flow_limit):
            return "register-full"
        if limit is not None and not within(changed.f - changed.g, limit):
            return "net-flow-limit"  # R42
        link.tokens -= 1.0
        link.step = _size(amount)
        self.state = replace(state, fresh=False, edges={**state.edges, m.src: changed})
        self._count("applied", m.src)
        self._exchanged(m.src, 2.0 * link.step)
        return ""

    # -- what can be said ------------------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """Whether all peers are known to agree to the tolerance (R34)."""
        return self.rule.settled

    @property
    def quiet(self) -> bool:
        """Whether nobody needs this peer to hurry (R36)."""
        return self.rule.quiet(self.state.active)

    @property
    def error_bound(self) -> float | None:
        """How far x can be from the mean of all private values, or ``None`` if that is not known."""
        return self.rule.error_bound(self.state.shown)

    # -- helpers --------------------------------------------------------------------------------

    def _say(self, kind: Kind, name: str, *, xid: int = 0, x: Vector | None = None) -> Message:
        edge = self.state.edges[name]
        stop, presume = self.rule.stop_for(name), self.settings.dimension >= PRESUME_FROM
        return compose(edge, kind, self.settings.name, name, xid=xid, x=x, stop=stop, presume=presume)

    def _put(self, name: str, edge: Edge) -> None:
        self.state = replace(self.state, edges={**self.state.edges, name: edge})

    def _new_sid(self) -> int:
        """R31 keeps ids below 2**62; they are unique in this node and grow over its lives."""
        sid = max(self.state.last_sid + 1, self._stamp())
        self.state = replace(self.state, last_sid=sid)
        return sid

    def _unlock(self, name: str) -> None:
        if self.pending is not None and self.pending.peer == name:
            self.pending = None

    def _may_show(self) -> bool:
        """R14, R30."""
        return self.state.open_edges >= self.settings.min_open_edges and may_draw(self.state)

    def _exchanged(self, name: str, disagreement: float) -> None:
        """The value moved in an exchange."""
        self.exchanges += 1
        self._links[name].disagreement = disagreement
        if disagreement > 2.0 * self.settings.tolerance and self.rule.settled:  # R36
            self.rule.disturbed(membership=False)
        self.rule.value_changed()

    def _sample(self) -> Interval | None:
        """R32, R41: the own value, widened by what is in flight and by the noise in place."""
        margin = NOISE_MARGIN * self.state.amplitude
        if 2.0 * margin > self.settings.tolerance:
            return None
        for name in self.state.active:
            edge, link = self.state.edges[name], self._links[name]
            if edge.blank or edge.heard is None or link.disagreement > self.settings.tolerance:
                return None
            if edge.heard < edge.s:
                if link.step is None:
                    return None
                margin += link.step
        x = self.state.shown
        return x - margin, x + margin

    def _count(self, event: str, name: str) -> None:
        self.events[event, name] += 1
        if self._on_event is not None:
            self._on_event(event, name)


def _size(vector: Vector) -> float:
    return float(abs(vector).max())
