"""A liar names others to one neighbour alone, in the last moment: with "drop" honest neighbours have one set (R83)."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.protocol.stopping import RangeRule
from sottovoce.testing import Conditions, SimulatedNetwork

NAMES = [f"p{k}" for k in range(4)]
NOBODY = 1 << 7


class Whisper:
    """z has a message for p0 alone at the end of each epoch: somebody else is in it, and all of them are bound.

    It knows all that peers hold. It is in no last round for anybody until it speaks, so that nobody is done before.
    """

    def __init__(self, pairs: list[tuple[str, str]], seed: int) -> None:
        self.net = SimulatedNetwork(
            pairs, dict.fromkeys([*NAMES, "z"], 1.0), noise_std=1.0, noise_decay=0.5, seed=seed, members=8,
            max_degree=4, missing="drop", conditions=Conditions(delay=0.01),
        )  # fmt: skip
        self.net.liars["z"] = self.lie
        self.told: dict[str, Message] = {}
        self.last = self.rule("p0").epoch_rounds - 1
        self.whispers = 0

    def rule(self, name: str) -> RangeRule:
        protocol = self.net.peers[name].protocol
        assert protocol is not None
        return protocol.rule

    def lie(self, message: Message) -> Message:
        stop = message.stop
        if stop is None:
            return message
        self.told[message.dst] = message
        late = stop.round % (self.last + 1) == self.last
        return replace(message, stop=stop._replace(round=stop.round - 1)) if late else message

    def speak(self) -> bool:
        """When all others have been heard in the last round, and values agree. Never true: asked after every event."""
        number = self.rule("p0").round
        rules = {name: self.rule(name) for name in self.told}
        if "p0" not in rules or number % (self.last + 1) != self.last:
            return False
        for name, rule in rules.items():
            others = {b if a == name else a for a, b in map(sorted, self.net.links) if name in (a, b)} - {"z"}
            if rule.round != number or rule._interval is None or not all(map(rule.has_heard, others)):
                return False
        self.whispers += 1
        for name, rule in rules.items():
            told, found, more = self.told[name].stop, rule._interval, NOBODY if name == "p0" else 0
            assert told is not None
            assert found is not None
            everybody = told.contributors | more
            stop = told._replace(
                round=number, low=found[0], high=found[1], version=2**40, contributors=everybody, ready=everybody
            )
            self.net._deliver(replace(self.told[name], stop=stop))
        return False

    def answers(self) -> set[int]:
        states = self.net.states()
        held = [states[name].certificate for name in NAMES]
        return {one.contributors for one in held if one is not None and one.declared}


RING = [("p0", "p1"), ("p1", "p2"), ("p2", "p3"), ("p3", "p0"), ("p0", "z")]
ALL = list(itertools.combinations([*NAMES, "z"], 2))


@pytest.mark.parametrize("pairs", [RING, ALL], ids=["one edge", "all"])
def test_a_name_that_one_neighbour_hears_is_in_no_answer_of_its_own(pairs: list[tuple[str, str]]) -> None:
    """Whoever has an answer has the same one, whatever z whispers to p0, and as if it came from the others."""
    whispers = found = 0
    for seed in range(20):
        attack = Whisper(pairs, seed)
        attack.net.run(10.0, until=attack.speak)
        assert len(attack.answers()) <= 1
        whispers, found = whispers + attack.whispers, found + len(attack.answers())
    assert whispers >= 20
    assert found >= 15
