"""A topic with long vectors, its states, and its file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.units import LONG
from sottovoce.peer.store import Identity
from sottovoce.peer.store.base import TopicRecord
from sottovoce.peer.store.sqlite import SqliteStore
from sottovoce.testing.stores import assert_same, some_state

WHO = Identity("net", "ada", 3, "0.01")
TOPIC = bytes([7]) * 16


def opened(folder: Path) -> SqliteStore:
    store = SqliteStore(folder, WHO)
    if TOPIC not in store.topics():
        store.note_topic(TOPIC, TopicRecord("t", LONG, "wait", "s"))
    return store


def fails(*_: object) -> None:
    """As a disk that says nothing but no."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def loaded(folder: Path) -> PeerState | None:
    """What a program that opens this folder now finds."""
    store = SqliteStore(folder, WHO)
    try:
        return store.topic(TOPIC, LONG).load()
    finally:
        store.close()


def is_one_of(found: PeerState | None, *expected: PeerState) -> None:
    """They differ in ``requests``."""
    assert found is not None
    (same,) = (state for state in expected if state.requests == found.requests)
    assert_same(found, same)


def file_of(folder: Path) -> Path:
    (found,) = folder.glob("*.sheet")
    return found


def states(number: int) -> Iterator[PeerState]:
    """States in which one register, the noise, both or neither have changed."""
    rng, state = np.random.default_rng(3), some_state(LONG)
    for k in range(number):
        ada, most = state.edges["ada"], 2 ** int(rng.integers(1, 60))
        if k % 3:
            ada = replace(ada, s=k + 4, f=rng.integers(-most, most, size=LONG))
        noise = rng.integers(-most, most, size=LONG) if k % 2 else state.noise
        state = replace(state, requests=k, noise=noise, edges={**state.edges, "ada": ada})
        yield state
