"""Who a peer is: a P-256 certificate, signed by the authority of its network, that carries ``name.network``.

Here are the making and the checking of certificates. Refusing strangers on the wire is the transport's work; this
module refuses, before anything starts, a certificate that could not work there. Ed25519 keys are not used because
gRPC does not accept them. The library for the cryptography is imported when first needed.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ConfigError
from ...foundation.files import write_atomically
from .config import PeerConfig, TlsFiles, check_label

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import (
        Certificate,
        CertificateBuilder,
        CertificateSigningRequest,
        ExtensionType,
        KeyUsage,
        Name,
        ObjectIdentifier,
    )

__all__ = ["Authority", "Credentials", "check_identity", "create_request", "issue_identity", "write_private"]

# A machine whose clock is a little slow must still accept a certificate made a minute ago elsewhere.
_BACKDATE = dt.timedelta(minutes=5)


@dataclass(frozen=True)
class Credentials:
    """The three PEM texts that the transport needs; the key never appears in a repr."""

    certificate: bytes
    key: bytes
    authority: bytes
    expires: dt.datetime

    def __repr__(self) -> str:
        return f"Credentials(expires={self.expires:%Y-%m-%d})"


@dataclass(frozen=True)
class Authority:
    """The certificate authority of one network: whoever holds its key decides who is a member."""

    network: str
    certificate: Certificate
    key: EllipticCurvePrivateKey

    def __repr__(self) -> str:
        return f"Authority(network={self.network!r})"

    @classmethod
    def create(cls, network: str, *, days: int = 3650) -> Authority:
        """Make a new authority: a key and a self-signed certificate that may sign peers and nothing below them."""
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec

        check_label(network, "network")
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _subject(f"sottovoce authority {network}", network)
        builder = _validity(_builder(subject, subject), days).public_key(key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(_key_usage(signs_certificates=True), critical=True)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        return cls(network, _sign(builder, key), key)

    def save(self, folder: Path) -> None:
        """Write ``authority.crt`` and ``authority.key`` (readable by the owner only) into `folder`."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(folder / "authority.key", key_pem(self.key))
        (folder / "authority.crt").write_bytes(pem(self.certificate))

    @classmethod
    def load(cls, folder: Path) -> Authority:
        """Read back what :meth:`save` wrote."""
        certificate = _load_certificate(folder / "authority.crt", "the authority's certificate")
        key = _load_key(folder / "authority.key", "the authority's key")
        return cls(_organisation(certificate), certificate, key)

    def sign(self, request: CertificateSigningRequest, *, days: int = 365) -> Certificate:
        """Certify the name that a request asks for, if it lies in this network and the request is signed by its key."""
        from cryptography import x509

        name = _single_name(request, "the request")
        label, _, network = name.partition(".")
        if network != self.network or not request.is_signature_valid:
            raise ConfigError(f"the request is for {name!r}, not for a peer of network {self.network!r}")
        check_label(label, "the name in the request")
        builder = _validity(_builder(_subject(label, network), self.certificate.subject), days)
        builder = builder.public_key(request.public_key())
        extensions: list[tuple[ExtensionType, bool]] = [
            (x509.SubjectAlternativeName([x509.DNSName(name)]), False),
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (_key_usage(signs_certificates=False), True),
            (x509.ExtendedKeyUsage(_both_directions()), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), False),
        ]
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical=critical)
        return _sign(builder, self.key)


def create_request(name: str, network: str) -> tuple[EllipticCurvePrivateKey, CertificateSigningRequest]:
    """A new key and a request to certify it; only the request needs to leave the peer's machine."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    check_label(name, "name")
    key = ec.generate_private_key(ec.SECP256R1())
    builder = x509.CertificateSigningRequestBuilder().subject_name(_subject(name, network))
    alternative = x509.SubjectAlternativeName([x509.DNSName(f"{name}.{network}")])
    return key, builder.add_extension(alternative, critical=False).sign(key, hashes.SHA256())


def issue_identity(authority: Authority, name: str, folder: Path, *, days: int = 365) -> TlsFiles:
    """Make a key and its certificate for `name` and write both, with the authority's certificate, into `folder`.

    Existing files are replaced one by one, so that a reader sees the old or the new, never half of one.
    """
    key, request = create_request(name, authority.network)
    certificate = authority.sign(request, days=days)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = TlsFiles(folder / "peer.crt", folder / "peer.key", folder / "authority.crt")
    write_private(files.key, key_pem(key))
    write_atomically(files.certificate, lambda draft: draft.write_bytes(pem(certificate)))
    write_atomically(files.authority, lambda draft: draft.write_bytes(pem(authority.certificate)))
    return files


def check_identity(config: PeerConfig, *, now: dt.datetime | None = None) -> Credentials:
    """Read the three files and refuse, in one sentence, whatever neighbours would refuse later.

    Checked: the files are readable, the key belongs to the certificate and is private to its owner, the certificate
    carries exactly ``name.network``, the network's authority signed it, and this machine's clock lies in its term.
    """
    if config.tls is None:
        raise ConfigError("tls is missing: a peer on a network needs a certificate, a key and an authority")
    files, now = config.tls, now or dt.datetime.now(dt.UTC)
    certificate = _load_certificate(files.certificate, "tls.certificate")
    authorities = _load_certificates(files.authority, "tls.authority")
    key = _load_key(files.key, "tls.key")
    if files.key.stat().st_mode & 0o077:
        raise ConfigError(f"tls.key must be readable by its owner only (chmod 600), got {str(files.key)!r}")
    if key.public_key() != certificate.public_key():
        raise ConfigError(f"tls.key {str(files.key)!r} does not belong to tls.certificate")
    name = _single_name(certificate, "tls.certificate")
    if name != config.certificate_name:
        raise ConfigError(f"tls.certificate is for {name!r}, but this peer is {config.certificate_name!r}")
    if not any(_signed_by(certificate, authority) for authority in authorities):
        raise ConfigError(f"tls.certificate was not signed by tls.authority: it is for another network than"
                          f" {config.network!r}")  # fmt: skip
    _check_term(certificate, now)
    return Credentials(
        certificate=files.certificate.read_bytes(),
        key=files.key.read_bytes(),
        authority=files.authority.read_bytes(),
        expires=certificate.not_valid_after_utc,
    )


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, never for an instant with wider permissions."""
    write_atomically(path, lambda draft: draft.write_bytes(content), mode=0o600)


def load_request(path: Path) -> CertificateSigningRequest:
    """Read a certificate request."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_csr(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"cannot read the request {str(path)!r}: {error.strerror}") from None
    except ValueError:
        raise ConfigError(f"{str(path)!r} is not a certificate request in PEM form") from None


def _check_term(certificate: Certificate, now: dt.datetime) -> None:
    start, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now < start:
        raise ConfigError(
            f"tls.certificate is valid from {start:%Y-%m-%d %H:%M} but this machine's clock says {now:%Y-%m-%d %H:%M}"
            " UTC: the clocks are out of step"
        )
    if now > end:
        raise ConfigError(
            f"tls.certificate expired on {end:%Y-%m-%d %H:%M} UTC (clock: {now:%Y-%m-%d %H:%M}); renew it"
        )


def _signed_by(certificate: Certificate, authority: Certificate) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _single_name(signed: Certificate | CertificateSigningRequest, what: str) -> str:
    from cryptography import x509

    try:
        extension = signed.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (x509.ExtensionNotFound, ValueError):
        raise ConfigError(f"{what} carries no name") from None
    names = extension.value.get_values_for_type(x509.DNSName)
    if len(names) != 1 or len(list(extension.value)) != 1:
        raise ConfigError(f"{what} must carry exactly one name")
    return names[0]


def _organisation(certificate: Certificate) -> str:
    from cryptography.x509.oid import NameOID

    found = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return check_label(found[0].value if found else None, "the network in the authority's certificate")


def _load_certificate(path: Path, what: str) -> Certificate:
    return _load_certificates(path, what)[0]


def _load_certificates(path: Path, what: str) -> list[Certificate]:
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(_read(path, what))
    except ValueError:
        raise ConfigError(f"{what}: {str(path)!r} is not a certificate in PEM form") from None


def _load_key(path: Path, what: str) -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = _read(path, what)
    with contextlib.suppress(ValueError, TypeError):
        key = load_pem_private_key(content, password=None)
        if isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == "secp256r1":
            return key
    raise ConfigError(f"{what}: {str(path)!r} is not an unencrypted P-256 key in PEM form")


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{what}: cannot read {str(path)!r}: {error.strerror}") from None


def _subject(common_name: str, network: str) -> Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, common_name[:64]),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, network),
        ]
    )


def _builder(subject: Name, issuer: Name) -> CertificateBuilder:
    from cryptography import x509

    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
    return builder.serial_number(x509.random_serial_number())


def _validity(builder: CertificateBuilder, days: float) -> CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    end = now + dt.timedelta(days=days)
    return builder.not_valid_before(min(now - _BACKDATE, end - _BACKDATE)).not_valid_after(end)


def _both_directions() -> list[ObjectIdentifier]:
    from cryptography.x509.oid import ExtendedKeyUsageOID

    return [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]


def _key_usage(*, signs_certificates: bool) -> KeyUsage:
    from cryptography import x509

    others = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only")
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        decipher_only=False,
        **dict.fromkeys(others, False),
    )


def _sign(builder: CertificateBuilder, key: EllipticCurvePrivateKey) -> Certificate:
    from cryptography.hazmat.primitives import hashes

    return builder.sign(key, hashes.SHA256())


def pem(signed: Certificate | CertificateSigningRequest) -> bytes:
    """The text form of a certificate or a request."""
    from cryptography.hazmat.primitives.serialization import Encoding

    return signed.public_bytes(Encoding.PEM)


def key_pem(key: EllipticCurvePrivateKey) -> bytes:
    """The text form of a key; write it with :func:`write_private` only."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
