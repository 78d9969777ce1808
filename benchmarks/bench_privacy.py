"""Privacy analysis: audit of n = 100, 5 000 exchanges, one observer; exposure matrix of n = 30, 1 000 exchanges.

    python benchmarks/bench_privacy.py

Prints seconds (best of three, or one where it takes long) and the growth of peak memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rows import peak_bytes

import sottovoce as sv
from sottovoce.privacy import CuriousNodes, EveryoneBut, WireTap, audit, exposure, recoverable

NOISE = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)


def _measure(name: str, work: Callable[[], object], repeat: int = 3) -> float:
    before = peak_bytes()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    grown = (peak_bytes() - before) / 1e6
    print(f"{name:<62} {min(times):7.2f} s   peak memory +{grown:5.1f} MB")
    return min(times)


def bench_audit() -> None:
    """One observer, n = 100, 5 000 exchanges: prior, flat prior and Fisher information together."""
    graph = sv.graphs.random_geometric(100, seed=1)
    edges = np.random.default_rng(0).integers(0, graph.num_edges, 5_000)
    busy = int(np.argmax(graph.degrees))
    _measure(
        "audit, rgg(100), 5 000 exchanges, observer of low degree",
        lambda: audit(graph, NOISE, edges, CuriousNodes([0])),
    )
    _measure("audit, the same, observer of highest degree", lambda: audit(graph, NOISE, edges, CuriousNodes([busy])))
    _measure(
        "audit, the same, ten pooled observers",
        lambda: audit(graph, NOISE, edges, CuriousNodes(range(0, 100, 10))),
        repeat=1,
    )
    _measure("audit, the same, everyone but one", lambda: audit(graph, NOISE, edges, EveryoneBut(0)))
    _measure("audit, the same, all edges tapped", lambda: audit(graph, NOISE, edges, WireTap(range(graph.num_edges))))
    _measure(
        "row space without noise, the same, ten observers",
        lambda: recoverable(graph, edges, CuriousNodes(range(0, 100, 10))),
    )


def bench_exposure() -> None:
    """Every node in turn as the observer, n = 30, 1 000 exchanges."""
    graph = sv.graphs.random_geometric(30, seed=1)
    edges = np.random.default_rng(0).integers(0, graph.num_edges, 1_000)
    _measure("exposure matrix, rgg(30), 1 000 exchanges, all observers", lambda: exposure(graph, NOISE, edges))


if __name__ == "__main__":
    bench_audit()
    bench_exposure()
