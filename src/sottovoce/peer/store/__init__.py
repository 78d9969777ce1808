"""Where a peer keeps its state: sqlite on disk, long vectors beside it (places), memory for tests."""

from __future__ import annotations

from .base import Identity, Store
from .memory import MemoryStore

__all__ = ["Identity", "MemoryStore", "Store"]
