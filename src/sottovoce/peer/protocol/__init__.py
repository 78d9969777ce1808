"""All decisions of a peer, without input or output: time, randomness and messages arrive as arguments.

What numbers are (:mod:`.units`) and how large they may get (:mod:`.limits`), what is said (:mod:`.messages`), one
edge (:mod:`.ledger`) and its end (:mod:`.parting`), when noise is drawn (:mod:`.noise`), what may be shown
(:mod:`.disclosure`), when all agree (:mod:`.stopping`), when to call whom (:mod:`.calling`), what a peer is told
(:mod:`.settings`) and keeps (:mod:`.state`), all of it together (:mod:`.core`,
:mod:`.members`, :mod:`.machine`), and what a peer says of itself
(:mod:`.status`). The rules R1 to R52 are written out in ``docs/explanation/protocol-rules.md``.
"""

from __future__ import annotations

from .ledger import Edge
from .machine import Protocol
from .settings import Settings
from .state import PeerState

__all__ = ["Edge", "PeerState", "Protocol", "Settings"]
