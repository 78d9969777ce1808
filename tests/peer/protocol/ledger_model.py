"""An exhaustive model of one edge, built on the real ledger rules.

Every state an end ever had stays available for ever, as a message and as a request. That covers loss,
repetition, reordering, unbounded delay, giving up, and crashes after a commit. Registers hold sets of
unique tokens, one per applied exchange and one per seal, so that two different histories never look alike.
Either end may lose its disk or be dropped and added again at any moment.

What an end remembers only until a restart (``heard``: what the other acknowledged) is not part of a state:
any message that was ever sent may be the last one heard. So an entry of a history says how much could
have been left out of that message at most, and each delivery is tried with all and with nothing left out.
A request may leave out more on presumption; then it must do as much as the whole one, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from sottovoce.peer.protocol.ledger import SEAL, Edge, compose, meet, step
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.protocol.parting import farewell

NAMES = ("a", "b")


class Sent(NamedTuple):
    """A message in a history: the sender's record, and how many registers were left out (1: g, 2: f and g)."""

    edge: Edge
    omitted: int = 0
    bye: bool = False


class State(NamedTuple):
    """Records, histories and last life ids of the two ends; exchanges applied, disks lost.

    Records and messages are numbered when first met and stand here by number, a history as a set of bits:
    a search visits millions of these.
    """

    a: int
    b: int
    from_a: int
    from_b: int
    last_a: int = 1000
    last_b: int = 1000
    applied: int = 0
    lost: int = 0


class Numbers(dict[Any, int]):
    """Things, numbered in the order in which they are first met."""

    def __init__(self) -> None:
        super().__init__()
        self.things: list[Any] = []

    def __missing__(self, thing: Any) -> int:
        self.things.append(thing)
        self[thing] = len(self.things) - 1
        return self[thing]


class Violation(AssertionError):
    """What the model found, with the steps that lead to it."""


@dataclass(frozen=True)
class Rules:
    """The real rules, or a deliberately broken variant."""

    meet: Callable[..., Any] = meet
    compose: Callable[..., Message] = compose
    base_check: bool = True
    life_ids: bool = True
    ids_increase: bool = True
    commit_first: bool = True


@cache
def as_message(sent: Sent, sender: int, omitted: int) -> Message:
    e = sent.edge
    if sent.bye:
        return farewell(NAMES[sender], NAMES[1 - sender], e.psid)
    s, r = (0, 0) if e.blank else (e.s, e.r)
    return Message(
        Kind.HELLO, NAMES[sender], NAMES[1 - sender], e.sid, e.psid, e.blank,
        s=s, f=None if omitted == 2 else e.f, r=r, g=None if omitted or r == 0 else e.g,
    )  # fmt: skip


class Model:
    """Breadth-first search over all behaviours within the limits."""

    def __init__(self, *, exchanges: int, losses: int, blank_start: bool = False, rules: Rules | None = None) -> None:
        self.exchanges, self.losses = exchanges, losses
        self.rules = rules or Rules()
        self.blank_start = blank_start
        self.edges, self.sent = Numbers(), Numbers()
        self._reactions: dict[tuple[int, int, int, int], tuple[int, int, bool, bool]] = {}
        self._left_out: dict[tuple[int, int, int], int] = {}
        self._tellable: dict[int, tuple[int, int, int]] = {}
        self._steps: dict[tuple[int, int], int] = {}
        self._seals = Numbers()
        self._good: set[tuple[int, int, int, int]] = set()

    # -- pieces ---------------------------------------------------------------------------------

    def start(self) -> State:
        life = 1000
        edge = Edge(sid=life) if self.blank_start else Edge(sid=life, psid=life, blank=False, f=0, g=0)
        number, first = self.edges[edge], 1 << self.sent[Sent(edge)]
        return State(number, number, first, first)

    def react(self, edge: int, sent: int, me: int, last: int) -> tuple[int, int, bool, bool]:
        """(record after the rules, last life id, payload counts, base is current), whatever was left out."""
        key = (edge, sent, me, last)
        if key not in self._reactions:
            what: Sent = self.sent.things[sent]
            whole = self._react(edge, what, me, last, 0)
            assert whole is not None
            for omitted in range(1, what.omitted + 1):
                if self._react(edge, what, me, last, omitted) != whole:
                    raise Violation(f"what was left out of {what} makes a difference")
            if what.omitted == 1 and self._react(edge, what, me, last, 2, request=True) not in (whole, None):
                raise Violation(f"an incomplete request {what} was believed")
            self._reactions[key] = whole
        return self._reactions[key]

    def _react(
        self, number: int, sent: Sent, me: int, last: int, omitted: int, *, request: bool = False
    ) -> tuple[int, int, bool, bool] | None:
        used = last

        def new_sid() -> int:
            nonlocal used
            used += self.rules.life_ids
            return used

        edge, message = self.edges.things[number], as_message(sent, 1 - me, omitted)
        reaction = self.rules.meet(edge, message, new_sid, lambda: self.seal(me, edge.sid))
        after = replace(reaction.edge, heard=None, owed=False)
        if reaction.event == "incomplete":
            if request and self.edges[after] == number and reaction.answer is Kind.HELLO and not reaction.proceed:
                return None
            raise Violation(f"a needed register was left out of {sent}")
        return self.edges[after], used, reaction.proceed, not self.rules.base_check or sent.edge.r == after.s

    def seal(self, me: int, life: int) -> int:
        """A token of its own for the seal of each life of each end."""
        return 1 << (64 + self._seals[me, life])

    def left_out(self, edge: int, me: int, heard: int) -> int:
        """How many registers an end may leave out, having last heard any of ``heard``."""
        most = 0
        for sent in bits(heard):
            key = (edge, me, sent)
            if key not in self._left_out:
                self._left_out[key] = self._left_out_after(self.edges.things[edge], me, self.sent.things[sent])
            most = max(most, self._left_out[key])
            if most == 2:
                break
        return most

    def _left_out_after(self, edge: Edge, me: int, sent: Sent) -> int:
        after = self.rules.meet(edge, as_message(sent, 1 - me, 0), lambda: -1, lambda: self.seal(me, edge.sid)).edge
        if edge.blank or replace(after, heard=None, owed=False) != edge:
            return 0
        told = self.rules.compose(after, Kind.HELLO, "x", "y")
        return (told.f is None) + (told.g is None and (after.r > 0 or after.heard is not None))

    # -- transitions ----------------------------------------------------------------------------

    def successors(self, state: State) -> Iterator[tuple[tuple[str, int, int], State]]:
        for me in (0, 1):
            for sent in bits(state[3 - me]):
                yield from self.deliver(state, me, sent)
            if state.lost < self.losses:
                yield from self.lose(state, me)

    def deliver(self, state: State, me: int, sent: int) -> Iterator[tuple[tuple[str, int, int], State]]:
        edge, last, proceed, current = self.react(state[me], sent, me, state[4 + me])
        if edge != state[me]:
            yield ("hears", me, sent), self.put(state, me, edge, last=last)
        if proceed and current and state.applied < self.exchanges:
            after = self.put(state, me, self.step(edge, state.applied), last=last, applied=1)
            yield ("applies", me, sent), after
            if not self.rules.commit_first:  # the reply left, then came the crash before the commit
                yield ("answers and forgets", me, sent), State(*after[:me], state[me], *after[me + 1 :])

    def step(self, edge: int, token: int) -> int:
        if (edge, token) not in self._steps:
            old = self.edges.things[edge]
            self._steps[edge, token] = self.edges[step(old, 1 << token)]
        return self._steps[edge, token]

    def lose(self, state: State, me: int) -> Iterator[tuple[tuple[str, int, int], State]]:
        """Disk loss; and drop with a BYE, then added again."""
        last = state[4 + me] + self.rules.life_ids
        yield ("loses its disk", me, 0), self.begin(state, me, last if self.rules.ids_increase else last - 50)
        lost = self.begin(state, me, last)
        bye = 1 << self.sent[Sent(Edge(sid=0, psid=self.edges.things[state[me]].psid), bye=True)]
        yield ("drops and adds", me, 0), State(*lost[: 2 + me], lost[2 + me] | bye, *lost[3 + me :])

    def begin(self, state: State, me: int, life: int) -> State:
        return self.put(state, me, self.edges[Edge(sid=life)], last=life, lost=1)

    def put(self, state: State, me: int, edge: int, *, last: int, applied: int = 0, lost: int = 0) -> State:
        new = list(state)
        new[me] = edge
        new[4 + me] = last
        new[6] += applied
        new[7] += lost
        new[2 + me] = self.extended(new, me)
        new[3 - me] = self.extended(new, 1 - me)
        return State(*new)

    def extended(self, state: list[int], me: int) -> int:
        """The history of an end with what it can send now; of two messages the one with more left out."""
        edge, history = state[me], state[2 + me]
        if edge not in self._tellable:
            thing = self.edges.things[edge]
            self._tellable[edge] = tuple(1 << self.sent[Sent(thing, left)] for left in range(3))  # type: ignore[assignment]
        choices = self._tellable[edge]
        if history & choices[2]:
            return history
        left = self.left_out(edge, me, state[3 - me])
        if any(history & more for more in choices[left:]):
            return history
        for less in choices[:left]:
            history &= ~less
        return history | choices[left]

    # -- what must hold -------------------------------------------------------------------------

    def check(self, state: State) -> None:
        key = (state.a, state.b, state.last_a, state.last_b)
        if key in self._good:
            return
        a, b = self.edges.things[state.a], self.edges.things[state.b]
        if not (a.blank or b.blank) and (a.sid, a.psid) == (b.psid, b.sid):
            for writer, copier in ((a, b), (b, a)):
                if writer.s not in {copier.r, max(copier.r, SEAL) + 1, max(copier.r, SEAL)}:
                    raise Violation(f"V2: register at {writer.s}, copy at {copier.r}")
                if copier.r == writer.s and copier.g != writer.f:
                    raise Violation(f"V3: equal counters {writer.s}, different registers")
        self.handshake(state)
        self._good.add(key)

    def handshake(self, state: State) -> None:
        """Without further loss, a few HELLOs each way make both ends equal."""
        ends, last = [state.a, state.b], [state.last_a, state.last_b]
        for turn in range(10):
            me = turn % 2
            sent = self.sent[Sent(self.edges.things[ends[1 - me]])]
            ends[me], last[me], _, _ = self.react(ends[me], sent, me, last[me])
        a, b = self.edges.things[ends[0]], self.edges.things[ends[1]]
        same = (a.s, a.f, a.r, a.g) == (b.r, b.g, b.s, b.f)
        if a.blank or b.blank or not same or (a.sid, a.psid) != (b.psid, b.sid):
            raise Violation(f"a handshake leaves {a} {a.f} {a.g} and {b} {b.f} {b.g}")

    def explore(self) -> int:
        """Visit everything; the number of states."""
        start = self.start()
        parents: dict[State, Any] = {start: None}
        frontier = [start]
        while frontier:
            following = []
            for state in frontier:
                try:
                    self.check(state)
                    for label, successor in self.successors(state):
                        if successor not in parents:
                            parents[successor] = (state, label)
                            following.append(successor)
                except Violation as found:
                    raise Violation(f"{found}\n" + "\n".join(self.trace(parents, state))) from None
            frontier = following
        return len(parents)

    def trace(self, parents: dict[State, Any], state: State) -> list[str]:
        steps: list[str] = []
        link = parents[state]
        while link is not None:
            verb, me, sent = link[1]
            steps.append(f"{NAMES[me]} {verb} {self.sent.things[sent]}")
            link = parents[link[0]]
        return steps[::-1]


def bits(history: int) -> Iterator[int]:
    while history:
        low = history & -history
        yield low.bit_length() - 1
        history ^= low
