"""What the protocol is told once: the numbers that its rules use.

A peer's configuration, :class:`~sottovoce.peer.membership.config.PeerConfig`, *is* one of these, with addresses and
files added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property

from ...errors import ConfigError
from .limits import Limits, check_resolution, limits
from .terms import WIRE, Terms
from .units import Unit

__all__ = ["MAX_DIMENSION", "Settings", "TopicSettings", "check_number"]

MAX_DIMENSION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The numbers of one peer's protocol.

    Each is explained in :mod:`~sottovoce.peer.membership.explanations`: what it means, by which formula it acts, what
    it costs to move it. Nothing that decides privacy or limits has a default.

    Parameters
    ----------
    unit, low, high
        The unit as decimal text; the declared range of private values.
    noise_std, noise_decay, seal_std
        σ and φ of the noise, and the standard deviation of the seal on every edge.
    members, max_degree, diameter
        Of the network: how many, the most neighbours that one has, the most hops between two.
    leaves
        Names of the members that have only one neighbour; R47 allows less on their edges.
    index, roster, roster_digest
        Position of this peer among the members, and the number and digest of the roster that says so.
    """

    name: str
    diameter: int
    unit: str
    low: float
    high: float
    noise_std: float
    noise_decay: float
    seal_std: float
    members: int
    max_degree: int
    leaves: frozenset[str] = frozenset()
    index: int = 0
    roster: int = 0
    roster_digest: bytes = b""
    dimension: int = 1
    tolerance: float = 0.001
    rate: float = 2.0
    bucket_burst: float = 6.0
    bucket_refill: float = 2.0
    min_open_edges: int = 2
    timeout: float = 0.25
    retries: int = 2
    backoff_max: float = 10.0
    sync_interval: float = 5.0
    grace: float = 5.0

    missing = ""  # not a field: the standing average of a network waits for everybody and never ends
    topic = ""  # nor this: it has no name
    order = tuple[str, ...]()  # nor this: and no answer that names members
    shape = ""  # nor this: its dimension is agreed in the roster

    def __post_init__(self) -> None:
        for item in fields(Settings):
            if item.name in _RULES:
                check_number(self, item.name, *_RULES[item.name])
            elif item.type == "float":
                check_number(self, item.name, "be a positive number", lambda v: 0 < v < math.inf)
            elif item.type == "int":
                self._check_whole(item.name, least=0 if item.name in ("retries", "index", "roster") else 1)
        if self.dimension > MAX_DIMENSION:
            raise ConfigError(f"dimension must be at most {MAX_DIMENSION}, got {self.dimension}")
        if self.index >= self.members:
            raise ConfigError(f"index must be below members = {self.members}, got {self.index}")
        check_resolution(unit=self.unit, noise_std=self.noise_std, seal_std=self.seal_std)
        self._check_tolerance()
        self.limits  # noqa: B018 - refuses a range that does not fit

    def _check_whole(self, name: str, *, least: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(f"{name} must be a whole number, at least {least}, got {value!r}")

    def _check_tolerance(self) -> None:
        """Values end one unit apart, and each neighbour of a peer may owe it one more: see :func:`own_interval`."""
        needed = 2 * self.max_degree + 2
        if self.tolerance_units < needed:
            raise ConfigError(
                f"tolerance must be at least 2 max_degree + 2 = {needed} units of {self.unit}, got {self.tolerance:g}"
            )

    @cached_property
    def units(self) -> Unit:
        """The unit, for converting."""
        return Unit(self.unit)

    @cached_property
    def tolerance_units(self) -> int:
        """The tolerance in whole units."""
        return self.units.whole(self.tolerance)

    @cached_property
    def terms(self) -> Terms:
        """R60: what a neighbour must have in common with this peer."""
        shared = {name: getattr(self, name) for name in Terms._fields if name != "wire"}
        return Terms(wire=WIRE, **shared)

    @cached_property
    def limits(self) -> Limits:
        """R47: what may move over an edge, and the largest value."""
        return limits(
            unit=self.unit,
            low=self.low,
            high=self.high,
            members=self.members,
            max_degree=self.max_degree,
            seal_std=self.seal_std,
            noise_std=self.noise_std,
            noise_decay=self.noise_decay,
        )

    def edge_limit(self, neighbour: str) -> int:
        """L of the edge to ``neighbour``, in units."""
        return self.limits.leaf if self.leaves & {self.name, neighbour} else self.limits.edge


@dataclass(frozen=True, kw_only=True)
class TopicSettings(Settings):
    """The numbers of one topic (R80).

    Parameters
    ----------
    missing
        ``"wait"``: the answer is the mean of all members, and there is none before all have contributed. ``"drop"``:
        it is that of those who have, and who does not, or falls silent, may be left out. All contributors must say the
        same.
    topic
        Its name.
    order
        The names of all members, in the order in which sets of them are written down; empty if they are not known.
    shape
        What its numbers are (:func:`~sottovoce.peer.trees.flatten`); empty: not known.
    """

    missing: str = "wait"
    topic: str = ""
    order: tuple[str, ...] = ()
    shape: str = ""

    def __post_init__(self) -> None:
        if self.missing not in ("wait", "drop"):
            raise ConfigError(f"missing must be 'wait' or 'drop', got {self.missing!r}")
        if self.missing == "drop":  # the others can be connected by a path through all of them
            object.__setattr__(self, "diameter", max(self.members - 1, 1))
        super().__post_init__()

    @classmethod
    def of(
        cls,
        settings: Settings,
        *,
        dimension: int,
        missing: str,
        topic: str,
        shape: str = "",
        order: tuple[str, ...] = (),
    ) -> TopicSettings:
        """Those of a topic in the network that ``settings`` are about."""
        shared = {item.name: getattr(settings, item.name) for item in fields(Settings)}
        own = {"dimension": dimension, "missing": missing, "topic": topic, "shape": shape, "order": order}
        return cls(**shared | own)


_Rule = tuple[str, Callable[[float], bool]]
_RULES: dict[str, _Rule] = {
    "low": ("be a finite number", math.isfinite),
    "high": ("be a finite number", math.isfinite),
    "noise_std": ("be a number of at least 0", lambda v: 0 <= v < math.inf),
    "seal_std": ("be a number of at least 0", lambda v: 0 <= v < math.inf),
    "noise_decay": ("lie in [0, 1)", lambda v: 0 <= v < 1),
}


def check_number(settings: Settings, name: str, rule: str, holds: Callable[[float], bool]) -> None:
    """Refuse a field that is no number or breaks ``rule``; make it a float otherwise."""
    value = getattr(settings, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not holds(value):
        raise ConfigError(f"{name} must {rule}, got {value!r}")
    object.__setattr__(settings, name, float(value))
