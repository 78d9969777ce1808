"""When noise is drawn, and what a budget allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.messages import Kind
from sottovoce.peer.protocol.noise import account_for, draw_if_needed, rearm

from .pair import acquainted, answers, asks, exchange


def test_noise_is_the_draw_times_an_amplitude_that_decays() -> None:
    """σ, then σφ, then σφ², in every coordinate; after re-arming σ again, with the old noise until then (R14, R25)."""

    def drawn(state: PeerState) -> PeerState:
        return draw_if_needed(replace(state, fresh=False), lambda count: np.arange(1.0, 1.0 + count))

    state = PeerState(np.array([7.0, 8.0]), account_for(3.0, 0.5, None))
    for amplitude in (3.0, 1.5, 0.75):
        state = drawn(state)
        assert state.noise is not None
        assert state.noise.tolist() == [amplitude, 2.0 * amplitude]
        assert state.fresh
        assert draw_if_needed(state, np.zeros) is state
    armed = rearm(state)
    assert armed.noise is state.noise
    assert not armed.fresh
    again = drawn(armed).noise
    assert again is not None
    assert again.tolist() == [3.0, 6.0]


def test_one_draw_per_applied_exchange() -> None:
    """Refused, repeated and given-up requests show the same noise again (R15)."""
    a, b = acquainted()
    shown = []
    for _ in range(4):
        shown.append(asks(a, b).x)
        a.give_up()
    assert all(x is not None and x == shown[0] for x in shown)
    assert a.state.account.messages == 1
    exchange(a, b)
    assert asks(a, b).x != shown[0]
    assert a.state.account.messages == 2


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
    assert answers(b, asks(a, b)).kind is Kind.BUSY
    assert asks(b, a).kind is Kind.HELLO
    a.give_up()
    b.set_value(np.array([7.0]), new_secret=True)
    assert exchange(a, b)[1].kind is Kind.REP


def test_the_budget_is_how_well_the_value_may_be_known() -> None:
    """``smallest_std`` is a floor under the standard deviation of anybody's best estimate (R29)."""
    account = account_for(1.0, 0.8, 0.1)
    while account.affords():
        account = account.spend()
    assert account.std * (1 + 1e-9) >= 0.1
    assert account.std < 0.13
    assert account_for(1.0, 0.8, None).remaining() == np.inf
