"""The protocol's rules one at a time: what a message does, and what it must not do."""

from __future__ import annotations

import ast
import contextlib
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce.peer.protocol
from sottovoce.errors import ProtocolViolation
from sottovoce.peer.protocol import PeerState, Protocol, Settings
from sottovoce.peer.protocol.messages import COUNTER_LIMIT, Kind, Message, Stop
from sottovoce.privacy.gaussian.account import Account

STAMP = itertools.count(2**57)


def peer(name: str, value: float = 1.0, *, budget: float = np.inf, draws: Any = None, **more: Any) -> Protocol:
    rng = np.random.default_rng(ord(name[0]))
    state = PeerState(np.full(more.get("dimension", 1), value), Account(1.0, 0.5, budget=budget))
    draw = draws or (rng.standard_normal)
    settings = Settings(name=name, diameter=1, bucket_refill=100.0, **more)
    return Protocol(settings, state, draw=draw, stamp=lambda: next(STAMP))


def talk(a: Protocol, b: Protocol, message: Message | None) -> list[Message]:
    """Let ``a`` say ``message`` to ``b`` and both answer until there is silence."""
    said = []
    while message is not None:
        said.append(message)
        message = b.receive(message)
        a, b = b, a
    return said


def acquainted(**more: Any) -> tuple[Protocol, Protocol]:
    """Two neighbours with an open edge and full buckets."""
    a, b = peer("ada", 1.0, **more), peer("bob", 5.0, **more)
    b.add("ada")
    talk(a, b, a.add("bob"))
    for one in (a, b):
        one.tick(None)
    return a, b


def exchange(a: Protocol, b: Protocol) -> list[Message]:
    return talk(a, b, a.tick(b.settings.name))


# -- R1 ---------------------------------------------------------------------------------------------


def test_the_protocol_imports_no_time_randomness_or_io() -> None:
    """Its sources name none of asyncio, time, random, secrets, os, socket, grpc, sqlite3."""
    forbidden = {"asyncio", "time", "random", "secrets", "os", "socket", "threading", "grpc", "sqlite3"}
    folder = Path(sottovoce.peer.protocol.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not {name.partition(".")[0] for name in names} & forbidden, path.name


def test_durable_state_is_never_changed_in_place() -> None:
    """States kept from before an exchange still hold what they held: a store may compare by identity."""
    a, b = acquainted()
    before = (a.state, b.state)
    kept = [(s.shown.copy(), s.account, {n: (e.s, e.r) for n, e in s.edges.items()}) for s in before]
    exchange(a, b)
    assert a.state is not before[0]
    for state, (shown, account, counters) in zip(before, kept, strict=True):
        np.testing.assert_array_equal(state.shown, shown)
        assert (state.account, {n: (e.s, e.r) for n, e in state.edges.items()}) == (account, counters)


# -- an ordinary exchange ----------------------------------------------------------------------------


def test_an_exchange_moves_both_to_the_average() -> None:
    """Both ends hold the average of what they showed, and the flows cancel bit for bit."""
    a, b = acquainted()
    request, reply = exchange(a, b)
    assert request.x is not None
    shown_b = request.x - 2 * (reply.f - 0.0)
    assert a.state.shown == pytest.approx((request.x + shown_b) / 2, abs=1e-14)
    assert a.state.shown == pytest.approx(b.state.shown, abs=1e-14)
    assert a.state.edges["bob"].flow == -b.state.edges["ada"].flow


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


@pytest.mark.parametrize(
    ("dimension", "expected"), [(100, [Kind.REQ, Kind.HELLO, Kind.HELLO]), (1, [Kind.REQ, Kind.REP])]
)
def test_a_request_after_a_lost_reply_repairs_it(dimension: int, expected: list[Kind]) -> None:
    """A large register is left out, asked for and sent in the same talk; a small one is repeated at once."""
    a, b = acquainted(dimension=dimension)
    exchange(a, b)
    request = a.tick("bob")
    assert request is not None
    b.receive(request)  # its reply is lost
    a.give_up()
    said = talk(b, a, b.tick("ada"))
    assert [message.kind for message in said] == expected
    assert (a.state.edges["bob"].flow == -b.state.edges["ada"].flow).all()


def test_after_a_restart_registers_travel_until_heard() -> None:
    """What was acknowledged is forgotten by a restart, so the first message carries everything again."""
    a, b = acquainted()
    for _ in range(3):
        exchange(a, b)
    edges = {name: replace(edge, heard=None) for name, edge in a.state.edges.items()}
    again = Protocol(a.settings, replace(a.state, edges=edges), draw=np.zeros, stamp=lambda: next(STAMP))
    assert again.greet("bob").vectors == 2


def test_an_incomplete_message_is_not_believed() -> None:
    """A register that should be there and is not: state unchanged, a HELLO asks for it (R39)."""
    a, b = acquainted()
    request = a.tick("bob")
    assert request is not None
    reply = b.receive(request)
    assert reply is not None
    before = a.state.edges["bob"]
    answer = a.receive(replace(reply, f=None))
    assert answer is not None
    assert answer.kind is Kind.HELLO
    after = a.state.edges["bob"]
    assert (after.r, after.s, after.flow) == (before.r, before.s, before.flow)
    talk(a, b, answer)
    assert a.state.edges["bob"].flow == -b.state.edges["ada"].flow != 0.0


# -- loss, repetition, order --------------------------------------------------------------------------


def test_a_repeated_request_is_applied_once() -> None:
    """The same bytes again get the same register again (R18), whether or not the first reply arrived."""
    a, b = acquainted()
    request = a.tick("bob")
    assert request is not None
    first, second = b.receive(request), b.receive(request)
    assert first is not None
    assert second is not None
    assert (first.kind, second.kind) == (Kind.REP, Kind.REP)
    assert first.s == second.s == b.state.edges["ada"].s == 1


def test_a_lost_reply_is_repaired_by_any_later_message() -> None:
    """Mass is off by one step until then, and by nothing afterwards."""
    a, b = acquainted()
    request = a.tick("bob")
    assert request is not None
    b.receive(request)  # its reply is lost
    a.give_up()
    assert a.state.edges["bob"].flow == 0.0
    talk(b, a, b.greet("ada"))
    assert a.state.edges["bob"].flow == -b.state.edges["ada"].flow != 0.0


def test_an_old_reply_changes_nothing() -> None:
    """Lower or equal counters never change a register (R13)."""
    a, b = acquainted()
    old = [exchange(a, b)[1] for _ in range(3)]
    state = a.state
    for message in old:
        a.receive(message)
    assert [(e.s, e.r, e.flow) for e in a.state.edges.values()] == [(e.s, e.r, e.flow) for e in state.edges.values()]


def test_one_draw_per_applied_exchange() -> None:
    """Refused, repeated and given-up requests show the same noise again (R15)."""
    a, b = acquainted()
    shown = []
    for _ in range(4):
        request = a.tick("bob")
        assert request is not None
        shown.append(request.x)
        a.give_up()
    assert all(x is not None and x == shown[0] for x in shown)
    assert a.state.account.messages == 1
    exchange(a, b)
    assert a.tick("bob").x != shown[0]  # type: ignore[union-attr]
    assert a.state.account.messages == 2


def test_a_locked_peer_answers_busy() -> None:
    """Crossing requests are both refused; nobody's value changes while its request is out (V6)."""
    a, b = acquainted()
    from_a, from_b = a.tick("bob"), b.tick("ada")
    assert from_a is not None
    assert from_b is not None
    to_a, to_b = b.receive(from_a), a.receive(from_b)
    assert to_a is not None
    assert to_b is not None
    assert (to_a.kind, to_b.kind) == (Kind.BUSY, Kind.BUSY)
    a.receive(to_a)
    assert a.pending is None


# -- lives ------------------------------------------------------------------------------------------


def test_a_lost_disk_is_recovered_from_the_neighbour() -> None:
    """The blank end adopts the other's ledger, mirrored (R11); no mass is lost."""
    a, b = acquainted()
    for _ in range(4):
        exchange(a, b)
    flow = a.state.edges["bob"].flow
    fresh = peer("ada", 1.0)
    talk(fresh, b, fresh.add("bob"))
    assert fresh.state.edges["bob"].flow == flow


def test_messages_of_an_earlier_life_are_fenced() -> None:
    """A reply sent before the disk was lost finds another life and is not looked at (R6, R9)."""
    a, b = acquainted()
    exchange(a, b)
    request = b.tick("ada")
    assert request is not None
    late = a.receive(request)  # applied; its reply is still on the way
    b.give_up()
    fresh = peer("ada", 1.0)
    talk(fresh, b, fresh.add("bob"))
    assert late is not None
    b.receive(late)
    talk(b, fresh, b.greet("ada"))
    assert fresh.state.edges["bob"].flow == -b.state.edges["ada"].flow


def test_a_stranger_gets_a_bye_and_a_bye_gets_nothing() -> None:
    """Without a record the answer is BYE (R4), and no BYE answers a BYE (R40)."""
    a, b = peer("ada"), peer("bob")
    bye = b.receive(a.add("bob"))
    assert bye is not None
    assert bye.kind is Kind.BYE
    assert b.receive(replace(bye, src="ada", dst="bob")) is None


def test_leaving_takes_the_flow_along_and_rearms() -> None:
    """Both ends forget the flow; the one that stays starts its noise afresh and no longer waits for the other."""
    a, b = acquainted()
    exchange(a, b)
    bye = a.drop("bob")
    assert bye is not None
    b.receive(bye)
    edge = b.state.edges["ada"]
    assert edge.blank
    assert edge.parted
    assert b.state.active == []
    assert b.state.account.messages == 0
    assert "bob" not in a.state.edges
    assert a.state.noise is None


def test_a_parted_neighbour_may_come_back() -> None:
    """Added again, it is met like a new one, and its earlier messages do not bring it back (R40)."""
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
    restored = Protocol(b.settings, old, draw=np.zeros, stamp=lambda: next(STAMP))
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
    state = PeerState(np.array([1.0]), Account(1.0, 0.5))
    fresh = Protocol(Settings(name="ada", diameter=1), state, draw=np.zeros, stamp=lambda: 5)
    for _ in range(3):
        talk(fresh, b, fresh.add("bob"))
    assert fresh.state.edges["bob"].flow == flow
    assert fresh.state.edges["bob"].sid > a.state.edges["bob"].sid


# -- refusals ---------------------------------------------------------------------------------------


def bad_messages() -> dict[str, Any]:
    good = {"f": np.array([0.5]), "s": 1}
    return {
        "nan register": {"f": np.array([np.nan]), "s": 1},
        "infinite register": {"f": np.array([np.inf]), "s": 1},
        "oversized register": {"f": np.array([1e13]), "s": 1},
        "wrong dimension": {"f": np.array([0.5, 0.5]), "s": 1},
        "two axes": {"f": np.array([[0.5]]), "s": 1},
        "negative counter": {**good, "r": -1},
        "counter too large": {**good, "s": COUNTER_LIMIT},
        "counter jumps": {**good, "s": 2**33},
        "life too large": {**good, "dst_sid": COUNTER_LIMIT},
        "value in a HELLO": {**good, "x": np.array([1.0])},
        "for somebody else": {**good, "dst": "eve"},
        "half an interval": {**good, "stop": Stop(0, low=np.array([0.0]))},
        "empty interval": {**good, "stop": Stop(0, np.array([1.0]), np.array([0.0]))},
        "interval of nan": {**good, "stop": Stop(0, np.array([np.nan]), np.array([0.0]))},
        "interval of wrong dimension": {**good, "stop": Stop(0, np.zeros(2), np.ones(2))},
        "negative round": {**good, "stop": Stop(-1)},
    }


@pytest.mark.parametrize("what", bad_messages())
def test_a_harmful_message_is_refused_without_a_trace(what: str) -> None:
    """Refused with an error that shows no value; durable state and pending request are the same objects as before."""
    a, b = acquainted()
    exchange(a, b)
    pending = a.tick("bob")
    state = a.state
    message = replace(b.greet("ada"), **bad_messages()[what])
    with pytest.raises(ProtocolViolation) as refusal:
        a.receive(message)
    assert a.state is state
    assert a.pending is not None
    assert a.pending.message is pending
    assert "0.5" not in str(refusal.value)


@pytest.mark.parametrize("x", [np.nan, np.inf, -1e10])
def test_a_value_out_of_range_is_not_averaged_with(x: float) -> None:
    """The answer is BUSY, and nothing moved (R19, R31)."""
    a, b = acquainted()
    request = a.tick("bob")
    assert request is not None
    answer = b.receive(replace(request, x=np.array([x])))
    assert answer is not None
    assert answer.kind is Kind.BUSY
    assert b.state.edges["ada"].s == 0
    assert b.events["value-out-of-range", "ada"] == 1


@settings(max_examples=150)
@given(st.data())
def test_mutated_messages_never_break_the_ledger(data: st.DataObject) -> None:
    """Whatever one field is changed to, the peer refuses or goes on; it never raises anything else nor shows NaN."""
    a, b = acquainted()
    for _ in range(data.draw(st.integers(0, 2))):
        exchange(a, b)
    message: Any = data.draw(st.sampled_from([b.greet("ada"), b.tick("ada"), exchange(a, b)[0]]))
    field = data.draw(st.sampled_from(["src_sid", "dst_sid", "s", "r", "xid", "blank", "kind", "x", "f", "g", "stop"]))
    numbers = st.integers(-(2**64), 2**64) | st.integers(0, 4) | st.sampled_from([a.state.edges["bob"].sid])
    vectors = st.none() | st.lists(st.floats(), min_size=0, max_size=2).map(np.array)
    changes = {
        "blank": st.booleans(),
        "kind": st.sampled_from(Kind),
        "stop": st.builds(Stop, st.integers(-1, 10), vectors, vectors, vectors, vectors),
    }
    value = data.draw(changes.get(field, vectors if field in "fgx" else numbers))
    with contextlib.suppress(ProtocolViolation):
        a.receive(replace(message, src="bob", dst="ada", **{field: value}))
    assert np.isfinite(a.state.shown).all()
    assert all(edge.blank or np.isfinite(edge.flow).all() for edge in a.state.edges.values())


# -- pacing, budget, bounds ----------------------------------------------------------------------------


def test_calling_fast_does_not_drain_noise() -> None:
    """A neighbour that asks 100 times between two of our own ticks gets as many exchanges as the bucket holds (R28)."""
    a, b = acquainted(bucket_burst=6.0)
    for _ in range(100):
        exchange(a, b)
    assert b.events["applied", "ada"] == 6
    assert b.state.account.messages == 6


def test_the_bucket_is_empty_after_a_start() -> None:
    """Nobody is answered before the own clock has rung once."""
    a, b = peer("ada"), peer("bob")
    b.add("ada")
    talk(a, b, a.add("bob"))
    exchange(a, b)
    assert b.events["too-fast", "ada"] == 1
    assert b.events["applied", "ada"] == 0


def test_a_spent_budget_freezes_the_noise() -> None:
    """Exchanges go on under the last noise, and the account stays within the budget (R14, R29)."""
    a, b = acquainted(budget=100.0)
    for _ in range(10):
        exchange(a, b)
        b.tick(None)
    assert b.events["applied", "ada"] == 10
    assert b.state.account.messages == 4
    assert b.state.account.information == pytest.approx(85.0)
    noise = b.state.noise
    exchange(a, b)
    assert b.state.noise is noise


def test_a_spent_budget_shows_no_new_secret() -> None:
    """After a related value replaced the old one, nothing is shown: old noise must not cover it. A new secret may."""
    a, b = acquainted(budget=100.0)
    for _ in range(5):
        exchange(a, b)
    b.set_value(np.array([7.0]), new_secret=False)
    b.state = replace(b.state, account=replace(b.state.account, information=100.0))
    request = a.tick("bob")
    assert request is not None
    answer = b.receive(request)
    assert answer is not None
    assert answer.kind is Kind.BUSY
    own = b.tick("ada")
    assert own is not None
    assert own.kind is Kind.HELLO
    a.give_up()
    b.set_value(np.array([7.0]), new_secret=True)
    assert exchange(a, b)[1].kind is Kind.REP


def test_a_new_value_starts_noise_afresh() -> None:
    """The next value shown carries full-size noise, and flows stay (R24, R25)."""
    a, b = acquainted()
    for _ in range(6):
        exchange(a, b)
    flow = a.state.edges["bob"].flow
    a.set_value(np.array([2.0]), new_secret=True)
    assert a.state.edges["bob"].flow == flow
    assert a.state.account.messages == 0
    assert a.state.amplitude == 1.0


def test_one_neighbour_moves_no_more_than_agreed() -> None:
    """A liar that always shows the largest value gets exchanges only until its net flow reaches the limit (R42)."""
    a, b = acquainted(net_flow_limit=10.0)
    for _ in range(200):
        request = a.tick("bob")
        assert request is not None
        a.give_up()
        reply = b.receive(replace(request, x=np.array([8.0]), s=a.state.edges["bob"].s))
        if reply is not None:
            a.receive(reply)
        b.tick(None)
        b.drop("eve")
    assert abs(b.state.edges["ada"].flow) <= 10.0


def test_a_lying_register_beyond_the_limit_is_refused() -> None:
    """A responder that claims a huge step is refused, and our value does not move (R42)."""
    a, b = acquainted(net_flow_limit=10.0)
    request = a.tick("bob")
    assert request is not None
    reply = b.receive(request)
    assert reply is not None
    state = a.state
    with pytest.raises(ProtocolViolation, match="net flow"):
        a.receive(replace(reply, f=np.array([50.0])))
    assert a.state is state


def test_few_open_edges_show_nothing() -> None:
    """With ``min_open_edges=2`` a peer left with one neighbour neither asks nor answers (R30)."""
    a, b = acquainted(min_open_edges=2)
    hello = a.tick("bob")
    assert hello is not None
    assert hello.kind is Kind.HELLO
    assert b.state.account.messages == 0


def test_recovery_waits_for_all_neighbours() -> None:
    """With an empty disk no exchange is started before every neighbour answered or patience ended (R3)."""
    b, c = peer("bob", 5.0), peer("cyd", 6.0)
    state = PeerState(np.array([1.0]), Account(1.0, 0.5))
    a = Protocol(Settings(name="ada", diameter=1), state, draw=np.zeros, stamp=lambda: next(STAMP), recovering=True)
    b.add("ada")
    c.add("ada")
    a.add("cyd")
    talk(a, b, a.add("bob"))
    assert a.tick("bob") is None
    talk(a, c, a.greet("cyd"))
    request = a.tick("bob")
    assert request is not None
    assert request.kind is Kind.REQ
