"""Every method of ours keeps the rules of its kind, and methods that break one are refused with the right reason."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.methods import VALUE, BlockMethod, PairMethod, PushMethod, RoundMethod, registry
from sottovoce.methods.released import WithdrawnNoise
from sottovoce.methods.weights import mixing_matrix
from sottovoce.testing import check_method

from ..methods.settings import SETTINGS


@pytest.mark.parametrize("name", SETTINGS)
def test_every_method_of_ours_conforms(name):
    """Compiled is plain, mass is conserved, runs are cut, saved and joined without changing a bit, for all methods."""
    check_method(SETTINGS[name])


def test_parameters_per_node_are_tried_on_the_graph_they_are_for():
    """Vectors do not fit the graph that is tried by default; with their own graph they do."""
    method = sv.NoiseInsertion(noise_std=np.linspace(0, 1, 5), noise_decay=0.5)
    with pytest.raises(AssertionError, match="one per node"):
        check_method(method)
    check_method(method, graph=sv.graphs.cycle(5))


def test_checking_a_method_needs_no_peer():
    """Neither gRPC nor certificates nor the peer itself is imported, so the extra need not be installed."""
    code = (
        "import sys, sottovoce as sv\n"
        "sv.testing.check_method\n"
        "print([m for m in ('grpc', 'cryptography', 'sottovoce.peer') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


# -- methods that break one rule each ----------------------------------------------------------------


def average(nodes, i, j, draw_i, draw_j, step, parameters):
    mean = 0.5 * (nodes[i, VALUE] + nodes[j, VALUE])
    nodes[i, VALUE] = mean
    nodes[j, VALUE] = mean


@dataclass(frozen=True)
class Honest(PairMethod):
    """Keeps all rules; those below break one each."""

    name: ClassVar[str] = "honest"
    num_fields: ClassVar[int] = 1
    update = staticmethod(average)


def test_a_users_own_method_conforms():
    """A method from outside, not registered, passes."""
    check_method(Honest())


class Changeable(PairMethod):
    name, num_fields, update = "changeable", 1, staticmethod(average)


@dataclass(frozen=True, eq=False)
class OnlyItself(Honest):
    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True)
class Doubling(Honest):
    """Changes what it is given, so that a copy is another one."""

    share: float = 0.5

    def __post_init__(self):
        object.__setattr__(self, "share", 2.0 * self.share)


@dataclass(frozen=True, eq=False)
class Hashless(Honest):
    __hash__ = None


@dataclass(frozen=True)
class Nameless(Honest):
    name: ClassVar[str] = "No name!"


@dataclass(frozen=True)
class Silent(Honest):
    def label(self):
        return ""


@dataclass(frozen=True, repr=False)
class Anonymous(Honest):
    def __repr__(self):
        return "a method"


@dataclass(frozen=True)
class Editable(Honest):
    shares: np.ndarray


def reads_the_last(nodes, i, j, draw_i, draw_j, step, parameters):
    average(nodes, i, j, draw_i, draw_j, step, parameters)
    if nodes[nodes.shape[0] - 1, VALUE] > 0.0:
        nodes[i, VALUE] += 1e-3
        nodes[j, VALUE] -= 1e-3


def knows_its_number(nodes, i, j, draw_i, draw_j, step, parameters):
    average(nodes, i, j, draw_i, draw_j, step, parameters)
    nodes[i, VALUE] += 1e-3 * i
    nodes[j, VALUE] -= 1e-3 * i


def returning(nodes, i, j, draw_i, draw_j, step, parameters):
    return nodes[i, VALUE]


def beyond_the_fields(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, 1] = 1.0


def beyond_the_nodes(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i + 8, VALUE] = 1.0


def other_rows(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[(i + j + 1) % 8, VALUE] += 0.0 if step < 40 else 1.0


def loses_mass(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, VALUE] = nodes[j, VALUE]


def unsigned(nodes, i, j, draw_i, draw_j, step, parameters):
    """Compiled, nodes are unsigned numbers: i − j is never negative."""
    move = 0.1 if i - j > 0 else -0.1
    nodes[i, VALUE] += move
    nodes[j, VALUE] -= move


def noisy(nodes, i, j, draw_i, draw_j, step, parameters):
    """Without ``uses_noise`` the driver makes no draws."""
    nodes[i, VALUE] += draw_i
    nodes[j, VALUE] -= draw_i


def remembers(nodes, i, j, draw_i, draw_j, step, parameters):
    """Keeps a state where it would pass from one replica to the next."""
    parameters[0] += 1.0


def does_not_compile(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, VALUE] += len({}.fromkeys([]))


def too_few(nodes, i, j, step, parameters):
    pass


def liar(rule, **more):
    """The honest method with another update."""
    return dataclass(frozen=True)(type("Liar", (Honest,), {"update": staticmethod(rule)} | more))()


@dataclass(frozen=True)
class Unfinished(PairMethod):
    name: ClassVar[str] = "unfinished"
    num_fields: ClassVar[int] = 1


CALLS = count()


@dataclass(frozen=True)
class Moody(Honest):
    """Starts differently every time."""

    def initial(self, graph, private_values):
        return super().initial(graph, private_values) + (1.0 if next(CALLS) % 7 == 6 else 0.0)


@dataclass(frozen=True)
class Wide(Honest):
    def initial(self, graph, private_values):
        return np.zeros((graph.num_nodes, 3))


@dataclass(frozen=True)
class Square(Honest):
    def parameters(self, graph):
        return np.zeros((2, 2))


@dataclass(frozen=True)
class Owing(Honest):
    """Declares a column to be outstanding noise that is not."""

    num_fields: ClassVar[int] = 2
    outstanding_field: ClassVar[int] = 1

    def initial(self, graph, private_values):
        nodes = super().initial(graph, private_values)
        nodes[:, 1] = 1.0
        return nodes


def all_rows(nodes, ends, step, parameters):
    nodes[:, VALUE] = nodes[:, VALUE].mean()


@dataclass(frozen=True)
class Everywhere(BlockMethod):
    block_size: int = 2

    name: ClassVar[str] = "everywhere"
    num_fields: ClassVar[int] = 1
    update = staticmethod(all_rows)


def says_nothing(nodes, i, draw, step, parameters):
    pass


def tells(nodes, i, draw, step, parameters):
    return nodes[i, VALUE]


def takes_all(nodes, i, sent, combined, step, parameters):
    nodes[:, VALUE] = combined


@dataclass(frozen=True)
class Mute(RoundMethod):
    name: ClassVar[str] = "mute"
    num_fields: ClassVar[int] = 1
    send = staticmethod(says_nothing)
    receive = staticmethod(takes_all)

    def mixing(self, graph):
        return mixing_matrix("metropolis", graph)


@dataclass(frozen=True)
class Greedy(Mute):
    send = staticmethod(tells)


def push_to_next(nodes, i, target):
    nodes[(target + 1) % 8, VALUE] += 1.0


def collect(nodes, i):
    pass


@dataclass(frozen=True)
class Misdelivered(PushMethod):
    name: ClassVar[str] = "misdelivered"
    num_fields: ClassVar[int] = 1
    push = staticmethod(push_to_next)
    collect = staticmethod(collect)


@dataclass(frozen=True)
class Boasting(sv.NoiseInsertion):
    """States other noise than it puts in."""

    boast_std: float = 1.0
    boast_decay: float = 0.5
    name: ClassVar[str] = "boasting"

    def releases(self, graph):
        return WithdrawnNoise(np.full(graph.num_nodes, self.boast_std), np.full(graph.num_nodes, self.boast_decay))


class Pretending(Honest):
    """States noise and puts none in."""

    def releases(self, graph):
        return WithdrawnNoise(np.ones(graph.num_nodes), np.full(graph.num_nodes, 0.9))


def test_noise_that_is_stated_rightly_conforms():
    """The same class with a true statement passes; so do noise that decays at once and noise of any size."""
    for std, decay in ((1.0, 0.5), (1e-3, 0.0), (1e6, 0.99), (0.0, 0.0)):
        check_method(Boasting(std, decay, std, decay))


LIARS = [
    (Changeable, "not a frozen dataclass"),
    (lambda: Editable(np.ones(8)), "read-only copy of shares"),
    (Nameless, "no name of lower-case letters"),
    (Silent, "empty label"),
    (Anonymous, "does not name its class in its repr"),
    (OnlyItself, "does not equal another one with the same parameters"),
    (Doubling, "does not equal another one with the same parameters"),
    (Hashless, "has no hash"),
    (Unfinished, "must define update"),
    (lambda: liar(too_few), "draw_i, draw_j"),
    (Wide, r"table of shape \(8, 3\)"),
    (Square, "not a flat array"),
    (lambda: liar(beyond_the_fields), "update reach beyond num_fields .* axis 1"),
    (lambda: liar(beyond_the_nodes), "update reach .* beyond the nodes: .* axis 0"),
    (lambda: liar(other_rows), "update change rows that are not its own"),
    (lambda: liar(reads_the_last, own_rows_only=True), "says own_rows_only, but update looks at other rows"),
    (lambda: liar(knows_its_number, own_rows_only=True), "says own_rows_only, but update looks at .* the numbers"),
    (lambda: liar(returning), "update return something"),
    (lambda: liar(remembers), "update: .*read-only"),
    (Everywhere, "update change rows that are not its own"),
    (Mute, "send return something that is not a number"),
    (Greedy, "receive change rows that are not its own"),
    (Misdelivered, "push change rows that are not its own"),
    (lambda: liar(does_not_compile), r"honest does not compile: .*test_methods.py, line \d+"),
    (Moody, "other values when it is run again with the same seed"),
    (lambda: liar(unsigned), "something else when it is compiled, first at step 1 in column 0"),
    (lambda: liar(noisy), "something else when it is compiled"),
    (
        lambda: liar(loses_mass),
        r"does not conserve its mass \(mass_field = 0, outstanding_field = None\), first",
    ),
    (Owing, r"does not conserve its mass .*outstanding_field = 1\), first at step 0"),
    (Pretending, "says in releases how much noise it puts in, but at step 1 there is 0.00 times as much"),
    (lambda: Boasting(1.0, 0.5, 2.0, 0.5), "but at step 1 there is 0.5[0-9]? times as much"),
    (lambda: Boasting(1.0, 0.5, 1.0, 0.8), "but at step 17 there is 0.[2-6][0-9]? times as much"),
]


@pytest.mark.parametrize(("make", "reason"), LIARS)
def test_a_method_that_breaks_a_rule_is_refused_with_the_reason(make, reason):
    """Each of these breaks one rule; the message names it."""
    with pytest.raises((AssertionError, sv.errors.InvalidParameter), match=reason):
        check_method(make())


@dataclass(frozen=True)
class Unsaveable(Honest):
    limits: tuple = (0.0, 1.0)


def test_a_registered_method_must_survive_a_file(monkeypatch):
    """Only a registered method is saved, and then all its parameters must fit into the file."""
    check_method(Unsaveable())
    monkeypatch.setitem(registry._REGISTERED, Unsaveable.name, Unsaveable)
    with pytest.raises(AssertionError, match=r"limits of method 'honest' must be .* got tuple"):
        check_method(Unsaveable())
