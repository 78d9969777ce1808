"""R85: of a topic that is over a peer holds the record, and in its memory nothing else."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from sottovoce.testing import LocalNetwork, run_virtually


@pytest.fixture
def no_collector() -> Iterator[None]:
    """What goes must go by itself."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("missing", ["wait", "drop"])
def test_value_noise_and_ledgers_are_gone_from_memory(missing: str) -> None:
    """With the topic's end, not when garbage happens to be collected: a training would hold every round's vectors."""

    async def work() -> tuple[int, list[object]]:
        async with LocalNetwork(["ada", "bob", "cyd"], longest_topic=100) as net:
            asked = [net[name].average(np.full(100, 7.0), topic="t", missing=missing) for name in net]
            calls = [asyncio.create_task(one) for one in asked]
            await asyncio.sleep(0.25)
            assert not any(call.done() for call in calls)
            held = []
            for name in net:
                for conversation in net[name]._topics._open.values():  # type: ignore[union-attr]
                    state = conversation.protocol.state
                    ledgers = [edge.f for edge in state.edges.values() if edge.f is not None]
                    held += [weakref.ref(one) for one in (state.value, state.noise, *ledgers) if one is not None]
                    del state, ledgers
                del conversation
            await asyncio.gather(*calls)
            calls.clear()
            await asyncio.sleep(60.0)
            return len(held), [one() for one in held if one() is not None]

    looked_at, left = run_virtually(work())
    assert looked_at >= 9
    assert left == []
