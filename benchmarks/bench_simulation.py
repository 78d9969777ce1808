"""Simulation: the table of `sottovoce bench --large`, vectors beside NumPy, memory of 10⁷ nodes, the first call.

python benchmarks/bench_simulation.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
from rows import show

import sottovoce as sv
from sottovoce.experiments.bench import NOISY, PLAIN, Measurement, Way, in_turns, measure, running

MEMORY = """
import resource, numpy as np, sottovoce as sv
graph = sv.graphs.random_regular(10**7, 8, seed=1)
run = sv.simulate(graph, np.random.default_rng(0).random(10**7), sv.NoiseInsertion(1.0, 0.9), num_steps=10**7, seed=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9)
"""
FIRST = """
import json, time
imported = time.process_time()
import sottovoce as sv
graph, method = sv.graphs.random_geometric(100, seed=1), sv.NoiseInsertion(1.0, 0.9)
before = time.process_time()
sv.simulate(graph, range(100), method, num_steps=1000, seed=1)
print(json.dumps([before - imported, time.process_time() - before]))
"""


def numpy_rows(graph: sv.Graph, coordinates: int, num_steps: int) -> Way:
    """What the memory allows: two rows of an array read, their mean written to both."""
    values = np.random.default_rng(0).random((graph.num_nodes, coordinates))
    fired = graph.edges[np.random.default_rng(1).integers(graph.num_edges, size=num_steps)].tolist()

    def work() -> None:
        for i, j in fired:
            values[i] += values[j]
            values[i] *= 0.5
            values[j] = values[i]

    return Way(work, float(num_steps) * coordinates)


def vectors() -> Iterator[Measurement]:
    """Nanoseconds a step and coordinate, beside NumPy on whole rows."""
    graph = sv.graphs.random_geometric(100, seed=1)
    for d in (4, 16, 64, 1_000):
        steps = 4_000_000 // d
        ways = {"numpy": numpy_rows(graph, d, min(steps, 20_000)), "ours": running(graph, PLAIN, steps, coordinates=d)}
        found = in_turns(ways, rounds=3)
        yield Measurement(
            f"standard gossip, vectors of {d:,}", *found["ours"], unit="ns a step and coordinate",
            compared_with="the time of NumPy on rows", ratio=found["ours"][0] / found["numpy"][0],
            wanted="≤ 2" if d >= 64 else "",
        )  # fmt: skip
    models = running(sv.graphs.complete(20), NOISY, 2_000, coordinates=100_000, threads=None, record=None)
    best, worst = in_turns({"models": Way(models.work, 1e9)}, rounds=1)["models"]
    yield Measurement("20 model updates of 10⁵ coordinates, 2 000 steps", best, worst, unit="CPU s", wanted="< 3")


def memory() -> Iterator[Measurement]:
    """A graph of 10⁷ nodes and 4·10⁷ edges, made, checked and run."""
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    peak = float(done.stdout)
    yield Measurement("10⁷ nodes, 4·10⁷ edges, made and run: peak memory", peak, peak, unit="GB")


def first_call(rounds: int = 3) -> Iterator[Measurement]:
    """A new process: importing, and the first call with kernels from the cache."""
    pairs = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
        pairs.append(json.loads(done.stdout))
    names = ("import, and a graph", "the first simulate of a process")
    for name, each in zip(names, zip(*pairs, strict=True), strict=True):
        yield Measurement(name, min(each), max(each), unit="CPU s")


def rows() -> Iterator[Measurement]:
    """All of it."""
    yield from measure(large=True)
    yield from vectors()
    yield from memory()
    yield from first_call()


if __name__ == "__main__":
    began = time.perf_counter()
    show(rows())
    print(f"{time.perf_counter() - began:.0f} s")
