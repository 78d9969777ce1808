from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

from .equations import assert_equation
from .settings import GRAPH, off_average


def equation(method, replay):
    """Ends that differ by ε or more move ε/2 towards each other."""
    x = replay.values
    yield x
    for row in replay.edges():
        if abs(row @ x) >= method.gap:
            x = x - np.sign(row @ x) * method.gap / 2.0 * row
        yield x


@pytest.mark.parametrize("gap", [0.05, 0.4])
def test_equation(gap):
    """Compiled runs follow the equation."""
    assert_equation(sv.GapOracle(gap=gap), equation)


@pytest.mark.parametrize("graph", [sv.graphs.cycle(10), sv.graphs.star(6), GRAPH], ids=lambda g: g.name)
@pytest.mark.parametrize("gap", [0.3, 0.05])
def test_gap_oracle_stops(graph, gap):
    """At most 4G₀/ε² moves on each of 50 runs; then edges differ by less than ε, ‖x − c̄‖² < mε²/α, nothing moves."""
    values = np.random.default_rng(6).random(graph.num_nodes)
    method = sv.GapOracle(gap=gap)
    run = sv.simulate(graph, values, method, num_steps=20_000, seed=1, replicas=50, record=1)
    moves = run.tables[:, 0, :, 1].sum(axis=1) / 2
    assert moves.max() <= method.most_moves(0.5 * off_average(values))
    assert off_average(run.values).max() < method.guarantee(graph).remaining
    assert moves.min() > 0
    ends = run.values[:, graph.edges]
    assert np.abs(ends[..., 0] - ends[..., 1]).max() < gap
    np.testing.assert_array_equal(run.resume(1000).values, run.values)


def test_average_share_of_open_edges_is_bounded():
    """(1/k) Σ E Δ^t ≤ 4G₀/(kε²), with Δ the share of edges that differ by at least ε."""
    graph, gap, k = sv.graphs.cycle(8), 0.2, 150
    values = np.random.default_rng(7).random(8)
    run = sv.simulate(graph, values, sv.GapOracle(gap=gap), num_steps=1, seed=2, replicas=200)
    shares = []
    for _ in range(k):
        ends = run.values[:, graph.edges]
        shares.append((np.abs(ends[..., 0] - ends[..., 1]) >= gap).mean())
        run = run.resume(1)
    assert np.mean(shares) <= sv.theory.gap_oracle_bound(0.5 * off_average(values), gap, k)


def test_a_gap_exactly_open_moves():
    """Ends that differ by exactly ε meet in the middle."""
    run = sv.simulate(sv.graphs.path(2), [0.0, 0.5], sv.GapOracle(gap=0.5), num_steps=1, seed=1)
    assert run.values.tolist() == [0.25, 0.25]
