"""The GPU engine: ensembles, one huge graph, and a billion nodes to a relative error of 1e-3.

    python benchmarks/gpu.py [--billion] [--out FILE.json]

Prints steps a second (whole launches, after a warm-up) and writes the same as JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.graphs.circulant import Circulant
from sottovoce.simulation.gpu import require_gpu
from sottovoce.simulation.gpu.ensemble import Ensemble
from sottovoce.simulation.gpu.huge import HugeRun, simulate_huge
from sottovoce.simulation.records import Plan
from sottovoce.simulation.state import State

NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)


def ensemble(replicas: int = 100_000, num_steps: int = 50_000) -> list[dict[str, Any]]:
    """RGG(100): the kernel alone, and the public call as people make it, set-up and copies included."""
    graph = sv.graphs.random_geometric(100, seed=26)
    values = np.random.default_rng(0).random(100)

    def call(**more: Any) -> sv.Solution:
        return sv.simulate(graph, values, NOISY, num_steps=num_steps, seed=1, replicas=replicas, device="gpu", **more)

    run, what = call(), f"RGG(100), {replicas} replicas, {num_steps} steps"
    nothing = Plan(range(0))
    kernel = Ensemble(State.empty(run, nothing), nothing)

    def alone() -> None:
        kernel.run(kernel.at + num_steps, slice(0, 0))
        kernel.stream.synchronize()

    ways = {
        "kernel alone": alone,
        "simulate, default recording": call,
        "simulate, watched for stop_at": lambda: call(stop_at=1e-300),
    }
    rows = [
        {"what": f"{what}: {name}", "steps_per_second": replicas * num_steps / fastest(way)}
        for name, way in ways.items()
    ]
    rows[1]["wanted"] = "≥ 15·10⁹"
    return rows


def one(n: int = 10**7, num_steps: int = 5 * 10**8) -> dict[str, Any]:
    """One run through the public call on a stored graph, with default recording."""
    graph, values = sv.graphs.cycle(n), np.random.default_rng(0).random(n)
    seconds = fastest(lambda: sv.simulate(graph, values, NOISY, num_steps=num_steps, seed=1, device="gpu"))
    what = f"one run, cycle({n:.0e}), simulate, default recording"
    return {"what": what, "steps_per_second": num_steps / seconds, "wanted": "≥ 0.5·10⁹"}


def fastest(way: Callable[[], object], times: int = 3) -> float:
    """Seconds of the fastest of a few calls, after one that compiles; what a call returns is freed in between."""
    way()
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        kept = way()
        seconds.append(time.perf_counter() - began)
        del kept
    return min(seconds)


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
    rows = [*ensemble(), one(), huge(10**6), huge(10**8)]
    if arguments.billion:
        cupy.get_default_memory_pool().free_all_blocks()
        rows.append(billion())
    for row in rows:
        print({k: v for k, v in row.items() if k not in ("steps", "relative_error")})
    if arguments.out:
        arguments.out.write_text(json.dumps({"device": properties["name"].decode(), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
