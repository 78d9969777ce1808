"""A sweep of a hundred thousand small runs on the workers of this machine: time, space, and reading it back.

python benchmarks/bench_sweeps.py
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rows import main

import sottovoce as sv
from sottovoce.experiments.bench import Measurement

RUNS = 100_000


def rows(runs: int = RUNS) -> Iterator[Measurement]:
    """1 000 steps of noise insertion on ten nodes, 51 records, for many seeds."""
    spec = {
        "axes": {"graph": ["cycle:10"], "noise_std": [1.0], "noise_decay": [0.5, 0.9], "seed": list(range(runs // 2))},
        "num_steps": 1000,
        "record": 50,
    }
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), _processor_seconds()
        result = sv.sweep(spec, store=folder, progress=False)
        wall, cpu = time.perf_counter() - wall, _processor_seconds() - cpu
        yield Measurement(f"a sweep of {runs:,} runs", wall, wall, unit="s (wall)", wanted="< 300")
        yield Measurement("the same, processor time of all its processes", cpu, cpu, unit="CPU s")
        megabytes = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
        yield Measurement("its dataset", megabytes, megabytes, unit="MB", wanted="< 100")
        times = []
        for _ in range(3):
            began = time.process_time()
            result.table()
            times.append(time.process_time() - began)
        yield Measurement("reading it back as one table", min(times), max(times), unit="CPU s", wanted="< 5")


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    main(rows())
