"""What nodes see of synchronous averaging, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.methods.seen import one_draw_information, seen_share


def exact_share(weights: list[list[Fraction]], observer: int, num_rounds: int) -> list[Fraction]:
    """Diagonal of the projection on the rows seen, by Gram and Schmidt in fractions."""
    n = len(weights)
    values = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    heard = [j for j in range(n) if weights[observer][j] != 0]
    rows, basis = [values[observer]], []
    for _ in range(num_rounds):
        rows += [values[j] for j in heard]
        values = [[sum(weights[i][k] * values[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
    for row in rows:
        left = list(row)
        for other in basis:
            factor = sum(a * b for a, b in zip(left, other, strict=True)) / sum(b * b for b in other)
            left = [a - factor * b for a, b in zip(left, other, strict=True)]
        if any(left):
            basis.append(left)
    return [sum((row[i] ** 2 / sum(b * b for b in row) for row in basis), Fraction(0)) for i in range(n)]


def lazy(graph: sv.Graph, part: int) -> list[list[Fraction]]:
    """W = I − L/part."""
    n = graph.num_nodes
    weights = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    for i, j in graph.edges.tolist():
        for a, b in ((i, j), (j, i)):
            weights[a][a] -= Fraction(1, part)
            weights[a][b] += Fraction(1, part)
    return weights


def test_a_path_of_twenty_six_is_seen_whole():
    """W = I − L/3 on a path of 26: after 26 rounds its first node has all of every value (0.003 in doubles)."""
    weights = np.array(lazy(sv.graphs.path(26), 3), dtype=float)
    assert seen_share(weights, [0], 26).tolist() == [1.0] * 26
    assert one_draw_information(weights, 0, noise_std=2.0, num_rounds=26)[-1] == 0.25
    assert seen_share(weights, [0], 24)[-1] < 1e-9


@pytest.mark.parametrize(
    ("graph", "part", "rounds"),
    [(sv.graphs.star(5), 7, 9), (sv.graphs.cycle(8), 3, 12), (sv.graphs.grid(3, 3), 5, 12), (sv.graphs.path(9), 3, 5)],
    ids=["star", "cycle", "grid", "path"],
)
def test_shares_equal_exact_fractions(graph, part, rounds):
    """Also where symmetry or time keep some of a value from sight."""
    weights = lazy(graph, part)
    found = seen_share(np.array(weights, dtype=float), [1], rounds)
    assert found == pytest.approx([float(share) for share in exact_share(weights, 1, rounds)], abs=1e-9)
