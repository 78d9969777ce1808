"""A peer's account of itself at one moment, for its operator: numbers, and a sentence that says what they are worth.

Nothing in it tells the private value or the noise; the gate is in :mod:`.disclosure`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from .absences import Missing
from .calling import Contacts
from .disclosure import shown_error, shown_estimate, too_noisy
from .machine import Protocol
from .noise import noise_in_place

_TEXTS = 8
"""Coordinates that a status shows as text."""

__all__ = ["NeighbourStatus", "PeerStatus", "TopicStatus", "explain", "status_of"]


@dataclass(frozen=True)
class NeighbourStatus:
    """One neighbour, as seen from here.

    Parameters
    ----------
    state
        ``open``: a ledger is shared; ``blank``: none yet; ``parted``: it left; ``unreachable``: it does not answer;
        ``parting``: it was dropped here and has not heard of it yet (R51).
    last_heard
        Seconds since its last message; ``None``: not since the start.
    sealed
        Whether the edge was opened with a seal that still stands in this peer's value.
    roster
        Number of the roster that it showed last; ``None``: none since the start.
    parting_since
        When it was dropped, in seconds since 1970, as long as it has not heard of it.
    unanswered
        Seconds since which it greets and does not answer requests; ``None``: it answers, or is not there at all.
    """

    state: str
    last_heard: float | None
    sealed: bool = False
    roster: int | None = None
    parting_since: float | None = None
    unanswered: float | None = None


@dataclass(frozen=True)
class TopicStatus:
    """A topic that is open here.

    Parameters
    ----------
    seconds
        Since when this process takes part in it.
    answered
        Whether the answer is there, and neighbours still need this peer for theirs.
    statement
        What it waits for, in words.
    missing
        Who is missing, since when, and who says so.
    """

    seconds: float
    answered: bool
    statement: str
    missing: Sequence[Missing]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return vars(self) | {"missing": [vars(one) for one in self.missing]}


@dataclass(frozen=True)
class PeerStatus:
    """A peer at one moment.

    Parameters
    ----------
    estimate, estimate_text
        The current value; ``None`` until an exchange has moved it. The text has its first coordinates as exact
        decimal numbers, with the digits of the unit.
    plus_minus
        A bound on its distance, in any coordinate, from the mean of all members' private values; ``None``: not known.
    contributors
        How many members' values that mean is made of, as far as it is certified; 0: not yet.
    statement
        The same in words: what holds now, or what it is waiting for.
    roster, notices
        Number of the roster that this peer works with; what its operator should know, in sentences: neighbours on other
        terms (R60), a later roster that waits, and neighbours that do not answer requests (R71).
    noise_left
        Standard deviation of the noise in place (not the noise).
    account, known_to
        Information shown about the private value, and the standard deviation to which all others together
        could know it (infinite: nothing was shown).
    budget_share
        How much of the privacy budget is spent, from 0 to 1; ``None``: there is no limit.
    missing
        Members that keep the average from settling: neighbours that this peer misses, and those whom others say they
        miss.
    topics
        The topics that are open here, by name.
    """

    name: str
    network: str
    dimension: int
    estimate: npt.NDArray[np.float64] | None
    estimate_text: list[str] | None
    plus_minus: float | None
    settled: bool
    contributors: int
    statement: str
    roster: int
    notices: list[str]
    noise_left: float
    noise_std: float
    draws: int
    account: float
    known_to: float
    smallest_std: float | None
    budget_share: float | None
    budget_spent: bool
    exchanges: int
    round: int
    uptime: float
    neighbours: Mapping[str, NeighbourStatus]
    missing: Sequence[Missing] = ()
    topics: Mapping[str, TopicStatus] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; infinities become ``None``."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        plain["estimate"] = None if self.estimate is None else self.estimate.tolist()
        plain["neighbours"] = {name: vars(one) for name, one in self.neighbours.items()}
        plain["missing"] = [vars(one) for one in self.missing]
        plain["topics"] = {name: one.to_dict() for name, one in self.topics.items()}
        return {key: None if isinstance(value, float) and math.isinf(value) else value for key, value in plain.items()}

    def __repr__(self) -> str:
        return f"<PeerStatus {self.name} {'settled' if self.settled else 'not settled'} exchanges={self.exchanges}>"


def status_of(
    protocol: Protocol,
    contacts: Contacts,
    *,
    network: str,
    smallest_std: float | None,
    now: float,
    started: float,
    notice: str = "",
    missing: Sequence[Missing] = (),
    topics: Mapping[str, TopicStatus] | None = None,
) -> PeerStatus:
    """What may be said about a peer at the time ``now``."""
    state, account, settings = protocol.state, protocol.state.account, protocol.settings
    estimate, bound, unit = shown_estimate(state), shown_error(state, protocol.rule), settings.units
    unanswering = [
        f"{name} greets but has not answered a request for {seconds:.0f} s; its operator must look"
        for name in state.active
        if (seconds := contacts.unanswered_for(name, now)) is not None
    ]
    return PeerStatus(
        name=settings.name,
        network=network,
        dimension=settings.dimension,
        estimate=None if estimate is None else unit.to_values(estimate),
        estimate_text=None if estimate is None else unit.to_text(estimate[:_TEXTS]),
        plus_minus=None if bound is None else bound * unit.number,
        settled=protocol.settled,
        contributors=protocol.rule.contributors.bit_count() if protocol.rule.certified is not None else 0,
        statement=explain(
            protocol,
            [name for name in state.active if contacts.unreachable(name)],
            unanswering=unanswering,
            told=[one for one in missing if one.witness],
        ),
        roster=settings.roster,
        notices=[*filter(None, [notice]), *protocol.disputes.values(), *unanswering],
        noise_left=noise_in_place(state, unit) * unit.number,
        noise_std=account.noise_std,
        draws=account.messages,
        account=account.information,
        known_to=account.std,
        smallest_std=smallest_std,
        budget_share=None if smallest_std is None else min(1.0, account.information * smallest_std**2),
        budget_spent=not account.affords(),
        exchanges=protocol.exchanges,
        round=protocol.rule.round,
        uptime=now - started,
        neighbours=_neighbours(protocol, contacts, now),
        missing=missing,
        topics=topics or {},
    )


def _neighbours(protocol: Protocol, contacts: Contacts, now: float) -> dict[str, NeighbourStatus]:
    found = {name: _neighbour(protocol, name, contacts, now) for name in protocol.state.edges}
    for name, parting in protocol.state.partings.items():
        found[name] = NeighbourStatus("parting", contacts.silence(name, now), parting_since=parting.since / 1000.0)
    return dict(sorted(found.items()))


def _neighbour(protocol: Protocol, name: str, contacts: Contacts, now: float) -> NeighbourStatus:
    edge = protocol.state.edges[name]
    state = "parted" if edge.parted else "blank" if edge.blank else "open"
    if contacts.unreachable(name) and not edge.parted:
        state = "unreachable"
    return NeighbourStatus(
        state,
        contacts.silence(name, now),
        sealed=edge.sealed,
        roster=protocol.rosters.get(name),
        unanswered=contacts.unanswered_for(name, now),
    )


def explain(
    protocol: Protocol, unreachable: list[str], *, unanswering: Sequence[str] = (), told: Sequence[Missing] = ()
) -> str:
    """An honest statement of the error, or of what stands in the way of one."""
    state, unit = protocol.state, protocol.settings.units
    bound = shown_error(state, protocol.rule)
    if bound is not None:
        word = "settled" if protocol.settled else "not settled yet"
        return f"{word}: the estimate is within {bound * unit.number:.3g} of the mean of all members' private values"
    if not state.active:
        return "no neighbours: the estimate is the own value"
    if protocol.disputes:
        return f"no bound: {next(iter(protocol.disputes.values()))}"
    blank = [name for name in state.active if state.edges[name].blank]
    if blank:
        return f"no bound: waiting for {_few(blank)}; if one is gone for good, its neighbours must drop it"
    if unreachable:
        return f"no bound: no answer from {_few(unreachable)}; if one is gone for good, its neighbours must drop it"
    if unanswering:
        return f"no bound: {unanswering[0]}"
    if protocol.live_sealed_edges < protocol.settings.min_open_edges:
        needed = protocol.settings.min_open_edges
        return f"silent: {protocol.live_sealed_edges} of {needed} sealed edges are open to neighbours that answer"
    others = [
        name
        for name in state.active
        if protocol.rosters.get(name, protocol.settings.roster) != protocol.settings.roster
    ]
    if others:
        return f"no bound yet: {_few(others)} hold another roster than {protocol.settings.roster}"
    if told:
        said = _few([str(one) for one in told])
        return f"no bound: others say they wait for {said}; if one is gone for good, its neighbours must drop it"
    account = state.account
    if not account.affords():
        return _spent(protocol)
    if too_noisy(state, protocol.settings):
        size = noise_in_place(state, unit) * unit.number
        return f"no bound yet: noise of standard deviation {size:.3g} is still in place"
    return "no bound yet: waiting until all peers have been heard of"


def _spent(protocol: Protocol) -> str:
    unit, tolerance = protocol.settings.units, protocol.settings.tolerance
    size = noise_in_place(protocol.state, unit) * unit.number
    if protocol.state.account.messages == 0:
        return "the privacy budget is spent: nothing is shown until the private value is replaced by an unrelated one"
    if too_noisy(protocol.state, protocol.settings):
        return (
            f"the privacy budget is spent: noise of standard deviation {size:.3g} stays for good, too much to settle "
            f"to {tolerance:g}; with all n peers alike the mean is off by about {size:.3g}/√n"
        )
    return "no bound yet: waiting until all peers have been heard of; the privacy budget is spent, the last noise stays"


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
