"""How the expected error depends on the steps when the last noise of every node stays (:mod:`..gossip.frozen`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...errors import Unsupported
from ...foundation.arguments import Array
from ...methods.budgeted import BudgetedNoiseInsertion
from ..gossip.exact import frozen_error
from ..gossip.frozen import frozen_bound
from ..gossip.setting import Noise
from ..gossip.spectral import Model
from .response import Response

__all__ = ["KeptNoise"]

_MOST_WORK = 3e8
"""Multiplications up to which noise that stays is followed exactly; beyond, by its bound."""
_MOST_STEPS = 5_000_000


@dataclass(frozen=True, eq=False)
class KeptNoise:
    """E‖x^k − c̄‖²/E‖c − c̄‖² of budgeted noise insertion: plain gossip from the response, and what the noise adds."""

    response: Response
    method: BudgetedNoiseInsertion

    @cached_property
    def noise(self) -> Noise:
        """As the theory sees it."""
        return Noise.of(self.method, self.response.chances, frozen=True)

    @property
    def remaining(self) -> float:
        """What is left in the end."""
        return 0.5 * float(self.method.guarantee(self.response.chances.graph).remaining or 0.0) / self.response.initial

    def relative(self, num_steps: int) -> float:
        """At one k."""
        if num_steps > _MOST_STEPS:  # by then every node has made its last draw
            return self.response.parts(num_steps)[0] / self.response.initial + self.remaining
        steps = np.array([num_steps])
        return self.response.parts(num_steps)[0] / self.response.initial + float(self._added(steps)[0])

    def settled_steps(self, target: float | None) -> int:
        """The smallest k from which on the error stays at the target, or near the least there is."""
        least = self.remaining
        goal = 1.01 * least if target is None or target <= 1.0000001 * least else target
        last = 64
        while last <= _MOST_STEPS:
            model = self.response.model
            quiet = Model(model.theta_gap, model.powers, np.empty(0), np.empty((len(model.powers), 0))).first(last)
            every = quiet / self.response.initial + self._added(np.arange(last + 1))
            above = np.flatnonzero(every > goal)
            if not above.size or above[-1] < last // 2:
                return int(above[-1]) + 1 if above.size else 0
            last *= 2
        raise Unsupported(f"graph must let budgeted noise settle in {_MOST_STEPS:,} steps, got one that does not")

    def _added(self, steps: npt.NDArray[np.int64]) -> Array:
        chances, last = self.response.chances, int(steps.max())
        size = chances.graph.num_nodes
        if self.response.basis == "exact" and last * (size**2 + 3000.0) <= _MOST_WORK:
            return frozen_error(self.noise, 1, chances, steps) / self.response.initial
        return frozen_bound(0.0, self.noise, 1, chances, steps) / self.response.initial
