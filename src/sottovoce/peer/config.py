"""What one peer needs to know before it starts: :class:`PeerConfig`, read from a TOML file.

Every field carries its own explanation (meaning, formula, what it costs to move it). ``network create`` writes
these explanations as comments into each party's file, and the how-to page repeats them; this module is the only
place where they are worded. The private value is not configuration: it is read by :mod:`.values`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..errors import ConfigError

__all__ = ["MAX_DIMENSION", "PeerConfig", "TlsFiles", "split_address"]

MAX_DIMENSION = 1_000_000
# Names become DNS labels in certificates, file names and log fields, so they are kept to what is safe in all three.
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def _explained(meaning: str, formula: str, cost: str, **default: Any) -> Any:
    """A dataclass field that carries its own documentation."""
    return field(metadata={"meaning": meaning, "formula": formula, "cost": cost}, **default)


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
class PeerConfig:
    """Everything one peer is told, except its private value.

    All peers of a network must agree on `network`, `dimension`, `rate`, `tolerance` and `diameter`; `noise_std`,
    `noise_decay` and `budget` are each peer's own choice and have no default, because they decide its privacy.

    Examples
    --------
    >>> config = PeerConfig(name="ada", network="demo", listen="127.0.0.1:0", neighbours={}, data_dir="data",
    ...                     noise_std=1.0, noise_decay=0.9, budget=400.0, diameter=2)
    >>> config.smallest_std
    0.05
    """

    name: str = _explained(
        "This peer's name. Neighbours know it by this name and its certificate must carry it.",
        "certificate name = name.network",
        "Changing it needs a new certificate and makes this a new member.",
    )
    network: str = _explained(
        "The network's name; certificates of any other network are refused.",
        "one authority per network",
        "All members must use the same.",
    )
    listen: str = _explained(
        "Address and port on which neighbours reach this peer.",
        "host:port",
        "Neighbours must be told a new one.",
    )
    data_dir: Path = _explained(
        "Folder of the durable state (SQLite), the control socket and nothing else.",
        "relative paths start at this file's folder",
        "Losing it is survivable: neighbours give the ledger back. Restoring an OLD copy is not: delete it instead.",
    )
    noise_std: float = _explained(
        "Standard deviation of the first noise draw, in the units of the private value.",
        "draw t has standard deviation noise_std * noise_decay^t",
        "Larger hides more and settles later, by about log(noise_std) / log(1/noise_decay) exchanges.",
    )
    noise_decay: float = _explained(
        "Share of the noise amplitude kept at each exchange, between 0 and 1 (exclusive).",
        "exchanges until the noise is below tolerance: log(noise_std/tolerance) / log(1/noise_decay)",
        "Nearer 1 hides for longer and settles later; nearer 0 shows the value after a few exchanges.",
    )
    budget: float = _explained(
        "Most information about the private value that ALL neighbours together may ever get (inf: no limit).",
        "sum over draws of 1/(noise_decay^(2t) noise_std^2) <= budget; nobody estimates the value better than"
        " +- budget^(-1/2)",
        "When it is spent the last noise stays in: the average then keeps an error of about"
        " (that noise)/sqrt(number of peers).",
    )
    diameter: int = _explained(
        "Upper bound on the number of hops between any two peers.",
        "a decision takes 2*diameter rounds of hearing from every neighbour",
        "Too large: settles later. Too small: the settled rule may speak too early.",
    )
    neighbours: Mapping[str, str] = _explained(
        "The peers that may talk to this one: name = 'host:port'.",
        "the edge exists when both ends list each other",
        "Exact average needs the graph connected; more edges settle faster and show the noisy value to more parties.",
        default_factory=dict,
    )
    dimension: int = _explained(
        "How many numbers each peer's private value has.",
        "8*dimension bytes per value sent",
        "All members must use the same; at most 1000000.",
        default=1,
    )
    tolerance: float = _explained(
        "How close all estimates must be before the network calls itself settled.",
        "settled when max - min over the network <= tolerance",
        "Smaller settles later (logarithmically) and withdraws more of the noise.",
        default=1e-3,
    )
    rate: float = _explained(
        "How often, per second, this peer starts an exchange with each neighbour.",
        "own clock: Poisson, rate * number of neighbours; keep rate * degree * round-trip-time <= 0.05",
        "Larger settles faster until peers find each other busy; all members should use the same.",
        default=2.0,
    )
    heartbeat_rate: float = _explained(
        "The same rate after the network has settled.",
        "rate while settled, per neighbour",
        "Smaller saves traffic; a change elsewhere is noticed later.",
        default=0.2,
    )
    bucket_burst: float = _explained(
        "Most exchanges a neighbour may make in a burst.",
        "tokens per neighbour <= bucket_burst; starts at 0",
        "Larger lets a hostile neighbour drain noise sooner; below 4 honest neighbours are refused more often.",
        default=6.0,
    )
    bucket_refill: float = _explained(
        "Exchanges granted to neighbours per exchange of this peer's own clock.",
        "every own tick adds bucket_refill / (number of neighbours) tokens to each",
        "1 refuses about half of honest calls in a busy moment, 2 about one in fifty.",
        default=2.0,
    )
    min_open_edges: int = _explained(
        "Show a value only while at least this many neighbours are connected.",
        "1 = off",
        "2 protects against being left alone with one curious neighbour, but silences peers that have only one.",
        default=1,
    )
    x_max: float = _explained(
        "Largest absolute value accepted from a neighbour.",
        "a lying peer can shift the mean by at most about 2*x_max/(number of peers) per exchange",
        "Below the honest range (values plus noise) exchanges are refused and the network never settles.",
        default=1e9,
    )
    flow_max: float = _explained(
        "Largest absolute flow accepted on an edge.",
        "keeps rounding below flow_max * 2^-52",
        "Reaching it raises an alarm; drop and re-add the neighbour to start the edge afresh.",
        default=1e12,
    )
    strict: bool = _explained(
        "Refuse calls while an own call is under way, so that the run is Algorithm 1 step by step.",
        "busy share = rate * degree * round-trip-time",
        "false converges faster under heavy loss and conserves the mean equally, but is no longer step-by-step"
        " the published algorithm.",
        default=True,
    )
    retry_timeout: float = _explained(
        "Seconds to wait for an answer before sending the same request again.",
        "doubles at each retry; about 3 round-trip times is right",
        "Too short repeats messages (harmless); too long keeps this peer locked after a loss.",
        default=0.25,
    )
    retries: int = _explained(
        "How many times a request is repeated before giving up.",
        "locked for at most retry_timeout * (2^(retries+1) - 1) seconds",
        "More repair a loss sooner; fewer free the peer sooner when a neighbour is down.",
        default=2,
    )
    backoff_max: float = _explained(
        "Longest pause, in seconds, between attempts to reach an unreachable neighbour.",
        "doubles from retry_timeout up to this, with random jitter",
        "Larger is quieter; a returning neighbour is noticed later (it also calls by itself).",
        default=10.0,
    )
    sync_interval: float = _explained(
        "Seconds between ledger comparisons with each neighbour while settled.",
        "one short message per neighbour per sync_interval",
        "Smaller repairs a lost last message sooner.",
        default=5.0,
    )
    grace: float = _explained(
        "Seconds a peer without durable state waits for its neighbours' ledgers before it starts exchanges.",
        "until all neighbours answered, or this time has passed",
        "Too short after a disk loss: a passing error of the missing flow / n.",
        default=5.0,
    )
    metrics_listen: str | None = _explained(
        "Loopback address for Prometheus (/metrics) and /health; leave it out for none.",
        "host:port, host must be a loopback address",
        "Metrics hold counts and scales, never a value or an estimate.",
        default=None,
    )
    tls: TlsFiles | None = _explained(
        "Certificate and key of this peer, and the certificate of the network's authority.",
        "mutual TLS 1.2 or 1.3, P-256",
        "Without it the peer does not start on a network; only in-memory tests do without.",
        default=None,
    )

    def __post_init__(self) -> None:
        check_label(self.name, "name")
        check_label(self.network, "network")
        split_address(self.listen, "listen")
        object.__setattr__(self, "data_dir", Path(self.data_dir))
        self._check_numbers()
        self._check_neighbours()
        if self.metrics_listen is not None:
            host, _ = split_address(self.metrics_listen, "metrics_listen")
            if not is_loopback(host):
                raise ConfigError(f"metrics_listen must be a loopback address, got {self.metrics_listen!r}")

    def _check_numbers(self) -> None:
        for name in _POSITIVE:
            _check_number(self, name, f"{name} must be a positive number", lambda v: v > 0 and math.isfinite(v))
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigError(f"{name} must be a whole number, at least {least}, got {value!r}")
        if self.dimension > MAX_DIMENSION:
            raise ConfigError(f"dimension must be at most {MAX_DIMENSION}, got {self.dimension}")
        _check_number(self, "noise_decay", "noise_decay must lie between 0 and 1, exclusive", lambda v: 0 < v < 1)
        _check_number(self, "budget", "budget must be a positive number or inf", lambda v: v > 0)
        if self.budget < self.noise_std**-2 * (1 - 1e-12):
            raise ConfigError(
                f"budget must be at least 1/noise_std^2 = {self.noise_std**-2:g}, the cost of the first exchange, "
                f"got {self.budget:g}"
            )
        if not isinstance(self.strict, bool):
            raise ConfigError(f"strict must be true or false, got {self.strict!r}")

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
    def smallest_std(self) -> float:
        """No coalition of neighbours can estimate the private value with a smaller standard deviation."""
        return self.budget**-0.5

    @property
    def certificate_name(self) -> str:
        """The name that this peer's certificate must carry."""
        return f"{self.name}.{self.network}"

    @property
    def max_message_bytes(self) -> int:
        """Largest message this network can need: at most eight vectors, and the header fields."""
        return 8 * 8 * self.dimension + 4096

    @classmethod
    def load(cls, path: str | Path) -> PeerConfig:
        """Read a TOML file; relative paths in it start at its folder."""
        return from_mapping(_read_toml(Path(path)), Path(path).absolute().parent, source=str(path))


_POSITIVE = (
    "noise_std",
    "tolerance",
    "rate",
    "heartbeat_rate",
    "bucket_burst",
    "bucket_refill",
    "x_max",
    "flow_max",
    "retry_timeout",
    "backoff_max",
    "sync_interval",
    "grace",
)
_WHOLE = {"dimension": 1, "diameter": 1, "retries": 0, "min_open_edges": 1}


def is_loopback(host: str) -> bool:
    """Whether `host` names this machine only."""
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def _check_number(config: PeerConfig, name: str, rule: str, holds: Any) -> None:
    value = getattr(config, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not holds(value):
        raise ConfigError(f"{rule}, got {value!r}")
    object.__setattr__(config, name, float(value))


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {str(path)!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the configuration {str(path)!r} is not valid TOML: {error}") from None


def from_mapping(table: Mapping[str, Any], folder: Path, *, source: str) -> PeerConfig:
    """Build a configuration from a parsed TOML table, resolving paths against `folder`."""
    known = {item.name: item for item in fields(PeerConfig)}
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ConfigError(f"{source}: unknown field {unknown[0]!r}; known are {', '.join(known)}")
    missing = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING and n not in table]
    if missing:
        raise ConfigError(f"{source}: missing field {missing[0]!r} ({known[missing[0]].metadata['meaning']})")
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
