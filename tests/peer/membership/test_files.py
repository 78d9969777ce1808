"""A peer's own file: written, read together with the roster, and changed without touching the operator's remarks."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.errors import ConfigError
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.explanations import EXPLANATIONS
from sottovoce.peer.membership.files import OWN, config_text, edit_without
from sottovoce.peer.membership.roster import SHARED

from .town import PARTIES, party


def test_the_file_and_the_roster_together_are_the_configuration(tmp_path: Path) -> None:
    """What is shared comes from the roster, the rest from the file; paths start at its folder."""
    path = party(tmp_path, tolerance=0.25, timeout=0.125, metrics_listen="127.0.0.1:9464")
    config = PeerConfig.load(path)
    assert (config.tolerance, config.timeout, config.metrics_listen) == (0.25, 0.125, "127.0.0.1:9464")
    assert config.neighbours == {"bob": PARTIES["bob"], "cleo": PARTIES["cleo"]}
    assert (config.diameter, config.listen) == (1, PARTIES["ada"])
    assert config.data_dir == path.parent / "data"
    path.write_text(config_text(config))
    assert PeerConfig.load(path) == config


def test_every_own_field_is_explained_in_the_file(tmp_path: Path) -> None:
    """The comments in a party's file give meaning, formula and cost of each field."""
    words = party(tmp_path).read_text().replace("\n# ", " ")
    for name in OWN:
        told = EXPLANATIONS[name]
        assert name in words
        assert told.meaning in words
        assert f"Formula: {told.formula}." in words
        assert f"Cost: {told.cost}" in words


def test_no_limit_is_written_as_zero(tmp_path: Path) -> None:
    """An absent budget survives the file, where TOML has no null."""
    path = party(tmp_path, smallest_std=None)
    assert "smallest_std = 0.0" in path.read_text()
    assert PeerConfig.load(path).smallest_std is None


@pytest.mark.parametrize("name", sorted({"tolerance", "noise_std", "diameter", "neighbours"}))
def test_what_the_roster_decides_is_refused_in_the_file(tmp_path: Path, name: str) -> None:
    """So that no two members can differ in it."""
    assert name in SHARED or name in EXPLANATIONS
    path = party(tmp_path)
    path.write_text(f"{name} = 1\n" + path.read_text())
    with pytest.raises(ConfigError, match=f"'{name}' is decided by the roster"):
        PeerConfig.load(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name = ", "not valid TOML"),
        ("nmae = 'a'", "unknown field 'nmae'"),
        ("name = 'a'", "missing field 'network'"),
        ("\xff\xfe", "not valid TOML"),
        ("{good}\nmore = 'k'", "identity"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    """Broken TOML, unknown and missing fields each give one sentence."""
    path = party(tmp_path)
    path.write_bytes(text.replace("{good}", path.read_text()).encode("latin-1"))
    with pytest.raises(ConfigError, match=sentence):
        PeerConfig.load(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A configuration that is not there is bad input."""
    with pytest.raises(ConfigError, match="cannot read"):
        PeerConfig.load(tmp_path / "none.toml")


def test_dropping_changes_one_line(tmp_path: Path) -> None:
    """A dropped neighbour is no neighbour any more; taken back, the file is as it was, remarks and permissions too."""
    path = party(tmp_path)
    path.write_text(path.read_text().replace("[identity]", "# ask Bob first\n[identity]"))
    path.chmod(0o600)
    before = path.read_text()
    edit_without(path, "bob", dropped=True)
    assert PeerConfig.load(path).neighbours.keys() == {"cleo"}
    assert len(set(path.read_text().splitlines()) - set(before.splitlines())) == 1
    edit_without(path, "bob", dropped=False)
    assert path.read_text() == before
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [None, "name = "])
def test_a_file_that_is_no_configuration_is_not_changed(tmp_path: Path, content: str | None) -> None:
    """Missing or broken: one sentence, and no file is written."""
    path = tmp_path / "peer.toml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match=r"peer\.toml"):
        edit_without(path, "c", dropped=True)
    assert [file.read_text() for file in tmp_path.iterdir()] == ([] if content is None else [content])
