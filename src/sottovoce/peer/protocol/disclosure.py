"""What may be said about the private value, to whom and when: every gate of it, and nothing else.

A peer shows its value in three ways, and each has its gate here:

- the noisy value of a request, or the register step of a reply, to a neighbour: :func:`may_show`;
- an interval around its value to the whole network, for the settled rule, or the lower end of that interval, from which
  others measure (R97): :func:`own_interval`;
- its estimate and a bound on its error to whoever reads its status: :func:`shown_estimate`, :func:`shown_error`.

No other module decides this. Log lines and metrics hold no values at all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .intervals import Interval
from .noise import may_draw, noise_in_place
from .settings import Settings
from .state import Link, PeerState
from .stopping import RangeRule
from .units import Vector

__all__ = [
    "NOISE_MARGIN",
    "live_sealed_edges",
    "may_show",
    "noise_is_held",
    "own_interval",
    "own_margins",
    "shown_error",
    "shown_estimate",
    "too_noisy",
]

NOISE_MARGIN = 6.0
"""R41: standard deviations by which the noise in place widens a peer's own value. A Gaussian exceeds
this twice in 10⁹ draws, seldom enough for 10⁶ coordinates; and what counts is the mean of all peers' noise,
which is smaller still."""


def live_sealed_edges(state: PeerState, links: Mapping[str, Link]) -> int:
    """R30: edges with a seal, to neighbours that answer. A dropped or parted neighbour has no ledger, so no seal."""
    return sum(edge.sealed and not links[name].silent for name, edge in state.edges.items())


def may_show(state: PeerState, links: Mapping[str, Link], settings: Settings) -> bool:
    """R14, R30: whether a neighbour may be shown a value now.

    Noise must be in place or affordable, and enough neighbours that answer must share a seal with this peer that no
    single one knows all of them, nor is alone with it.
    """
    return live_sealed_edges(state, links) >= settings.min_open_edges and may_draw(state)


def noise_is_held(state: PeerState, links: Mapping[str, Link]) -> bool:
    """R55: whether an exchange leaves the noise as it is, because settling is impossible for now anyway.

    So it is while a neighbour has no ledger or does not answer. What is shown then is the same draw again, and those
    who still talk to this peer learn nothing more by talking often.
    """
    return any(state.edges[name].blank or links[name].silent for name in state.active)


def too_noisy(state: PeerState, settings: Settings) -> bool:
    """R32, R41: whether the noise in place alone makes an interval wider than the tolerance."""
    return 2.0 * NOISE_MARGIN * noise_in_place(state, settings.units) > settings.tolerance_units


def own_interval(
    state: PeerState, links: Mapping[str, Link], settings: Settings, *, settling: bool = False
) -> Interval | None:
    """R32, R41: the own value, widened by what is under way and by the noise in place; ``None``: it is not told.

    R98: with ``settling`` it is one to keep, and to tell when this peer may: a difference does not count yet.
    """
    margins = own_margins(state, links, settings, settling=settling)
    if margins is None:
        return None
    x = state.shown
    return x - margins[0], x + margins[1]


def own_margins(
    state: PeerState, links: Mapping[str, Link], settings: Settings, *, settling: bool = False
) -> tuple[int, int] | None:
    """How far the own interval goes below and above the own value.

    A step of this end's register that the neighbour has not copied yet stands in this value and not in that one: so
    the interval also holds what the value was without it.

    ``None``, which says nothing about the value, while no noise is in place or it is large, an edge is blank or was
    not heard since the start, too few are sealed, or the last exchange on some edge met a difference above the
    tolerance.
    """
    if state.noise is None or too_noisy(state, settings) or state.sealed_edges < settings.min_open_edges:
        return None
    margin = math.ceil(NOISE_MARGIN * noise_in_place(state, settings.units))
    below = above = margin
    for name in state.active:
        edge, link = state.edges[name], links[name]
        differs = link.disagreement > settings.tolerance_units and not settling
        if edge.blank or edge.heard is None or differs:
            return None
        if edge.heard < edge.s:
            if link.step is None:
                return None
            below, above = below + link.step[0], above + link.step[1]
    return below, above


def shown_estimate(state: PeerState) -> Vector | None:
    """The estimate in units, or ``None`` while it would give the private value away.

    Before the first exchange it is the private value and seals that the neighbours know. Without noise it is the
    private value plus flows, and the neighbours know the flows: so it is after a lost disk, when the ledgers are back
    and nothing has been drawn yet.
    """
    exchanged = any(edge.exchanged for edge in state.edges.values())
    return state.shown if exchanged and state.noise is not None else None


def shown_error(state: PeerState, rule: RangeRule) -> int | None:
    """How far, in units, the estimate can be from the mean; ``None`` if not known or if it would tell the estimate.

    The distance to the ends of an interval that all members know is as good as the estimate itself.
    """
    return None if shown_estimate(state) is None else rule.error_bound(state.shown)
