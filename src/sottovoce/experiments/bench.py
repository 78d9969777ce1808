"""How fast it is, beside what others would write, measured in one run.

A figure in nanoseconds says something about a machine; a ratio taken within one run says something about the code. So
everything that is compared is measured in turns (round after round, each way once) and in processor time, which does
not count what else the machine is doing. The best round is reported, the worst beside it.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Mapping
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
from .rivals import Rival, c_loop, numba_loop, tuple_loop

__all__ = ["Measurement", "Way", "cpu_model", "in_turns", "machine", "measure", "running", "without_start"]

NOISY = NoiseInsertion(noise_std=1.0, noise_decay=0.9)
PLAIN = StandardGossip()
ROUNDS = 5


@dataclass(frozen=True)
class Measurement:
    """One row: what was measured, the best and the worst round, and a ratio that reads ``ratio × compared_with``.

    ``wanted`` says which ratios, or values, we set out to reach.
    """

    name: str
    value: float
    worst: float
    unit: str = "ns a step"
    compared_with: str = ""
    ratio: float | None = None
    wanted: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Way:
    """Something to time: the work, and how many steps it does."""

    work: Callable[[], object]
    steps: float


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


def in_turns(
    ways: Mapping[str, Way], rounds: int = ROUNDS, clock: Callable[[], float] = time.process_time
) -> dict[str, tuple[float, float]]:
    """Nanoseconds a step of each way: best and worst of a few rounds, in which each is timed once."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            began = clock()
            way.work()
            times[name].append((clock() - began) / way.steps * 1e9)
    return {name: (min(each), max(each)) for name, each in times.items()}


def running(
    graph: Graph, method: Method, num_steps: int, *, coordinates: int = 1, times: int = 1, **keywords: Any
) -> Way:
    """A run of ours, already compiled, or several one after the other; by default nothing is recorded, on one core."""
    shape = graph.num_nodes if coordinates == 1 else (graph.num_nodes, coordinates)
    values = np.random.default_rng(0).random(shape)
    given: dict[str, Any] = {"record": [], "threads": 1, "seed": 1, "progress": False} | keywords

    def work(steps: int = num_steps) -> None:
        for _ in range(times):
            uninterrupted(simulate(graph, values, method, num_steps=steps, **given))

    work(1)  # compile
    return Way(work, float(num_steps) * coordinates * given.get("replicas", 1) * times)


def measure(*, large: bool = False) -> Iterator[Measurement]:
    """Yield the rows one by one; ``large`` adds graphs of 10⁶ and 10⁷ nodes (minutes, under 3 GB)."""
    small = random_geometric(100, seed=1)
    yield from _beside_others(small, "noise insertion", NOISY, noise_std=1.0)
    yield from _beside_others(small, "standard gossip", PLAIN, noise_std=0.0)
    yield from _public_call(small)
    yield from _growth()
    if large:
        yield from _large()


def _beside_others(graph: Graph, title: str, method: Method, noise_std: float) -> Iterator[Measurement]:
    """The same steps by a Python loop, a Numba loop and C."""
    values = np.random.default_rng(0).random(graph.num_nodes)
    ours = f"{title}, RGG(100), one core"
    ways = {ours: running(graph, method, 2_000_000)}
    others: dict[str, tuple[Rival | None, int]] = {
        "Python loop over tuples": (tuple_loop(graph, values, noise_std, 0.9), 20_000),
        "Numba loop": (numba_loop(graph, values, noise_std, 0.9), 500_000),
        "C, -O3 -march=native": (c_loop(graph, values, noise_std, 0.9), 2_000_000),
    }
    for name, (rival, steps) in others.items():
        if rival is not None:
            rival(1)  # compile
            ways[f"{title}: {name}"] = Way(lambda rival=rival, steps=steps: rival(steps), steps)  # type: ignore[misc]
    found = in_turns(ways)
    yield Measurement(ours, *found[ours])
    for name, (best, worst) in found.items():
        if name != ours:
            yield Measurement(name, best, worst, compared_with="the time of ours", ratio=best / found[ours][0])


def _public_call(graph: Graph) -> Iterator[Measurement]:
    """What ``simulate`` adds to the bare kernel: recording by default, at every step, and watching for an error."""
    bare = "bare kernel, 10⁶ steps"
    ways = {
        bare: running(graph, NOISY, 1_000_000),
        "simulate as people call it, 50 000 steps": running(graph, NOISY, 50_000, times=20, record=None, threads=None),
        "every step recorded, 200 000 steps": running(graph, NOISY, 200_000, record=200_000),
        "watched for stop_at, 10⁶ steps": running(graph, NOISY, 1_000_000, stop_at=1e-300),
    }
    wanted = {
        "simulate as people call it, 50 000 steps": "≤ 3",
        "every step recorded, 200 000 steps": "< 50 ns",
        "watched for stop_at, 10⁶ steps": "< 50 ns",
    }
    found = in_turns(ways)
    for name, (best, worst) in found.items():
        compared = "" if name == bare else "the bare kernel"
        ratio = None if name == bare else best / found[bare][0]
        yield Measurement(
            f"RGG(100), {name}", best, worst, compared_with=compared, ratio=ratio, wanted=wanted.get(name, "")
        )


def _growth() -> Iterator[Measurement]:
    """How cost grows with steps, nodes, edges and replicas; constant while everything fits the caches."""
    first = "cycle(10)"
    ways = {
        first: running(cycle(10), NOISY, 1_000_000),
        "cycle(10), 2·10⁷ steps (φᵗ underflows early)": running(cycle(10), NOISY, 20_000_000),
        "cycle(1,000)": running(cycle(1_000), NOISY, 1_000_000),
        "cycle(100,000)": running(cycle(100_000), NOISY, 1_000_000),
        "10 000 nodes, 20,000 edges": running(random_regular(10_000, 4, seed=1), NOISY, 1_000_000),
        "10 000 nodes, 320,000 edges": running(random_regular(10_000, 64, seed=1), NOISY, 1_000_000),
        "1,000 replicas of cycle(10)": running(cycle(10), NOISY, 1_000, replicas=1_000),
    }
    found = in_turns(ways, rounds=3)
    for name, (best, worst) in found.items():
        ratio = None if name == first else best / found[first][0]
        compared = "" if name == first else "the cost of cycle(10)"
        yield Measurement(f"noise insertion, {name}", best, worst, compared_with=compared, ratio=ratio)


def _large() -> Iterator[Measurement]:
    """Graphs beyond the caches, and one run on all cores, which is a matter of wall time."""
    for n, degree in ((10**5, 16), (10**6, 16), (10**7, 8)):
        graph = random_regular(n, degree, seed=1)
        label = f"n = {n:,}, degree {degree}"
        for title, method in (("standard gossip", PLAIN), ("noise insertion", NOISY)):
            yield Measurement(f"{title}, {label}", *without_start(graph, method, 4_000_000))
            yield from _on_all_cores(graph, method, f"{title}, {label}, one run on all cores")


def without_start(graph: Graph, method: Method, num_steps: int, **keywords: Any) -> tuple[float, float]:
    """Nanoseconds a step, best and worst of three rounds, less those of a run of one step."""
    ways = {"all": running(graph, method, num_steps, **keywords), "start": running(graph, method, 1)}
    found = in_turns(ways, rounds=3)
    best, worst = (each - found["start"][0] / num_steps for each in found["all"])
    return best, worst


def _on_all_cores(graph: Graph, method: Method, name: str) -> Iterator[Measurement]:
    """Long runs and some of half their length, on one core and on all: the difference is without the start.

    Smaller networks make more steps, so that their runs do not end in an instant.
    """
    cores, steps = available_cores(), min(max(32 * 10**12 // graph.num_nodes, 16_000_000), 64_000_000)
    ways = {
        "one": running(graph, method, steps),
        "one, half": running(graph, method, steps // 2),
        "all": running(graph, method, steps, threads=cores),
        "all, half": running(graph, method, steps // 2, threads=cores),
    }
    for way in ways.values():  # compile, and load kernels
        way.work()
    found = in_turns(ways, clock=time.perf_counter)
    one = 2 * found["one"][0] - found["one, half"][0]
    best, worst = (2 * each - found["all, half"][0] for each in found["all"])
    yield Measurement(
        name, best, worst, unit="ns a step (wall)",
        compared_with="faster than one core", ratio=one / best, wanted="≥ 1.6 on two cores",
    )  # fmt: skip
