"""When all peers agree: the range rule, R32 to R36, R48, R62, R87 and R98. No I/O, nothing durable.

Locally quiet does not mean globally settled: on a slow graph a peer sees no change for ages while the
far end is wrong. So peers gather the range of all values. Nobody counts rounds for all: a peer
enters round q + 1 when every neighbour has been heard in round q. An epoch is 2D rounds (D ≥ the
diameter): in the first D each peer also keeps widening its interval by its own value, in the last D
the union of all intervals reaches everybody. Averaging never leaves the hull of the values, so from
then on all values and their mean lie in [low, high] and, if that is narrow enough, all peers declare
it in the same epoch.

With the interval travels the set of members whose values it covers, so that "the mean of these members" is known; and,
for topics, the set of those that let nobody in or out any more (:mod:`.closing`).

**Long vectors** (R87). An interval is two vectors, and telling it in every round was most of what a topic sent. Each
interval that a peer has is therefore numbered, a wider one anew; a neighbour says which is the highest number that it
has taken in, in its present epoch, and what it has is left out. Uniting twice changes nothing, so what is left out is
as good as told; who does not have that number counts the message as not heard. And in the first D rounds of an epoch a
topic tells no interval: the D rounds after that reach everybody, and by then no own interval changes any more. That
some value cannot be told is said at once, and so is who was heard of; but only who comes with an interval is in it. The
standing average tells in all rounds: operators may have dropped neighbours, and its paths may be longer than the roster
knows. What is told may be two numbers (R97, :mod:`.references`). And because nothing is told in the first half, a peer
may gather its value there before it may tell it (R98): a difference that it met just before the epoch began does not
cost the epoch.

An interval that would say nothing is unbounded (``None``). It costs no bytes, publishes nothing about the value, and
makes the union of everybody who hears of it unbounded too. When a peer may tell its own interval, and how wide it is,
is decided in :func:`.disclosure.own_interval`.

**After the answer** (R84). A peer that has declared a topic's answer counts no rounds: it tells each neighbour that
asks the answer's interval and set, in the round in which that neighbour is.

**Rounds that cannot be** (R48). Rounds of two neighbours differ by one at most, and by two after a restart. A round
further ahead counts as our own, and its interval as unbounded: a liar that claims round 2⁴⁰ keeps the epoch from being
declared, which silence does too, and nothing else. What was heard of a neighbour in one epoch counts for the first
round of the next and no more, so that its interval is needed in the spreading half of every epoch. A peer that starts
enters at the *least* round of its neighbours, when it has heard all of them; until then it says nothing about rounds.
If only a liar was in a round then, it is carried off; so a peer that meets a neighbour more than an epoch behind falls
back to its round. Falling back costs time and nothing else, as entering does.

**News at once** (R62). A round needs one message over each edge, and waiting for the next exchange on each of them
made an epoch take longer than the averaging itself. A peer whose own value is ready to be told has *news* when it
enters a round, and greets its neighbours at once. Where all are ready, an epoch takes as long as 2D messages in a row;
who is not ready does not hurry, and the others wait for it. An epoch is *promising* while nothing known is against
declaring at its end; most greetings are saved for those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from .closing import Agreement
from .intervals import Interval, Range, ends, holds, pair, union, width
from .messages import Stop, Told
from .references import References
from .units import Vector

__all__ = ["NO_ROUND", "REACH", "RangeRule"]

REACH = 2
"""R48: how many rounds ahead of us a neighbour can be."""

FARTHEST = 2**48
"""R48: no peer enters at a later round; one a millisecond takes nine thousand years to get there."""

NO_ROUND = FARTHEST + 1
"""R92: what a peer that has the answer says to one that is in no round yet."""


class RangeRule:
    """The stopping layer of one peer.

    Parameters
    ----------
    diameter
        D ≥ 1, an upper bound on the number of hops between any two peers. Too large costs time, too
        small by a factor of a few has been seen to be harmless, and 1 in a large network is wrong.
    tolerance
        The width in units, per coordinate, at which the network counts as settled.
    sample
        Gives the peer's own interval now, or ``None`` if it must not be told (R32).
    member
        Position of this peer among the members.
    may_tell
        Whether there is a sample, where that is known without taking it.
    collect
        As ``sample``, for the first half of an epoch in which nothing is told (R98).
    versions
        Where the numbers of intervals begin (R87): higher at every start.
    """

    def __init__(
        self,
        diameter: int,
        tolerance: int,
        sample: Callable[[], Interval | None],
        *,
        member: int = 0,
        may_tell: Callable[[], bool] | None = None,
        collect: Callable[[], Interval | None] | None = None,
        versions: int = 0,
    ) -> None:
        self.epoch_rounds = 2 * diameter
        self.tolerance = tolerance
        self._sample = sample
        self._may_tell = may_tell or (lambda: sample() is not None)
        self._collect = collect or sample
        self._self = 1 << member
        self.round = 0
        self.joined = False
        """Whether the round means anything yet (R48)."""
        self.settled = False
        self.certified: Interval | None = None
        """The union over all peers that the last finished epoch found, while nothing has changed since."""
        self.contributors = 0
        """The members, one bit each, whose mean lies in the certified interval."""
        self._settled_round = 0
        self._entrances: dict[str, int | None] = {}
        self._seen: dict[str, int] = {}
        self._told: dict[str, int] = {}
        self._news_round = -1
        self._interval: Range | None = None
        self._previous: Range | None = None
        self._measured: tuple[Range, int] | None = None
        self.references = References(member, tolerance)
        self._could_tell = False
        self._gathered, self._gathered_before = self._self, 0
        self._rumoured, self._rumoured_before = self._self, 0
        self.bound = False
        """R83: whether this peer lets nobody in or out any more, and says so."""
        self.only = 0
        """R84: the set that was declared; 0: none was."""
        self._final: Interval | None = None
        self._final_version = 0
        self._allowed = -1
        self.restless = False
        """R83: whether agreement is not the end, because the topic has not been declared yet. Of an epoch that cannot
        end in agreement no interval is told then: nobody would make use of it, and long vectors are dear."""
        self._ready, self._ready_before = 0, 0
        self._agreement: Agreement | None = None
        self.hindered_by, self._spoiler = "", ""
        """R90: by whose word the last epoch ended without agreement; empty if it did not, or by this peer's own."""
        self.early = True
        """R87: whether intervals are told in the first half of an epoch, too."""
        self._version, self._previous_version = versions, 0
        self._taken: dict[str, int] = {}
        self._held: dict[str, int] = {}

    @property
    def epoch(self) -> int:
        return self.round // self.epoch_rounds

    def stop_for(self, name: str) -> Stop | None:
        """What to tell ``name``. The last epoch's interval goes only to those who may still be in it."""
        if self.only:
            return self._final_word(name)
        if not self.joined:
            return None
        self._told[name] = self.round
        behind = self._seen.get(name, -1) // self.epoch_rounds < self.epoch
        now = self._told_to(name, self._interval, self._version, spreading=self._spreads(self.round))
        last = self._told_to(name, self._previous if behind else None, self._previous_version, spreading=True)
        before = (self._gathered_before, self._ready_before) if behind else (0, 0)
        gathered = (self._gathered, self._all_ready) if self._spreads(self.round) else (self._rumoured, 0)
        stop = Stop(
            self.round, *now[:2], *last[:2], gathered[0], before[0], gathered[1], before[1],
            version=now[2], previous_version=last[2], taken=self._taken.get(name, 0),
            around=now[3], previous_around=last[3],
        )  # fmt: skip
        in_time = self._seen.get(name, -1) < self.epoch * self.epoch_rounds + self.epoch_rounds // 2
        return self.references.with_reference(name, stop, in_time=in_time)

    def _spreads(self, number: int) -> bool:
        """R87: whether intervals are told in this round."""
        return self.early or number % self.epoch_rounds >= self.epoch_rounds // 2

    def _told_to(
        self, name: str, interval: Range | None, version: int, *, spreading: bool
    ) -> tuple[Vector | None, Vector | None, int, Told | None]:
        """R87: an interval and its number for ``name``, or the number alone; 0 if there is none.

        R97: without vectors, if ``name`` holds the reference.
        """
        if interval is None:
            return None, None, 0, None
        if not spreading or self._held.get(name) == version:
            return None, None, version, None
        told = self.references.told_to(name, interval)
        return (*ends(interval), version, None) if told is None else (None, None, version, told)

    def declare(self, contributors: int, interval: Interval) -> None:
        """R84: the mean of these members lies in this interval. That is all that is told from now on.

        Who has taken in the union of the epoch that found it is not told the interval again.
        """
        found, self.only, self._final = self._previous, contributors, interval
        known = found is not None and holds(interval, found) and self._gathered_before == contributors
        self._version += not known
        self._final_version = self._previous_version if known else self._version

    def _final_word(self, name: str) -> Stop | None:
        """R84: the answer, in the round of ``name``; R92: in no round if it is in none."""
        self._told[name] = self.round
        number = self._seen.get(name, NO_ROUND)
        low, high, version, _ = self._told_to(name, self._final, self._final_version, spreading=True)
        return Stop(number, low, high, contributors=self.only, ready=self.only, version=version)

    def _note_round(self, name: str, stop: Stop | None) -> None:
        """R84: what ``name``, which may not have declared, is to be answered in."""
        self.forget(name)
        if stop is not None:
            self._seen[name], self._held[name] = stop.round, stop.taken

    def hear(self, name: str, stop: Stop | None, neighbours: Iterable[str], declared: int = 0) -> bool:
        """R33 to R35, R48: a message of the current lives arrived from ``name``. Returns whether its round can be.

        ``declared`` is the set that its sender has declared (R84): an epoch with anybody else ends without agreement.
        """
        if self.only:
            self._note_round(name, stop)
            return True
        if stop is None:  # it has started, perhaps in the same life, and holds nothing
            self.references.forget(name)
        if not self.joined:
            self._enter(name, stop, neighbours)
        if stop is None or not self.joined:
            return True
        if stop.round < self.round - self.epoch_rounds - REACH:
            self._fall_back(stop.round)
        possible = stop.round <= self.round + REACH
        self._held[name] = stop.taken
        if possible:
            self._heed_reference(name, stop)
        if possible and not self._complete(name, stop):
            return True
        self._seen[name] = max(self._seen.get(name, -1), stop.round if possible else self.round)
        self._allowed &= declared or -1
        bounded = self._interval is not None
        their_epoch = stop.round // self.epoch_rounds
        if not possible:
            self._interval = None
        elif their_epoch == self.epoch:
            interval = self._told_by(stop.low, stop.high, stop.around)
            rumours = self.restless and stop.round % self.epoch_rounds < self.epoch_rounds // 2
            self._gather(name, interval, stop.version, stop.contributors, stop.ready, rumours=rumours)
        elif their_epoch == self.epoch + 1:
            interval = self._told_by(stop.previous_low, stop.previous_high, stop.previous_around)
            self._gather(name, interval, stop.previous_version, stop.previous_contributors, stop.previous_ready)
        if bounded and self._interval is None:
            self._spoiler = name
        self._advance(neighbours)
        return possible

    def _told_by(self, low: Vector | None, high: Vector | None, around: Told | None) -> Range | None:
        return self.references.told_by(around) or pair(low, high)

    def _heed_reference(self, name: str, stop: Stop) -> None:
        """R97: an earlier member's reference is measured from, in the first half of an epoch."""
        ahead = stop.round // self.epoch_rounds - self.epoch
        early = ahead == 0 and self.round % self.epoch_rounds < self.epoch_rounds // 2
        changed = self.references.hear(name, stop, early=early, next_epoch=ahead == 1)
        if changed and self._interval is not None:
            self._interval = self.references.seen_from(self._interval)
            self._version += 1

    def _complete(self, name: str, stop: Stop) -> bool:
        """R87: whether an interval that was left out is here already, or is not told in this round."""
        if stop.round // self.epoch_rounds == self.epoch + 1:
            told = self._told_by(stop.previous_low, stop.previous_high, stop.previous_around)
            return told is not None or self._has_taken(name, stop.previous_version)
        told = self._told_by(stop.low, stop.high, stop.around)
        if told is not None or self._has_taken(name, stop.version):
            return True
        return stop.round % self.epoch_rounds < self.epoch_rounds // 2

    def _has_taken(self, name: str, version: int) -> bool:
        """R87: whether the interval of ``name`` with this number is in ours; one with a higher number holds it."""
        return version <= self._taken.get(name, 0)

    def _enter(self, name: str, stop: Stop | None, neighbours: Iterable[str]) -> None:
        """R35, R48: at the least round of those that are in one, when all were heard; silent for that epoch."""
        self._entrances[name] = None if stop is None or stop.round > FARTHEST else stop.round
        if all(other in self._entrances for other in neighbours):
            rounds = [entrance for entrance in self._entrances.values() if entrance is not None]
            self.joined, self.round, self._interval = True, min(rounds, default=0), None
            self._entrances.clear()

    def _fall_back(self, earlier: int) -> None:
        """R48: as if entering now, at this round. What was certified stays true."""
        self.round, self._settled_round = earlier, min(self._settled_round, earlier)
        self._interval = self._previous = None
        self._news_round = -1
        self._seen.clear()
        self._taken.clear()

    def has_news_for(self, name: str) -> bool:
        """R62: whether to greet ``name`` now: we are in a round that it was not told of, and nobody has to wait.

        R84: with the answer there, whether it has not been answered yet.
        """
        if self.only:
            return name not in self._told
        return self._told.get(name, -1) < self._news_round and not (
            self.settled and not self.restless and self._seen.get(name, -1) >= self._settled_round
        )

    def waits_for(self, name: str) -> bool:
        """R90: whether ``name`` keeps this peer in its round, or from entering one."""
        return not self.has_heard(name) if self.joined else name not in self._entrances

    def has_heard(self, name: str) -> bool:
        """R94: whether ``name`` was heard in the present round."""
        return self._seen.get(name, -1) >= self.round

    def is_next(self, number: int) -> bool:
        """R94: whether that round comes next, and is likely to be news when it is entered, as the present one is."""
        return self.joined and number == self.round + 1 and self._news_round == self.round

    @property
    def promising(self) -> bool:
        """R62: whether nothing known is against declaring at the end of this epoch."""
        return self.settled or (self._interval is not None and self._measure(self._interval) <= self.tolerance)

    def _note_news(self) -> None:
        """R62: this round is news if our value may be told."""
        if self.settled or self._may_tell():
            self._news_round = self.round

    def quiet(self, neighbours: Iterable[str]) -> bool:
        """R36: settled, and so is every neighbour, so that nobody waits for us and the clock may slow down."""
        return self.settled and all(self._seen.get(name, -1) >= self._settled_round for name in neighbours)

    def value_changed(self) -> None:
        """R33: the own value moved; in the first half of an epoch the interval must cover it."""
        if self._interval is not None and self.round % self.epoch_rounds < self.epoch_rounds // 2:
            own = self._own()
            self._widen(None if own is None else self.references.seen_from(own))
        if self.joined and self._news_round < self.round:
            self._note_news()

    def disturbed(self, *, membership: bool = True) -> None:
        """R32, R36: a neighbour or the private value changed, or a large difference was met."""
        self._interval = None
        if membership:
            self._previous = None
            self.references.withdraw()
        self.settled = False
        self.certified = None

    def resize(self, diameter: int, tolerance: int, member: int) -> None:
        """R49: another roster. This epoch ends without a declaration, and peers with another one are not heard."""
        self.epoch_rounds, self.tolerance, self._self = 2 * diameter, tolerance, 1 << member
        self.references.resize(member, tolerance)
        self._gathered, self._gathered_before, self._ready, self._ready_before = self._self, 0, 0, 0
        self._rumoured, self._rumoured_before = self._self, 0
        self._seen.clear()
        self._taken.clear()
        self.disturbed()

    def forget(self, name: str) -> None:
        """R35: the neighbour has a new life, or is gone."""
        self._seen.pop(name, None)
        self._told.pop(name, None)
        self._entrances.pop(name, None)
        self._taken.pop(name, None)
        self._held.pop(name, None)
        self.references.forget(name)

    def error_bound(self, x: Vector) -> int | None:
        """How far ``x`` can be from the mean of the private values, per coordinate; ``None`` if that is not known."""
        if self.certified is None:
            return None
        low, high = self.certified
        return int(np.maximum(high - x, x - low).max())

    def agreement(self) -> Agreement | None:
        """What the epoch that has just ended found, if that was agreement; told once."""
        found, self._agreement = self._agreement, None
        return found

    @property
    def _all_ready(self) -> int:
        return self._ready | (self._self if self.bound else 0)

    @property
    def heard_of(self) -> int:
        """The members that this epoch or the last one has brought word of, one bit each."""
        return self._rumoured | self._rumoured_before

    def _own(self) -> Interval | None:
        """R98: the own interval; where it is not told before the second half, also one that may not be told yet."""
        return self._sample() if self.early else self._collect()

    def tell_early(self) -> None:
        """R87: from now on intervals are told in every round; R98: one that may not be told yet is given up."""
        self.early = True
        if not self._may_tell():
            self._interval = None

    def _gather(
        self, name: str, interval: Range | None, version: int, contributors: int, ready: int, *, rumours: bool = False
    ) -> None:
        """R33; R87: ``rumours``: the set that comes without an interval is of those who were heard of, no more."""
        self._rumoured |= contributors
        if interval is not None or (self._has_taken(name, version) and not rumours):
            self._gathered |= contributors
            self._ready |= ready
        if self._rumoured & ~self._allowed or (interval is None and not version):
            self._widen(None)
        elif interval is not None:
            self._widen(interval)
            self._taken[name] = max(version, self._taken.get(name, 0))  # an earlier message may arrive later

    def _widen(self, other: Range | None) -> None:
        mine = self._interval
        if mine is None or other is None:
            self._interval = None
        elif not holds(mine, other):
            both = union(mine, other)
            self._interval = None if self.restless and self._measure(both) > self.tolerance else both
            self._version += 1

    def _measure(self, interval: Range) -> int:
        """The width of an interval; asked again and again of the same one, whose numbers are never written to."""
        if self._measured is None or self._measured[0] is not interval:
            self._measured = interval, width(interval)
        return self._measured[1]

    def _advance(self, neighbours: Iterable[str]) -> None:
        """R34."""
        slowest, before = min((self._seen.get(name, -1) for name in neighbours), default=-1), self.round
        while slowest >= self.round:
            self.round += 1
            if self.round % self.epoch_rounds == self.epoch_rounds // 2:  # R98
                self._could_tell = self._may_tell()
                self._interval = self._interval if self._could_tell else None
            if self.round % self.epoch_rounds == 0:
                self._finish_epoch()
                break
        if self.round > before:
            self._note_news()

    def _finish_epoch(self) -> None:
        agreed = self._interval is not None and self._measure(self._interval) <= self.tolerance
        in_vain = self._could_tell and not agreed and self.references.held is not None
        self._could_tell = False
        self.hindered_by, self._spoiler = "" if agreed else self._spoiler, ""
        if self._interval is not None:
            self.certified, self.contributors = ends(self._interval), self._gathered
            if agreed:
                self._settled_round = self._settled_round if self.settled else self.round
                self.settled = True
                self._agreement = Agreement(*self.certified, self._gathered, self._all_ready)
        self._previous, self._gathered_before, self._ready_before = self._interval, self._gathered, self._all_ready
        self._rumoured, self._rumoured_before = self._self, self._rumoured
        self._previous_version, self._version = self._version, self._version + 1
        own, self._gathered, self._ready = self._own(), self._self, 0
        self.references.begin(own if self._may_tell() else None, self.heard_of, exact=in_vain)
        self._interval = None if own is None else self.references.seen_from(own)
        self._allowed = -1
        self._taken.clear()
        self._seen = {name: min(seen, self.round) for name, seen in self._seen.items()}
