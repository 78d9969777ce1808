"""A new founder's key for an existing network: it has no power over a member whose operator has not said so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce.errors import ConfigError
from sottovoce.peer.membership.changes import current, install, publish, refound, with_card
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.credentials import check_identity, trusted_roster
from sottovoce.peer.membership.founding import FOUNDER_KEY
from sottovoce.peer.membership.keys import Card, load_key
from sottovoce.peer.membership.roster import SignedRoster

from ..helpers import run
from .town import card, party


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    return party(tmp_path)


def succeed(ada: Path, folder: Path) -> SignedRoster:
    """A new founder, made from a member's own copy of the roster: the old founder's folder may be gone."""
    return refound(SignedRoster.load(ada.parent / "roster.json"), folder)


def in_place(path: Path) -> tuple[int, str]:
    config = PeerConfig.load(path)
    assert config.identity is not None
    roster = trusted_roster(config.identity, config.network)
    return roster.number, roster.founder_fingerprint


def test_only_the_founder_changes(ada: Path, tmp_path: Path) -> None:
    """Members, edges, terms and tombstones of the next roster are those of the last."""
    before = SignedRoster.load(ada.parent / "roster.json").roster
    after = succeed(ada, tmp_path / "again").roster
    assert after.number == before.number + 1
    assert after.founder != before.founder
    assert replace(after, number=before.number, founder=before.founder) == before
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == ["founder.key", "roster.json"]
    with pytest.raises(ConfigError, match="exists"):
        refound(SignedRoster.load(ada.parent / "roster.json"), tmp_path / "again")


def test_nobody_believes_it_unasked(ada: Path, tmp_path: Path) -> None:
    """Installed like any other roster it is refused, and so it is with a fingerprint that is not the signer's."""
    signed = succeed(ada, tmp_path / "again")
    before = in_place(ada)
    for founder in (None, "0" * 32, before[1]):
        with pytest.raises(ConfigError):
            install(PeerConfig.load(ada), signed, founder=founder)
        assert in_place(ada) == before


def test_with_the_operators_word_the_new_founder_counts_and_the_old_one_does_not(ada: Path, tmp_path: Path) -> None:
    """The commands, from refounding to the next ordinary roster; a roster of the old founder is then refused."""
    said = run("network", "refound", ada.parent / "roster.json", "--out", tmp_path / "again", "--json")
    founder = json.loads(said.output)["founder"]
    comment = "# a line of the operator's own\n"
    ada.write_text(comment + ada.read_text())
    done = run("peer", "roster", ada, tmp_path / "again" / "roster.json", "--founder", founder)
    assert done.exit_code == 0, done.output
    assert in_place(ada) == (1, founder)
    assert ada.read_text().startswith(comment)
    check_identity(PeerConfig.load(ada))
    other = with_card(current(tmp_path / "net"), bob_again())
    stale = publish(tmp_path / "net", replace(other, number=7))
    with pytest.raises(ConfigError, match="another network or founder"):
        install(PeerConfig.load(ada), stale)
    following = publish(tmp_path / "again", with_card(current(tmp_path / "again"), bob_again()))
    install(PeerConfig.load(ada), following)
    assert in_place(ada) == (2, founder)


def bob_again() -> Card:
    return card("bob", address="127.0.0.1:7002")


def test_a_new_founder_cannot_slip_in_a_key(ada: Path, tmp_path: Path) -> None:
    """Also at a succession: a key in this member's name that it did not make, an earlier number, a forgotten death."""
    succeed(ada, tmp_path / "again")
    key = load_key(tmp_path / "again" / FOUNDER_KEY, "key")
    good = current(tmp_path / "again")
    config, fingerprint = PeerConfig.load(ada), good.founder_fingerprint
    stolen = with_card(good, card("ada", address="127.0.0.1:7001"))
    gone = replace(good, members={n: m for n, m in good.members.items() if n != "cleo"}, edges=[("ada", "bob")])
    for bad in (stolen, replace(good, number=0), gone):
        with pytest.raises(ConfigError):
            install(config, bad.sign(key), founder=fingerprint)
        assert in_place(ada)[0] == 0
    install(config, good.sign(key), founder=fingerprint)  # the control
