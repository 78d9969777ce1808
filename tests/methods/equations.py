"""What equation tests share: one problem, the random numbers of its run, and the comparison with the compiled run.

An *equation* is the rule of a method as the literature writes it, on whole vectors in plain NumPy: a generator of
x(0), x(1), … from the method and a :class:`Replay`. It shares nothing with the compiled path but the addresses of the
random numbers: momentum moves every node in every step, matrices are dense, amplitudes are powers. Each method's test
file has its own, in a test named ``test_equation``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import sottovoce as sv
from sottovoce.simulation.edge_noise import edge_draw, own_draw
from sottovoce.simulation.kinds.block import fired_set
from sottovoce.simulation.kinds.neighbour import acting_node
from sottovoce.simulation.kinds.pair import fired_edge
from sottovoce.simulation.kinds.push import push_target
from sottovoce.simulation.kinds.round import node_draw
from sottovoce.simulation.random.streams import Stream

from .settings import GRAPH, VALUES

__all__ = ["Replay", "assert_equation"]


@dataclass(frozen=True)
class Replay:
    """The problem, and what chance decides in one replica of its run."""

    graph: sv.Graph = GRAPH
    num_steps: int = 60
    seed: int = 2
    replica: int = 2

    @property
    def values(self) -> np.ndarray:
        """The private values."""
        return VALUES.copy()

    @property
    def stream(self) -> Stream:
        """The random words of this replica."""
        return Stream(self.seed, self.replica)

    def steps(self) -> range:
        """All steps."""
        return range(self.num_steps)

    def edges(self) -> Iterator[np.ndarray]:
        """For each step e_i − e_j of the edge that fires."""
        for step in self.steps():
            i, j = self.graph.edges[fired_edge(self.graph, self.stream, step)]
            yield np.eye(self.graph.num_nodes)[i] - np.eye(self.graph.num_nodes)[j]

    def sets(self, size: int) -> Iterator[np.ndarray]:
        """For each step the ends of the edges that fire together."""
        for step in self.steps():
            yield self.graph.edges[fired_set(self.graph, size, self.stream, step)]

    def acting(self) -> Iterator[int]:
        """For each step the node that acts, where one does."""
        return (acting_node(self.graph, self.stream, step) for step in self.steps())

    def arcs(self) -> list[tuple[int, int]]:
        """(i, j) for every neighbour j of every node i, in the order of ``graph.neighbours``."""
        return [(i, int(j)) for i in range(self.graph.num_nodes) for j in self.graph.neighbours_of(i)]

    def targets(self, step: int) -> list[int]:
        """To whom each node sends in a round."""
        return [push_target(self.graph, self.stream, step, i) for i in range(self.graph.num_nodes)]

    def draws(self, method: sv.Method, step: int) -> np.ndarray:
        """Every node's draw of unit scale in a round."""
        nodes = range(self.graph.num_nodes)
        return np.array([node_draw(method, self.graph, self.stream, step, i) for i in nodes])

    def shared(self) -> np.ndarray:
        """Bᵀg: one standard normal per edge, added at its first end and subtracted at its second."""
        total = np.zeros(self.graph.num_nodes)
        for edge, (i, j) in enumerate(self.graph.edges):
            draw = edge_draw(self.stream, edge)
            total[i] += draw
            total[j] -= draw
        return total

    def own(self) -> np.ndarray:
        """One standard normal per node, drawn before the first step."""
        return np.array([own_draw(self.stream, i) for i in range(self.graph.num_nodes)])

    def own_of_arcs(self) -> dict[tuple[int, int], float]:
        """One standard normal for every neighbour of every node, drawn before the first step."""
        return {arc: own_draw(self.stream, self.graph.num_nodes + k) for k, arc in enumerate(self.arcs())}


Equation = Callable[[sv.Method, Replay], Iterator[np.ndarray]]


def assert_equation(method: sv.Method, equation: Equation) -> None:
    """Values and errors at every step of a replica that is not the first are those of the equation."""
    replay = Replay()
    every = list(range(replay.num_steps + 1))
    run = sv.simulate(
        GRAPH, VALUES, method, num_steps=replay.num_steps, seed=replay.seed, replicas=replay.replica + 1, record=every
    )
    expected = np.array([x.copy() for x in equation(method, replay)])
    assert len(expected) == len(every), "an equation yields x(0) and then x after every step"
    np.testing.assert_allclose(run.values[replay.replica], expected[-1], rtol=0, atol=1e-13)
    squared = ((expected - VALUES.mean()) ** 2).sum(axis=1)
    np.testing.assert_allclose(run.squared_error[replay.replica], squared, rtol=1e-10, atol=1e-26)
