"""The compiled drivers of synchronous methods: one step is a round in which every node acts.

A round costs O(n + m). Draws for all nodes are made first; then everybody speaks; then everybody listens.
Node i in round k finds its random words at position k·n + i.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba.extending import register_jitable

from ..compiling import compiled
from ..random.kernels import HALF, PURPOSE_SHIFT, WINDOW, fill_laplace, fill_normals, fill_words
from ..random.streams import EDGE_NOISE

__all__ = ["add_edge_noise", "push_driver", "push_targets", "round_draws", "round_driver"]

u64 = np.uint64
NO_NOISE, NORMAL, LAPLACE = 0, 1, 2
KINDS = {"": NO_NOISE, "normal": NORMAL, "laplace": LAPLACE}


@compiled
def unit_draws(out: Any, first: Any, replica: Any, domain: Any, seed: Any, kind: Any) -> None:
    """One draw of unit scale per position from ``first``, as many as ``out`` holds."""
    words = np.empty((4, WINDOW), dtype=np.uint64)
    draws = np.empty((2, WINDOW))
    for start in range(0, len(out), WINDOW):
        fill_words(words, first + start, replica, domain, seed)
        if kind == LAPLACE:
            fill_laplace(words, draws)
        else:
            fill_normals(words, draws)
        for k in range(min(WINDOW, len(out) - start)):
            out[start + k] = draws[0, k]


@compiled
def round_draws(out: Any, first: Any, replica: Any, coordinate: Any, seed: Any, kind: Any) -> None:
    """``out`` is ``(rounds, n)``: every node's draw in rounds ``first, first + 1, …``."""
    for k in range(out.shape[0]):
        unit_draws(out[k], (first + k) * out.shape[1], replica, coordinate, seed, kind)


@compiled
def add_edge_noise(tables: Any, field: Any, std: Any, edges: Any, seed: Any) -> None:
    """Add one normal number of deviation ``std`` per edge to ``field`` at its first end, subtract it at its second."""
    draws = np.empty(edges.shape[0])
    for r in range(tables.shape[0]):
        for c in range(tables.shape[1]):
            unit_draws(draws, 0, r, u64(c) | (u64(EDGE_NOISE) << PURPOSE_SHIFT), seed, NORMAL)
            for e in range(edges.shape[0]):
                tables[r, c, edges[e, 0], field] += std * draws[e]
                tables[r, c, edges[e, 1], field] -= std * draws[e]


@cache
def round_driver(send: Callable[..., float], receive: Callable[..., None], *, kind: int) -> Callable[..., None]:
    """Compile the driver for one method's ``send`` and ``receive``, which stay plain functions."""
    register_jitable(send)
    register_jitable(receive)

    def drive(
        tables: Any,
        active: Any,
        first_coordinate: Any,
        last_coordinate: Any,
        first: Any,
        last: Any,
        seed: Any,
        noisy_rounds: Any,
        indptr: Any,
        indices: Any,
        weights: Any,
        parameters: Any,
    ) -> None:
        n = tables.shape[2]
        draws = np.zeros(n)
        said = np.empty(n)
        for r in active:
            for c in range(first_coordinate, last_coordinate):
                nodes = tables[r, c]
                for step in range(first, last):
                    if kind != NO_NOISE and step < noisy_rounds:
                        unit_draws(draws, step * n, r, c, seed, kind)
                    for i in range(n):
                        said[i] = send(nodes, i, draws[i], step, parameters)
                    for i in range(n):
                        combined = 0.0
                        for k in range(indptr[i], indptr[i + 1]):
                            combined += weights[k] * said[indices[k]]
                        receive(nodes, i, said[i], combined, step, parameters)

    drive.__qualname__ = f"drive_{send.__module__.rpartition('.')[2]}"
    return compiled(drive)


@compiled
def push_targets(out: Any, step: Any, replica: Any, seed: Any, indptr: Any, neighbours: Any) -> None:
    """``(n,)`` to whom each node sends in one round: uniform over its neighbours and itself."""
    n = len(out)
    words = np.empty((4, WINDOW), dtype=np.uint64)
    for start in range(0, n, WINDOW):
        fill_words(words, step * n + start, replica, 0, seed)
        for k in range(min(WINDOW, n - start)):
            i = start + k
            degree = indptr[i + 1] - indptr[i]
            choices = u64(degree + 1)
            choice = np.int64((words[1, k] * choices + ((words[0, k] * choices) >> HALF)) >> HALF)
            out[i] = i if choice == degree else neighbours[indptr[i] + choice]


@cache
def push_driver(push: Callable[..., None], collect: Callable[..., None]) -> Callable[..., None]:
    """Compile the driver for one method's ``push`` and ``collect``, which stay plain functions."""
    register_jitable(push)
    register_jitable(collect)

    def drive(
        tables: Any,
        active: Any,
        first_coordinate: Any,
        last_coordinate: Any,
        first: Any,
        last: Any,
        seed: Any,
        indptr: Any,
        neighbours: Any,
    ) -> None:
        n = tables.shape[2]
        targets = np.empty(n, dtype=np.int64)
        for r in active:
            for c in range(first_coordinate, last_coordinate):
                nodes = tables[r, c]
                for step in range(first, last):
                    push_targets(targets, step, r, seed, indptr, neighbours)
                    for i in range(n):
                        push(nodes, i, targets[i])
                    for i in range(n):
                        collect(nodes, i)

    drive.__qualname__ = f"drive_{push.__module__.rpartition('.')[2]}"
    return compiled(drive)
