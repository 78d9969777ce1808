"""What an audit was asked and what it found, as numbers, a table and plain sentences.

Nothing is computed about the run here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import Unsupported
from ..graphs.graph import Graph
from ..methods.base import Array, Method
from .gaussian import gdp
from .gaussian.knowledge import FLOOR, RANK_TOLERANCE
from .view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Question", "Report", "RoundsReport"]

LINEAR = (
    "makes the best estimate that is linear in what it hears; the noise is not Gaussian, "
    "so a better observer may know more"
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Question:
    """What an audit is asked."""

    graph: Graph
    method: Method
    view: View
    num_steps: int
    """Exchanges, or rounds of a synchronous method."""
    prior_std: Array | None
    """``(n,)`` what was believed beforehand; ``None`` for a flat prior."""
    steps: npt.NDArray[np.int64]
    """``(records,)`` steps after which the histories were recorded."""
    tolerance: float
    """Disclosed means: a deviation at most this share of the prior deviation."""

    @property
    def recorded(self) -> npt.NDArray[np.int64]:
        """:attr:`steps`, and the last step once more for the final state."""
        return np.append(self.steps, self.num_steps)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report(Question):
    """What one view reveals in one run; returned by :func:`audit`.

    What was asked is kept beside it: ``graph``, ``method``, ``view``, ``num_steps``, ``prior_std``, ``steps``,
    ``tolerance``. All ``(n,)`` arrays have an entry for every node; the observer's own nodes have deviation 0 and
    infinite information. Histories have one row per entry of ``steps``. A value of a run of pairwise exchanges is
    disclosed when its flat-prior deviation is zero, to ``tolerance`` of the prior deviation (of the largest σ if the
    prior is flat).
    """

    history: Array
    """``(records, n)`` posterior standard deviation over time."""
    posterior_std: Array
    """``(n,)`` posterior standard deviation after the last step."""
    disclosed: npt.NDArray[np.bool_]
    """``(n,)`` whether the value is known, to ``tolerance``."""
    observers: npt.NDArray[np.bool_]
    """``(n,)`` the observer's own nodes."""
    exact: bool = True
    """Whether no estimate does better. Otherwise deviations are those of the best linear one."""
    flat_history: Array | None = None
    """``(records, n)`` deviation of the best unbiased estimate over time; infinite where there is none. ``None``, like
    the next three, in audits of rounds, which do not find it."""
    flat_std: Array | None = None
    """``(n,)`` deviation of the best unbiased estimate after the last step."""
    information_history: Array | None = None
    """``(records, n)`` Fisher information over time, every other private value known."""
    fisher_information: Array | None = None
    """``(n,)`` Fisher information after the last step, every other private value known. Where unheard exchanges
    took place, information beyond about 10²⁴/σ² is rounded off: it is then reported smaller than it is."""

    rank_tolerance: ClassVar[float] = RANK_TOLERANCE
    """A weight of unresolved private values in a message below this counts as none."""
    numerical_floor: ClassVar[float] = FLOOR
    """Deviations that cancellation brought below this share of what they were computed from are reported as 0."""
    unit: ClassVar[str] = "step"
    """What time is counted in."""
    source: ClassVar[str] = "exchanges"
    """What the observer learns from."""
    caution: ClassVar[str] = (
        "An exact average is never private against somebody who knows all other values: "
        "the average itself reveals the last one."
    )
    """Said with every report."""

    @property
    def variance_leaked(self) -> Array:
        """``(n,)`` share of the prior variance that the view removed: 1 − posterior variance / prior variance."""
        if self.prior_std is None:
            return np.where(np.isfinite(self.posterior_std), 1.0, 0.0)
        return 1.0 - (self.posterior_std / self.prior_std) ** 2

    @property
    def mutual_information(self) -> Array:
        """``(n,)`` nats that the view carries about each value: ½ log(prior variance / posterior variance).

        At least so many if the report is not :attr:`exact`.
        """
        if self.prior_std is None:
            return np.where(np.isfinite(self.posterior_std), math.inf, 0.0)
        with np.errstate(divide="ignore"):
            return np.log(self.prior_std) - np.log(self.posterior_std)

    def mu(self, sensitivity: float) -> Array:
        """``(n,)`` μ of Gaussian differential privacy for two values ``sensitivity`` apart, all others known.

        No finite μ lasts: a method that reaches the exact average reveals every value to someone who knows all
        others.

        Raises
        ------
        Unsupported
            For rounds, whose audit finds no Fisher information.
        """
        if self.fisher_information is None:
            raise Unsupported(f"an audit of {self.source} finds no Fisher information, and so neither μ nor ε")
        return sensitivity * np.sqrt(self.fisher_information)

    def epsilon(self, delta: float, *, sensitivity: float) -> Array:
        """``(n,)`` the ε that goes with δ; see :func:`sottovoce.privacy.epsilon`."""
        return np.array([gdp.epsilon(mu, delta) for mu in self.mu(sensitivity)])

    def delta(self, epsilon: float, *, sensitivity: float) -> Array:
        """``(n,)`` the δ that goes with ε; see :func:`sottovoce.privacy.delta`."""
        return np.array([gdp.delta(mu, epsilon) for mu in self.mu(sensitivity)])

    @property
    def most_exposed(self) -> int:
        """The honest node that the view knows best."""
        honest = np.flatnonzero(~self.observers)
        return int(honest[np.argmin(self.posterior_std[honest])])

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the observer is taken to know and believe."""
        if self.prior_std is None:
            belief = "believes nothing about the private values beforehand (flat prior)"
        else:
            span = _span(self.prior_std)
            belief = (
                f"believes beforehand that each private value is normal with standard deviation {span}, independently"
            )
        return (*self._known(), belief)

    @property
    def criterion(self) -> str:
        """When a value is called disclosed."""
        share, weight = self.tolerance, self.rank_tolerance
        return (
            f"Disclosed: flat-prior deviation at most {share:g} of the spread; weights below {weight:g} count as none."
        )

    def _known(self) -> tuple[str, ...]:
        return self.view.assumptions()

    def sentence(self, baseline: Report | None = None) -> str:
        """What the view can tell of the most exposed value, in words for somebody who has read nothing else.

        Parameters
        ----------
        baseline
            The audit of the same run without noise, to say what the noise changed.
        """
        node = self.most_exposed
        subject = self.view.describe()
        text = f"{subject[0].upper()}{subject[1:]} {self._knows(node)}"
        if self.prior_std is not None and not self.disclosed[node]:
            text += f", having believed ±{self.prior_std[node]:.3g} beforehand"
        if baseline is not None:
            text += f"; without the noise the same {self.source} would have revealed {baseline._revealed(node)}"
        return f"{text}."

    def _knows(self, node: int) -> str:
        if self.disclosed[node]:
            return f"knows the private value of node {node} exactly (to {self.tolerance:g} of its spread)"
        if np.isinf(self.posterior_std[node]):
            return "has learned no private value at all"
        how = "" if self.exact else " by a linear estimate"
        return f"can estimate the private value of node {node}, the most exposed one, to {self._closeness(node)}{how}"

    def _revealed(self, node: int) -> str:
        deviation = self.posterior_std[node]
        if deviation == 0.0:
            return "it exactly"
        return "nothing about it" if np.isinf(deviation) else f"it to {self._closeness(node)}"

    def _closeness(self, node: int) -> str:
        return f"±{self.posterior_std[node]:.3g} (one standard deviation)"

    def rows(self) -> list[dict[str, Any]]:
        """One record per node, ready for a table or JSON (infinities as ``None``)."""
        columns: dict[str, list[Any]] = {
            "node": list(range(self.graph.num_nodes)),
            "observer": self.observers.tolist(),
            "posterior_std": _finite(self.posterior_std),
            "variance_leaked": _finite(self.variance_leaked),
            "mutual_information": _finite(self.mutual_information),
            "disclosed": self.disclosed.tolist(),
        }
        if self.flat_std is not None and self.fisher_information is not None:
            columns |= {"flat_std": _finite(self.flat_std), "fisher_information": _finite(self.fisher_information)}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def plot(self) -> Figure:
        """Exposure over time; see :mod:`sottovoce.plotting.privacy`."""
        from ..plotting.privacy import exposure_over_time

        return exposure_over_time(self)

    def __repr__(self) -> str:
        honest = ~self.observers
        return (
            f"<Report of {self.view.describe()} on {self.graph.name}, {self.num_steps} {self.unit}s: "
            f"{int(self.disclosed[honest].sum())} of {int(honest.sum())} values disclosed, "
            f"closest ±{self.posterior_std[self.most_exposed]:.3g} (node {self.most_exposed})>"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RoundsReport(Report):
    """What curious nodes learn of every value in a synchronous method; returned by :func:`audit`.

    A value is disclosed when its final deviation is at most ``tolerance`` of the prior's (of 1 for a flat prior).
    """

    unit: ClassVar[str] = "round"
    source: ClassVar[str] = "rounds"

    @property
    def criterion(self) -> str:
        return f"Disclosed: deviation at most {self.tolerance:g} of the spread."

    def _known(self) -> tuple[str, ...]:
        known = (
            *self.view.assumptions("knows the graph, the weights, and the size of everybody's noise in every round"),
            "messages are broadcast: curious nodes hear all messages of their neighbours",
        )
        return known if self.exact else (*known, LINEAR)


def _finite(numbers: Array) -> list[float | None]:
    return [number if math.isfinite(number) else None for number in numbers.tolist()]


def _span(prior: Array) -> str:
    return f"{prior[0]:g}" if np.all(prior == prior[0]) else f"{prior.min():g}…{prior.max():g}"
