"""What a peer refuses before it starts: one sentence, nothing changed on disk, no value repeated."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.errors import InvalidInput
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.process.checks import check_everything
from sottovoce.testing.stage import free_addresses

from .helpers import run


@pytest.fixture
def party(tmp_path: Path) -> Path:
    addresses = dict(zip(("ada", "bob"), free_addresses(2), strict=True))
    noise = {"noise_std": 1.0, "noise_decay": 0.9, "smallest_std": 0.1}
    found_network("net", addresses, graphs.path(2), tmp_path / "net", **noise)
    found_network("net", addresses, graphs.path(2), tmp_path / "other", **noise)
    return tmp_path / "net" / "ada"


def edit(old: str, new: str) -> Callable[[Path], None]:
    def change(party: Path) -> None:
        text = (party / "peer.toml").read_text()
        assert old in text
        (party / "peer.toml").write_text(text.replace(old, new, 1))

    return change


def foreign(file: str) -> Callable[[Path], None]:
    return lambda party: (party / file).write_bytes((party.parents[1] / "other" / "ada" / file).read_bytes())


# One for each thing that is checked; the kinds of bad configurations and certificates have tests of their own.
CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing configuration": (lambda party: (party / "peer.toml").unlink(), "cannot read the configuration"),
    "malformed configuration": (edit('name = "ada"', 'name == "ada"'), "not valid TOML"),
    "another founder's roster": (foreign("roster.json"), "another founder"),
    "another key": (foreign("peer.key"), "does not belong"),
    "no member": (edit('name = "ada"', 'name = "eve"'), "'eve' is not a member"),
    "data folder that is a file": (lambda party: (party / "data").write_text(""), "data_dir must be a folder"),
    "address of nobody": (edit('listen = "127.0.0.1', 'listen = "127.0.0.1:'), "listen must be 'host:port'"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_and_nothing_is_written(party: Path, case: str) -> None:
    """Each kind of bad input ends in an InvalidInput with one line, and the party's folder is as before."""
    change, sentence = CASES[case]
    change(party)
    before = {path: path.read_bytes() for path in party.rglob("*") if path.is_file()}
    with pytest.raises(InvalidInput, match=sentence) as caught:
        check_everything(party / "peer.toml", np.array([31415.9265]))
    assert "\\n" not in str(caught.value)
    assert "31415" not in str(caught.value)
    assert {path: path.read_bytes() for path in party.rglob("*") if path.is_file()} == before


def test_a_value_of_the_wrong_dimension(party: Path) -> None:
    """The value must have the network's dimension and lie within the limit."""
    for value in (np.zeros(2), np.array([1e10]), np.array([np.nan])):
        with pytest.raises(InvalidInput, match="private value"):
            check_everything(party / "peer.toml", value)


def test_good_input_is_accepted(party: Path) -> None:
    """The control: without a defect the check passes, and its result does not show the value."""
    assert repr(check_everything(party / "peer.toml", np.array([31415.9265]))) == "Checked('ada.net')"


@pytest.mark.parametrize(
    "arguments",
    [
        ["status", "peer.toml"],
        ["leave", "peer.toml"],
        ["stop", "peer.toml"],
        ["drop", "peer.toml", "bob"],
        ["set-value", "peer.toml", "--value-from", "value.txt"],
        ["set-value", "peer.toml"],
        ["set-value", "peer.toml", "--value-from", "empty.txt"],
        ["status", "none.toml"],
        ["start"],
        ["start", "none.toml"],
        ["nonsense"],
    ],
)
def test_commands_to_a_peer_that_does_not_run(
    party: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command that cannot be done exits with 2 and says why."""
    monkeypatch.chdir(party)
    (party / "value.txt").write_text("31415.9265")
    (party / "empty.txt").write_text("")
    result = run("peer", *arguments)
    assert result.exit_code == 2
    assert result.output.strip()
    assert "31415" not in result.output
    assert "Traceback" not in result.output
    shutil.rmtree(party)
