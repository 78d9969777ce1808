"""Hundreds of thousands of replicas of a small graph: one GPU thread each, nodes in shared memory."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter
from ...foundation.progress import Progress, Report
from ...methods.base import VALUE
from ...methods.noise_insertion import AMPLITUDE, DECAY, OUTSTANDING
from ..solution import Solution
from ..state import State
from . import compile_kernels, has_noise, require_gpu

__all__ = ["Ensemble", "advance"]

UNROLL = 6
"""Steps whose draws are prepared together by one thread."""
LAUNCH = 2**33
"""Steps over all threads in one launch: a fraction of a second, so that Ctrl-C and progress are looked at."""


def advance(state: State, end: int, record: npt.NDArray[np.int64], *, report: Report | bool | None) -> Solution:
    """Run all replicas of ``state`` to step ``end``, recording at ``record``."""
    ensemble = Ensemble(state)
    began = time.perf_counter()
    at = begin = state.num_steps
    wanted = set(record.tolist())
    per_launch = max(UNROLL, LAUNCH // ensemble.threads)
    with Progress(end - begin, "simulating on the GPU", report=report) as progress:
        for stop in sorted({at, *wanted, end}):
            while at < stop:
                until = min(stop, at + per_launch)
                ensemble.run(at, until)
                at = until
                progress.at(at - begin)
            if at in wanted:
                ensemble.measure(at)
    ensemble.write_back()
    state.steps_done[:] = at
    state.elapsed += time.perf_counter() - began
    return state.solution()


class Ensemble:
    """Tables on the device, laid out [node][thread]; a thread is one replica and coordinate."""

    def __init__(self, state: State) -> None:
        self.cupy = require_gpu()
        setup = state.setup
        self.state, self.setup = state, setup
        self.noisy = has_noise(setup.method)
        self.threads = setup.replicas * state.num_coordinates
        self.nodes = setup.graph.num_nodes
        self._check_memory()
        self.values = self._upload(VALUE)
        self.outstanding = self._upload(OUTSTANDING) if self.noisy else None
        self.amplitude = self._upload(AMPLITUDE) if self.noisy else None
        self.decay = self.cupy.asarray(state.tables[0, 0, :, DECAY]) if self.noisy else None
        self.edges = self.cupy.asarray(np.ascontiguousarray(setup.graph.edges, dtype=np.int32))
        uniform = len(setup.aliases.accept) == 0
        self.accept = None if uniform else self.cupy.asarray(setup.aliases.accept)
        self.alias = None if uniform else self.cupy.asarray(setup.aliases.alias)
        self.block, self.shared = self._block_size()
        macros = {
            "NODES": self.nodes,
            "THREADS": self.block,
            "UNROLL": UNROLL,
            "NOISY": int(self.noisy),
            "SHARED": int(self.shared > 0),
            "UNIFORM": int(uniform),
        }
        module = compile_kernels("ensemble", *(f"{key}={value}" for key, value in macros.items()))
        self._advance, self._measure = module.get_function("advance"), module.get_function("measure")
        if self.shared:
            self._advance.max_dynamic_shared_size_bytes = self.shared

    def _check_memory(self) -> None:
        needed = self.threads * self.nodes * 8 * (3 if self.noisy else 1) * 2
        free, _ = self.cupy.cuda.runtime.memGetInfo()
        if needed > free:
            raise InvalidParameter(
                f"replicas need {needed / 2**30:.1f} GiB on the device, which has {free / 2**30:.1f} GiB free"
            )

    def _upload(self, column: int) -> Any:
        table = self.cupy.asarray(np.ascontiguousarray(self.state.tables[..., column]))
        return self.cupy.ascontiguousarray(table.reshape(self.threads, self.nodes).T)

    def _block_size(self) -> tuple[int, int]:
        """Threads per block and bytes of shared memory; no shared memory when 32 threads' nodes do not fit."""
        limit = int(self.cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])
        per_thread = self.nodes * 8 * (3 if self.noisy else 1)
        block = min(limit // per_thread // 32 * 32, 256)
        return (block, block * per_thread) if block >= 32 else (128, 0)

    def run(self, first: int, last: int) -> None:
        """All threads from step ``first`` to ``last``."""
        null = np.uint64(0)
        self._advance(
            (-(-self.threads // self.block),),
            (self.block,),
            (
                self.values,
                null if self.outstanding is None else self.outstanding,
                null if self.amplitude is None else self.amplitude,
                null if self.decay is None else self.decay,
                self.edges,
                np.uint64(self.setup.graph.num_edges),
                null if self.accept is None else self.accept,
                null if self.alias is None else self.alias,
                np.uint64(first),
                np.uint64(last),
                np.uint64(self.setup.seed),
                np.uint32(self.threads),
                np.uint32(self.state.num_coordinates),
                np.uint32(0),
            ),
            shared_mem=self.shared,
        )
        self.cupy.cuda.get_current_stream().synchronize()

    def measure(self, step: int) -> None:
        """Record ‖x − x*‖² per replica, and Σ x − Σ u per replica and coordinate."""
        coordinates = self.state.num_coordinates
        mean = self.cupy.asarray(np.atleast_1d(self.setup.true_mean))
        squared, mass = self.cupy.empty(self.threads), self.cupy.empty(self.threads)
        self._measure(
            (-(-self.threads // 256),),
            (256,),
            (
                self.values,
                np.uint64(0) if self.outstanding is None else self.outstanding,
                mean,
                squared,
                mass,
                np.uint32(self.threads),
                np.uint32(coordinates),
                np.uint32(self.nodes),
            ),
        )
        errors, masses = self.state.recorder.row(step)
        errors[:] = squared.get().reshape(-1, coordinates).sum(axis=1)
        masses[:] = mass.get().reshape(-1, coordinates)

    def write_back(self) -> None:
        """Copy the tables to the host."""
        columns = [(VALUE, self.values), (OUTSTANDING, self.outstanding), (AMPLITUDE, self.amplitude)]
        for column, table in columns:
            if table is not None:
                self.state.tables[..., column] = table.T.get().reshape(self.state.tables.shape[:-1])
