"""The ledger of one edge as pure functions: rules R5 to R13, R26, R37 to R40, R46, R52 and the register step of R20.

Each end keeps two registers: ``f``, which only this end writes (the sum of what it moved to itself
when answering the other), and ``g``, its copy of the other end's register. The flow across the edge
is f − g. A register is replaced by a later version of itself or not at all, so that a message may be
lost, repeated or late without any effect on what has been moved.

An edge opens *sealed* (R46): the end that opens it starts its own register at a random number that only the two ends
ever know. Counter 1 is the seal and nothing else; the first exchange of a register has counter 2.

The rules are generic over what a register holds: the peer uses NumPy vectors, the tests exact
fractions and, for the exhaustive model check, opaque tokens. They are the same functions.

Registers that the other end has are left out of messages (R37, R38). Why that is safe: R39 makes an
incomplete message a lost one. Why it is rare: within one life a record goes from blank to non-blank once
and its counters only grow, and a message whose lives are not current is never looked at (R6, R9). So what
the peer's current life has acknowledged, it holds for as long as it accepts our message at all, and only a
lost reply can make a REQ incomplete.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ...errors import ProtocolViolation
from .messages import Kind, Message, Stop

__all__ = ["COUNTER_JUMP", "SEAL", "Edge", "Reaction", "compose", "meet", "step"]

SEAL = 1
"""R46: the counter of a register that holds its seal and no exchange yet."""

COUNTER_JUMP = 2**32
"""R31: a register counter that runs ahead by more than this is refused."""


@dataclass(frozen=True, slots=True, repr=False)
class Edge:
    """One end of one edge.

    Parameters
    ----------
    sid, psid
        Life of this end; life of the peer's end as known here (0: unknown).
    blank
        No ledger is held: the four next fields mean nothing.
    s, f
        This end's own register: counter and value.
    r, g
        The copy of the peer's register.
    parted
        The peer said that it keeps no record (R40): its lives below this number are over. 0: it did not say so.
    heard
        Volatile, never stored: ``r`` of the peer's latest message in the current lives, ``None`` if there was none.
    owed
        Volatile: that message showed that the peer lacks the present value of ``f``.
    """

    sid: int
    psid: int = 0
    blank: bool = True
    s: int = 0
    f: Any = None
    r: int = 0
    g: Any = None
    parted: int = 0
    heard: int | None = None
    owed: bool = False

    @property
    def flow(self) -> Any:
        """What the peer has moved here, less what was moved there: f − g, or zero without a ledger."""
        return 0 if self.blank else self.f - self.g

    @property
    def sealed(self) -> bool:
        """Whether the edge was opened with a seal, by either end."""
        return not self.blank and max(self.s, self.r) >= SEAL

    @property
    def exchanged(self) -> bool:
        """Whether an exchange has moved something, beyond the seals."""
        return not self.blank and max(self.s, self.r) > SEAL

    def same_registers(self, other: Edge) -> bool:
        """Whether both hold the same registers. They are never written to, so identity is enough."""
        return self.blank == other.blank and self.f is other.f and self.g is other.g

    def __repr__(self) -> str:
        ledger = "blank" if self.blank else f"s={self.s} r={self.r}"
        return f"<Edge life {self.sid} peer {self.psid} {ledger}{' parted' if self.parted else ''}>"


class Reaction(NamedTuple):
    """What the life and ledger rules make of a message."""

    edge: Edge
    answer: Kind | None = None
    """What must be answered, before or instead of the payload: HELLO, or the BYE of R52."""
    proceed: bool = False
    """Both lives are current and the ledgers merged: the payload may be looked at."""
    new_life: bool = False
    """The peer's life changed (R8): forget what was remembered about it."""
    replaced: bool = False
    """The record was replaced (R5, R7, R12): a request pending with this peer is void."""
    forgotten: bool = False
    """A ledger, and with it a flow, was given up: the noise must be re-armed."""
    previous: Any = None
    """R13: the peer's register as it was before it advanced by an exchange; ``None`` if it did not."""
    moved: bool = False
    """The flow is another than before, so its size must be checked (R47)."""
    event: str = ""
    """A name to count and log, or empty."""


def meet(edge: Edge, m: Message, new_sid: Callable[[], int], seal: Callable[[], Any]) -> Reaction:
    """Rules R5 to R13 for message ``m`` from the peer of ``edge``.

    Parameters
    ----------
    edge
        The record for the sender.
    m
        The message; its numbers have been checked (R31).
    new_sid
        Gives a life id that this node has never used.
    seal
        Draws what this end's register starts at, if this end opens the edge (R46). Called at most once, and only then.
    """
    if m.kind is Kind.BYE:
        return _part(edge, m, new_sid)
    if m.src_sid < max(edge.psid, edge.parted):  # R6
        return Reaction(edge, answer=Kind.HELLO if m.blank else None, event="earlier-life")
    if m.dst_sid > edge.sid:  # R7: only this edge's id is raised, so a liar harms no other edge
        return _give_up(edge, Edge(sid=_beyond(m.dst_sid, new_sid()), psid=edge.psid), Kind.HELLO, "later-life")
    new_life = m.src_sid > edge.psid
    if new_life:  # R8: the ledger is kept, it is now the only copy
        edge = replace(edge, psid=m.src_sid, heard=None, owed=False)
    if m.dst_sid != edge.sid:  # R9
        return Reaction(edge, answer=Kind.HELLO, new_life=new_life)
    return _merge(replace(edge, parted=0) if edge.parted else edge, m, new_sid, seal, new_life=new_life)


def _part(edge: Edge, m: Message, new_sid: Callable[[], int]) -> Reaction:
    """R5, R40 and R52: the peer keeps no record of the life it names; if it asks, it is told what is kept here.

    The life of the peer that ended, and all before it, are not heard any more (R6), and this end takes a new one: what
    was sent before the drop and arrives after it brings no ledger back.
    """
    told = Kind.BYE if m.src_sid else None
    if edge.parted > m.src_sid:  # heard before
        return Reaction(edge, answer=told)
    if m.dst_sid == edge.sid:
        fresh = Edge(sid=_next(edge, new_sid), psid=edge.psid, parted=m.src_sid + 1)
        return _give_up(edge, fresh, told, "" if edge.blank else "parted")
    if edge.blank and m.src_sid:
        return Reaction(replace(edge, psid=max(edge.psid, m.src_sid + 1)), answer=told, event="stale-bye")
    return Reaction(edge, answer=Kind.HELLO if m.src_sid else None, event="stale-bye")


def _next(edge: Edge, new_sid: Callable[[], int]) -> int:
    """A life after this one, even if R7 once raised this one above all that the node has issued."""
    return max(new_sid(), edge.sid + 1)


def _beyond(known: int, fresh: int) -> int:
    """An id above ``known`` that no forgotten life had either: the model check finds what goes wrong if it may.

    Ids are milliseconds times 2**16, so this is a random place in the millisecond after ``known``.
    """
    return max(fresh, known + 2**16 + fresh % 2**16)


def _give_up(edge: Edge, fresh: Edge, answer: Kind | None, event: str) -> Reaction:
    return Reaction(fresh, answer=answer, replaced=True, forgotten=not edge.blank, new_life=True, event=event)


def _merge(edge: Edge, m: Message, new_sid: Callable[[], int], seal: Callable[[], Any], *, new_life: bool) -> Reaction:
    """R10 to R13 and R46. Both lives are current."""
    if m.blank:  # R10
        opens = edge.blank
        if opens:  # R46: once in a life, because from now on this end is not blank
            drawn = seal()
            edge = replace(edge, blank=False, s=SEAL, f=drawn, r=0, g=drawn - drawn)
        return Reaction(replace(edge, heard=None, owed=False), answer=Kind.HELLO, new_life=new_life, moved=opens)
    if edge.blank:  # R11, R26, R39
        own = m.f - m.f if m.g is None and m.f is not None and m.r == 0 else m.g
        if m.f is None or own is None:
            return Reaction(edge, answer=Kind.HELLO, new_life=new_life, event="incomplete")
        edge = replace(edge, blank=False, s=m.r, f=own, r=m.s, g=m.f, heard=m.r)
        return Reaction(edge, proceed=True, new_life=new_life, event="adopted", moved=True)
    if m.r > edge.s:  # R12
        return _give_up(edge, Edge(sid=_next(edge, new_sid)), Kind.HELLO, "store-went-back")
    previous, moved = None, False
    if m.s > edge.r:  # R13
        if m.s - edge.r > COUNTER_JUMP:
            raise ProtocolViolation(f"{m.kind.name} from {m.src}: s must not run ahead by more than 2**32")
        if m.f is None:  # R39
            return Reaction(_acknowledged(edge, m), answer=Kind.HELLO, new_life=new_life, event="incomplete")
        previous = None if m.s == SEAL else edge.g  # R46: a seal is not an exchange
        edge, moved = replace(edge, r=m.s, g=m.f), True
    return Reaction(_acknowledged(edge, m), proceed=True, new_life=new_life, previous=previous, moved=moved)


def _acknowledged(edge: Edge, m: Message) -> Edge:
    """Remember what the peer has of our register."""
    owed = m.r < edge.s
    return edge if (edge.heard, edge.owed) == (m.r, owed) else replace(edge, heard=m.r, owed=owed)


def step(edge: Edge, amount: Any) -> Edge:
    """R20: add ``amount`` to this end's register. The caller has checked that the request's base is current."""
    return replace(edge, s=max(edge.s, SEAL) + 1, f=edge.f + amount)


def compose(
    edge: Edge,
    kind: Kind,
    src: str,
    dst: str,
    *,
    xid: int = 0,
    x: Any = None,
    stop: Stop | None = None,
    presume: bool = True,
    **more: Any,
) -> Message:
    """A message that shows ``edge``, with the registers that the receiver may need (R37, R38).

    ``presume``: REQ and HELLO need not repeat what the last reply carried. Wrong after a lost reply; then a HELLO asks.
    A register whose counter is 0 has never been written: it is zero, and does not travel.
    ``more``: other fields of the message.
    """
    sure = edge.heard is not None
    presumed = presume and kind in (Kind.REQ, Kind.HELLO) and not edge.owed
    f = None if edge.blank or (sure and (presumed or edge.heard == edge.s)) else edge.f
    g = None if edge.blank or sure or edge.r == 0 else edge.g
    counters = (0, 0) if edge.blank else (edge.s, edge.r)
    return Message(
        kind, src, dst, edge.sid, edge.psid, edge.blank,
        s=counters[0], f=f, r=counters[1], g=g, xid=xid, x=x, stop=stop, **more,
    )  # fmt: skip
