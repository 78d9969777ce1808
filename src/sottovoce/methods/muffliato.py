"""Muffliato (Cyffers, Even, Bellet, Massoulié 2022): one Gaussian draw that stays, then accelerated averaging.

x(0) = c + N(0, σ²) and x(t+1) = γ W x(t) + (1 − γ) x(t−1), with x(−1) = x(0). All nodes end at c̄ + mean(draws). Privacy
is pairwise: what node v learns of the value of node u fades with their distance (*pairwise network differential
privacy*). :func:`muffliato_loss` is exact; :func:`muffliato_summed_loss` adds up messages one by one, as public code
does, and is not an upper bound, because messages share their draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..foundation.arguments import number, whole
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .seen import one_draw_information
from .synchronous import WeightedMethod, check_node
from .weights import Weights, averaging_matrix, extreme_eigenvalues, weights_apart

__all__ = ["Muffliato", "muffliato_acceleration", "muffliato_loss", "muffliato_summed_loss"]

ADDED, PREVIOUS = 1, 2
"""Columns: the draw, which stays in the average, and x(t−1)."""

STD, GAMMA = 0, 1


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """In the first round the value gets its noise; then tell the value."""
    if step == 0:
        nodes[i, ADDED] = parameters[STD] * draw
        nodes[i, VALUE] += nodes[i, ADDED]
        nodes[i, PREVIOUS] = nodes[i, VALUE]
    return float(nodes[i, VALUE])


def receive(nodes: Array, i: int, sent: float, combined: float, step: int, parameters: Array) -> None:
    """γ times the average, 1 − γ times the value before the last."""
    following = parameters[GAMMA] * combined + (1.0 - parameters[GAMMA]) * nodes[i, PREVIOUS]
    nodes[i, PREVIOUS] = sent
    nodes[i, VALUE] = following


@register
@dataclass(frozen=True)
class Muffliato(WeightedMethod):
    """One Gaussian draw on every value, which stays, and then averaging, accelerated if that is asked for.

    Parameters
    ----------
    noise_std
        σ ≥ 0, standard deviation of the draw.
    acceleration
        γ in [1, 2). ``None``: the best for the graph, which needs its spectral gap. 1: plain averaging.
    weights
        See :class:`~sottovoce.SynchronousAveraging`.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.cycle(6), [0.0] * 6, Muffliato(noise_std=0.0), num_steps=3, seed=1)
    >>> run.values.tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    noise_std: float
    acceleration: float | None = None
    weights: Weights = "metropolis"

    name: ClassVar[str] = "muffliato"
    noise_sizes: ClassVar[tuple[str, ...]] = ("noise_std",)
    num_fields: ClassVar[int] = 3
    outstanding_field: ClassVar[int | None] = ADDED
    noise: ClassVar[str] = "normal"
    send = staticmethod(send)
    receive = staticmethod(receive)

    def __post_init__(self) -> None:
        self.check("noise_std", low=0.0)
        if self.acceleration is not None:
            self.check("acceleration", low=1.0, high=2.0, high_open=True)
        super().__post_init__()

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(noise_std=1.0),)

    def needs(self) -> str:
        return super().needs() + (" and the spectral gap of the weights" if self.acceleration is None else "")

    def gamma(self, graph: Graph) -> float:
        """γ on this graph."""
        if self.acceleration is not None:
            return self.acceleration
        return muffliato_acceleration(1.0 - extreme_eigenvalues(self.mixing(graph))[0])

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.noise_std, self.gamma(graph)])

    def noisy_rounds(self, graph: Graph) -> int:
        return 1

    def releases(self, graph: Graph) -> Released:
        """As without acceleration: x(t) is a polynomial of degree t of W at x(0), so the same is heard in t rounds."""
        n = graph.num_nodes
        return LinearRounds(np.zeros(n), self.mixing(graph), FadingNoise.equal(n, std=self.noise_std, rounds=1))

    def guarantee(self, graph: Graph) -> Guarantee:
        """W has real eigenvalues μ, and each moves as r² = γ μ r + 1 − γ; the draws' mean stays."""
        if self.noise_std > 0.0 or self.caveats(graph):
            return Guarantee(remaining=self.noise_std**2)
        gamma, extremes = self.gamma(graph), extreme_eigenvalues(self.mixing(graph))
        return Guarantee(max(_radius(gamma, eigenvalue) for eigenvalue in extremes) ** 2, 0.0, attained=True)

    def label(self) -> str:
        how = {None: "accelerated", 1.0: "plain"}.get(self.acceleration, f"γ = {self.acceleration}")
        return f"Muffliato, σ = {self.noise_std:g}, {how}{weights_apart(self.weights)}"


def muffliato_acceleration(gap: float) -> float:
    """Muffliato: γ = 2(1 − √(λ(1 − λ/4)))/(1 − λ/2)² for the spectral gap λ = 1 − λ₂(W).

    That is 2/(1 + √(λ(1 − λ/4))). Eigenvalues of W between −(1 − λ/2) and 1 − λ/2 then all shrink by √(γ − 1) a round.

    Examples
    --------
    >>> muffliato_acceleration(2.0), round(muffliato_acceleration(0.01), 6)
    (1.0, 1.818389)
    """
    number("gap", gap, low=0.0, high=2.0)
    return 2.0 / (1.0 + math.sqrt(gap * (1.0 - gap / 4.0)))


def muffliato_loss(
    weights: npt.ArrayLike, observer: int, *, noise_std: float, num_rounds: int, sensitivity: float = 1.0
) -> Array:
    """Muffliato: what ``observer`` learns of every node, exactly, as pairwise network differential privacy.

    The Rényi divergence of order a between two values of node u that lie Δ apart is a times the loss,
    Δ² e_uᵀP e_u/(2σ²), where P projects on all that the observer sees together. Acceleration does not change it: x(t)
    is a polynomial of degree t of W at x(0), so the same is seen after the same number of rounds.

    Parameters
    ----------
    weights
        ``(n, n)`` symmetric W with rows that add up to one.
    observer
        The listening node v.
    noise_std, num_rounds
        σ > 0, and how many rounds it hears its neighbours.
    sensitivity
        Δ.

    Returns
    -------
    ndarray
        ``(n,)``; infinite for the observer.

    Examples
    --------
    Path 0–1–2 with W = I − L/3, messages of three rounds: the exact loss, and the sum over messages, which is below it.

    >>> W = np.eye(3) - np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]]) / 3
    >>> float(muffliato_loss(W, 0, noise_std=1.0, num_rounds=3)[2].round(9))
    0.5
    >>> float(muffliato_summed_loss(W, 0, noise_std=1.0, num_rounds=3)[2].round(9))
    0.333333333
    """
    half = 0.5 * number("sensitivity", sensitivity, low=0.0) ** 2
    return half * one_draw_information(weights, observer, noise_std=noise_std, num_rounds=num_rounds)


def muffliato_summed_loss(
    weights: npt.ArrayLike,
    observer: int,
    *,
    noise_std: float,
    num_rounds: int,
    sensitivity: float = 1.0,
    acceleration: float = 1.0,
) -> Array:
    """Muffliato: the account that adds up messages one by one, (Δ²/2σ²) Σ_t Σ_{w ∈ N(v)} (P_t)²_{wu}/‖(P_t)_w‖².

    P_t = P_t(W) with P_0 = I, P_1 = γW + (1 − γ)I and P_{t+1} = γ W P_t + (1 − γ) P_{t−1}. Messages share their draws,
    so the sum may be below the truth, which is :func:`muffliato_loss`. Parameters are those of that function;
    ``acceleration`` is γ.
    """
    matrix = averaging_matrix(weights)
    check_node("observer", observer, len(matrix))
    number("noise_std", noise_std, low=0.0, low_open=True)
    number("sensitivity", sensitivity, low=0.0)
    near = np.flatnonzero(matrix[observer] != 0.0)
    near = near[near != observer]
    before, now, total = np.eye(len(matrix)), np.eye(len(matrix)), np.zeros(len(matrix))
    for _ in range(whole("num_rounds", num_rounds, low=0)):
        heard = now[near] ** 2
        total += (heard / heard.sum(axis=1, keepdims=True)).sum(axis=0)
        before, now = now, acceleration * matrix @ now + (1.0 - acceleration) * before
    total[observer] = np.inf
    return np.asarray(0.5 * (sensitivity / noise_std) ** 2 * total)


def _radius(gamma: float, eigenvalue: float) -> float:
    """The larger modulus of the roots of r² = γ μ r + 1 − γ."""
    return float(np.abs(np.roots([1.0, -gamma * eigenvalue, gamma - 1.0])).max())
