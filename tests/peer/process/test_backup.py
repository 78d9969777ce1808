"""Backups: what is in them, what is not, whose they are, and that restoring one forgets no privacy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.errors import ConfigError, StoreError
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.process.backup import identity_of, restore, write_backup
from sottovoce.peer.protocol import Protocol
from sottovoce.peer.protocol.ledger import Edge
from sottovoce.peer.protocol.noise import account_for
from sottovoce.peer.protocol.state import PeerState
from sottovoce.peer.store.sqlite import SqliteStore, read_state
from sottovoce.testing.stage import free_addresses

from ..helpers import run

SECRET = 31_415_926


def found(folder: Path, **settings: Any) -> Path:
    addresses = dict(zip(("ada", "bob"), free_addresses(2), strict=True))
    noise: dict[str, Any] = {"noise_std": 1.0, "noise_decay": 0.9, "smallest_std": 0.1} | settings
    return found_network("net", addresses, graphs.path(2), folder, **noise)["ada"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return found(tmp_path / "net")


def used_state(config: PeerConfig) -> PeerState:
    """Of a peer in the middle of its life: noise in place, a ledger, part of the budget spent."""
    account = account_for(config.noise_std, config.noise_decay, config.smallest_std).spend(3)
    f, g = np.array([700_000]), np.array([123])
    edge = Edge(sid=5, psid=6, blank=False, s=9, f=f, r=8, g=g)
    return PeerState(np.array([SECRET]), account, np.array([4242]), True, 17, 5, {"bob": edge})


def test_a_backup_holds_value_and_account_and_no_ledger(path: Path, tmp_path: Path) -> None:
    """It comes back with the value, the counters and what was shown; without flows, without noise, at full size."""
    config = PeerConfig.load(path)
    state = used_state(config)
    write_backup(tmp_path / "ada.backup", config, state)
    assert (tmp_path / "ada.backup").stat().st_mode & 0o777 == 0o600
    restore(config, tmp_path / "ada.backup", nothing_since=True)
    assert config.data_dir is not None
    back = read_state(config.data_dir)
    assert back.value.tolist() == [SECRET]
    assert (back.edges, back.noise, back.fresh) == ({}, None, False)
    assert (back.requests, back.last_sid) == (17, 5)
    assert back.account == state.account.rearmed()


def test_what_cannot_be_known_is_assumed_spent(path: Path, tmp_path: Path) -> None:
    """Without the operator's word nothing more may be shown of the value, if there is a budget."""
    config = PeerConfig.load(path)
    write_backup(tmp_path / "ada.backup", config, used_state(config))
    restore(config, tmp_path / "ada.backup")
    assert config.data_dir is not None
    assert not read_state(config.data_dir).account.affords()
    free = replace(config, smallest_std=None, data_dir=tmp_path / "other")
    restore(free, tmp_path / "ada.backup")
    assert read_state(tmp_path / "other").account.affords()


def test_a_restored_peer_waits_for_its_ledgers(path: Path, tmp_path: Path) -> None:
    """As after a lost disk it exchanges nothing before its neighbours have answered (R3)."""
    config = PeerConfig.load(path)
    write_backup(tmp_path / "ada.backup", config, used_state(config))
    restore(config, tmp_path / "ada.backup")
    assert config.data_dir is not None
    outside = {"draw": np.zeros, "coin": np.zeros, "stamp": lambda: 1}
    account = account_for(config.noise_std, config.noise_decay, config.smallest_std)
    protocol = Protocol.resume(
        config, read_state(config.data_dir), value=None, account=account, neighbours=["bob"], **outside
    )
    assert protocol.recovering


def test_a_peer_with_a_store_is_left_alone(path: Path, tmp_path: Path) -> None:
    """A backup never replaces what is there, whoever holds it."""
    config = PeerConfig.load(path)
    assert config.data_dir is not None
    state = used_state(config)
    write_backup(tmp_path / "ada.backup", config, state)
    store = SqliteStore(config.data_dir, identity_of(config))
    store.save(replace(state, requests=99))
    for _ in range(2):
        with pytest.raises(ConfigError, match="move it away first"):
            restore(config, tmp_path / "ada.backup")
        store.close()
    assert read_state(config.data_dir).requests == 99
    with pytest.raises(ConfigError, match="never overwritten"):
        write_backup(tmp_path / "ada.backup", config, state)


@pytest.mark.parametrize("damage", ["value", "format", "missing", "text", "number"])
def test_a_damaged_backup_is_refused(path: Path, tmp_path: Path, damage: str) -> None:
    """One sentence that shows no value, and no store is made."""
    config = PeerConfig.load(path)
    file = tmp_path / "ada.backup"
    write_backup(file, config, used_state(config))
    whole = json.loads(file.read_text())
    bad = {
        "value": whole | {"value": "AAAAAAAAAAA="},
        "format": whole | {"format": "something else"},
        "missing": {key: whole[key] for key in whole if key != "information"},
        "text": whole | {"information": "a lot"},
        "number": 7,
    }[damage]
    file.write_text(json.dumps(bad))
    with pytest.raises(ConfigError) as caught:
        restore(config, file)
    assert str(SECRET) not in str(caught.value)
    assert config.data_dir is not None
    assert not config.data_dir.exists()


def test_a_backup_of_somebody_else_is_refused(path: Path, tmp_path: Path) -> None:
    """Another name, or the same name in a network with another unit."""
    config = PeerConfig.load(path)
    write_backup(tmp_path / "ada.backup", config, used_state(config))
    for other in (path.parents[1] / "bob" / "peer.toml", found(tmp_path / "web", unit="0.0001", tolerance=0.1)):
        with pytest.raises(ConfigError, match="belongs to peer 'ada' of network 'net'"):
            restore(PeerConfig.load(other), tmp_path / "ada.backup")


def test_the_commands(path: Path, tmp_path: Path) -> None:
    """A stopped peer is backed up and restored from the command line; one that has never run has nothing to back up."""
    config = PeerConfig.load(path)
    assert config.data_dir is not None
    file = tmp_path / "ada.backup"
    assert run("peer", "backup", path, file).exit_code == 1
    store = SqliteStore(config.data_dir, identity_of(config))
    store.save(used_state(config))
    store.close()
    said = run("peer", "backup", path, file)
    assert said.exit_code == 0
    assert str(SECRET) not in said.output
    assert run("peer", "restore", path, file).exit_code == 2
    config.data_dir.rename(tmp_path / "lost")
    assert run("peer", "restore", path, file, "--nothing-since").exit_code == 0
    assert read_state(config.data_dir).value.tolist() == [SECRET]
    with pytest.raises(StoreError):
        read_state(tmp_path / "net" / "bob")
