"""Simulation speed and memory: the table of `sottovoce bench --large`, and the memory of a graph of 10⁷ nodes."""

from __future__ import annotations

import json
import subprocess
import sys

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


if __name__ == "__main__":
    bench_table()
    bench_memory()
