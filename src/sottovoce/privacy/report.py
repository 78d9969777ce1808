"""What an audit found, as numbers, a table and plain sentences. Nothing is computed about the run here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..graphs.graph import Graph
from ..methods.base import Array, Method
from .gaussian import gdp
from .view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Findings", "Report"]


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """What every audit finds of one view in one run, and how it is told.

    All ``(n,)`` arrays have an entry for every node; the observer's own nodes have deviation 0. Histories have one row
    per entry of :attr:`steps`.
    """

    graph: Graph
    method: Method
    view: View
    num_steps: int
    """Exchanges, or rounds of a synchronous method."""
    prior_std: Array | None
    """``(n,)`` what was believed beforehand; ``None`` for a flat prior."""
    steps: npt.NDArray[np.int64]
    """``(records,)`` steps after which the histories were recorded."""
    history: Array
    """``(records, n)`` posterior standard deviation over time."""
    posterior_std: Array
    """``(n,)`` posterior standard deviation after the last step."""
    disclosed: npt.NDArray[np.bool_]
    """``(n,)`` whether the value is known, to ``tolerance``."""
    observers: npt.NDArray[np.bool_]
    """``(n,)`` the observer's own nodes."""
    tolerance: float
    """Disclosed means: a deviation at most this share of the prior deviation."""

    unit: ClassVar[str] = "step"
    """What time is counted in."""
    source: ClassVar[str] = "exchanges"
    """What the observer learned from."""
    caution: ClassVar[str] = (
        "An exact average is never private against somebody who knows all other values: "
        "the average itself gives the last one away."
    )
    """True of every method that reaches the exact average, and so of every report."""

    @property
    def variance_leaked(self) -> Array:
        """``(n,)`` share of the prior variance that the view removed: 1 − posterior variance / prior variance."""
        if self.prior_std is None:
            return np.where(np.isfinite(self.posterior_std), 1.0, 0.0)
        return 1.0 - (self.posterior_std / self.prior_std) ** 2

    @property
    def mutual_information(self) -> Array:
        """``(n,)`` nats that the view carries about each value: ½ log(prior variance / posterior variance)."""
        if self.prior_std is None:
            return np.where(np.isfinite(self.posterior_std), math.inf, 0.0)
        with np.errstate(divide="ignore"):
            return np.log(self.prior_std) - np.log(self.posterior_std)

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

    def _known(self) -> tuple[str, ...]:
        return self.view.assumptions()

    def sentence(self, baseline: Findings | None = None) -> str:
        """What the view can tell of the most exposed value, in words for somebody who has read nothing else.

        Parameters
        ----------
        baseline
            The audit of the same run without noise, to say what the noise was worth.
        """
        node = self.most_exposed
        subject = self.view.describe()
        text = f"{subject[0].upper()}{subject[1:]} {self._knows(node)}"
        if self.prior_std is not None and not self.disclosed[node]:
            text += f", having believed ±{self.prior_std[node]:.3g} beforehand"
        if baseline is not None:
            rest = "it exactly" if baseline.posterior_std[node] == 0.0 else baseline._closeness(node)
            text += f"; without the noise the same {self.source} would have told {rest}"
        return f"{text}."

    def _knows(self, node: int) -> str:
        if self.disclosed[node]:
            return f"knows the private value of node {node} exactly (to {self.tolerance:g} of its spread)"
        if np.isinf(self.posterior_std[node]):
            return "has learned no private value at all"
        return f"can pin down the private value of node {node}, the most exposed one, to {self._closeness(node)}"

    def _closeness(self, node: int) -> str:
        deviation = self.posterior_std[node]
        return "nothing about it" if np.isinf(deviation) else f"±{deviation:.3g} (one standard deviation)"

    def rows(self) -> list[dict[str, Any]]:
        """One record per node, ready for a table or JSON (infinities as ``None``)."""
        leaked, nats = self.variance_leaked, self.mutual_information
        return [
            {
                "node": node,
                "observer": bool(self.observers[node]),
                "posterior_std": _finite(self.posterior_std[node]),
                "variance_leaked": _finite(leaked[node]),
                "mutual_information": _finite(nats[node]),
                "disclosed": bool(self.disclosed[node]),
            }
            for node in range(self.graph.num_nodes)
        ]

    def plot(self) -> Figure:
        """Exposure over time; see :mod:`sottovoce.plotting.privacy`."""
        from ..plotting.privacy import exposure_over_time

        return exposure_over_time(self)

    def __repr__(self) -> str:
        honest = ~self.observers
        return (
            f"<{type(self).__name__} of {self.view.describe()} on {self.graph.name}, {self.num_steps} {self.unit}s: "
            f"{int(self.disclosed[honest].sum())} of {int(honest.sum())} values disclosed, "
            f"closest ±{self.posterior_std[self.most_exposed]:.3g} (node {self.most_exposed})>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Report(Findings):
    """What one view reveals in one run of pairwise exchanges; returned by :func:`audit`.

    A value is disclosed when its flat-prior deviation is zero, to ``tolerance`` of the prior deviation (of the
    largest σ if the prior is flat). The observer's own nodes have infinite information.
    """

    flat_history: Array
    """``(records, n)`` deviation of the best unbiased estimate over time; infinite where there is none."""
    information_history: Array
    """``(records, n)`` Fisher information over time, every other private value known."""
    flat_std: Array
    """``(n,)`` deviation of the best unbiased estimate after the last step."""
    fisher_information: Array
    """``(n,)`` Fisher information after the last step, every other private value known. Where unheard exchanges
    took place, information beyond about 10²⁴/σ² is rounded off: it is then reported smaller than it is."""
    rank_tolerance: float
    """A weight of unresolved private values in a message below this counts as none."""
    numerical_floor: float
    """Deviations that cancellation brought below this share of what they were computed from are reported as 0."""

    def mu(self, sensitivity: float) -> Array:
        """``(n,)`` μ of Gaussian differential privacy for two values ``sensitivity`` apart, all others known.

        No finite μ lasts: a method that reaches the exact average gives every value away to someone who
        knows all others.
        """
        return sensitivity * np.sqrt(self.fisher_information)

    def epsilon(self, delta: float, *, sensitivity: float) -> Array:
        """``(n,)`` the ε that goes with δ; see :func:`sottovoce.privacy.epsilon`."""
        return np.array([gdp.epsilon(mu, delta) for mu in self.mu(sensitivity)])

    def delta(self, epsilon: float, *, sensitivity: float) -> Array:
        """``(n,)`` the δ that goes with ε; see :func:`sottovoce.privacy.delta`."""
        return np.array([gdp.delta(mu, epsilon) for mu in self.mu(sensitivity)])

    def rows(self) -> list[dict[str, Any]]:
        """One record per node, ready for a table or JSON (infinities as ``None``)."""
        return [
            row
            | {"flat_std": _finite(self.flat_std[node]), "fisher_information": _finite(self.fisher_information[node])}
            for node, row in enumerate(super().rows())
        ]


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _span(prior: Array) -> str:
    return f"{prior[0]:g}" if np.all(prior == prior[0]) else f"{prior.min():g}…{prior.max():g}"
