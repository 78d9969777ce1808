"""What may be shown of the private value, gate by gate: states in which showing it would tell too much."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sottovoce.peer.protocol import Edge, PeerState
from sottovoce.peer.protocol.calling import Contacts
from sottovoce.peer.protocol.disclosure import may_show, own_interval, shown_error, shown_estimate
from sottovoce.peer.protocol.messages import Kind
from sottovoce.peer.protocol.state import Link
from sottovoce.peer.protocol.status import status_of
from sottovoce.privacy.gaussian.account import Account
from sottovoce.testing.settings import some_settings

from .pair import UNIT, Watched, acquainted, answers, asks, exchange, peer, talk, vector

SECRET = 123.456789
SETTINGS = some_settings(tolerance=1.0)
OPEN = Edge(sid=1, psid=1, blank=False, s=2, f=vector(3.0), r=1, g=vector(1.0), heard=2)
MOVED = PeerState(vector(SECRET), Account(0.1, 0.5, messages=1), vector(0.01), edges={"bob": OPEN})
QUIET = {"bob": Link(step=(UNIT // 4, UNIT // 8), disagreement=0.5 * UNIT)}


def told(protocol: Watched) -> str:
    """Everything in the status, as text."""
    contacts = Contacts(protocol.settings, lambda: 0.0)
    status = status_of(protocol, contacts, network="net", smallest_std=None, now=0.0, started=0.0)
    return repr(status.to_dict())


# -- to whoever reads the status --------------------------------------------------------------------


def test_an_estimate_under_noise_and_flows_is_shown() -> None:
    """The control: after an exchange, with noise in place, the estimate is the value shown."""
    assert shown_estimate(MOVED) == vector(SECRET + 0.01 + 2.0)


@pytest.mark.parametrize(
    "state",
    [
        PeerState(MOVED.value, MOVED.account),
        replace(MOVED, edges={"bob": Edge(sid=1)}),
        replace(MOVED, edges={"bob": replace(OPEN, s=1, r=1)}),
        replace(MOVED, noise=None),
    ],
    ids=["alone", "blank edge", "no exchange yet", "flows but no noise"],
)
def test_an_estimate_that_tells_the_value_is_not_shown(state: PeerState) -> None:
    """Without an exchange it is the value; without noise it is the value plus flows that the neighbours know."""
    assert shown_estimate(state) is None


def test_after_a_lost_disk_the_estimate_waits_for_noise() -> None:
    """A peer that got its ledger back and has drawn nothing shows nothing: estimate less flow is its private value."""
    a, b = acquainted()
    for _ in range(4):
        exchange(a, b)
    fresh = peer("ada", SECRET)
    talk(fresh, b, fresh.add("bob"))
    state = fresh.state
    assert state.shown - state.edges["bob"].flow == vector(SECRET)
    assert "'estimate': None" in told(fresh)
    fresh.tick(None)
    exchange(b, fresh)
    assert shown_estimate(fresh.state) is not None
    assert str(SECRET)[:6] not in told(fresh)


def test_the_error_is_hidden_with_the_estimate() -> None:
    """Its distance from an interval that everybody knows would tell the estimate."""
    rule = acquainted()[0].rule
    rule.certified = (vector(0.0), vector(200.0))
    assert shown_error(MOVED, rule) == vector(SECRET + 2.01)
    assert shown_error(replace(MOVED, noise=None), rule) is None


# -- to a neighbour ---------------------------------------------------------------------------------


def test_few_open_edges_show_nothing() -> None:
    """With ``min_open_edges=2`` a peer with one sealed edge neither asks nor answers (R30, R46)."""
    a, b = acquainted(min_open_edges=2)
    hello = asks(a, b)
    assert hello.kind is Kind.HELLO
    assert answers(b, replace(hello, kind=Kind.REQ, xid=1, x=vector(1.0), terms=None)).kind is Kind.BUSY
    assert (a.state.account.messages, b.state.account.messages) == (0, 0)


def test_nothing_is_shown_before_enough_edges_are_sealed() -> None:
    """From the second sealed edge on it speaks; after a drop that leaves one it is silent, under fresh noise (R30)."""
    a, b = acquainted(min_open_edges=2)
    c = peer("cyd", 3.0)
    c.add("ada")
    assert asks(a, b).kind is Kind.HELLO
    talk(a, c, a.add("cyd"))
    assert asks(a, c).kind is Kind.REQ
    a.give_up()
    a.drop("cyd")
    assert asks(a, b).kind is Kind.HELLO
    assert a.state.account.messages == 0
    links = {"bob": Link(step=(0, 0), disagreement=0.0)}
    quiet = replace(a.state, account=Account(0.0, 0.5), edges={"bob": replace(a.state.edges["bob"], heard=1)})
    assert own_interval(quiet, links, a.settings) is None
    assert own_interval(quiet, links, replace(a.settings, min_open_edges=1)) is not None


def three(**more: Any) -> tuple[Watched, Watched, Watched]:
    """ada between bob and cyd, all edges open."""
    a, b = acquainted(**more)
    c = peer("cyd", 3.0, **more)
    c.add("ada")
    talk(a, c, a.add("cyd"))
    for one in (a, b, c):
        one.tick(None)
    return a, b, c


def unanswered(a: Watched, b: Watched) -> None:
    """A request to b that is given up because time ran out."""
    request = asks(a, b)
    while request is not None:
        request = a.unanswered(request, late=True)  # type: ignore[assignment]


def test_a_neighbour_that_does_not_answer_does_not_count() -> None:
    """Its seal is in place, but alone with the other ada is silent, until something is heard of it (R30)."""
    a, b, c = three(min_open_edges=2)
    unanswered(a, c)
    assert asks(a, b).kind is Kind.HELLO
    b.settings = replace(b.settings, min_open_edges=1)
    b.tick(None)
    assert exchange(b, a)[1].kind is Kind.BUSY
    assert a.state.account.messages == 1
    a.receive(c.greet("ada"))
    assert asks(a, b).kind is Kind.REQ


def test_noise_is_not_used_up_while_settling_is_impossible() -> None:
    """While one neighbour does not answer, the other meets the same draw again and again, whoever asks (R55)."""
    a, b, c = three()
    unanswered(a, c)
    noise = a.state.noise
    for one, other in 20 * [(a, b), (b, a)]:
        one.tick(None)
        other.tick(None)
        assert exchange(one, other)[-1].kind is Kind.REP
    assert a.state.noise is noise
    assert a.state.account.messages == 1
    assert b.state.account.messages > 20
    a.receive(c.greet("ada"))
    exchange(a, b)
    exchange(a, b)
    assert a.state.account.messages == 2


def test_a_value_is_shown_only_under_noise() -> None:
    """In place, or affordable; a spent budget without a draw, or after starting afresh, allows nothing (R14)."""
    spent = replace(MOVED, account=Account(0.1, 0.5, budget=1.0, information=1.0, messages=1))
    assert may_show(MOVED, QUIET, SETTINGS)
    assert may_show(spent, QUIET, SETTINGS)
    assert not may_show(replace(spent, noise=None), QUIET, SETTINGS)


# -- to the whole network ---------------------------------------------------------------------------


def test_an_interval_covers_value_noise_and_steps_under_way() -> None:
    """x ± 6σφ^t, and x less the last step, if that is not acknowledged yet (R32, R41)."""
    x, noise = MOVED.shown, math.ceil(6 * (0.1 / 1e-6))
    interval = own_interval(
        replace(MOVED, edges={"bob": replace(OPEN, heard=1)}), QUIET, replace(SETTINGS, tolerance=2.0)
    )
    assert interval is not None
    np.testing.assert_array_equal(interval, (x - noise - UNIT // 4, x + noise + UNIT // 8))
    acknowledged = own_interval(MOVED, QUIET, replace(SETTINGS, tolerance=2.0))
    assert acknowledged is not None
    np.testing.assert_array_equal(acknowledged, (x - noise, x + noise))


def test_six_standard_deviations_decide_whether_an_interval_is_told() -> None:
    """Noise of σ = tolerance/12 is the most; a little more keeps the peer silent (R41)."""
    for std, tells in ((0.99 / 12, True), (1.01 / 12, False)):
        state = replace(MOVED, account=Account(std, 0.5, messages=1))
        assert (own_interval(state, QUIET, SETTINGS) is not None) is tells


@pytest.mark.parametrize(
    ("edge", "link"),
    [
        (Edge(sid=1), QUIET["bob"]),
        (replace(OPEN, heard=None), QUIET["bob"]),
        (OPEN, Link(step=(1, 0), disagreement=1.5 * UNIT)),
        (replace(OPEN, heard=1), Link(step=None, disagreement=0.5 * UNIT)),
    ],
    ids=["blank edge", "not heard since the start", "large difference", "unknown step under way"],
)
def test_an_interval_that_could_be_wrong_is_not_told(edge: Edge, link: Link) -> None:
    """Each reason for silence by itself (R32)."""
    state = replace(MOVED, account=Account(1e-3, 0.5, messages=1), edges={"bob": edge})
    assert own_interval(state, {"bob": link}, SETTINGS) is None
    assert own_interval(replace(state, edges={"bob": OPEN}), QUIET, SETTINGS) is not None
