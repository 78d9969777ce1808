"""A whole peer, with TLS and a database, attacked by a neighbour with a valid certificate."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from grpc import aio

from sottovoce import graphs
from sottovoce.peer import Peer
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.credentials import check_identity
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.process.metrics import PeerObserver
from sottovoce.peer.protocol.messages import Kind, Message, Stop
from sottovoce.peer.store.sqlite import read_state
from sottovoce.peer.transport.codec import Codec
from sottovoce.testing.stage import free_addresses

METHOD = "/sottovoce.peer.v2.Peer/Tell"
SECRET = 31415.92653
CODEC = Codec(1, 2)
UNIT = 10**6


@pytest.fixture
def pair(tmp_path: Path) -> list[PeerConfig]:
    """ada, who almost never calls by herself, and bob, whom this test plays."""
    made = found_network(
        "net", dict(zip(("ada", "bob"), free_addresses(2), strict=True)), graphs.path(2), tmp_path / "net",
        noise_std=1.0, noise_decay=0.9, smallest_std=0.1, rate=1e-6, sync_interval=1e6,
    )  # fmt: skip
    return [PeerConfig.load(path) for path in made.values()]


def as_bob(ada: PeerConfig, bob: PeerConfig) -> aio.Channel:
    own = check_identity(bob)
    trusted = grpc.ssl_channel_credentials(own.members["ada"], own.key, own.certificate)
    return aio.secure_channel(ada.listen, trusted, options=[("grpc.ssl_target_name_override", "ada.net")])


def durable(config: PeerConfig) -> str:
    """Everything in a stopped peer's store, bit for bit."""
    assert config.data_dir is not None
    state: Any = read_state(config.data_dir)
    edges = {name: [getattr(edge, field) for field in ("sid", "psid", "blank", "s", "f", "r", "g", "parted")]
             for name, edge in state.edges.items()}  # fmt: skip
    noise = None if state.noise is None else state.noise.tobytes()
    return repr((state.value.tobytes(), noise, state.account, state.fresh, state.requests, edges))


async def run_under(ada: PeerConfig, fire: Any) -> PeerObserver:
    """Run ada while `fire` talks to her."""
    observer = PeerObserver()
    async with Peer(ada, value=np.array([SECRET]), observer=observer) as peer:
        await fire()
        assert str(SECRET)[:8] not in repr(peer.status().to_dict())
    return observer


def hello(**fields: Any) -> Message:
    return Message(
        **({"kind": Kind.HELLO, "src": "bob", "dst": "ada", "src_sid": 7, "dst_sid": 0, "blank": True} | fields)
    )


def test_refused_messages_leave_the_store_as_it_was(pair: list[PeerConfig]) -> None:
    """Bytes that are no message, numbers that are too large and forged names change not one bit of the state."""
    ada, bob = pair
    generator = random.Random(3)
    nothing = np.array([2**60 + 1])
    bad = [generator.randbytes(generator.randint(0, 200)) for _ in range(100)]
    bad += [
        CODEC.encode(message)
        for message in (
            hello(src="eve"),
            hello(dst="eve"),
            hello(f=nothing),
            hello(kind=Kind.REQ, x=nothing),
            hello(kind=Kind.REQ, x=np.zeros(2, dtype=np.int64)),
            hello(s=2**62),
            hello(stop=Stop(1, low=np.zeros(1, dtype=np.int64))),
        )
    ]

    async def quiet() -> None:
        await asyncio.sleep(0.2)

    async def fire() -> None:
        channel = as_bob(ada, bob)
        for content in bad:
            with pytest.raises(aio.AioRpcError) as caught:
                await channel.unary_unary(METHOD)(content, timeout=60)
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        await channel.close()

    asyncio.run(run_under(ada, quiet))
    before = durable(ada)
    observer = asyncio.run(run_under(ada, fire))
    assert durable(ada) == before
    assert observer.counts("refused-invalid-message") == {"refused-invalid-message": len(bad)}


def test_any_well_formed_message_leaves_a_working_peer(pair: list[PeerConfig]) -> None:
    """A hostile neighbour may say anything the format allows: ada keeps her value, her budget, and goes on."""
    ada, bob = replace(pair[0], bucket_refill=1e9, bucket_burst=1e9), pair[1]
    generator = random.Random(4)

    def vector() -> np.ndarray | None:
        return generator.choice([None, np.array([round(generator.gauss(0, 10.0 ** generator.randint(0, 16)))])])

    def anything() -> Message:
        kind, counter = generator.choice(list(Kind)), lambda: generator.choice([0, 1, 2, generator.randrange(2**62)])
        x = np.array([round(generator.gauss(0, 1e9))])
        return hello(
            kind=kind, src_sid=counter(), dst_sid=counter(), blank=generator.random() < 0.3, s=counter(), r=counter(),
            f=vector(), g=vector(), xid=counter(), x=x if kind is Kind.REQ else None,
        )  # fmt: skip

    async def fire() -> None:
        channel = as_bob(ada, bob)
        known = 0
        for _ in range(300):
            message = anything()
            if generator.random() < 0.7:  # often enough the life that ada really has, so that it is believed
                message = replace(message, dst_sid=known)
            try:
                content = await channel.unary_unary(METHOD)(CODEC.encode(message), timeout=60)
                reply = CODEC.decode(content, src="ada", dst="bob")
            except aio.AioRpcError as error:
                assert error.code() in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNAVAILABLE)  # noqa: PT017
                continue
            known = reply.src_sid if reply is not None else known
        await channel.close()

    asyncio.run(run_under(ada, fire))
    assert ada.data_dir is not None
    state: Any = read_state(ada.data_dir)
    assert state.value.tolist() == [round(SECRET * UNIT)]
    assert state.account.information <= 100.0 * (1 + 1e-6)  # 1/smallest_std²
    assert abs(state.shown[0]) <= ada.limits.value
