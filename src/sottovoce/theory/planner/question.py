"""What a plan is asked: one frozen value that checks itself. The answers are found in :mod:`.search`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ...errors import InvalidParameter
from ...foundation.arguments import Array, number
from ...graphs.chances import Chances
from ...methods.noise_insertion import free_decay

__all__ = ["Basis", "Question"]

Basis = Literal["exact", "bound"]


@dataclass(frozen=True, eq=False)
class Question:
    """The arguments of :func:`sottovoce.theory.plan`; ``None`` is what the plan has to find, or what nobody asked."""

    chances: Chances
    relative_error: float | None = None
    probability: float | None = None
    num_steps: int | None = None
    hidden_std: float | None = None
    noise_std: Array | None = None
    """``(n,)``."""
    noise_decay: Array | None = None
    """``(n,)``."""
    value_std: float = 1.0
    basis: Basis | None = None

    def __post_init__(self) -> None:
        for name in ("relative_error", "hidden_std", "value_std", "probability"):
            if getattr(self, name) is not None:
                high = 1.0 if name == "probability" else np.inf
                number(name, getattr(self, name), low=0.0, low_open=True, high=high, high_open=True)
        if self.num_steps is not None and (self.num_steps < 1 or int(self.num_steps) != self.num_steps):
            raise InvalidParameter(f"num_steps must be a whole number ≥ 1, got {self.num_steps}")
        if self.basis not in (None, "exact", "bound"):
            raise InvalidParameter(f"basis must be 'exact' or 'bound' (or None, to choose), got {self.basis!r}")
        if self.chances.contraction_gap <= 0.0:
            raise InvalidParameter("edge_probabilities must leave the graph connected, or its values never agree")
        self._check_enough()

    def _check_enough(self) -> None:
        """Refuse what leaves σ or the steps open."""
        no_std, no_wish = self.noise_std is None, self.hidden_std is None
        if no_std and no_wish and (self.relative_error is None or self.num_steps is None):
            raise InvalidParameter(
                "plan needs noise_std, or hidden_std, or both relative_error and num_steps, to find the noise"
            )
        if self.num_steps is None and self.relative_error is None and (no_std or no_wish):
            raise InvalidParameter(
                "plan needs num_steps, or relative_error, or noise_std and hidden_std, to find the steps"
            )

    @property
    def target(self) -> float | None:
        """The expected relative error to reach; with a probability it is smaller, by Markov's inequality."""
        if self.relative_error is None:
            return None
        return self.relative_error * (1.0 if self.probability is None else 1.0 - self.probability)

    @cached_property
    def free_decay(self) -> Array:
        """``(n,)`` the largest φ_i that leave the guaranteed rate alone."""
        return free_decay(self.chances.contraction_gap, self.chances.nodes)
