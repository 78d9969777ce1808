"""Where a peer keeps its state: :mod:`.sqlite` on disk, :mod:`.memory` for tests."""

from __future__ import annotations

from .base import Identity, Store
from .memory import MemoryStore

__all__ = ["Identity", "MemoryStore", "Store"]
