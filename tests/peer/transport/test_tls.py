"""TLS fails closed: every kind of stranger is refused at a real socket, and the refusal is noticed."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import grpc
import pytest
from grpc import aio

from sottovoce.errors import PeerError, TemporaryFailure
from sottovoce.peer.membership.credentials import Credentials
from sottovoce.peer.membership.keys import key_pem, new_key, self_signed
from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.transport.base import CallFailed, HeldAnswer
from sottovoce.peer.transport.grpc import GrpcTransport
from sottovoce.testing.transport import hello

from ..helpers import Recorder, Society, make_config

SOCIETY = Society("a", "b", "c")
PATIENCE = 60.0


class Called(list[str]):
    """A handler that remembers who called."""

    async def __call__(self, src: str, message: Message) -> None:
        self.append(src)


@asynccontextmanager
async def serving(
    called: Called, observer: Recorder, name: str = "b", credentials: Credentials | None = None
) -> AsyncIterator[GrpcTransport]:
    """Peer `name`, whose only neighbour is a."""
    config = make_config(name, neighbours={"a": "127.0.0.1:1"})
    transport = GrpcTransport(config, credentials or SOCIETY.credentials(name), observer)
    await transport.serve(called)
    try:
        yield transport
    finally:
        await transport.close()


async def attempt(caller: GrpcTransport, port: int) -> str:
    """How a call from `caller` to the peer "b" at `port` ends."""
    caller.add_neighbour("b", f"127.0.0.1:{port}")
    try:
        await caller.call("b", hello(caller.name, "b"), PATIENCE)
    except CallFailed as failure:
        return failure.reason
    finally:
        await caller.close()
    return "answered"


def with_certificate(*names: str, days: float = 30, society: Society = SOCIETY) -> GrpcTransport:
    """Somebody who calls itself a, with a key of its own and a certificate of its own making."""
    key = new_key()
    own = replace(society.credentials("a"), certificate=self_signed(key, *names, days=days).encode(), key=key_pem(key))
    return GrpcTransport(make_config("a"), own, Recorder())


def test_a_neighbour_is_answered() -> None:
    """The control: with the certificate that the roster holds the call arrives under its name."""

    async def scenario() -> None:
        called, observer = Called(), Recorder()
        async with serving(called, observer) as b:
            assert await attempt(SOCIETY.transport("a"), b.port) == "answered"
        assert called == ["a"]
        assert observer.events == []

    asyncio.run(scenario())


@pytest.mark.parametrize("names", [("a.net",), ("a.net", "c.net"), ("c.net", "a.net"), ("a.sister",)], ids=" ".join)
def test_another_certificate_in_a_neighbours_name_is_refused(names: tuple[str, ...]) -> None:
    """Whoever made it: only the very key in the roster speaks for a neighbour, and no handler hears of it."""

    async def scenario() -> None:
        called = Called()
        async with serving(called, Recorder()) as b:
            assert await attempt(with_certificate(*names), b.port) == "unreachable"  # b hangs up in the handshake
        assert called == []

    asyncio.run(scenario())


@pytest.mark.parametrize("names", [("a.net", "c.net"), ("c.net", "a.net"), ("a.net", "a.net")], ids=" ".join)
def test_a_certificate_with_two_names_is_refused(names: tuple[str, str]) -> None:
    """Even if it were believed in the handshake and one name is a neighbour's: its holder could be either."""

    async def scenario() -> None:
        called, observer, key = Called(), Recorder(), new_key()
        both = self_signed(key, *names)
        own = replace(SOCIETY.credentials("a"), certificate=both.encode(), key=key_pem(key))
        async with serving(called, observer, credentials=SOCIETY.credentials("b", a=both)) as b:
            assert await attempt(GrpcTransport(make_config("a"), own), b.port) == "refused"
        assert called == []
        assert observer.names == {"refused-not-a-neighbour"}

    asyncio.run(scenario())


def test_a_certificate_that_a_member_signed_is_refused() -> None:
    """A neighbour's certificate is no authority: what its key signs, even for its own name, is worth nothing."""

    async def scenario() -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.serialization import Encoding

        key = new_key()
        parent = x509.load_pem_x509_certificate(SOCIETY.certificates["a"].encode())
        child = x509.load_pem_x509_certificate(self_signed(key, "a.net").encode())
        builder = x509.CertificateBuilder(
            parent.subject, child.subject, key.public_key(), child.serial_number,
            child.not_valid_before_utc, child.not_valid_after_utc, list(child.extensions),
        )  # fmt: skip
        signed = builder.sign(SOCIETY.keys["a"], hashes.SHA256()).public_bytes(Encoding.PEM)
        chain = signed + SOCIETY.certificates["a"].encode()
        called = Called()
        async with serving(called, Recorder()) as b:
            own = replace(SOCIETY.credentials("a"), certificate=chain, key=key_pem(key))
            assert await attempt(GrpcTransport(make_config("a"), own), b.port) == "unreachable"
        assert called == []

    asyncio.run(scenario())


def test_an_expired_certificate_is_refused() -> None:
    """A certificate past its term does not get in, although the roster holds it and its holder ignores the term."""

    async def scenario() -> None:
        called, late = Called(), Society("a", days=-1)
        server = SOCIETY.credentials("b", a=late.certificates["a"])
        own = replace(
            SOCIETY.credentials("a"), certificate=late.certificates["a"].encode(), key=key_pem(late.keys["a"])
        )
        async with serving(called, Recorder(), credentials=server) as b:
            assert await attempt(GrpcTransport(make_config("a"), own), b.port) == "unreachable"
        assert called == []

    asyncio.run(scenario())


def test_a_member_that_is_no_neighbour_is_refused() -> None:
    """Being in the roster is not enough: c is a member, but b's only neighbour is a."""

    async def scenario() -> None:
        called = Called()
        async with serving(called, Recorder()) as b:
            assert await attempt(SOCIETY.transport("c"), b.port) == "refused"
        assert called == []

    asyncio.run(scenario())


def test_neighbours_come_and_go_without_a_restart() -> None:
    """An added neighbour is heard at once; a dropped one is refused, on the connection it has and on new ones."""

    async def scenario() -> None:
        called, observer = Called(), Recorder()
        async with serving(called, observer) as b:
            b.add_neighbour("c", "127.0.0.1:1")
            assert await attempt(SOCIETY.transport("c"), b.port) == "answered"
            connected = SOCIETY.transport("a", neighbours={"b": f"127.0.0.1:{b.port}"})
            await connected.call("b", hello("a", "b"), PATIENCE)
            await b.drop_neighbour("a")
            with pytest.raises(CallFailed, match="refused"):
                await connected.call("b", hello("a", "b"), PATIENCE)
            await connected.close()
            assert await attempt(SOCIETY.transport("a"), b.port) == "refused"
        assert called == ["c", "a"]
        assert observer.events == [("refused-not-a-neighbour", "")] * 2
        assert observer.lines[0][2]["certificate"] == "a.net"

    asyncio.run(scenario())


def test_an_impostor_at_the_neighbours_address_is_refused() -> None:
    """The caller insists on its neighbour's key: another member there, or a second key in b's name, learns nothing."""

    async def scenario() -> None:
        called, observer = Called(), Recorder()
        second = Society("b", "a")
        for impostor in (SOCIETY.credentials("c"), second.credentials("b", a=SOCIETY.certificates["a"])):
            async with serving(called, Recorder(), credentials=impostor) as there:
                assert await attempt(SOCIETY.transport("a", observer), there.port) == "refused"
        assert called == []
        assert observer.events == [("call-failed-refused", "b")] * 2

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", ["no certificate", "plaintext"])
def test_no_certificate_and_plaintext_are_refused(kind: str) -> None:
    """Without a certificate of one's own, or without TLS, there is no answer."""

    async def scenario() -> None:
        called = Called()
        async with serving(called, Recorder()) as b:
            target, options = f"127.0.0.1:{b.port}", [("grpc.ssl_target_name_override", "b.net")]
            if kind == "plaintext":
                channel = aio.insecure_channel(target)
            else:
                trusted = grpc.ssl_channel_credentials(SOCIETY.certificates["b"].encode())
                channel = aio.secure_channel(target, trusted, options=options)
            with pytest.raises(aio.AioRpcError) as caught:
                await channel.unary_unary("/sottovoce.peer.v2.Peer/Tell")(b"", timeout=PATIENCE)
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            await channel.close()
        assert called == []

    asyncio.run(scenario())


def test_without_neighbours_nobody_is_believed() -> None:
    """A peer that has dropped everybody refuses even a certificate in its own name."""

    async def scenario() -> None:
        called = Called()
        async with serving(called, Recorder()) as b:
            await b.drop_neighbour("a")
            for name in ("a", "b"):
                caller = GrpcTransport(make_config("a"), SOCIETY.credentials(name, b=SOCIETY.certificates["b"]))
                assert await attempt(caller, b.port) in ("unreachable", "refused")
        assert called == []

    asyncio.run(scenario())


def test_a_port_in_use_is_bad_input() -> None:
    """The second peer on a port gets one sentence, not half of the first one's traffic."""

    async def scenario() -> None:
        async with serving(Called(), Recorder()) as b:
            other = SOCIETY.transport("c", listen=f"127.0.0.1:{b.port}")
            with pytest.raises(TemporaryFailure, match="listen"):
                await other.serve(Called())

    asyncio.run(scenario())


def test_one_reachable_end_is_enough() -> None:
    """A peer that does not listen calls and is answered; calls to it fail at once, without a try."""

    async def scenario() -> None:
        called, observer = Called(), Recorder()
        async with serving(called, observer) as b:
            a = SOCIETY.transport("a", listen=None, neighbours={"b": f"127.0.0.1:{b.port}"})
            await a.serve(Called())
            await a.call("b", hello("a", "b"), PATIENCE)
            b.add_neighbour("a", None)
            with pytest.raises(CallFailed, match="unreachable"):
                await b.call("a", hello("b", "a"), PATIENCE)
            await a.close()
        assert called == ["a"]
        assert observer.events == []

    asyncio.run(scenario())


def test_a_flood_of_refusals_is_counted_but_not_all_logged() -> None:
    """Every refusal counts; the log gets about one line a second about the same thing."""

    async def scenario() -> None:
        observer = Recorder()
        async with serving(Called(), observer) as b:
            caller = SOCIETY.transport("a", neighbours={"b": f"127.0.0.1:{b.port}"})
            await caller.call("b", hello("a", "b"), PATIENCE)
            await b.drop_neighbour("a")
            for _ in range(20):
                with pytest.raises(CallFailed):
                    await caller.call("b", hello("a", "b"), PATIENCE)
            await caller.close()
        assert len(observer.events) == 20
        assert 1 <= len(observer.lines) < 20

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("failure", "counted"), [(PeerError("the disk is full"), 20), (TemporaryFailure("stopped"), 0)]
)
def test_only_failures_are_counted_and_not_all_are_logged(failure: PeerError, counted: int) -> None:
    """A handler that fails is logged about once a second; one of a peer that is stopping has not failed."""

    async def handler(_src: str, _message: Message) -> None:
        raise failure

    async def scenario() -> None:
        observer = Recorder()
        server = SOCIETY.transport("b", observer, neighbours={"a": "127.0.0.1:1"})
        await server.serve(handler)
        caller = SOCIETY.transport("a", neighbours={"b": f"127.0.0.1:{server.port}"})
        for _ in range(20):
            with pytest.raises(CallFailed, match="unreachable"):
                await caller.call("b", hello("a", "b"), PATIENCE)
        await caller.close()
        await server.close()
        assert observer.events == [("handler-failed", "a")] * counted
        assert bool(counted) <= len(observer.lines) <= counted // 2

    asyncio.run(scenario())


def test_clocks_out_of_step_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A neighbour whose clock is minutes away is answered, but the difference is logged and counted."""

    async def scenario() -> None:
        observer = Recorder()
        async with serving(Called(), observer) as b:
            caller = SOCIETY.transport("a")
            monkeypatch.setattr(caller, "_now", lambda: 0.0)
            assert await attempt(caller, b.port) == "answered"
        assert observer.events == [("clock-skew", "a")]

    asyncio.run(scenario())


def test_an_answer_that_is_held_back_keeps_no_other_waiting() -> None:
    """R94: while one call of a neighbour waits for its answer the next is answered; who hangs up is forgotten."""
    held: list[HeldAnswer] = []

    def handler(_src: str, message: Message) -> asyncio.Future[Message | None]:
        if message.xid:
            return asyncio.ensure_future(asyncio.sleep(0, None))
        held.append(HeldAnswer())
        return held[-1]

    async def scenario() -> None:
        server = GrpcTransport(make_config("b", neighbours={"a": "127.0.0.1:1"}), SOCIETY.credentials("b"), Recorder())
        await server.serve(handler)
        caller = SOCIETY.transport("a")
        caller.add_neighbour("b", f"127.0.0.1:{server.port}")
        first = asyncio.create_task(caller.call("b", hello("a", "b"), 60.0))
        while not held:
            await asyncio.sleep(0.01)
        assert await caller.call("b", replace(hello("a", "b"), xid=1), 60.0) is None
        assert not first.done()
        held[0].set_result(hello("b", "a"))
        assert await first == hello("b", "a")
        with pytest.raises(CallFailed, match="timeout"):
            await caller.call("b", hello("a", "b"), 0.5)
        while not held[1].done():
            await asyncio.sleep(0.01)
        assert held[1].cancelled()
        await caller.close()
        await server.close()

    asyncio.run(scenario())


def test_answers_that_are_held_back_take_no_places_that_are_needed() -> None:
    """With messages so long that three calls are allowed, a fourth ends the first that waits, and is not refused."""
    held: list[HeldAnswer] = []

    def handler(_src: str, _message: Message) -> HeldAnswer:
        held.append(HeldAnswer())
        return held[-1]

    async def scenario() -> None:
        observer, long = Recorder(), {"longest_topic": 10**6}
        server = SOCIETY.transport("b", observer, neighbours={"a": "127.0.0.1:1"}, **long)
        await server.serve(handler)
        caller = SOCIETY.transport("a", neighbours={"b": f"127.0.0.1:{server.port}"}, **long)
        try:
            calls = []
            for _ in range(6):
                before = len(held)
                calls.append(asyncio.create_task(caller.call("b", hello("a", "b"), PATIENCE)))
                while len(held) == before and not calls[-1].done():
                    await asyncio.sleep(0.01)
            assert [call.done() for call in calls[3:]] == [False, False, False]
            assert [await call for call in calls[:3]] == [None, None, None]
            for answer in held[3:]:
                answer.set_result(hello("b", "a"))
            assert [await call for call in calls[3:]] == [hello("b", "a")] * 3
            assert observer.events == []
            assert server._admission._desks["a"].held == []
        finally:
            await caller.close()
            await server.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("moments", range(6))
def test_a_transport_that_is_cancelled_while_it_starts_can_be_closed(moments: int) -> None:
    """At whatever moment: nothing is logged, nothing is left to the garbage collector, and the port is free again."""
    trouble: list[dict[str, object]] = []

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, what: trouble.append(what))
        server = SOCIETY.transport("b", neighbours={"a": "127.0.0.1:1"})
        starting = asyncio.create_task(server.serve(Called()))
        for _ in range(moments):
            await asyncio.sleep(0)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await server.close()
        again = SOCIETY.transport("b", neighbours={"a": "127.0.0.1:1"}, listen=f"127.0.0.1:{server.port or 0}")
        await again.serve(Called())
        await again.close()

    asyncio.run(scenario())
    gc.collect()
    assert trouble == []


def test_dropping_a_neighbour_ends_the_calls_to_it_and_nothing_else() -> None:
    """A call under way when its neighbour is dropped fails like any other; whoever waits for it is not cancelled."""
    called = asyncio.Queue[str]()

    async def slow(src: str, _message: Message) -> None:
        called.put_nowait(src)
        await asyncio.sleep(PATIENCE)

    async def scenario() -> None:
        server = GrpcTransport(make_config("b", neighbours={"a": "127.0.0.1:1"}), SOCIETY.credentials("b"), Recorder())
        await server.serve(slow)
        caller = SOCIETY.transport("a")
        caller.add_neighbour("b", f"127.0.0.1:{server.port}")
        waiting = asyncio.create_task(caller.call("b", hello("a", "b"), PATIENCE))
        await called.get()
        await caller.drop_neighbour("b")
        with pytest.raises(CallFailed, match="unreachable"):
            await waiting
        caller.add_neighbour("b", f"127.0.0.1:{server.port}")
        waiting = asyncio.create_task(caller.call("b", hello("a", "b"), PATIENCE))
        await called.get()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):  # whereas our own wish is obeyed
            await waiting
        await caller.close()
        await server.close()

    asyncio.run(scenario())
