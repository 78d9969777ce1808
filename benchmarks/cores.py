"""One run of a large network on two cores: nanoseconds a step alone and together, and whether the bits agree.

    python benchmarks/cores.py
    python benchmarks/cores.py --nodes 1e6 1e7     some sizes
    taskset -c 3,9 python benchmarks/cores.py      on these cores

Spans of both ways are made in turns; shown are the fastest of each. These are wall-clock times: nothing else should run
beside it.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np

import sottovoce as sv
from sottovoce.graphs.circulant import Circulant
from sottovoce.graphs.graph import Graph
from sottovoce.methods.base import Method
from sottovoce.simulation import team as teams
from sottovoce.simulation.crew import Crew
from sottovoce.simulation.records import Plan
from sottovoce.simulation.running import Runner
from sottovoce.simulation.state import State
from sottovoce.simulation.team import team_for

SPAN, ROUNDS = 2**17, 60


def measure(graph: Graph, method: Method) -> tuple[float, float, bool]:
    """Seconds a step alone and together, and whether both end with the same values."""
    values = np.random.default_rng(1).random(graph.num_nodes)
    begun = sv.simulate(graph, values, method, num_steps=1, seed=1, record=[], threads=1, progress=False)
    alone, together = State.after(begun, Plan(range(0))), State.after(begun, Plan(range(0)))
    teams.LEAST_NODES = 2  # also where simulate would not try
    crew = Crew(2)
    runner = Runner(alone, crew, together=0)
    team = team_for(together, 10**9, crew)
    if team is None:
        raise SystemExit("two cores are not used here: the system has no sched_yield")
    sheet = runner.sheet(*runner.no_records)
    team.prepare(sheet)
    best = [float("inf"), float("inf")]
    with crew:
        for step in range(1, 1 + ROUNDS * SPAN, SPAN):
            ways = (
                partial(runner.drive, np.array([0]), (0, 1), step, step + SPAN, runner.no_records),
                partial(team.work, step, step + SPAN, sheet),
            )
            for way, make in enumerate(ways):
                began = time.perf_counter()
                make()
                best[way] = min(best[way], (time.perf_counter() - began) / SPAN)
    return best[0], best[1], bool(np.array_equal(alone.tables, together.tables))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=float, nargs="*", default=[1e5, 1e6, 1e7])
    given = parser.parse_args()
    for num_nodes in map(int, given.nodes):
        graph = Circulant.random(num_nodes, 8 if num_nodes >= 10**7 else 16, seed=1).to_graph()
        for method in (sv.StandardGossip(), sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)):
            alone, together, same = measure(graph, method)
            verdict = "same bits" if same else "OTHER BITS"
            figures = f"{1e9 * alone:6.1f} ns alone, {1e9 * together:6.1f} ns on two cores"
            ratio = f"{alone / together:.2f} times"
            print(f"{num_nodes:>10} nodes, {method.name:<16} {figures}: {ratio}, {verdict}", flush=True)


if __name__ == "__main__":
    main()
