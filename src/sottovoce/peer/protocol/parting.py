"""Dropping a neighbour so that it holds at both ends: rules R4, R51 and R52, as pure functions.

The end that drops forgets the ledger at once; the other end must forget it too, or what was moved stays in one of the
two values and not in the other. A BYE that is lost must therefore be said again, also after a restart and for as long
as the other end is down. So a drop leaves a :class:`Parting` in the durable state. It holds the life that ended, which
the BYE names as its sender's, and it is over when the other end answers for exactly that life: with a BYE that names
it, after it has stored that it keeps nothing.

Lives do the rest. The other end takes a new life whenever it hears a BYE that counts, so no message that was sent
before the drop can give it the ledger again; ``tests/peer/protocol/test_parting_model.py`` tries every order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .ledger import Edge
from .messages import Kind, Message

__all__ = ["Parting", "farewell", "heard_without_record", "part"]


@dataclass(frozen=True, slots=True)
class Parting:
    """A neighbour that was dropped here and has not answered for it yet.

    Parameters
    ----------
    sid
        The life of this end that ended with the drop.
    psid
        The life of the other end that must forget its ledger, as known here (0: unknown).
    since
        When it was dropped, in milliseconds since 1970.
    """

    sid: int
    psid: int
    since: int


def part(edge: Edge, since: int) -> Parting | None:
    """R51: what a drop leaves to be done; nothing if the last that was heard of the other end is that it has parted."""
    return None if edge.parted > edge.psid else Parting(edge.sid, edge.psid, since)


def heard_without_record(parting: Parting | None, m: Message) -> tuple[Parting | None, int | None]:
    """R4, R51, R52: a message from somebody for whom there is no record.

    Parameters
    ----------
    parting
        The unfinished parting from the sender, if there is one.
    m
        The message.

    Returns
    -------
    Parting or None
        What is left of the parting; ``None``: it is over, or there was none.
    int or None
        The sender's life in the BYE to answer with, 0 if no answer to it is needed; ``None``: do not answer.
    """
    if m.kind is Kind.BYE:
        over = parting is None or _answers(m, parting)
        return (None if over else parting), (0 if m.src_sid else None)
    if parting is None:
        return None, 0
    return replace(parting, psid=max(parting.psid, m.src_sid)), parting.sid


def _answers(m: Message, parting: Parting) -> bool:
    """Whether a BYE says that the other end keeps nothing: it answers for our life, or has dropped its own."""
    return m.dst_sid == parting.sid if m.src_sid == 0 else 0 < parting.psid <= m.src_sid


def farewell(src: str, dst: str, dst_sid: int, *, src_sid: int = 0, **more: object) -> Message:
    """A BYE: nothing is kept here for the life ``dst_sid`` of the receiver's end (R4, R23).

    ``src_sid``: the life of this end that ended, if the receiver is to answer for it (R51); 0: it need not.
    """
    return Message(Kind.BYE, src, dst, src_sid, dst_sid, blank=True, **more)  # type: ignore[arg-type]
