"""How fast it is, against a plain NumPy loop and against the floor, measured in one run.

A figure in nanoseconds says something about a machine; a ratio taken within one run says something
about the code. Rows therefore carry what they are compared with. The *floor* of a noisy run is the same
driver without noise: what fetching two nodes and averaging them costs.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..foundation.cores import available_cores
from ..foundation.interrupting import uninterrupted
from ..graphs import cycle, random_geometric, random_regular
from ..graphs.graph import Graph
from ..methods import NoiseInsertion, StandardGossip
from ..methods.base import Method
from ..simulation import simulate

__all__ = ["Measurement", "cpu_model", "machine", "measure", "numpy_loop"]

NOISY = NoiseInsertion(noise_std=1.0, noise_decay=0.9)
PLAIN = StandardGossip()


@dataclass(frozen=True)
class Measurement:
    """One row: what was run, nanoseconds a step, and a ratio that reads ``ratio × compared_with``."""

    name: str
    nanoseconds: float
    compared_with: str = ""
    ratio: float = 1.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def cpu_model() -> str:
    """The processor's name."""
    model = platform.processor() or platform.machine()
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        return model


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    import numba

    return {
        "cpu": cpu_model(),
        "cores": available_cores(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "sottovoce": __version__,
    }


def numpy_loop(
    graph: Graph, values: np.ndarray[Any, Any], noise_std: float, noise_decay: float, num_steps: int, seed: int
) -> np.ndarray[Any, Any]:
    """Algorithm 1 as most people would write it: NumPy arrays, its generator, a Python loop."""
    rng = np.random.default_rng(seed)
    x = np.array(values)
    t = np.zeros(graph.num_nodes, dtype=int)
    previous = np.zeros(graph.num_nodes)
    for _ in range(num_steps):
        i, j = graph.edges[rng.integers(graph.num_edges)]
        for node in (i, j):
            fresh = noise_decay ** t[node] * rng.normal(0.0, noise_std)
            x[node] += fresh - previous[node]
            previous[node] = fresh
            t[node] += 1
        x[i] = x[j] = (x[i] + x[j]) / 2
    return x


def _best(work: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest of a few runs: the least disturbed one."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def _per_step(
    graph: Graph,
    method: Method,
    num_steps: int,
    *,
    replicas: int = 1,
    coordinates: int = 1,
    threads: int = 1,
    repeats: int = 3,
) -> float:
    """Nanoseconds per step, replica and coordinate; nothing is recorded."""
    shape = graph.num_nodes if coordinates == 1 else (graph.num_nodes, coordinates)
    values = np.random.default_rng(0).random(shape)

    def work(steps: int = num_steps) -> None:
        how: dict[str, Any] = {"seed": 1, "record": [], "threads": threads, "progress": False}
        uninterrupted(simulate(graph, values, method, num_steps=steps, replicas=replicas, **how))

    work(1)  # compile
    return _best(work, repeats) / (num_steps * replicas * coordinates) * 1e9


def measure(*, large: bool = False) -> Iterator[Measurement]:
    """Yield the rows one by one; ``large`` adds graphs of 10⁶ and 10⁷ nodes (minutes, under 3 GB)."""
    small = random_geometric(100, seed=1)
    values = np.random.default_rng(0).random(100)
    loop = _best(lambda: numpy_loop(small, values, 1.0, 0.9, 20_000, 1)) / 20_000 * 1e9
    yield Measurement("NumPy loop, RGG(100)", loop)
    one = _per_step(small, NOISY, 5_000_000)
    yield Measurement("noise insertion, RGG(100), 1 core", one, "faster than the NumPy loop", loop / one)
    floor = _per_step(small, PLAIN, 10_000_000)
    yield Measurement("standard gossip, RGG(100), 1 core (floor)", floor, "the cost of noise insertion", floor / one)
    long = _per_step(small, NOISY, 100_000_000, repeats=1)
    yield Measurement("noise insertion, 10⁸ steps (φᵗ underflows early)", long, "the cost of 5·10⁶ steps", long / one)
    cores = available_cores()
    single = _per_step(small, NOISY, 100_000, replicas=1000)
    every = _per_step(small, NOISY, 100_000, replicas=1000, threads=cores)
    yield Measurement("1 000 replicas, 1 core", single)
    yield Measurement(f"1 000 replicas, {cores} cores", every, "faster than 1 core", single / every)
    yield from _growth()
    if large:
        yield from _large()


def _growth() -> Iterator[Measurement]:
    """How cost grows with nodes, edges, replicas and coordinates; constant while everything fits the caches."""
    first = _per_step(cycle(10), NOISY, 3_000_000)
    yield Measurement("noise insertion, cycle(10)", first)
    for n in (1_000, 10_000, 100_000):
        cost = _per_step(cycle(n), NOISY, 3_000_000)
        yield Measurement(f"n: noise insertion, cycle({n:,})", cost, "the cost of cycle(10)", cost / first)
    for degree in (4, 64):
        cost = _per_step(random_regular(10_000, degree, seed=1), NOISY, 3_000_000)
        yield Measurement(f"m: 10 000 nodes, {5_000 * degree:,} edges", cost, "the cost of cycle(10)", cost / first)
    for replicas in (10, 1_000):
        cost = _per_step(cycle(10), NOISY, 3_000_000 // replicas, replicas=replicas)
        yield Measurement(f"replicas: {replicas:,} of cycle(10)", cost, "the cost of cycle(10)", cost / first)
    for d in (2, 16):
        cost = _per_step(cycle(10), NOISY, 3_000_000 // d, coordinates=d)
        yield Measurement(f"d: vectors of {d} (per coordinate)", cost, "the cost of cycle(10)", cost / first)


def _large() -> Iterator[Measurement]:
    for n, degree in ((10**6, 16), (10**7, 8)):
        graph = random_regular(n, degree, seed=1)
        floor = _per_step(graph, PLAIN, 10_000_000)
        noisy = _per_step(graph, NOISY, 10_000_000)
        yield Measurement(f"standard gossip, n = {n:,}, degree {degree} (floor)", floor)
        yield Measurement(f"noise insertion, n = {n:,}, degree {degree}", noisy, "the floor", noisy / floor)
