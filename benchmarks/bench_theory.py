"""How fast the theory is: exact expectations, and bounds on a million nodes. Prints seconds and peak memory."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rows import peak_bytes

import sottovoce as sv


def timed(what: str, work: Callable[[], object]) -> None:
    start, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"{what:<78} {wall:8.2f} s  (CPU {cpu:.2f} s, process peak so far {peak_bytes() / 1e9:.2f} GB)", flush=True)


def bench_exact() -> None:
    """RGG(100) for 50 000 steps both ways; n = 1 000 for 1 000 steps."""
    rng = np.random.default_rng(0)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.995)
    graph, values = sv.graphs.random_geometric(100, seed=1), rng.random(100)
    results = {}

    def run(algorithm: str) -> None:
        results[algorithm] = sv.theory.expected_error(graph, values, method, 50_000, algorithm=algorithm)  # type: ignore[arg-type]

    print()
    timed("exact, RGG(100), every k to 50 000, Lanczos", lambda: run("spectral"))
    timed("exact, RGG(100), every k to 50 000, step by step", lambda: run("steps"))
    print(f"  largest relative difference {np.max(np.abs(results['spectral'] / results['steps'] - 1)):.1e}")
    timed("exact, RGG(100), at k = 10^7", lambda: sv.theory.expected_error(graph, values, method, at=[10**7]))
    large, many = sv.graphs.random_geometric(1000, seed=1), rng.random(1000)
    timed(f"exact, {large.name} with {large.num_edges} edges, every k to 1 000, Lanczos",
          lambda: sv.theory.expected_error(large, many, method, 1000))  # fmt: skip
    timed(f"exact, {large.name}, every k to 1 000, step by step",
          lambda: sv.theory.expected_error(large, many, method, 1000, algorithm="steps"))  # fmt: skip
    timed(f"rate of {large.name}", lambda: sv.theory.second_moment_rate(large))


def bench_bounds() -> None:
    """10⁶ nodes, 1 000 values of k up to 10⁷, after the eigenvalue."""
    size, rng = 10**6, np.random.default_rng(1)
    graph, values = sv.graphs.cycle(size), rng.random(size)
    newer = np.arange(1, size)
    tree = sv.Graph.from_edges(np.stack([(rng.random(size - 1) * newer).astype(int), newer], axis=1))
    at = np.linspace(1, 10**7, 1000).astype(np.int64)
    alpha = sv.algebraic_connectivity(graph)
    print()
    for name, where in (("cycle(10^6)", graph), ("random tree of 10^6 nodes", tree)):
        _ = where.degrees
        for label, decay in (("one φ", 0.9), ("10^6 different φ", rng.random(size))):
            method = sv.NoiseInsertion(noise_std=1.0, noise_decay=decay)
            for form in ("corrected", "sharpened"):
                timed(f"{form} bound, {name}, {label}, {len(at)} values of k",
                      lambda: sv.theory.error_bound(where, values, method, at=at, form=form, connectivity=alpha))  # noqa: B023  # fmt: skip


if __name__ == "__main__":
    bench_exact()
    bench_bounds()
