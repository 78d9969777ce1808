"""What a run leaves behind: values, recorded errors, status, and all that is needed to go on from it. It never changes.

What was run is in :mod:`.setup`, what is under way in :mod:`.state`, what is recomputed from the seed in
:mod:`.replay`; files are in :mod:`.saving`, tables and figures in :mod:`.showing`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..methods.base import VALUE, Array
from . import replay
from .changing import replay as staged
from .keeping import Kept
from .records import Records
from .setup import Setup
from .showing import as_dataframe, as_html, in_a_line, plotted

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
    """Some value is no longer a finite number, or larger than 1e150, so that its square may not be one."""
    OUTSIDE_GUARANTEE = "completed outside the guarantee"
    """All steps were run, with a setting that is allowed but not covered by the method's proof; ``notes`` says why."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Solution(Setup):
    """The result of :func:`sottovoce.simulate`. It never changes; going on from it gives another.

    Shapes below are for one replica of scalar data; several replicas add an axis in front, vector
    data one at the end of those that are per node.

    Attributes
    ----------
    graph, method, private_values, seed, replicas, edge_probabilities, stages
        What was run. A Solution belongs to the researcher who chose the private values: it keeps them,
        but never prints them.
    steps_done
        ``(replicas,)`` steps each replica ran; they differ only after stopping early.
    status
        How the run ended.
    notes
        Why this setting is outside what is proved for the method, one sentence each; usually none.
    elapsed
        Seconds spent running, without those in which the kernel was compiled or loaded.
    """

    tables: Array
    steps_done: npt.NDArray[np.int64]
    stopped: npt.NDArray[np.bool_]
    records: Records
    common: Array | None = None
    status: Status = Status.COMPLETED
    elapsed: float = 0.0
    kept_values: Kept | None = None
    kept_statistic: Kept | None = None
    code: str = ""
    """Digest of the method's code when the run was saved, if it is one of the user's: with another it cannot go on."""

    def __post_init__(self) -> None:
        arrays = (self.private_values, self.edge_probabilities, self.tables, self.common, self.steps_done, self.stopped)
        for array in arrays:
            if array is not None:
                array.flags.writeable = False

    def without_records(self) -> Solution:
        """The same state with no recorded errors, for going on in many short pieces without copying them each time."""
        kept: dict[str, Any] = {"kept_values": None, "kept_statistic": None}
        return replace(self, **kept, records=Records.none(self.replicas))

    # -- what was found ------------------------------------------------------------------------

    @property
    def num_coordinates(self) -> int:
        """1 for scalar data, d for vectors."""
        return int(self.tables.shape[1])

    @property
    def num_steps(self) -> int:
        """Steps run by the replica that ran longest."""
        return int(self.steps_done.max())

    def _settled(self) -> Array:
        """The node tables with every node brought up to its replica's step."""
        if not self.method.lazy:
            return self.tables
        from .recording import settled

        return settled(self.method, self.tables, self.steps_done, self.parameters, np.arange(self.replicas))

    def _per_node(self, column: int) -> Array:
        """One field of the node tables in the shape a user expects."""
        out = np.moveaxis(self._settled()[:, :, : self.graph.num_nodes, column], 1, -1)  # (replicas, n, d)
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
        """c̄: a float, or ``(d,)`` for vector data. Where the network changes, that of the nodes which are there at the
        last step, of the values which they have then.
        """
        if not self.stages:
            return super().true_mean
        mean = self.timetable.seen_at(self.num_steps).mean
        return float(mean[0]) if self.private_values.ndim == 1 else mean

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """``(n,)`` which nodes are there at the last step: all of them, unless stages say otherwise."""
        if not self.stages:
            return np.ones(self.graph.num_nodes, dtype=bool)
        return self.timetable.seen_at(self.num_steps).counted.copy()

    @property
    def mean_offset(self) -> Any:
        """Mean of the current values minus the true mean, per replica: what is still owed to outstanding noise."""
        axis = -1 if self.private_values.ndim == 1 else -2
        values = np.compress(self.present, self.values, axis=axis) if self.stages else self.values
        offset = values.mean(axis=axis) - self.true_mean
        return float(offset) if np.ndim(offset) == 0 else offset

    @property
    def steps(self) -> npt.NDArray[np.int64]:
        """``(records,)`` steps at which the error was recorded."""
        return self.records.steps

    @property
    def transmissions(self) -> npt.NDArray[np.int64]:
        """``(records,)`` messages sent until each recorded step, the axis that all methods share.

        A message goes from one node to one neighbour: a pairwise exchange is 2, a set of b edges 2b, a
        synchronous round 2m, a round of push-sum n; what has to be agreed on beforehand is counted at the first step.
        """
        before, each = self.method.messages_before(self.graph), self.method.messages_per_step(self.graph)
        return np.where(self.steps > 0, before + each * self.steps, 0)

    def _per_record(self, rows: Array) -> Array:
        return rows.T.copy() if self.replicas > 1 else rows[:, 0].copy()

    @property
    def squared_error(self) -> Array:
        """``(records,)`` ‖x − x*‖² (all coordinates together); NaN after a replica has stopped early."""
        return self._per_record(self.records.squared)

    @property
    def relative_error(self) -> Array:
        """``(records,)`` ‖x − x*‖² / ‖x⁰ − x*‖², the paper's measure.

        When all private values are equal the denominator would be zero; it is then taken as one.
        """
        return self.squared_error / self.scale

    @property
    def final_relative_error(self) -> Any:
        """Relative error at each replica's last step, recorded or not: a float, or ``(replicas,)``."""
        values = self._settled()[:, :, : self.graph.num_nodes, VALUE]
        if self.stages:
            final = self._by_stage(values) / self.scale
        else:
            off = values - np.atleast_1d(self.true_mean)[:, None]
            final = np.square(off, out=off).sum(axis=(1, 2)) / self.scale
        return float(final[0]) if self.replicas == 1 else final

    def _by_stage(self, values: Array) -> Array:
        """``(replicas,)`` ‖x − x*‖² of the nodes that are there, each replica as its last step finds the network."""
        seen = [self.timetable.seen_at(steps) for steps in self.steps_done.tolist()]
        off = [each[:, p.counted] - p.mean[:, None] for each, p in zip(values, seen, strict=True)]
        return np.array([float((each**2).sum()) for each in off])

    @property
    def mass_error(self) -> Array:
        """``(records,)`` largest size of Σ values − Σ outstanding noise − Σ private values over coordinates.

        Where the network changes: over the nodes that are there, and with the private values that they have then.
        """
        return self._per_record(self.records.drifts)

    # -- what was asked for beside it ------------------------------------------------------------

    def _asked(self, kept: Kept | None, parameter: str) -> Kept:
        if kept is None:
            raise InvalidParameter(f"nothing was kept: {parameter} must be given to simulate")
        return kept

    @property
    def value_steps(self) -> npt.NDArray[np.int64]:
        """``(records,)`` the steps of :attr:`recorded_values`."""
        return self._asked(self.kept_values, "record_values").steps.copy()

    @property
    def recorded_values(self) -> Array:
        """``(records, n)`` values at the steps that ``record_values`` asked for; NaN after a replica has stopped."""
        out = np.moveaxis(self._asked(self.kept_values, "record_values").numbers, (1, 2), (0, -1))
        return self._of_one(out if self.private_values.ndim == 2 else out[..., 0])

    @property
    def statistic_steps(self) -> npt.NDArray[np.int64]:
        """``(records,)`` the steps of :attr:`statistic`."""
        return self._asked(self.kept_statistic, "statistic").steps.copy()

    @property
    def statistic(self) -> Array:
        """``(records,)`` what the user's statistic was at recorded steps; for vectors one per coordinate."""
        out = np.moveaxis(self._asked(self.kept_statistic, "statistic").numbers, 1, 0)
        return self._of_one(out if self.private_values.ndim == 2 else out[..., 0])

    def _of_one(self, numbers: Array) -> Array:
        """Without the axis of replicas if there is only one."""
        return np.array(numbers if self.replicas > 1 else numbers[0])

    # -- recomputed from the seed --------------------------------------------------------------

    def _span(self, start: int, stop: int | None, replica: int) -> dict[str, int]:
        """The address of steps ``start..stop``, once checked."""
        if not 0 <= replica < self.replicas:
            raise InvalidParameter(f"replica must be in [0, {self.replicas - 1}], got {replica}")
        done = int(self.steps_done[replica])
        end = done if stop is None else stop
        if not 0 <= start <= end <= done:
            raise InvalidParameter(f"start and stop must be in [0, {done}], the steps run so far; got {start}, {end}")
        return {"num_steps": end - start, "seed": self.seed, "replica": replica, "start": start}

    def fired_edges(self, start: int = 0, stop: int | None = None, *, replica: int = 0) -> npt.NDArray[np.int64]:
        """``(num_steps,)`` index of the edge that fired at each step, recomputed from the seed.

        ``(num_steps, block_size)`` for methods that fire sets of edges; the acting nodes for those in which one node
        acts with all its neighbours.

        Raises
        ------
        Unsupported
            For synchronous methods and push-sum: all nodes act in every round. For runs in which some of these
            exchanges did not take place, or values changed; :meth:`exchanges` says what happened.
        """
        span = self._span(start, stop, replica)
        if self.stages:
            return staged.fired_edges(self, **span)
        return replay.fired_edges(self.graph, method=self.method, edge_probabilities=self.aliases, **span)

    def exchanges(self, start: int = 0, stop: int | None = None, *, replica: int = 0) -> staged.Exchanges:
        """What happened at each step of a pairwise method, recomputed from the seed: which edge fired, and who acted.

        Where nothing fails both ends always act, and the edges are :meth:`fired_edges`.

        Raises
        ------
        Unsupported
            For methods in which something else than one edge fires.
        """
        return staged.exchanges(self, **self._span(start, stop, replica))

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
        return replay.draws(self.graph, self.method, coordinate=coordinate, **self._span(start, stop, replica))

    @property
    def activations(self) -> npt.NDArray[np.int64]:
        """``(n,)`` how often each node took part, recomputed from the seed; twice where two edges of a set meet."""
        if self.stages:
            every = [staged.activations(self, replica) for replica in range(self.replicas)]
            return np.array(every) if self.replicas > 1 else every[0]
        same: dict[str, Any] = {"seed": self.seed, "edge_probabilities": self.aliases}
        counts = [
            replay.activations(self.graph, self.method, num_steps=steps, replica=replica, **same)
            for replica, steps in enumerate(self.steps_done.tolist())
        ]
        return np.array(counts) if self.replicas > 1 else counts[0]

    # -- going on, showing, keeping ------------------------------------------------------------

    def resume(self, num_steps: int, **keywords: Any) -> Solution:
        """Run ``num_steps`` more; the same as if the run had been longer. See :func:`sottovoce.simulation.resume`."""
        from .engine import resume

        return resume(self, num_steps=num_steps, **keywords)

    def plot(
        self, axes: matplotlib.axes.Axes | None = None, *, trajectories: bool = False, **keywords: Any
    ) -> matplotlib.axes.Axes:
        """Relative error against steps on a logarithmic axis; median and quantiles for several replicas.

        ``trajectories``: the values of the nodes instead, at the steps that ``record_values`` asked for.
        """
        return plotted(self, axes, trajectories=trajectories, **keywords)

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per replica and recorded step."""
        return as_dataframe(self)

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
        return in_a_line(self)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return as_html(self)
