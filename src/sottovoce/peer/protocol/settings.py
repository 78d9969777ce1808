"""What the protocol is told once: the numbers that its rules use.

A peer's configuration, :class:`~sottovoce.peer.membership.config.PeerConfig`, *is* one of these, with addresses,
files and noise added. What it costs to move a field is told in :mod:`~sottovoce.peer.membership.explanations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...errors import ConfigError

__all__ = ["MAX_DIMENSION", "Settings", "check_number"]

MAX_DIMENSION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The numbers of one peer's protocol.

    Parameters
    ----------
    name
        This peer's own name.
    diameter
        An upper bound on the number of hops between any two peers (R34 counts rounds with it).
    dimension
        Coordinates of every value, the same in the whole network.
    tolerance
        The width to which all estimates must agree, coordinate by coordinate, to be called settled.
    rate, sync_interval
        Calls per second and neighbour (R27); seconds between calls to a neighbour once settled (R36).
    bucket_burst, bucket_refill
        Token bucket of R28: how many requests may come at once; tokens per own tick, over all neighbours.
    min_open_edges
        Nothing is shown while fewer edges are open (R30).
    value_limit
        Noisy values larger than this are not averaged with (R19, R31).
    flow_limit
        Registers larger than this are refused (R31).
    net_flow_limit
        The most that one neighbour may move in or out in total (R42); ``None``: no such limit.
    timeout, retries
        Seconds to wait for an answer; how often an unanswered request is sent again (R17).
    backoff_max
        The longest time in seconds for which a silent neighbour is left alone.
    grace
        Seconds for which a peer without a store waits for its neighbours' ledgers (R3).
    """

    name: str
    diameter: int
    dimension: int = 1
    tolerance: float = 0.001
    rate: float = 2.0
    bucket_burst: float = 6.0
    bucket_refill: float = 2.0
    min_open_edges: int = 1
    value_limit: float = 1e9
    flow_limit: float = 1e12
    net_flow_limit: float | None = None
    timeout: float = 0.25
    retries: int = 2
    backoff_max: float = 10.0
    sync_interval: float = 5.0
    grace: float = 5.0

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            check_number(self, name, "be a positive number", lambda v: 0 < v < math.inf)
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigError(f"{name} must be a whole number, at least {least}, got {value!r}")
        if self.dimension > MAX_DIMENSION:
            raise ConfigError(f"dimension must be at most {MAX_DIMENSION}, got {self.dimension}")
        if self.net_flow_limit is not None:
            check_number(self, "net_flow_limit", "be 0 (no limit) or positive", lambda v: v >= 0)
            object.__setattr__(self, "net_flow_limit", self.net_flow_limit or None)


_POSITIVE = (
    "tolerance",
    "rate",
    "bucket_burst",
    "bucket_refill",
    "value_limit",
    "flow_limit",
    "timeout",
    "backoff_max",
    "sync_interval",
    "grace",
)
_WHOLE = {"dimension": 1, "diameter": 1, "retries": 0, "min_open_edges": 1}


def check_number(settings: Settings, name: str, rule: str, holds: Callable[[float], bool]) -> None:
    """Refuse a field that is no number or breaks ``rule``; make it a float otherwise."""
    value = getattr(settings, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not holds(value):
        raise ConfigError(f"{name} must {rule}, got {value!r}")
    object.__setattr__(settings, name, float(value))
