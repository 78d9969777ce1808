"""State decomposition (Wang 2019): a node splits its value in two halves, and only one of them speaks.

α(0) is random and β(0) = 2c − α(0), so that the two have the mean c. α takes part in the averaging, β exchanges with α
only: α ← W α + κ (β − α), β ← β + κ (α − β). Both go to c̄, for Σ α + Σ β never changes. In the first round every node
takes a weight κ_i of its own that it keeps secret; the published argument for privacy rests on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method
from .registry import register
from .released import LinearRound, LinearSystem, NotGaussian, Released
from .synchronous import WeightedMethod
from .weights import Weights, extreme_eigenvalues, plus_diagonal, weights_apart

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["StateDecomposition", "decomposition_factor"]

SHOWN, COUPLING = 1, 2
"""Columns: α, and the weight κ_i of this round. The value is (α + β)/2, so β is twice the value less α."""

STD, USUAL, SECRET = 0, 1, 2


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """Tell α; in the first round also make it, and the secret weight."""
    if step == 0:
        nodes[i, SHOWN] *= parameters[STD]
        nodes[i, COUPLING] = parameters[USUAL] + parameters[SECRET] * draw
    elif step == 1:
        nodes[i, COUPLING] = parameters[USUAL]
    return float(nodes[i, SHOWN])


def receive(nodes: Array, i: int, sent: float, combined: float, step: int, parameters: Array) -> None:
    """α moves towards what was heard and towards β; what α takes from β leaves their mean alone."""
    mean = nodes[i, VALUE]
    nodes[i, SHOWN] = combined + nodes[i, COUPLING] * 2.0 * (mean - sent)
    nodes[i, VALUE] = mean + 0.5 * (combined - sent)


@register
@dataclass(frozen=True)
class StateDecomposition(WeightedMethod):
    """Every node averages with one half of its value, which starts at random, and keeps the other half to itself.

    Parameters
    ----------
    noise_std
        σ ≥ 0, standard deviation of the half that speaks, α(0) ~ N(0, σ²).
    coupling
        κ in (0, 1), how far the halves of a node move towards each other in a round.
    secret_weight_std
        Standard deviation, ≥ 0, of the secret weights of the first round around κ. 0: they are public like all others,
        and only then audits apply.
    weights
        See :class:`~sottovoce.SynchronousAveraging`.

    Notes
    -----
    The value of a node is (α + β)/2. The paper shows α, which has the same limit.

    Examples
    --------
    >>> import sottovoce as sv
    >>> method = StateDecomposition(noise_std=1.0, secret_weight_std=1.0)
    >>> run = sv.simulate(sv.graphs.complete(4), [1.0, 2.0, 3.0, 6.0], method, num_steps=200, seed=1)
    >>> run.values.round(9).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    noise_std: float
    coupling: float = 0.2
    secret_weight_std: float = 1.0
    weights: Weights = "metropolis"

    name: ClassVar[str] = "state-decomposition"
    noise_sizes: ClassVar[tuple[str, ...]] = ("noise_std",)
    num_fields: ClassVar[int] = 3
    start_noise_field: ClassVar[int | None] = SHOWN
    noise: ClassVar[str] = "normal"
    send = staticmethod(send)
    receive = staticmethod(receive)

    def __post_init__(self) -> None:
        self.check("noise_std", low=0.0)
        self.check("coupling", low=0.0, high=1.0, low_open=True, high_open=True)
        self.check("secret_weight_std", low=0.0)
        super().__post_init__()

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        """Secret weights as published, and public ones, which can be audited."""
        coupling = min(0.2, 1.0 / (2.0 + float(graph.degrees.max())))
        return cls(noise_std=1.0, coupling=coupling), cls(noise_std=1.0, coupling=coupling, secret_weight_std=0.0)

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.noise_std, self.coupling, self.secret_weight_std])

    def noisy_rounds(self, graph: Graph) -> int:
        return 1

    def caveats(self, graph: Graph) -> tuple[str, ...]:
        found = super().caveats(graph)
        mixing = self.mixing(graph)
        if found or self.coupling <= float(mixing.diagonal().min()):
            return found  # all new numbers are averages of old ones
        least = extreme_eigenvalues(mixing)[1]
        largest = 2.0 * (1.0 + least) / (3.0 + least)
        if self.coupling < largest:
            return ()
        return (f"coupling must be below {largest:.6g} on this graph, or the halves of a node move apart",)

    def releases(self, graph: Graph) -> Released:
        """With public weights: rows α and β, of which α is said."""
        if self.secret_weight_std > 0.0:
            return NotGaussian("values under secret weights")
        import scipy.sparse

        n, mixing, move = graph.num_nodes, self.mixing(graph), self.coupling
        one: Any = scipy.sparse.eye_array(n)
        nothing = scipy.sparse.csr_array((n, n))
        inner = plus_diagonal(mixing, np.full(n, -move))
        always = LinearRound(
            said=scipy.sparse.hstack([one, nothing], format="csr"),
            moved=scipy.sparse.block_array([[inner, move * one], [move * one, (1.0 - move) * one]], format="csr"),
        )
        return LinearSystem.broadcast(
            start=scipy.sparse.vstack([nothing, 2.0 * one]),
            start_noise=scipy.sparse.vstack([self.noise_std * one, -self.noise_std * one]),
            rounds=lambda _: always,
        )

    def guarantee(self, graph: Graph) -> Guarantee:
        if self.caveats(graph):
            return Guarantee()
        return Guarantee(decomposition_factor(self.mixing(graph), self.coupling) ** 2, 0.0, attained=True)

    def label(self) -> str:
        secret = f", secret weights ± {self.secret_weight_std:g}" if self.secret_weight_std else ", public weights"
        return f"state decomposition, σ = {self.noise_std:g}{secret}{weights_apart(self.weights)}"


def decomposition_factor(weights: npt.ArrayLike | scipy.sparse.csr_array, coupling: float) -> float:
    """State decomposition: the factor by which all disagreement of α and β shrinks per round, in the long run.

    An eigenvector of W with eigenvalue λ carries the two eigenvalues of [[λ − κ, κ], [κ, 1 − κ]]. Both grow with λ, so
    the extreme ones come from λ₂ and λ_n, and λ = 1 adds 1 − 2κ. W is symmetric and doubly stochastic.

    Examples
    --------
    >>> round(decomposition_factor([[0.5, 0.5], [0.5, 0.5]], 0.5), 9)
    0.707106781
    """
    second, least = extreme_eigenvalues(np.asarray(weights) if isinstance(weights, list) else weights)

    def both(eigenvalue: float) -> tuple[float, float]:
        middle, half = 0.5 * (eigenvalue + 1.0 - 2.0 * coupling), 0.5 * (1.0 - eigenvalue)
        spread = math.hypot(half, coupling)
        return middle - spread, middle + spread

    return max(abs(both(least)[0]), abs(both(second)[1]), abs(both(1.0)[0]))
