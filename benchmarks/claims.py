"""Would a threaded single run by claims pay on two cores? Time claiming alone against a whole sequential run.

    python benchmarks/claims.py

If cutting batches into passes, on one core and without applying anything, already costs as much as half a
sequential step, two cores cannot win.
"""

from __future__ import annotations

import time

import numpy as np

import sottovoce as sv
from sottovoce.testing.claims import passes


def main(num_steps: int = 4_000_000) -> None:
    """Print nanoseconds a step for both, and their ratio."""
    for n, degree in ((10**5, 16), (10**6, 16)):
        graph = sv.graphs.random_regular(n, degree, seed=1)
        values = np.random.default_rng(0).random(n)
        method = sv.NoiseInsertion(1.0, 0.9)
        sv.simulate(graph, values, method, num_steps=1, seed=1)
        run = sv.simulate(graph, values, method, num_steps=num_steps, seed=1, record=[], threads=1)
        ends = graph.edges[run.fired_edges()]
        batch = n // 16
        passes(ends[:batch], n)
        began = time.perf_counter()
        for first in range(0, num_steps, batch):
            passes(ends[first : first + batch], n)
        claiming = time.perf_counter() - began
        print(
            f"n = {n:,}: sequential {run.elapsed / num_steps * 1e9:.1f} ns a step, claiming alone "
            f"{claiming / num_steps * 1e9:.1f} ns, ratio {claiming / run.elapsed:.2f}"
        )


if __name__ == "__main__":
    main()
