"""How the expected error depends on the noise, before the noise is chosen: E G_k = A(k) + Σ_g σ_g² B_g(k).

A is what plain gossip leaves of the values' spread, B_g what unit noise at the nodes of group g leaves. Nodes form
a group when they are activated equally often and have the same φ (and the same σ, where that is given). Both come from
the exact expectation or from the corrected bound, and the planner (:mod:`.planning`) does not care which.
Private values are not needed: independent values of standard deviation s start at Y_0 = s² (I − 11ᵀ/n) on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...errors import NumericalFailure
from ...graphs.chances import Chances
from ..gossip.exact import SecondMomentMap
from ..gossip.setting import Floats, Noise
from ..gossip.spectral import Lanczos, settled_model
from ..gossip.sums import geometric_sum, power

__all__ = ["Basis", "Groups", "Response", "affordable"]

Basis = Literal["exact", "bound"]

_AFFORDABLE = 1.5e9
"""Multiplications that planning may spend on the exact expectation: some seconds."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Nodes that behave alike: ``chance``, ``decay`` and ``std`` of each group, and the group of each node."""

    chance: Floats
    decay: Floats
    std: Floats
    of_node: npt.NDArray[np.intp]

    @classmethod
    def of(cls, chances: Chances, decay: Floats, std: Floats) -> Groups:
        """Find them."""
        table, which = np.unique(np.stack([chances.nodes, decay, std], axis=1), axis=0, return_inverse=True)
        return cls(table[:, 0], table[:, 1], table[:, 2], which.reshape(-1))

    @property
    def gap(self) -> Floats:
        """1 − r of each group."""
        return self.chance * (1.0 - self.decay) * (1.0 + self.decay)

    @property
    def sizes(self) -> Floats:
        """Nodes in each group."""
        return np.bincount(self.of_node, minlength=len(self.chance)).astype(np.float64)


def affordable(chances: Chances) -> bool:
    """Whether the exact expectation is a matter of seconds on this graph.

    The number of Lanczos vectors grows like the root of the condition number of I − T, and each costs O(m n + n²).
    """
    graph = chances.graph
    each = 2.0 * graph.num_edges * graph.num_nodes + 12.0 * graph.num_nodes**2
    condition = 2.0 * float(chances.nodes.max()) / max(chances.contraction_gap, 1e-300)
    return graph.num_nodes <= 4000 and each * (50.0 + 6.0 * condition**0.5) <= _AFFORDABLE


class Response:
    """A(k) and B_g(k), exact or bounded, for one choice of φ."""

    def __init__(
        self, chances: Chances, groups: Groups, spread: float, basis: Basis, source: Response | None = None
    ) -> None:
        self.chances, self.groups, self.basis = chances, groups, basis
        self.spread = spread
        self.initial = 0.5 * (chances.graph.num_nodes - 1.0) * spread**2
        self.process: Lanczos | None = None
        if basis == "exact":
            self._prepare(source)
        else:
            self.theta_gap = np.array([chances.contraction_gap])
            self.powers = np.array([self.initial])
            self.sums = 0.25 * (groups.chance * groups.sizes)[None, :]

    def _prepare(self, source: Response | None) -> None:
        size = self.chances.graph.num_nodes
        centre = np.eye(size) - 1.0 / size
        process = source.process if source is not None and source.process is not None else None
        if process is None:
            process = Lanczos(SecondMomentMap(self.chances), self.spread**2 * centre)
        noise = Noise(np.ones(size), self.groups.decay[self.groups.of_node], self.groups.gap[self.groups.of_node])
        slowest = min(self.chances.contraction_gap, float(self.groups.gap.min()))
        if not slowest > 0:
            raise NumericalFailure("the error does not vanish: some edge or node is never active")
        settled_model(process, noise, 1, int(40.0 / slowest) + 1)
        self.process = process
        gaps, vectors = process.ritz()
        lead = np.sqrt(size - 1.0) * vectors[0]
        members = np.zeros((size, len(self.groups.chance)))
        members[np.arange(size), self.groups.of_node] = 0.125
        self.theta_gap = np.clip(gaps, 0.0, 1.0)
        self.powers = 0.5 * lead * (vectors.T @ np.array(process.with_start))
        self.sums = lead[:, None] * (vectors.T @ (np.array(process.with_nodes) @ members))

    def with_decay(self, decay: Floats, std: Floats) -> Response:
        """The same graph and spread with other φ; exact ones share the Lanczos vectors."""
        return Response(self.chances, Groups.of(self.chances, decay, std), self.spread, self.basis, self)

    def parts(self, k: float) -> tuple[float, Floats]:
        """A(k), and B_g(k) of every group for σ = 1."""
        quiet = float(power(self.theta_gap, k) @ self.powers)
        return quiet, np.sum(geometric_sum(k, self.theta_gap[:, None], self.groups.gap) * self.sums, axis=0)

    def relative(self, k: float, variance: Floats) -> float:
        """E‖x^k − c̄‖²/E‖c − c̄‖² when the groups have these σ²."""
        quiet, per_unit = self.parts(k)
        return (quiet + float(per_unit @ variance)) / self.initial

    @property
    def gossip_gap(self) -> float:
        """1 − the rate of gossip without noise: the true one, or the guaranteed one."""
        return float(self.theta_gap.min())
