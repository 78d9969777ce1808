"""What a line of the tables of mutants says, and the tests that many of them name."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CODEC",
    "DISCLOSURE",
    "IDENTITY",
    "PROTOCOL",
    "RANDOMNESS",
    "ROSTERS",
    "RUNTIME",
    "STORE",
    "TLS",
    "Named",
    "Target",
]


@dataclass(frozen=True)
class Target:
    """Code in which every usual mistake is tried, and the tests that are run for it."""

    code: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Named:
    """One particular mistake: in ``code``, ``old`` (which stands there once) becomes ``new``."""

    title: str
    code: str
    old: str
    new: str
    tests: tuple[str, ...]


PROTOCOL = ("tests/peer/protocol",)
DISCLOSURE = ("tests/peer/protocol/test_disclosure.py", "tests/peer/protocol/test_noise.py")
RUNTIME = ("tests/peer/runtime",)
RANDOMNESS = ("tests/peer/runtime/test_randomness.py", "src/sottovoce/peer/runtime/randomness.py")
IDENTITY = ("tests/peer/membership/test_credentials.py", "tests/peer/membership/test_roster.py")
CODEC = ("tests/peer/transport/test_codec.py",)
TLS = ("tests/peer/transport/test_tls.py",)
STORE = ("tests/peer/store",)
ROSTERS = ("tests/peer/membership/test_roster.py", "tests/peer/runtime/test_following.py")
