"""What an audit was asked and what it found, as numbers, a table and plain sentences.

Nothing is computed about the run here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, NumericalFailure, Unsupported
from ..graphs.graph import Graph
from ..methods.base import Array, Method
from .gaussian import gdp, guessing
from .gaussian.knowledge import FLOOR, RANK_TOLERANCE
from .prior import given_own
from .view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Question", "Report", "RoundsReport"]

PRICE = (
    "Against all others together withdrawal buys nothing: whoever keeps ±h from them at every node has an expected "
    "error ½‖x − mean‖² of at least h²/2."
)

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
    patience: float = 60.0
    """About how many seconds may go into more digits."""
    prior_covariance: Array | None = None
    """``(n, n)`` if what was believed is correlated."""
    candidates: Array | None = None
    """What a value can be at all, if it is not normal: the report then says how often the best guess is right."""

    @property
    def belief(self) -> Array | None:
        """The prior: deviations, a covariance, or ``None`` for a flat one."""
        return self.prior_std if self.prior_covariance is None else self.prior_covariance

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
    undecided: npt.NDArray[np.bool_]
    """``(n,)`` where digits did not suffice to say whether the value is disclosed; its flat-prior deviation is NaN."""
    exact: bool = True
    """Whether no estimate does better. Otherwise deviations are those of the best linear one."""
    kept_std: Array | None = None
    """``(n,)`` what this view cannot go below, whatever is exchanged from now on: the larger of what an unheard
    exchange protects (:func:`firewall_std`) and what seals do (:func:`sealed_std`). ``None``, like the next
    four, in audits of rounds; also without noise, and where beliefs are correlated."""
    flat_history: Array | None = None
    """``(records, n)`` deviation of the best unbiased estimate over time; infinite where there is none."""
    flat_std: Array | None = None
    """``(n,)`` deviation of the best unbiased estimate after the last step."""
    information_history: Array | None = None
    """``(records, n)`` Fisher information over time, every other private value known."""
    fisher_information: Array | None = None
    """``(n,)`` Fisher information after the last step, every other private value known. Where unheard exchanges
    took place, information beyond about 10²⁴/σ² is rounded off: it is then reported smaller than it is."""

    rank_tolerance: ClassVar[float] = RANK_TOLERANCE
    """In doubles a weight of unresolved private values in a message below this counts as none; where exact arithmetic
    finds another rank, more digits are used."""
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

    def __post_init__(self) -> None:
        """A prior adds information: no flat-prior deviation is below the one with a prior. Refuse to say otherwise."""
        pairs = ((self.flat_history, self.history), (self.flat_std, self.posterior_std))
        if any(flat is not None and (flat < (1.0 - 1e-6) * with_prior).any() for flat, with_prior in pairs):
            raise NumericalFailure(
                "a deviation with a flat prior was found below the one with a prior; please report it"
            )

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

    @property
    def evidence(self) -> Array:
        """``(n,)`` precision Λ of what the view says about each value, the prior beliefs about the others used.

        All that the view says about one value is worth one look at it under noise of deviation Λ^{−1/2}.
        """
        with np.errstate(divide="ignore"):
            after = self.posterior_std**-2.0
        if self.prior_std is None:
            return np.where(np.isfinite(self.posterior_std), after, 0.0)
        before = self.prior_std
        if self.prior_covariance is not None:
            before = np.sqrt(np.diag(given_own(self.prior_covariance, self.observers)))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.observers, math.inf, np.maximum(after - before**-2.0, 0.0))

    def guess_probability(
        self, candidates: npt.ArrayLike | None = None, weights: npt.ArrayLike | None = None, *, others: str = "normal"
    ) -> Array:
        """``(n,)`` how likely the best guess of each value is right, if it is one of ``candidates``.

        Parameters
        ----------
        candidates
            What a value can be, such as ``[0, 1]``; default: those the audit was asked with.
        weights
            How likely the observer holds each beforehand; default: equally.
        others
            ``"normal"``: what is believed of the other values is the normal prior of the audit. ``"known"``: they are
            known. No observer does better than the second, whatever it believes of the others.

        Examples
        --------
        A bit that was said once under noise of deviation ¼: the deviation speaks of a normal value.

        >>> import sottovoce as sv
        >>> method = sv.NoiseInsertion(noise_std=0.25, noise_decay=0.5)
        >>> report = sv.privacy.audit(sv.graphs.path(2), method, [0], sv.privacy.CuriousNodes([0]), prior_std=0.5)
        >>> report.posterior_std.round(3).tolist()
        [0.0, 0.224]
        >>> report.guess_probability([0, 1]).round(3).tolist()
        [1.0, 0.977]
        >>> report.best_estimate_std([0, 1]).round(3).tolist()
        [0.0, 0.131]
        """
        asked = self._asked(candidates)
        return np.array([guessing.right_guess(known, asked, weights) for known in self._precision(others)])

    def best_estimate_std(
        self, candidates: npt.ArrayLike | None = None, weights: npt.ArrayLike | None = None, *, others: str = "normal"
    ) -> Array:
        """``(n,)`` deviation of the best estimate of each value, if it is one of ``candidates``; see
        :meth:`guess_probability`. Bounded values are candidates on a fine grid.
        """
        asked = self._asked(candidates)
        return np.array([guessing.best_estimate_std(known, asked, weights) for known in self._precision(others)])

    def _asked(self, candidates: npt.ArrayLike | None) -> npt.ArrayLike:
        if candidates is None and self.candidates is None:
            raise InvalidParameter("candidates must be named, here or in the audit: two or more different numbers")
        return self.candidates if candidates is None else candidates  # type: ignore[return-value]

    def _precision(self, others: str) -> list[float]:
        if others == "normal":
            return self.evidence.tolist()  # type: ignore[no-any-return]
        if others != "known":
            raise InvalidParameter(f"others must be 'normal' or 'known', got {others!r}")
        if self.fisher_information is None:
            raise Unsupported(f"an audit of {self.source} finds no Fisher information; others must be 'normal'")
        return self.fisher_information.tolist()  # type: ignore[no-any-return]

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
        return int(honest[np.argmin(np.nan_to_num(self.posterior_std[honest], nan=math.inf))])

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the observer is taken to know and believe."""
        if self.prior_std is None:
            belief = "believes nothing about the private values beforehand (flat prior)"
        else:
            span = _span(self.prior_std)
            how = "independently" if self.prior_covariance is None else "correlated as stated"
            belief = f"believes beforehand that each private value is normal with standard deviation {span}, {how}"
        return (*self._known(), belief)

    @property
    def criterion(self) -> str:
        """When a value is called disclosed."""
        share = self.tolerance
        text = f"Disclosed: flat-prior deviation at most {share:g} of the spread."
        if self.undecided.any():
            count = int(self.undecided.sum())
            text += f" For {count} node{'s' if count > 1 else ''} digits did not suffice: cannot decide."
        return text

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
        text = f"{subject[0].upper()}{subject[1:]} {self._guesses()}{self._knows(node)}"
        if self.prior_std is not None and not self.disclosed[node]:
            text += f", having believed ±{self.prior_std[node]:.3g} beforehand"
        if baseline is not None:
            text += f"; without the noise the same {self.source} would have revealed {baseline._revealed(node)}"
        return f"{text}."

    def _guesses(self) -> str:
        """What leads where values are one of a few."""
        if self.candidates is None:
            return ""
        right, count = self.guess_probability(), len(self.candidates)
        node = int(np.argmax(np.where(self.observers, -1.0, right)))
        return (
            f"names the right one of {count} candidates for the private value of node {node} in "
            f"{100 * right[node]:.3g} % of cases (without listening: {100 / count:.3g} %); of a normal value it "
        )

    @property
    def explanation(self) -> tuple[str, ...]:
        """What stays hidden whatever comes, and what hiding costs: sentences with the figures of this run."""
        if self.kept_std is None:
            return ()
        node = self.most_exposed
        kept = float(self.kept_std[node])
        if kept > 0.0:
            for_ever = (
                f"Node {node} keeps at least ±{kept:.3g} from this observer for ever: an exchange that it did not "
                "hear, or a seal that it does not know, hides the value, whatever is exchanged later."
            )
        else:
            for_ever = f"Nothing protects node {node} for ever: no exchange unheard by this observer, and no seal."
        return (for_ever, PRICE)

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
            "undecided": self.undecided.tolist(),
        }
        if self.candidates is not None:
            columns["guess_probability"] = self.guess_probability().tolist()
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
