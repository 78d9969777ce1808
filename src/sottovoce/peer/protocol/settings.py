"""What the protocol is told once: the numbers that its rules use.

A peer's configuration, :class:`~sottovoce.peer.membership.config.PeerConfig`, *is* one of these, with addresses,
files and noise added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields

from ...errors import ConfigError

__all__ = ["MAX_DIMENSION", "Settings", "check_number"]

MAX_DIMENSION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The numbers of one peer's protocol.

    Each is explained in :mod:`~sottovoce.peer.membership.explanations`: what it means, by which formula it acts, what
    it costs to move it.
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
        for item in fields(Settings):
            if item.type == "float":
                check_number(self, item.name, "be a positive number", lambda v: 0 < v < math.inf)
            elif item.type == "int":
                self._check_whole(item.name, least=0 if item.name == "retries" else 1)
        if self.dimension > MAX_DIMENSION:
            raise ConfigError(f"dimension must be at most {MAX_DIMENSION}, got {self.dimension}")
        if self.net_flow_limit is not None:
            check_number(self, "net_flow_limit", "be 0 (no limit) or positive", lambda v: v >= 0)
            object.__setattr__(self, "net_flow_limit", self.net_flow_limit or None)

    def _check_whole(self, name: str, *, least: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(f"{name} must be a whole number, at least {least}, got {value!r}")


def check_number(settings: Settings, name: str, rule: str, holds: Callable[[float], bool]) -> None:
    """Refuse a field that is no number or breaks ``rule``; make it a float otherwise."""
    value = getattr(settings, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not holds(value):
        raise ConfigError(f"{name} must {rule}, got {value!r}")
    object.__setattr__(settings, name, float(value))
