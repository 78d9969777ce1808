"""One run of a large network on several cores: nanoseconds a step alone and together, and whether the bits agree.

    python benchmarks/cores.py 2                      also 4, 8, 16
    python benchmarks/cores.py 16 --nodes 1e6 1e7     some sizes

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
from sottovoce.methods.base import Method
from sottovoce.simulation import team as teams
from sottovoce.simulation.records import Plan
from sottovoce.simulation.running import Runner, _Crew
from sottovoce.simulation.state import State
from sottovoce.simulation.team import team_for

SPAN, ROUNDS, DEGREE = 200_000, 60, 16


def measure(num_nodes: int, method: Method, cores: int) -> tuple[float, float, bool]:
    """Seconds a step alone and together, and whether both end with the same values."""
    graph = Circulant.random(num_nodes, DEGREE, seed=1).to_graph()
    values = np.random.default_rng(1).random(num_nodes)
    begun = sv.simulate(graph, values, method, num_steps=1, seed=1, record=[], threads=1, progress=False)
    alone, together = State.after(begun, Plan(range(0))), State.after(begun, Plan(range(0)))
    teams.LEAST_NODES = 2  # also where simulate would not try
    crew = _Crew(cores)
    runner = Runner(alone, crew, together=0)
    team = team_for(together, 10**9, crew)
    if team is None:
        raise SystemExit("several cores are not used here: one core, or a system without sched_yield")
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
    parser.add_argument("cores", type=int)
    parser.add_argument("--nodes", type=float, nargs="*", default=[1e5, 1e6, 1e7])
    given = parser.parse_args()
    for num_nodes in map(int, given.nodes):
        for method in (sv.StandardGossip(), sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)):
            alone, together, same = measure(num_nodes, method, given.cores)
            verdict = "same bits" if same else "OTHER BITS"
            figures = f"{1e9 * alone:6.1f} ns alone, {1e9 * together:6.1f} ns on {given.cores} cores"
            print(f"{num_nodes:>10} nodes, {method.name:<16} {figures}: {alone / together:.2f} times, {verdict}")


if __name__ == "__main__":
    main()
