"""The roster: one signed, numbered document that says who is a member, with which key, next to whom, on what terms.

Nothing else is ever believed about membership. The founder signs it; every member holds it and can show it to every
other. A later number replaces an earlier one only if it names the same network and is signed by the same founder's key
(:meth:`Roster.replaces`). So a certificate in a member's name that the roster does not hold is worth nothing, whoever
made it, the founder included; and a founder that puts another key into the roster does so in front of everybody: the
number and the digest change, and both stand in every member's status and log.

On disk: ``{"roster": {…}, "signature": "…"}``. What is signed is the canonical form of the inner object: UTF-8 JSON
with sorted keys and no spaces. The signature is ECDSA over P-256 with SHA-256, in base64.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ConfigError, InvalidInput
from ...foundation.files import write_atomically
from ...graphs import Graph, diameter
from ..protocol.terms import WIRE
from .cuts import vertex_connectivity
from .keys import certificate_of, fingerprint, public_pem, read_json
from .names import check_label, split_address

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

__all__ = ["SHARED", "WIRE", "Member", "Roster", "SignedRoster", "shared_settings"]

_FORMAT = "sottovoce roster 1"
_MOST_BYTES = 64 * 1024 * 1024

SHARED: dict[str, str] = {
    "unit": "a positive decimal number in quotes, such as '0.01'",
    "dimension": "a whole number, at least 1",
    "low": "a finite number",
    "high": "a finite number above low",
    "noise_std": "a positive number",
    "noise_decay": "a number between 0 and 1",
    "seal_std": "a number of at least 0",
    "tolerance": "a positive number",
    "rate": "a positive number",
}
"""Settings that all members share, and what each must be."""


@dataclass(frozen=True)
class Member:
    """One line of the roster: a certificate (PEM text), and an address or ``None`` if it makes all calls itself."""

    certificate: str
    address: str | None


@dataclass(frozen=True)
class Roster:
    """Who belongs to a network. Checked as a whole when it is made.

    Parameters
    ----------
    network, number
        The network's name; 0 for the first roster, one more for each change.
    founder
        The public key whose signature counts, PEM text.
    members
        By name.
    edges
        Pairs of names. At least one end of each must have an address.
    settings
        What all members share, see :data:`SHARED`.
    tombstones
        Names that have left for good, and the number since which they are gone. They never come back.
    accepted
        Members who said yes, in words, to a place where one other member can know their value.
    """

    network: str
    number: int
    founder: str
    members: Mapping[str, Member]
    edges: Sequence[tuple[str, str]]
    settings: Mapping[str, Any]
    tombstones: Mapping[str, int] = field(default_factory=dict)
    accepted: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_label(self.network, "network")
        if type(self.number) is not int or not 0 <= self.number < 2**31:
            raise ConfigError(f"the roster's number must be a whole number from 0, got {self.number!r}")
        object.__setattr__(self, "members", dict(sorted(self.members.items())))
        object.__setattr__(self, "settings", shared_settings(self.settings))
        object.__setattr__(self, "accepted", tuple(sorted(set(self.accepted))))
        self._check_members()
        self._check_edges()

    def _check_members(self) -> None:
        if len(self.members) < 2:
            raise ConfigError(f"a network needs at least 2 members, the roster has {len(self.members)}")
        for name, member in self.members.items():
            check_label(name, "a member's name")
            certificate_of(member.certificate, f"{name}.{self.network}", f"member {name!r}")
            if member.address is not None:
                split_address(member.address, f"the address of member {name!r}")
            if name in self.tombstones:
                raise ConfigError(f"{name!r} has left the network for good; a new member needs a new name")
        prints = [fingerprint(member.certificate) for member in self.members.values()]
        addresses = [member.address for member in self.members.values() if member.address is not None]
        if len(set(prints)) < len(prints) or len(set(addresses)) < len(addresses):
            raise ConfigError("two members of the roster have the same key or the same address")

    def _check_edges(self) -> None:
        pairs = {tuple(sorted(edge)) for edge in self.edges}
        object.__setattr__(self, "edges", tuple(sorted(pairs)))
        for one, other in self.edges:
            for name in (one, other):
                if name not in self.members:
                    raise ConfigError(f"an edge of the roster names {name!r}, which is no member")
            if one == other:
                raise ConfigError(f"a member cannot be its own neighbour: {one!r}")
            if self.members[one].address is None and self.members[other].address is None:
                raise ConfigError(f"neither {one!r} nor {other!r} has an address, so neither can call the other")
        try:
            assert self.diameter
        except InvalidInput:
            raise ConfigError("the roster's edges do not connect all its members") from None

    # -- what follows from it, the same for all members -----------------------------------------

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The members in the order in which they are numbered: that of their names."""
        return tuple(self.members)

    @cached_property
    def graph(self) -> Graph:
        """Who is whose neighbour, members numbered as in :attr:`names`."""
        number = {name: index for index, name in enumerate(self.names)}
        return Graph.from_edges([(number[a], number[b]) for a, b in self.edges], num_nodes=len(self.names))

    @cached_property
    def diameter(self) -> int:
        """The most hops between two members."""
        return int(diameter(self.graph))

    @cached_property
    def degrees(self) -> dict[str, int]:
        """How many neighbours each member has."""
        return dict(zip(self.names, np.asarray(self.graph.degrees).tolist(), strict=True))

    @cached_property
    def vertex_connectivity(self) -> int:
        """How many members must be taken out before the others are no longer connected."""
        return vertex_connectivity(self.graph)

    def neighbours_of(self, name: str) -> dict[str, Member]:
        """The neighbours of a member, by name."""
        found = [a if b == name else b for a, b in self.edges if name in (a, b)]
        return {other: self.members[other] for other in sorted(found)}

    # -- its form -------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """As plain objects."""
        return {
            "format": _FORMAT,
            "wire": WIRE,
            "network": self.network,
            "number": self.number,
            "founder": self.founder,
            "members": {name: {"certificate": m.certificate, "address": m.address} for name, m in self.members.items()},
            "edges": [list(edge) for edge in self.edges],
            "settings": dict(self.settings),
            "tombstones": dict(self.tombstones),
            "accepted": list(self.accepted),
        }

    @cached_property
    def canonical(self) -> bytes:
        """What is signed."""
        return _canonical(self.to_dict())

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of :attr:`canonical`: two members with the same digest hold the same roster."""
        return hashlib.sha256(self.canonical).digest()

    @property
    def founder_fingerprint(self) -> str:
        """Of the founder's key."""
        return fingerprint(self.founder)

    def sign(self, key: EllipticCurvePrivateKey) -> SignedRoster:
        """Sign it; the key must be the founder's."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec

        if public_pem(key) != self.founder:
            raise ConfigError("this key is not the founder's of this roster")
        signature = key.sign(self.canonical, ec.ECDSA(hashes.SHA256()))
        return SignedRoster(self, base64.b64encode(signature).decode("ascii"))

    def check_replaces(self, earlier: Roster) -> None:
        """Refuse this roster as the successor of ``earlier``.

        Raises
        ------
        ConfigError
            Unless it is of the same network and founder, has a later number, and lets no one return from the dead.
        """
        if (self.network, self.founder) != (earlier.network, earlier.founder):
            raise ConfigError(f"the roster is of another network or founder than roster {earlier.number} in place")
        if self.number <= earlier.number:
            raise ConfigError(f"roster {self.number} is not later than roster {earlier.number}, which is in place")
        forgotten = sorted(name for name, since in earlier.tombstones.items() if self.tombstones.get(name) != since)
        gone = sorted(set(earlier.members) - set(self.members) - set(self.tombstones))
        if forgotten or gone:
            raise ConfigError(f"roster {self.number} forgets that {(forgotten + gone)[0]!r} has left")


@dataclass(frozen=True)
class SignedRoster:
    """A roster with its founder's signature, which is checked when it is made."""

    roster: Roster
    signature: str

    def __post_init__(self) -> None:
        _verify(self.roster.founder, self.signature, self.roster.canonical)

    def to_bytes(self) -> bytes:
        """The file's content."""
        whole = {"roster": self.roster.to_dict(), "signature": self.signature}
        return (json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8")

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        content = self.to_bytes()
        write_atomically(path, lambda draft: draft.write_bytes(content), mode=0o644)

    @classmethod
    def load(cls, path: Path) -> SignedRoster:
        """Read and check a roster."""
        return cls.from_object(read_json(path, "the roster", _MOST_BYTES), str(path))

    @classmethod
    def from_neighbour(cls, content: bytes, founder: str) -> SignedRoster:
        """Check what a neighbour sent: the signature first, so that a stranger's roster costs next to nothing.

        Parameters
        ----------
        content
            As :meth:`to_bytes` makes it.
        founder
            Fingerprint of the key whose signature counts.
        """
        try:
            whole = json.loads(content)
            table, signature = whole["roster"], whole["signature"]
            if fingerprint(table["founder"]) != founder:
                raise ConfigError("the roster is signed by another founder")
            _verify(table["founder"], signature, _canonical(table))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise ConfigError("what the neighbour sent is not a roster") from None
        return cls.from_object(whole, "the neighbour's roster")

    @classmethod
    def from_object(cls, whole: Any, source: str) -> SignedRoster:
        """Check what was parsed from JSON."""
        try:
            table, signature = dict(whole["roster"]), str(whole["signature"])
            _check_version(table.pop("format"), table.pop("wire"))
            table["members"] = {name: Member(**entry) for name, entry in table["members"].items()}
            table["edges"] = [(str(one), str(other)) for one, other in table["edges"]]
            return cls(Roster(**table), signature)
        except ConfigError as error:
            raise ConfigError(f"{source}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ConfigError(f"{source}: not a roster") from None


def _canonical(table: Mapping[str, Any]) -> bytes:
    text = json.dumps(table, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def _verify(founder: str, signature: str, signed: bytes) -> None:
    """Refuse what the key ``founder`` (PEM text) has not signed."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(founder.encode())
        if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != "secp256r1":
            raise ConfigError("the founder's key in the roster must be a P-256 key")
        key.verify(base64.b64decode(signature, validate=True), signed, ec.ECDSA(hashes.SHA256()))
    except (InvalidSignature, ValueError, TypeError):
        raise ConfigError("the roster's signature is not its founder's") from None


def _check_version(kind: object, wire: object) -> None:
    if kind != _FORMAT or wire != WIRE:
        raise ConfigError(f"a roster of another version ({kind!r}, wire {wire!r}), not {_FORMAT!r}, wire {WIRE}")


def shared_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the settings that all members share; numbers in one form, so that everybody signs and reads the same.

    Raises
    ------
    ConfigError
        One is missing, unknown or out of range.
    """
    strange = sorted(set(given) ^ set(SHARED))
    if strange:
        what = "unknown" if strange[0] in given else "missing"
        raise ConfigError(f"the roster's settings: {what} {strange[0]!r}; they are {', '.join(SHARED)}")
    result: dict[str, Any] = {}
    for name, value in given.items():
        rule = f"{name} must be {SHARED[name]}, got {value!r}"
        if name == "unit":
            if not isinstance(value, str) or not _positive(value):
                raise ConfigError(rule)
            result[name] = value
        elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ConfigError(rule)
        else:
            result[name] = value if name == "dimension" else float(value)
    good = {
        "dimension": isinstance(result["dimension"], int) and result["dimension"] >= 1,
        "high": result["high"] > result["low"],
        "noise_decay": 0 < result["noise_decay"] < 1,
        "seal_std": result["seal_std"] >= 0,
        **{name: result[name] > 0 for name in ("noise_std", "tolerance", "rate")},
    }
    for name, holds in good.items():
        if not holds:
            raise ConfigError(f"{name} must be {SHARED[name]}, got {given[name]!r}")
    return dict(sorted(result.items()))


def _positive(text: str) -> bool:
    from decimal import Decimal, InvalidOperation

    try:
        number = Decimal(text)
    except InvalidOperation:
        return False
    return number.is_finite() and number > 0
