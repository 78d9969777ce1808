"""What a peer keeps: the durable state (R1) with its private value, and what a restart may forget.

Durable state is immutable: a rule makes a new one, and whoever runs the protocol stores it before
anything leaves that depends on it. Arrays in it are never written to, so that messages may share them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import InvalidValues
from ...foundation.bucket import TokenBucket
from ...privacy.gaussian.account import Account
from .bounds import Bounds
from .closing import Certificate
from .ledger import Edge
from .messages import Message, Vector
from .parting import Parting
from .units import is_nothing

__all__ = ["FIRST_OPENINGS", "OPENINGS_PER_HOUR", "Link", "PeerState", "Pending", "check_value"]

FIRST_OPENINGS = 6.0
"""R53: how often one edge may be opened at once, as while a network is set up."""
OPENINGS_PER_HOUR = 4.0
"""R53: and how often later on."""


class _Sum(NamedTuple):
    """c + Σ flows, and the value and records of which it is that."""

    value: Vector
    edges: Mapping[str, Edge]
    total: Vector


@dataclass(frozen=True, repr=False)
class PeerState:
    """The durable state of one peer. Vectors are whole numbers of units (R43).

    Parameters
    ----------
    value
        The private value c.
    account
        What has been shown of it, and the number t of draws since the noise was last re-armed.
    noise
        Outstanding noise u; ``None`` before the first draw.
    fresh
        u has been drawn, and no exchange that used it is known to be applied (R15).
    requests
        No request has had a higher number (R18).
    last_sid
        The last life id issued.
    edges
        One record per neighbour.
    partings
        Neighbours that were dropped and have not answered for it yet (R51).
    certificate
        Of a topic: what the last epoch that ended in agreement found (R83); ``None``: none has.
    refusals
        Of a topic: neighbours that have closed it without this peer, and with whom (R85).
    known_sum
        Not durable: c + Σ flows, and of what; only :attr:`without_noise` and :meth:`with_edge` look at it.
    """

    value: Vector
    account: Account
    noise: Vector | None = None
    fresh: bool = False
    requests: int = 0
    last_sid: int = 0
    edges: Mapping[str, Edge] = field(default_factory=dict)
    partings: Mapping[str, Parting] = field(default_factory=dict)
    certificate: Certificate | None = None
    refusals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known_sum: _Sum | None = field(default=None, compare=False)

    @property
    def without_noise(self) -> Vector:
        """c + Σ flows, computed from all of them unless only :meth:`with_edge` has been used since that was done."""
        known = self._valid_sum
        if known is not None:
            return known
        total = self.value.copy()
        for edge in self.edges.values():
            if not edge.blank:  # in place: of a long vector every copy counts
                total += edge.f
                total -= edge.g
        object.__setattr__(self, "known_sum", _Sum(self.value, self.edges, total))
        return total

    @property
    def shown(self) -> Vector:
        """x = c + u + Σ flows."""
        if self.noise is None or is_nothing(self.noise):  # of a long vector every sum counts
            return self.without_noise
        return self.without_noise + self.noise

    def with_edge(self, name: str, edge: Edge, moved: Vector | None = None) -> PeerState:
        """The state with another record for one neighbour; ``moved``: what that adds to the value, if it is known.

        Whole numbers add up to the same in any order, so a sum that is carried on equals one that is computed anew.
        """
        edges, known, before = {**self.edges, name: edge}, self._valid_sum, self.edges.get(name)
        if known is not None and moved is not None:
            known = known + moved
        elif before is None or not before.same_registers(edge):
            known = None
        return replace(self, edges=edges, known_sum=None if known is None else _Sum(self.value, edges, known))

    @property
    def _valid_sum(self) -> Vector | None:
        known = self.known_sum
        valid = known is not None and known.value is self.value and known.edges is self.edges
        return known.total if known is not None and valid else None

    @property
    def sealed_edges(self) -> int:
        """How many edges hold a ledger that was opened with a seal (R46)."""
        return sum(edge.sealed for edge in self.edges.values())

    @cached_property
    def active(self) -> list[str]:
        """Neighbours that have not left, in ascending order."""
        return sorted(name for name, edge in self.edges.items() if not edge.parted)

    def __repr__(self) -> str:
        return f"<PeerState draws={self.account.messages} requests={self.requests} edges={dict(self.edges)}>"


def check_value(
    value: npt.ArrayLike,
    *,
    dimension: int,
    low: float = -math.inf,
    high: float = math.inf,
    place: Callable[[int], str] = "coordinate {} of the private value".format,
) -> npt.NDArray[np.float64]:
    """A private value as a vector of `dimension` finite numbers, all of them in [low, high].

    ``place`` says where a coordinate is, for errors.

    Examples
    --------
    >>> check_value(3, dimension=1)
    array([3.])
    >>> check_value([1.0, float("nan")], dimension=2)
    Traceback (most recent call last):
    sottovoce.errors.InvalidValues: coordinate 1 of the private value is not a finite number
    """
    if np.ma.is_masked(value):
        raise InvalidValues("the private value has masked numbers: fill them in, or leave them out")
    try:
        vector = np.array(value, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError):
        raise InvalidValues("the private value must be a number or a flat list of numbers") from None
    except OverflowError:
        raise InvalidValues("the private value has a number that no float can hold") from None
    if vector.ndim != 1 or vector.size != dimension:
        raise InvalidValues(f"the private value must have {dimension} coordinates, got shape {vector.shape}")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise InvalidValues(f"{place(int(bad[0]))} is not a finite number")
    outside = np.flatnonzero((vector < low) | (vector > high))
    if outside.size:
        raise InvalidValues(f"{place(int(outside[0]))} lies outside the declared range [{low:g}, {high:g}]")
    return vector


@dataclass(frozen=True, slots=True)
class Pending:
    """The one request that is out (R16); ``message`` is resent as it is."""

    peer: str
    message: Message
    tries: int


@dataclass(slots=True)
class Link:
    """What is remembered about a neighbour until the next restart."""

    last_xid: int = 0
    """Highest request number seen in its current life (R18)."""
    tokens: float = 0.0
    """R28: starts at zero, or a neighbour could drain the noise before anybody else speaks."""
    step: tuple[int, int] | None = None
    """Most that the last step of this end's register added and took away in any coordinate; ``None`` if that was
    before the restart."""
    news: float = 0.0
    """R62: greetings with news that may still be sent before the own clock rings again."""
    disagreement: float = math.inf
    """Largest difference in units seen in the last exchange; infinite before there was one."""
    moved: float = math.inf
    """R88: how far the own value has gone, at most, since the last exchange over this edge."""
    silent: bool = False
    """R30: it did not answer a request, and nothing has been heard of it since."""
    not_yet: bool = False
    """R81: it said that it has not contributed, and has not greeted since."""
    closed: int = 0
    """R84: the set that it has declared as this topic's answer; 0: it has not."""
    held: int = 0
    """R91: the set that it said last to be bound by; 0: none."""
    turn: int = 0
    """R96: when this edge had its last turn, among those of all edges; 0: it had none yet."""
    delivered: int = -1
    """R88: the last round of ours that it is known to have been told of."""
    greeted: int = -1
    """R94: the round in which it has greeted last."""
    doubtful: int = -1
    """R94: the last round of ours that it was told of in an answer, or in a call that failed."""
    bounds: Bounds | None = None
    """How far the registers of the edge reach; ``None``: nobody has looked yet."""
    openings: TokenBucket = field(default_factory=lambda: TokenBucket(OPENINGS_PER_HOUR / 3600.0, FIRST_OPENINGS))
    """R53: how often this edge may be opened. One that is lost starts the noise afresh, so each is paid for before."""
