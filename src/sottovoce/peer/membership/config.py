"""What one peer needs to know before it starts: :class:`PeerConfig`, from its own file and its network's roster.

How the two are read together is in :mod:`.files`. What each field means, by which formula it acts and what it costs to
move it is told in :mod:`.explanations`. The private value is not configuration: :mod:`sottovoce.peer.process.values`
reads it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import ConfigError
from ..protocol.settings import MAX_DIMENSION, Settings, check_number
from .names import check_label, is_loopback, split_address

__all__ = ["IdentityFiles", "PeerConfig"]


@dataclass(frozen=True)
class IdentityFiles:
    """Where this peer's key and its network's roster lie, and whose signature on rosters it believes."""

    key: Path
    roster: Path
    founder: str


@dataclass(frozen=True, kw_only=True)
class PeerConfig(Settings):
    """Everything one peer is told, except its private value: the protocol's settings, addresses, files and noise.

    What all members share, and who is whose neighbour, stands in the roster; `smallest_std`, `listen`, `data_dir` and
    the settings about time are each peer's own choice. What decides privacy has no default. A neighbour without an
    address is never called: it calls. A peer with ``listen=None`` is such a one. ``others`` are the members that are no
    neighbours, with their addresses: a peer that has dropped one must be able to tell it.

    Examples
    --------
    >>> config = PeerConfig(name="ada", network="demo", listen="127.0.0.1:0", neighbours={}, data_dir="data",
    ...                     noise_std=1.0, noise_decay=0.9, seal_std=10.0, smallest_std=0.05, diameter=2,
    ...                     unit="0.00001", low=0.0, high=100.0, members=5, max_degree=4)
    >>> config.certificate_name
    'ada.demo'
    """

    network: str
    listen: str | None
    data_dir: Path | None
    smallest_std: float | None
    neighbours: Mapping[str, str | None] = field(default_factory=dict)
    metrics_listen: str | None = None
    without: Sequence[str] = ()
    follow_rosters: bool = True
    longest_topic: int = 4096
    others: Mapping[str, str | None] = field(default_factory=dict)
    identity: IdentityFiles | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_label(self.name, "name")
        check_label(self.network, "network")
        if self.listen is not None:
            split_address(self.listen, "listen")
        if self.data_dir is not None:
            object.__setattr__(self, "data_dir", Path(self.data_dir))
        self._check_noise()
        self._check_neighbours()
        if self.longest_topic not in range(1, MAX_DIMENSION + 1) or isinstance(self.longest_topic, bool):
            raise ConfigError(
                f"longest_topic must be a whole number from 1 to {MAX_DIMENSION}, got {self.longest_topic!r}"
            )
        if not isinstance(self.follow_rosters, bool):
            raise ConfigError(f"follow_rosters must be true or false, got {self.follow_rosters!r}")
        if self.metrics_listen is not None:
            host, _ = split_address(self.metrics_listen, "metrics_listen")
            if not is_loopback(host):
                raise ConfigError(f"metrics_listen must be a loopback address, got {self.metrics_listen!r}")

    def _check_noise(self) -> None:
        check_number(self, "noise_std", "be a positive number", lambda v: 0 < v < math.inf)
        check_number(self, "noise_decay", "lie between 0 and 1, exclusive", lambda v: 0 < v < 1)
        if self.smallest_std is not None:
            check_number(self, "smallest_std", "be 0 (no limit) or positive", lambda v: v >= 0)
            object.__setattr__(self, "smallest_std", self.smallest_std or None)
        if self.smallest_std is not None and self.smallest_std > self.noise_std:
            raise ConfigError(
                f"smallest_std must be at most noise_std = {self.noise_std:g}, or the first exchange would already "
                f"be refused, got {self.smallest_std:g}"
            )

    def _check_neighbours(self) -> None:
        if not isinstance(self.neighbours, Mapping):
            raise ConfigError(f"neighbours must be a table of name = 'host:port', got {self.neighbours!r}")
        for name, address in self.neighbours.items():
            check_label(name, "a neighbour's name")
            if address is not None:
                split_address(address, f"the address of neighbour {name!r}")
            if name == self.name:
                raise ConfigError(f"a peer cannot be its own neighbour: {name!r}")
        object.__setattr__(self, "neighbours", dict(self.neighbours))

    @property
    def account_file(self) -> Path | None:
        """Where the privacy account is kept a second time: beside the key, where no copy of the data brings it back."""
        return None if self.identity is None else self.identity.key.with_name("peer.account")

    @property
    def roll(self) -> tuple[str, ...]:
        """The names of all members, in the order in which the roster numbers them."""
        return tuple(sorted({self.name, *self.neighbours, *self.others}))

    @property
    def numbered(self) -> tuple[str, ...]:
        """The same, if they are all known by name; nobody otherwise."""
        return self.roll if len(self.roll) == self.members else ()

    @property
    def certificate_name(self) -> str:
        """The name that this peer's certificate must carry."""
        return f"{self.name}.{self.network}"

    @classmethod
    def load(cls, path: str | Path) -> PeerConfig:
        """Read a peer's own file, and the roster that it names; relative paths start at the file's folder."""
        from .files import read_config

        return read_config(Path(path))
