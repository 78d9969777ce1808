"""One run of a large network on several cores: nanoseconds a step alone and together, and whether the bits agree.

    python benchmarks/cores.py
    python benchmarks/cores.py --nodes 1e6 1e7                 some sizes
    python benchmarks/cores.py --graphs geometric regular      some graphs
    taskset -c 3,9 python benchmarks/cores.py                  on these cores

Shown is also what two cores reach that have nothing to do with each other: two runs, one on each. That is how much
faster than one two cores of this machine can be at all, where they share its caches and its memory.

Spans of each way are made in turns, long enough for the caches to be its own; shown are the fastest. These are
wall-clock times: nothing else should run beside it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import sottovoce as sv
from sottovoce.foundation.cores import available_cores
from sottovoce.graphs.circulant import Circulant
from sottovoce.graphs.graph import Graph
from sottovoce.methods.base import Method
from sottovoce.simulation import team as teams
from sottovoce.simulation.crew import Crew
from sottovoce.simulation.records import Plan
from sottovoce.simulation.running import Runner
from sottovoce.simulation.state import State
from sottovoce.simulation.team import team_for

SPAN, ROUNDS = 2**20, 8
METHODS = (sv.StandardGossip(), sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9))
GRAPHS: dict[str, Callable[[int], Graph]] = {
    "circulant": lambda n: Circulant.random(n, 8 if n >= 10**7 else 16, seed=1).to_graph(),
    "regular": lambda n: sv.graphs.random_regular(n, 16, seed=1),
    "geometric": lambda n: sv.graphs.random_geometric(n, seed=1),
    "grid": lambda n: sv.graphs.grid(round(n**0.5), round(n**0.5)),
    "cycle": sv.graphs.cycle,
    "star": sv.graphs.star,
}
"""Edges chosen at random, stored in no order (``regular``) or offset by offset; nodes in two dimensions; and a hub."""


def measure(graph: Graph, method: Method) -> tuple[list[float], bool]:
    """Seconds a step alone, together and of two runs at once, and whether alone and together have the same values."""
    values = np.random.default_rng(1).random(graph.num_nodes)
    begun = sv.simulate(graph, values, method, num_steps=1, seed=1, record=[], threads=1, progress=False)
    alone, together, one, other = (State.after(begun, Plan(range(0))) for _ in range(4))
    teams.LEAST_NODES = 2  # also where simulate would not try
    crew, two = Crew(available_cores()), Crew(2)
    runner, *runners = (Runner(state, two, together=0) for state in (alone, one, other))
    team = team_for(together, 10**9, crew)
    if team is None:
        raise SystemExit("one core is used here: there is no second one, or the system has no sched_yield")
    sheet = runner.sheet(*runner.no_records)
    team.prepare(sheet)
    best = [float("inf")] * 3
    with crew, two:
        for step in range(1, 1 + ROUNDS * SPAN, SPAN):
            span = np.array([0]), (0, 1), step, step + SPAN, runner.no_records
            here, there = (partial(each.drive, *span) for each in runners)
            ways = (
                partial(runner.drive, *span),
                partial(team.work, step, step + SPAN, sheet),
                partial(two.run_beside, here, [there]),
            )
            best = [min(seconds, seconds_of(way)) for seconds, way in zip(best, ways, strict=True)]
    best[2] /= 2
    return best, bool(np.array_equal(alone.tables, together.tables))


def seconds_of(make: Callable[[], object]) -> float:
    """Seconds that a step of a span takes."""
    began = time.perf_counter()
    make()
    return (time.perf_counter() - began) / SPAN


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=float, nargs="*", default=[1e5, 1e6, 1e7])
    parser.add_argument("--graphs", nargs="*", choices=list(GRAPHS), default=["circulant"])
    given = parser.parse_args()
    print(f"{available_cores()} cores; nanoseconds a step")
    print(f"{'':39} alone  together{'':25}two runs at once")
    for name in given.graphs:
        for num_nodes in map(int, given.nodes):
            graph = GRAPHS[name](num_nodes)
            for method in METHODS:
                (alone, together, side), same = measure(graph, method)
                verdict = "same bits" if same else "OTHER BITS"
                figures = f"{1e9 * alone:6.1f} {1e9 * together:6.1f} = {alone / together:4.2f} times, {verdict}"
                ceiling = f"{1e9 * side:6.1f} = {alone / side:4.2f} times"
                print(f"{name:<10} {num_nodes:>9} {method.name:<16} {figures} {ceiling}", flush=True)


if __name__ == "__main__":
    main()
