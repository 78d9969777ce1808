"""R85: of a topic that is over a peer holds the record, and in its memory nothing else."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from sottovoce.peer.runtime import topics
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


@pytest.mark.parametrize(
    ("pauses", "states"),
    [
        ([(45.0, 0.0), (45.0, 0.0), (45.0, 0.0)], ["open", "open", "closed"]),
        ([(1.0, 300.0), (9.0, 0.0), (9.0, 0.0), (11.0, 0.0)], ["open", "open", "open", "closed"]),
    ],
    ids=["started anew every day", "away for days"],
)
def test_a_neighbour_that_is_gone_for_good_keeps_no_value_here(
    pauses: list[tuple[float, float]], states: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It died before it had the answer. With each start the day began again, and the value stayed; now an hour does."""
    monkeypatch.setattr(topics, "LINGER", 100.0)
    monkeypatch.setattr(topics, "LINGER_AFTER_A_START", 10.0)

    async def work() -> list[str]:
        found = []
        async with LocalNetwork(["ada", "bob", "cyd"]) as net:
            calls = {name: asyncio.create_task(net[name].average(7.0, topic="t")) for name in net}
            await asyncio.wait(calls.values(), return_when=asyncio.FIRST_COMPLETED)
            first, *_, last = sorted(calls, key=lambda name: not calls[name].done())
            assert not calls[last].done()
            await net.kill(last)
            await asyncio.gather(*calls.values(), return_exceptions=True)
            for up, away in pauses:
                await asyncio.sleep(up)
                found.append(net[first].topics()["t"])
                await net.kill(first)
                await asyncio.sleep(away)
                await net.start(first)
        return found

    assert run_virtually(work()) == states
