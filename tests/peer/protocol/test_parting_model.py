"""Dropping a neighbour, checked in every state that two ends can reach within small limits."""

from __future__ import annotations

from typing import Any

import pytest

from sottovoce.peer.protocol.ledger import Edge, meet
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.protocol.parting import Parting, heard_without_record

from .ledger_model import Violation
from .parting_model import PartingModel, Rules

SLOW = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize(
    ("exchanges", "drops", "losses", "depth"),
    [
        (2, 1, 0, 1000),
        (0, 1, 1, 8),
        (1, 2, 0, 7),
        pytest.param(0, 1, 1, 1000, marks=SLOW),
        pytest.param(1, 2, 0, 10, marks=SLOW),
        pytest.param(1, 1, 1, 10, marks=SLOW),
    ],
)
def test_no_lost_bye_leaves_a_ledger_behind(exchanges: int, drops: int, losses: int, depth: int) -> None:
    """A parting that is over left nothing at the other end, and left to themselves both have a ledger or neither (R51).

    Any BYE, any answer and any older message may be lost, or come at any later time; both ends may drop and add.
    """
    assert PartingModel(exchanges=exchanges, drops=drops, losses=losses, depth=depth).explore() > 1000


def forgotten(edge: Edge, since: int) -> Parting | None:
    """One BYE, best effort."""
    return None


def any_answer(parting: Parting | None, m: Message) -> tuple[Parting | None, int | None]:
    """Whatever BYE comes ends the parting."""
    left, answer = heard_without_record(parting, m)
    return (None if m.kind is Kind.BYE else left), answer


def same_life(edge: Edge, m: Message, new_sid: Any, seal: Any) -> Any:
    """A blank end that hears a BYE stays in its life, and hears the life that ended."""
    if m.kind is Kind.BYE and edge.blank:
        return meet(edge, m, new_sid, seal)._replace(edge=edge)
    return meet(edge, m, new_sid, seal)


@pytest.mark.parametrize(
    ("rules", "drops", "losses"),
    [
        (Rules(part=forgotten), 1, 0),
        (Rules(heard_without_record=any_answer), 2, 0),
        (Rules(meet=same_life), 1, 1),
    ],
    ids=["said once", "any BYE is an answer", "no new life"],
)
def test_the_check_finds_each_broken_variant(rules: Rules, drops: int, losses: int) -> None:
    """A drop that is said only once, answers that name no life, or a blank end that keeps its life are found."""
    with pytest.raises(Violation, match=r"parting is over|left to themselves"):
        PartingModel(exchanges=0, drops=drops, losses=losses, depth=9, rules=rules).explore()
