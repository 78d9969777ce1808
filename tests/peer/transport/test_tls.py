"""TLS fails closed: every kind of stranger is refused at a real socket, and the refusal is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from grpc import aio

from sottovoce.errors import ConfigError
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.identity import Authority, Credentials, check_identity
from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.transport.base import CallFailed
from sottovoce.peer.transport.grpc import GrpcTransport
from sottovoce.testing.transport import hello

from ..helpers import Recorder, certify, make_config, make_identity


class Called(list[str]):
    """A handler that remembers who called."""

    async def __call__(self, src: str, message: Message) -> None:
        self.append(src)


@asynccontextmanager
async def serving(config: PeerConfig, called: Called, observer: Recorder) -> AsyncIterator[GrpcTransport]:
    transport = GrpcTransport.from_config(config, observer)
    await transport.serve(called)
    try:
        yield transport
    finally:
        await transport.close()


async def attempt(caller: GrpcTransport, port: int) -> str:
    """How a call from `caller` to the peer "b" at `port` ends."""
    caller.add_neighbour("b", f"127.0.0.1:{port}")
    try:
        await caller.call("b", hello(caller.name, "b"), 3.0)
    except CallFailed as failure:
        return failure.reason
    finally:
        await caller.close()
    return "answered"


def unchecked(config: PeerConfig, observer: Recorder | None = None) -> GrpcTransport:
    """A transport that skips our own check of the files, as a hostile implementation would."""
    assert config.tls is not None
    files = config.tls
    import datetime as dt

    return GrpcTransport(
        config,
        Credentials(
            files.certificate.read_bytes(),
            files.key.read_bytes(),
            files.authority.read_bytes(),
            dt.datetime.now(dt.UTC),
        ),
        observer,
    )


@pytest.fixture
def authority() -> Authority:
    return Authority.create("net")


@pytest.fixture
def server(tmp_path: Path, authority: Authority) -> PeerConfig:
    return make_identity("b", tmp_path / "b", authority, neighbours={"a": "127.0.0.1:1"})


def test_a_neighbour_is_answered(tmp_path: Path, authority: Authority, server: PeerConfig) -> None:
    """The control: with the right certificate the call arrives under its name."""

    async def scenario() -> None:
        called, observer = Called(), Recorder()
        async with serving(server, called, observer) as b:
            caller = GrpcTransport.from_config(make_identity("a", tmp_path / "a", authority))
            assert await attempt(caller, b.port) == "answered"
        assert called == ["a"]
        assert observer.events == []

    asyncio.run(scenario())


def test_another_networks_certificate_is_refused(tmp_path: Path, authority: Authority, server: PeerConfig) -> None:
    """Same names, other authority: neither side talks, whichever trusts the other."""

    async def scenario() -> None:
        called = Called()
        own = make_identity("a", tmp_path / "a", Authority.create("net"))
        async with serving(server, called, Recorder()) as b:
            observer = Recorder()
            assert await attempt(unchecked(own, observer), b.port) == "refused"  # the caller refuses b
            assert "call-failed-refused" in observer.names
            assert server.tls is not None
            assert own.tls is not None
            own.tls.authority.write_bytes(server.tls.authority.read_bytes())  # now it would trust b ...
            assert await attempt(unchecked(own), b.port) == "unreachable"  # ... but b hangs up
        assert called == []

    asyncio.run(scenario())


def test_an_expired_certificate_is_refused(tmp_path: Path, authority: Authority, server: PeerConfig) -> None:
    """A certificate past its term does not get in, even if its holder ignores that."""

    async def scenario() -> None:
        called = Called()
        own = make_identity("a", tmp_path / "a", authority, days=-1)
        with pytest.raises(ConfigError, match="expired"):
            check_identity(own)
        async with serving(server, called, Recorder()) as b:
            assert await attempt(unchecked(own), b.port) == "unreachable"
        assert called == []

    asyncio.run(scenario())


def test_a_member_that_is_no_neighbour_is_refused(tmp_path: Path, authority: Authority, server: PeerConfig) -> None:
    """A valid certificate of the network is not enough: the name must be a configured neighbour's."""

    async def scenario() -> None:
        called, observer = Called(), Recorder()
        async with serving(server, called, observer) as b:
            caller = GrpcTransport.from_config(make_identity("c", tmp_path / "c", authority))
            assert await attempt(caller, b.port) == "refused"
        assert called == []
        assert observer.events == [("refused-not-a-neighbour", "")]
        assert observer.lines[0][2]["certificate"] == "c.net"

    asyncio.run(scenario())


def test_the_same_name_in_a_sister_network_is_refused(tmp_path: Path, authority: Authority, server: PeerConfig) -> None:
    """If one authority signed two networks, the network's name in the certificate still decides."""

    async def scenario() -> None:
        called, observer = Called(), Recorder()
        sister = Authority("sister", authority.certificate, authority.key)
        own = make_identity("a", tmp_path / "a", sister, network="sister")
        async with serving(server, called, observer) as b:
            caller = GrpcTransport.from_config(own)
            caller.network = "net"  # it knows whom it calls
            assert await attempt(caller, b.port) == "refused"
        assert called == []
        assert observer.names == {"refused-not-a-neighbour"}

    asyncio.run(scenario())


@pytest.mark.parametrize("names", [("a.net", "c.net"), ("c.net", "a.net"), ("a.net", "a.net")], ids=" ".join)
def test_a_certificate_with_two_names_is_refused(
    tmp_path: Path, authority: Authority, server: PeerConfig, names: tuple[str, str]
) -> None:
    """Even if the authority signed it and one name is a neighbour's: its holder could be either, as it likes."""

    async def scenario() -> None:
        called, observer = Called(), Recorder()
        own = make_config("a", tmp_path / "a", tls=certify(authority, tmp_path / "a", *names))
        async with serving(server, called, observer) as b:
            assert await attempt(unchecked(own), b.port) == "refused"
        assert called == []
        assert observer.names == {"refused-not-a-neighbour"}

    asyncio.run(scenario())


def test_an_impostor_at_the_neighbours_address_is_refused(tmp_path: Path, authority: Authority) -> None:
    """The caller insists on its neighbour's name; another member at that address learns nothing."""

    async def scenario() -> None:
        called, observer = Called(), Recorder()
        impostor = make_identity("c", tmp_path / "c", authority, neighbours={"a": "127.0.0.1:1"})
        async with serving(impostor, called, Recorder()) as c:
            caller = GrpcTransport.from_config(make_identity("a", tmp_path / "a", authority), observer)
            assert await attempt(caller, c.port) == "refused"
        assert called == []
        assert ("call-failed-refused", "b") in observer.events

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", ["no certificate", "plaintext"])
def test_no_certificate_and_plaintext_are_refused(server: PeerConfig, kind: str) -> None:
    """Without a certificate of one's own, or without TLS, there is no answer."""

    async def scenario() -> None:
        called = Called()
        async with serving(server, called, Recorder()) as b:
            assert server.tls is not None
            target, options = f"127.0.0.1:{b.port}", [("grpc.ssl_target_name_override", "b.net")]
            if kind == "plaintext":
                channel = aio.insecure_channel(target)
            else:
                trusted = grpc.ssl_channel_credentials(server.tls.authority.read_bytes())
                channel = aio.secure_channel(target, trusted, options=options)
            with pytest.raises(aio.AioRpcError) as caught:
                await channel.unary_unary("/sottovoce.peer.v1.Peer/Tell")(b"", timeout=3)
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            await channel.close()
        assert called == []

    asyncio.run(scenario())


def test_a_port_in_use_is_bad_input(tmp_path: Path, authority: Authority, server: PeerConfig) -> None:
    """The second peer on a port gets one sentence, not half of the first one's traffic."""

    async def scenario() -> None:
        async with serving(server, Called(), Recorder()) as b:
            other = make_identity("c", tmp_path / "c", authority, listen=f"127.0.0.1:{b.port}")
            with pytest.raises(ConfigError, match="listen"):
                await GrpcTransport.from_config(other).serve(Called())

    asyncio.run(scenario())


def test_a_flood_of_refusals_is_counted_but_not_all_logged(
    tmp_path: Path, authority: Authority, server: PeerConfig
) -> None:
    """Every refusal counts; the log gets about one line a second about the same thing."""

    async def scenario() -> None:
        observer = Recorder()
        async with serving(server, Called(), observer) as b:
            caller = GrpcTransport.from_config(make_identity("c", tmp_path / "c", authority))
            caller.add_neighbour("b", f"127.0.0.1:{b.port}")
            for _ in range(20):
                with pytest.raises(CallFailed):
                    await caller.call("b", hello("c", "b"), 3.0)
            await caller.close()
        assert len(observer.events) == 20
        assert 1 <= len(observer.lines) < 20

    asyncio.run(scenario())


def test_clocks_out_of_step_are_noticed(
    tmp_path: Path, authority: Authority, server: PeerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A neighbour whose clock is minutes away is answered, but the difference is logged and counted."""

    async def scenario() -> None:
        observer = Recorder()
        async with serving(server, Called(), observer) as b:
            caller = GrpcTransport.from_config(make_identity("a", tmp_path / "a", authority))
            monkeypatch.setattr(caller, "_now", lambda: 0.0)
            assert await attempt(caller, b.port) == "answered"
        assert observer.events == [("clock-skew", "a")]

    asyncio.run(scenario())
