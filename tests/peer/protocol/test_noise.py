"""When noise is drawn, and what a budget allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.messages import Kind
from sottovoce.peer.protocol.noise import (
    account_for,
    amplitude,
    begin_afresh,
    draw_if_needed,
    draw_seal,
    may_draw,
    rearm,
    rounded,
)
from sottovoce.peer.protocol.units import Unit
from sottovoce.privacy.gaussian.account import Account
from sottovoce.testing.settings import some_settings

from .pair import UNIT, acquainted, answers, asks, exchange, vector


def test_noise_is_the_draw_times_an_amplitude_that_decays() -> None:
    """σ, then σφ, then σφ², in every coordinate; after re-arming σ again, with the old noise until then (R14, R25)."""

    def drawn(state: PeerState) -> PeerState:
        draw = rounded(lambda count: np.arange(1.0, 1.0 + count))
        return draw_if_needed(replace(state, fresh=False), draw, Unit("0.25"))

    state = PeerState(np.array([7, 8]), account_for(3.0, 0.5, None))
    for size in (12, 6, 3):
        state = drawn(state)
        assert state.noise is not None
        assert state.noise.tolist() == [size, 2 * size]
        assert state.fresh
        assert draw_if_needed(state, rounded(np.zeros), Unit("0.25")) is state
    armed = rearm(state)
    assert armed.noise is state.noise
    assert not armed.fresh
    again = drawn(armed).noise
    assert again is not None
    assert again.tolist() == [12, 24]


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
    b.set_value(vector(7.0), new_secret=False)
    b.state = replace(b.state, account=replace(b.state.account, information=100.0))
    assert answers(b, asks(a, b)).kind is Kind.BUSY
    assert asks(b, a).kind is Kind.HELLO
    a.give_up()
    b.set_value(vector(7.0), new_secret=True)
    assert exchange(a, b)[1].kind is Kind.REP


def test_a_change_of_members_restarts_noise_only_as_far_as_the_budget_carries() -> None:
    """Early on from far up, late from less far, and not at all once nothing is left; it ends where it would (R54)."""
    account, sizes = account_for(1.0, 0.8, 0.1), []
    end = account.remaining()
    while account.affords():
        account = account.spend()
        again = rearm(PeerState(vector(1.0), account, vector(0.1), fresh=True)).account
        sizes.append(again.messages)
        assert again.remaining() + again.messages == end
    assert sizes[0] == 0
    assert sizes == sorted(sizes)
    assert sizes[-1] == account.messages == end
    frozen = PeerState(vector(1.0), account, vector(0.1), fresh=True)
    assert rearm(frozen) is frozen


def test_a_new_value_is_never_covered_by_the_old_noise() -> None:
    """The old noise is taken out at once; the next draw is one that the rest of the budget carries down (R24, R54)."""
    account = account_for(1.0, 0.8, 0.1)
    spent = account.spend(int(account.remaining()) - 1)
    state = begin_afresh(PeerState(vector(1.0), spent, vector(0.1), fresh=True))
    assert state.noise is None
    assert not state.fresh
    assert state.account.affords()
    assert not state.account.spend().affords()
    nothing = begin_afresh(replace(state, account=replace(spent, information=spent.budget)))
    assert not may_draw(nothing)
    assert begin_afresh(PeerState(vector(1.0), account_for(1.0, 0.8, None).spend(9), vector(0.1))).account.messages == 0


def test_the_budget_is_how_well_the_value_may_be_known() -> None:
    """``smallest_std`` is a floor under the standard deviation of anybody's best estimate (R29)."""
    account = account_for(1.0, 0.8, 0.1)
    while account.affords():
        account = account.spend()
    assert account.std * (1 + 1e-9) >= 0.1
    assert account.std < 0.13
    assert account_for(1.0, 0.8, None).remaining() == np.inf


def test_noise_is_whole_and_rounded_from_a_gaussian() -> None:
    """u = round(σφ^t/h · N), per coordinate, from the draws given (R45)."""
    rng = np.random.default_rng(5)
    state = PeerState(np.zeros(1000, dtype=np.int64), Account(1.0, 0.5, messages=2))
    drawn = draw_if_needed(state, rounded(rng.standard_normal), Unit("0.001"))
    expected = np.rint(np.random.default_rng(5).standard_normal(1000) * 250.0)
    assert drawn.noise is not None
    assert drawn.noise.dtype == np.int64
    np.testing.assert_array_equal(drawn.noise, expected)


def test_noise_below_a_sixteenth_of_a_unit_is_none() -> None:
    """Then no draw is made at all, and the noise in place is exactly zero (R45)."""
    unit, account = Unit("1"), Account(1.0, 0.5)
    assert [amplitude(account, t, unit) for t in (3, 4, 5)] == [0.125, 0.0625, 0.0]
    state = PeerState(vector(1.0), replace(account, messages=5))
    silent = draw_if_needed(state, lambda *_: pytest.fail("nothing is drawn"), unit)
    assert silent.noise is not None
    assert silent.noise.tolist() == [0]


def test_noise_that_is_gone_is_not_counted_again() -> None:
    """Once shown without noise, a value is shown again without draw, cost or change; re-arming ends that (R14)."""
    unit, draw = Unit("1"), rounded(np.ones)
    state = PeerState(vector(1.0), replace(Account(1.0, 0.5), messages=4))
    for last in (4, 5):
        state = replace(draw_if_needed(state, draw, unit), fresh=False)
        assert state.account.messages == last + 1
    assert state.noise is not None
    assert not state.noise.any()
    assert draw_if_needed(state, lambda *_: pytest.fail("nothing is drawn"), unit) is state
    again = draw_if_needed(rearm(state), draw, unit)
    assert again.account.information > state.account.information
    assert again.noise is not None
    assert again.noise.tolist() == [1]


def test_a_seal_has_the_size_that_was_agreed() -> None:
    """One rounded Gaussian number per coordinate, of deviation seal_std/h (R46)."""
    settings = some_settings(dimension=3, seal_std=2.0)
    assert draw_seal(settings, rounded(lambda count: np.array([1.0, -0.5, 1e-7]))).tolist() == [2 * UNIT, -UNIT, 0]
