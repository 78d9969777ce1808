"""The audit of longer runs against a plain Kalman filter on (c, x, u) in 200-digit decimals."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.privacy import CuriousNodes, audit

Matrix = list[list[Decimal]]


def _transform(P: Matrix, row: int, weights: dict[int, Decimal], noise: Decimal = Decimal(0)) -> None:
    """Replace variable ``row`` by a combination of variables plus independent noise, in place."""
    size = len(P)
    cross = [sum((w * P[k][j] for k, w in weights.items()), Decimal(0)) for j in range(size)]
    own = sum((w * cross[k] for k, w in weights.items()), Decimal(0)) + noise
    for j in range(size):
        P[row][j] = P[j][row] = cross[j]
    P[row][row] = own


def _observe(P: Matrix, row: int, negligible: Decimal) -> None:
    variance = P[row][row]
    if variance <= negligible:
        return
    gain = [P[j][row] / variance for j in range(len(P))]
    seen = list(P[row])
    for a in range(len(P)):
        for b in range(len(P)):
            P[a][b] -= gain[a] * seen[b]


def _plain_filter(
    graph: sv.Graph, edges: np.ndarray, std: Decimal, decay: Decimal, observers: set[int], prior: Decimal
) -> list[float]:
    """Values x and outstanding noise u as in Algorithm 1; variables c, x, u and one scratch per node."""
    n = graph.num_nodes
    one = Decimal(1)
    with localcontext() as context:
        context.prec = 400
        P = [[Decimal(0)] * (3 * n) for _ in range(3 * n)]
        for i in range(n):
            if i not in observers:
                P[i][i] = P[i][n + i] = P[n + i][i] = P[n + i][n + i] = prior**2
        scale = [Decimal(0) if i in observers else std for i in range(n)]
        for edge in edges:
            i, j = (int(v) for v in graph.edges[edge])
            for p in (i, j):
                _transform(P, n + p, {n + p: one, 2 * n + p: -one})
                _transform(P, 2 * n + p, {}, scale[p] ** 2)
                _transform(P, n + p, {n + p: one, 2 * n + p: one})
                scale[p] *= decay
            if i in observers or j in observers:
                for p in (i, j):
                    _observe(P, n + p, Decimal(10) ** -300)
            _transform(P, n + i, {n + i: one / 2, n + j: one / 2})
            _transform(P, n + j, {n + i: one})
        return [float(max(P[i][i], Decimal(0)).sqrt()) for i in range(n)]


@pytest.mark.parametrize("observers", [{0}, {0, 2}])
@pytest.mark.parametrize("decay", ["0.3", "0.9"])
def test_long_runs_with_prior(observers: set[int], decay: str) -> None:
    """After 150 exchanges, with φ^t down to 10^−30 and less, deviations agree to 10^−9."""
    graph = sv.graphs.cycle(4)
    edges = np.random.default_rng(6).integers(0, 4, 150)
    exact = _plain_filter(graph, edges, Decimal(1), Decimal(decay), observers, Decimal(1))
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=float(decay))
    report = audit(graph, method, edges, CuriousNodes(observers))
    assert report.posterior_std == pytest.approx(exact, rel=1e-9, abs=1e-13)


def test_flat_prior_is_the_limit_of_huge_ones() -> None:
    """The flat prior equals a prior of 10^60 in 400 digits, where doubles would have lost everything."""
    graph = sv.graphs.cycle(4)
    edges = np.random.default_rng(2).integers(0, 4, 60)
    exact = np.array(_plain_filter(graph, edges, Decimal(1), Decimal("0.8"), {0}, Decimal(10) ** 60))
    exact[exact > 1e30] = np.inf
    report = audit(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8), edges, CuriousNodes([0]), None)
    assert np.isfinite(exact[1:]).any()
    assert report.posterior_std == pytest.approx(exact, rel=1e-9)
