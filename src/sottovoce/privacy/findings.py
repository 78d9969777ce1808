"""What an audit was asked and what it found, as numbers; the sentences are :mod:`.report`.

Nothing is computed about the run here: only what follows from deviations, such as leaked shares, μ, or how often a
guess is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, NumericalFailure, Unsupported
from ..graphs.graph import Graph
from ..methods.base import Array, Method
from .gaussian import gdp, guessing
from .gaussian.knowledge import FLOOR, RANK_TOLERANCE
from .prior import given_own
from .view import View

__all__ = ["Findings", "Question"]


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
class Findings(Question):
    """The numbers of a :class:`.Report`, whose page describes them."""

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
    source: ClassVar[str] = "exchanges"
    """What the observer learns from."""

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
