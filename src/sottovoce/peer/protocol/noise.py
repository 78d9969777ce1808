"""When noise is drawn, how large, and from which budget: rules R14, R15, R25, R29, R45 and R54; and seals, R46.

A draw is made once per *applied* exchange, not per attempt: a refused, unanswered or repeated request
shows the same noise again, so that calling often teaches nobody anything. The numbers themselves come from outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...privacy.gaussian.account import Account
from .settings import Settings
from .state import PeerState
from .units import Unit, Vector, nothing

__all__ = [
    "CUT_OFF",
    "Draw",
    "account_for",
    "amplitude",
    "begin_afresh",
    "draw_if_needed",
    "draw_seal",
    "may_draw",
    "noise_in_place",
    "rearm",
    "rounded",
]

Draw = Callable[[int, float], Vector]
"""Where noise comes from: ``draw(count, size)`` gives normal numbers of deviation ``size`` units, rounded (R45)."""

CUT_OFF = 1.0 / 16.0
"""R45: noise of a smaller deviation, in units, is zero. Rounded, it would be anything else once in 10¹⁵ draws."""


def account_for(noise_std: float, noise_decay: float, smallest_std: float | None) -> Account:
    """A new account (R29); ``smallest_std`` is how well any coalition may ever know the value, ``None``: no limit.

    Examples
    --------
    >>> round(account_for(1.0, 0.5, 0.1).budget, 9)
    100.0
    """
    if smallest_std is None:
        return Account(noise_std, noise_decay)
    return Account.with_budget(noise_std=noise_std, noise_decay=noise_decay, std=smallest_std)


def may_draw(state: PeerState) -> bool:
    """R14: whether a value may be shown at all.

    With the budget spent, the noise in place goes on covering the *same* secret, so exchanges continue
    under it. Before the first draw for a secret there is nothing that may cover it: refuse.
    """
    covered = state.noise is not None and state.account.messages > 0
    return state.fresh or covered or state.account.affords()


def amplitude(account: Account, draws: int, unit: Unit) -> float:
    """R45: σφ^draws in units, and zero below :data:`CUT_OFF`.

    Examples
    --------
    >>> [amplitude(Account(1.0, 0.5), t, Unit("0.1")) for t in (0, 3, 8)]
    [10.0, 1.25, 0.0]
    """
    size = account.noise_std * account.noise_decay**draws / unit.number
    return size if size >= CUT_OFF else 0.0


def noise_in_place(state: PeerState, unit: Unit) -> float:
    """Standard deviation σφ^{t−1}, in units, of the noise in place, or σ when the next draw starts afresh."""
    return amplitude(state.account, max(state.account.messages - 1, 0), unit)


def whole_noise(count: int, size: float, draw: Draw) -> Vector:
    """R45: rounded Gaussian noise of deviation ``size`` units.

    c + round(size·N) = round(c + size·N) for a whole number c: what is shown is a function of the Gaussian message of
    the paper, so nothing learned from it exceeds what is proved about that one.
    """
    return draw(count, size) if size else nothing(count)


def rounded(normal: Callable[[int], Any]) -> Draw:
    """A source of noise made from one of standard normal numbers, for simulations and tests.

    Examples
    --------
    >>> rounded(lambda count: np.linspace(-1.0, 1.0, count))(3, 2.6)
    array([-3,  0,  3])
    """
    return lambda count, size: np.rint(size * normal(count)).astype(np.int64)


def draw_seal(settings: Settings, draw: Draw) -> Vector:
    """R46: what an end that opens an edge starts its register at."""
    return whole_noise(settings.dimension, settings.seal_std / settings.units.number, draw)


def draw_if_needed(state: PeerState, draw: Draw, unit: Unit) -> PeerState:
    """R14: the state with noise ready for one exchange. Call only when :func:`may_draw` says so.

    Parameters
    ----------
    state
        The durable state.
    draw
        Where noise comes from.
    unit
        Of the network.
    """
    if state.fresh or _is_gone(state, unit):  # R15
        return state
    account = state.account
    if not account.affords():  # frozen
        return replace(state, fresh=True)
    noise = whole_noise(len(state.value), amplitude(account, account.messages, unit), draw)
    return replace(state, noise=noise, account=account.spend(), fresh=True)


def _is_gone(state: PeerState, unit: Unit) -> bool:
    """R14: whether noise has decayed to nothing, and that has been shown once: nothing is drawn, counted or stored for
    showing it again. Whoever knows the flows knew the value then.
    """
    return (
        state.noise is not None
        and state.account.messages > 0
        and noise_in_place(state, unit) == 0.0
        and amplitude(state.account, state.account.messages, unit) == 0.0
    )


def rearm(state: PeerState) -> PeerState:
    """R25, R54: members changed. The next value shown carries larger noise, until then the old noise stays in place.

    Full-size without a budget. With one, as large as the rest of the budget can still carry down to where it would
    have ended anyway; if it can carry nothing more, the noise goes on as it is. It covers the same secret as before,
    and the account counts every draw, so that what is promised of the account holds either way.
    """
    account = state.account
    first = _first_draw(account, _schedule(account))
    if first is None or first >= account.messages:
        return state
    return replace(state, account=replace(account, messages=first), fresh=False)


def begin_afresh(state: PeerState) -> PeerState:
    """R24, R54: the noise in place may not cover this value, or was lost. Nothing is shown before the next draw.

    Full-size without a budget. With one, the draws are those from which the rest of the budget comes down furthest.
    """
    account = state.account
    end = _schedule(account)
    while end is not None and end > 0 and not replace(account, messages=end - 1).affords():
        end -= 1
    return replace(state, account=replace(account, messages=_first_draw(account, end) or 0), noise=None, fresh=False)


def _schedule(account: Account) -> int | None:
    """How many draws the whole budget pays for; ``None``: there is no limit."""
    return None if math.isinf(account.budget) else int(account.new_secret().remaining())


def _first_draw(account: Account, end: int | None) -> int | None:
    """The largest draw from which the rest of the budget pays for all up to ``end``; ``None``: for not even the last.

    Examples
    --------
    >>> account = Account(1.0, 0.5, budget=100.0)  # pays for draws 0 to 3, at 1 + 4 + 16 + 64 = 85
    >>> [_first_draw(account.carrying(spent), 4) for spent in (0.0, 15.0, 17.0, 37.0)]
    [0, 0, 2, None]
    """
    if end is None:
        return 0
    return next((t for t in range(end) if replace(account, messages=t).affords(end - t)), None)
