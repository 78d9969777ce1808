"""Thousands of messages that no page would send: each is answered by a sentence, and the talk goes on."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from sottovoce.studio.app import create_app
from sottovoce.studio.limits import Limits
from sottovoce.studio.messages import COMMANDS

from .helpers import NOISY, SMALL, Studio, Visitor

LIMITS = Limits(nodes=300, edges=3000, steps=10**6, messages_per_second=1e9)

NASTY: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53, 2**64, 10**400, -(10**400), 0.5, -0.0, 1e308, -1e308, 5e-324,
    float("nan"), float("inf"), "", "0", "nan", "\ud800", "\udfff name", "\0", "é" * 300, "$x$", "a" * 5000,
    "../../etc/passwd", [], {}, [[]], [None], [1, 2, 3], {"edges": 7}, {"edges": [[0, 10**400]]},
    {"edges": [[0, 1], [1, 2]], "name": "\ud800"}, {"edges": [[0, 1], ["a", "b"]]}, {"edges": [[-1, 0]]},
    {"edges": [[0, 1e308]]}, {"edges": []}, {"nodes": [0]}, {"nodes": [10**400]}, {"nodes": "all"}, {"but": 0},
    {"but": -1}, {"but": 1e308}, {"edges": [[0, 1]]}, {"nodes": [], "but": 2},
)  # fmt: skip
"""Values of every kind, in any place."""

GRAPHS: tuple[str, ...] = (
    "cycle:10", "rgg:20:seed=99999999999999999999999", "grid:rows=4000:cols=4000", "cycle:1e400", "cycle:-3",
    "rgg:20:1e308", "rgg:20:nan", "star:4", "complete:9", "torus:4x4", "path:2", "cycle:10:10:10", "rgg:20:seed=-1",
    "erdos-renyi:20:0.0001", "hypercube:9999", "random-regular:7:3:seed=1", "\ud800:3", "cycle", ":",
    "watts-strogatz:20:4:0.1:seed=3",
)  # fmt: skip

ODD_GRAPHS = tuple(value for value in NASTY if isinstance(value, dict) and "edges" in value)

METHODS: tuple[str, ...] = (
    NOISY, "standard", "synchronous", "push-sum", "noise-insertion:noise_std=1,noise_decay=free", "noise-insertion",
    "noise-insertion:noise_std=1e400,noise_decay=0.5", "noise-insertion:noise_std=1e308,noise_decay=0.999",
    "block:block_size=1e18", "heavy-ball:momentum=0.99,relaxation=1", "sealed:seal_std=1e300", "standard:",
    "standard:x=1", "telepathy", "\udfff", ",,,=",
)  # fmt: skip

FIELDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "setup": {"run": tuple(range(5)), "at": (0, 3, 200)},
    "play": {"speed": (None, 10, 1000)},
    "step": {"count": (1, 5)},
    "seek": {"step": (0, 7, 200)},
    "speed": {"speed": (None, 10)},
    "watch": {"observer": ({"nodes": [0]}, {"but": 1}, None), "node": (0, 3, None), "prior": (0.3, None)},
    "guess": {"observer": ({"nodes": [0]},), "node": (0, 3), "prior": (0.3, None), "centre": (0.5,), "step": (1, 9)},
    "live": {"on": (True, False)},
}
"""What a page would say; the fuzz says something else in every third place. (A pause has no fields: it is the mark
by which the fuzz knows that all before it was answered.)"""


def a_problem(chance: random.Random) -> Any:
    """Sometimes whole, sometimes with one thing wrong, sometimes anything."""
    if chance.random() < 0.1:
        return chance.choice(NASTY)
    if chance.random() < 0.3:
        return SMALL | {"methods": [chance.choice(METHODS[:4])], "num_steps": chance.choice([1, 50, 10**6])}
    problem = dict(SMALL) | {
        "graph": chance.choice(GRAPHS if chance.random() < 0.6 else ODD_GRAPHS),
        "methods": [chance.choice(METHODS) for _ in range(chance.randint(1, 2))],
    }
    for field in SMALL:
        if chance.random() < 0.1:
            problem[field] = chance.choice(NASTY)
    if chance.random() < 0.1:
        problem["values"] = [chance.choice(NASTY) for _ in range(10)]
    return problem


def a_message(chance: random.Random) -> str | bytes:
    """One message: mostly a command with odd fields, sometimes no JSON, or no text at all."""
    kind = chance.random()
    if kind < 0.03:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
    if kind < 0.06:
        return chance.choice(["", "{", "[" * 100_000, '{"type": "\\ud800"}', "null", "[[1]]", "1e999", '{"type": 7}'])
    command = "setup" if chance.random() < 0.3 else chance.choice([*COMMANDS[:2], *COMMANDS[3:]])
    message: dict[str, Any] = {"type": command}
    for field, sane in FIELDS.get(command, {}).items():
        if chance.random() < 0.9:
            message[field] = chance.choice(NASTY if chance.random() < 0.2 else sane)
    if command == "setup":
        message["problem"] = a_problem(chance)
    text = json.dumps(message)
    cut = chance.randrange(len(text)) if kind < 0.09 else len(text)
    return text[:cut]


def messages(seed: int, count: int) -> Iterator[str | bytes]:
    """A reproducible fuzz."""
    chance = random.Random(seed)
    for _ in range(count):
        yield a_message(chance)


def until_answered(visitor: Visitor) -> Iterator[dict[str, Any]]:
    """What is heard until all that was sent is answered."""
    visitor.say(type="pause")
    while (answer := visitor.hear())["type"] != "paused" or "message" in answer:
        yield answer


def fuzz(count: int, seed: int) -> list[dict[str, Any]]:
    """Send them all on one websocket; what came back until a last, sane set-up was ready."""
    heard = []
    with Studio(create_app(limits=LIMITS)) as studio, studio.open() as socket:
        visitor = Visitor(socket)
        for message in messages(seed, count):
            socket.send(message)
            if isinstance(message, str) and message.startswith('{"type": "setup"'):
                heard += until_answered(visitor)
        visitor.say(type="setup", run=10**6, problem=SMALL)
        visitor.until_ready(10**6)
    return heard


def check(heard: list[dict[str, Any]]) -> None:
    """Every complaint is a sentence for a person, and none says that the server itself failed."""
    complaints = [message["message"] for message in heard if message["type"] == "error"]
    assert len(complaints) > len(heard) / 20
    for text in complaints:
        assert "something went wrong" not in text
        assert "Traceback" not in text
        assert len(text) < 2000


def test_two_hundred_odd_messages_drop_no_socket() -> None:
    """A sample of the slow test below."""
    check(fuzz(200, seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_five_thousand_odd_messages_drop_no_socket(seed: int) -> None:
    """Ten times five hundred, all different."""
    check(fuzz(500, seed=seed))
