"""Why a topic has no answer yet: who is missing, whose settings differ, what holds this peer itself (R89, R90).

In sentences by :mod:`.waiting`; here is what they are about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from ...errors import TopicUnfinished
from ..membership.config import PeerConfig
from ..protocol import Protocol
from ..protocol.absences import Missing
from ..protocol.closing import named as names_of
from ..protocol.disclosure import too_noisy
from ..protocol.noise import may_draw, noise_in_place
from ..protocol.status import TopicStatus
from .conversation import Conversation
from .elsewhere import Elsewhere
from .waiting import why_divided, why_late, why_silent, why_spent, why_stuck, why_waiting

__all__ = ["Reasons"]


class Reasons:
    """For all topics of one peer.

    Parameters
    ----------
    config
        Gives the peer's configuration now.
    elsewhere
        What neighbours have opened.
    known
        The ids of the topics that this peer has contributed to.
    """

    def __init__(self, config: Callable[[], PeerConfig], elsewhere: Elsewhere, known: Collection[bytes]) -> None:
        self._config, self._elsewhere, self._known = config, elsewhere, known

    def mismatch(self, name: str, protocol: Protocol) -> str | None:
        """R89: what stands between this peer and a neighbour; with "drop", if it stands between it and all of them."""
        own, waited = self._config().name, protocol.missing
        found = (protocol.disputes.get(other) or self._elsewhere.disagreement(own, name, other) for other in waited)
        differ = [why for why in found if why is not None]
        enough = 1 if protocol.settings.missing == "wait" else max(1, len(protocol.state.active))
        return differ[0] if len(differ) >= enough else None

    def missing(self, conversation: Conversation) -> list[Missing]:
        """R90: who is missing; of a neighbour also what else it has opened (R89)."""
        return [one if one.witness else replace(one, note=self._busy_with(one.name)) for one in conversation.missing()]

    def _busy_with(self, name: str) -> str:
        others = self._elsewhere.opened_by(name, set(self._known))
        return f", has opened {', '.join(map(repr, others))} to which this peer has not contributed" if others else ""

    def _unheard(self, protocol: Protocol, missing: list[Missing]) -> list[str]:
        """Members of which nothing has been heard yet, besides those that are known to be missing."""
        roll = self._config().numbered
        named = {*names_of(protocol.present, roll), *(one.name for one in missing), *protocol.ended}
        return [] if protocol.bound else sorted(set(self._config().roll) - named)

    def unfinished(self, name: str, conversation: Conversation, seconds: float) -> TopicUnfinished:
        """The error at a time-out."""
        missing = self.missing(conversation)
        unheard = self._unheard(conversation.protocol, missing)
        why = self._why(conversation, missing, unheard)
        protocol = conversation.protocol
        named = [*(one.name for one in missing), *sorted(protocol.ended), *unheard, *self._doubtful(protocol)]
        names = dict.fromkeys(named)
        return TopicUnfinished(f"topic {name!r} has no answer after {seconds:.3g} s: {why}", tuple(names))

    def _why(self, conversation: Conversation, missing: list[Missing], unheard: list[str]) -> str:
        protocol = conversation.protocol
        late = protocol.refused_by(protocol.present)
        held = "; ".join(filter(None, [why_late(late), _held(protocol), why_divided(self._sets(protocol))]))
        stuck = [] if any(not one.witness for one in missing) else self._stuck(protocol)
        return why_waiting(missing, unheard, conversation.age, held, sorted(protocol.ended.keys() - late), stuck)

    def _names(self, told: Mapping[str, int]) -> dict[str, list[str]]:
        return {name: names_of(members, self._config().numbered) for name, members in told.items()}

    def _stuck(self, protocol: Protocol) -> list[str]:
        """Why it does not end although this peer misses nobody itself."""
        rounds = [name for name in protocol.waits_in_round if name not in protocol.ended]
        return why_stuck(rounds, self._unready(protocol), "" if rounds else protocol.rule.hindered_by)

    def _unready(self, protocol: Protocol) -> list[str]:
        roll = self._config().numbered
        return names_of(protocol.unready, roll) if roll and not protocol.waits_in_round else []

    def _sets(self, protocol: Protocol) -> dict[str, list[str]]:
        """Which set of members each end names, as far as they do."""
        if not self._config().numbered or protocol.settings.missing != "drop":
            return {}
        held = protocol.state.certificate
        own = {} if held is None else {"this peer": held.contributors}
        told = {
            f"{name} (as its answer)" if protocol.has_answer(name) else name: members
            for name, members in protocol.sets_told.items()
        }
        return self._names(own | told)

    def _doubtful(self, protocol: Protocol) -> list[str]:
        """Members that some of the ends count on and others do not, or of which no word comes; none that answers."""
        sets = self._sets(protocol).values()
        disputed = {name for members in sets for name in members if not all(name in other for other in sets)}
        answering = {self._config().name, *protocol.state.active} - set(protocol.missing)
        return sorted({*disputed, *self._unready(protocol)} - answering)

    def status(self, name: str, conversation: Conversation) -> TopicStatus:
        """What the topic of this name waits for, and who is missing."""
        protocol, missing = conversation.protocol, self.missing(conversation)
        if protocol.declared:
            statement = "has its answer; some neighbours do not have it yet"
        else:
            why = self._why(conversation, missing, self._unheard(protocol, missing))
            statement = self.mismatch(name, protocol) or why
        return TopicStatus(conversation.age, protocol.declared, statement, missing)


def _held(protocol: Protocol) -> str:
    """What keeps this peer from an answer, whoever else is there; empty if nothing does."""
    state, settings = protocol.state, protocol.settings
    if not may_draw(state):
        return why_spent(math.inf, settings.tolerance)
    if not state.account.affords() and too_noisy(state, settings):
        return why_spent(noise_in_place(state, settings.units) * settings.units.number, settings.tolerance)
    return why_silent(len(state.active), settings.min_open_edges)
