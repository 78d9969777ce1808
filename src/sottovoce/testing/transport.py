"""What every transport must do, as a suite of tests: subclass :class:`TransportConformance` and give it networks.

The suite asks only what the protocol relies on: authenticated names, at most one reply, honest failures, bit-exact
numbers, and that a caller who hangs up does not interrupt the other side. How a transport moves bytes is left open.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import numpy as np

from ..peer.protocol.messages import Kind, Message, Stop, Told
from ..peer.transport.base import CallFailed, Handler, Transport

__all__ = ["Network", "TransportConformance", "hello", "request"]

DIMENSION = 3
_LIMIT = 240.0
_PATIENCE = 60.0
"""Seconds for what takes milliseconds: the machine may be busy with much else."""
Network = Mapping[str, Transport]


def hello(src: str, dst: str, **fields: Any) -> Message:
    """The smallest message."""
    return Message(**{"kind": Kind.HELLO, "src": src, "dst": dst, "src_sid": 1, "dst_sid": 0, "blank": True, **fields})


def request(src: str, dst: str, xid: int, x: Sequence[int]) -> Message:
    """A request that shows the value `x`."""
    return Message(Kind.REQ, src, dst, 11, 12, blank=False, s=3, r=4, xid=xid, x=np.array(x, dtype=np.int64))


class Heard(list[str]):
    """A handler that remembers who called, and answers nothing."""

    async def __call__(self, src: str, message: Message) -> None:
        self.append(src)


def scenario(test: Callable[[Any], Coroutine[Any, Any, None]]) -> Callable[[Any], None]:
    """Run one test on an event loop of its own, with a limit so that a lost answer fails instead of hanging."""

    @functools.wraps(test)
    def run(self: Any) -> None:
        asyncio.run(asyncio.wait_for(test(self), timeout=_LIMIT))

    return run


class TransportConformance:
    """Subclass, implement :meth:`network`, and let pytest collect the class.

    The network has the peers a, b, c and the edges a-b and b-c: a and c are not neighbours. Messages have
    :data:`DIMENSION` coordinates.
    """

    def network(self, handlers: Mapping[str, Handler]) -> AbstractAsyncContextManager[Network]:
        """Three transports that serve the given handlers (a peer without one answers nothing)."""
        raise NotImplementedError

    @scenario
    async def test_a_message_arrives_as_it_was_sent(self) -> None:
        """Every field, every bit of every number, and the sender's name reach the other side and come back."""
        numbers = np.array([1, -(2**60), 2**60])
        stop = Stop(
            7, numbers // 2 - 1, numbers // 2 + 1, contributors=5, previous_around=Told(b"r" * 32, 3, 2**60),
            reference=b"s" * 32, owner=1, centre=-numbers,
        )  # fmt: skip
        sent = Message(
            Kind.REQ, "a", "b", 2**62 - 1, 5, blank=False, s=6, f=numbers, r=7, g=-numbers, xid=8, x=numbers // 3,
            stop=stop,
        )  # fmt: skip
        answer = Message(Kind.REP, "b", "a", 5, 2**62 - 1, blank=False, s=7, f=numbers // 5, r=6, xid=8)
        heard: list[tuple[str, Message]] = []

        async def handler(src: str, message: Message) -> Message:
            heard.append((src, message))
            return answer

        async with self.network({"b": handler}) as network:
            assert await network["a"].call("b", sent, _PATIENCE) == answer
        assert heard == [("a", sent)]

    @scenario
    async def test_no_reply_is_none(self) -> None:
        """A message that was handled without a reply returns None, which is not a failure."""
        async with self.network({}) as network:
            assert await network["a"].call("b", hello("a", "b"), _PATIENCE) is None

    @scenario
    async def test_calls_in_both_directions_at_once(self) -> None:
        """Many calls may cross on an edge; each gets its own answer."""

        async def echo(src: str, message: Message) -> Message:
            await asyncio.sleep(0.001)
            return Message(Kind.BUSY, message.dst, src, 1, 1, blank=False, xid=message.xid)

        async def ask(network: Network, src: str, dst: str, xid: int) -> None:
            reply = await network[src].call(dst, request(src, dst, xid, [xid, 0, 0]), _PATIENCE)
            assert reply is not None
            assert reply.xid == xid

        async with self.network({"a": echo, "b": echo}) as network:
            pairs = [("a", "b"), ("b", "a")] * 10
            await asyncio.gather(*(ask(network, *pair, xid) for xid, pair in enumerate(pairs, start=1)))

    @scenario
    async def test_strangers_are_refused(self) -> None:
        """A member of the network that is not a configured neighbour reaches nobody, whichever end does not know it."""
        heard = Heard()
        async with self.network({"c": heard}) as network:
            await _expect_failure(network["a"], "c", hello("a", "c"), {"refused"})
            network["a"].add_neighbour("c", await self.address(network, "c"))
            await _expect_failure(network["a"], "c", hello("a", "c"), {"refused", "unreachable"})
        assert heard == []

    async def address(self, network: Network, name: str) -> str:
        """Where to call `name`; overridden by transports that have addresses."""
        return "127.0.0.1:1"

    @scenario
    async def test_a_message_under_another_name_is_refused(self) -> None:
        """The name in the message must be the name in the certificate, for sender and receiver."""
        heard = Heard()
        async with self.network({"b": heard}) as network:
            for forged in (hello("c", "b"), hello("a", "c")):
                await _expect_failure(network["a"], "b", forged, {"refused", "invalid"})
        assert heard == []

    @scenario
    async def test_malformed_messages_never_reach_the_handler(self) -> None:
        """Wrong dimension, numbers beyond 2⁶⁰, x outside a request, half an interval, huge counters: refused."""
        heard, three, two = Heard(), np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.int64)
        async with self.network({"b": heard}) as network:
            for fields in (
                {"f": two},
                {"f": np.array([0, 2**60 + 1, 0])},
                {"g": np.array([0, -(2**63), 0])},
                {"x": three},
                {"kind": Kind.REQ},
                {"kind": Kind.REQ, "x": np.array([0, -(2**60) - 1, 0])},
                {"stop": Stop(1, low=three)},
                {"stop": Stop(1, low=three + 1, high=three)},
                {"stop": Stop(1, centre=two)},
                {"stop": Stop(1, around=Told(b"", 0, 0))},
                {"s": 2**62},
            ):
                await _expect_failure(network["a"], "b", hello("a", "b", **fields), {"refused", "invalid"})
        assert heard == []

    @scenario
    async def test_a_bad_reply_is_a_failed_call(self) -> None:
        """What a neighbour answers is checked as strictly as what it asks: its form, and the names in it."""
        for bad in (hello("b", "a", f=np.zeros(2, dtype=np.int64)), hello("c", "a"), hello("b", "c"), hello("a", "b")):

            async def handler(_src: str, _message: Message, answer: Message = bad) -> Message:
                return answer

            async with self.network({"b": handler}) as network:
                await _expect_failure(network["a"], "b", hello("a", "b"), {"invalid"})

    @scenario
    async def test_a_slow_neighbour_is_a_timeout_and_is_not_interrupted(self) -> None:
        """The caller gets a timeout; the other side still finishes what it was doing."""
        begun, may_end, finished = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def handler(_src: str, _message: Message) -> None:
            begun.set()
            await may_end.wait()
            finished.set()

        async with self.network({"b": handler}) as network:
            within = 0.15
            while not begun.is_set():  # a busy machine may need longer to connect and to deliver
                await _expect_failure(network["a"], "b", hello("a", "b"), {"timeout"}, within=within)
                within *= 2
            assert not finished.is_set()
            may_end.set()
            await asyncio.wait_for(finished.wait(), _PATIENCE)

    @scenario
    async def test_a_handler_that_fails_does_not_stop_the_service(self) -> None:
        """If handling fails the caller gets a failure without details, and the next call is served."""
        calls = 0

        async def handler(_src: str, _message: Message) -> None:
            nonlocal calls
            calls += 1
            if calls == 1:
                raise RuntimeError("3.14159 is private")

        async with self.network({"b": handler}) as network:
            failure = await _expect_failure(network["a"], "b", hello("a", "b"), {"unreachable", "invalid"})
            assert "3.14159" not in str(failure)
            assert await network["a"].call("b", hello("a", "b"), _PATIENCE) is None

    @scenario
    async def test_a_closed_neighbour_is_unreachable(self) -> None:
        """After close nobody answers, the caller learns it, and close may be repeated."""
        async with self.network({}) as network:
            assert await network["a"].call("b", hello("a", "b"), _PATIENCE) is None
            await network["b"].close()
            await network["b"].close()
            await _expect_failure(network["a"], "b", hello("a", "b"), {"unreachable", "timeout"}, within=1.0)

    @scenario
    async def test_dropped_neighbours_are_refused_in_both_directions(self) -> None:
        """After drop_neighbour neither end of ours speaks or listens; adding it again heals that."""
        async with self.network({}) as network:
            address = await self.address(network, "a")
            assert await network["a"].call("b", hello("a", "b"), _PATIENCE) is None
            await network["b"].drop_neighbour("a")
            await _expect_failure(network["a"], "b", hello("a", "b"), {"refused"})
            await _expect_failure(network["b"], "a", hello("b", "a"), {"refused"})
            network["b"].add_neighbour("a", address)
            assert await network["a"].call("b", hello("a", "b"), _PATIENCE) is None
            assert await network["b"].call("a", hello("b", "a"), _PATIENCE) is None


async def _expect_failure(
    transport: Transport, dst: str, message: Message, reasons: set[str], *, within: float = _PATIENCE
) -> CallFailed:
    try:
        await transport.call(dst, message, within)
    except CallFailed as error:
        failure = error
    else:
        raise AssertionError(f"a call that must fail with {reasons} succeeded")
    assert failure.reason in reasons, failure.reason
    assert failure.neighbour == dst
    return failure
