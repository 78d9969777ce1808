"""Chaos for a very long time: a million exchanges among crashes, lost disks and lost messages leave no trace.

``SOTTOVOCE_EXCHANGES`` says how many exchanges the long run makes, if not a million.
"""

from __future__ import annotations

import itertools
import os
import resource

import pytest

from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.testing import Conditions, SimulatedNetwork

NAMES = [f"p{k:02d}" for k in range(10)]
EDGES = [(a, b) for step in (1, 2) for a, b in zip(NAMES, NAMES[step:] + NAMES[:step], strict=True)]
TOLERANCE = 1e-3
MANY = int(os.environ.get("SOTTOVOCE_EXCHANGES", "1000000"))


class Counting(SimulatedNetwork):
    """Counts the exchanges that were applied, and gives somebody another value now and then, so that none settle."""

    def __init__(self, seed: int) -> None:
        super().__init__(
            EDGES, {name: float(k) for k, name in enumerate(NAMES)}, noise_std=1.0, noise_decay=0.9, seed=seed,
            rate=5.0, tolerance=TOLERANCE, diameter=3, low=0.0, high=10.0,
            conditions=Conditions(loss=0.1, duplication=0.05, delay=0.01, downtime=0.5, crash=1e-3, disk_loss=0.2),
        )  # fmt: skip
        self.applied = 0
        self.witness = self._note

    def _note(self, name: str, before: PeerState, after: PeerState, message: Message | None) -> None:
        if message is not None and message.kind is Kind.REP:
            self.applied += after.edges[message.dst].s > before.edges[message.dst].s

    def endure(self, exchanges: int) -> None:
        """Until that many exchanges more have been applied."""
        goal = self.applied + exchanges
        for number in itertools.count():
            self.run(20.0, until=lambda: self.applied >= goal)
            assert self.broken_invariants() == []
            if self.applied >= goal:
                return
            self.set_value(self.random.choice(NAMES), self.random.uniform(0.0, 10.0))
            if number % 50 == 49:  # a few seconds in two halves
                self.partition(NAMES[::2], NAMES[1::2])
                self.run(5.0)
                self.partition()


def recovers(net: Counting) -> None:
    net.heal()
    assert net.run(2000.0, until=lambda: net.settled), "not settled"
    assert net.largest_error() <= TOLERANCE
    net.quiesce()
    assert net.asymmetric_edges() == []
    assert net.mass_error() == 0


def kilobytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_two_thousand_exchanges_in_chaos() -> None:
    """A sample of the long run: peers crash, and afterwards all settle on the exact mean."""
    net = Counting(seed=1)
    net.endure(2000)
    assert net.crashes > 0
    recovers(net)


@pytest.mark.slow
@pytest.mark.timeout(14400)
def test_a_million_exchanges_in_chaos() -> None:
    """Memory does not grow after the first tenth, invariants hold all the way, and in the end the mean is exact."""
    net = Counting(seed=2)
    net.endure(MANY // 10)
    before = kilobytes()
    net.endure(MANY - MANY // 10)
    assert kilobytes() - before < 10_000
    assert net.crashes > MANY // 1000
    recovers(net)
