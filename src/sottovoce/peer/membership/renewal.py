"""Changing a peer's key and certificate: the key is made where it is used, only the request travels.

Three steps: :func:`prepare` makes a new key and a request; the authority signs the request
(``sottovoce network sign``); :func:`install` checks the pair and puts it in place. The old pair works until then.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...errors import ConfigError
from .config import PeerConfig, TlsFiles
from .identity import Authority, check_identity, create_request, key_pem, load_request, pem, write_private

__all__ = ["install", "prepare", "sign_request"]


def prepare(config: PeerConfig) -> Path:
    """Make a new key beside the old one and return the request for the authority."""
    files = _files(config)
    key, request = create_request(config.name, config.network)
    write_private(_waiting_key(files), key_pem(key))
    path = files.certificate.with_suffix(".csr")
    path.write_bytes(pem(request))
    return path


def sign_request(authority_folder: Path, request: Path, *, days: int = 365) -> Path:
    """Sign a request; the certificate is written beside it, ending in ``.crt``. Never overwrites."""
    certificate = Authority.load(authority_folder).sign(load_request(request), days=days)
    path = request.with_suffix(".crt")
    if path.exists():
        raise ConfigError(f"{str(path)!r} exists; move it away first")
    path.write_bytes(pem(certificate))
    return path


def install(config: PeerConfig, certificate: Path) -> None:
    """Check the signed certificate together with the waiting key, then put both in place of the old ones."""
    files = _files(config)
    waiting = TlsFiles(certificate, _waiting_key(files), files.authority)
    checked = check_identity(replace(config, tls=waiting))
    # The key first: between the two steps the pair does not match, and a peer started then says so and stops.
    _waiting_key(files).replace(files.key)
    write_private(files.certificate, checked.certificate)
    files.certificate.with_suffix(".csr").unlink(missing_ok=True)


def _files(config: PeerConfig) -> TlsFiles:
    if config.tls is None:
        raise ConfigError("tls is missing: there is no certificate to renew")
    return config.tls


def _waiting_key(files: TlsFiles) -> Path:
    return files.key.with_suffix(".key.new")
