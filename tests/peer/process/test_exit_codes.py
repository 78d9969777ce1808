"""What a service manager is told: 2 is for people, 75 passes, and the unit that we ship knows both."""

from __future__ import annotations

import datetime as dt
import re
import shutil
import socket
import subprocess
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from sottovoce import graphs
from sottovoce.errors import ConfigError, TemporaryFailure
from sottovoce.peer.membership import credentials
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.process import checks
from sottovoce.testing.stage import free_addresses

from ..helpers import run

UNIT = Path(__file__).parents[3] / "deployment" / "sottovoce-peer.service"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    addresses = dict(zip(("ada", "bob"), free_addresses(2), strict=True))
    noise = {"noise_std": 1.0, "noise_decay": 0.9, "smallest_std": 0.1}
    path = found_network("net", addresses, graphs.path(2), tmp_path / "net", **noise)["ada"]
    (path.parent / "value.txt").write_text("5")
    return path


def start(config: Path) -> tuple[int, str]:
    ended = run("peer", "start", config, "--value-from", config.parent / "value.txt")
    return ended.exit_code, ended.output


@pytest.fixture
def taken(config: Path) -> Iterator[str]:
    address = str(PeerConfig.load(config).listen)
    host, port = address.split(":")
    with socket.create_server((host, int(port))):
        yield address


def test_a_port_in_use_passes(config: Path, taken: str) -> None:
    """The last process of this peer may be about to end: 75, one sentence, nothing written."""
    assert start(config) == (75, f"error: listen: cannot listen on {taken}: Address already in use\n")
    assert not (config.parent / "data").exists()


@pytest.mark.parametrize("host", ["no-such-name.invalid", "192.0.2.1"])
def test_a_name_or_address_that_is_not_there_yet_passes(config: Path, host: str) -> None:
    """While a machine starts, names are not resolved and addresses not assigned: 75."""
    own = str(PeerConfig.load(config).listen)
    config.write_text(config.read_text().replace(own, f"{host}:7001", 1))
    code, said = start(config)
    assert (code, said.count("\n")) == (75, 1)
    assert "listen: cannot listen on" in said


def test_a_clock_that_is_not_set_passes(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that believes it is 1970 may be told the time soon: 75."""

    class Old(dt.datetime):
        @classmethod
        def now(cls, zone: dt.tzinfo | None = None) -> Old:
            return cls(1970, 1, 1, tzinfo=zone)

    monkeypatch.setattr(credentials, "dt", types.SimpleNamespace(datetime=Old, UTC=dt.UTC))
    code, said = start(config)
    assert code == 75
    assert "out of step" in said


def test_an_expired_certificate_does_not_pass(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time alone does not bring it back: 2."""

    class Late(dt.datetime):
        @classmethod
        def now(cls, zone: dt.tzinfo | None = None) -> Late:
            return cls(2100, 1, 1, tzinfo=zone)

    monkeypatch.setattr(credentials, "dt", types.SimpleNamespace(datetime=Late, UTC=dt.UTC))
    assert start(config)[0] == 2


def test_a_port_that_will_never_be_ours_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that needs a privilege which this user does not have is bad configuration."""

    class Forbidden(socket.socket):
        def bind(self, address: object) -> None:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(checks.socket, "socket", Forbidden)
    with pytest.raises(ConfigError, match="Permission denied") as caught:
        checks.check_port("127.0.0.1:443", "listen")
    assert not isinstance(caught.value, TemporaryFailure)


def test_a_damaged_database_does_not_pass(config: Path) -> None:
    """Starting again would find it damaged again: 2, and a sentence that says what to do."""
    (config.parent / "data").mkdir()
    (config.parent / "data" / "peer.sqlite").write_bytes(b"not a database" * 1000)
    code, said = start(config)
    assert code == 2
    assert said.splitlines()[-1].startswith("error: ")
    assert "move the data folder away and start with the private value" in said


def test_the_unit_knows_the_codes() -> None:
    """The service is started again after every failure but the one that is for people."""
    text = UNIT.read_text(encoding="utf-8")
    assert re.search(r"^Restart=on-failure$", text, flags=re.MULTILINE)
    assert re.search(r"^RestartPreventExitStatus=2$", text, flags=re.MULTILINE)
    assert "StartLimitIntervalSec=0" in text  # it never gives up by itself
    assert re.search(r"^ExecStart=\S+ peer start peer.toml$", text, flags=re.MULTILINE)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_the_unit_is_hardened() -> None:
    """What systemd itself thinks of the exposure: at most 3 of 10."""
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=30", str(UNIT)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze cannot look at a file")
    assert done.returncode == 0, done.stdout[-300:]
    found = re.search(r"Overall exposure level for \S+: (\d+\.\d+)", done.stdout)
    assert found
    assert float(found[1]) <= 3.0
