"""What is run: together with the number of steps it determines every number of the result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..foundation.numbers import common_or
from ..graphs.graph import Graph
from ..methods.base import Array, Method
from .changing.stages import Stage
from .changing.timetable import Timetable
from .kinds import parameters_of
from .random.aliases import AliasTable
from .values import sums_of

__all__ = ["Setup"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Setup:
    """What is run; together with the number of steps it determines every number of the result."""

    graph: Graph
    method: Method
    private_values: Array
    seed: int
    replicas: int
    edge_probabilities: Array | None
    aliases: AliasTable
    notes: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()

    @cached_property
    def parameters(self) -> Array:
        """What the method's functions need to know beside the node tables."""
        return parameters_of(self.method, self.graph)

    @cached_property
    def timetable(self) -> Timetable:
        """What the stages mean, if there are any."""
        return Timetable.of(self.stages, self.graph, self.private_values, self.edge_probabilities)

    @cached_property
    def means(self) -> Array:
        """``(coordinates,)`` c̄; exactly their value where all are equal, or their error would never be zero."""
        if self.private_values.ndim == 1:
            return common_or(self.totals / len(self.private_values), self.private_values)
        return common_or(self.private_values.mean(axis=0), self.private_values)

    @property
    def true_mean(self) -> Any:
        """c̄: a float, or ``(d,)`` for vector data."""
        return float(self.means[0]) if self.private_values.ndim == 1 else self.means.copy()

    @cached_property
    def scale(self) -> float:
        """‖x⁰ − x*‖², by which errors are divided; 1 when all private values are equal."""
        means = self.means[0] if self.private_values.ndim == 1 else self.means
        scale = float(((self.private_values - means) ** 2).sum())
        return scale if scale > 0 else 1.0

    @cached_property
    def totals(self) -> Array:
        """``(coordinates,)`` Σ c, which gossip must keep."""
        return sums_of(self.private_values)

    def drift(self, masses: Array, totals: Array | None = None) -> Array:
        """The largest |mass − Σ c| over coordinates, the last axis of ``masses``, which are overwritten; ``totals``:
        Σ c of other values.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # a run that diverged
            off = np.subtract(masses, self.totals if totals is None else totals, out=masses)
        np.abs(off, out=off)
        return np.asarray(off[..., 0] if off.shape[-1] == 1 else off.max(axis=-1))

    def as_dict(self) -> dict[str, Any]:
        """The fields of the setup alone, by name."""
        return {name: getattr(self, name) for name in Setup.__dataclass_fields__}
