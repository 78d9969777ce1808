"""The protocol without I/O: :mod:`.ledger` (one edge), :mod:`.noise`, :mod:`.state`, :mod:`.machine` (a peer)."""

from __future__ import annotations

from .ledger import Edge
from .machine import Protocol
from .state import PeerState, Settings

__all__ = ["Edge", "PeerState", "Protocol", "Settings"]
