"""What running peers say about themselves, for the live view. Never a private value: peers do not tell them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["Watcher"]


class Watcher:
    """Reads the status of the peers of one network folder."""

    def __init__(self, network: Path | None = None) -> None:
        self.network = network

    async def look(self) -> dict[str, Any]:
        """One answer for the page."""
        return {"available": False, "message": "peers are not available in this installation", "peers": []}
