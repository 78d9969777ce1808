"""Every method's equation on whole vectors, in plain NumPy, to hold the kernels to account.

Nothing is shared with the compiled path but the addresses of the random numbers: momentum moves every node in
every step, matrices are dense, amplitudes are powers, components are found by a search. Slow, and easy to check
against the literature. Algorithm 1 itself is in :mod:`.reference`.
"""

# ruff: noqa: ARG001  (one signature for all, and some equations need less)

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

import numpy as np

from ..errors import Unsupported
from ..foundation.arguments import per_node
from ..graphs.graph import Graph
from ..methods import (
    AcceleratedGossip,
    BinaryOracle,
    BlockGossip,
    BudgetedNoiseInsertion,
    GapOracle,
    HeavyBallGossip,
    Huang,
    ManitaraHadjicostis,
    Method,
    MoMurray,
    NoiseInsertion,
    Nozari,
    PairwiseCancelling,
    PushSum,
    RoundMethod,
    SealedGossip,
    StandardGossip,
    SynchronousAveraging,
)
from ..methods.base import Array
from ..simulation.edge_noise import edge_draw
from ..simulation.kinds.block import fired_set
from ..simulation.kinds.pair import fired_edge
from ..simulation.kinds.push import push_target
from ..simulation.kinds.round import node_draw
from ..simulation.random.streams import Stream, normals_of
from .reference import algorithm_1

__all__ = ["iterates"]

Values = Iterator[Array]


@singledispatch
def iterates(
    method: Method, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0
) -> Values:
    """Yield x after each step of ``method``, computed from its equation."""
    raise Unsupported(f"there is no equation for {type(method).__name__}")


def _differences(graph: Graph, num_steps: int, seed: int, replica: int) -> Iterator[tuple[int, Array]]:
    """For each step its number and e_i − e_j of the edge that fires."""
    for step in range(num_steps):
        i, j = graph.edges[fired_edge(graph, Stream(seed, replica), step)]
        row = np.zeros(graph.num_nodes)
        row[i], row[j] = 1.0, -1.0
        yield step, row


@iterates.register
def _(
    method: StandardGossip, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0
) -> Values:
    x = np.array(private_values)
    for _, row in _differences(graph, num_steps, seed, replica):
        x = x - 0.5 * (row @ x) * row
        yield x


@iterates.register
def _(
    method: NoiseInsertion, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0
) -> Values:
    for x, _ in algorithm_1(graph, private_values, method, num_steps, seed, replica=replica):
        yield x


@iterates.register
def _(
    method: BudgetedNoiseInsertion, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0
) -> Values:
    n = graph.num_nodes
    sigma, phi = per_node("noise_std", method.noise_std, n), per_node("noise_decay", method.noise_decay, n)
    x, u, t, stream = np.array(private_values), np.zeros(n), np.zeros(n), Stream(seed, replica)
    for step, row in _differences(graph, num_steps, seed, replica):
        i, j = np.argmax(row), np.argmin(row)
        for node, draw in zip((i, j), normals_of(stream.words(step)), strict=True):
            amplitudes = sigma[node] * phi[node] ** np.arange(t[node] + 1)
            if (amplitudes > 0).all() and (amplitudes**-2.0).sum() <= method.hidden_std**-2 * (1 + 1e-9):
                x[node] += amplitudes[-1] * draw - u[node]
                u[node] = amplitudes[-1] * draw
                t[node] += 1
        x = x - 0.5 * (row @ x) * row
        yield x.copy()


@iterates.register
def _(method: SealedGossip, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0) -> Values:
    x = private_values + method.seal_std * _shared_numbers(graph, seed, replica)
    yield from iterates(method.after, graph, x, num_steps, seed, replica)


def _shared_numbers(graph: Graph, seed: int, replica: int) -> Array:
    """Bᵀ g: one standard normal per edge, added at its first end and subtracted at its second."""
    incidence = np.zeros((graph.num_edges, graph.num_nodes))
    incidence[np.arange(graph.num_edges), graph.edges[:, 0]] = 1.0
    incidence[np.arange(graph.num_edges), graph.edges[:, 1]] = -1.0
    shared = np.array([edge_draw(Stream(seed, replica), e) for e in range(graph.num_edges)])
    return np.asarray(incidence.T @ shared)


@iterates.register
def _(method: BinaryOracle, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0) -> Values:
    x = np.array(private_values)
    for step, row in _differences(graph, num_steps, seed, replica):
        spread = np.abs(x[graph.edges[:, 0]] - x[graph.edges[:, 1]]).mean()
        size = spread * method.adaptive_share if method.adaptive else method.step_at(step)
        x = x + (size if row @ x < 0 else -size) * row
        yield x


@iterates.register
def _(method: GapOracle, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0) -> Values:
    x = np.array(private_values)
    for _, row in _differences(graph, num_steps, seed, replica):
        if abs(row @ x) >= method.gap:
            x = x - np.sign(row @ x) * method.gap / 2.0 * row
        yield x


@iterates.register
def _(
    method: HeavyBallGossip, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0
) -> Values:
    x = before = np.array(private_values)
    for _, row in _differences(graph, num_steps, seed, replica):
        x, before = x - method.relaxation * 0.5 * (row @ x) * row + method.momentum * (x - before), x
        yield x


@iterates.register
def _(
    method: AcceleratedGossip, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0
) -> Values:
    mu, nu = method.constants(graph)
    b, gamma = 1.0 - np.sqrt(mu / nu), 1.0 / np.sqrt(mu * nu)
    a = 1.0 / (1.0 + gamma * nu)
    x = v = np.array(private_values)
    for _, row in _differences(graph, num_steps, seed, replica):
        y = a * v + (1.0 - a) * x
        g = 0.5 * (row @ y) * row
        x, v = y - g, b * v + (1.0 - b) * y - gamma * g
        yield x


@iterates.register
def _(method: BlockGossip, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0) -> Values:
    import networkx as nx

    x = np.array(private_values)
    for step in range(num_steps):
        chosen = fired_set(graph, method.block_size, Stream(seed, replica), step)
        fired: nx.Graph[int] = nx.Graph(graph.edges[chosen].tolist())
        x = x.copy()
        for component in nx.connected_components(fired):
            x[list(component)] = x[list(component)].mean()
        yield x


@iterates.register
def _(method: PushSum, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0) -> Values:
    n = graph.num_nodes
    s, w = np.array(private_values), np.ones(n)
    for step in range(num_steps):
        K = 0.5 * np.eye(n)
        for i in range(n):
            K[push_target(graph, Stream(seed, replica), step, i), i] += 0.5
        s, w = K @ s, K @ w
        yield s / w


# -- synchronous ------------------------------------------------------------------------------------


def _draws(method: RoundMethod, graph: Graph, seed: int, step: int, replica: int) -> Array:
    return np.array([node_draw(method, graph, Stream(seed, replica), step, i) for i in range(graph.num_nodes)])


@iterates.register
def _(
    method: SynchronousAveraging, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0
) -> Values:
    x, W = np.array(private_values), method.mixing(graph).toarray()
    for _ in range(num_steps):
        x = W @ x
        yield x


@iterates.register
def _(method: MoMurray, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0) -> Values:
    x, W = np.array(private_values), method.mixing(graph).toarray()
    previous = np.zeros(graph.num_nodes)
    for k in range(num_steps):
        current = method.noise_decay**k * method.noise_std * _draws(method, graph, seed, k, replica)
        x, previous = W @ (x + current - previous), current
        yield x


@iterates.register
def _(
    method: ManitaraHadjicostis, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0
) -> Values:
    n = graph.num_nodes
    x, W = np.array(private_values), method.mixing(graph).toarray()
    std, length = per_node("noise_std", method.noise_std, n), per_node("num_rounds", method.num_rounds, n)
    offsets: list[Array] = []
    for k in range(num_steps):
        fresh = np.where(k < length, std * _draws(method, graph, seed, k, replica), 0.0)
        offsets.append(np.where(k == length, -np.sum(offsets, axis=0), fresh))
        x = W @ (x + offsets[-1])
        yield x


@iterates.register
def _(method: Nozari, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0) -> Values:
    n = graph.num_nodes
    b, q, s = (per_node(name, getattr(method, name), n) for name in ("noise_scale", "noise_decay", "noise_share"))
    x, hL = np.array(private_values), np.eye(n) - method.mixing(graph).toarray()
    for k in range(num_steps):
        eta = b * q**k * _draws(method, graph, seed, k, replica)
        x = x - hL @ (x + eta) + s * eta
        yield x


@iterates.register
def _(method: Huang, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0) -> Values:
    x, W, s = np.array(private_values), method.mixing(graph).toarray(), method.mixing_share
    for k in range(num_steps):
        eta = method.noise_scale * method.noise_decay**k * _draws(method, graph, seed, k, replica)
        x = (1.0 - s) * x + s * (W @ (x + eta))
        yield x


@iterates.register
def _(
    method: PairwiseCancelling, graph: Graph, private_values: Array, num_steps: int, seed: int, replica: int = 0
) -> Values:
    W = method.mixing(graph).toarray()
    own = _draws(method, graph, seed, 0, replica)
    x = private_values + method.pair_noise_std * _shared_numbers(graph, seed, replica) + method.own_noise_std * own
    for _ in range(num_steps):
        x = W @ x
        yield x
