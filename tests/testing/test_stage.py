from __future__ import annotations

import socket

import pytest

from sottovoce.errors import TemporaryFailure
from sottovoce.peer.process.checks import check_port
from sottovoce.testing import stage
from sottovoce.testing.stage import free_addresses

EVERYBODY = 40_000
"""Far more than Linux has ports for whoever asks for any: about fourteen thousand, each of which would come up."""


def test_ports_are_given_to_nobody_else() -> None:
    """Whoever asks the system for any port gets none of ours, however often it asks; other tests ask at any time."""
    ours = {int(address.rpartition(":")[2]) for address in free_addresses(5)}
    assert len(ours) == 5
    given = set()
    for _ in range(EVERYBODY):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            given.add(other.getsockname()[1])
    assert len(given) > 1000
    assert not ours & given


def test_files_do_not_run_out() -> None:
    """However often a process asks, it keeps few ports; the latest are among them, and one large network is whole."""
    for _ in range(150):
        latest = free_addresses(2)
    large = free_addresses(250)
    assert [f"127.0.0.1:{one.getsockname()[1]}" for one in stage._RESERVED] == large
    free_addresses(1)
    assert len(stage._RESERVED) == 200
    assert not set(latest) & set(large)


def test_a_port_can_be_used_once_and_again_by_whom_it_was_made_for() -> None:
    """A server that names the port listens there, a second one is refused meanwhile, and then it is free once more."""
    [address] = free_addresses(1)
    host, port = address.split(":")
    for _ in range(2):
        check_port(address, "listen")
        with socket.create_server((host, int(port))), pytest.raises(TemporaryFailure, match="in use"):
            check_port(address, "listen")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=60)
