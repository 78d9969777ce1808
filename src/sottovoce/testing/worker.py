"""One process of a :class:`.stage.Stage` that is watched or disturbed: what ``sottovoce peer start`` runs, and more.

``python -m sottovoce.testing.worker CONFIG VALUE JOURNAL LOSS [LIAR]`` writes a journal, loses some messages on purpose
and lies, as :mod:`.liars` says, while there is a file ``lie`` beside the configuration.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from ..peer.process.metrics import PeerObserver
from ..peer.process.service import start_peer
from ..peer.process.values import read_value
from ..peer.transport.base import Transport
from .faulty_transport import FaultyTransport
from .liars import LyingTransport, liar

__all__ = ["LIE", "JournalObserver"]

LIE = "lie"
"""File beside the configuration of a liar, while which exists it lies."""


class JournalObserver(PeerObserver):
    """Also writes down when each exchange was applied and with whom, for demonstrations that audit a whole network.

    The time is the machine's, common to all its processes, so that the journals of one machine can be merged. A
    journal holds no values, but who talked to whom and when is nobody else's business: no ordinary peer keeps one.
    """

    def __init__(self, path: Path, logger: Any = None) -> None:
        super().__init__(logger)
        self._journal = path.open("a", buffering=1, encoding="ascii")

    def count(self, event: str, neighbour: str = "") -> None:
        super().count(event, neighbour)
        if event == "applied":
            self._journal.write(f"{time.monotonic_ns()} {neighbour}\n")


def main(config: str, value: str, journal: str, loss: str, what: str = "") -> None:
    """Run one peer until it is stopped."""
    signal = Path(config).parent / LIE

    def disturb(transport: Transport) -> Transport:
        faulty: Any = FaultyTransport(transport, float(loss)) if float(loss) else transport
        return LyingTransport(faulty, liar(what), signal.exists) if what else faulty

    start_peer(
        Path(config),
        read_value(value),
        observe=lambda logger: JournalObserver(Path(journal), logger),
        wrap=disturb,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
