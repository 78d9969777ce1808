"""Promise: only the key in the signed roster speaks for a member. Attacked by the founder, who holds its own key."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import pytest
from grpc import aio

from sottovoce import graphs
from sottovoce.errors import ConfigError
from sottovoce.peer import Peer
from sottovoce.peer.membership.changes import current, install, publish, with_card
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.membership.keys import Card, key_pem, load_key, new_key, self_signed
from sottovoce.peer.process.metrics import PeerObserver
from sottovoce.testing.stage import free_addresses


@pytest.fixture
def network(tmp_path: Path) -> dict[str, Path]:
    addresses = dict(zip(("ada", "bob", "cleo"), free_addresses(3), strict=True))
    return found_network(
        "net", addresses, graphs.complete(3), tmp_path / "net", noise_std=1.0, noise_decay=0.9, smallest_std=0.1
    )


def signed_by_the_founder(folder: Path) -> tuple[bytes, bytes]:
    """A key and a chain in bob's name, signed with the founder's key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.serialization import Encoding

    founder, key = load_key(folder / "founder.key", "test"), new_key()
    parent = self_signed(founder, "founder.net")
    child = x509.load_pem_x509_certificate(self_signed(key, "bob.net").encode())
    issuer = x509.load_pem_x509_certificate(parent.encode()).subject
    builder = x509.CertificateBuilder(
        issuer, child.subject, key.public_key(), child.serial_number, child.not_valid_before_utc,
        child.not_valid_after_utc, list(child.extensions),
    )  # fmt: skip
    return key_pem(key), builder.sign(founder, hashes.SHA256()).public_bytes(Encoding.PEM) + parent.encode()


@pytest.mark.parametrize("maker", ["anybody", "the founder"])
def test_a_second_certificate_in_bobs_name_does_not_reach_ada(network: dict[str, Path], maker: str) -> None:
    """A whole running peer: the handshake fails, nothing is heard of it, and ada's edges stay as they are."""

    async def scenario() -> None:
        config, observer = PeerConfig.load(network["ada"]), PeerObserver()
        key = new_key()
        pair = (key_pem(key), self_signed(key, "bob.net").encode())
        own, second = pair if maker == "anybody" else signed_by_the_founder(network["ada"].parents[1])
        ada = current(network["ada"].parent).members["ada"].certificate.encode()
        async with Peer(config, value=1.0, observer=observer) as peer:
            before = peer.status().to_dict()["neighbours"]["bob"]
            trusted = grpc.ssl_channel_credentials(ada, own, second)
            options = [("grpc.ssl_target_name_override", "ada.net")]
            async with aio.secure_channel(str(config.listen), trusted, options=options) as channel:
                for service in ("sottovoce.peer.v1.Peer", "sottovoce.peer.v2.Peer"):
                    with pytest.raises(aio.AioRpcError) as caught:
                        await channel.unary_unary(f"/{service}/Tell")(b"", timeout=60)
                    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            assert peer.status().to_dict()["neighbours"]["bob"]["last_heard"] == before["last_heard"] is None
        assert observer.counts("refused-") == {}

    asyncio.run(scenario())


def test_a_second_key_in_a_new_roster_is_seen_by_all(network: dict[str, Path]) -> None:
    """The only way in is a new number: bob refuses to install it, ada's digest changes, and her log would show both."""
    founder = network["ada"].parents[1]
    before = current(founder)
    forged = Card("bob", "net", self_signed(new_key(), "bob.net"), before.members["bob"].address)
    signed = publish(founder, with_card(before, forged))
    with pytest.raises(ConfigError, match="not this peer's"):
        install(PeerConfig.load(network["bob"]), signed)
    install(PeerConfig.load(network["ada"]), signed)
    after = current(network["ada"].parent)
    assert (after.number, after.digest != before.digest) == (1, True)
