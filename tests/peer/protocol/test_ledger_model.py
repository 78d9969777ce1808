"""The edge ledger, checked in every state it can reach within small limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sottovoce.peer.protocol.ledger import SEAL, Edge, compose, meet
from sottovoce.peer.protocol.messages import Kind, Message

from .ledger_model import Model, Rules, Violation, bits


def in_full(edge: Edge, kind: Kind, src: str, dst: str, **more: Any) -> Message:
    """The specification's message, with nothing left out."""
    return replace(compose(edge, kind, src, dst, **more), f=edge.f, g=edge.g)


@pytest.mark.parametrize(
    ("exchanges", "losses", "blank_start", "ids_increase"),
    [(6, 0, False, True), (2, 1, False, True), (1, 1, True, True), (2, 1, False, False)],
)
def test_no_behaviour_breaks_an_edge(exchanges: int, losses: int, blank_start: bool, ids_increase: bool) -> None:
    """V2, V3, a repairing handshake and harmless omissions hold in every reachable state."""
    rules = Rules(ids_increase=ids_increase)
    states = Model(exchanges=exchanges, losses=losses, blank_start=blank_start, rules=rules).explore()
    assert states > 1000


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("exchanges", "losses", "blank_start", "ids_increase"),
    [
        (7, 0, False, True),
        (3, 1, False, True),
        (2, 1, True, True),
        (3, 1, False, False),
        (0, 2, False, True),
        (0, 2, False, False),
    ],
)
def test_no_longer_behaviour_breaks_an_edge(exchanges: int, losses: int, blank_start: bool, ids_increase: bool) -> None:
    """The same, further."""
    rules = Rules(ids_increase=ids_increase)
    assert Model(exchanges=exchanges, losses=losses, blank_start=blank_start, rules=rules).explore() > 10_000


@pytest.mark.parametrize(
    ("rules", "losses", "what"),
    [
        (Rules(commit_first=False), 0, "V2"),
        (Rules(life_ids=False, compose=in_full), 1, "V2|V3|handshake"),
        (Rules(base_check=False), 0, "V2"),
    ],
    ids=["reply before commit", "no life ids", "no base check"],
)
def test_the_check_finds_each_broken_variant(rules: Rules, losses: int, what: str) -> None:
    """Leaving out commit-before-send, life ids or the base check is found, with the steps that lead there."""
    with pytest.raises(Violation, match=what):
        Model(exchanges=3, losses=losses, rules=rules).explore()


def test_the_check_finds_a_register_omitted_too_early() -> None:
    """Leaving out f before its latest value was acknowledged is found."""

    def careless(edge: Edge, kind: Kind, src: str, dst: str, **more: Any) -> Message:
        message = compose(edge, kind, src, dst, **more)
        return message if edge.heard is None else replace(message, f=None)

    with pytest.raises(Violation, match="left out"):
        Model(exchanges=2, losses=0, rules=Rules(compose=careless)).explore()


def test_the_check_finds_a_copy_that_never_travels() -> None:
    """Leaving out g although the other end may have lost its ledger is found."""

    def careless(edge: Edge, kind: Kind, src: str, dst: str, **more: Any) -> Message:
        return replace(compose(edge, kind, src, dst, **more), g=None)

    with pytest.raises(Violation, match="left out"):
        Model(exchanges=1, losses=1, rules=Rules(compose=careless)).explore()


def test_the_check_finds_a_seal_that_is_drawn_again() -> None:
    """An end that answers a repeated greeting with another seal is found: two registers with the same counter (R46)."""

    def again(edge: Edge, m: Message, new_sid: Any, seal: Any) -> Any:
        reaction = meet(edge, m, new_sid, seal)
        repeated = m.blank and m.kind is not Kind.BYE and not edge.blank and (edge.s, edge.r) == (SEAL, 0)
        if not repeated or reaction.edge is None or reaction.edge.blank:
            return reaction
        return reaction._replace(edge=replace(reaction.edge, f=1 << 200))

    with pytest.raises(Violation, match=r"V3|handshake"):
        Model(exchanges=0, losses=0, blank_start=True, rules=Rules(meet=again)).explore()


@pytest.mark.parametrize(
    ("exchanges", "losses"),
    [(1, 0), (1, 1), pytest.param(0, 2, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])],
)
def test_no_behaviour_breaks_a_seal(exchanges: int, losses: int) -> None:
    """From a fresh start, with every message deliverable for ever and disks lost, both ends hold the same seals (R46).

    That the search reaches the case in which both ends open the edge at once is seen from the flow: two seals in it.
    """
    model = Model(exchanges=exchanges, losses=losses, blank_start=True)
    assert model.explore() >= 40
    opened_by_both = [e for e in model.edges.things if not e.blank and (e.s, e.r) == (SEAL, SEAL)]
    assert opened_by_both


def test_one_shared_counter_would_not_do() -> None:
    """A single (counter, flow) per edge, written by whoever answers, breaks in two steps: hence two registers."""
    assert shortest_conflict_of_a_shared_register() == ["a applies b's request", "b applies a's request"]


def shortest_conflict_of_a_shared_register() -> list[str]:
    """Breadth-first search in the rejected design: a later counter wins, a request with a current one applies."""
    frontier: list[tuple[Any, list[str]]] = [((((0, 0), (0, 0)), (1, 1)), [])]
    numbers: list[tuple[int, int]] = [(0, 0)]

    def successors(ends: Any, histories: Any, token: int) -> Iterator[tuple[Any, Any, str]]:
        for me in (0, 1):
            for shown in bits(histories[1 - me]):
                counter, flow = max(ends[me], numbers[shown], key=lambda end: end[0])
                for new, verb in (((counter, flow), "hears"), ((counter + 1, flow | token), "applies")):
                    if verb == "applies" and numbers[shown][0] != counter:
                        continue
                    if new not in numbers:
                        numbers.append(new)
                    after = tuple(new if end == me else ends[end] for end in (0, 1))
                    sent = tuple(histories[end] | (1 << numbers.index(after[end])) for end in (0, 1))
                    yield after, sent, f"{'ab'[me]} {verb} {'ab'[1 - me]}'s request"

    while True:
        following = []
        for (ends, histories), steps in frontier:
            if ends[0][0] == ends[1][0] and ends[0] != ends[1]:
                return steps
            for after, sent, label in successors(ends, histories, 1 << len(steps)):
                following.append(((after, sent), [*steps, label]))
        frontier = following
