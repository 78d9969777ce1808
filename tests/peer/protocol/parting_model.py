"""An exhaustive model of dropping a neighbour, built on the real rules for ledgers and partings.

As in :mod:`.ledger_model` every message that was ever said stays deliverable for ever, which covers loss, repetition,
reordering and delay, and registers hold unique tokens. Here either end may also drop the other, with or without taking
it back later, and messages carry everything (what may be left out is the other model's subject).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sottovoce.peer.protocol.ledger import Edge, meet, step
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.protocol.parting import Parting, heard_without_record, part

from .ledger_model import NAMES, Violation


class Gone(NamedTuple):
    """An end without a record; ``parting`` until the other end has answered for the drop."""

    parting: Parting | None


End = Edge | Gone


class Said(NamedTuple):
    """A message, as far as it matters here."""

    bye: bool
    src_sid: int
    dst_sid: int
    blank: bool = True
    s: int = 0
    f: Any = None
    r: int = 0
    g: Any = None


class State(NamedTuple):
    """Both ends, all that each has said, the last life of each, and what has happened so far."""

    ends: tuple[End, End]
    said: tuple[frozenset[Said], frozenset[Said]]
    last: tuple[int, int]
    applied: int = 0
    drops: int = 0
    losses: int = 0


@dataclass(frozen=True)
class Rules:
    """The real rules, or a deliberately broken variant."""

    meet: Callable[..., Any] = meet
    heard_without_record: Callable[..., Any] = heard_without_record
    part: Callable[..., Any] = part


class PartingModel:
    """Breadth-first search over all behaviours within the limits."""

    def __init__(
        self, *, exchanges: int, drops: int, losses: int, depth: int = 1000, rules: Rules | None = None
    ) -> None:
        self.exchanges, self.drops, self.losses, self.depth = exchanges, drops, losses, depth
        self.rules = rules or Rules()
        self.seals: dict[tuple[int, int], int] = {}

    def start(self) -> State:
        edge = Edge(sid=1000, psid=1000, blank=False, f=0, g=0)
        hello = frozenset([greeting(edge)])
        return State((edge, edge), (hello, hello), (1000, 1000))

    # -- what one end does ----------------------------------------------------------------------

    def hears(self, end: End, said: Said, me: int, last: int) -> tuple[End, list[Said], int, bool]:
        """(the end afterwards, what it answers, its last life, whether a request could be applied)."""
        m = as_message(said, 1 - me)
        if isinstance(end, Gone):
            parting, ended = self.rules.heard_without_record(end.parting, m)
            return Gone(parting), [] if ended is None else [Said(True, ended, m.src_sid)], last, False
        used = last

        def new_sid() -> int:
            nonlocal used
            used += 1
            return used

        reaction = self.rules.meet(end, m, new_sid, lambda: self.seal(me, end.sid))
        after = replace(reaction.edge, heard=None, owed=False)
        answers = {Kind.BYE: [Said(True, 0, m.src_sid)], Kind.HELLO: [greeting(after)]}.get(reaction.answer, [])
        return after, answers, used, reaction.proceed and said.r == after.s

    def seal(self, me: int, life: int) -> int:
        return 1 << (64 + self.seals.setdefault((me, life), len(self.seals)))

    # -- transitions ----------------------------------------------------------------------------

    def successors(self, state: State) -> Iterator[tuple[str, State]]:
        for me in (0, 1):
            for said in state.said[1 - me]:
                yield from self.deliver(state, me, said)
            yield from self.operate(state, me)

    def deliver(self, state: State, me: int, said: Said) -> Iterator[tuple[str, State]]:
        end, answers, last, applicable = self.hears(state.ends[me], said, me, state.last[me])
        yield f"{NAMES[me]} hears {said}", put(state, me, end, answers, last)
        if applicable and isinstance(end, Edge) and state.applied < self.exchanges:
            moved = step(end, 1 << state.applied)
            yield (
                f"{NAMES[me]} applies {said}",
                put(state, me, moved, answers, last)._replace(applied=state.applied + 1),
            )

    def operate(self, state: State, me: int) -> Iterator[tuple[str, State]]:
        end, fresh = state.ends[me], state.last[me] + 1
        if isinstance(end, Gone):
            yield f"{NAMES[me]} adds", put(state, me, Edge(sid=fresh), [], fresh)
            return
        if state.drops < self.drops:
            dropped = put(state, me, Gone(self.rules.part(end, 0)), [], state.last[me])
            yield f"{NAMES[me]} drops", dropped._replace(drops=state.drops + 1)
        if state.losses < self.losses:
            lost = put(state, me, Edge(sid=fresh), [], fresh)
            yield f"{NAMES[me]} loses its disk", lost._replace(losses=state.losses + 1)

    # -- what must hold -------------------------------------------------------------------------

    def check(self, state: State) -> None:
        a, b = state.ends
        for one, other in ((a, b), (b, a)):
            if one == Gone(None) and isinstance(other, Edge) and not other.blank:
                raise Violation(f"the parting is over, and the other end holds {other}")
        if isinstance(a, Edge) and isinstance(b, Edge) and not (a.blank or b.blank):
            if (a.sid, a.psid) == (b.psid, b.sid) and a.s == b.r and a.f != b.g:
                raise Violation(f"V3: equal counters {a.s}, different registers")
        self.find_together(state)

    def find_together(self, state: State) -> None:
        """Without further loss a few messages each way leave both with a ledger, or neither."""
        ends, last = list(state.ends), list(state.last)
        answers: list[Said] = []
        for turn in range(12):
            me = turn % 2
            inbox, answers = [*answers, *says(ends[1 - me])], []
            for said in inbox:
                ends[me], answered, last[me], _ = self.hears(ends[me], said, me, last[me])
                answers += answered
        a, b = ends
        if isinstance(a, Edge) and isinstance(b, Edge):
            same = not a.blank and not b.blank and (a.s, a.f, a.r, a.g) == (b.r, b.g, b.s, b.f)
        else:
            same = all(end == Gone(None) or (isinstance(end, Edge) and end.blank and end.parted) for end in (a, b))
        if not same:
            raise Violation(f"left to themselves they end as {a} and {b}")

    def explore(self) -> int:
        """Visit everything within ``depth`` steps; the number of states."""
        start = self.start()
        parents: dict[State, tuple[State, str] | None] = {start: None}
        frontier = [start]
        for _ in range(self.depth):
            following = []
            for state in frontier:
                try:
                    self.check(state)
                except Violation as found:
                    raise Violation(f"{found}\n" + "\n".join(trace(parents, state))) from None
                for label, successor in self.successors(state):
                    if successor not in parents:
                        parents[successor] = (state, label)
                        following.append(successor)
            frontier = following
        return len(parents)


def greeting(edge: Edge) -> Said:
    counters = (0, None, 0, None) if edge.blank else (edge.s, edge.f, edge.r, edge.g)
    return Said(False, edge.sid, edge.psid, edge.blank, *counters)


def says(end: End) -> list[Said]:
    """What an end says by itself; to a neighbour that has parted, nothing."""
    if isinstance(end, Edge):
        return [] if end.parted else [greeting(end)]
    return [] if end.parting is None else [Said(True, end.parting.sid, end.parting.psid)]


def put(state: State, me: int, end: End, answers: list[Said], last: int) -> State:
    ends, said, lasts = list(state.ends), list(state.said), list(state.last)
    ends[me], lasts[me] = end, last
    said[me] = said[me].union(answers, says(end))
    return state._replace(ends=tuple(ends), said=tuple(said), last=tuple(lasts))  # type: ignore[arg-type]


def as_message(said: Said, sender: int) -> Message:
    kind = Kind.BYE if said.bye else Kind.HELLO
    return Message(kind, NAMES[sender], NAMES[1 - sender], *said[1:])


def trace(parents: dict[State, tuple[State, str] | None], state: State) -> list[str]:
    steps: list[str] = []
    link = parents[state]
    while link is not None:
        steps.append(link[1])
        link = parents[link[0]]
    return steps[::-1]
