"""Backups that may be restored: the private value and the privacy account, and on purpose no ledger.

A copy of the whole store is dangerous. Its ledgers would be older than what the neighbours remember, and flows that
have moved on since would be counted again. A backup leaves them out: a restored peer begins a new life as after a lost
disk (R3), and its neighbours give the ledgers back as they are now. What was shown of the value since the backup was
taken cannot be known, so with a budget all of it is assumed spent.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ConfigError
from ...privacy.gaussian.account import Account
from ..membership.config import PeerConfig
from ..membership.keys import read_json, write_private
from ..protocol.settings import MAX_DIMENSION
from ..protocol.state import PeerState
from ..store import Identity
from ..store.sqlite import SqliteStore

__all__ = ["restore", "write_backup"]

_FORMAT = "sottovoce peer backup 1"
_MOST_BYTES = 16 * MAX_DIMENSION + 65536


def identity_of(config: PeerConfig) -> Identity:
    """Whose state a peer's store holds."""
    return Identity(config.network, config.name, config.dimension, config.unit)


def write_backup(path: Path, config: PeerConfig, state: PeerState) -> None:
    """Write what a restored peer needs into a new file that only its owner can read.

    Raises
    ------
    ConfigError
        There is such a file, or it cannot be written.
    """
    if path.exists():
        raise ConfigError(f"{str(path)!r} exists; a backup is never overwritten")
    value = np.ascontiguousarray(state.value, dtype="<i8").tobytes()
    account = state.account
    whole = {
        "format": _FORMAT,
        "taken": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "identity": asdict(identity_of(config)),
        "value": base64.b64encode(value).decode("ascii"),
        "checksum": hashlib.sha256(value).hexdigest(),
        "information": account.information,
        "last_sid": state.last_sid,
        "requests": state.requests,
    }
    try:
        write_private(path, json.dumps(whole, indent=1).encode() + b"\n")
    except OSError as error:
        raise ConfigError(f"cannot write the backup {str(path)!r}: {error.strerror}") from None


def restore(config: PeerConfig, path: Path, *, nothing_since: bool = False) -> str:
    """Make the store of a peer that has none, or none any more, from a backup; returns when that was taken.

    Parameters
    ----------
    config, path
        The peer, and its backup.
    nothing_since
        Its operator knows that the peer has not run since the backup was taken. Then the account goes on as it was;
        otherwise a budget is assumed to be spent.

    Raises
    ------
    ConfigError
        It is not a backup of this peer, or the peer has a store. Nothing is changed.
    """
    assert config.data_dir is not None
    if (config.data_dir / "peer.sqlite").exists():
        raise ConfigError(f"peer {config.name!r} has a store in {str(config.data_dir)!r}; move it away first")
    whole = read_json(path, "the backup", _MOST_BYTES)
    state = _state(whole, config, str(path))
    if not nothing_since:
        state = replace(state, account=_assumed_spent(state.account))
    store = SqliteStore(config.data_dir, identity_of(config))
    try:
        store.save(state)
    finally:
        store.close()
    return str(whole["taken"])


def _state(whole: Any, config: PeerConfig, source: str) -> PeerState:
    from ..protocol.noise import account_for

    if not isinstance(whole, dict) or whole.get("format") != _FORMAT:
        raise ConfigError(f"{source!r} is not a backup of a peer, of this version")
    try:
        owner, content = Identity(**whole["identity"]), base64.b64decode(whole["value"], validate=True)
        counts = int(whole["requests"]), int(whole["last_sid"])
        account = account_for(config.noise_std, config.noise_decay, config.smallest_std)
        account = account.carrying(float(whole["information"]))
        checksum = whole["checksum"]
    except (KeyError, TypeError, ValueError):
        raise ConfigError(f"{source!r} is not a backup of a peer") from None
    if owner != identity_of(config):
        raise ConfigError(f"{source!r} belongs to {owner}, not to {identity_of(config)}")
    if hashlib.sha256(content).hexdigest() != checksum or len(content) != 8 * config.dimension:
        raise ConfigError(f"{source!r} is damaged: its checksum does not fit")
    value = np.frombuffer(content, dtype="<i8").astype(np.int64)
    return PeerState(value, account, requests=counts[0], last_sid=counts[1])


def _assumed_spent(account: Account) -> Account:
    """What may have been shown since: with a budget, all of it."""
    if account.budget == float("inf"):
        return account
    return replace(account, information=max(account.information, account.budget))
