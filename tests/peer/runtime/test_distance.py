"""Long lines and lossy ones, in virtual time: as many exchanges as the round trip allows."""

from __future__ import annotations

import asyncio

import pytest

from sottovoce.testing import run_virtually
from sottovoce.testing.memory_transport import Faults

from .town import Town

RATE = 2.0
SIZE = 6


async def exchanges_per_edge(seconds: float, faults: Faults, **fields: float) -> float:
    """Exchanges per edge and second on a ring that does not settle."""
    town = Town(SIZE, faults=faults, noise_decay=0.9999, rate=RATE, **fields)
    async with town.running() as peers:
        await asyncio.sleep(30.0)
        before = sum(peer.status().exchanges for peer in peers.values())
        await asyncio.sleep(seconds)
        after = sum(peer.status().exchanges for peer in peers.values())
    return (after - before) / 2 / SIZE / seconds


def allowed(round_trip: float) -> float:
    """With L the time a request takes and ρ = λdL, both ends must be free: 2λ/(1 + ρ)²."""
    return 2.0 * RATE / (1.0 + RATE * 2 * round_trip) ** 2


@pytest.mark.parametrize("round_trip", [0.3, 1.0])
def test_a_long_line_slows_exchanges_no_more_than_it_must(round_trip: float) -> None:
    """With 300 ms there and back, and more, as many exchanges as a request's time leaves room for (R70)."""
    rate = run_virtually(exchanges_per_edge(300.0, Faults(distance=round_trip / 2)))
    assert rate == pytest.approx(allowed(round_trip), rel=0.15)


def test_a_lossy_line_is_tried_again_soon() -> None:
    """At 30 % loss and 20 ms, a third of what a line without loss allows: a lost message costs little time (R70)."""
    rate = run_virtually(exchanges_per_edge(150.0, Faults(distance=0.01, loss=0.3)))
    assert rate > allowed(0.02) / 3


def test_a_lossy_long_line_works() -> None:
    """At 10 % loss and 300 ms still half of what the line allows without loss (R70)."""
    rate = run_virtually(exchanges_per_edge(300.0, Faults(distance=0.15, loss=0.1)))
    assert rate > allowed(0.3) / 2
