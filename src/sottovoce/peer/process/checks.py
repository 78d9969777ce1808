"""What is looked at before a peer starts: configuration, value, certificate, clock, ports, and whether it has left.

Nothing is written to disk before all of it has been found good.
"""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError, TemporaryFailure
from ..membership.config import PeerConfig
from ..membership.credentials import Credentials, check_identity
from ..membership.names import split_address
from ..protocol.state import check_value

__all__ = ["LEFT", "Checked", "check_everything", "check_port"]

LEFT = "left"
"""File in the data folder of a peer that has left: a restart must not undo that."""

_PASSING = (errno.EADDRINUSE, errno.EADDRNOTAVAIL)
"""Why one cannot listen for the moment."""


@dataclass(frozen=True)
class Checked:
    """What a peer starts from, all of it found good; the value does not appear in the repr."""

    path: Path
    config: PeerConfig
    credentials: Credentials
    value: NDArray[np.float64] | None

    def __repr__(self) -> str:
        return f"Checked({self.config.certificate_name!r})"


def check_everything(path: Path, value: NDArray[np.float64] | None) -> Checked:
    """Read the configuration and refuse, in one sentence, whatever would fail later. Changes nothing on disk."""
    config = PeerConfig.load(path)
    if value is not None:
        value = check_value(value, dimension=config.dimension, low=config.low, high=config.high)
    credentials = check_identity(config)
    if config.listen is not None:
        check_port(config.listen, "listen")
    if config.metrics_listen is not None:
        check_port(config.metrics_listen, "metrics_listen")
    assert config.data_dir is not None
    if config.data_dir.exists() and not config.data_dir.is_dir():
        raise ConfigError(f"data_dir must be a folder, got {str(config.data_dir)!r}")
    if (config.data_dir / LEFT).exists():
        raise ConfigError(
            f"peer {config.name!r} has left the network for good; to come back it needs a new name, a new key and "
            "a place in a new roster"
        )
    if value is None and not (config.data_dir / "peer.sqlite").exists():
        raise ConfigError(f"peer {config.name!r} has not run before, so it needs its private value: --value-from FILE")
    return Checked(path, config, credentials, value)


def check_port(address: str, what: str) -> None:
    """Refuse an address at which this machine cannot listen.

    Raises
    ------
    TemporaryFailure
        Somebody else listens there, the address is not this machine's (yet), or the name is not resolved (yet): so it
        is while a machine starts, or while the last process of this peer ends.
    ConfigError
        It will never be allowed.
    """
    host, port = split_address(address, what)
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(where)
    except OSError as error:
        passing = isinstance(error, socket.gaierror) or error.errno in _PASSING
        sentence = f"{what}: cannot listen on {address}: {error.strerror}"
        raise (TemporaryFailure if passing else ConfigError)(sentence) from None
