"""The transcript of a simulated network of peers: the records that an audit of it needs.

Set ``network.witness = Transcript(names)`` before it runs; afterwards ``transcript.records`` goes to
:func:`sottovoce.privacy.audit_transcript`. It looks at a peer's state before and after each input and at what is sent,
and keeps no value and no draw. Networks that lose messages or crash are not described exactly: there the two ends of an
exchange move at different times.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..peer.protocol import PeerState
from ..peer.protocol.messages import Kind, Message, Stop
from ..privacy.records import Drawn, Moved, Record, Sealed, Shown

__all__ = ["Transcript"]


class Transcript:
    """Records of everything that peers draw, show and exchange.

    Parameters
    ----------
    names
        Names of the peers in the order of the graph's nodes.
    seal_std
        Deviation of the seal with which an edge opens. It counts from the moment at which the first end opens the edge.
    """

    def __init__(self, names: Iterable[str], *, seal_std: float = 1.0) -> None:
        self._number = {name: number for number, name in enumerate(names)}
        self._seal_std = seal_std
        self.records: list[Record] = []

    def __call__(self, name: str, before: PeerState, after: PeerState, message: Message | None) -> None:
        """Peer ``name`` handled one input and is about to send ``message``."""
        node = self._number[name]
        if after.noise is not before.noise and after.noise is not None:
            account = after.account
            self.records.append(Drawn(node, account.noise_std * account.noise_decay ** (account.messages - 1)))
        for neighbour, edge in after.edges.items():
            earlier = before.edges.get(neighbour)
            if not edge.blank and (edge.s, edge.r) == (1, 0) and (earlier is None or earlier.blank):
                self.records.append(Sealed(node, self._number[neighbour], self._seal_std))
        if message is None:
            return
        other = self._number[message.dst]
        if message.kind is Kind.REQ:
            self.records.append(Shown(node, other))
        elif message.kind is Kind.REP and after.edges[message.dst].s > before.edges[message.dst].s:
            self.records += [Shown(node, other), Moved(other, node)]
        if message.stop is not None and _tells_own_value(message.stop, node):
            self.records.append(Shown(node, None))


def _tells_own_value(stop: Stop, node: int) -> bool:
    """Whether an interval is told (R32), or a reference of one's own (R97)."""
    return stop.low is not None or stop.around is not None or (stop.centre is not None and stop.owner == node)
