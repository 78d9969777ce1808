"""Simulation: the table of `sottovoce bench --large`, records, vectors beside NumPy, memory, the first call.

    python benchmarks/bench_simulation.py
    python benchmarks/bench_simulation.py --json FILE    the numbers for machines as well

Memory and first calls are measured in processes of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rows import main

import sottovoce as sv
from sottovoce.experiments.bench import NOISY, PLAIN, Measurement, Way, in_turns, measure, running

MEMORY = """
import numpy as np, sottovoce as sv
from rows import peak_bytes
graph = sv.graphs.random_regular(10**7, 8, seed=1)
run = sv.simulate(graph, np.random.default_rng(0).random(10**7), sv.NoiseInsertion(1.0, 0.9), num_steps=10**7, seed=1)
print(peak_bytes() / 1e9)
"""
CIRCULANT = """
import numpy as np, sottovoce as sv
from rows import peak_bytes
from sottovoce.graphs.circulant import Circulant
graph, before = Circulant.random(10**7, 8, seed=1), peak_bytes()
sv.simulate(graph, np.random.default_rng(0).random(10**7), sv.NoiseInsertion(1.0, 0.9), num_steps=10**7, seed=1)
print((peak_bytes() - before) / graph.num_nodes)
"""
LAPTOP = """
import numpy as np, sottovoce as sv
from rows import peak_bytes
from sottovoce.graphs.circulant import Circulant
values = np.random.default_rng(0).random(10**8)
sv.simulate(Circulant.random(10**8, 8, seed=1), values, sv.StandardGossip(), num_steps=10**7, seed=1, record=1)
print(peak_bytes() / 1e9)
"""
MODELS = """
import json, time, numpy as np, sottovoce as sv
from rows import peak_bytes
graph, method = sv.graphs.complete(20), sv.NoiseInsertion(1.0, 0.9)
sv.simulate(graph, np.random.default_rng(0).random((20, 1024)), method, num_steps=1, seed=1)
models, before, began = np.random.default_rng(0).random((20, 10**5)), peak_bytes(), time.process_time()
sv.simulate(graph, models, method, num_steps=2_000, seed=1)
print(json.dumps([time.process_time() - began, (peak_bytes() - before) / 1e6]))
"""
FIRST = """
import json, time
imported = time.process_time()
import sottovoce as sv
graph, method = sv.graphs.random_geometric(100, seed=1), sv.NoiseInsertion(1.0, 0.9)
before = time.process_time()
sv.simulate(graph, range(100), method, num_steps=1000, seed=1)
print(json.dumps([before - imported, time.process_time() - before, time.process_time()]))
"""
LEAST = """
import time, numba

@numba.njit(cache=True)
def next_one(number):
    return number + 1.0

next_one(1.0)
print(time.process_time())
"""
OF_THE_FIRST_VERSION = 283.0
"""MB that the 20 models took before coordinates lay side by side, on this page's first machine."""


def fresh(*command: str | Path) -> Any:
    """What another process prints."""
    done = subprocess.run(
        [sys.executable, *command], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


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


def records() -> Iterator[Measurement]:
    """What is left of the bare kernel's speed without noise, and where all steps of a large network are recorded."""
    small = sv.graphs.random_geometric(100, seed=1)
    bare = running(small, PLAIN, 1_000_000)
    called = running(small, PLAIN, 50_000, times=20, record=None, threads=None)
    found = in_turns({"bare": bare, "called": called})
    yield Measurement(
        "RGG(100), standard gossip as people call it, 50 000 steps", *found["called"],
        compared_with="the bare kernel", ratio=found["called"][0] / found["bare"][0], wanted="≤ 3",
    )  # fmt: skip
    for n in (100, 10**4, 10**6):
        graph = small if n == small.num_nodes else sv.graphs.random_regular(n, 16, seed=1)
        for steps in (200_000, 4_000_000):
            yield from every_step(graph, steps)
    yield from kept(small)


def every_step(graph: sv.Graph, steps: int) -> Iterator[Measurement]:
    """Every step recorded, and how much of it is due to the recording."""
    name = f"{graph.num_nodes:,} nodes, every step recorded, {steps:,} steps"
    for method in (PLAIN, NOISY):
        ways = {
            "every": running(graph, method, steps, record=steps),
            "none": running(graph, method, steps),
            "start": running(graph, method, 1),
        }
        for way in ways.values():  # the system hands out memory, which the later runs use again
            way.work()
        found = in_turns(ways, rounds=3 if steps > 1_000_000 else 10)  # short ones are mostly start
        start, none = found["start"][0] / steps, found["none"][0]
        best, worst = found["every"]
        yield Measurement(f"{name}, {method.name}, without the start", best - start, worst - start, wanted="< 50 ns")
        yield Measurement(f"{name}, {method.name}: what recording adds", best - none, worst - none, wanted="< 50 ns")


def spread(nodes: np.ndarray) -> float:
    """A statistic as a user writes it."""
    return nodes[:, 0].max() - nodes[:, 0].min()


def kept(graph: sv.Graph, steps: int = 50_000, rows: int = 500) -> Iterator[Measurement]:
    """What values at chosen steps and a statistic of one's own add to a run with so many records."""
    ways = {
        "none": running(graph, PLAIN, steps),
        "errors alone": running(graph, PLAIN, steps, record=rows),
        "values": running(graph, PLAIN, steps, record=rows, record_values=rows),
        "a statistic of one's own": running(graph, PLAIN, steps, record=rows, statistic=spread),
    }
    found = {name: [each * steps / rows / 1e3 for each in times] for name, times in in_turns(ways, rounds=20).items()}
    for name, before in zip(list(found)[1:], ("none", "errors alone", "errors alone"), strict=True):
        best, worst = (each - found[before][0] for each in found[name])
        yield Measurement(f"RGG(100), each of {rows} records: {name}", best, worst, unit="µs more")


def vectors() -> Iterator[Measurement]:
    """Nanoseconds a step and coordinate, beside NumPy on whole rows; with noise, beside a run of numbers."""
    graph = sv.graphs.random_geometric(100, seed=1)
    for d in (4, 16, 64, 1_000, 100_000):
        steps = max(1_000, 4_000_000 // d)
        those = graph if d <= 1_000 else sv.graphs.complete(20)
        ways = {"numpy": numpy_rows(those, d, min(steps, 20_000)), "ours": running(those, PLAIN, steps, coordinates=d)}
        found = in_turns(ways, rounds=3)
        yield Measurement(
            f"standard gossip, vectors of {d:,}", *found["ours"], unit="ns a step and coordinate",
            compared_with="the time of NumPy on rows", ratio=found["ours"][0] / found["numpy"][0],
            wanted="≤ 2" if d >= 64 else "",
        )  # fmt: skip
    lengths = (1, 16, 64, 1_000, 10_000)
    ways = {str(d): running(graph, NOISY, max(1_000, 2_000_000 // d), coordinates=d) for d in lengths}
    found = in_turns(ways, rounds=3)
    for d in list(ways)[1:]:
        yield Measurement(
            f"noise insertion, vectors of {int(d):,}", *found[d], unit="ns a step and coordinate",
            compared_with="a step of single numbers", ratio=found[d][0] / found["1"][0],
        )  # fmt: skip


def models(rounds: int = 2) -> Iterator[Measurement]:
    """Averaging the updates of 20 models under noise."""
    seconds, grown = zip(*(fresh("-c", MODELS) for _ in range(rounds)), strict=True)
    name = "20 model updates of 10⁵ coordinates, 2 000 steps"
    yield Measurement(name, min(seconds), max(seconds), unit="CPU s", wanted="< 3")
    yield Measurement(
        f"{name}: memory", min(grown), max(grown), unit="MB", compared_with="the first version's",
        ratio=max(grown) / OF_THE_FIRST_VERSION, wanted="≤ 0.5",
    )  # fmt: skip


def memory() -> Iterator[Measurement]:
    """A graph of 10⁷ nodes and 4·10⁷ edges, made, checked and run; and one whose edges need no memory."""
    peak, each = fresh("-c", MEMORY), fresh("-c", CIRCULANT)
    yield Measurement("10⁷ nodes, 4·10⁷ edges, made and run: peak memory", peak, peak, unit="GB")
    yield Measurement("a circulant graph of 10⁷ nodes, noise insertion: memory", each, each, unit="bytes a node")
    whole = fresh("-c", LAPTOP)
    name = "a circulant graph of 10⁸ nodes, standard gossip, 10⁷ steps: peak memory"
    yield Measurement(name, whole, whole, unit="GB", wanted="< 8")


def first_call(rounds: int = 3) -> Iterator[Measurement]:
    """A new process: importing, and the first call with kernels from the cache, beside the least that Numba takes."""
    ours, least = [], []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "least.py"
        script.write_text(LEAST, encoding="utf-8")
        fresh(script)  # compile
        for _ in range(rounds):
            ours.append(fresh("-c", FIRST))
            least.append(fresh(script))
    imported, called, total = zip(*ours, strict=True)
    yield Measurement("import, and a graph", min(imported), max(imported), unit="CPU s")
    yield Measurement("the first simulate of a process", min(called), max(called), unit="CPU s")
    yield Measurement(
        "such a process as a whole", min(total), max(total), unit="CPU s",
        compared_with="one that calls a one-line Numba function, compiled before", ratio=min(total) / min(least),
    )  # fmt: skip


def rows() -> Iterator[Measurement]:
    """All of it."""
    yield from measure(large=True)
    for part in (records, vectors, models, memory, first_call):
        yield from part()


if __name__ == "__main__":
    main(rows())
