"""The state machine: exchanges, repetitions, membership, pacing and limits, one rule at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sottovoce.errors import ConfigError, ProtocolViolation
from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.messages import DEFAULT_TOPIC, Kind, Message, Stop
from sottovoce.peer.protocol.noise import account_for, noise_in_place, rounded
from sottovoce.peer.protocol.steps import FEW, half, kept_within
from sottovoce.peer.protocol.units import LONG
from sottovoce.privacy.gaussian.account import Account
from sottovoce.testing.settings import some_settings

from .pair import UNIT, Watched, acquainted, answers, asks, exchange, peer, started, talk, vector


def test_durable_state_is_never_changed_in_place() -> None:
    """States kept from before an exchange still hold what they held: a store may compare by identity (R1)."""
    a, b = acquainted()
    before = (a.state, b.state)
    kept = [(s.shown.copy(), s.account, {n: (e.s, e.r) for n, e in s.edges.items()}) for s in before]
    exchange(a, b)
    assert a.state is not before[0]
    for state, (shown, account, counters) in zip(before, kept, strict=True):
        np.testing.assert_array_equal(state.shown, shown)
        assert (state.account, {n: (e.s, e.r) for n, e in state.edges.items()}) == (account, counters)


# -- one exchange -----------------------------------------------------------------------------------


def test_an_exchange_moves_both_to_the_average() -> None:
    """Both ends hold the average of what they showed, to the unit, and the flows cancel (R20)."""
    a, b = acquainted()
    shown_b = b.state.shown
    request, _ = exchange(a, b)
    assert request.x is not None
    noise = b.state.noise
    assert noise is not None
    total = request.x + shown_b + noise
    assert a.state.shown + b.state.shown == total
    assert abs(a.state.shown - b.state.shown) == total % 2
    assert a.state.edges["bob"].flow == -b.state.edges["ada"].flow


@pytest.mark.parametrize("odd", [0, FEW - 1, FEW, 3 * FEW])
def test_one_odd_difference_among_many_is_halved_by_a_coin(odd: int) -> None:
    """Wherever it stands, and with either side of the coin; the even ones are halved exactly."""
    difference = 2 * np.arange(4 * FEW)
    difference[odd] += 1
    assert half(difference, np.ones)[odd] - half(difference, np.zeros)[odd] == 1
    assert np.delete(half(difference, np.ones), odd).tolist() == np.delete(np.arange(4 * FEW), odd).tolist()


def test_a_fair_coin_halves_an_odd_difference() -> None:
    """Both halves come up equally often, even differences need no coin, and nothing is lost (R44)."""
    rng = np.random.default_rng(0)
    halves = half(np.full(10_000, -7), lambda count: rng.integers(2, size=count))
    assert set(halves.tolist()) == {-4, -3}
    assert abs((halves == -4).sum() - 5000) < 250
    assert half(np.array([6, -6]), lambda count: pytest.fail("no coin is needed")).tolist() == [3, -3]


def test_a_peer_with_a_request_out_starts_no_other() -> None:
    """While it waits it is locked; the tick is skipped (R16)."""
    a, b = acquainted()
    request = asks(a, b)
    assert a.tick("bob") is None
    assert a.pending is not None
    assert a.pending.message is request


def test_a_locked_peer_answers_busy() -> None:
    """Crossing requests are both refused; nobody's value changes while its request is out (R19, V6)."""
    a, b = acquainted()
    from_a, from_b = asks(a, b), asks(b, a)
    to_a, to_b = answers(b, from_a), answers(a, from_b)
    assert (to_a.kind, to_b.kind) == (Kind.BUSY, Kind.BUSY)
    a.receive(to_a)
    assert a.pending is None


def test_a_repeated_request_is_applied_once() -> None:
    """The same bytes again get the same register again (R18), whether or not the first reply arrived."""
    a, b = acquainted()
    request = asks(a, b)
    first, second = answers(b, request), answers(b, request)
    assert (first.kind, second.kind) == (Kind.REP, Kind.REP)
    assert first.s == second.s == b.state.edges["ada"].s == 2


def test_a_refused_request_is_not_applied_when_it_comes_again() -> None:
    """A request number is used up by a refusal: the requester may have moved since (R18)."""
    a, b = acquainted()
    asks(b, a)  # locks b
    request = asks(a, b)
    assert answers(b, request).kind is Kind.BUSY
    b.give_up()
    assert answers(b, request).kind is Kind.BUSY
    assert b.events["duplicate", "ada"] == 1


def test_a_lost_reply_is_repaired_by_any_later_message() -> None:
    """Mass is off by one step until then, and by nothing afterwards (R13)."""
    a, b = acquainted()
    before = a.state.edges["bob"].flow
    b.receive(asks(a, b))  # its reply is lost
    a.give_up()
    assert a.state.edges["bob"].flow == before != -b.state.edges["ada"].flow
    talk(b, a, b.greet("ada"))
    assert a.state.edges["bob"].flow == -b.state.edges["ada"].flow


def test_only_the_answer_to_the_pending_request_unlocks() -> None:
    """An answer with another number changes no lock (R21)."""
    a, b = acquainted()
    late = answers(b, asks(a, b))
    a.give_up()
    again = asks(a, b)
    a.receive(replace(late, xid=again.xid + 1))
    assert a.pending is not None
    a.receive(answers(b, again))
    assert a.pending is None


def test_a_request_is_repeated_unchanged_and_then_given_up() -> None:
    """The identical message, as often as configured, and only if merely time ran out (R17)."""
    a, b = acquainted(retries=2)
    request = asks(a, b)
    assert [a.unanswered(request, late=True) for _ in range(3)] == [request, request, None]
    assert a.pending is None
    a.reached("bob")
    request = asks(a, b)
    assert a.unanswered(request, late=False) is None
    assert a.pending is None
    assert a.events["given-up", "bob"] == 2


def test_a_greeting_is_not_repeated() -> None:
    """Only the pending request is; and a talk that ends gives up no other request than its own (R17, R22)."""
    a, b = acquainted()
    asks(a, b)
    hello = a.greet("bob")
    assert a.unanswered(hello, late=True) is None
    a.give_up(hello)
    assert a.pending is not None


# -- starting, members, value -----------------------------------------------------------------------


def resumed(stored: PeerState | None, value: float | None, neighbours: list[str]) -> Watched:
    return Watched.resume(
        some_settings(), stored, value=None if value is None else vector(value), account=account_for(2.0, 0.5, 0.1),
        neighbours=neighbours, draw=rounded(np.zeros), coin=np.zeros, stamp=lambda: 2**57,
    )  # fmt: skip


def test_a_restart_goes_on_with_what_was_shown() -> None:
    """The stored state, with the noise configured now and the account carried over; no recovery (R2)."""
    a, b = acquainted()
    exchange(a, b)
    again = resumed(a.state, None, ["bob"])
    assert not again.recovering
    assert again.state.edges["bob"].flow == a.state.edges["bob"].flow
    assert (again.state.noise, again.state.account.messages) == (a.state.noise, a.state.account.messages)
    assert again.state.account.information == a.state.account.information
    assert (again.state.account.noise_std, round(again.state.account.budget)) == (2.0, 100)


def test_numbers_of_requests_are_stored_ahead_and_never_come_twice() -> None:
    """A run of requests changes the stored number once, and after a kill at any of them all numbers are new (R18)."""
    a, b = acquainted()
    said: list[int] = []
    for _ in range(3):
        stored = set()
        for _ in range(40):
            said.append(asks(a, b).xid)
            a.give_up()
            stored.add(a.state.requests)
            assert a.state.requests >= said[-1]
        assert len(stored) <= 2
        a = resumed(a.state, None, ["bob"])
        talk(a, b, a.greet("bob"))
    assert len(set(said)) == len(said) == 120


def test_a_restart_with_another_value_is_a_change_of_value() -> None:
    """Noise starts afresh and the account goes on, because the new value may be related to the old (R24)."""
    a, b = acquainted()
    exchange(a, b)
    again = resumed(a.state, 7.0, ["bob"])
    assert (again.state.value.tolist(), again.state.account.messages) == ([7 * UNIT], 0)
    assert again.state.account.information == a.state.account.information > 0


def test_a_restart_drops_and_adds_as_configured() -> None:
    """Neighbours that are no longer listed lose their record, new ones get a blank one (R23)."""
    a, b = acquainted()
    exchange(a, b)
    again = resumed(a.state, None, ["cyd"])
    assert list(again.state.edges) == ["cyd"]
    assert again.state.edges["cyd"].blank
    assert again.state.noise is None


def test_a_first_start_needs_a_value() -> None:
    """Without a stored state and without a value there is nothing to begin with; with one the peer recovers (R3)."""
    with pytest.raises(ConfigError, match="needs its private value"):
        resumed(None, None, ["bob"])
    assert resumed(None, 1.0, ["bob"]).recovering


def test_recovery_waits_for_all_neighbours() -> None:
    """With an empty disk no exchange is started before every neighbour answered or patience ended (R3)."""
    b, c = peer("bob", 5.0), peer("cyd", 6.0)
    state = PeerState(vector(1.0), Account(1.0, 0.5))
    a = started(some_settings(), state, recovering=True)
    b.add("ada")
    c.add("ada")
    a.add("cyd")
    talk(a, b, a.add("bob"))
    assert a.tick("bob") is None
    talk(a, c, a.greet("cyd"))
    assert asks(a, b).kind is Kind.REQ


def test_leaving_takes_the_flow_along_and_rearms() -> None:
    """Both ends forget the flow; the one that stays starts its noise afresh and no longer waits (R23, R25, R40)."""
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


def test_a_request_to_a_neighbour_that_left_is_void() -> None:
    """The lock ends with the record, and what was heard of the rounds of its earlier life is forgotten (R5, R35)."""
    a, b = acquainted()
    exchange(a, b)
    asks(a, b)
    assert "bob" in a.rule._seen
    bye = b.drop("ada")
    assert bye is not None
    a.receive(bye)
    assert a.pending is None
    assert "bob" not in a.rule._seen


def test_dropping_one_of_several_neighbours_rearms() -> None:
    """The flow that goes may have been all that covered the value, so the next draw is of full size (R23, R25)."""
    a, b = acquainted()
    for _ in range(4):
        exchange(a, b)
    a.add("cyd")
    a.drop("bob")
    assert (a.state.account.messages, noise_in_place(a.state, a.settings.units)) == (0, 1.0 * UNIT)
    assert a.state.noise is not None


def test_a_new_value_starts_noise_afresh() -> None:
    """The next value shown carries full-size noise, and flows stay (R24, R25)."""
    a, b = acquainted()
    for _ in range(6):
        exchange(a, b)
    flow = a.state.edges["bob"].flow
    a.set_value(vector(2.0), new_secret=True)
    assert a.state.edges["bob"].flow == flow
    assert a.state.account.messages == 0
    assert noise_in_place(a.state, a.settings.units) == 1.0 * UNIT


# -- pace and limits --------------------------------------------------------------------------------


def test_calling_fast_does_not_drain_noise() -> None:
    """A neighbour that asks 100 times between two of our own ticks gets as many exchanges as the bucket holds (R28)."""
    a, b = acquainted(bucket_burst=6.0)
    for _ in range(100):
        exchange(a, b)
    assert b.events["applied", "ada"] == 6
    assert b.state.account.messages == 6


def test_the_bucket_is_empty_after_a_start() -> None:
    """Nobody is answered before the own clock has rung once (R28)."""
    a, b = peer("ada"), peer("bob")
    b.add("ada")
    talk(a, b, a.add("bob"))
    exchange(a, b)
    assert b.events["too-fast", "ada"] == 1
    assert b.events["applied", "ada"] == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_a_value_out_of_range_is_not_averaged_with(sign: int) -> None:
    """Beyond what can arise (R47) the answer is BUSY, and nothing moved; at the limit it is averaged (R19)."""
    a, b = acquainted()
    limit, before = b.settings.limits.value, b.state.edges["ada"].s
    assert answers(b, replace(asks(a, b), x=np.array([sign * (limit + 1)]))).kind is Kind.BUSY
    assert b.state.edges["ada"].s == before
    assert b.events["value-out-of-range", "ada"] == 1


def test_one_neighbour_moves_no_more_than_agreed() -> None:
    """A liar that always shows more than we have moves us up to the limit, and not one unit further (R42, R47)."""
    a, b = acquainted()
    limit = b.settings.edge_limit("ada")
    for _ in range(40):
        request = asks(a, b)
        a.give_up()
        a.receive(answers(b, replace(request, x=b.state.shown + limit)))
        b.tick(None)
    assert b.state.edges["ada"].flow == limit
    assert b.events["flow-limit", "ada"] > 20


@pytest.mark.parametrize("kind", [Kind.REP, Kind.HELLO])
def test_a_lying_register_beyond_the_limit_is_refused(kind: Kind) -> None:
    """A neighbour that claims a flow beyond twice the limit is refused, and our value does not move (R42, R47)."""
    a, b = acquainted()
    reply, edge = answers(b, asks(a, b)), a.state.edges["bob"]
    state, most = a.state, edge.f + 2 * a.settings.edge_limit("bob")
    with pytest.raises(ProtocolViolation, match="flow of an edge"):
        a.receive(replace(reply, kind=kind, f=most + 1))
    assert a.state is state
    a.receive(replace(reply, kind=kind, f=most))
    assert a.state is not state


def test_a_lying_ledger_is_not_adopted_beyond_the_limit() -> None:
    """A blank end checks what it is given like everybody else (R47)."""
    _, b = acquainted()
    fresh = peer("ada")
    hello = answers(b, fresh.add("bob"))
    assert not hello.blank
    most = 2 * fresh.settings.edge_limit("bob")
    with pytest.raises(ProtocolViolation, match="flow of an edge"):
        fresh.receive(replace(hello, f=hello.g - most - 1))
    assert fresh.state.edges["bob"].blank
    fresh.receive(replace(hello, f=hello.g - most))
    assert fresh.state.edges["bob"].sealed


def test_a_flow_outside_the_limit_may_come_back() -> None:
    """Two crossing steps can leave a flow beyond L: from there it moves inwards only, never more than L (R47)."""
    rng = np.random.default_rng(1)
    flow, amount = rng.integers(-200, 201, size=20_000), rng.integers(-400, 401, size=20_000)
    after = flow + kept_within(amount, flow, 100)
    inside = abs(flow) <= 100
    assert (abs(after[inside]) <= 100).all()
    assert (abs(after[~inside]) <= abs(flow[~inside])).all()
    assert (abs(after - flow) <= 100).all()
    free = (abs(amount) <= 100) & (abs(flow + amount) <= 100)
    np.testing.assert_array_equal(after[free], (flow + amount)[free])


def test_crossing_steps_stay_within_twice_the_limit() -> None:
    """Both ends answer an old request at once, again and again: the true flow never exceeds 2L (R47).

    That is the most an honest neighbour can ever show, so checking for 2L strands nobody.
    """
    rng, limit = np.random.default_rng(2), 100
    flow = np.zeros(50_000, dtype=np.int64)
    for _ in range(30):
        steps = [kept_within(rng.integers(-500, 501, size=flow.size), side * flow, limit) for side in (1, -1)]
        flow = flow + steps[0] - steps[1]
        assert abs(flow).max() <= 2 * limit


def test_a_message_about_another_topic_is_refused() -> None:
    """A message names its topic, and a protocol hears of its own only (R50)."""
    a, b = acquainted()
    assert asks(a, b).topic == DEFAULT_TOPIC
    with pytest.raises(ProtocolViolation, match="topic"):
        b.receive(replace(a.greet("bob"), topic=b"x" * 16))


def test_rounds_of_another_roster_are_not_heard() -> None:
    """Ledgers are merged as ever, but the settled rule waits until both ends hold the same roster (R49)."""
    a, b = acquainted()
    before = b.rule.round
    for _ in range(5):
        b.receive(replace(a.greet("bob"), roster=1, stop=Stop(before + 1)))
    assert b.rule.round == before
    b.reconfigure(replace(b.settings, roster=1, diameter=3))
    a.reconfigure(replace(a.settings, roster=1, diameter=3))
    b.receive(replace(a.greet("bob"), stop=Stop(before + 1)))
    assert (b.rule.round, b.rule.epoch_rounds) == (before + 2, 6)


def test_one_number_with_two_digests_is_a_dispute() -> None:
    """Two rosters of the same number cannot both be right: both digests are named and nothing is believed (R49)."""
    a, b = acquainted(roster=3, roster_digest=b"a" * 32)
    before = b.state
    with pytest.raises(
        ProtocolViolation, match=r"bob and ada hold different rosters 3, with the digests 61616161.* and 6262"
    ):
        b.receive(replace(a.greet("bob"), digest=b"b" * 32))
    assert b.state is before
    with pytest.raises(ProtocolViolation, match="different rosters 3"):  # a REQ carries no digest and no terms
        b.receive(asks(a, b))
    b.receive(a.greet("bob"))
    assert b.disputes == {}


def test_units_are_compared_whatever_the_rosters() -> None:
    """A message in another unit is never merged, even while one end waits for a later roster (R60)."""
    a, b = acquainted()
    hello = a.greet("bob")
    assert hello.terms is not None
    with pytest.raises(ProtocolViolation, match=r"bob has unit 0\.000001 and ada has 0\.01; all members"):
        b.receive(replace(hello, roster=7, terms=hello.terms._replace(unit="0.01")))
    b.receive(replace(hello, roster=7, terms=hello.terms._replace(tolerance=0.5)))  # the later roster may say so
    with pytest.raises(ProtocolViolation, match="bob has wire version 2 and ada has 3"):
        b.receive(replace(hello, terms=hello.terms._replace(wire=3)))


def test_news_are_paid_from_a_bucket() -> None:
    """A neighbour that claims round after round gets two greetings for each own call, and what was saved up (R62)."""
    a, b = acquainted()
    wide = np.array([0]), np.array([10 * b.settings.tolerance_units])
    b.rule._sample, b.rule._may_tell = (lambda: wide), (lambda: True)
    saved = 2 * b.rule.epoch_rounds
    for calls in (50, 0, 3):
        for _ in range(calls):
            b.tick(None)
        before, told = min(saved, b._links["ada"].news), 0
        for _ in range(200):
            stop = Stop(b.rule.round, *wide, *wide)
            answer = b.receive(replace(a.greet("bob"), stop=stop))
            told += (answer is not None) + len(b.news())
        assert told <= before
        assert told >= before - b.rule.epoch_rounds - 1
    assert b.news() == []


def test_of_two_in_the_same_round_the_first_by_name_speaks() -> None:
    """Bob waits for ada's greeting, and not if ada has told of that round; ada waits for nobody (R94)."""
    a, b = acquainted()
    b.rule.round = a.rule.round = 5
    assert (a.speaks_second("bob"), b.speaks_second("ada")) == (False, True)
    b.rule._seen["ada"] = 5
    assert not b.speaks_second("ada")


def test_only_a_greeting_from_the_next_round_is_worth_holding_back() -> None:
    """Not one from this round or a far one, not while nothing can be told, and no request (R94)."""
    a, b = acquainted()
    b.rule.round = b.rule._news_round = 5
    greetings = [replace(a.greet("bob"), stop=Stop(number)) for number in (4, 5, 6, 7)]
    assert [b.answers_soon(greeting) for greeting in greetings] == [False, False, True, False]
    assert not b.answers_soon(replace(greetings[2], kind=Kind.BUSY))
    b.rule._news_round = 4
    assert not b.answers_soon(greetings[2])


def test_an_answer_that_may_be_lost_is_told_again_to_who_greets_again() -> None:
    """Not in its first greeting of a round, nor where a call was answered, nor when no greetings are left (R94)."""
    a, b = acquainted()
    b.rule.joined, b.rule.round = True, 5
    greeting = replace(a.greet("bob"), stop=Stop(5))

    def answered_again(sent: Callable[[Message], object], news: float = 9.0) -> list[bool]:
        """Whether three greetings in a row are answered, after bob has told his round like that."""
        sent(b.greet("ada"))
        b._links["ada"].news, b._links["ada"].greeted = news, -1
        return [b._payload(greeting) is not None for _ in range(3)]

    assert answered_again(b.delivered) == [False, False, False]
    assert answered_again(b.answered) == [False, True, True]
    assert answered_again(b.answered, news=1.5) == [False, True, False]
    assert answered_again(partial(b.unanswered, late=True)) == [False, True, True]
    b.rule.round = 6
    assert answered_again(lambda _told: None) == [False, False, False]


def test_a_long_request_waits_for_a_peer_that_has_asked_somebody_else() -> None:
    """And for one that has asked the sender, unless that is first by name; no short one, and no greeting (R95)."""
    a, b = acquainted(dimension=LONG)
    assert not b.may_wait("ada", replace(a.greet("bob"), kind=Kind.REQ))
    requests = {"bob": asks(a, b), "ada": asks(b, a)}
    assert b.may_wait("ada", requests["bob"])
    assert not a.may_wait("bob", requests["ada"])
    assert a.may_wait("cyd", requests["ada"])
    assert not b.may_wait("ada", a.greet("bob"))
    c, d = acquainted()
    request = asks(c, d)
    asks(d, c)
    assert not d.may_wait("ada", request)


def test_what_has_arrived_is_not_told_again_at_once() -> None:
    """Who only waits greets a neighbour that knows its round after two calls to each, and not before (R88)."""
    a, _ = acquainted()
    a._has_said_enough = lambda _name: True  # type: ignore[method-assign]
    a.rule.joined = True
    hello = a.tick("bob")
    assert hello is not None
    assert a.tick("bob") is not None  # nobody has said that it arrived
    a._still = (0, 0)
    a.delivered(hello)
    assert [a.tick("bob") is None for _ in range(3)] == [True, False, False]
    a._still, a.rule.round = (0, 0), 1
    assert a.tick("bob") is not None


def test_long_vectors_are_not_sent_to_who_cannot_take_them_yet() -> None:
    """A request waits until the own bucket, and so the other's, has filled; also where it holds little (R28)."""
    a, b = acquainted(dimension=LONG)
    for one in (a, b):
        one.settings = replace(one.settings, bucket_refill=1.0)
        one._links["bob" if one is a else "ada"].tokens = 0.0
    b.settings = replace(b.settings, dimension=LONG - 1)
    assert [a.tick("bob") is None for _ in range(2)] == [True, False]
    assert b.tick("ada") is not None  # the price of a short one is nothing
    a.give_up()
    a.settings, a._links["bob"].tokens = replace(a.settings, bucket_burst=0.5), 0.0
    assert a.tick("bob") is not None


def test_a_large_difference_unsettles() -> None:
    """A settled peer that meets a difference above twice the tolerance is settled no longer (R36)."""
    a, b = acquainted()
    exchange(a, b)
    a.rule.settled = True
    a.set_value(vector(100.0), new_secret=True)
    assert not a.settled
    b.rule.settled = True
    exchange(a, b)
    assert not b.settled
