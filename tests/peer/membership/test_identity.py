from __future__ import annotations

import datetime as dt
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce.errors import ConfigError
from sottovoce.peer.membership.identity import Authority, check_identity, create_request, issue_identity

from ..helpers import certify, make_config, make_identity


def test_a_certificate_carries_exactly_the_name(tmp_path: Path) -> None:
    """An issued certificate passes its own check and ends when asked."""
    credentials = check_identity(make_identity("a", tmp_path, days=30))
    assert dt.timedelta(days=29) < credentials.expires - dt.datetime.now(dt.UTC) < dt.timedelta(days=31)
    assert b"PRIVATE KEY" in credentials.key
    assert "PRIVATE" not in repr(credentials)


def test_keys_are_private_to_their_owner(tmp_path: Path) -> None:
    """The key file has mode 0600 and a looser one is refused."""
    config = make_identity("a", tmp_path)
    assert config.tls is not None
    assert config.tls.key.stat().st_mode & 0o777 == 0o600
    config.tls.key.chmod(0o640)
    with pytest.raises(ConfigError, match="chmod 600"):
        check_identity(config)


def test_the_authority_reads_back(tmp_path: Path) -> None:
    """A saved authority signs certificates that the original would accept."""
    Authority.create("net").save(tmp_path / "authority")
    authority = Authority.load(tmp_path / "authority")
    assert authority.network == "net"
    assert (tmp_path / "authority" / "authority.key").stat().st_mode & 0o777 == 0o600
    check_identity(make_identity("a", tmp_path / "a", authority))


def test_a_certificate_of_another_network_is_refused(tmp_path: Path) -> None:
    """Same names, other authority: refused before anything starts."""
    config = make_identity("a", tmp_path / "a", Authority.create("net"))
    Authority.create("net").save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "authority.crt", tmp_path / "a" / "authority.crt")
    with pytest.raises(ConfigError, match="another network"):
        check_identity(config)


def test_another_peers_certificate_is_refused(tmp_path: Path) -> None:
    """A peer cannot start with a certificate in another name."""
    with pytest.raises(ConfigError, match=r"'b\.net', but this peer is 'a\.net'"):
        check_identity(replace(make_identity("b", tmp_path), name="a"))


@pytest.mark.parametrize("names", [("a.net", "b.net"), ("b.net", "a.net"), ("a.net", "a.net")], ids=" ".join)
def test_a_certificate_with_two_names_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Before anything starts, although the right authority signed it."""
    config = make_config("a", tmp_path, tls=certify(Authority.create("net"), tmp_path, *names))
    with pytest.raises(ConfigError, match="exactly one name"):
        check_identity(config)


def test_a_key_that_does_not_belong_is_refused(tmp_path: Path) -> None:
    """Certificate and key must be a pair."""
    authority = Authority.create("net")
    config = make_identity("a", tmp_path / "a", authority)
    make_identity("a", tmp_path / "b", authority)
    shutil.copy(tmp_path / "b" / "peer.key", tmp_path / "a" / "peer.key")
    with pytest.raises(ConfigError, match="does not belong"):
        check_identity(config)


def test_clocks_and_terms(tmp_path: Path) -> None:
    """Before its term a certificate means clocks out of step; after it, renewal."""
    config = make_identity("a", tmp_path, days=30)
    now = dt.datetime.now(dt.UTC)
    with pytest.raises(ConfigError, match="clocks are out of step"):
        check_identity(config, now=now - dt.timedelta(days=1))
    with pytest.raises(ConfigError, match="expired"):
        check_identity(config, now=now + dt.timedelta(days=31))


@pytest.mark.parametrize("file", ["peer.crt", "peer.key", "authority.crt"])
@pytest.mark.parametrize("content", [None, b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_missing_and_broken_files_are_named(tmp_path: Path, file: str, content: bytes | None) -> None:
    """Each file that is missing or not what it should be gives one sentence with its path."""
    config = make_identity("a", tmp_path)
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(ConfigError, match=file.replace(".", r"\.")) as caught:
        check_identity(config)
    assert "\n" not in str(caught.value)


def test_no_tls_no_network() -> None:
    """There is no plaintext mode."""
    with pytest.raises(ConfigError, match="tls is missing"):
        check_identity(make_config())


def test_the_authority_signs_only_its_own_network(tmp_path: Path) -> None:
    """A request for another network, or for a name that is none, is not signed."""
    _, foreign = create_request("a", "elsewhere")
    with pytest.raises(ConfigError, match="not for a peer of network 'net'"):
        Authority.create("net").sign(foreign)
    with pytest.raises(ConfigError, match="name"):
        create_request("*", "net")


def test_a_request_that_its_key_did_not_sign_is_refused() -> None:
    """Nobody gets a certificate for a key that they do not have: a request whose signature is wrong is not signed."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    _, request = create_request("a", "net")
    content = bytearray(request.public_bytes(Encoding.DER))
    content[-1] ^= 1  # in the signature
    forged = x509.load_der_x509_csr(bytes(content))
    with pytest.raises(ConfigError, match="not for a peer of network 'net'"):
        Authority.create("net").sign(forged)


def test_renewal_replaces_files_without_a_gap(tmp_path: Path) -> None:
    """A second issue into the same folder gives a new pair and leaves no temporary file."""
    authority = Authority.create("net")
    config = make_identity("a", tmp_path, authority)
    before = check_identity(config)
    issue_identity(authority, "a", tmp_path)
    after = check_identity(config)
    assert before.key != after.key
    assert sorted(file.name for file in tmp_path.iterdir()) == ["authority.crt", "peer.crt", "peer.key"]


def test_two_authorities_during_a_change_of_authority(tmp_path: Path) -> None:
    """While the authority changes, a file with both certificates accepts peers of either."""
    old, new = Authority.create("net"), Authority.create("net")
    config = make_identity("a", tmp_path / "a", old)
    make_identity("b", tmp_path / "b", new)
    both = (tmp_path / "a" / "authority.crt").read_bytes() + (tmp_path / "b" / "authority.crt").read_bytes()
    (tmp_path / "a" / "authority.crt").write_bytes(both)
    assert check_identity(config).authority == both
