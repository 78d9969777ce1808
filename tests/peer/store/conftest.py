"""A store for the tests of long vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.peer.protocol.units import LONG
from sottovoce.testing.stores import some_state

from .long_topics import TOPIC, opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with one state of a long topic, closed."""
    store = opened(tmp_path / "data")
    store.topic(TOPIC, LONG).save(some_state(LONG))
    store.close()
    return tmp_path / "data"
