"""How the expected error depends on the noise, before the noise is chosen: E G_k = A(k) + Σ_g σ_g² B_g(k).

A is what plain gossip leaves of the values' spread, B_g what unit noise at the nodes of group g leaves. Nodes form
a group when they are activated equally often and have the same φ (and the same σ, where that is given). Both come from
the exact expectation or from the corrected bound, and the searches (:mod:`.search`) need not know which. Noise that
stays in place is :mod:`.kept`.
Private values are not needed: independent values of standard deviation s start at Y_0 = s² (I − 11ᵀ/n) on average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import NumericalFailure
from ...foundation.arguments import Array
from ...graphs.chances import Chances
from ...methods.noise_insertion import free_decay
from ..gossip.exact import SecondMomentMap
from ..gossip.setting import Noise
from ..gossip.spectral import Lanczos, Model, settled_model
from .question import Basis

__all__ = ["Groups", "Response", "affordable"]

_AFFORDABLE = 1.5e9
"""Multiplications that planning may spend on the exact expectation: some seconds."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Nodes that behave alike: ``chance``, ``decay`` and ``std`` of each group, and the group of each node."""

    chance: Array
    decay: Array
    std: Array
    of_node: npt.NDArray[np.intp]

    @classmethod
    def of(cls, chances: Chances, decay: Array, std: Array) -> Groups:
        """Find them."""
        table, which = np.unique(np.stack([chances.nodes, decay, std], axis=1), axis=0, return_inverse=True)
        return cls(table[:, 0], table[:, 1], table[:, 2], which.reshape(-1))

    @property
    def gap(self) -> Array:
        """1 − r of each group."""
        return self.chance * (1.0 - self.decay) * (1.0 + self.decay)

    @property
    def sizes(self) -> Array:
        """Nodes in each group."""
        return np.bincount(self.of_node, minlength=len(self.chance)).astype(np.float64)


def affordable(chances: Chances) -> bool:
    """Whether the exact expectation takes only seconds on this graph.

    The number of Lanczos vectors grows like the root of the condition number of I − T, and each costs O(m n + n²).
    """
    graph = chances.graph
    each = 2.0 * graph.num_edges * graph.num_nodes + 12.0 * graph.num_nodes**2
    condition = 2.0 * float(chances.nodes.max()) / max(chances.contraction_gap, 1e-300)
    return graph.num_nodes <= 4000 and each * (50.0 + 6.0 * condition**0.5) <= _AFFORDABLE


@dataclass(frozen=True, eq=False)
class Response:
    """A(k) and B_g(k) for one choice of φ; ``process`` has the Lanczos vectors, ``None`` for the bound."""

    chances: Chances
    groups: Groups
    value_std: float
    process: Lanczos | None
    model: Model
    """The modes of the error, with the noise of each group at σ = 1."""

    @classmethod
    def of(cls, chances: Chances, groups: Groups, *, value_std: float, basis: Basis | None) -> Response:
        """From the exact expectation or the bound; by default exact where that is affordable."""
        process = None
        if (basis or ("exact" if affordable(chances) else "bound")) == "exact":
            size = chances.graph.num_nodes
            process = Lanczos(SecondMomentMap(chances), value_std**2 * (np.eye(size) - 1.0 / size))
        return cls(chances, groups, value_std, process, _model(chances, groups, value_std, process))

    def with_decay(self, decay: Array, std: Array) -> Response:
        """The same graph and spread with other φ; exact ones share the Lanczos vectors."""
        groups = Groups.of(self.chances, decay, std)
        model = _model(self.chances, groups, self.value_std, self.process)
        return Response(self.chances, groups, self.value_std, self.process, model)

    @property
    def basis(self) -> Basis:
        """Where the numbers come from."""
        return "bound" if self.process is None else "exact"

    @property
    def initial(self) -> float:
        """E[½‖c − c̄‖²]."""
        return _initial(self.chances, self.value_std)

    def parts(self, k: float) -> tuple[float, Array]:
        """A(k), and B_g(k) of every group for σ = 1."""
        return self.model.parts(k)

    def relative(self, k: float, variance: Array) -> float:
        """E‖x^k − c̄‖²/E‖c − c̄‖² when the groups have these σ²."""
        quiet, per_unit = self.parts(k)
        return (quiet + float(per_unit @ variance)) / self.initial

    @property
    def gossip_gap(self) -> float:
        """1 − the rate of gossip without noise: the true one, or the guaranteed one."""
        return float(self.model.theta_gap.min())

    @property
    def truly_free_decay(self) -> Array:
        """``(n,)`` the largest φ_i that leave the real rate alone; from the bound's ρ, those that surely do.

        The real rate is at least ρ² (Jensen's inequality on the Fiedler vector).
        """
        gap = self.gossip_gap if self.process is not None else self.gossip_gap * (2.0 - self.gossip_gap)
        return free_decay(gap, self.chances.nodes)


def _initial(chances: Chances, value_std: float) -> float:
    return 0.5 * (chances.graph.num_nodes - 1.0) * value_std**2


def _model(chances: Chances, groups: Groups, value_std: float, process: Lanczos | None) -> Model:
    if process is None:
        sums = 0.25 * (groups.chance * groups.sizes)[None, :]
        return Model(np.array([chances.contraction_gap]), np.array([_initial(chances, value_std)]), groups.gap, sums)
    slowest = min(chances.contraction_gap, float(groups.gap.min()))
    if not slowest > 0:
        raise NumericalFailure("the error does not vanish: some edge or node is never active")
    size = len(groups.of_node)
    noise = Noise(np.ones(size), groups.decay[groups.of_node], groups.gap[groups.of_node])
    settled_model(process, noise, 1, int(40.0 / slowest) + 1)
    members = np.zeros((size, len(groups.chance)))
    members[np.arange(size), groups.of_node] = 0.125
    return process.model(groups.gap, members)
