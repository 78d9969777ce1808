"""Small networks for the tests of the peer's outer parts."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any, NamedTuple

from sottovoce.cli.main import main
from sottovoce.peer.membership.config import PeerConfig, TlsFiles
from sottovoce.peer.membership.identity import Authority, issue_identity, pem


def make_config(name: str = "a", folder: Path | str = "data", **fields: Any) -> PeerConfig:
    given: dict[str, Any] = {
        "name": name,
        "network": "net",
        "listen": "127.0.0.1:0",
        "data_dir": folder,
        "noise_std": 1.0,
        "noise_decay": 0.9,
        "smallest_std": None,
        "seal_std": 1.0,
        "unit": "0.000001",
        "low": -1e6,
        "high": 1e6,
        "members": 8,
        "max_degree": 4,
        "min_open_edges": 1,
        "diameter": 2,
        "backoff_max": 0.2,
    }
    return PeerConfig(**(given | fields))


def tls_files(folder: Path) -> TlsFiles:
    return TlsFiles(folder / "peer.crt", folder / "peer.key", folder / "authority.crt")


def make_identity(
    name: str, folder: Path, authority: Authority | None = None, *, days: float = 30, **fields: Any
) -> PeerConfig:
    """A configuration with a certificate for `name` in `folder`."""
    issue_identity(authority or Authority.create("net"), name, folder, days=days)  # type: ignore[arg-type]
    return make_config(name, folder, tls=tls_files(folder), **fields)


def certify(authority: Authority, folder: Path, *names: str) -> TlsFiles:
    """A pair whose certificate carries all these names: what our own authority refuses to sign."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    files = issue_identity(authority, "a", folder)
    proper = x509.load_pem_x509_certificate(files.certificate.read_bytes())
    builder = (
        x509.CertificateBuilder()
        .subject_name(proper.subject)
        .issuer_name(proper.issuer)
        .public_key(proper.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(proper.not_valid_before_utc)
        .not_valid_after(proper.not_valid_after_utc)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
    )
    files.certificate.write_bytes(pem(builder.sign(authority.key, hashes.SHA256())))
    return files


class Recorder:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.lines: list[tuple[str, str, dict[str, object]]] = []

    def counted(self, event: str) -> int:
        return sum(name == event for name, _ in self.events)

    def count(self, event: str, neighbour: str = "") -> None:
        self.events.append((event, neighbour))

    def log(self, level: str, event: str, **fields: object) -> None:
        self.lines.append((level, event, fields))

    @property
    def names(self) -> set[str]:
        return {event for event, _ in self.events}


class Result(NamedTuple):
    """How a command ended, and what it said on both streams."""

    exit_code: int
    output: str


def run(*arguments: str | Path) -> Result:
    """The command line, in this process, with errors turned into exit codes as in real life."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            return Result(int(end.code or 0), output.getvalue())
    raise AssertionError("main always exits")
