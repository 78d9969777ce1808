"""How a topic ends, checked in every state that three peers can reach within small limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sottovoce.peer.protocol import ending
from sottovoce.peer.protocol.closing import renewed

from .closing_model import ClosingModel, Limits
from .ledger_model import Violation

SLOW = [pytest.mark.slow, pytest.mark.timeout(1800)]
PATH = {"triangle": False}


@pytest.mark.parametrize(
    ("limits", "network"),
    [
        (Limits(rounds=5), {}),
        (Limits(rounds=3, deaths=1, drops=1), {}),
        (Limits(rounds=5, late=1), {}),
        (Limits(rounds=9, deaths=1), PATH),
        (Limits(rounds=5), {"missing": "wait"}),
        (Limits(rounds=5), {"references": True}),
        (Limits(rounds=9, deaths=1), PATH | {"references": True}),
        pytest.param(Limits(rounds=9, deaths=1, lost=1), PATH | {"hasty": True}, marks=SLOW),
        pytest.param(Limits(rounds=9, drops=1, lost=1), PATH | {"hasty": True, "suspicious": True}, marks=SLOW),
        pytest.param(Limits(rounds=7, deaths=1, drops=2), {}, marks=SLOW),
        pytest.param(Limits(rounds=7, deaths=1, drops=2, lost=1), {}, marks=SLOW),
        pytest.param(Limits(rounds=7, late=1), {}, marks=SLOW),
        pytest.param(Limits(rounds=4, restarts=1), {}, marks=SLOW),
        pytest.param(Limits(rounds=4, restarts=1), {"missing": "wait"}, marks=SLOW),
        pytest.param(Limits(rounds=9, drops=1), {"suspicious": True}, marks=SLOW),
        pytest.param(Limits(rounds=9, kept=1), PATH, marks=SLOW),
        pytest.param(Limits(rounds=9, restarts=1), PATH, marks=SLOW),
        pytest.param(Limits(rounds=9, restarts=1), PATH | {"references": True}, marks=SLOW),
        pytest.param(Limits(rounds=9, drops=1, lost=1), PATH | {"references": True, "suspicious": True}, marks=SLOW),
        pytest.param(Limits(rounds=13, drops=1), PATH | {"suspicious": True}, marks=SLOW),
    ],
)
def test_all_answers_are_the_same_whatever_the_order(limits: Limits, network: dict[str, Any]) -> None:
    """Whoever declares names itself, no two answers share a member, and no ledger leads out of an answer (R82 to R85).

    Three peers tell each other in any order, contribute late, are restarted, die, are left out, follow and close.
    """
    model = ClosingModel(limits, **network)
    assert model.explore() > 100
    assert model.declared > 0


@pytest.mark.parametrize(
    ("limits", "network"),
    [
        (Limits(rounds=4, restarts=1, lost=1), {"missing": "wait"}),
        (Limits(rounds=4, restarts=1, lost=1), {"missing": "wait", "references": True}),
        pytest.param(Limits(rounds=9, restarts=1, lost=1), {}, marks=SLOW),
    ],
)
def test_whoever_comes_back_does_not_keep_the_others_from_ending(limits: Limits, network: dict[str, Any]) -> None:
    """Restarted at any moment, also after a neighbour has closed: if nothing more happens, all end (R84, R85)."""
    assert ClosingModel(limits, triangle=False, ending=True, **network).explore() > 100


def test_a_peer_that_comes_back_with_the_answer_waits_for_no_rounds_of_those_who_have_closed() -> None:
    """Bob has declared and Cyd has not heard of it; Ada closes and Bob is restarted: all end."""
    model = ClosingModel(Limits(rounds=5, restarts=1, lost=1), triangle=False, missing="wait", ending=True)
    world = model.start()
    for step in [
        "bob greets ada", "ada and bob talk", "bob and cyd talk", "bob and cyd talk", "ada and bob talk", "ada closes",
        "bob restarts",
    ]:  # fmt: skip
        world = dict(model.successors(world))[step]
    ada, bob, cyd = world.nodes
    assert ada.closed == 0b111
    assert bob.protocol is not None
    assert bob.protocol.declared
    assert cyd.protocol is not None
    assert not cyd.protocol.declared
    assert model.unending(world) == ""


def at_once(*arguments: Any, **keywords: Any) -> Any:
    """The first certificate is the answer."""
    found = renewed(*arguments, **keywords)
    return None if found is None else replace(found, declared=True)


def test_the_check_finds_answers_without_a_second_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a certificate were the answer, a member that dies would be in it for one peer and not for another."""
    monkeypatch.setattr(ending, "renewed", at_once)
    monkeypatch.setattr(ending.Ending, "_undisputed", lambda _self, certificate, allowing: certificate)
    with pytest.raises(Violation, match="share a member"):
        ClosingModel(Limits(rounds=9, deaths=1, drops=1, lost=1), **PATH).explore()


@pytest.mark.slow
def test_the_check_finds_peers_that_are_not_held_by_their_word() -> None:
    """If who is bound could still leave somebody out, there would be two answers."""
    with pytest.raises(Violation, match=r"share a member|leads out"):
        ClosingModel(Limits(rounds=7, deaths=1, drops=2), keep_their_word=False).explore()
