"""Counting the TLS handshakes that gRPC refuses, by reading gRPC's own log.

gRPC decides about certificates below Python and offers no callback; the only trace of a stranger without a valid
certificate is a line that its core writes to standard error when ``GRPC_VERBOSITY`` is ``INFO``. ``sottovoce peer
start`` owns its process, so it puts a pipe in the place of standard error, turns those lines into counts and JSON log
lines, drops gRPC's other lines and passes everything else through. A program that uses :class:`Peer` as a library
keeps its standard error, and there only the caller's side of such refusals is counted.
"""

from __future__ import annotations

import os
import re
import threading
from types import TracebackType
from typing import Self, TextIO

from .base import Observer, Quiet

__all__ = ["HandshakeWatch", "classify"]

_CORE_LINE = re.compile(rb"[IWEF]\d{4} \d\d:\d\d:\d+\.\d+ +\d+ |WARNING: All log messages before absl::")
_REASONS = (
    ("PEER_DID_NOT_RETURN_A_CERTIFICATE", "no-certificate"),
    ("has expired", "expired"),
    ("not yet valid", "not-yet-valid"),
    ("unable to get local issuer", "wrong-network"),
    ("signature failure", "wrong-network"),
    ("self signed", "wrong-network"),
    ("self-signed", "wrong-network"),
    ("WRONG_VERSION_NUMBER", "plaintext"),
    ("HTTP_REQUEST", "plaintext"),
    ("HTTPS_PROXY_REQUEST", "plaintext"),
    ("No match found for server name", "wrong-name"),
    ("CERTIFICATE_VERIFY_FAILED", "bad-certificate"),  # older gRPC does not say why
)


def classify(line: str) -> str | None:
    """The reason for a refused handshake that a line of gRPC's log reports, or ``None`` if it reports none.

    Examples
    --------
    >>> classify("Handshake failed with error SSL_ERROR_SSL: ...: PEER_DID_NOT_RETURN_A_CERTIFICATE")
    'no-certificate'
    >>> classify("Log level INFO is not suitable for production.") is None
    True
    """
    if "Handshake failed" not in line and "No match found for server name" not in line:
        return None
    return next((reason for sign, reason in _REASONS if sign in line), "other")


class HandshakeWatch:
    """Context manager: while it lasts, file descriptor 2 is a pipe that this object reads.

    Enter it before the first use of gRPC. :attr:`stream` writes to the real standard error.
    """

    def __init__(self) -> None:
        self._observer: Observer | None = None
        self._saved = -1
        self._worth_saying = Quiet()
        self.stream: TextIO

    def report_to(self, observer: Observer) -> None:
        """From now on count and log refused handshakes there."""
        self._observer = observer

    def __enter__(self) -> Self:
        os.environ.setdefault("GRPC_VERBOSITY", "INFO")
        self._saved = os.dup(2)
        self.stream = os.fdopen(os.dup(self._saved), "w", buffering=1)
        read, write = os.pipe()
        os.dup2(write, 2)
        os.close(write)
        self._thread = threading.Thread(target=self._read, args=(read,), name="grpc-log", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.dup2(self._saved, 2)  # closes the pipe's last writer, so the reader ends
        os.close(self._saved)
        self._thread.join(timeout=10)
        self.stream.close()

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb") as pipe:
            for line in pipe:
                try:
                    self._line(line)
                except (OSError, ValueError):
                    continue  # the real standard error is gone; keep draining, or gRPC would block

    def _line(self, line: bytes) -> None:
        if not _CORE_LINE.match(line):
            self.stream.write(line.decode("utf-8", "replace"))
            return
        reason = classify(line.decode("utf-8", "replace"))
        if reason is not None and self._observer is not None:
            self._observer.count(f"refused-handshake-{reason}")
            if self._worth_saying(reason):
                self._observer.log("warning", "handshake refused", reason=reason)
