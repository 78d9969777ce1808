"""What is kept of running peers: last words, the moment of settling, and a history."""

from __future__ import annotations

from typing import Any

import pytest

from sottovoce.studio import remembering
from sottovoce.studio.remembering import Memory


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def said(estimate: float, *, settled: bool = False, exchanges: int = 10) -> dict[str, Any]:
    return {"estimate": [estimate], "settled": settled, "exchanges": exchanges, "plus_minus": 0.04, "dimension": 1}


def test_settling_is_celebrated_and_what_was_said_last_is_kept() -> None:
    """Running, settled on a number, and ended: every peer's last words stay, with their age."""
    clock = Clock()
    memory = Memory(clock)
    edges = [(0, 1)]
    assert memory.look("net", edges, {"ada": None, "bob": None})["state"] == "waiting"
    clock.now += 1
    first = memory.look("net", edges, {"ada": said(3.0), "bob": said(5.0)})
    assert (first["state"], first["settledAfter"]) == ("running", None)
    clock.now += 4
    settled = memory.look("net", edges, {"ada": said(4.01, settled=True), "bob": said(3.99, settled=True)})
    assert (settled["state"], settled["settledAfter"]) == ("settled", 5.0)
    assert "All 2 peers have settled on 4.00 ± 0.04" in settled["sentence"]
    clock.now += 10
    ended = memory.look("net", edges, {"ada": None, "bob": None})
    assert ended["state"] == "ended"
    assert "had settled on 4.00 ± 0.04 and have stopped" in ended["sentence"]
    assert [(peer["up"], peer["estimate"], peer["lastSeen"]) for peer in ended["peers"]] == [
        (False, [4.01], 10.0),
        (False, [3.99], 10.0),
    ]


def test_peers_that_stop_before_settling_are_not_celebrated() -> None:
    """One had, one had not."""
    memory = Memory(Clock())
    memory.look("net", [], {"ada": said(3.0, settled=True), "bob": said(5.0)})
    ended = memory.look("net", [], {"ada": None, "bob": None})
    assert ended["settledAfter"] is None
    assert "before they had settled" in ended["sentence"]


def test_somebody_who_is_set_back_makes_it_run_again() -> None:
    """Settled is said of now, not of once."""
    memory = Memory(Clock())
    memory.look("net", [], {"ada": said(4.0, settled=True), "bob": said(4.0, settled=True)})
    again = memory.look("net", [], {"ada": said(4.0, settled=True), "bob": said(9.0)})
    assert (again["state"], again["settledAfter"]) == ("running", None)


def test_one_peer_lost_after_settling_does_not_undo_it() -> None:
    """Its last words said that it had settled."""
    memory = Memory(Clock())
    memory.look("net", [], {"ada": said(4.0, settled=True), "bob": said(4.0, settled=True)})
    assert memory.look("net", [], {"ada": said(4.0, settled=True), "bob": None})["state"] == "settled"


def test_the_history_can_be_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row per look, also of who came later; a long story is thinned, not cut off."""
    clock = Clock()
    memory = Memory(clock)
    memory.look("net", [], {"ada": said(1.0)})
    clock.now += 2
    memory.look("net", [], {"ada": said(2.0), "eve": said(4.0, settled=True)})
    told = memory.history()
    assert told["names"] == ["ada", "eve"]
    assert (told["times"], told["estimates"]) == ([0.0, 2.0], [[1.0, None], [2.0, 4.0]])
    assert (told["settled"], told["up"]) == ([0, 1], [1, 2])
    monkeypatch.setattr(remembering, "LONGEST", 10)
    for _ in range(30):
        clock.now += 1
        memory.look("net", [], {"ada": said(3.0)})
    times = memory.history()["times"]
    assert len(times) <= 10
    assert times[0] == 0.0
    assert times[-1] > 25.0
