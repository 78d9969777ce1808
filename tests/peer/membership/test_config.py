from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import ConfigError
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.explanations import EXPLANATIONS
from sottovoce.peer.membership.names import split_address

from ..helpers import make_config

FROM_THE_ROSTER = {"others", "leaves", "index", "roster", "roster_digest"}
"""Known to a running peer, and not for its operator to say."""


def test_every_field_is_explained() -> None:
    """Each field has meaning, formula and cost, and nothing else is explained."""
    assert set(EXPLANATIONS) == {field.name for field in fields(PeerConfig)} - FROM_THE_ROSTER
    assert all(all(part.strip() for part in told) for told in EXPLANATIONS.values())


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("name", "Ada"),
        ("name", "a.b"),
        ("name", ""),
        ("name", "../etc"),
        ("network", 7),
        ("listen", "7001"),
        ("listen", "127.0.0.1:70000"),
        ("listen", "::1:7001"),
        ("noise_std", 0),
        ("noise_std", float("nan")),
        ("noise_std", "1"),
        ("noise_decay", 1.0),
        ("noise_decay", 0.0),
        ("smallest_std", -1),
        ("smallest_std", 2.0),
        ("diameter", 0),
        ("diameter", 2.5),
        ("diameter", True),
        ("dimension", 1_000_001),
        ("tolerance", 0),
        ("rate", float("inf")),
        ("retries", -1),
        ("seal_std", -1.0),
        ("unit", "0"),
        ("unit", 0.01),
        ("unit", "1e-12"),
        ("tolerance", 1e-7),
        ("neighbours", {"a": "127.0.0.1:1"}),
        ("neighbours", {"b": "nowhere"}),
        ("neighbours", ["b"]),
        ("metrics_listen", "0.0.0.0:9464"),
        ("metrics_listen", "127.0.0.1.example.org:9464"),
    ],
)
def test_a_bad_field_is_named(field: str, bad: object) -> None:
    """A value outside its range is refused in one line that names the field."""
    with pytest.raises(ConfigError, match=field.removesuffix("s")) as caught:
        make_config(**{field: bad})
    assert "\n" not in str(caught.value)


@given(st.text(max_size=40))
def test_addresses_never_crash(text: str) -> None:
    """Any text is either an address with a valid port or a ConfigError."""
    try:
        host, port = split_address(text, "listen")
    except ConfigError:
        return
    assert host
    assert 0 <= port <= 65535
