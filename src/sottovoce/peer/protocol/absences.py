"""Who is missing, and since when, as far as a peer knows: rule R90. Words for people; no other rule looks at them.

A peer sees for itself only whom it misses among its neighbours. So that a member at the other end of the network can
name them too, each message says whom its sender misses, and passes on what others have said. A claim is "this *witness*
says that this *member* is missing", with two ages: since when the member is missing, and how long ago the witness said
so. Ages only grow on the way, so a claim that nobody repeats is forgotten everywhere, however it travels; there is
nothing to take back. Of each member one claim is kept, the one that was said last: no more than the roster is long.

Where nobody is missing nothing is said, and what is said travels with messages that are sent anyway; only of a member
that was not missing before, others are told at once, paid like other news (R62).

**A liar** can claim anything about anybody, also in the name of another witness. That puts words into others' errors
and statuses, which say who is said to have said so. It cannot take a claim away, and nobody is left out, dropped,
waited for or believed because of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["LONGEST_AGE", "Absence", "Absences", "Missing", "Sight"]

LONGEST_AGE = 2**40
"""Milliseconds: 35 years. No age on the wire is longer."""


class Absence(NamedTuple):
    """A claim as it travels. Members are places in the roster, from 0; ages are milliseconds when it is sent.

    ``contributed`` says whether the witness has exchanged anything with the member: one that has not contributed is
    missing in another way than one that does not answer any more.
    """

    member: int
    witness: int
    contributed: bool
    since: int
    age: int


class Sight(NamedTuple):
    """What a peer itself sees of a neighbour that it misses; ``silence`` in seconds, ``None``: never heard."""

    contributed: bool
    silence: float | None


@dataclass(frozen=True)
class Missing:
    """One member that is missing, for people.

    Parameters
    ----------
    name
        Who.
    contributed
        Whether it has contributed, as far as is known, and does not answer any more; or has not.
    seconds
        Since when.
    witness, said
        Who says so, and how many seconds ago; empty and 0: this peer itself.
    last_heard
        Seconds since this peer heard the last message from it, whatever it was about; ``None``: never, or no neighbour.
    note
        What else this peer knows of it.
    """

    name: str
    contributed: bool
    seconds: float
    witness: str = ""
    said: float = 0.0
    last_heard: float | None = None
    note: str = ""

    def __str__(self) -> str:
        """In words.

        Examples
        --------
        >>> print(Missing("eve", contributed=False, seconds=30.2, last_heard=3.0))
        eve (not contributed for 30 s, last heard 3 s ago)
        >>> print(Missing("eve", contributed=True, seconds=41.0, witness="dan", said=2.0))
        eve (not answering for 41 s, dan said 2 s ago)
        """
        what = "not answering" if self.contributed else "not contributed"
        known = f"last heard {self.last_heard:.0f} s ago" if self.last_heard is not None else "not heard yet"
        source = f"{self.witness} said {self.said:.0f} s ago" if self.witness else known
        return f"{self.name} ({what} for {self.seconds:.0f} s, {source}{self.note})"


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim that is held here; times are this peer's."""

    member: int
    witness: int
    contributed: bool
    since: float
    said: float
    via: str


class Absences:
    """What one peer knows of who is missing.

    Parameters
    ----------
    place
        Of this peer in the roster.
    lifetime
        Seconds for which a claim counts after its witness has made it.
    patience
        Seconds that a neighbour may be missing before others are told; twice as long if it has contributed, since a
        lost heartbeat is nothing.
    """

    def __init__(self, place: int, *, lifetime: float, patience: float) -> None:
        self._place, self._lifetime, self._patience = place, lifetime, patience
        self._own: dict[str, tuple[bool, float]] = {}
        self._announced: set[str] = set()
        self._told: dict[int, _Claim] = {}
        self._roll: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self._own or self._told)

    @property
    def misses_anybody(self) -> bool:
        """Whether this peer itself misses a neighbour."""
        return bool(self._own)

    def misses(self, name: str) -> bool:
        """Whether this peer itself misses that neighbour."""
        return name in self._own

    # -- what comes in --------------------------------------------------------------------------

    def see(self, seen: Mapping[str, Sight], roll: Sequence[str], now: float) -> bool:
        """Whom this peer misses now, of the members ``roll``; whether others should hear of it at once."""
        self._roll = roll
        self._own = {name: (one.contributed, self._since(name, one, now)) for name, one in seen.items()}
        worth = {
            name
            for name, (contributed, since) in self._own.items()
            if now - since >= (1 + contributed) * self._patience and name in roll
        }
        new, self._announced = worth - self._announced, worth
        return bool(new)

    def _since(self, name: str, seen: Sight, now: float) -> float:
        before = self._own.get(name)
        first = now if before is None or before[0] != seen.contributed else before[1]
        return first if not seen.contributed or seen.silence is None else now - seen.silence

    def hear(self, via: str, told: Iterable[Absence], now: float) -> bool:
        """Claims that neighbour ``via`` has passed on; whether one is about a member that was not missing before."""
        news = False
        for one in told:
            said, held = now - one.age / 1000.0, self._told.get(one.member)
            if self._place == one.witness or now - said > self._lifetime:
                continue
            if held is not None and now - held.said <= self._lifetime and held.said >= said:
                continue
            news |= held is None or now - held.said > self._lifetime
            self._told[one.member] = _Claim(
                one.member, one.witness, one.contributed, now - one.since / 1000.0, said, via
            )
        return news

    # -- what goes out --------------------------------------------------------------------------

    def say(self, name: str, now: float) -> tuple[Absence, ...]:
        """What to tell ``name``: one claim for each member that is missing, own sight first."""
        found = {one.member: one for one in self._living(now) if one.via != name}
        for other in self._announced:
            contributed, since = self._own[other]
            place = self._roll.index(other)
            found[place] = _Claim(place, self._place, contributed, since, now, "")
        return tuple(
            Absence(one.member, one.witness, one.contributed, _age(now - one.since), _age(now - one.said) + 1)
            for _, one in sorted(found.items())
        )

    def known(self, roll: Sequence[str], now: float) -> list[Missing]:
        """All of them in words: what this peer sees itself, then what others say of further members."""
        seen = [Missing(name, had, now - since) for name, (had, since) in sorted(self._own.items())]
        told = [
            Missing(roll[one.member], one.contributed, now - one.since, roll[one.witness], now - one.said)
            for one in self._living(now)
            if max(one.member, one.witness) < len(roll) and roll[one.member] not in self._own
        ]
        return [*seen, *told]

    def _living(self, now: float) -> list[_Claim]:
        self._told = {one.member: one for one in self._told.values() if now - one.said <= self._lifetime}
        return sorted(self._told.values(), key=lambda one: one.member)


def _age(seconds: float) -> int:
    return min(max(int(1000.0 * seconds), 0), LONGEST_AGE - 1)
