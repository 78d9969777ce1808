"""What a coalition sees of a network of real protocols, as linear equations, and what follows from them.

The protocol moves every coordinate of a vector alike. So give it vectors with one coordinate per unknown: peer i's
value is 1 in coordinate i, the k-th random number drawn anywhere is 1 in a coordinate of its own. What a peer then
shows is the list of coefficients with which the unknowns stand in its message, computed by the real state machine. From
these rows the posterior follows by conditioning a Gaussian.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

import sottovoce as sv
from sottovoce.peer.protocol import PeerState, Protocol
from sottovoce.peer.protocol.messages import Kind, Message
from sottovoce.peer.protocol.noise import rounded
from sottovoce.privacy.gaussian.account import Account
from sottovoce.testing.settings import some_settings

UNIT = "0.00000001"
ROUNDING = 1e-4
"""Added to each row as noise: the coefficients are whole numbers of units too, and their rounding is no information."""


class Watched:
    """A network whose every message to a coalition is written down."""

    def __init__(
        self, graph: sv.Graph, coalition: Iterable[int], *, seal_std: float, noise_std: float = 1.0,
        noise_decay: float = 0.8, unknowns: int = 900,
    ) -> None:  # fmt: skip
        self.graph, self.coalition = graph, set(coalition)
        self.size, self.next = unknowns, graph.num_nodes
        self.known = set(self.coalition)
        self.rows: list[npt.NDArray[np.float64]] = []
        self.drawing = 0
        numbers = {"noise_std": noise_std, "noise_decay": noise_decay, "seal_std": seal_std, "unit": UNIT, "low": -50.0}
        self.peers = []
        for node in range(graph.num_nodes):
            value = np.zeros(unknowns, dtype=np.int64)
            value[node] = 10**8
            settings = some_settings(
                name(node), **numbers, high=50.0, dimension=unknowns, bucket_burst=1e9, bucket_refill=1e9,
                members=graph.num_nodes, max_degree=int(graph.degrees.max()),
                min_open_edges=min(2, int(graph.degrees[node])),
            )  # fmt: skip
            state = PeerState(value, Account(noise_std, noise_decay))
            coins = np.random.default_rng(node)
            self.peers.append(
                Protocol(settings, state, draw=self._draw(node), stamp=lambda: 1,
                         coin=lambda count, coins=coins: coins.integers(2, size=count))  # type: ignore[misc]
            )  # fmt: skip
        for i, j in graph.edges.tolist():
            self.peers[i].add(name(j))
            self.peers[j].add(name(i))
            self.talk(self.peers[i].greet(name(j)))

    def _draw(self, node: int) -> Any:
        def draw(count: int) -> npt.NDArray[np.float64]:
            column, self.next = self.next, self.next + 1
            opening = self.drawing
            if node in self.coalition or opening in self.coalition:
                self.known.add(column)  # its own noise, or the seal of one of its edges
            return np.eye(1, count, column)[0]

        return rounded(draw)

    def talk(self, message: Message | None) -> Message | None:
        """Deliver until nobody has anything to say; the first answer."""
        first = None
        while message is not None:
            self.witness(message)
            source, target = number(message.src), number(message.dst)
            opening = message.kind is Kind.HELLO and source in self.coalition
            self.drawing = source if opening else -1
            message = self.peers[target].receive(message)
            self.drawing = -1
            first = first or message
        return first

    def witness(self, message: Message) -> None:
        """All vectors in a message to a member, whatever they are."""
        if number(message.dst) in self.coalition and number(message.src) not in self.coalition:
            self.rows += [row * 1e-8 for row in (message.x, message.f, message.g) if row is not None]

    def exchange(self, i: int, j: int, *, refuse: bool = False) -> None:
        """i asks j; ``refuse``: j keeps what it saw and never answers properly."""
        self.peers[j].tick(None)
        request = self.peers[i].tick(name(j))
        if request is None:
            return
        if refuse:
            self.witness(request)
            self.peers[i].give_up()
            return
        reply = self.talk(request)
        assert reply is not None

    def lies_next(self, i: int, j: int, x: npt.NDArray[np.int64]) -> None:
        """Member i asks honest j with a value of its own choice, and takes the answer."""
        self.peers[j].tick(None)
        request = self.peers[i].tick(name(j))
        assert request is not None
        self.talk(replace(request, x=x))

    def posterior_std(self, prior_std: float) -> npt.NDArray[np.float64]:
        """What is left of each private value, for an honest prior and standard normal draws. Zero for members."""
        unknown = np.array([k for k in range(self.next) if k not in self.known])
        spread = np.where(unknown < self.graph.num_nodes, prior_std, 1.0) ** 2
        seen = np.unique(np.array(self.rows)[:, unknown].round(12), axis=0)
        noise = seen * spread @ seen.T + ROUNDING**2 * np.eye(len(seen))
        gain = np.linalg.solve(noise, seen * spread)
        left = spread - np.einsum("ij,ij->j", seen * spread, gain)
        result = np.zeros(self.graph.num_nodes)
        honest = unknown < self.graph.num_nodes
        result[unknown[honest]] = np.sqrt(np.maximum(left[honest], 0.0))
        return result


def name(node: int) -> str:
    return f"p{node:03d}"


def number(peer: str) -> int:
    return int(peer[1:])
