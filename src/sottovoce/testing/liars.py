"""Liars: members that hold a valid certificate and say what they like. A library of lies, for tests and demonstrations.

A lie takes each message that a peer is about to send and returns what it says instead, or ``None`` for silence. The
simulated network takes lies as they are (``network.liars[name] = lie``); :class:`LyingTransport` puts one around a real
transport, so that a real process lies over real TLS.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InvalidParameter, ProtocolViolation
from ..peer.protocol.messages import Kind, Message, Stop
from ..peer.transport.base import CallFailed, Handler, Transport

__all__ = ["LIARS", "Lie", "LyingTransport", "fuzzer", "liar"]

Lie = Callable[[Message], Message | None]


def register(value: Callable[[np.ndarray], np.ndarray], *kinds: Kind) -> Lie:
    """Another own register, with a counter that is new each time."""
    counter = itertools.count(10)

    def lie(m: Message) -> Message:
        if m.blank or m.kind not in (kinds or tuple(Kind)):
            return m
        base = np.zeros(1, dtype=np.int64) if m.g is None else m.g
        return replace(m, s=m.s + next(counter), f=value(base))

    return lie


def asking(amount: int) -> Lie:
    """Another value in each request, by so many units."""
    return lambda m: replace(m, x=m.x + amount) if m.x is not None else m


def rounds(number: int) -> Lie:
    """A round of the settled rule that is not the liar's, and that all agree on 50 million units."""
    narrow = np.array([50_000_000]), np.array([50_000_000])
    return lambda m: replace(m, stop=Stop(number, *narrow, *narrow, contributors=255, previous_contributors=255))


def _never_a_ledger(m: Message) -> Message:
    return replace(m, blank=True, s=0, f=None, r=0, g=None, stop=None) if m.kind is Kind.HELLO else m


def cycling() -> Lie:
    """BYE, and a greeting as if nothing were known, in turns: each time the edge opens, and is lost again."""
    turn = itertools.count()

    def lie(m: Message) -> Message:
        kind = Kind.BYE if next(turn) % 2 and m.dst_sid else Kind.HELLO
        src_sid = 0 if kind is Kind.BYE else m.src_sid
        return replace(m, kind=kind, src_sid=src_sid, blank=True, s=0, f=None, r=0, g=None, xid=0, x=None, stop=None)

    return lie


LIARS: dict[str, Callable[[], Lie]] = {
    "a register of minus a million millions": lambda: register(lambda base: base - 10**18),
    "a HELLO of minus a million millions": lambda: register(lambda base: base - 10**18, Kind.HELLO),
    "a register at the least number there is": lambda: register(lambda base: np.full_like(base, -(2**63))),
    "a register at the limit": lambda: register(lambda base: base + 600_000_000),
    "always a little more": lambda: asking(50_000_000),
    "far too much": lambda: asking(2**58),
    "round 2**40": lambda: rounds(2**40),
    "round 2**62 - 1": lambda: rounds(2**62 - 1),
    "round 0 for ever": lambda: rounds(0),
    "lives from the future": lambda: lambda m: replace(m, src_sid=m.src_sid + 2**50),
    "never answers": lambda: lambda m: None if m.kind in (Kind.REP, Kind.BUSY) else m,
    "never a ledger": lambda: _never_a_ledger,
    "leaves and comes back": cycling,
}
"""Each makes a lie, by what it says. Amounts are in units."""


def fuzzer(seed: int) -> Lie:
    """Random fields of half the messages changed at random."""
    rng = random.Random(seed)

    def lie(m: Message) -> Message:
        if rng.random() < 0.5:
            return m
        number = rng.choice([0, 1, 2**40, 2**62 - 1, m.s, m.r, m.s + 1, m.r + 1])
        vector = np.array([rng.choice([0, 1, 10**9, -(10**9), 2**60, -(2**60)])])
        changes: list[dict[str, Any]] = [
            {"f": vector}, {"g": vector}, {"f": vector, "s": m.s + 1}, {"s": number}, {"r": number}, {"xid": number},
            {"src_sid": m.src_sid + rng.choice([-1, 1, 2**40])}, {"dst_sid": m.dst_sid + rng.choice([-1, 1, 2**40])},
            {"blank": True}, {"kind": rng.choice([Kind.HELLO, Kind.REP, Kind.BUSY, Kind.BYE]), "x": None},
            {"stop": Stop(number, vector, vector + 1)}, {"stop": None},
        ]  # fmt: skip
        return replace(m, **rng.choice(changes))

    return lie


def liar(what: str) -> Lie:
    """A lie by its name in :data:`LIARS`, or ``fuzzer:SEED``."""
    name, _, seed = what.partition(":")
    if name == "fuzzer" and seed.isdecimal():
        return fuzzer(int(seed))
    if what not in LIARS:
        raise InvalidParameter(f"the liar must be fuzzer:SEED or one of {', '.join(LIARS)}; got {what!r}")
    return LIARS[what]()


class LyingTransport:
    """Says something else than its peer wants to say, in requests and in replies.

    Parameters
    ----------
    inner
        The transport that really carries it.
    lie
        What it says instead.
    now
        Whether it lies at the moment.
    """

    def __init__(self, inner: Transport, lie: Lie, now: Callable[[], bool] = lambda: True) -> None:
        self._inner, self._lie, self._now = inner, lie, now

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # everything that says nothing is done as it should be

    async def serve(self, handler: Handler, *rest: Any) -> None:
        """Listen; the replies are lies."""

        async def answer(name: str, message: Message) -> Message | None:
            reply = await handler(name, message)
            return None if reply is None else self._said(reply)

        await self._inner.serve(answer, *rest)

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        """Call; the message is a lie. Silence, and what cannot be put into bytes, looks like a lost message."""
        said = self._said(message)
        try:
            if said is not None:
                return await self._inner.call(dst, said, timeout)
        except (ProtocolViolation, OverflowError, ValueError):
            pass
        await asyncio.sleep(timeout)
        raise CallFailed(dst, "timeout")

    def _said(self, message: Message) -> Message | None:
        return self._lie(message) if self._now() else message
