"""What a peer keeps: the durable state (R1), the settings, and what a restart may forget.

Durable state is immutable: a rule makes a new one, and whoever runs the protocol stores it before
anything leaves that depends on it. Arrays in it are never written to, so that messages may share them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import InvalidParameter
from ...foundation.numbers import NEGLIGIBLE
from ...privacy.gaussian.account import Account
from .ledger import Edge
from .messages import Message, Vector

__all__ = ["Link", "PeerState", "Pending", "Settings"]


@dataclass(frozen=True)
class Settings:
    """What the protocol is told once.

    Parameters
    ----------
    name
        This peer's own name.
    dimension
        Coordinates of every value, the same in the whole network.
    tolerance
        The width to which all estimates must agree, coordinate by coordinate, to be called settled.
    diameter
        An upper bound on the number of hops between any two peers (R34 counts rounds with it).
    value_limit
        Noisy values larger than this are not averaged with (R19, R31).
    flow_limit
        Registers larger than this are refused (R31).
    net_flow_limit
        The most that one neighbour may move in or out in total; ``None``: no such limit.
    burst, refill
        Token bucket of R28: how many requests may come at once; tokens per own tick, over all neighbours.
    retries
        How often an unanswered request is sent again (R17).
    min_open_edges
        Nothing is shown while fewer edges are open (R30).
    strict
        Answer BUSY while a request of one's own is out. Turning it off is safe for the mean but the run
        is then no longer one of Algorithm 1, step by step (V6).
    """

    name: str
    dimension: int = 1
    tolerance: float = 1e-3
    diameter: int = 1
    value_limit: float = 1e9
    flow_limit: float = 1e12
    net_flow_limit: float | None = None
    burst: float = 6.0
    refill: float = 2.0
    retries: int = 2
    min_open_edges: int = 1
    strict: bool = True

    def __post_init__(self) -> None:
        for name in ("tolerance", "value_limit", "flow_limit", "burst", "refill"):
            if not 0 < getattr(self, name) < math.inf:
                raise InvalidParameter(f"{name} must be a positive finite number, got {getattr(self, name)}")
        for name, least in (("dimension", 1), ("diameter", 1), ("retries", 0), ("min_open_edges", 1)):
            if getattr(self, name) < least:
                raise InvalidParameter(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.net_flow_limit is not None and not self.net_flow_limit > 0:
            raise InvalidParameter(f"net_flow_limit must be positive or None, got {self.net_flow_limit}")


@dataclass(frozen=True, repr=False)
class PeerState:
    """The durable state of one peer (section 1.1 of the protocol).

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
        Number of the last request.
    last_sid
        The last life id issued.
    edges
        One record per neighbour.
    """

    value: Vector
    account: Account
    noise: Vector | None = None
    fresh: bool = False
    requests: int = 0
    last_sid: int = 0
    edges: Mapping[str, Edge] = field(default_factory=dict)

    @property
    def shown(self) -> Vector:
        """x = c + u + Σ flows, always recomputed, neighbours in ascending order (section 3)."""
        total: Any = self.value if self.noise is None else self.value + self.noise
        for name in sorted(self.edges):
            edge = self.edges[name]
            if not edge.blank:
                total = total + (edge.f - edge.g)
        return np.asarray(total)

    @property
    def amplitude(self) -> float:
        """Standard deviation σφ^{t−1} of the noise in place, or σ when the next draw starts afresh."""
        return amplitude(self.account, max(self.account.messages - 1, 0))

    @property
    def open_edges(self) -> int:
        """How many edges hold a ledger."""
        return sum(not edge.blank for edge in self.edges.values())

    @property
    def active(self) -> list[str]:
        """Neighbours that have not left, in ascending order."""
        return sorted(name for name, edge in self.edges.items() if not edge.parted)

    def __repr__(self) -> str:
        return f"<PeerState draws={self.account.messages} requests={self.requests} edges={dict(self.edges)}>"


def amplitude(account: Account, draws: int) -> float:
    """σφ^draws, and zero where no effect of it could be seen (see :data:`.NEGLIGIBLE`)."""
    size = account.noise_std * account.noise_decay**draws
    return size if size >= NEGLIGIBLE else 0.0


@dataclass(frozen=True, slots=True)
class Pending:
    """The one request that is out (R16); ``message`` is resent as it is."""

    peer: str
    message: Message
    tries: int


@dataclass(slots=True)
class Link:
    """What is remembered about a neighbour until the next restart (section 1.2)."""

    last_xid: int = 0
    """Highest request number seen in its current life (R18)."""
    tokens: float = 0.0
    """R28: starts at zero, or a neighbour could drain the noise before anybody else speaks."""
    step: float | None = None
    """Largest coordinate of the last step of this end's register; ``None`` if that was before the restart."""
    disagreement: float = math.inf
    """Largest difference seen in the last exchange; infinite before there was one."""
