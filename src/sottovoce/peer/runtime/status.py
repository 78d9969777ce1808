"""What a peer may say about itself: nothing from which its private value or its noise could be told.

The estimate is shown only after an exchange has moved it: before that it *is* the private value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..protocol.machine import Protocol
from ..protocol.messages import Vector
from ..protocol.stopping import NOISE_MARGIN

__all__ = ["NeighbourStatus", "Status", "explain"]


@dataclass(frozen=True)
class NeighbourStatus:
    """One neighbour, as seen from here.

    Parameters
    ----------
    state
        ``open``: a ledger is shared; ``blank``: none yet; ``parted``: it left; ``unreachable``: it does not answer.
    last_heard
        Seconds since its last message; ``None``: not since the start.
    """

    state: str
    last_heard: float | None


@dataclass(frozen=True)
class Status:
    """A peer at one moment.

    Parameters
    ----------
    estimate
        The current value; ``None`` until an exchange has moved it.
    plus_minus
        A bound on its distance, in any coordinate, from the mean of all members' private values; ``None``: not known.
    statement
        The same in words: what holds now, or what it is waiting for.
    noise_left
        Standard deviation of the noise in place (not the noise).
    account, known_to
        Information shown about the private value, and the standard deviation to which all others together
        could know it (infinite: nothing was shown).
    """

    name: str
    network: str
    dimension: int
    estimate: Vector | None
    plus_minus: float | None
    settled: bool
    statement: str
    noise_left: float
    noise_std: float
    draws: int
    account: float
    known_to: float
    smallest_std: float | None
    budget_spent: bool
    exchanges: int
    round: int
    uptime: float
    neighbours: Mapping[str, NeighbourStatus]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; infinities become ``None``."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain["estimate"] = None if self.estimate is None else self.estimate.tolist()
        plain["neighbours"] = {name: vars(one) for name, one in self.neighbours.items()}
        return {key: None if isinstance(value, float) and math.isinf(value) else value for key, value in plain.items()}

    def __repr__(self) -> str:
        return f"<Status {self.name} {'settled' if self.settled else 'not settled'} exchanges={self.exchanges}>"


def explain(protocol: Protocol, unreachable: list[str]) -> str:
    """An honest statement of the error, or of what stands in the way of one."""
    state, tolerance = protocol.state, protocol.settings.tolerance
    bound = protocol.error_bound
    if bound is not None:
        word = "settled" if protocol.settled else "not settled yet"
        return f"{word}: the estimate is within {bound:.3g} of the mean of all members' private values"
    if not state.active:
        return "no neighbours: the estimate is the own value"
    blank = [name for name in state.active if state.edges[name].blank]
    if blank:
        return f"no bound: waiting for {_few(blank)}; if one is gone for good, its neighbours must drop it"
    if unreachable:
        return f"no bound: no answer from {_few(unreachable)}; if one is gone for good, its neighbours must drop it"
    account = state.account
    if not account.affords():
        return _spent(protocol)
    if 2.0 * NOISE_MARGIN * state.amplitude > tolerance:
        return f"no bound yet: noise of standard deviation {state.amplitude:.3g} is still in place"
    return "no bound yet: waiting until all peers have been heard of"


def _spent(protocol: Protocol) -> str:
    size, tolerance = protocol.state.amplitude, protocol.settings.tolerance
    if protocol.state.account.messages == 0:
        return "the privacy budget is spent: nothing is shown until the private value is replaced by an unrelated one"
    if 2.0 * NOISE_MARGIN * size > tolerance:
        return (
            f"the privacy budget is spent: noise of standard deviation {size:.3g} stays for good, too much to settle "
            f"to {tolerance:g}; with all n peers alike the mean is off by about {size:.3g}/√n"
        )
    return "no bound yet: waiting until all peers have been heard of; the privacy budget is spent, the last noise stays"


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
