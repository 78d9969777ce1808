"""A party's own key, its self-signed certificate, and the card that it hands out. No key ever leaves its folder.

A certificate carries exactly one name, ``name.network``, may sign nothing, and is believed only because the roster
(:mod:`.roster`) says so: there is no authority. Ed25519 keys are not used because gRPC does not accept them. The
library for the cryptography is imported when first needed.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ConfigError, TemporaryFailure
from ...foundation.files import write_atomically
from ...foundation.system import require_private_files
from .names import check_label, split_address

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate

__all__ = [
    "Card",
    "certificate_of",
    "check_term",
    "fingerprint",
    "key_pem",
    "load_key",
    "make_identity",
    "new_key",
    "public_pem",
    "self_signed",
    "write_private",
]

# A machine whose clock is a little slow must still accept a certificate made a minute ago elsewhere.
_BACKDATE = dt.timedelta(minutes=5)
_CARD_BYTES = 65536


@dataclass(frozen=True)
class Card:
    """What a party tells everybody about itself: nothing in it is secret.

    Parameters
    ----------
    name, network
        Who it is, and of which network it wants to be a member.
    certificate
        Its self-signed certificate, PEM text.
    address
        Where others reach it, ``host:port``; ``None``: nowhere, it makes all calls itself.
    """

    name: str
    network: str
    certificate: str
    address: str | None

    def __post_init__(self) -> None:
        check_label(self.name, "the name on a card")
        check_label(self.network, "the network on a card")
        if self.address is not None:
            split_address(self.address, f"the address on the card of {self.name!r}")
        certificate_of(self.certificate, f"{self.name}.{self.network}", f"the card of {self.name!r}")

    @property
    def fingerprint(self) -> str:
        """Of its public key; two people can compare it by telephone."""
        return fingerprint(self.certificate)

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        text = json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"
        write_atomically(path, lambda draft: draft.write_text(text, encoding="utf-8"))

    @classmethod
    def load(cls, path: Path) -> Card:
        """Read and check a card."""
        table = read_json(path, "the card", _CARD_BYTES)
        wanted = ("address", "certificate", "name", "network")
        if not isinstance(table, dict) or sorted(table) != list(wanted) or not isinstance(table["certificate"], str):
            raise ConfigError(f"{str(path)!r} is not a card: it must have exactly the fields {', '.join(wanted)}")
        return cls(**table)


def make_identity(
    name: str, network: str, folder: Path, *, address: str | None = None, days: float = 3650
) -> tuple[Path, Card]:
    """Make a key in ``folder``, readable by its owner only, and the card that belongs to it.

    Returns
    -------
    key, card
        The key's file ``peer.key``; the card, also written as ``name.card``.
    """
    check_label(name, "name")
    check_label(network, "network")
    path = folder / "peer.key"
    if path.exists():
        raise ConfigError(f"{str(path)!r} exists; a key is never overwritten")
    key = new_key()
    card = Card(name, network, self_signed(key, f"{name}.{network}", days=days), address)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path, key_pem(key))
        card.save(folder / f"{name}.card")
    except OSError as error:
        raise ConfigError(f"cannot write into {str(folder)!r}: {error.strerror}") from None
    return path, card


def new_key() -> EllipticCurvePrivateKey:
    """A P-256 key from the system's generator."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def self_signed(key: EllipticCurvePrivateKey, *names: str, days: float = 3650) -> str:
    """A certificate for ``names`` that nobody but its own key signed, PEM text. (Honest ones have one name.)"""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    now = dt.datetime.now(dt.UTC)
    end = now + dt.timedelta(days=days)
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "key_cert_sign", "crl_sign",
         "encipher_only", "decipher_only"), False,
    )  # fmt: skip
    both = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now - _BACKDATE, end - _BACKDATE))
        .not_valid_after(end)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=True, **usage), critical=True)
        .add_extension(x509.ExtendedKeyUsage(both), critical=False)
    )
    from cryptography.hazmat.primitives.serialization import Encoding

    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM).decode("ascii")


def certificate_of(text: str, name: str, what: str) -> Certificate:
    """Read a certificate and refuse it unless it is one: self-signed, P-256, for exactly ``name``, signing nothing."""
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        [certificate] = x509.load_pem_x509_certificates(text.encode())
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        authority = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
        certificate.verify_directly_issued_by(certificate)
    except (ValueError, TypeError, UnicodeError, InvalidSignature, x509.ExtensionNotFound):
        raise ConfigError(f"{what}: not a self-signed certificate in PEM form") from None
    key = certificate.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != "secp256r1" or authority:
        raise ConfigError(f"{what}: the certificate must have a P-256 key and may not be an authority's")
    if [str(entry.value) for entry in names] != [name] or not isinstance(next(iter(names)), x509.DNSName):
        raise ConfigError(f"{what}: the certificate must carry exactly the name {name!r}")
    return certificate


def check_term(certificate: Certificate, now: dt.datetime) -> None:
    """Refuse a certificate outside its term, by this machine's clock.

    Before its term it is the clock that is wrong, as on many machines while they start: that passes.
    """
    start, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now < start:
        raise TemporaryFailure(
            f"the certificate is valid from {start:%Y-%m-%d %H:%M} but this machine's clock says {now:%Y-%m-%d %H:%M}"
            " UTC: the clocks are out of step"
        )
    if now > end:
        raise ConfigError(
            f"the certificate expired on {end:%Y-%m-%d %H:%M} UTC (clock: {now:%Y-%m-%d %H:%M}); make a new key and "
            "card, and have the founder put it into the roster"
        )


def fingerprint(text: str) -> str:
    """SHA-256 of the public key in a PEM text, a certificate's or a bare one, as 32 hexadecimal digits.

    Half of the digest is shown: 128 bits are more than enough against a second key with the same one.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

    content = text.encode()
    key: Any = (
        x509.load_pem_x509_certificate(content).public_key() if "CERTIFICATE" in text else load_pem_public_key(content)
    )
    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()[:32]


def key_pem(key: EllipticCurvePrivateKey) -> bytes:
    """The text form of a key; write it with :func:`write_private` only."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_pem(key: EllipticCurvePrivateKey) -> str:
    """The public half of a key, PEM text."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")


def load_key(path: Path, what: str) -> EllipticCurvePrivateKey:
    """Read a key that only its owner can read."""
    require_private_files()
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        content, mode = path.read_bytes(), path.stat().st_mode
    except OSError as error:
        raise ConfigError(f"{what}: cannot read {str(path)!r}: {error.strerror}") from None
    if mode & 0o077:
        raise ConfigError(f"{what} must be readable by its owner only (chmod 600), got {str(path)!r}")
    with contextlib.suppress(ValueError, TypeError):
        key = load_pem_private_key(content, password=None)
        if isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == "secp256r1":
            return key
    raise ConfigError(f"{what}: {str(path)!r} is not an unencrypted P-256 key in PEM form")


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, never for an instant with wider permissions."""
    require_private_files()
    write_atomically(path, lambda draft: draft.write_bytes(content), mode=0o600)


def read_json(path: Path, what: str, most: int) -> Any:
    """Parse a JSON file of a reasonable size."""
    try:
        if path.stat().st_size > most:
            raise ConfigError(f"{what} {str(path)!r} is larger than {most} bytes")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {what} {str(path)!r}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{what} {str(path)!r} is not JSON") from None
