"""Names and addresses as people write them: what is allowed, and how to take them apart."""

from __future__ import annotations

import re

from ...errors import ConfigError

__all__ = ["check_label", "is_loopback", "split_address"]

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


def is_loopback(host: str) -> bool:
    """Whether ``host`` names this machine only."""
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None
