"""What a protocol holds, and how it puts what it knows into a message: rules R22, R37, R49, R50, R62, R90, R94 and R95.

:class:`Core` decides nothing. :class:`.members.Membership` adds who is around, :class:`.machine.Protocol` what is done
with a tick and with a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from weakref import WeakMethod

from ...foundation.bucket import TokenBucket
from .absences import Absences, Missing, Sight
from .closing import Certificate
from .disclosure import live_sealed_edges, own_interval, own_margins
from .intervals import Interval
from .ledger import Edge, compose
from .messages import DEFAULT_TOPIC, Kind, Message, Vector
from .noise import Draw, draw_seal
from .parting import farewell
from .references import FAR, WANTED_FROM
from .settings import Settings
from .state import Link, PeerState, Pending
from .stopping import RangeRule
from .units import LONG

__all__ = ["PRESUME_FROM", "Core", "no_absences", "wants_references"]

PRESUME_FROM = 64
"""R37: from so many coordinates on a REQ presumes that the last reply arrived; below, repeating it costs nothing."""


NEWS_REFILL = 2.0
"""R62: greetings with news per own call, on average; twice an epoch's worth can be saved up."""

RESERVED = 64
"""R18: so many numbers of requests are stored as used at once."""


class Core:
    """The state, settings and sources of randomness of one protocol; :class:`.machine.Protocol` explains them."""

    def __init__(
        self,
        settings: Settings,
        state: PeerState,
        *,
        draw: Draw,
        coin: Callable[[int], Vector],
        stamp: Callable[[], int],
        recovering: bool = False,
        topic: bytes = DEFAULT_TOPIC,
        on_event: Callable[[str, str], None] | None = None,
    ) -> None:
        self.settings = settings
        self.topic = topic
        self.state = state
        self.recovering = recovering
        self.pending: Pending | None = None
        self.exchanges = 0
        """Exchanges that moved this peer's value since the start."""
        self.rosters: dict[str, int] = {}
        """R49: the number of the roster that each neighbour has shown last."""
        self.disputes: dict[str, str] = {}
        """R60: why the messages of a neighbour are refused, in one sentence."""
        self._links = {name: Link() for name in state.edges}
        # Weakly: otherwise value, noise and ledgers of a topic that is over (R85) would stay in memory for a while.
        sample, may_tell = WeakMethod(self._own_interval), WeakMethod(self._may_tell)
        collect = WeakMethod(self._collected)
        self.rule = RangeRule(
            settings.diameter,
            settings.tolerance_units,
            lambda: None if (now := sample()) is None else now(),
            member=settings.index,
            may_tell=lambda: (now := may_tell()) is not None and now(),
            collect=lambda: None if (now := collect()) is None else now(),
            versions=stamp(),
        )
        self.rule.early = not settings.missing
        self.rule.references.wanted = wants_references(settings)
        self.ended: dict[str, int] = {}
        """R85: neighbours at which this topic has ended although this peer has no answer, and with which set."""
        self._left_out: dict[str, TokenBucket] = {}
        """R83: neighbours that were dropped because they were silent: who has not met them here may come in late. And
        how often their edges may be opened yet (R53), which goes on."""
        self.declared_elsewhere = 0
        """R84: the set that a neighbour has declared last; 0: none has."""
        self.unready = 0
        """R90: members of the last agreement of which no word has come that this set binds them, and it was the second
        one on this set."""
        self._offers: dict[str, Certificate] = {}
        """R92, R93: the answers that neighbours have told."""
        self._claims: set[str] = set()
        """R83: neighbours that have said that they count on this peer, which binds it as its own certificate would."""
        self.may_have_lost = True
        """R93: whether this peer may have had the answer of this topic, and lost it with its disk."""
        self.has_lost = False
        """R83: whether it is known that a disk was lost here: then those count who say that it was in an answer."""
        self._to_tell: set[str] = set()
        self.absences = no_absences(settings)
        """R90: who is missing, as far as this peer knows."""
        self._alarmed: set[str] = set()
        self._present = 0
        self.holders: int
        """R91: the members known to be bound by a certificate with the set of this peer's, one bit each."""
        self._still = 0, 0
        """R88: the present round, and how often the own clock has rung in it."""
        self.holders = 1 << settings.index if self._held else 0
        self._heed_certificate()
        self._turns = 0
        self._requests = state.requests
        """R18: the number of the last request; after a start, of the last that may have been used."""
        self._draw, self._coin = draw, coin
        self._count = on_event or (lambda *_: None)
        self._stamp = stamp

    # -- whose turn it is ------------------------------------------------------------------------

    def whose_turn(self, uniform: float) -> str | None:
        """R27, R96: the neighbour that the own clock rings for now, from a number uniform in [0, 1).

        Any of them, uniformly. In a topic, one of those whose last turn is longest ago: an exchange, or that the clock
        rang for it, whatever came of that.
        """
        names = self.state.active
        if self.settings.missing and names:
            longest_ago = min(self._links[name].turn for name in names)
            names = [name for name in names if self._links[name].turn == longest_ago]
        if not names:
            return None
        choice = names[min(int(uniform * len(names)), len(names) - 1)]
        self._have_turn(choice)
        return choice

    def _have_turn(self, name: str) -> None:
        self._turns += 1
        self._links[name].turn = self._turns

    # -- what can be said ------------------------------------------------------------------------

    def greet(self, name: str) -> Message:
        """R22: a HELLO, which may be sent at any time."""
        return self._say(Kind.HELLO, name)

    def has_news(self, name: str) -> bool:
        """R62: whether ``name`` should be greeted now.

        Paid from a bucket that fills with the own clock; enough for a whole epoch is kept for one that may be declared.
        """
        if name in self._to_tell:  # R84
            return name in self._links
        if name in self._alarmed and name in self._links and self._links[name].news >= 1.0:  # R90
            return True
        if name not in self._links or not self.rule.has_news_for(name):
            return False
        if self.declared:  # R84: an answer, at most one for each message that came
            return not self._needs_nothing(name)
        kept = 0.0 if self.rule.promising else float(self.rule.epoch_rounds)
        return self._links[name].news >= 1.0 + kept

    def news(self, names: Iterable[str] | None = None) -> list[Message]:
        """R62: the greetings to send now, to these neighbours or to all: a round was entered that they wait for."""
        asked = self.state.active if names is None else names
        return [self._tell_news(name) for name in asked if self.has_news(name)]

    def speaks_second(self, name: str) -> bool:
        """R94: whether ``name`` greets first if it has news, too: of two ends the first by name does.

        Not if it has told its own: then it waits for ours.
        """
        told = self._links[name].closed != 0 if self.declared else self.rule.has_heard(name)
        return name < self.settings.name and not told

    def answers_soon(self, m: Message) -> bool:
        """R94: whether ``m``, which has no answer now, may have one in a moment: it greets from the next round."""
        if m.kind is not Kind.HELLO or m.src not in self._links or self.declared:
            return False
        return m.closed != 0 or (m.stop is not None and self.rule.is_next(m.stop.round))

    def may_wait(self, name: str, m: Message) -> bool:
        """R95: whether ``m``, a request of ``name`` with a long vector, waits until the own one has been answered.

        Of two that ask each other the first by name refuses at once: then the other is free to answer it.
        """
        if m.kind is not Kind.REQ or self.pending is None or self.settings.dimension < LONG:
            return False
        return self.pending.peer != name or name < self.settings.name

    def _tell_news(self, name: str) -> Message:
        if name in self._to_tell:
            self._to_tell.discard(name)
        elif not self.declared:
            self._links[name].news -= 1.0
        return self.greet(name)

    def _needs_nothing(self, name: str) -> bool:
        """R84: whether both this peer and ``name`` have the answer."""
        return self.declared and self._links[name].closed == self.rule.only

    @property
    def settled(self) -> bool:
        """Whether all peers are known to agree to the tolerance (R34)."""
        return self.rule.settled

    @property
    def bound(self) -> bool:
        """R83: whether this peer lets nobody in or out of the topic any more."""
        return self.rule.bound

    @property
    def declared(self) -> bool:
        """R82, R83: whether the topic has its answer, the certificate in the state."""
        return self.state.certificate is not None and self.state.certificate.declared

    @property
    def over(self) -> bool:
        """R85: whether all neighbours have the answer too, and know of ours, so that the ledgers are needed no more."""
        active = self.state.active
        told = self._to_tell.isdisjoint(active)
        return self.declared and told and all(self._links[name].closed == self.rule.only for name in active)

    @property
    def without_us(self) -> bool:
        """R85: whether nobody is left to average with: the topic has ended at all neighbours, or they have parted."""
        return not self.declared and all(name in self.ended for name in self.state.active)

    @property
    def missing(self) -> list[str]:
        """The neighbours that keep this topic from going on: not contributed, silent, or over with it."""
        return [
            name
            for name in self.state.active
            if self.state.edges[name].blank
            or self._links[name].silent
            or self._links[name].not_yet
            or name in self.ended
        ]

    def has_contributed(self, name: str) -> bool:
        """R81: whether a neighbour takes part; one that has lost its disk may not any more."""
        return not (self.state.edges[name].blank or self._links[name].not_yet)

    @property
    def _held(self) -> int:
        """R91: the set that this peer is bound by, while it is not declared; 0: none."""
        held = self.state.certificate
        return 0 if held is None or held.declared or self.settings.missing != "drop" else held.contributors

    def look_around(self, seen: Mapping[str, Sight], roll: Sequence[str]) -> bool:
        """R90: the neighbours that this peer misses now, of the members ``roll``; whether others are to be told now."""
        if self.declared or not (seen or self.absences):
            return False
        if self.absences.see(seen, roll, self._seconds()):
            self._alarm()
        return bool(self._alarmed)

    def known_missing(self, roll: Sequence[str]) -> list[Missing]:
        """R90: who is missing, in words."""
        return self.absences.known(roll, self._seconds()) if self.absences else []

    @property
    def present(self) -> int:
        """R90: the members that have contributed, one bit each, as far as was heard."""
        return self._present | self.rule.heard_of

    def _heed_absences(self, m: Message) -> None:
        """R90: what a neighbour says of who is there, and who is missing."""
        self._present |= m.present
        if m.absences and not self.declared and self.absences.hear(m.src, m.absences, self._seconds()):
            self._alarm()
            self._alarmed.discard(m.src)

    def _alarm(self) -> None:
        self._alarmed.update(name for name in self.state.active if not self.absences.misses(name))

    @property
    def live_sealed_edges(self) -> int:
        """How many neighbours that answer share a seal with this peer (R30)."""
        return live_sealed_edges(self.state, self._links)

    def _own_interval(self) -> Interval | None:
        return own_interval(self.state, self._links, self.settings)

    def _collected(self) -> Interval | None:
        return own_interval(self.state, self._links, self.settings, settling=True)

    def _may_tell(self) -> bool:
        return own_margins(self.state, self._links, self.settings) is not None

    # -- for the rules --------------------------------------------------------------------------

    def _say(self, kind: Kind, name: str, *, xid: int = 0, x: Vector | None = None) -> Message:
        stop = None if self._needs_nothing(name) else self.rule.stop_for(name)
        absences = self.absences.say(name, self._seconds()) if self.absences else ()
        self._alarmed.discard(name)
        presume = self.settings.dimension >= PRESUME_FROM
        greeting = kind is Kind.HELLO
        digest, terms = (self.settings.roster_digest, self.settings.terms) if greeting else (b"", None)
        return compose(
            self.state.edges[name], kind, self.settings.name, name, xid=xid, x=x, stop=stop, presume=presume,
            topic=self.topic, roster=self.settings.roster, digest=digest, terms=terms, closed=self.rule.only,
            absences=absences, present=self.present if self.settings.missing and not self.declared else 0,
            held=self._held, holders=self.holders if self._held else 0,
        )  # fmt: skip

    def _heed_certificate(self) -> None:
        """R83, R84: what the rounds must know of the certificate that is held."""
        held = self.state.certificate
        self.rule.bound = self.rule.bound or (held is not None and self.settings.missing == "drop")
        self.rule.restless = bool(self.settings.missing) and not self.declared
        if held is not None and held.declared:
            self.rule.declare(held.contributors, held.interval)
        self._to_tell = set(self.state.active) if self.declared else set()
        if self.declared:
            self.absences = no_absences(self.settings)
            self._alarmed.clear()

    def _farewell(self, name: str, sid: int, *, src_sid: int = 0) -> Message:
        held, settings = self.state.certificate, self.settings
        told = held.contributors if held is not None and settings.missing == "drop" else 0  # R85
        return farewell(
            settings.name, name, sid, src_sid=src_sid, topic=self.topic, roster=settings.roster, closed=told
        )

    def _seal(self) -> Vector:
        return draw_seal(self.settings, self._draw)

    def _put(self, name: str, edge: Edge, moved: Vector | None = None) -> None:
        self.state = self.state.with_edge(name, edge, moved)

    def _new_sid(self) -> int:
        """R31 keeps ids below 2**62; they are unique in this node and grow over its lives."""
        sid = max(self.state.last_sid + 1, self._stamp())
        self.state = replace(self.state, last_sid=sid)
        return sid

    def _next_request(self) -> int:
        """R18: a number that no request had. Many are stored as used at once, so that few requests wait for that."""
        self._requests += 1
        if self._requests > self.state.requests:
            self.state = replace(self.state, requests=self.state.requests + RESERVED)
        return self._requests

    def _seconds(self) -> float:
        """The time, as far as the protocol needs one: that of the stamps."""
        return (self._stamp() >> 16) / 1000.0

    def _unlock(self, name: str) -> None:
        if self.pending is not None and self.pending.peer == name:
            self.pending = None

    def _exchanged(self, name: str, disagreement: int, step: int) -> None:
        """The value moved by ``step`` in an exchange."""
        self.exchanges += 1
        self._have_turn(name)
        for link in self._links.values():
            link.moved += step
        self._links[name].disagreement, self._links[name].moved = disagreement, 0.0
        if disagreement > 2 * self.settings.tolerance_units and self.rule.settled:  # R36
            self.rule.disturbed(membership=False)
        self.rule.value_changed()


def no_absences(settings: Settings) -> Absences:
    """R90: a claim lives as long as heartbeats need across the network, and some more."""
    lifetime = (2 * settings.diameter + 10) * settings.sync_interval
    return Absences(settings.index, lifetime=lifetime, patience=settings.sync_interval)


def wants_references(settings: Settings) -> bool:
    """R97: whether intervals are worth measuring from a reference."""
    return bool(settings.missing) and settings.dimension >= WANTED_FROM and settings.diameter >= FAR
