"""Configuration files are changed line by line, and whatever the operator wrote in them stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce.errors import ConfigError
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.files import config_text, edit_neighbours

from ..helpers import make_config, tls_files


def test_neighbours_are_edited_in_place(tmp_path: Path) -> None:
    """Adding and dropping a neighbour changes that one line of the file."""
    path = tmp_path / "peer.toml"
    config = make_config(folder=tmp_path / "d", neighbours={"b": "127.0.0.1:2", "c": "127.0.0.1:3"})
    path.write_text(config_text(config))
    before = path.read_text()
    edit_neighbours(path, "d", "127.0.0.1:4")
    assert PeerConfig.load(path) == replace(config, neighbours={**config.neighbours, "d": "127.0.0.1:4"})
    edit_neighbours(path, "d", None)
    assert path.read_text() == before
    edit_neighbours(path, "b", None)
    assert set(PeerConfig.load(path).neighbours) == {"c"}


def test_a_bad_edit_leaves_the_file_alone(tmp_path: Path) -> None:
    """A neighbour with a bad name is refused and nothing is written."""
    path = tmp_path / "peer.toml"
    path.write_text(config_text(make_config(folder=tmp_path / "d")))
    before = path.read_text()
    with pytest.raises(ConfigError):
        edit_neighbours(path, "Not A Name", "127.0.0.1:4")
    assert path.read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["peer.toml"]


def test_comments_and_the_next_table_stay_where_they_are(tmp_path: Path) -> None:
    """A line is added below the last neighbour: the operator's remarks and the explanation of [tls] are untouched."""
    path = tmp_path / "peer.toml"
    config = make_config(folder=tmp_path / "d", neighbours={"b": "127.0.0.1:2"}, tls=tls_files(tmp_path))
    path.write_text(
        config_text(config).replace('b = "127.0.0.1:2"\n', 'b = "127.0.0.1:2"  # ask Bob first\n# no more\n')
    )
    before = path.read_text()
    edit_neighbours(path, "c", "127.0.0.1:3")
    assert path.read_text() == before.replace("# ask Bob first\n", '# ask Bob first\nc = "127.0.0.1:3"\n')


@pytest.mark.parametrize("form", ["neighbours = {b = '127.0.0.1:2'}", "neighbours.b = '127.0.0.1:2'", ""])
def test_neighbours_in_any_form_can_be_changed(tmp_path: Path, form: str) -> None:
    """Inline, dotted, or not there at all."""
    path = tmp_path / "peer.toml"
    path.write_text(form + "\n" + config_text(make_config(folder=tmp_path / "d")).replace("[neighbours]\n", ""))
    before = dict(PeerConfig.load(path).neighbours)
    edit_neighbours(path, "c", "127.0.0.1:3")
    assert PeerConfig.load(path).neighbours == before | {"c": "127.0.0.1:3"}
    edit_neighbours(path, "c", None)
    assert PeerConfig.load(path).neighbours == before


def test_permissions_stay(tmp_path: Path) -> None:
    """A file that only its owner may read is still so after a change."""
    path = tmp_path / "peer.toml"
    path.write_text(config_text(make_config(folder=tmp_path / "d")))
    path.chmod(0o600)
    edit_neighbours(path, "c", "127.0.0.1:3")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [None, "name = ", "name = 'a'"])
def test_a_file_that_is_no_configuration_is_not_changed(tmp_path: Path, content: str | None) -> None:
    """Missing, broken or incomplete: one sentence, and no file is written."""
    path = tmp_path / "peer.toml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match=r"peer\.toml"):
        edit_neighbours(path, "c", "127.0.0.1:3")
    assert [file.read_text() for file in tmp_path.iterdir()] == ([] if content is None else [content])
