"""Keys, cards, and the check that a peer makes before it starts."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce import graphs
from sottovoce.errors import ConfigError, TemporaryFailure
from sottovoce.peer.membership.changes import current, install, publish, with_card, without_member
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.credentials import check_identity
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.membership.keys import (
    Card,
    certificate_of,
    key_pem,
    load_key,
    make_identity,
    new_key,
    self_signed,
    write_private,
)
from sottovoce.peer.membership.roster import SignedRoster

from ..helpers import make_config
from .town import NOISE, PARTIES, card, party


def test_an_identity_is_a_private_key_and_a_public_card(tmp_path: Path) -> None:
    """The key is its owner's alone and is never overwritten; the card reads back and holds nothing of the key."""
    key, made = make_identity("ada", "net", tmp_path / "ada", address="127.0.0.1:7001")
    assert key.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in (tmp_path / "ada").iterdir()) == ["ada.card", "peer.key"]
    assert Card.load(tmp_path / "ada" / "ada.card") == made
    assert "PRIVATE" not in (tmp_path / "ada" / "ada.card").read_text()
    with pytest.raises(ConfigError, match="never overwritten"):
        make_identity("ada", "net", tmp_path / "ada")


@pytest.mark.parametrize(
    "change", [{"name": "bob"}, {"network": "other"}, {"certificate": "x"}, {"address": "nowhere"}, {"more": 1}]
)
def test_a_card_that_contradicts_itself_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    """Name, network and certificate belong together."""
    _, _ = make_identity("ada", "net", tmp_path)
    path = tmp_path / "ada.card"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ConfigError):
        Card.load(path)


def test_only_plain_certificates_are_believed() -> None:
    """One name, self-signed: two names, another's signature or a broken one are refused."""
    key, other = new_key(), new_key()
    good = self_signed(key, "ada.net")
    certificate_of(good, "ada.net", "test")
    for text, name in (
        (good, "bob.net"),
        (self_signed(key, "ada.net", "bob.net"), "ada.net"),
        (good + self_signed(other, "ada.net"), "ada.net"),
        (good.replace("MII", "MIJ", 1), "ada.net"),
        ("", "ada.net"),
    ):
        with pytest.raises(ConfigError):
            certificate_of(text, name, "test")


def test_a_good_identity_passes(tmp_path: Path) -> None:
    """The control: everybody's certificate but the own, and no key in the repr."""
    config = PeerConfig.load(party(tmp_path))
    found = check_identity(config)
    assert set(found.members) == {"bob", "cleo"}
    assert (found.roster, len(found.digest)) == (0, 64)
    assert "PRIVATE" not in repr(found)


def foreign_roster(folder: Path) -> None:
    """A roster of the same network and names, made by another founder."""
    found_network("net", PARTIES, graphs.complete(3), folder.parents[1] / "other", **NOISE)
    shutil.copy(folder.parents[1] / "other" / "roster.json", folder / "roster.json")


def bobs_key(folder: Path) -> None:
    shutil.copy(folder.parent / "bob" / "peer.key", folder / "peer.key")


def unsigned(folder: Path) -> None:
    whole = json.loads((folder / "roster.json").read_text())
    whole["roster"]["settings"]["seal_std"] = 0.5
    (folder / "roster.json").write_text(json.dumps(whole))


def other_network(folder: Path) -> None:
    found_network("sister", PARTIES, graphs.complete(3), folder.parents[1] / "other", **NOISE)
    shutil.copy(folder.parents[1] / "other" / "roster.json", folder / "roster.json")


CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "another founder": (foreign_roster, "another founder"),
    "another network": (other_network, "'sister'"),
    "changed after signing": (unsigned, "signature"),
    "somebody else's key": (bobs_key, "does not belong"),
    "a key that others can read": (lambda folder: (folder / "peer.key").chmod(0o640), "chmod 600"),
    "no key": (lambda folder: (folder / "peer.key").unlink(), "cannot read"),
    "no roster": (lambda folder: (folder / "roster.json").unlink(), "cannot read"),
    "a roster that is none": (lambda folder: (folder / "roster.json").write_text("[]"), "not a roster"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_peer_refuses_before_it_starts(tmp_path: Path, case: str) -> None:
    """Each in one sentence: nothing but the founder's roster and the own key will do."""
    path = party(tmp_path)
    change, sentence = CASES[case]
    change(path.parent)
    with pytest.raises(ConfigError, match=sentence) as caught:
        check_identity(PeerConfig.load(path))
    assert "\n" not in str(caught.value)


def test_terms_are_compared_with_the_clock(tmp_path: Path) -> None:
    """Before its term a certificate means clocks out of step; after it, a new key."""
    config, now = PeerConfig.load(party(tmp_path)), dt.datetime.now(dt.UTC)
    with pytest.raises(TemporaryFailure, match="out of step"):
        check_identity(config, now=now - dt.timedelta(days=1))
    with pytest.raises(ConfigError, match="expired"):
        check_identity(config, now=now + dt.timedelta(days=366))


def test_without_an_identity_there_is_no_network() -> None:
    """A configuration for tests in memory cannot be put on a wire."""
    with pytest.raises(ConfigError, match="identity"):
        check_identity(make_config())


def test_a_change_of_key_takes_a_new_roster(tmp_path: Path) -> None:
    """A new key is used when the roster that holds it is installed, not before; the old one is then gone."""
    path = party(tmp_path)
    config, founder = PeerConfig.load(path), tmp_path / "net"
    from sottovoce.peer.membership.changes import new_card

    before = check_identity(config)
    made = Card.load(new_card(config))
    assert check_identity(config).key == before.key
    install(config, publish(founder, with_card(current(founder), made)))
    after = check_identity(PeerConfig.load(path))
    assert (after.roster, after.certificate) == (1, made.certificate.encode())
    assert after.key != before.key
    assert not (path.parent / "peer.key.new").exists()


def test_the_founder_cannot_replace_a_members_key_unseen(tmp_path: Path) -> None:
    """A roster with a key in ada's name that she did not make: she refuses it, and every other sees a new number."""
    path = party(tmp_path)
    config, founder = PeerConfig.load(path), tmp_path / "net"
    forged = publish(founder, with_card(current(founder), card("ada", address=PARTIES["ada"])))
    before = (path.parent / "roster.json").read_bytes()
    with pytest.raises(ConfigError, match="somebody else made it"):
        install(config, forged)
    assert (path.parent / "roster.json").read_bytes() == before
    assert forged.roster.digest != current(path.parent).digest


def test_rosters_that_are_not_installed(tmp_path: Path) -> None:
    """The same number again, an earlier one, and another founder's later one."""
    path = party(tmp_path)
    config, founder = PeerConfig.load(path), tmp_path / "net"
    first = SignedRoster.load(founder / "roster.json")
    later = publish(founder, without_member(first.roster, "cleo"))
    key = new_key()
    with pytest.raises(ConfigError, match="not later"):
        install(config, first)
    install(config, later)
    assert PeerConfig.load(path).neighbours.keys() == {"bob"}
    with pytest.raises(ConfigError, match="not later"):
        install(config, first)
    from sottovoce.peer.membership.keys import public_pem

    foreign = replace(later.roster, number=9, founder=public_pem(key)).sign(key)
    with pytest.raises(ConfigError, match="founder"):
        install(config, foreign)


def test_who_was_removed_is_told_so(tmp_path: Path) -> None:
    """A member installs the roster from which it is gone, and then does not start."""
    path = party(tmp_path, "cleo")
    config, founder = PeerConfig.load(path), tmp_path / "net"
    install(config, publish(founder, without_member(current(founder), "cleo")))
    with pytest.raises(ConfigError, match="any more"):
        PeerConfig.load(path)


def test_a_founders_key_is_needed_to_publish(tmp_path: Path) -> None:
    """A member that has the roster but not the founder's key makes no later one."""
    path = party(tmp_path)
    write_private(path.parent / "founder.key", key_pem(load_key(path.parent / "peer.key", "test")))
    with pytest.raises(ConfigError, match="founder"):
        publish(path.parent, without_member(current(path.parent), "cleo"))
