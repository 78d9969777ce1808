"""An exhaustive model of how a topic ends, built on the real :class:`Protocol`: three peers, every order of events.

What is left out is what closing does not depend on: values are equal, so that every epoch in which nothing changes ends
in agreement, and nothing is exchanged; intervals are told in full. The search begins where edges are open and an epoch
has begun that can end in agreement. Everything else is the peers' own code: greetings, ledgers that open, rounds,
certificates, drops and partings. Two neighbours tell each other at once, in any order of pairs; some messages go one
way only, and one can be kept back and comes later, once, whatever has happened since. Peers contribute late, lose
patience with a neighbour that is dead or has not contributed (or, ``suspicious``, with any), are restarted, die for
good, follow a neighbour that has declared, or (where a peer is away; ``hasty``: always) the word of all that they are
bound, and close.

In every state that can be reached within the limits:

- whoever has declared is among those it names, and two declared sets are equal or have no member in common;
- no ledger leads out of a declared set, so that its mean is that of exactly its members;
- with ``ending``, where all have contributed and nobody is dead: if from here on all tell each other again and again,
  all have their answer and close.
"""

from __future__ import annotations

import copy
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sottovoce.peer.protocol import PeerState, Protocol
from sottovoce.peer.protocol.closing import Certificate, followed
from sottovoce.peer.protocol.intervals import Around
from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.protocol.noise import rounded
from sottovoce.peer.protocol.openings import answer_without_topic, topic_id
from sottovoce.peer.protocol.settings import TopicSettings
from sottovoce.peer.protocol.stopping import RangeRule
from sottovoce.privacy.gaussian.account import Account
from sottovoce.testing.settings import some_settings

from .ledger_model import Violation

TOPIC = topic_id("t")
NAMES = ("ada", "bob", "cyd")
LONGEST_TALK = 4
ENOUGH = 40
"""Times that all tell each other, after which a topic that has not ended never does."""


class Limits(NamedTuple):
    """How much may happen."""

    rounds: int
    drops: int = 0
    restarts: int = 0
    deaths: int = 0
    lost: int = 0
    kept: int = 0
    late: int = 0


class Node(NamedTuple):
    """One peer: its protocol while it runs, and the set it has closed with afterwards."""

    protocol: Protocol | None = None
    dead: bool = False
    closed: int | None = None


class World(NamedTuple):
    """All peers, the message that is on its way, and what is left of the limits."""

    nodes: tuple[Node, ...]
    kept: Message | None
    left: Limits


class ClosingModel:
    """Breadth-first search over all behaviours within the limits."""

    def __init__(
        self,
        limits: Limits,
        *,
        missing: str = "drop",
        triangle: bool = True,
        suspicious: bool = False,
        keep_their_word: bool = True,
        ending: bool = False,
        hasty: bool = False,
        references: bool = False,
    ) -> None:
        self.suspicious, self.keep_their_word, self.ending = suspicious, keep_their_word, ending
        self.hasty, self.references = hasty, references
        self.limits = limits
        pairs = [("ada", "bob"), ("bob", "cyd"), *([("ada", "cyd")] if triangle else [])]
        self.around = {name: sorted({n for pair in pairs if name in pair for n in pair} - {name}) for name in NAMES}
        diameter = 1 if triangle else 2
        shared = some_settings(members=3, max_degree=2, diameter=diameter, min_open_edges=1)
        topic = TopicSettings.of(shared, topic="t", dimension=1, missing=missing)
        self.settings = {name: replace(topic, name=name, index=k, order=tuple(NAMES)) for k, name in enumerate(NAMES)}
        if triangle and not suspicious:  # whoever is left are neighbours: shorter epochs, and so fewer states
            for settings in self.settings.values():
                object.__setattr__(settings, "diameter", 1)

    # -- peers ----------------------------------------------------------------------------------

    def contribute(self, name: str, stored: PeerState | None = None) -> Protocol:
        protocol = Protocol.resume(
            self.settings[name], stored, value=np.zeros(1, dtype=np.int64), account=Account(1.0, 0.5),
            neighbours=self.around[name] if stored is None else stored.edges, topic=TOPIC, draw=rounded(np.zeros),
            coin=np.zeros, stamp=lambda: 0,
        )  # fmt: skip
        zero = np.zeros(1, dtype=np.int64)
        protocol.rule._sample = protocol.rule._collect = lambda: (zero, zero)
        protocol.rule._may_tell = lambda: True
        protocol.rule.references.wanted = self.references
        return protocol

    def hears(self, node: Node, name: str, m: Message) -> Message | None:
        """What a peer answers; its protocol, if it has one, is changed in place."""
        if node.dead:
            return None
        if node.protocol is None:
            return answer_without_topic(m, self.settings[name], node.closed)
        answer = node.protocol.receive(m)
        node.protocol.rule._taken.clear()
        node.protocol.rule._held.clear()
        return answer

    def talk(self, nodes: list[Node], first: Message | None, *, lost: bool = False) -> None:
        """A message, its answer, and so on; ``lost``: no answer arrives."""
        message = first
        for _ in range(LONGEST_TALK):
            if message is None or nodes[NAMES.index(message.src)].dead:
                return
            k = NAMES.index(message.dst)
            message = self.hears(nodes[k], message.dst, message)
            if lost:
                return

    # -- transitions ----------------------------------------------------------------------------

    def start(self) -> World:
        """Those that have contributed are in the first round of an epoch; a late one was left out by its neighbours."""
        nodes = [Node() if k < self.limits.late else Node(self.contribute(name)) for k, name in enumerate(NAMES)]
        running = [node.protocol for node in nodes if node.protocol is not None]
        for protocol in running:
            for name in NAMES[: self.limits.late]:
                protocol.drop(name)
        said = [(protocol, other) for protocol in running for other in protocol.state.edges]
        for protocol, other in itertools.islice(itertools.cycle(said), 500):
            if min(one.rule.epoch for one in running) == 0:
                self.talk(nodes, protocol.greet(other))
        assert {(protocol.rule.epoch, protocol.bound) for protocol in running} == {(1, False)}
        return World(tuple(nodes), None, self.limits._replace(rounds=furthest_of(nodes) + self.limits.rounds))

    def successors(self, world: World) -> Iterator[tuple[str, World]]:
        if world.kept is not None:
            yield self.changed(world, "a kept message comes", lambda nodes: self.talk(nodes, world.kept), kept=None)
        for k, (name, node) in enumerate(zip(NAMES, world.nodes, strict=True)):
            if node.protocol is not None and not node.dead:
                yield from self.acts(world, k, name, node.protocol)
            elif node.closed is None and not node.dead and world.left.late:
                yield self.changed(world, f"{name} contributes", self.putting(k, self.contribute(name)), late=1)

    def acts(self, world: World, k: int, name: str, protocol: Protocol) -> Iterator[tuple[str, World]]:
        left = world.left
        for other in sorted(protocol.state.edges):
            if name < other or name not in edges_of(world.nodes[NAMES.index(other)]):
                yield self.changed(world, f"{name} and {other} talk", self.meeting(k, NAMES.index(other)))
            if left.lost:
                greet = self.saying(k, lambda mine, other=other: mine.greet(other), lost=True)  # type: ignore[misc]
                yield self.changed(world, f"{name} greets {other}", greet, lost=1)
            free = not (protocol.bound and self.keep_their_word)
            if left.drops and free and (self.suspicious or absent(world.nodes[NAMES.index(other)])):
                drop = self.saying(k, lambda mine, other=other: dropping(mine, other), lost=True)  # type: ignore[misc]
                yield self.changed(world, f"{name} drops {other}", drop, drops=1)
            if left.kept and world.kept is None:
                yield (
                    f"{name}'s greeting to {other} is kept",
                    world._replace(kept=protocol.greet(other), left=left._replace(kept=left.kept - 1)),
                )
        for other in protocol.state.partings:
            bye = self.saying(k, lambda mine, other=other: mine.farewell(other))  # type: ignore[misc]
            yield self.changed(world, f"{name} parts from {other}", bye)
        held = protocol.state.certificate
        stuck = self.hasty or any(map(absent, world.nodes))
        if followed(held, protocol.declared_elsewhere, protocol.holders if stuck else 0) is not held:
            yield self.changed(world, f"{name} follows", lambda nodes: nodes[k].protocol.follow())  # type: ignore[union-attr]
        if left.restarts:
            again = self.contribute(name, forgetful(protocol.state))
            yield self.changed(world, f"{name} restarts", self.putting(k, again), restarts=1)
        if left.deaths:
            yield self.changed(world, f"{name} dies", self.killing(k), deaths=1)
        if protocol.over:
            assert held is not None
            yield self.changed(world, f"{name} closes", self.closing(k, held))

    def meeting(self, k: int, j: int) -> Callable[..., None]:
        def act(nodes: list[Node]) -> None:
            for mine, other in ((nodes[k].protocol, NAMES[j]), (nodes[j].protocol, NAMES[k])):
                if mine is not None and other in mine.state.edges:
                    self.talk(nodes, mine.greet(other))

        return act

    def saying(self, k: int, say: Callable[[Protocol], Message | None], *, lost: bool = False) -> Callable[..., None]:
        def act(nodes: list[Node]) -> None:
            mine = nodes[k].protocol
            assert mine is not None
            self.talk(nodes, say(mine), lost=lost)

        return act

    @staticmethod
    def putting(k: int, protocol: Protocol) -> Callable[..., None]:
        def act(nodes: list[Node]) -> None:
            nodes[k] = Node(protocol)

        return act

    @staticmethod
    def killing(k: int) -> Callable[..., None]:
        def act(nodes: list[Node]) -> None:
            nodes[k] = nodes[k]._replace(dead=True)

        return act

    @staticmethod
    def closing(k: int, held: Certificate) -> Callable[..., None]:
        def act(nodes: list[Node]) -> None:
            nodes[k] = Node(closed=held.contributors)

        return act

    def changed(self, world: World, what: str, act: Callable[[list[Node]], None], **spent: Any) -> tuple[str, World]:
        nodes = [node._replace(protocol=clone(node.protocol)) for node in world.nodes]
        kept = spent.pop("kept", world.kept)
        act(nodes)
        left = world.left._replace(**{name: getattr(world.left, name) - 1 for name in spent})
        return what, World(tuple(nodes), kept, left)

    # -- the search -----------------------------------------------------------------------------

    def explore(self) -> int:
        """How many states can be reached; raises :class:`Violation` with the way to the first bad one."""
        first = self.start()
        ways: dict[Any, tuple[Any, str] | None] = {key(first): None}
        queue = deque([first])
        while queue:
            world = queue.popleft()
            here = key(world)
            for what, after in self.successors(world):
                there = key(after)
                if there in ways:
                    continue
                ways[there] = here, what
                wrong = broken(after) or self.unending(after)
                if wrong:
                    raise Violation(f"{wrong}: {' / '.join(way(ways, there))}")
                if furthest_of(after.nodes) <= first.left.rounds:
                    queue.append(after)
        self.declared = sum(bool(found) for found in map(_declared_in, ways))
        return len(ways)

    def unending(self, world: World) -> str:
        """Who never closes, although nothing more happens to anybody; or nothing."""
        if not self.ending or any(map(absent, world.nodes)):
            return ""
        nodes = [node._replace(protocol=clone(node.protocol)) for node in world.nodes]
        for _ in range(ENOUGH):
            for k, name in enumerate(NAMES):
                for other in self.around[name]:
                    self.meeting(k, NAMES.index(other))(nodes)
            for k, node in enumerate(nodes):
                for greeting in [] if node.protocol is None else node.protocol.news():
                    self.talk(nodes, greeting)
                if node.protocol is not None and node.protocol.over:
                    assert node.protocol.state.certificate is not None
                    self.closing(k, node.protocol.state.certificate)(nodes)
            if all(node.closed is not None for node in nodes):
                return ""
        open_still = [name for name, node in zip(NAMES, nodes, strict=True) if node.closed is None]
        return f"{' and '.join(open_still)} never end"


def _declared_in(there: Any) -> bool:
    return any(part[1] for part in there[0])


def way(ways: dict[Any, tuple[Any, str] | None], there: Any) -> list[str]:
    """How a state was reached."""
    steps: list[str] = []
    step = ways[there]
    while step is not None:
        steps.append(step[1])
        step = ways[step[0]]
    return steps[::-1]


def dropping(protocol: Protocol, other: str) -> Message | None:
    """A drop, also by a peer that is bound and must not: the model asks before."""
    bound, protocol.rule.bound = protocol.rule.bound, False
    message = protocol.leave_out(other)
    protocol.rule.bound = bound
    return message


def absent(node: Node) -> bool:
    """Whether nothing can be heard of a peer."""
    return node.dead or (node.protocol is None and node.closed is None)


def edges_of(node: Node) -> Iterable[str]:
    """The neighbours of a peer that runs."""
    return () if node.dead or node.protocol is None else node.protocol.state.edges


def furthest_of(nodes: Iterable[Node]) -> int:
    return max((node.protocol.rule.round for node in nodes if node.protocol is not None), default=0)


def broken(world: World) -> str:
    """What is wrong with a state, or nothing."""
    sets = {}
    for k, node in enumerate(world.nodes):
        held = None if node.protocol is None else node.protocol.state.certificate
        found = node.closed if node.closed is not None else held.contributors if held and held.declared else 0
        if found:
            sets[k] = found
    for k, found in sets.items():
        if not found >> k & 1:
            return f"{NAMES[k]} is not in its own answer"
        if any(other != found and other & found for other in sets.values()):
            return "two answers share a member"
        for j, node in enumerate(world.nodes):
            edges = {} if node.protocol is None or not found >> j & 1 else node.protocol.state.edges
            if any(not edge.blank and not found >> NAMES.index(name) & 1 for name, edge in edges.items()):
                return f"a ledger of {NAMES[j]} leads out of the answer of {NAMES[k]}"
    return ""


# -- copies and names of states ---------------------------------------------------------------------


def clone(protocol: Protocol | None) -> Protocol | None:
    """An independent copy; what is immutable is shared."""
    if protocol is None:
        return None
    other = copy.copy(protocol)
    other.rule = copy.copy(protocol.rule)
    other.rule.references = copy.copy(protocol.rule.references)
    for holder, original in (
        (other, protocol), (other.rule, protocol.rule), (other.rule.references, protocol.rule.references),
    ):  # fmt: skip
        for name, value in vars(original).items():
            if isinstance(value, dict | set):
                setattr(holder, name, copy.copy(value))
    other._links = {name: copy.copy(link) for name, link in protocol._links.items()}
    for link in other._links.values():
        link.openings = copy.copy(link.openings)
    return other


def forgetful(state: PeerState) -> PeerState:
    """What is on disk."""
    return replace(state, edges={name: replace(edge, heard=None, owed=False) for name, edge in state.edges.items()})


def key(world: World) -> Any:
    """What distinguishes one state from another."""
    nodes = tuple((node.dead, _answer(node), _key(node.protocol)) for node in world.nodes)
    kept = world.kept
    said = kept and (
        kept.src,
        kept.dst,
        kept.src_sid,
        kept.dst_sid,
        kept.blank,
        kept.s,
        kept.r,
        (kept.closed, kept.held, kept.holders),
        _stop(kept),
    )
    return nodes, said, world.left


def _answer(node: Node) -> int:
    held = None if node.protocol is None else node.protocol.state.certificate
    return node.closed or (held.contributors if held is not None and held.declared else 0)


def _stop(message: Message) -> Any:
    stop = message.stop
    return stop and (
        *(stop.round, stop.low is None, stop.previous_low is None, *stop[5:9]),
        *(stop.around, stop.previous_around, stop.reference, stop.owner, stop.centre is None),
    )


def _key(protocol: Protocol | None) -> Any:
    if protocol is None:
        return None
    state, rule, held = protocol.state, protocol.rule, protocol.state.certificate
    edges = tuple(
        (name, e.sid, e.psid, e.blank, e.s, e.r, e.parted, e.heard, e.owed) for name, e in state.edges.items()
    )
    links = tuple((name, link.closed, link.not_yet, link.silent) for name, link in protocol._links.items())
    flags = (
        (rule.round, rule.joined, rule.settled, rule._interval is None, rule._previous is None),
        (rule.bound, rule.only, rule.restless, rule.early),
        (rule._gathered, rule._gathered_before, rule._ready, rule._ready_before),
        (rule._rumoured, rule._allowed, rule.only and tuple(sorted(rule._told))),
    )
    heard = (_items(rule._seen), _items(rule._entrances), _measures(rule))
    kept = None if held is None else (held.contributors, held.declared)
    more = (
        tuple(state.partings),
        _items(protocol.ended),
        (protocol.declared_elsewhere, protocol.holders),
        (tuple(sorted(protocol._to_tell)), tuple(sorted(protocol._left_out)), _items(state.refusals)),
    )
    return edges, links, flags, heard, kept, more, state.last_sid


def _measures(rule: RangeRule) -> Any:
    """What intervals are measured from; all values are the same here, and so is every reference."""
    known = rule.references
    held = [one is None or one.owner for one in (known.held, known._last, known._coming)]
    kinds = [isinstance(one, Around) for one in (rule._interval, rule._previous)]
    named = [_items(names) for names in (known._theirs, known._had, known._sent)]
    return *held, *kinds, *named, known.exact, rule._could_tell


def _items(found: dict[str, Any]) -> Any:
    return tuple(sorted(found.items()))
