"""What a plan is asked: one frozen value that checks itself. The answers are found in :mod:`.search`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ...errors import InvalidParameter
from ...foundation.arguments import Array, number, whole
from ...graphs.chances import Chances
from ...methods.noise_insertion import free_decay

__all__ = ["Basis", "Question", "markov_share"]

Basis = Literal["exact", "bound"]


@dataclass(frozen=True, eq=False)
class Question:
    """The arguments of :func:`sottovoce.theory.plan`; ``None`` is what the plan has to find, or what nobody asked."""

    chances: Chances
    relative_error: float | None = None
    probability: float | None = None
    num_steps: int | None = None
    hidden_std: float | None = None
    neighbour_std: float | None = None
    coalition_size: int = 1
    noise_std: Array | None = None
    """``(n,)``."""
    noise_decay: Array | None = None
    """``(n,)``."""
    value_std: float = 1.0
    basis: Basis | None = None
    share: float | None = None
    """The expected error to aim at, as a share of ``relative_error``; ``None``: all of it, or Markov's with a
    probability."""

    def __post_init__(self) -> None:
        for name in ("relative_error", "hidden_std", "neighbour_std", "value_std", "probability"):
            if getattr(self, name) is not None:
                high = 1.0 if name == "probability" else np.inf
                number(name, getattr(self, name), low=0.0, low_open=True, high=high, high_open=True)
        if self.num_steps is not None and (self.num_steps < 1 or int(self.num_steps) != self.num_steps):
            raise InvalidParameter(f"num_steps must be a whole number ≥ 1, got {self.num_steps}")
        whole("coalition_size", self.coalition_size, low=1, high=max(1, self.chances.graph.num_nodes - 2))
        if self.basis not in (None, "exact", "bound"):
            raise InvalidParameter(f"basis must be 'exact' or 'bound' (or None, to choose), got {self.basis!r}")
        if self.chances.contraction_gap <= 0.0:
            raise InvalidParameter("edge_probabilities must leave the graph connected, or its values never agree")
        self._check_enough()

    def _check_enough(self) -> None:
        """Refuse what leaves σ or the steps open, and wishes whose chance is not said."""
        no_std, no_wish = self.noise_std is None, self.hidden_std is None and self.neighbour_std is None
        if no_std and no_wish and (self.relative_error is None or self.num_steps is None):
            raise InvalidParameter(
                "plan needs noise_std, or hidden_std, or neighbour_std, or both relative_error and num_steps, to find "
                "the noise"
            )
        if self.num_steps is None and self.relative_error is None and (no_std or self.hidden_std is None):
            raise InvalidParameter(
                "plan needs num_steps, or relative_error, or both noise_std and hidden_std, to find the steps"
            )
        if self.neighbour_std is not None:
            if self.probability is None:
                raise InvalidParameter(
                    "neighbour_std needs probability: what a neighbour learns depends on the schedule"
                )
            if self.neighbour_std >= self.value_std:
                raise InvalidParameter(
                    f"neighbour_std must be below value_std = {self.value_std:g}, which is known beforehand, "
                    f"got {self.neighbour_std:g}"
                )

    @property
    def target(self) -> float | None:
        """The expected relative error to reach."""
        if self.relative_error is None:
            return None
        if self.share is not None:
            return self.relative_error * self.share
        return self.relative_error * self.safe_share

    @property
    def safe_share(self) -> float:
        """The share with which the wish is proved to be met as often as asked; 1 if nothing was asked."""
        return 1.0 if self.probability is None else markov_share(self.chances.graph.num_nodes, self.probability)

    @cached_property
    def free_decay(self) -> Array:
        """``(n,)`` the largest φ_i that leave the guaranteed rate alone."""
        return free_decay(self.chances.contraction_gap, self.chances.nodes)


def markov_share(num_nodes: int, probability: float) -> float:
    """How much smaller E‖x − c̄‖²/E‖c − c̄‖² must be than ε, so that ‖x − c̄‖² ≤ ε‖c − c̄‖² in this share of runs.

    Private values are normal, so ‖c − c̄‖² is s²χ² with n − 1 degrees of freedom and independent of the direction of
    c − c̄. Two proofs, of which the better one counts. From n = 4 on E 1/χ² = 1/(n − 3), so the expected ratio is at
    most (n − 1)/(n − 3) times the ratio of expectations, and Markov's inequality gives (1 − p)(n − 3)/(n − 1). For any
    n: χ² is below its quantile q at (1 − p)/2 that rarely, and otherwise Markov's inequality with the other half.

    Examples
    --------
    >>> round(markov_share(10, 0.9), 4), round(markov_share(2, 0.9), 6)
    (0.0778, 0.000197)
    """
    from scipy.special import gammaincinv

    rare, freedom = 1.0 - probability, num_nodes - 1
    split = 0.5 * rare * 2.0 * float(gammaincinv(0.5 * freedom, 0.5 * rare)) / freedom
    return max(split, rare * (freedom - 2.0) / freedom if freedom > 2 else 0.0)
