"""Watching a demonstration network: when it ends, and when it stays."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from sottovoce.cli import _network_up
from sottovoce.cli._network_up import _watch


class Peers:
    """Peers that settle at the third look."""

    def __init__(self, settle_at: int = 3) -> None:
        self.looks, self.settle_at = 0, settle_at

    def statuses(self) -> dict[str, Any]:
        self.looks += 1
        return {"ada": {"settled": self.looks >= self.settle_at}, "bob": {"settled": True}}

    def check_alive(self) -> None:
        pass


def watch(
    peers: Peers, monkeypatch: pytest.MonkeyPatch, *, stay: bool, pressed_at: int = 8, seconds: float = 1e9
) -> tuple[dict[str, Any], bool]:
    """Somebody presses Ctrl-C after so many looks."""

    def sleep(_seconds: float) -> None:
        if peers.looks == pressed_at:
            raise KeyboardInterrupt

    clock = SimpleNamespace(sleep=sleep, monotonic=time.monotonic)  # other threads need the real one
    monkeypatch.setattr(_network_up, "time", clock)
    return _watch(peers, None, None, seconds, live=False, stay=stay)  # type: ignore[arg-type]


def test_it_ends_when_all_have_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, without being told."""
    peers = Peers()
    assert watch(peers, monkeypatch, stay=False)[1]
    assert peers.looks == 3


def test_it_stays_until_somebody_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C after settling is its end, with the last state and in good order; time does not run out meanwhile."""
    peers = Peers()
    statuses, settled = watch(peers, monkeypatch, stay=True, seconds=1e9)
    assert settled
    assert statuses["ada"]["settled"]
    assert peers.looks == 8


def test_ctrl_c_before_settling_is_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is proved."""
    with pytest.raises(KeyboardInterrupt):
        watch(Peers(settle_at=50), monkeypatch, stay=True)


def test_peers_that_never_settle_do_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time to settle is limited also then."""
    assert not watch(Peers(settle_at=50), monkeypatch, stay=True, seconds=-1.0)[1]
