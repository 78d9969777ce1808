"""Simulation speed and memory: the table of `sottovoce bench --large`, what recording costs, memory of 10⁷ nodes."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np

import sottovoce as sv

MEMORY = """
import resource, numpy as np, sottovoce as sv
graph = sv.graphs.random_regular(10**7, 8, seed=1)
run = sv.simulate(graph, np.random.default_rng(0).random(10**7), sv.NoiseInsertion(1.0, 0.9), num_steps=10**7, seed=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, run.mass_error.max(), graph.num_edges)
"""


def bench_table() -> None:
    """Print ratios against a NumPy loop and the floor."""
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce", "bench", "--large", "--json"], capture_output=True, text=True, check=True
    )
    table = json.loads(done.stdout)
    print("\n", table["machine"])
    for row in table["rows"]:
        print(f"{row['name']:<55} {row['nanoseconds']:>10.1f} ns   {row['ratio']:>8.2f} x {row['compared_with']}")


def bench_memory() -> None:
    """Print the peak memory of 10⁷ nodes and 4·10⁷ edges."""
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    gibibytes, mass, edges = (float(x) for x in done.stdout.split())
    print(f"\n10^7 nodes, {edges:.0f} edges: peak {gibibytes:.2f} GiB, mass error {mass:.1e}")


def bench_recording(rounds: int = 8) -> None:
    """Print nanoseconds of CPU a step, best of interleaved rounds, by what is recorded."""
    method = sv.NoiseInsertion(1.0, 0.9)
    ways = {
        "nothing recorded, 10^6 steps": {"num_steps": 10**6, "record": []},
        "nothing recorded, 50 000 steps": {"num_steps": 50_000, "record": []},
        "by default, 50 000 steps": {"num_steps": 50_000},
        "every step, 10^6 steps": {"num_steps": 10**6, "record": 10**6},
        "watched for stopping, 10^6 steps": {"num_steps": 10**6, "stop_at": 1e-300},
    }
    for graph in (sv.graphs.random_geometric(100, seed=1), sv.graphs.random_regular(10**5, 16, seed=1)):
        values = np.random.default_rng(0).random(graph.num_nodes)
        best = dict.fromkeys(ways, np.inf)
        for _ in range(rounds):
            for name, keywords in ways.items():
                began = time.process_time()
                sv.simulate(graph, values, method, seed=1, threads=1, **keywords)
                best[name] = min(best[name], (time.process_time() - began) / keywords["num_steps"] * 1e9)
        print(f"\n{graph.name}")
        for name, nanoseconds in best.items():
            print(f"{name:<40} {nanoseconds:>8.1f} ns a step")


if __name__ == "__main__":
    bench_table()
    bench_recording()
    bench_memory()
