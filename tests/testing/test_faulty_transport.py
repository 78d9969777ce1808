"""A real transport with losses added."""

from __future__ import annotations

import pytest

from sottovoce.errors import InvalidParameter
from sottovoce.peer.transport.base import CallFailed
from sottovoce.testing import run_virtually
from sottovoce.testing.faulty_transport import FaultyTransport
from sottovoce.testing.memory_transport import Medium, MemoryTransport
from sottovoce.testing.transport import Heard, hello


async def answered(loss: float, calls: int) -> tuple[int, int]:
    """How many of the calls from a to b were answered, and how many were heard."""
    medium, heard, count = Medium(), Heard(), 0
    a = FaultyTransport(MemoryTransport("a", medium, {"b"}), loss, seed=1)
    b = MemoryTransport("b", medium, {"a"})
    await b.serve(heard)
    for _ in range(calls):
        try:
            assert await a.call("b", hello("a", "b"), 1.0) is None
            count += 1
        except CallFailed as failure:
            assert failure.reason == "timeout"  # noqa: PT017
    await a.close()
    await b.close()
    return count, len(heard)


@pytest.mark.parametrize(("loss", "least", "most"), [(0.0, 200, 200), (0.5, 30, 75), (1.0, 0, 0)])
def test_requests_and_replies_are_lost(loss: float, least: int, most: int) -> None:
    """Each with its probability; a lost call looks like an answer that did not come in time."""
    count, heard = run_virtually(answered(loss, 200))
    assert least <= count <= most
    assert count <= heard <= 200
    assert (heard > count) is (loss == 0.5)


def test_impossible_losses_are_refused() -> None:
    """A probability lies in [0, 1]."""
    with pytest.raises(InvalidParameter, match="loss must lie"):
        FaultyTransport(MemoryTransport("a", Medium()), 1.5)
