from __future__ import annotations

import asyncio

import pytest

from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.transport.base import CallFailed
from sottovoce.testing import run_virtually
from sottovoce.testing.memory_transport import Faults, Medium, MemoryTransport
from sottovoce.testing.transport import hello


async def outcomes(faults: Faults, calls: int, *, seed: int = 1, patience: float = 0.002) -> tuple[list[str], int]:
    """How `calls` calls from a to b end, and how many messages b heard."""
    medium, heard = Medium(seed=seed, faults=faults), 0

    async def handler(src: str, message: Message) -> Message:
        nonlocal heard
        heard += 1
        return Message(Kind.BUSY, "b", src, 1, 1, blank=False, xid=message.xid)

    a, b = MemoryTransport("a", medium, {"b"}), MemoryTransport("b", medium, {"a"})
    await a.serve(handler)
    await b.serve(handler)
    ends = []
    for _ in range(calls):
        try:
            await a.call("b", hello("a", "b"), patience)
            ends.append("answered")
        except CallFailed as failure:
            ends.append(failure.reason)
    await asyncio.sleep(3 * faults.delay)
    await a.close()
    await b.close()
    return ends, heard


def test_loss_takes_requests_and_replies() -> None:
    """At 50 % loss per message about a quarter of calls are answered but about half are heard."""
    ends, heard = run_virtually(outcomes(Faults(loss=0.5), 200))
    assert 25 <= ends.count("answered") <= 80
    assert 70 <= heard <= 130
    assert set(ends) == {"answered", "timeout"}


def test_a_seed_determines_the_faults() -> None:
    """The same seed loses the same messages; another one does not."""
    first, again = (run_virtually(outcomes(Faults(loss=0.4), 20, patience=0.05))[0] for _ in range(2))
    assert first == again
    assert run_virtually(outcomes(Faults(loss=0.4), 20, seed=2, patience=0.05))[0] != first


def test_duplication_repeats_messages() -> None:
    """With certain duplication everything is heard twice and answered once."""
    ends, heard = run_virtually(outcomes(Faults(duplication=1.0), 10, patience=5.0))
    assert ends == ["answered"] * 10
    assert heard == 20


def test_delay_can_outlast_the_caller() -> None:
    """A message that is slower than the caller's patience is a timeout."""
    ends, _ = run_virtually(outcomes(Faults(delay=0.05), 20))
    assert "timeout" in ends


def test_partitions_and_healing() -> None:
    """Across a partition nobody is reached; after healing everybody is."""

    async def scenario() -> None:
        async def silent(src: str, message: Message) -> None: ...

        medium = Medium()
        peers = {name: MemoryTransport(name, medium, {"a", "b", "c"} - {name}) for name in "abc"}
        for peer in peers.values():
            await peer.serve(silent)
        medium.partition({"a"}, {"b"})
        for dst in "bc":
            with pytest.raises(CallFailed, match="unreachable"):
                await peers["a"].call(dst, hello("a", dst), 1.0)
        medium.heal()
        for dst in "bc":
            assert await peers["a"].call(dst, hello("a", dst), 1.0) is None

    run_virtually(scenario())


@pytest.mark.parametrize("bad", [{"loss": 1.1}, {"duplication": -0.1}, {"delay": -1.0}])
def test_impossible_faults_are_refused(bad: dict[str, float]) -> None:
    """Probabilities lie in [0, 1]."""
    with pytest.raises(ValueError, match="must"):
        Faults(**bad)
