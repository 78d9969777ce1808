"""Brute force for tests: the whole transcript as a linear map, conditioned in rational arithmetic.

Written from Algorithm 1 as printed (values, noise, withdrawal), with none of the package's shortcuts: every
message is a row over all private values and all draws, and every variance is an exact fraction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

Row = list[Fraction]


class Transcript:
    """Rows of all messages that a view sees, over (honest private values, seals, draws of honest nodes)."""

    def __init__(
        self,
        num_nodes: int,
        exchanges: Sequence[tuple[int, int]],
        noise_std: Sequence[Fraction],
        noise_decay: Sequence[Fraction],
        observers: set[int],
        tapped: set[tuple[int, int]] = frozenset(),  # type: ignore[assignment]
        seals: Mapping[tuple[int, int], Fraction] = MappingProxyType({}),
        draws: Sequence[float] | None = None,
    ) -> None:
        self.num_nodes = num_nodes
        width = num_nodes + len(seals) + 2 * len(exchanges)
        values: list[Row] = [[Fraction(int(k == i)) for k in range(width)] for i in range(num_nodes)]
        outstanding: list[Row] = [[Fraction(0)] * width for _ in range(num_nodes)]
        scale = list(noise_std)
        left = [math.inf] * num_nodes if draws is None else list(draws)
        column = num_nodes
        for (i, j), std in seals.items():
            known = i in observers or j in observers
            values[i][column], values[j][column] = (Fraction(0),) * 2 if known else (std, -std)
            column += 1
        messages: list[Row] = []
        for i, j in exchanges:
            for p in (i, j):
                column += 1
                left[p] -= 1
                if left[p] < 0:  # no draw left: the noise in place stays
                    continue
                fresh = [Fraction(0)] * width
                fresh[column - 1] = scale[p] if p not in observers else Fraction(0)
                scale[p] *= noise_decay[p]
                values[p] = [x - u + f for x, u, f in zip(values[p], outstanding[p], fresh, strict=True)]
                outstanding[p] = fresh
            if i in observers or j in observers or (i, j) in tapped or (j, i) in tapped:
                messages += [values[i], values[j]]
            mean = [(a + b) / 2 for a, b in zip(values[i], values[j], strict=True)]
            values[i], values[j] = mean, list(mean)
        self.honest = [i for i in range(num_nodes) if i not in observers]
        self.sensitivity = [[row[i] for i in self.honest] for row in messages]
        self.noise = [row[num_nodes:] for row in messages]

    def posterior_std(self, prior_variance: Fraction) -> list[float]:
        """With independent priors of this variance on every honest value."""
        count = len(self.sensitivity)
        gram = [
            [
                prior_variance * _dot(self.sensitivity[a], self.sensitivity[b]) + _dot(self.noise[a], self.noise[b])
                for b in range(count)
            ]
            for a in range(count)
        ]
        result = []
        for k in range(len(self.honest)):
            cross = [prior_variance * row[k] for row in self.sensitivity]
            weights = solve(gram, cross)
            assert weights is not None
            result.append(_root(prior_variance - _dot(weights, cross)))
        return result

    def flat_std(self) -> list[float]:
        """Deviation of the best unbiased estimate; infinite where there is none."""
        return [self._best_unbiased(k, range(len(self.honest))) for k in range(len(self.honest))]

    def known_others_std(self) -> list[float]:
        """Deviation of the best unbiased estimate when all other private values are known."""
        return [self._best_unbiased(k, [k]) for k in range(len(self.honest))]

    def _best_unbiased(self, wanted: int, unknown: Sequence[int]) -> float:
        """min wᵀVw subject to w·(sensitivity to each unknown) = 1 for the wanted one, 0 for the others."""
        count, extra = len(self.sensitivity), len(unknown)
        matrix = [
            [_dot(self.noise[a], self.noise[b]) for b in range(count)] + [self.sensitivity[a][k] for k in unknown]
            for a in range(count)
        ]
        matrix += [[self.sensitivity[b][k] for b in range(count)] + [Fraction(0)] * extra for k in unknown]
        right = [Fraction(0)] * count + [Fraction(int(k == wanted)) for k in unknown]
        solution = solve(matrix, right)
        if solution is None:
            return math.inf
        combined = [
            sum((w * row[c] for w, row in zip(solution, self.noise, strict=False)), Fraction(0))
            for c in range(len(self.noise[0]))
        ]
        return _root(_dot(combined, combined))


def solve(matrix: list[Row], right: Row) -> Row | None:
    """One solution of a linear system by exact elimination, or ``None`` if it has none."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    width = len(matrix[0]) if matrix else 0
    pivots: list[int] = []
    for column in range(width):
        rank = len(pivots)
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column] != 0), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        lead = rows[rank][column]
        rows[rank] = [entry / lead for entry in rows[rank]]
        for r in range(len(rows)):
            if r != rank and rows[r][column] != 0:
                factor = rows[r][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[rank], strict=True)]
        pivots.append(column)
    if any(row[-1] != 0 for row in rows[len(pivots) :]):
        return None
    solution = [Fraction(0)] * width
    for row, column in zip(rows, pivots, strict=False):
        solution[column] = row[-1]
    return solution


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _root(value: Fraction) -> float:
    return math.sqrt(value.numerator) / math.sqrt(value.denominator) if value < 10**300 else math.inf
