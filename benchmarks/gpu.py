"""The GPU engine: ensembles, one huge graph, and a billion nodes to a relative error of 1e-3.

    python benchmarks/gpu.py [--billion] [--out FILE.json]

Prints steps a second (whole launches, after a warm-up) and writes the same as JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.graphs.circulant import Circulant
from sottovoce.simulation.gpu import require_gpu
from sottovoce.simulation.gpu.huge import HugeRun, simulate_huge

NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)


def ensemble(rounds: int = 4, num_steps: int = 20_000) -> dict[str, Any]:
    """RGG(100), as many replicas as fill the device several times over."""
    from sottovoce.simulation.gpu.ensemble import Ensemble
    from sottovoce.simulation.random.aliases import alias_table
    from sottovoce.simulation.solution import Setup
    from sottovoce.simulation.state import State

    graph = sv.graphs.random_geometric(100, seed=26)
    values = np.random.default_rng(0).random(100)
    replicas = 132 * 96 * rounds
    setup = Setup(
        graph=graph, method=NOISY, private_values=values, seed=1, replicas=replicas,
        edge_probabilities=None, aliases=alias_table(None, graph.num_edges),
    )  # fmt: skip
    work = Ensemble(State.at_start(setup, 0))
    work.run(0, 64)
    times = []
    for k in range(3):
        began = time.perf_counter()
        work.run(64 + k * num_steps, 64 + (k + 1) * num_steps)
        times.append(time.perf_counter() - began)
    rate = replicas * num_steps / min(times)
    return {"what": f"ensemble RGG(100), {replicas} replicas, block {work.block}", "steps_per_second": rate}


def huge(n: int, degree: int = 32) -> dict[str, Any]:
    """One run on an implicit graph of n nodes."""
    run = HugeRun(Circulant.random(n, degree, seed=1), NOISY, 1)
    run.advance(run.batch * 2)
    before, steps = run.passes, run.batch * 40
    began = time.perf_counter()
    run.advance(run.step + steps)
    seconds = time.perf_counter() - began
    return {
        "what": f"one run, n = {n:.0e}, degree {degree}",
        "steps_per_second": steps / seconds,
        "device_GiB": run.device_bytes / 2**30,
        "passes_per_batch": (run.passes - before) / 40,
    }


def billion(n: int = 10**9, degree: int = 32) -> dict[str, Any]:
    """A whole private consensus run to relative error 1e-3, noise of twelve times the variance of the values."""
    result = None
    for result in simulate_huge(Circulant.random(n, degree, seed=1), NOISY, seed=1, num_steps=10**12, stop_at=1e-3):
        print(
            f"  step {result.steps[-1]:.2e}  relative error {result.relative_error[-1]:.3e}  {result.seconds:.1f} s",
            flush=True,
        )
    assert result is not None
    return {
        "what": f"consensus of {n:.0e} nodes to 1e-3, degree {degree}",
        "steps_per_second": result.steps_per_second,
        "seconds": result.seconds,
        "device_GiB": result.device_bytes / 2**30,
        "passes_per_batch": result.passes_per_batch,
        "largest_mass_error_per_node": float(result.mass_error.max()),
        "steps": result.steps.tolist(),
        "relative_error": result.relative_error.tolist(),
    }


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--billion", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    cupy = require_gpu()
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    rows = [ensemble(), huge(10**6), huge(10**8)]
    if arguments.billion:
        cupy.get_default_memory_pool().free_all_blocks()
        rows.append(billion())
    for row in rows:
        print({k: v for k, v in row.items() if k not in ("steps", "relative_error")})
    if arguments.out:
        arguments.out.write_text(json.dumps({"device": properties["name"].decode(), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
