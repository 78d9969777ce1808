"""When noise is drawn, and from which budget: rules R14, R15, R25 and R29.

A draw is made once per *applied* exchange, not per attempt: a refused, unanswered or repeated request
shows the same noise again, so that calling often teaches nobody anything. The numbers themselves come from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...privacy.gaussian.account import Account
from .state import PeerState, amplitude

__all__ = ["account_for", "draw_if_needed", "may_draw", "rearm"]


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
    under it. Before the first draw, or after re-arming, there is nothing that may cover it: refuse.
    """
    return state.fresh or state.account.messages > 0 or state.account.affords()


def draw_if_needed(state: PeerState, draw: Callable[[int], Any]) -> PeerState:
    """R14: the state with noise ready for one exchange. Call only when :func:`may_draw` says so.

    Parameters
    ----------
    state
        The durable state.
    draw
        Gives that many independent standard normal numbers.
    """
    if state.fresh:  # R15
        return state
    account = state.account
    if not account.affords():  # frozen
        return replace(state, fresh=True)
    size = amplitude(account, account.messages)
    noise = draw(len(state.value)) * size if size else state.value * 0
    return replace(state, noise=noise, account=account.spend(), fresh=True)


def rearm(state: PeerState) -> PeerState:
    """R25: the next value shown carries full-size noise; until then the old noise stays in place."""
    return replace(state, account=state.account.rearmed(), fresh=False)
