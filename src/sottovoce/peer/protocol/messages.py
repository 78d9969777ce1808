"""What one peer says to another, as a value: no encoding and no transport here.

Seven kinds of message, all with the same header. A message shows the sender's side of the *edge
ledger*: two single-writer registers whose difference is the flow across the edge. Counters always
travel; the register values themselves only when the receiver may need them (rules R37 to R39 in
:mod:`sottovoce.peer.protocol.ledger`), so that an ordinary exchange carries one vector each way.

Nothing here prints a value: the representation of a message shows counters and sizes only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ...errors import ProtocolViolation
from .absences import LONGEST_AGE, Absence
from .terms import LONGEST_NAME, LONGEST_UNIT, Terms
from .units import LARGEST, Vector

__all__ = [
    "COUNTER_LIMIT",
    "DEFAULT_TOPIC",
    "Kind",
    "Message",
    "Stop",
    "Told",
    "Vector",
    "check_arrived",
    "check_message",
    "extremes",
    "farthest",
    "within",
    "without_sets",
]

DEFAULT_TOPIC = bytes(16)
"""R50: every message names its topic by 16 bytes, the beginning of the SHA-256 of its name; this is the unnamed one."""

COUNTER_LIMIT = 2**62
"""Every integer in a message lies in [0, COUNTER_LIMIT): no neighbour can push one of ours to overflow."""


DIGEST = 32
"""Bytes of a SHA-256."""


class Kind(IntEnum):
    """The seven messages; the last two are for topics that open and end."""

    REQ = 1
    """Asks for one exchange and shows the sender's noisy value."""
    REP = 2
    """Answers a request; carries the register step that *is* the exchange."""
    BUSY = 3
    """Answers a request that was not applied."""
    HELLO = 4
    """Shows the ledger, nothing else; what repairs an edge after any failure."""
    BYE = 5
    """The sender keeps no ledger for this edge: it left, or never knew the receiver."""
    NOT_YET = 6
    """R81: the sender has not contributed to this topic. It greets when it does."""
    CLOSED = 7
    """R85: this topic has ended at the sender; ``closed`` says with whom."""


class Told(NamedTuple):
    """An interval as it travels between ends that hold the same reference (R97): its name, and how far it goes."""

    reference: bytes
    below: int
    above: int

    def __repr__(self) -> str:
        return f"<Told around {self.reference.hex()[:16]}>"


class Stop(NamedTuple):
    """The stopping layer's part of a message (rules R32 to R36); ``None`` for an interval means unbounded.

    ``contributors`` is the set of members whose values the interval covers so far, one bit each in the order of the
    roster; ``ready`` those among them that let nobody in or out any more (R83); ``previous_…`` is what the last epoch
    ended with. ``version`` is the sender's number for its interval, 0 if that is unbounded; an interval that is left
    out and has one is known to the receiver, or not told yet. ``taken`` is the highest number of the receiver's
    intervals that the sender has taken in, in its present epoch (R87). ``around`` tells an interval without vectors;
    ``reference`` is the name of the reference that the sender holds, ``owner`` who is said to have proposed it, and
    ``centre`` its numbers, for those who may lack them (R97).
    """

    round: int
    low: Vector | None = None
    high: Vector | None = None
    previous_low: Vector | None = None
    previous_high: Vector | None = None
    contributors: int = 0
    previous_contributors: int = 0
    ready: int = 0
    previous_ready: int = 0
    version: int = 0
    previous_version: int = 0
    taken: int = 0
    around: Told | None = None
    previous_around: Told | None = None
    reference: bytes = b""
    owner: int = 0
    centre: Vector | None = None

    @property
    def vectors(self) -> int:
        """How many vectors it carries."""
        return sum(vector is not None for vector in (*self[1:5], self.centre))

    def __repr__(self) -> str:
        return f"<Stop round={self.round} version={self.version} vectors={self.vectors}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Message:
    """One message on one edge.

    Parameters
    ----------
    kind
        Which of the seven.
    src, dst
        Names of the sender and the receiver, as in their certificates.
    src_sid, dst_sid
        Life of the sender's end of the edge; life of the receiver's end as the sender knows it (0: unknown).
    blank
        The sender holds no ledger for this edge; ``s``, ``f``, ``r``, ``g`` are then meaningless.
    s, f
        The sender's own register: its counter, and its value where the receiver may need it (else ``None``).
    r, g
        The sender's copy of the receiver's register: the counter is acknowledgement and base of a request;
        the value travels only when the receiver may hold no ledger (else ``None``).
    xid
        REQ: the sender's number for this request. REP, BUSY: the same number. Otherwise 0.
    x
        REQ only: the sender's noisy value.
    stop
        The stopping layer's part, or ``None``.
    topic
        Which average this is about (R50).
    roster, digest
        Number of the sender's roster, and in a HELLO its digest (R49).
    terms
        HELLO only: what the sender's network has in common (R60).
    closed
        The members whose mean the sender has declared as this topic's answer, one bit each; 0: it has not (R84).
    absences
        Who is missing, as far as the sender knows (R90).
    present
        Of a topic without an answer: who has contributed, one bit each, as far as the sender has heard (R90).
    held, holders
        The set in the certificate that the sender is bound by; the members that are known to be, or to have been, bound
        by one with the same set (R91). 0 where there is none, or where the answer is declared.
    checked
        Nothing that travels: for how many members all of it but the length of vectors was checked on arrival; 0: it was
        not.
    """

    kind: Kind
    src: str
    dst: str
    src_sid: int
    dst_sid: int
    blank: bool
    s: int = 0
    f: Vector | None = None
    r: int = 0
    g: Vector | None = None
    xid: int = 0
    x: Vector | None = None
    stop: Stop | None = None
    topic: bytes = DEFAULT_TOPIC
    roster: int = 0
    digest: bytes = b""
    terms: Terms | None = None
    closed: int = 0
    absences: tuple[Absence, ...] = ()
    present: int = 0
    held: int = 0
    holders: int = 0
    checked: int = 0

    @property
    def vectors(self) -> int:
        """How many vectors this message carries, the stopping layer's included."""
        own = sum(vector is not None for vector in (self.f, self.g, self.x))
        return own + (0 if self.stop is None else self.stop.vectors)

    def __repr__(self) -> str:
        shown = f"{self.kind.name} {self.src}→{self.dst} lives {self.src_sid}/{self.dst_sid}"
        ledger = " blank" if self.blank else f" s={self.s} r={self.r}"
        return f"<{shown}{ledger} xid={self.xid} vectors={self.vectors}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self.__slots__ if name != "checked")

    def __hash__(self) -> int:
        return hash((self.kind, self.src, self.dst, self.src_sid, self.dst_sid, self.s, self.r, self.xid))


def _same(a: Any, b: Any) -> bool:
    """Equality of fields; vectors bit for bit, because that is what the ledger promises."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return type(a) is type(b) and bool(a == b)


def check_message(m: Message, *, dimension: int | None, members: int, numbers: bool = True) -> None:
    """Rule R31: refuse a message whose numbers could harm, before any of it is believed.

    Vectors are whole numbers of at most 2⁶⁰ units here; what an edge may move is checked when the ledgers have been
    merged (R47), and the size of the noisy value ``x`` by the responder (R19). Without a ``dimension`` only the topic's
    own protocol knows how long a vector must be: :func:`check_arrived` asks for that, and looks at nothing twice.
    Without ``numbers`` those inside vectors are not looked at: whoever has unpacked them has done so.

    Raises
    ------
    ProtocolViolation
        Naming the field and what is allowed, never the value.
    """
    for name in ("src_sid", "dst_sid", "s", "r", "xid", "roster"):
        if not 0 <= getattr(m, name) < COUNTER_LIMIT:
            raise ProtocolViolation(f"{m.kind.name} from {m.src}: {name} must be in [0, 2**62)")
    if (m.x is not None) != (m.kind is Kind.REQ):
        raise ProtocolViolation(f"{m.kind.name} from {m.src}: a REQ carries x and nothing else does")
    if len(m.topic) != len(DEFAULT_TOPIC) or len(m.digest) not in (0, DIGEST):
        raise ProtocolViolation(f"{m.kind.name} from {m.src}: topic must have 16 bytes and a digest 32")
    if m.terms is not None:
        _check_terms(m, m.terms)
    for name in ("closed", "present", "held", "holders"):
        _check_set(m, name, getattr(m, name), members)
    _check_absences(m, members)
    if m.topic == DEFAULT_TOPIC and (m.closed or m.kind is Kind.CLOSED):
        raise ProtocolViolation(f"{m.kind.name} from {m.src}: the standing average is never closed")
    for name in ("f", "g", "x"):
        _check_vector(m, name, getattr(m, name), dimension, numbers=numbers)
    if m.stop is not None:
        _check_stop(m, m.stop, dimension, members, numbers=numbers)


def without_sets(m: Message) -> Message:
    """The same message without what is told by the numbers of members: another roster gives them others (R49)."""
    return replace(m, closed=0, present=0, held=0, holders=0, absences=(), stop=None)


def check_arrived(m: Message, *, dimension: int, members: int) -> None:
    """R31 for a message that may have been checked when it was decoded: then only its lengths are left."""
    if m.checked != members:
        check_message(m, dimension=dimension, members=members)
        return
    stop: tuple[tuple[str, Vector | None], ...] = ()
    if m.stop is not None:
        stop = tuple((f"stop.{name}", getattr(m.stop, name)) for name in ("low", "previous_low", "centre"))
    for name, vector in (("f", m.f), ("g", m.g), ("x", m.x), *stop):
        _check_length(m, name, vector, dimension)


def _check_terms(m: Message, terms: Terms) -> None:
    if m.kind is not Kind.HELLO:
        raise ProtocolViolation(f"{m.kind.name} from {m.src}: only a HELLO carries terms")
    texts, numbers = (terms.unit, terms.missing, terms.shape), terms[3:9]
    if max(map(len, texts)) > LONGEST_UNIT or not all(map(math.isfinite, numbers)):
        raise ProtocolViolation(f"HELLO from {m.src}: terms must be finite numbers and a unit of a few characters")
    if not terms.shape.isprintable():
        raise ProtocolViolation(f"HELLO from {m.src}: a shape must be printable")
    if len(terms.topic) > LONGEST_NAME or not terms.topic.isprintable():
        raise ProtocolViolation(
            f"HELLO from {m.src}: a topic's name must be at most {LONGEST_NAME} printable characters"
        )


def _check_vector(m: Message, name: str, vector: Vector | None, dimension: int | None, *, numbers: bool) -> None:
    if vector is None:
        return
    if dimension is not None:
        _check_length(m, name, vector, dimension)
    if numbers and (vector.dtype != np.int64 or not within(vector, LARGEST)):
        raise ProtocolViolation(f"{m.kind.name} from {m.src}: {name} must be whole numbers within 2**60")


def _check_length(m: Message, name: str, vector: Vector | None, dimension: int) -> None:
    if vector is not None and vector.shape != (dimension,):
        kind = m.kind.name
        raise ProtocolViolation(f"{kind} from {m.src}: {name} must have {dimension} coordinates, got {vector.size}")


def _check_set(m: Message, name: str, members_in_it: int, members: int) -> None:
    if members_in_it < 0 or members_in_it.bit_length() > members:
        raise ProtocolViolation(f"{m.kind.name} from {m.src}: {name} must be among {members} members")


def _check_absences(m: Message, members: int) -> None:
    """R90: one for each member at most, and no age that is none."""
    if len({one.member for one in m.absences}) < len(m.absences):
        raise ProtocolViolation(f"{m.kind.name} from {m.src}: absences must have one entry for each member at most")
    for one in m.absences:
        if not (0 <= one.member < members and 0 <= one.witness < members and one.member != one.witness):
            raise ProtocolViolation(f"{m.kind.name} from {m.src}: absences must be of two of the {members} members")
        if not (0 <= one.since < LONGEST_AGE and 0 <= one.age < LONGEST_AGE):
            raise ProtocolViolation(f"{m.kind.name} from {m.src}: ages of absences must be below 2**40 ms")


def _check_stop(m: Message, stop: Stop, dimension: int | None, members: int, *, numbers: bool) -> None:
    for name in ("round", "version", "previous_version", "taken"):
        if not 0 <= getattr(stop, name) < COUNTER_LIMIT:
            raise ProtocolViolation(f"{m.kind.name} from {m.src}: stop.{name} must be in [0, 2**62)")
    for name in ("contributors", "previous_contributors", "ready", "previous_ready"):
        _check_set(m, f"stop.{name}", getattr(stop, name), members)
    for name, low, high in (("", stop.low, stop.high), ("previous_", stop.previous_low, stop.previous_high)):
        if (low is None) != (high is None):
            raise ProtocolViolation(f"{m.kind.name} from {m.src}: stop.{name}low and stop.{name}high come together")
        if low is None or high is None:
            continue
        _check_vector(m, f"stop.{name}low", low, dimension, numbers=numbers)
        _check_vector(m, f"stop.{name}high", high, dimension, numbers=numbers)
        if low.shape != high.shape or (numbers and not bool((low <= high).all())):
            raise ProtocolViolation(f"{m.kind.name} from {m.src}: stop.{name}low must not exceed stop.{name}high")
    _check_reference(m, stop, dimension, members, numbers=numbers)


def _check_reference(m: Message, stop: Stop, dimension: int | None, members: int, *, numbers: bool) -> None:
    """R97."""
    _check_vector(m, "stop.centre", stop.centre, dimension, numbers=numbers)
    if len(stop.reference) not in (0, DIGEST) or not 0 <= stop.owner < members:
        raise ProtocolViolation(f"{m.kind.name} from {m.src}: stop.reference must have {DIGEST} bytes, of a member's")
    for name, told, low in (("", stop.around, stop.low), ("previous_", stop.previous_around, stop.previous_low)):
        if told is None:
            continue
        if low is not None or len(told.reference) != DIGEST:
            raise ProtocolViolation(
                f"{m.kind.name} from {m.src}: stop.{name}around must name a reference, without a low"
            )
        if not (0 <= told.below <= LARGEST and 0 <= told.above <= LARGEST):
            raise ProtocolViolation(f"{m.kind.name} from {m.src}: stop.{name}around must go at most 2**60 either way")


def within(vector: Vector, limit: int) -> bool:
    """Whether every coordinate lies in [−limit, limit]; the least 64-bit number, whose size is none, does not.

    Examples
    --------
    >>> within(np.array([1, -2]), 2), within(np.array([-(2**63)]), 2**60)
    (True, False)
    """
    least, most = extremes(vector)
    return -limit <= least and most <= limit


def farthest(vector: Vector) -> int:
    """How far the largest coordinate is from zero.

    Examples
    --------
    >>> farthest(np.array([3, -7]))
    7
    """
    least, most = extremes(vector)
    return max(most, -least)


def extremes(vector: Vector) -> tuple[int, int]:
    """The least and the greatest coordinate; of a single number without the cost of arrays."""
    if vector.size == 1:
        only = int(vector.flat[0])
        return only, only
    if not vector.size:
        return 0, 0
    return int(np.minimum.reduce(vector)), int(np.maximum.reduce(vector))
