"""What a run leaves behind: values, recorded errors, status, and all that is needed to go on from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, MissingDependency, Unsupported
from ..graphs.graph import Graph
from ..methods.base import VALUE, Array, BlockMethod, Method, PairMethod, PushMethod, RoundMethod
from .random.aliases import AliasTable

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

__all__ = ["Solution", "Status"]


class Status(StrEnum):
    """How a run ended. Failing to converge is data, not an exception."""

    COMPLETED = "completed"
    """All steps were run."""
    STOPPED_AT_ERROR = "stopped at error"
    """Every replica reached the relative error it was to stop at."""
    INTERRUPTED = "interrupted"
    """Ctrl-C; what was done until then is here and can be resumed."""
    DIVERGED = "diverged"
    """Some value is no longer a finite number."""
    OUTSIDE_GUARANTEE = "completed outside the guarantee"
    """All steps were run, with a setting that is allowed but not covered by the method's proof; ``notes`` says why."""


def _run_here(tasks: Sequence[Callable[[], object]]) -> None:
    for task in tasks:
        task()


@dataclass(eq=False, repr=False)
class Solution:
    """The result of :func:`sottovoce.simulate`.

    Shapes below are for one replica of scalar data; several replicas add an axis in front, vector
    data one at the end of those that are per node.

    Attributes
    ----------
    graph, method, private_values, seed, replicas, edge_probabilities
        What was run. A Solution belongs to the researcher who chose the private values: it keeps them,
        but never prints them.
    steps_done
        ``(replicas,)`` steps each replica ran; they differ only after stopping early.
    status
        How the run ended.
    notes
        Why this setting is outside what is proved for the method, one sentence each; usually none.
    elapsed
        Seconds spent running.
    """

    graph: Graph
    method: Method
    private_values: Array
    seed: int
    replicas: int
    edge_probabilities: Array | None
    aliases: AliasTable
    tables: Array
    steps_done: npt.NDArray[np.int64]
    stopped: npt.NDArray[np.bool_]
    status: Status = Status.COMPLETED
    elapsed: float = 0.0
    notes: tuple[str, ...] = ()
    _steps: list[int] = field(default_factory=list)
    _squared: list[Array] = field(default_factory=list)
    _masses: list[Array] = field(default_factory=list)

    @classmethod
    def at_start(
        cls,
        *,
        graph: Graph,
        method: Method,
        private_values: Array,
        seed: int,
        replicas: int,
        edge_probabilities: Array | None,
        aliases: AliasTable,
    ) -> Solution:
        """Before the first step."""
        columns = private_values.reshape(graph.num_nodes, -1)
        tables = _aligned((replicas, columns.shape[1], graph.num_nodes, method.num_fields))
        for c, column in enumerate(columns.T):
            tables[:, c] = method.initial(graph, column)
        if method.edge_noise_field is not None:
            from .kinds.round import add_edge_noise

            std = method.edge_noise_std(graph)
            add_edge_noise(tables, method.edge_noise_field, std, graph.edges, np.uint64(seed))
        return cls(
            graph=graph,
            method=method,
            private_values=private_values,
            seed=seed,
            replicas=replicas,
            edge_probabilities=edge_probabilities,
            aliases=aliases,
            tables=tables,
            steps_done=np.zeros(replicas, dtype=np.int64),
            stopped=np.zeros(replicas, dtype=bool),
            notes=_notes(graph, method, edge_probabilities),
        )

    def copy(self) -> Solution:
        """The same run with tables of its own, so that going on from it leaves this one alone."""
        tables = _aligned(self.tables.shape)
        tables[...] = self.tables
        return replace(
            self,
            tables=tables,
            steps_done=self.steps_done.copy(),
            stopped=self.stopped.copy(),
            _steps=list(self._steps),
            _squared=list(self._squared),
            _masses=list(self._masses),
        )

    def without_records(self) -> Solution:
        """The same state with no recorded errors, for going on in many short pieces without copying them each time."""
        return replace(self, _steps=[], _squared=[], _masses=[])

    # -- written by the engine -----------------------------------------------------------------

    def record(
        self,
        step: int,
        active: npt.NDArray[np.int64],
        stop_at: float | None,
        run: Callable[[Sequence[Callable[[], object]]], None] = _run_here,
        shares: int = 1,
    ) -> None:
        """Compute the error of the active replicas at ``step`` and mark those that may stop."""
        squared, masses = self._measure(active, run, shares)
        self.append_record(step, squared, masses)
        if stop_at is not None:
            self.stopped |= squared <= stop_at * self._scale

    def append_record(self, step: int, squared: Array, masses: Array) -> None:
        """Keep what an executor measured: ‖x − x*‖² per replica, Σ x − Σ u per replica and coordinate."""
        self._steps.append(step)
        self._squared.append(squared)
        self._masses.append(masses)

    def _measure(
        self, active: npt.NDArray[np.int64], run: Callable[[Sequence[Callable[[], object]]], None], shares: int
    ) -> tuple[Array, Array]:
        from .random.kernels import error_and_mass

        squared = np.full(self.replicas, np.nan)
        masses = np.full((self.replicas, self.num_coordinates), np.nan)
        consensus = np.atleast_1d(self.true_mean)
        mass, outstanding = self.method.mass_field, self.method.outstanding_field
        outstanding = -1 if outstanding is None else outstanding
        tables = self._settled(active)
        run(
            [
                lambda part=part: error_and_mass(tables, part, consensus, mass, outstanding, squared, masses)  # type: ignore[misc]
                for part in np.array_split(active, shares)
            ]
        )
        return squared, masses

    def finish(self, *, interrupted: bool) -> None:
        """Set the status once the run has ended."""
        if not np.isfinite(self.tables).all():
            self.status = Status.DIVERGED
        elif interrupted:
            self.status = Status.INTERRUPTED
        elif self.stopped.all():
            self.status = Status.STOPPED_AT_ERROR
        else:
            self.status = Status.OUTSIDE_GUARANTEE if self.notes else Status.COMPLETED

    # -- what was found ------------------------------------------------------------------------

    @property
    def num_coordinates(self) -> int:
        """1 for scalar data, d for vectors."""
        return int(self.tables.shape[1])

    @property
    def num_steps(self) -> int:
        """Steps run by the replica that ran longest."""
        return int(self.steps_done.max())

    @cached_property
    def parameters(self) -> Array:
        """What the method's update needs to know beside the node tables."""
        return self.method.parameters(self.graph)

    def _settled(self, active: npt.NDArray[np.int64] | None = None) -> Array:
        """The node tables with every node brought up to its replica's step: a copy, if the method is lazy."""
        if not self.method.lazy:
            return self.tables
        from .random.kernels import settler

        tables = self.tables.copy()
        active = np.arange(self.replicas) if active is None else active
        settler(type(self.method).settle)(tables, active, self.steps_done, self.parameters)
        return tables

    def _per_node(self, column: int) -> Array:
        """One field of the node tables in the shape a user expects."""
        out = np.moveaxis(self._settled()[..., column], 1, -1)  # (replicas, n, d)
        if self.private_values.ndim == 1:
            out = out[..., 0]
        return np.ascontiguousarray(out if self.replicas > 1 else out[0])

    @property
    def values(self) -> Array:
        """``(n,)`` current values x."""
        return self._per_node(VALUE)

    @property
    def outstanding_noise(self) -> Array:
        """``(n,)`` noise each node has put in and not (or never) withdrawn; what it owes to the sum."""
        if self.method.outstanding_field is None:
            return np.zeros_like(self.values)
        return self._per_node(self.method.outstanding_field)

    @property
    def true_mean(self) -> Any:
        """c̄: a float, or ``(d,)`` for vector data."""
        mean = self.private_values.mean(axis=0)
        return float(mean) if self.private_values.ndim == 1 else mean

    @property
    def mean_offset(self) -> Any:
        """Mean of the current values minus the true mean, per replica: what is still owed to outstanding noise."""
        offset = self.values.mean(axis=-1 if self.private_values.ndim == 1 else -2) - self.true_mean
        return float(offset) if np.ndim(offset) == 0 else offset

    @property
    def _scale(self) -> float:
        """‖x⁰ − x*‖², or 1 when all private values are equal."""
        scale = float(((self.private_values - self.true_mean) ** 2).sum())
        return scale if scale > 0 else 1.0

    @property
    def steps(self) -> npt.NDArray[np.int64]:
        """``(records,)`` steps at which the error was recorded."""
        return np.array(self._steps, dtype=np.int64)

    @property
    def transmissions(self) -> npt.NDArray[np.int64]:
        """``(records,)`` messages sent until each recorded step, the axis that all methods share.

        A message goes from one node to one neighbour: a pairwise exchange is 2, a set of b edges 2b, a
        synchronous round 2m, a round of push-sum n; what has to be agreed on beforehand is counted at the first step.
        """
        before, each = self.method.messages_before(self.graph), self.method.messages_per_step(self.graph)
        return np.where(self.steps > 0, before + each * self.steps, 0)

    def _per_record(self, rows: list[Array]) -> Array:
        stacked = np.array(rows).reshape(len(rows), self.replicas)
        return stacked.T.copy() if self.replicas > 1 else stacked[:, 0].copy()

    @property
    def squared_error(self) -> Array:
        """``(records,)`` ‖x − x*‖² (all coordinates together); NaN after a replica has stopped early."""
        return self._per_record(self._squared)

    @property
    def relative_error(self) -> Array:
        """``(records,)`` ‖x − x*‖² / ‖x⁰ − x*‖², the paper's measure.

        When all private values are equal the denominator would be zero; it is then taken as one.
        """
        return self.squared_error / self._scale

    @property
    def final_relative_error(self) -> Any:
        """Relative error at each replica's last record: a float, or ``(replicas,)``; NaN if nothing was recorded."""
        rows = np.array(self._squared).reshape(-1, self.replicas)
        final = np.full(self.replicas, np.nan)
        for row in rows:
            final = np.where(np.isnan(row), final, row)
        final = final / self._scale
        return float(final[0]) if self.replicas == 1 else final

    @property
    def mass_error(self) -> Array:
        """``(records,)`` largest size of Σ values − Σ outstanding noise − Σ private values over coordinates."""
        total = np.array([np.sum(c) for c in self.private_values.reshape(self.graph.num_nodes, -1).T])
        return self._per_record([np.abs(masses - total).max(axis=1) for masses in self._masses])

    # -- recomputed from the seed --------------------------------------------------------------

    def _check_replica(self, replica: int) -> int:
        if not 0 <= replica < self.replicas:
            raise InvalidParameter(f"replica must be in [0, {self.replicas - 1}], got {replica}")
        return replica

    def _span(self, start: int, stop: int | None, replica: int) -> int:
        """How many steps ``start..stop`` are, once checked."""
        done = int(self.steps_done[self._check_replica(replica)])
        end = done if stop is None else stop
        if not 0 <= start <= end <= done:
            raise InvalidParameter(f"start and stop must be in [0, {done}], the steps run so far; got {start}, {end}")
        return end - start

    def fired_edges(self, start: int = 0, stop: int | None = None, *, replica: int = 0) -> npt.NDArray[np.int64]:
        """``(num_steps,)`` index of the edge that fired at each step, recomputed from the seed.

        ``(num_steps, block_size)`` for methods that fire sets of edges.

        Raises
        ------
        Unsupported
            For synchronous methods and push-sum: all nodes act in every round.
        """
        steps, seed = self._span(start, stop, replica), np.uint64(self.seed)
        if isinstance(self.method, PairMethod):
            from .random.kernels import edge_indices

            out = np.empty(steps, dtype=np.int64)
            edge_indices(out, start, replica, seed, self.graph.num_edges, self.aliases.accept, self.aliases.alias)
            return out
        if isinstance(self.method, BlockMethod):
            from .kinds.block import block_indices

            out = np.empty((steps, self.method.block_size), dtype=np.int64)
            block_indices(out, np.empty(self.graph.num_edges, dtype=np.int64), start, replica, seed)
            return out
        raise Unsupported(f"{self.method.name} has no firing edges: all nodes act in every round")

    def draws(self, start: int = 0, stop: int | None = None, *, replica: int = 0, coordinate: int = 0) -> Array:
        """The draws of unit scale behind the noise, recomputed from the seed.

        ``(steps, 2)`` standard normals for the ends of the firing edge, in the order of ``graph.edges``;
        ``(rounds, n)`` normal or Laplace draws for a synchronous method.

        Raises
        ------
        Unsupported
            For methods that insert no noise of this kind.
        """
        if not 0 <= coordinate < self.num_coordinates:
            raise InvalidParameter(f"coordinate must be in [0, {self.num_coordinates - 1}], got {coordinate}")
        steps, seed = self._span(start, stop, replica), np.uint64(self.seed)
        if isinstance(self.method, PairMethod):
            from .random.kernels import normal_draws

            out = np.empty((steps, 2))
            normal_draws(out, start, replica, coordinate, seed)
            return out
        if isinstance(self.method, RoundMethod) and self.method.noise:
            from .kinds.round import KINDS, round_draws

            out = np.empty((steps, self.graph.num_nodes))
            round_draws(out, start, replica, coordinate, seed, KINDS[self.method.noise])
            return out
        raise Unsupported(f"{self.method.name} draws no noise")

    @property
    def activations(self) -> npt.NDArray[np.int64]:
        """``(n,)`` how often each node took part, recomputed from the seed; twice where two edges of a set meet."""
        counts = [self._count_activations(replica) for replica in range(self.replicas)]
        return np.array(counts) if self.replicas > 1 else counts[0]

    def _count_activations(self, replica: int, chunk: int = 2**22) -> npt.NDArray[np.int64]:
        if isinstance(self.method, RoundMethod | PushMethod):
            return np.full(self.graph.num_nodes, self.steps_done[replica])
        counts = np.zeros(self.graph.num_nodes, dtype=np.int64)
        end = int(self.steps_done[replica])
        for start in range(0, end, chunk):
            fired = self.fired_edges(start, min(start + chunk, end), replica=replica).reshape(-1)
            counts += np.bincount(self.graph.edges[fired].reshape(-1), minlength=self.graph.num_nodes)
        return counts

    # -- going on, showing, keeping ------------------------------------------------------------

    def resume(self, num_steps: int, **keywords: Any) -> Solution:
        """Run ``num_steps`` more; the same as if the run had been longer. See :func:`sottovoce.simulation.resume`."""
        from .engine import resume

        return resume(self, num_steps=num_steps, **keywords)

    def plot(self, axes: matplotlib.axes.Axes | None = None, **keywords: Any) -> matplotlib.axes.Axes:
        """Relative error against steps on a logarithmic axis; median and quantiles for several replicas."""
        try:
            from ..plotting.runs import plot_run
        except ImportError as error:
            raise MissingDependency(f"plotting needs matplotlib: {error}") from None
        return plot_run(self, axes, **keywords)

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per replica and recorded step."""
        try:
            import pandas
        except ImportError:
            raise MissingDependency("data frames need pandas: pip install 'sottovoce[cluster]'") from None
        records = len(self._steps)
        return pandas.DataFrame(
            {
                "replica": np.repeat(np.arange(self.replicas), records),
                "step": np.tile(self.steps, self.replicas),
                "transmissions": np.tile(self.transmissions, self.replicas),
                "relative_error": self.relative_error.reshape(-1),
                "squared_error": self.squared_error.reshape(-1),
                "mass_error": self.mass_error.reshape(-1),
            }
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything, private values included, to one ``.npz``; the previous file survives a failed write."""
        from .saving import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Solution:
        """Read what :meth:`save` wrote; nothing in the file is ever executed."""
        from .saving import load

        return load(path)

    def __repr__(self) -> str:
        many = f", {self.replicas} replicas" if self.replicas > 1 else ""
        error = ""
        if self._squared:
            error = f", relative error {np.median(self.final_relative_error):.2e}" + (" (median)" if many else "")
        return (
            f"<Solution {self.method.label()} on {self.graph.name}: {self.num_steps} steps{many}, "
            f"{self.status}{error}, seed {self.seed}, {self.elapsed:.3g} s>"
        )


def _notes(graph: Graph, method: Method, edge_probabilities: Array | None) -> tuple[str, ...]:
    """Why the setting is outside the method's guarantee."""
    notes = method.caveats(graph)
    if edge_probabilities is not None and method.assumes_equal_edges:
        notes += (f"the guarantee of {method.name} is for edges that are equally likely, and these are not",)
    return notes


def _aligned(shape: tuple[int, ...]) -> Array:
    """Uninitialised floats that begin on a cache line, so that a node's row never straddles two."""
    size = int(np.prod(shape))
    raw = np.empty(size + 8)
    skip = (-raw.ctypes.data % 64) // raw.itemsize
    return raw[skip : skip + size].reshape(shape)
