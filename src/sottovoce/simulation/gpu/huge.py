"""One huge graph on a GPU, in exactly sequential order: batches of steps, each applied when its turn comes.

The graph is stored, or a :class:`~sottovoce.graphs.Circulant` whose edges are computed: then a billion
nodes take 24 bytes each and nothing else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, Unsupported
from ...foundation.interrupting import Interrupt
from ...foundation.numbers import NEGLIGIBLE, common_or
from ...foundation.progress import Progress, Report
from ...graphs.circulant import Circulant
from ...graphs.graph import Graph
from ...graphs.values import LARGEST_VALUE
from ...methods.base import VALUE, Array, Method
from ...methods.noise_insertion import AMPLITUDE, DECAY, OUTSTANDING
from ..random.aliases import AliasTable
from ..random.streams import check_seed
from ..records import Plan
from ..solution import Solution
from ..state import State
from . import compile_kernels, has_noise, require_gpu

__all__ = ["HugeResult", "HugeRun", "advance", "simulate_huge"]

BLOCK = 256
CLAIM_BITS = 32
CLEAR = 0xFFFFFFFF


@dataclass(frozen=True)
class HugeResult:
    """The curve of one huge run, and what it cost."""

    graph: Circulant
    method: Method
    seed: int
    steps: npt.NDArray[np.int64]
    relative_error: Array
    mass_error: Array
    """|Σ x − Σ u − Σ c| / n at the recorded steps."""
    seconds: float
    steps_per_second: float
    device_bytes: int
    passes_per_batch: float


def amplitude_table(method: Method) -> Array:
    """σφ^t for t = 0, 1, … until it is negligible, as the running product that the CPU forms."""
    if not has_noise(method):
        return np.empty(0)
    amplitude, decay = (getattr(method, name) for name in ("noise_std", "noise_decay"))
    if not isinstance(amplitude, float) or not isinstance(decay, float):
        raise Unsupported("one huge run on the GPU takes one noise_std and one noise_decay for all nodes")
    amplitudes: list[float] = []
    while amplitude >= NEGLIGIBLE and amplitude > 0.0:
        amplitudes.append(amplitude)
        amplitude *= decay
        if len(amplitudes) > 2**24:
            raise InvalidParameter(f"noise_decay must be below 0.99998 for one huge run on the GPU, got {decay}")
    return np.array(amplitudes)


class HugeRun:
    """The state of one run on the device.

    Parameters
    ----------
    graph
        Stored or implicit.
    method
        Noise insertion with one σ and one φ, or standard gossip.
    seed
        As in :func:`sottovoce.simulate`.
    values
        ``(n,)`` private values; ``None``: uniform on [0, 1), made on the device from the seed.
    """

    def __init__(
        self,
        graph: Graph | Circulant,
        method: Method,
        seed: int,
        *,
        values: Array | None = None,
        aliases: AliasTable | None = None,
    ) -> None:
        cupy = self.cupy = require_gpu()
        self.graph, self.seed = graph, np.uint64(check_seed(seed))
        self.n, self.m = graph.num_nodes, graph.num_edges
        self.step = 0
        self.batch = max(1, min(self.n // 16, 2**26))
        self.batches, self.passes = 0, 0
        self._shift = max(1, (self.batch - 1).bit_length())
        self._epochs = 2 ** (CLAIM_BITS - self._shift) - 1
        self._epoch = self._epochs
        module = compile_kernels("huge")
        self._kernels = {
            name: module.get_function(name) for name in ("start", "clear_claims", "claim", "apply", "measure")
        }
        self.amplitudes = cupy.asarray(np.append(amplitude_table(method), 0.0))
        null = np.uint64(0)
        self.edges: Any = null
        if isinstance(graph, Circulant):
            device_offsets = cupy.ndarray(len(graph.offsets), cupy.uint64, memptr=module.get_global("offsets"))
            device_offsets.set(np.array(graph.offsets, dtype=np.uint64))
        else:
            self.edges = cupy.asarray(np.ascontiguousarray(graph.edges, dtype=np.int32))
        weighted = aliases is not None and len(aliases.accept) > 0
        self.accept: Any = cupy.asarray(aliases.accept) if aliases is not None and weighted else null
        self.alias: Any = cupy.asarray(aliases.alias) if aliases is not None and weighted else null
        self.state = cupy.zeros((self.n, 2), dtype=cupy.float64)
        self.meta = cupy.zeros((self.n, 2), dtype=cupy.uint32)
        self.pending = [cupy.empty(self.batch, dtype=cupy.uint32) for _ in range(2)]
        self.count = cupy.zeros(1, dtype=cupy.uint32)
        self._launch("start", 132 * 16, (self.state, self.meta, np.uint64(self.n), self.seed))
        if values is not None:
            self.state[:, 0] = cupy.asarray(values)
        total = self.sums(0.0)[1]
        self.mean = total / self.n
        self.mass = total
        self.scale = self.sums(self.mean)[0] or 1.0

    @property
    def device_bytes(self) -> int:
        """Memory held on the device."""
        held = [self.state, self.meta, *self.pending, self.amplitudes]
        stored = 0 if isinstance(self.graph, Circulant) else int(self.edges.nbytes)
        return stored + sum(int(array.nbytes) for array in held)

    def _launch(self, name: str, blocks: int, arguments: tuple[Any, ...]) -> None:
        self._kernels[name]((blocks,), (BLOCK,), arguments)

    def advance(self, until: int) -> None:
        """Run to step ``until``, batch by batch."""
        while self.step < until:
            self._run_batch(min(self.batch, until - self.step))

    def _run_batch(self, size: int) -> None:
        """One batch: claim and apply until nothing is pending."""
        count, current = size, np.uint64(0)
        turn = 0
        while count:
            if self._epoch == 0:
                self._launch("clear_claims", 132 * 16, (self.meta, np.uint64(self.n)))
                self._epoch = self._epochs
            self._epoch -= 1
            base = np.uint32(self._epoch << self._shift)
            where = (
                np.uint64(self.n),
                np.uint64(self.m),
                self.edges,
                self.accept,
                self.alias,
                np.uint64(self.step),
                self.seed,
            )
            blocks = -(-count // BLOCK)
            self._launch("claim", blocks, (current, np.uint32(count), base, self.meta, *where))
            self.count.fill(0)
            amplitudes = (self.amplitudes, np.uint32(len(self.amplitudes)))
            self._launch(
                "apply",
                blocks,
                (
                    current,
                    np.uint32(count),
                    base,
                    self.state,
                    self.meta,
                    self.pending[turn],
                    self.count,
                    *amplitudes,
                    *where,
                ),
            )
            count = int(self.count.get()[0])
            current = self.pending[turn]
            turn = 1 - turn
            self.passes += 1
        self.step += size
        self.batches += 1

    def sums(self, mean: float) -> tuple[float, float]:
        """Σ (x − mean)² and Σ x − Σ u, each correct to rounding."""
        blocks = 132 * 8
        partial = self.cupy.empty((blocks, 4))
        self._launch("measure", blocks, (self.state, np.uint64(self.n), np.float64(mean), partial))
        parts = partial.get()
        return math.fsum(parts[:, :2].ravel().tolist()), math.fsum(parts[:, 2:].ravel().tolist())

    def error(self) -> tuple[float, float, float]:
        """Squared error, relative error, and |mass − Σ private values|."""
        squared, mass = self.sums(self.mean)
        return squared, squared / self.scale, abs(mass - self.mass)

    def values(self) -> Array:
        """``(n,)`` current values, copied to the host."""
        return np.asarray(self.state[:, 0].get())

    def outstanding_noise(self) -> Array:
        """``(n,)`` outstanding noise, copied to the host."""
        return np.asarray(self.state[:, 1].get())

    def table(self, method: Method) -> Any:
        """``(n, fields)`` the node table of the method, on the device."""
        table = self.cupy.empty((self.n, method.num_fields))
        table[:, VALUE] = self.state[:, 0]
        if has_noise(method):
            table[:, OUTSTANDING] = self.state[:, 1]
            table[:, AMPLITUDE] = self.amplitudes[self.cupy.minimum(self.meta[:, 1], len(self.amplitudes) - 1)]
            table[:, DECAY] = method.noise_decay  # type: ignore[attr-defined]
        return table

    def activations(self) -> npt.NDArray[np.uint32]:
        """``(n,)`` how often each node took part."""
        return np.asarray(self.meta[:, 1].get())


def advance(state: State, end: int, plan: Plan, *, stop_at: float | None, report: Report | bool | None) -> Solution:
    """Run the only replica of ``state`` to step ``end``; with ``stop_at`` its error is looked at every n/2 steps."""
    began = time.perf_counter()
    setup, recorder = state.setup, state.recorder
    run = HugeRun(setup.graph, setup.method, setup.seed, values=_start(state), aliases=setup.aliases)
    run.mean = float(common_or(run.mean, setup.private_values.ravel()))  # with seals the values differ at the start
    wanted = None if stop_at is None else stop_at * setup.scale
    look = 64 * run.batch if wanted is None else max(1, run.n // 2)
    going = True
    with Interrupt() as interrupt, Progress(end, "simulating on the GPU", report=report) as progress:
        while going:
            if run.step == plan[recorder.count]:
                _note(run, state)
            state.stopped[:] = wanted is not None and run.step % look == 0 and run.sums(run.mean)[0] <= wanted
            going = run.step < end and not state.stopped[0] and not interrupt.seen()
            if going:
                run.advance(min(end, plan[recorder.count], run.step + look - run.step % look))
                progress.at(run.step)
    if recorder.last != run.step < end:
        _note(run, state)
    table = run.table(setup.method)
    table.get(out=state.tables[0, 0])
    state.steps_done[:] = run.step
    state.elapsed += time.perf_counter() - began
    finite = bool(run.cupy.isfinite(table).all() and (run.cupy.abs(table[:, VALUE]) <= LARGEST_VALUE).all())
    return state.solution(interrupted=run.step < end and not state.stopped[0], finite=finite)


def _start(state: State) -> Array:
    """The values before the first step, with shared edge noise if the method has any."""
    if state.setup.method.edge_noise_field is None:
        return state.setup.private_values.ravel()
    state.fill()
    return state.tables[0, 0, :, VALUE].copy()


def _note(run: HugeRun, state: State) -> None:
    """Record where the run is."""
    squared, drifts = state.recorder.row(run.step)
    squared[0], mass = run.sums(run.mean)
    drifts[0] = state.setup.drift(np.array([mass]))


def simulate_huge(
    graph: Circulant,
    method: Method,
    *,
    seed: int,
    num_steps: int,
    every: int | None = None,
    stop_at: float | None = None,
) -> Iterator[HugeResult]:
    """Run on an implicit graph; yield the curve so far at every recorded step, the last one complete.

    Parameters
    ----------
    graph, method, seed
        See :class:`HugeRun`; private values are uniform on [0, 1).
    num_steps
        Steps at most.
    every
        Steps between records; default one per node.
    stop_at
        Stop at the first record where the relative error is at most this.
    """
    run = HugeRun(graph, method, seed)
    every = every or graph.num_nodes
    records = [(0, 1.0, 0.0)]
    began = time.perf_counter()
    while run.step < num_steps:
        run.advance(min(num_steps, run.step + every))
        _, relative, mass = run.error()
        records.append((run.step, relative, mass / run.n))
        seconds = time.perf_counter() - began
        table = np.array(records)
        yield HugeResult(
            graph=graph,
            method=method,
            seed=seed,
            steps=table[:, 0].astype(np.int64),
            relative_error=table[:, 1],
            mass_error=table[:, 2],
            seconds=seconds,
            steps_per_second=run.step / seconds,
            device_bytes=run.device_bytes,
            passes_per_batch=run.passes / run.batches,
        )
        if stop_at is not None and relative <= stop_at:
            return
