"""The ledger between two peers: lives, copies, what travels and what may be left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.ledger import SEAL
from sottovoce.peer.protocol.messages import Kind
from sottovoce.privacy.gaussian.account import Account
from sottovoce.testing.settings import some_settings

from .pair import acquainted, answers, asks, exchange, peer, started, talk, vector

# -- lives ------------------------------------------------------------------------------------------


def test_a_lost_disk_is_recovered_from_the_neighbour() -> None:
    """The blank end adopts the other's ledger, mirrored (R8, R11); no mass is lost."""
    a, b = acquainted()
    for _ in range(4):
        exchange(a, b)
    flow = a.state.edges["bob"].flow
    fresh = peer("ada", 1.0)
    talk(fresh, b, fresh.add("bob"))
    assert fresh.state.edges["bob"].flow == flow


def test_two_blank_ends_open_an_edge_sealed() -> None:
    """Neither has a ledger: the first to know both lives draws a seal, the other adopts it; no exchange (R10, R46)."""
    a, b = acquainted()
    mine, theirs = a.state.edges["bob"], b.state.edges["ada"]
    assert (mine.s, mine.r, theirs.s, theirs.r) == (SEAL, 0, 0, SEAL)
    assert mine.flow == -theirs.flow != 0
    assert mine.sealed
    assert not mine.exchanged
    assert (a.exchanges, b.exchanges, a.state.account.messages) == (0, 0, 0)


def test_ends_that_open_at_once_both_seal() -> None:
    """Each takes the other's seal, both hold, and no draw of noise is used up by it (R46)."""
    a, b = peer("ada"), peer("bob")
    from_a, from_b = a.add("bob"), b.add("ada")
    for to_a, to_b in [(from_b, from_a)]:  # each greeting arrives before the other end has answered
        answer_a, answer_b = answers(a, to_a), answers(b, to_b)
    to_a, to_b = answers(b, answer_a), answers(a, answer_b)
    for message in (to_a, to_b):
        talk(*((b, a) if message.src == "bob" else (a, b)), message)
    mine, theirs = a.state.edges["bob"], b.state.edges["ada"]
    assert (mine.s, mine.r, theirs.s, theirs.r) == (SEAL, SEAL, SEAL, SEAL)
    assert mine.flow == -theirs.flow
    assert mine.f != 0 != mine.g
    assert (a.exchanges, b.exchanges) == (0, 0)


def test_a_seal_is_drawn_once_in_a_life() -> None:
    """A greeting that comes again is answered with the same seal; a new life after a drop has another (R46)."""
    a, b = peer("ada"), peer("bob")
    a.add("bob")
    b.add("ada")
    talk(b, a, answers(b, a.greet("bob")))
    greeting = replace(a.greet("bob"), blank=True, s=0, f=None, r=0, g=None)
    first = b.state.edges["ada"].f
    for _ in range(3):
        b.receive(greeting)
    assert b.state.edges["ada"].f is first
    bye = a.drop("bob")
    assert bye is not None
    b.receive(bye)
    talk(a, b, a.add("bob"))
    assert (a.state.edges["bob"].flow != 0).all()
    assert b.state.edges["ada"].flow != first


def test_a_seal_that_is_late_uses_up_no_noise() -> None:
    """A request that a seal crosses was not applied, so it shows the same noise again (R15, R46)."""
    a, b = peer("ada"), peer("bob")
    from_a, from_b = a.add("bob"), b.add("ada")
    answer_a = answers(a, from_b)
    answers(b, from_a)
    b.receive(answer_a)
    a.receive(replace(b.greet("ada"), blank=True, s=0, f=None, r=0, g=None))
    request = asks(a, b)
    assert request.kind is Kind.REQ
    late = answers(b, request)
    a.receive(late)
    assert (a.state.edges["bob"].r, a.state.fresh) == (SEAL, True)
    again = asks(a, b).x
    assert again is not None
    assert request.x is not None
    assert again - request.x == -a.state.edges["bob"].g  # only the seal came
    assert a.state.account.messages == 1


def test_messages_of_an_earlier_life_are_fenced() -> None:
    """A reply sent before the disk was lost finds another life and is not looked at (R6, R9)."""
    a, b = acquainted()
    exchange(a, b)
    late = answers(a, asks(b, a))  # applied; its reply is still on the way
    b.give_up()
    fresh = peer("ada", 1.0)
    talk(fresh, b, fresh.add("bob"))
    before = b.state.edges["ada"]
    b.receive(late)
    assert b.state.edges["ada"] is before
    assert b.events["earlier-life", "ada"] == 1
    fresh.receive(replace(late, src="bob", dst="ada", src_sid=before.sid, dst_sid=late.src_sid))
    assert fresh.state.edges["bob"].flow == -before.flow


def test_a_stranger_gets_a_bye_and_that_bye_gets_nothing() -> None:
    """Without a record the answer is BYE (R4), and a BYE that asks for no answer gets none (R40)."""
    a, b = peer("ada"), peer("bob")
    bye = answers(b, a.add("bob"))
    assert (bye.kind, bye.src_sid) == (Kind.BYE, 0)
    assert b.receive(replace(bye, src="ada", dst="bob")) is None


def test_a_drop_is_said_until_it_is_answered() -> None:
    """A BYE that is lost stays to be said, also after a restart, until the other end answers for that life (R51)."""
    a, b = acquainted()
    exchange(a, b)
    assert a.drop("bob") is not None  # lost
    again = started(a.settings, a.state)
    bye = again.farewell("bob")
    assert bye is not None
    answer = answers(b, bye)  # lost too
    assert b.state.edges["ada"].blank
    assert again.receive(replace(answer, dst_sid=answer.dst_sid + 1)) is None
    assert again.farewell("bob") == bye
    again.receive(answers(b, bye))
    assert again.farewell("bob") is None
    assert again.events["parting-heard", "bob"] == 1


def test_a_bye_that_asks_is_answered_by_what_is_kept() -> None:
    """With nothing kept the answer is a BYE for the life that asks; with a ledger of another life a HELLO (R52)."""
    a, b = acquainted()
    bye = a.drop("bob")
    assert bye is not None
    hello = answers(b, replace(bye, dst_sid=bye.dst_sid - 1))
    assert (hello.kind, hello.blank) == (Kind.HELLO, False)
    for _ in range(2):
        done = answers(b, bye)
        assert (done.kind, done.src_sid, done.dst_sid) == (Kind.BYE, 0, bye.src_sid)
    stranger = peer("cyd")
    assert answers(stranger, replace(bye, dst="cyd")).dst_sid == bye.src_sid


def test_a_bye_for_another_life_is_not_believed() -> None:
    """A late BYE names a life that is over, and changes nothing (R5)."""
    a, b = acquainted()
    exchange(a, b)
    before = b.state.edges["ada"]
    bye = a.drop("bob")
    assert bye is not None
    b.receive(replace(bye, dst_sid=before.sid - 1))
    assert b.state.edges["ada"] is before
    assert b.events["stale-bye", "ada"] == 1


def test_a_parted_neighbour_may_come_back() -> None:
    """Added again, it is met like a new one, and its earlier messages do not bring it back (R26, R40)."""
    a, b = acquainted()
    _, stale = exchange(b, a)
    bye = a.drop("bob")
    assert bye is not None
    b.receive(bye)
    b.receive(stale)
    assert b.state.edges["ada"].parted
    talk(a, b, a.add("bob"))
    assert not b.state.edges["ada"].parted
    assert not b.state.edges["ada"].blank


def test_a_store_that_went_back_is_noticed() -> None:
    """The neighbour holds a later version of our register: start that edge anew from it, and raise an alarm (R12)."""
    a, b = acquainted()
    old = b.state
    for _ in range(3):
        exchange(a, b)
    restored = started(b.settings, old)
    talk(a, restored, a.greet("bob"))
    talk(restored, a, restored.greet("ada"))
    assert restored.events["store-went-back", "ada"] == 1
    assert restored.state.edges["ada"].flow == -a.state.edges["bob"].flow


def test_a_clock_that_went_back_is_put_right() -> None:
    """Ids from a clock that went back are smaller than those known; both ends agree in the end (R6, R7)."""
    a, b = acquainted()
    for _ in range(3):
        exchange(a, b)
    flow = a.state.edges["bob"].flow
    state = PeerState(vector(1.0), Account(1.0, 0.5))
    fresh = started(some_settings(), state, stamp=lambda: 5)
    for _ in range(3):
        talk(fresh, b, fresh.add("bob"))
    assert fresh.state.edges["bob"].flow == flow
    # A random place in the millisecond after the life that is known, so that no forgotten life can have it.
    assert 2**16 <= fresh.state.edges["bob"].sid - a.state.edges["bob"].sid < 2**17


# -- copies -----------------------------------------------------------------------------------------


def test_an_old_reply_changes_nothing() -> None:
    """Lower or equal counters never change a register (R13)."""
    a, b = acquainted()
    replies = [exchange(a, b)[1] for _ in range(3)]
    edge = a.state.edges["bob"]
    for message in replies:
        a.receive(message)
        after = a.state.edges["bob"]
        assert (after.s, after.r, after.g is edge.g) == (edge.s, edge.r, True)


def test_a_greeting_is_answered_only_if_it_shows_a_gap() -> None:
    """A HELLO from an end that is behind gets a HELLO back, any other gets silence (R22)."""
    a, b = acquainted()
    b.receive(asks(a, b))  # its reply is lost
    behind = a.greet("bob")
    assert answers(b, behind).kind is Kind.HELLO
    talk(a, b, behind)
    assert b.receive(a.greet("bob")) is None


# -- what travels -----------------------------------------------------------------------------------


def test_an_ordinary_exchange_carries_one_vector_each_way() -> None:
    """Once both ends know each other, a request carries the value and its reply one register (R37, R38)."""
    a, b = acquainted(dimension=100)
    exchange(a, b)  # until it has heard a ledger from the other's present life, a peer shows its own in full
    for first, second in [(a, b), (b, a), (b, a), (a, b)]:
        request, reply = exchange(first, second)
        assert (request.kind, reply.kind) == (Kind.REQ, Kind.REP)
        assert request.x is not None
        assert reply.f is not None
        assert (request.vectors, reply.vectors) == (1, 1)


def test_a_greeting_after_an_exchange_does_not_repeat_it() -> None:
    """It presumes that the reply arrived; where that was lost, the register is asked for and sent (R37, R39)."""
    a, b = acquainted(dimension=100)
    exchange(a, b)
    exchange(a, b)
    assert b.greet("ada").vectors == 0
    b.tick(None)
    b.receive(asks(a, b))  # its reply is lost
    a.give_up()
    said = talk(b, a, b.greet("ada"))
    assert [(message.kind, message.vectors) for message in said] == [(Kind.HELLO, 0), (Kind.HELLO, 0), (Kind.HELLO, 1)]
    assert (a.state.edges["bob"].flow == -b.state.edges["ada"].flow).all()


def test_a_register_that_was_never_written_does_not_travel() -> None:
    """Opening an edge takes one vector, the seal: the other end's register is zero, and its counter says so (R38)."""
    a, b = peer("ada", 1.0, dimension=100), peer("bob", 5.0, dimension=100)
    b.add("ada")
    said = talk(a, b, a.add("bob"))
    assert sum(message.vectors for message in said) == 1
    assert not a.state.edges["bob"].blank
    assert not b.state.edges["ada"].blank
    assert (a.state.edges["bob"].flow == -b.state.edges["ada"].flow).all()


@pytest.mark.parametrize(
    ("dimension", "expected"), [(100, [Kind.REQ, Kind.HELLO, Kind.HELLO]), (1, [Kind.REQ, Kind.REP])]
)
def test_a_request_after_a_lost_reply_repairs_it(dimension: int, expected: list[Kind]) -> None:
    """A large register is left out, asked for and sent in the same talk; a small one is repeated at once (R37)."""
    a, b = acquainted(dimension=dimension)
    exchange(a, b)
    b.receive(asks(a, b))  # its reply is lost
    a.give_up()
    said = talk(b, a, b.tick("ada"))
    assert [message.kind for message in said] == expected
    assert (a.state.edges["bob"].flow == -b.state.edges["ada"].flow).all()


@pytest.mark.parametrize("dimension", [1, 100])
def test_after_a_restart_registers_travel_until_heard(dimension: int) -> None:
    """What was acknowledged is forgotten by a restart, so the first message carries everything again (R2, R38)."""
    a, b = acquainted(dimension=dimension)
    for _ in range(3):
        exchange(a, b)
    edges = {name: replace(edge, heard=None) for name, edge in a.state.edges.items()}
    again = started(a.settings, replace(a.state, edges=edges))
    assert again.greet("bob").vectors == 2
    request = asks(again, b)
    assert (request.f is None, request.g is None, request.x is None) == (False, False, False)


def test_an_incomplete_message_is_not_believed() -> None:
    """A register that should be there and is not: state unchanged, a HELLO asks for it (R39)."""
    a, b = acquainted()
    reply = answers(b, asks(a, b))
    before = a.state.edges["bob"]
    answer = answers(a, replace(reply, f=None))
    assert answer.kind is Kind.HELLO
    after = a.state.edges["bob"]
    assert (after.r, after.s, after.flow) == (before.r, before.s, before.flow)
    talk(a, b, answer)
    assert a.state.edges["bob"].flow == -b.state.edges["ada"].flow != 0
