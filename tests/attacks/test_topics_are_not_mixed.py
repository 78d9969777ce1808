"""Topics under everything that fails: whoever declares, declares the same members, and the mean of exactly those."""

from __future__ import annotations

import asyncio
import random
from fractions import Fraction
from typing import Literal

import pytest

from sottovoce import graphs
from sottovoce.errors import PeerError, TopicClosed, TopicUnfinished
from sottovoce.graphs import Graph
from sottovoce.peer import Average
from sottovoce.testing import Conditions, LocalNetwork, SimulatedNetwork, run_virtually
from sottovoce.testing.memory_transport import Faults

FAULTS = Conditions(loss=0.2, duplication=0.2, delay=0.02, crash=0.004, disk_loss=0.3)
CALM = Conditions(delay=0.01)


class Topic:
    """One topic in a simulated network: late contributors, patience that ends, and what was declared so far."""

    def __init__(self, graph: Graph, missing: str, seed: int, *, late: int = 0, conditions: Conditions = CALM) -> None:
        self.random = random.Random(seed)
        self.names = [f"p{node:02d}" for node in range(graph.num_nodes)]
        pairs = [(self.names[a], self.names[b]) for a, b in graph.edges]
        values = {name: self.random.uniform(-10.0, 10.0) for name in self.names}
        self.net = SimulatedNetwork(
            pairs, values, noise_std=1.0, noise_decay=0.6, seed=seed, members=len(self.names), diameter=5,
            max_degree=int(graph.degrees.max()), missing=missing, conditions=conditions,
            order=tuple(self.names),
        )  # fmt: skip
        self.late = self.random.sample(self.names, late)
        for name in self.late:
            self.net.peers[name].crash(lose_disk=True)
        self.declared: dict[str, int] = {}

    def check(self) -> bool:
        """Nothing that was ever declared contradicts anything else. Never true: it is asked after every event."""
        for name, peer in self.net.peers.items():
            held = None if peer.protocol is None else peer.protocol.state.certificate
            if held is None or not held.declared or self.declared.get(name) == held.contributors:
                continue
            assert name not in self.declared, "declared twice"
            assert held.contributors >> self.names.index(name) & 1
            self.declared[name] = held.contributors
            for other in self.declared.values():
                assert other == held.contributors or other & held.contributors == 0, "two answers share a member"
            members = [self.names[bit] for bit in range(len(self.names)) if held.contributors >> bit & 1]
            values = [int(self.net.peers[member].origin.value[0]) for member in members]
            assert abs(2 * Fraction(sum(values), len(values)) - int(held.twice[0])) <= held.width + 2
        return False

    def contribute(self) -> None:
        """A late member contributes."""
        if self.late:
            self.net._restart(self.late.pop())

    def lose_patience(self, name: str) -> None:
        """One peer leaves out the neighbours that have not contributed, or do not answer."""
        protocol = self.net.peers[name].protocol
        if protocol is None:
            return
        protocol.follow()
        for other in list(protocol.state.active):
            gone = self.net.peers[other].protocol is None
            if protocol.state.edges[other].blank or (gone and self.random.random() < 0.5):
                self.net.leave_out(name, other)

    def everybody_in_it_declares(self) -> bool:
        """Whether all members of all sets have the answer."""
        return bool(self.declared) and all(
            self.declared.get(name) or not any(found >> bit & 1 for found in self.declared.values())
            for bit, name in enumerate(self.names)
        )


def disturbed(graph: Graph, missing: str, seed: int, *, late: int) -> Topic:
    """About forty seconds in which members come late, patience ends here and there, and everything fails."""
    topic = Topic(graph, missing, seed, late=late, conditions=FAULTS)
    for _ in range(12):
        topic.net.run(topic.random.uniform(0.5, 6.0), until=topic.check)
        if topic.random.random() < 0.4:
            topic.contribute()
        if missing == "drop" and topic.random.random() < 0.5:
            topic.lose_patience(topic.random.choice(topic.names))
    return topic


GRAPHS = [graphs.cycle(6), graphs.complete(5), graphs.random_geometric(9, seed=2), graphs.barbell(4)]


def test_whoever_declares_declares_the_same() -> None:
    """Loss, repetition, kills, lost disks, late members, lost patience: one answer, and nearly always there is one.

    There is none where two groups have left each other out before they met.
    """
    answered = 0
    for seed in range(8):
        topic = disturbed(GRAPHS[seed % len(GRAPHS)], "drop", seed, late=2)
        topic.net.heal()
        topic.net.run(60.0, until=topic.check)
        assert len(set(topic.declared.values())) <= 1
        answered += bool(topic.declared)
    assert answered >= 7


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 400))
@pytest.mark.parametrize("missing", ["drop", "wait"])
def test_whoever_declares_declares_the_same_many_times(seed: int, missing: str) -> None:
    """The same, several hundred times, under both policies."""
    topic = disturbed(GRAPHS[seed % len(GRAPHS)], missing, seed, late=seed % 4)
    topic.net.heal()
    topic.net.run(100.0, until=topic.check)


def bereaved(graph: Graph, seed: int) -> Topic:
    """A member dies for good when the first peer has found agreement, and its neighbours leave it out at once."""
    topic = Topic(graph, "drop", seed, conditions=Conditions(loss=0.2, delay=0.05))

    def certified() -> bool:
        running = [peer.protocol for peer in topic.net.peers.values() if peer.protocol is not None]
        return topic.check() or any(protocol.state.certificate is not None for protocol in running)

    assert topic.net.run(500.0, until=certified)
    topic.net.run(topic.random.expovariate(4.0), until=topic.check)
    dead = topic.random.choice(topic.names)
    assert len(topic.declared) < len(topic.names)
    topic.net.peers[dead].crash()
    for name in topic.random.sample(topic.names, len(topic.names)):
        topic.net.run(topic.random.expovariate(20.0), until=topic.check)
        if topic.net.peers[name].protocol is not None and dead in topic.net.peers[name].protocol.state.edges:
            topic.net.disconnect(name, dead)
    topic.net.run(60.0, until=topic.check)
    return topic


@pytest.mark.parametrize("seed", range(6))
def test_a_member_that_dies_while_the_answer_is_declared_is_in_it_for_all_or_for_none(seed: int) -> None:
    """Whoever dies in that moment: those who have an answer have the same one, with or without it."""
    topic = bereaved(GRAPHS[seed % len(GRAPHS)], seed)
    assert len(set(topic.declared.values())) <= 1


@pytest.mark.parametrize("seed", range(2))
def test_waiting_ends_when_the_last_has_contributed(seed: int) -> None:
    """With "wait" nobody declares before all members have contributed; then all declare, through all faults."""
    topic = disturbed(graphs.random_geometric(8, seed=1), "wait", seed, late=1)
    if topic.late:
        assert topic.declared == {}
    while topic.late:
        topic.contribute()
    topic.net.heal()
    assert topic.net.run(600.0, until=lambda: topic.check() or topic.everybody_in_it_declares())
    assert set(topic.declared.values()) == {2**8 - 1}


async def killed_with_the_answer(seed: int, missing: Literal["wait", "drop"]) -> list[Average]:
    """A ring of eight and a lossy network; every other peer is killed soon after it has its answer, and comes back."""
    chance, names = random.Random(seed), [f"p{number}" for number in range(8)]
    ring = list(zip(names, names[1:] + names[:1], strict=True))
    noise = {"noise_std": 0.1, "noise_decay": 0.5, "seal_std": 0.1}

    async with LocalNetwork(names, ring, seed=seed, diameter=4, faults=Faults(loss=0.2), **noise) as net:

        async def contribute(number: int) -> Average:
            name = names[number]
            answer = await net[name].average(float(number), topic="t", missing=missing, timeout=900)
            if number % 2:
                await asyncio.sleep(chance.choice([0.0, 0.0, 0.05, 0.3, 1.0]))
                await net.kill(name)
                await asyncio.sleep(chance.choice([0.0, 0.5, 3.0]))
                await net.start(name)
            return answer

        return await asyncio.gather(*map(contribute, range(8)))


@pytest.mark.parametrize(
    ("seed", "missing"),
    [
        *((seed, "wait") for seed in range(4, 8)),
        *(pytest.param(seed, ["drop", "wait"][seed % 2], marks=pytest.mark.slow) for seed in range(8, 200)),
    ],
)
def test_peers_killed_with_the_answer_do_not_keep_it_from_the_others(
    seed: int, missing: Literal["wait", "drop"]
) -> None:
    """Some neighbours of a peer that is killed have ended the topic when it comes back: the others get theirs (R84)."""
    answers = run_virtually(killed_with_the_answer(seed, missing))
    assert {answer.number for answer in answers} == {8}
    assert max(abs(answer.mean - 3.5) - answer.plus_minus for answer in answers) <= 1e-6


EIGHT = [f"p{k}" for k in range(8)]
RING = [(name, EIGHT[k - 1]) for k, name in enumerate(EIGHT)]


async def five_come_late(edges: list[tuple[str, str]] | None, seed: int) -> list[Average | BaseException]:
    """Three contribute at once, and leave the others out after nine seconds; those come together, up to 20 s late."""
    chance = random.Random(seed)
    late, faults = chance.uniform(0.0, 20.0), [Faults(), Faults(distance=0.01, delay=0.02), Faults(loss=0.1)]
    async with LocalNetwork(EIGHT, edges, seed=seed, faults=faults[seed % 3]) as net:

        async def contribute(k: int, name: str) -> Average:
            await asyncio.sleep(0.0 if k < 3 else late + chance.uniform(0.0, 0.5))
            return await net[name].average(1.0, topic="t", missing="drop", timeout=9.0)

        calls = [contribute(k, name) for k, name in enumerate(EIGHT)]
        return await asyncio.gather(*calls, return_exceptions=True)


@pytest.mark.parametrize("edges", [RING, None], ids=["ring", "all"])
@pytest.mark.parametrize("seeds", [range(9), pytest.param(range(9, 99), marks=pytest.mark.slow)], ids=["few", "many"])
def test_those_who_come_late_together_are_let_in_or_refused(seeds: range, edges: list[tuple[str, str]] | None) -> None:
    """At whatever moment: there is one answer, or none, and never a second one of those who were left out."""
    numbers = []
    for seed in seeds:
        found = run_virtually(five_come_late(edges, seed))
        assert all(isinstance(one, Average | TopicUnfinished | TopicClosed) for one in found)
        answers = {one.contributors for one in found if isinstance(one, Average)}
        assert len(answers) <= 1
        numbers += [len(one) for one in answers]
    assert {3, 8} <= set(numbers)


async def restarted_while_alone(edges: list[tuple[str, str]] | None, seed: int) -> list[frozenset[str]]:
    """Three are bound and one of them dies; three that come late are told so, and restart where they hear no other."""
    first, late = ["p0", "p1", "p2"], ["p3", "p4", "p5"]
    async with LocalNetwork([*first, *late], edges, seed=seed, faults=Faults(distance=0.01, delay=0.01)) as net:

        async def contribute(name: str) -> Average | BaseException:
            try:
                return await net[name].average(1.0, topic="t", missing="drop", timeout=9.0)
            except PeerError as error:
                return error

        early = [asyncio.ensure_future(contribute(name)) for name in first]
        opened = [net[name]._known_topics._open for name in first]
        while not all(one.protocol.state.certificate for known in opened for one in known.values()) or not opened[0]:
            await asyncio.sleep(0.01)
        await net.kill("p0")
        calls = [asyncio.ensure_future(contribute(name)) for name in late]
        await asyncio.sleep(1.0)
        for name in late:
            await net.kill(name)
        net.medium.partition(set(first), set(late))
        for name in late:
            await net.start(name)
        calls += [asyncio.ensure_future(contribute(name)) for name in late]
        await asyncio.sleep(1.0)
        net.medium.heal()
        await net.start("p0")
        found = [*await asyncio.gather(*early, *calls), *await asyncio.gather(*map(contribute, [*first, *late]))]
        return [frozenset(one.contributors) for one in found if isinstance(one, Average)]


HALVES = [("p0", "p1"), ("p1", "p2"), ("p2", "p0"), ("p1", "p3"), ("p3", "p4"), ("p4", "p5")]


@pytest.mark.parametrize("edges", [HALVES, None], ids=["path", "all"])
@pytest.mark.parametrize("seed", range(2))
def test_who_was_refused_does_not_forget_it(seed: int, edges: list[tuple[str, str]] | None) -> None:
    """A restart in a moment in which nobody can say it again: those who came late have no answer of their own (R85)."""
    answers = run_virtually(restarted_while_alone(edges, seed))
    assert set(answers) == {frozenset({"p0", "p1", "p2"})}
