"""Rosters over real TLS: they travel, they change who is let in without a restart, and versions are told apart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from sottovoce import graphs
from sottovoce.errors import TemporaryFailure
from sottovoce.peer.membership.changes import current, install, publish, with_member, without_member
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.credentials import check_identity
from sottovoce.peer.membership.founding import found_network, join
from sottovoce.peer.membership.keys import make_identity
from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.transport.base import CallFailed
from sottovoce.peer.transport.grpc import GrpcTransport
from sottovoce.testing.stage import free_addresses
from sottovoce.testing.transport import hello

from ..helpers import Recorder, Society

PATIENCE = 60.0


async def silent(_src: str, _message: Message) -> None:
    """Handles a message and has nothing to say."""


class Rosters:
    """A handler for rosters that remembers what it was told, and answers with `ours`."""

    def __init__(self, ours: bytes | None) -> None:
        self.ours, self.told = ours, list[tuple[str, int, bytes | None]]()

    async def __call__(self, src: str, number: int, document: bytes | None) -> bytes | None:
        self.told.append((src, number, document))
        return self.ours


def triangle(folder: Path) -> dict[str, Path]:
    addresses = dict(zip(("p0", "p1", "p2"), free_addresses(3), strict=True))
    noise: dict[str, Any] = {"noise_std": 1.0, "noise_decay": 0.9, "smallest_std": None, "backoff_max": 0.2}
    return found_network("net", addresses, graphs.complete(3), folder / "net", **noise)


async def outcome(caller: GrpcTransport, dst: str) -> str:
    """How a greeting ends; given a few chances, because connections are made anew."""
    for _ in range(20):
        try:
            await caller.call(dst, hello(caller.name, dst), PATIENCE)
        except CallFailed as failure:
            found: str = failure.reason
            if found == "refused":
                return found
            await asyncio.sleep(0.1)
        else:
            return "answered"
    return found


def test_a_roster_is_asked_for_and_handed_over(tmp_path: Path) -> None:
    """The behind end gets the document byte for byte, and one that is handed over arrives the same."""

    async def scenario() -> None:
        configs = [PeerConfig.load(path) for path in triangle(tmp_path).values()]
        one, other = (GrpcTransport.from_config(config) for config in configs[:2])
        document = bytes(range(256)) * 200
        rosters = Rosters(document)
        await other.serve(silent, rosters)
        try:
            assert await one.ask_roster("p1", 7, None, PATIENCE) == document
            rosters.ours = None
            assert await one.ask_roster("p1", 8, document, PATIENCE) is None
            assert rosters.told == [("p0", 7, None), ("p0", 8, document)]
        finally:
            await one.close()
            await other.close()

    asyncio.run(scenario())


def test_a_member_that_is_no_neighbour_gets_no_roster(tmp_path: Path) -> None:
    """Only neighbours are answered, about rosters too."""

    async def scenario() -> None:
        configs = [PeerConfig.load(path) for path in triangle(tmp_path).values()]
        one, other = (GrpcTransport.from_config(config) for config in configs[:2])
        rosters = Rosters(b"secret enough")
        await other.serve(silent, rosters)
        await other.drop_neighbour("p0")
        try:
            with pytest.raises(CallFailed, match="refused"):
                await one.ask_roster("p1", 0, None, PATIENCE)
            assert rosters.told == []
        finally:
            await one.close()
            await other.close()

    asyncio.run(scenario())


def test_who_is_let_in_follows_the_roster_without_a_restart(tmp_path: Path) -> None:
    """A new member is let in at the same port, and one that is gone is refused; the others stay connected."""
    files = triangle(tmp_path)
    folder = tmp_path / "net"

    async def scenario() -> None:
        home = GrpcTransport.from_config(PeerConfig.load(files["p0"]))
        friend = GrpcTransport.from_config(PeerConfig.load(files["p1"]))
        leaver = GrpcTransport.from_config(PeerConfig.load(files["p2"]))
        await home.serve(silent)
        port = home.port
        assert [await outcome(peer, "p0") for peer in (friend, leaver)] == ["answered", "answered"]
        _, card = make_identity("p3", "net", folder / "p3", address=free_addresses(1)[0])
        added = publish(folder, with_member(current(folder), card, ["p0", "p1"], ["p0", "p1", "p2", "p3"]))
        config = join(folder / "p3", card, added, smallest_std=0.0, backoff_max=0.2)
        newcomer = GrpcTransport.from_config(PeerConfig.load(config))
        assert await outcome(newcomer, "p0") != "answered"
        install(PeerConfig.load(files["p0"]), added)
        room = home._admission.most_bytes
        await home.renew(PeerConfig.load(files["p0"]))
        assert home.port == port
        assert home._admission.most_bytes > room  # messages of a larger network may be longer
        assert [await outcome(peer, "p0") for peer in (friend, leaver, newcomer)] == ["answered"] * 3
        install(PeerConfig.load(files["p0"]), publish(folder, without_member(added.roster, "p2")))
        await home.renew(PeerConfig.load(files["p0"]))
        assert [await outcome(peer, "p0") for peer in (friend, newcomer)] == ["answered", "answered"]
        assert await outcome(leaver, "p0") != "answered"
        for peer in (home, friend, leaver, newcomer):
            await peer.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("moments", [*range(12), 100])
def test_nothing_is_open_after_closing_while_a_roster_is_taken_up(tmp_path: Path, moments: int) -> None:
    """At whatever moment, also while a silent call keeps the old server from ending: the port is free, and stays so."""
    files = triangle(tmp_path)

    async def scenario() -> None:
        home = GrpcTransport.from_config(PeerConfig.load(files["p0"]))
        await home.serve(silent)
        following = publish(tmp_path / "net", without_member(current(tmp_path / "net"), "p2"))
        install(PeerConfig.load(files["p0"]), following)
        own = check_identity(PeerConfig.load(files["p1"]))
        credentials = grpc.ssl_channel_credentials(own.members["p0"], own.key, own.certificate)
        options = [("grpc.ssl_target_name_override", "p0.net")]
        async with aio.secure_channel(f"127.0.0.1:{home.port}", credentials, options=options) as channel:
            call = channel.stream_stream("/sottovoce.peer.v2.Peer/Tell")()
            await call.wait_for_connection()
            while not home._admission._desks["p1"].streams:
                await asyncio.sleep(0.01)
            renewing = asyncio.create_task(home.renew(PeerConfig.load(files["p0"])))
            for _ in range(moments):
                await asyncio.sleep(0 if moments < 100 else 0.002)
            await home.close()
            with pytest.raises(TemporaryFailure, match="has been closed"):
                await asyncio.wait_for(renewing, PATIENCE)
            call.cancel()
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", home.port)

    asyncio.run(scenario())


def test_another_wire_version_is_answered_in_a_sentence() -> None:
    """A caller of an earlier or later version reads which one is spoken here; other services are not known."""
    society = Society("a", "b")

    async def scenario() -> None:
        target = society.transport("b", neighbours={"a": "127.0.0.1:1"})
        await target.serve(silent)
        own = society.credentials("a")
        credentials = grpc.ssl_channel_credentials(own.members["b"], own.key, own.certificate)
        options = [("grpc.ssl_target_name_override", "b.net")]
        async with aio.secure_channel(f"127.0.0.1:{target.port}", credentials, options=options) as channel:
            for method, code in (
                ("/sottovoce.peer.v1.Peer/Tell", grpc.StatusCode.FAILED_PRECONDITION),
                ("/sottovoce.peer.v3.Peer/Tell", grpc.StatusCode.FAILED_PRECONDITION),
                ("/other.Service/Tell", grpc.StatusCode.UNIMPLEMENTED),
            ):
                with pytest.raises(aio.AioRpcError) as caught:
                    await channel.unary_unary(method)(b"", timeout=PATIENCE)
                assert caught.value.code() is code
                if code is grpc.StatusCode.FAILED_PRECONDITION:
                    assert caught.value.details() == "this peer has wire version 2 and the caller another"
        await target.close()

    asyncio.run(scenario())


def test_a_neighbour_of_another_version_is_named_in_the_log() -> None:
    """The caller's side says so too, once, and not only that a call was invalid."""
    society, observer = Society("a", "b"), Recorder()

    async def scenario() -> None:
        server = aio.server()
        own = society.credentials("b")
        port = server.add_secure_port(
            "127.0.0.1:0", grpc.ssl_server_credentials([(own.key, own.certificate)], own.members["a"], True)
        )
        await server.start()
        caller = society.transport("a", observer, neighbours={"b": f"127.0.0.1:{port}"})
        with pytest.raises(CallFailed):
            await caller.call("b", hello("a", "b"), PATIENCE)
        assert [fields["detail"] for _, _, fields in observer.lines] == [
            "this peer has wire version 2 and the neighbour another"
        ]
        await caller.close()
        await server.stop(None)

    asyncio.run(scenario())
