"""What a peer shows on the wire and whom it believes there: its own key, and the certificates that the roster holds.

Refusing strangers is the transport's work; this module refuses, before anything starts, what could not work there.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import ConfigError
from .config import IdentityFiles, PeerConfig
from .keys import certificate_of, check_term, key_pem, load_key
from .roster import Roster, SignedRoster

__all__ = ["Credentials", "check_identity", "trusted_roster"]


@dataclass(frozen=True)
class Credentials:
    """PEM texts for the transport; the key never appears in a repr.

    Parameters
    ----------
    certificate, key
        This peer's own.
    members
        The certificate of every other member, by name. A neighbour is believed if and only if it shows this one.
    expires
        When the own certificate ends.
    roster, digest
        Number and SHA-256 of the roster that says so.
    """

    certificate: bytes
    key: bytes
    members: Mapping[str, bytes]
    expires: dt.datetime
    roster: int = 0
    digest: str = ""

    def __repr__(self) -> str:
        return f"Credentials(roster={self.roster}, expires={self.expires:%Y-%m-%d})"


def trusted_roster(files: IdentityFiles, network: str) -> Roster:
    """The roster in place, if it is of this network and signed by the founder that the peer was told."""
    roster = SignedRoster.load(files.roster).roster
    if roster.network != network:
        raise ConfigError(f"the roster is of network {roster.network!r}, but this peer belongs to {network!r}")
    if roster.founder_fingerprint != files.founder:
        raise ConfigError(
            f"the roster is signed by another founder: its key is {roster.founder_fingerprint}, "
            f"but identity.founder says {files.founder}"
        )
    return roster


def check_identity(config: PeerConfig, *, now: dt.datetime | None = None) -> Credentials:
    """Read key and roster and refuse, in one sentence, whatever neighbours would refuse later.

    Checked: the roster is signed by the founder that this peer was told, and names this peer; the key is private to its
    owner and belongs to the certificate in the roster; this machine's clock lies in the certificate's term.
    """
    if config.identity is None:
        raise ConfigError("identity is missing: a peer on a network needs a key and a roster")
    roster = trusted_roster(config.identity, config.network)
    if config.name not in roster.members:
        since = roster.tombstones.get(config.name)
        why = "is no member of" if since is None else f"has left (since roster {since})"
        raise ConfigError(f"{config.name!r} {why} network {config.network!r}, says roster {roster.number}")
    own = roster.members[config.name].certificate
    certificate = certificate_of(own, config.certificate_name, "the roster")
    key = load_key(config.identity.key, "identity.key")
    if key.public_key() != certificate.public_key():
        raise ConfigError(
            f"identity.key {str(config.identity.key)!r} does not belong to the certificate of {config.name!r} in "
            f"roster {roster.number}"
        )
    check_term(certificate, now or dt.datetime.now(dt.UTC))
    return Credentials(
        certificate=own.encode(),
        key=key_pem(key),
        members={name: m.certificate.encode() for name, m in roster.members.items() if name != config.name},
        expires=certificate.not_valid_after_utc,
        roster=roster.number,
        digest=roster.digest.hex(),
    )
