"""What one peer needs to know before it starts: :class:`PeerConfig`, read from a TOML file.

What each field means, by which formula it acts and what it costs to move it is told in :mod:`.explanations`. The
private value is not configuration: :mod:`sottovoce.peer.process.values` reads it.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ..protocol.settings import Settings, check_number
from .explanations import EXPLANATIONS

__all__ = ["PeerConfig", "TlsFiles", "split_address"]

# Names become DNS labels in certificates, file names and log fields, so they are kept to what is safe in all three.
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def split_address(address: object, what: str) -> tuple[str, int]:
    """Split ``host:port`` (IPv6 hosts in brackets).

    Examples
    --------
    >>> split_address("127.0.0.1:7001", "listen")
    ('127.0.0.1', 7001)
    >>> split_address("[::1]:7001", "listen")
    ('::1', 7001)
    """
    if isinstance(address, str):
        host, colon, port = address.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        host = host[1:-1] if bracketed else host
        if colon and host and (bracketed or ":" not in host) and port.isdecimal() and int(port) <= 65535:
            return host, int(port)
    raise ConfigError(f"{what} must be 'host:port' with a port from 0 to 65535, got {address!r}")


def check_label(name: object, what: str) -> str:
    """A peer or network name: lower-case letters, digits and inner hyphens, at most 63."""
    if not isinstance(name, str) or not _LABEL.fullmatch(name):
        raise ConfigError(f"{what} must be 1 to 63 lower-case letters, digits or inner hyphens, got {name!r}")
    return name


@dataclass(frozen=True)
class TlsFiles:
    """Where the certificate of this peer, its key and the authority of its network lie."""

    certificate: Path
    key: Path
    authority: Path


@dataclass(frozen=True, kw_only=True)
class PeerConfig(Settings):
    """Everything one peer is told, except its private value: the protocol's settings, addresses, files and noise.

    All peers of a network must agree on everything that :class:`Settings` has without a default, and on `network`,
    `dimension`, `rate` and `tolerance`; `smallest_std` is each peer's own choice. What decides privacy has no default.

    Examples
    --------
    >>> config = PeerConfig(name="ada", network="demo", listen="127.0.0.1:0", neighbours={}, data_dir="data",
    ...                     noise_std=1.0, noise_decay=0.9, seal_std=10.0, smallest_std=0.05, diameter=2,
    ...                     unit="0.00001", low=0.0, high=100.0, members=5, max_degree=4)
    >>> config.certificate_name
    'ada.demo'
    """

    network: str
    listen: str
    data_dir: Path | None
    smallest_std: float | None
    neighbours: Mapping[str, str] = field(default_factory=dict)
    metrics_listen: str | None = None
    tls: TlsFiles | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_label(self.name, "name")
        check_label(self.network, "network")
        split_address(self.listen, "listen")
        if self.data_dir is not None:
            object.__setattr__(self, "data_dir", Path(self.data_dir))
        self._check_noise()
        self._check_neighbours()
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
            split_address(address, f"the address of neighbour {name!r}")
            if name == self.name:
                raise ConfigError(f"a peer cannot be its own neighbour: {name!r}")
        object.__setattr__(self, "neighbours", dict(self.neighbours))

    @property
    def certificate_name(self) -> str:
        """The name that this peer's certificate must carry."""
        return f"{self.name}.{self.network}"

    @classmethod
    def load(cls, path: str | Path) -> PeerConfig:
        """Read a TOML file; relative paths in it start at its folder."""
        return from_mapping(_read_toml(Path(path)), Path(path).absolute().parent, source=str(path))


def is_loopback(host: str) -> bool:
    """Whether `host` names this machine only."""
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {str(path)!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the configuration {str(path)!r} is not valid TOML: {error}") from None


def from_mapping(table: Mapping[str, Any], folder: Path, *, source: str) -> PeerConfig:
    """Build a configuration from a parsed TOML table, resolving paths against `folder`."""
    by_name = {item.name: item for item in fields(PeerConfig)}
    known = {name: by_name[name] for name in EXPLANATIONS}  # in the order of the file that is written
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ConfigError(f"{source}: unknown field {unknown[0]!r}; known are {', '.join(known)}")
    missing = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING and n not in table]
    if missing:
        raise ConfigError(f"{source}: missing field {missing[0]!r} ({EXPLANATIONS[missing[0]].meaning})")
    given = dict(table)
    given["data_dir"] = _path(given["data_dir"], folder, f"{source}: data_dir")
    if given.get("tls") is not None:
        given["tls"] = _tls_files(given["tls"], folder, source)
    try:
        return PeerConfig(**given)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None


def _path(value: object, folder: Path, what: str) -> Path:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{what} must be a path, got {value!r}")
    return folder / value


def _tls_files(table: object, folder: Path, source: str) -> TlsFiles:
    wanted = ("certificate", "key", "authority")
    if not isinstance(table, dict) or sorted(table) != sorted(wanted):
        raise ConfigError(f"{source}: [tls] must have exactly the fields {', '.join(wanted)}")
    return TlsFiles(**{name: _path(table[name], folder, f"{source}: tls.{name}") for name in wanted})
