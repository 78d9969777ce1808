"""What is guaranteed of the asynchronous methods beside noise insertion: plain functions of graph and parameters.

Standard gossip (Boyd, Ghosh, Prabhakar, Shah 2006), the binary and ε-gap oracles (Hanzely, Konečný, Loizou,
Richtárik, Grishchenko 2017), heavy-ball and accelerated gossip (Loizou, Rabbat, Richtárik) and push-sum
(Kempe, Dobra, Gehrke 2003). G = ½‖x − c̄‖² throughout. The synchronous methods are in :mod:`.rounds`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import Array as Floats
from ..graphs.chances import Chances
from ..graphs.graph import Graph

__all__ = [
    "Acceleration",
    "acceleration",
    "adaptive_binary_factor",
    "averaging_time",
    "best_binary_step",
    "binary_oracle_bound",
    "gap_oracle_bound",
    "gap_oracle_moves",
    "heavy_ball_factor",
    "heavy_ball_momentum",
    "high_probability_steps",
    "inverse_root_binary_bound",
    "push_sum_factor",
]


def _inside(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        raise InvalidParameter(f"{name} must be in ({low:g}, {high:g}), got {value:g}")


# -- standard gossip ----------------------------------------------------------------------------------


def averaging_time(
    graph: Graph, accuracy: float, *, edge_probabilities: npt.ArrayLike | None = None
) -> tuple[float, float]:
    """Boyd's ε-averaging time of standard gossip, from below and from above, in steps.

    It is the smallest t with P(‖x(t) − c̄‖ ≥ ε‖x(0)‖) ≤ ε for the worst x(0). With λ₂ = ρ the second
    eigenvalue of the mean averaging matrix it lies between ½ log(1/ε)/log(1/λ₂) and 3 log(1/ε)/log(1/λ₂).

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> low, high = averaging_time(cycle(10), 0.01)
    >>> round(low), round(high)
    (119, 716)
    """
    _inside("accuracy", accuracy, 0.0, 1.0)
    gap = Chances(graph, edge_probabilities).contraction_gap
    if gap >= 1.0:
        return 0.0, 1.0
    unit = math.log(1.0 / accuracy) / -math.log1p(-gap)
    return 0.5 * unit, 3.0 * unit


def high_probability_steps(
    graph: Graph, relative_error: float, probability: float, *, edge_probabilities: npt.ArrayLike | None = None
) -> int:
    """Steps of standard gossip after which ‖x − c̄‖² ≤ relative_error · ‖c − c̄‖² with at least this probability.

    By Markov's inequality it is enough that the expected relative error is at most relative_error · (1 − probability).

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> high_probability_steps(complete(3), 0.1, 0.9)
    7
    """
    _inside("relative_error", relative_error, 0.0, math.inf)
    _inside("probability", probability, 0.0, 1.0)
    gap = Chances(graph, edge_probabilities).contraction_gap
    target = relative_error * (1.0 - probability)
    if target >= 1.0:
        return 0
    return 1 if gap >= 1.0 else math.ceil(math.log(target) / math.log1p(-gap) - 1e-9)


# -- oracles ------------------------------------------------------------------------------------------


def binary_oracle_bound(initial_error: float, step_sizes: npt.ArrayLike) -> float:
    """Binary oracle: min_{t} E L^t ≤ (G_0 + Σ λ_t²)/Σ λ_t, L = (1/m) Σ_e abs(x_i − x_j).

    Each step changes E G by exactly −λ_t E L^t + λ_t²; add them up.

    Examples
    --------
    >>> binary_oracle_bound(1.0, [0.5, 0.5])
    1.5
    """
    steps = np.asarray(step_sizes, dtype=np.float64)
    if steps.size == 0 or not (steps > 0).all():
        raise InvalidParameter("step_sizes must be positive, at least one")
    return float((initial_error + np.sum(steps**2)) / np.sum(steps))


def best_binary_step(error_limit: float, num_steps: int) -> tuple[float, float]:
    """The best constant λ for k steps when G_0 ≤ R is known: √(R/k), and its bound 2√(R/k).

    The paper counts steps 0..k, so its k + 1 is ``num_steps`` here.

    Examples
    --------
    >>> best_binary_step(1.0, 100)
    (0.1, 0.2)
    """
    _inside("error_limit", error_limit, 0.0, math.inf)
    if num_steps < 1:
        raise InvalidParameter(f"num_steps must be at least 1, got {num_steps}")
    step = math.sqrt(error_limit / num_steps)
    return step, 2.0 * step


def inverse_root_binary_bound(initial_error: float, scale: float, last_step: int) -> float:
    """Binary oracle with λ_t = a/√(t+1), t = 0..k: [G_0 + a²(log(k + 3/2) + log 2)]/[2a(√(k + 2) − 1)].

    Examples
    --------
    >>> round(inverse_root_binary_bound(1.0, 0.5, 998), 4)
    0.0947
    """
    _inside("scale", scale, 0.0, math.inf)
    top = initial_error + scale**2 * (math.log(last_step + 1.5) + math.log(2.0))
    return top / (2.0 * scale * (math.sqrt(last_step + 2.0) - 1.0))


def adaptive_binary_factor(graph: Graph, share: float = 0.5) -> float:
    """Binary oracle with λ_t = share · L^t: E G shrinks at least by 1 − 2 share (1 − share) α/m² per step.

    share = ½ is best and gives 1 − α/(2m²); ¼, which the published experiments use, gives 1 − 3α/(8m²).

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> adaptive_binary_factor(complete(2)), adaptive_binary_factor(complete(2), 0.25)
    (0.0, 0.25)
    """
    _inside("share", share, 0.0, 1.0)
    alpha = Chances(graph).alpha * graph.num_edges
    return 1.0 - 2.0 * share * (1.0 - share) * alpha / graph.num_edges**2


def gap_oracle_moves(initial_error: float, gap: float) -> int:
    """ε-gap oracle: no run ever moves more than 4G_0/ε² times; after its last move every edge differs by less than ε.

    A move takes at least ε²/4 from G, because the ends differ by ε or more and each goes ε/2 towards the other.

    Examples
    --------
    >>> gap_oracle_moves(1.0, 0.5)
    16
    """
    _inside("gap", gap, 0.0, math.inf)
    return math.floor(4.0 * initial_error / gap**2 * (1.0 + 1e-12))


def gap_oracle_bound(initial_error: float, gap: float, num_steps: int) -> float:
    """ε-gap oracle: (1/k) Σ_{t<k} E Δ^t ≤ 4G_0/(kε²), Δ the share of edges that differ by at least ε."""
    _inside("gap", gap, 0.0, math.inf)
    return 4.0 * initial_error / (num_steps * gap**2)


# -- momentum -----------------------------------------------------------------------------------------


def heavy_ball_momentum(graph: Graph, relaxation: float = 1.0, safety: float = 0.99) -> float:
    """β for which the mean of heavy-ball gossip converges at β: (1 − √(safety · ω · λ_min))², λ_min = α/(2m).

    It speaks of ‖E[x] − c̄‖² only; in mean square momentum this large has no guarantee.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> round(heavy_ball_momentum(cycle(10)), 4)
    0.7439
    """
    _inside("relaxation", relaxation, 0.0, 2.0)
    _inside("safety", safety, 0.0, 1.0)
    return (1.0 - math.sqrt(safety * relaxation * Chances(graph).contraction_gap)) ** 2


def heavy_ball_factor(graph: Graph, momentum: float, relaxation: float = 1.0) -> float:
    """The factor q with E‖x^k − c̄‖² ≤ q^k (1 + q − a₁) ‖x^0 − c̄‖² for heavy-ball gossip; at least 1: no guarantee.

    With λ the eigenvalues of L/(2m): a₁ = 1 + 3β + 2β² − (ω(2 − ω) + ωβ)λ_min, a₂ = β + 2β² + ωβλ_max and
    q = (a₁ + √(a₁² + 4a₂))/2 (Loizou and Richtárik 2020, Theorem 1).

    Examples
    --------
    On C₁₀ the guarantee is gone at β = 0.0046.

    >>> from sottovoce.graphs import cycle
    >>> heavy_ball_factor(cycle(10), 0.0045) < 1 < heavy_ball_factor(cycle(10), 0.0046)
    True
    """
    if not 0.0 <= momentum < 1.0:
        raise InvalidParameter(f"momentum must be in [0, 1), got {momentum:g}")
    _inside("relaxation", relaxation, 0.0, 2.0)
    chances = Chances(graph)
    low, high = chances.contraction_gap, 0.5 * _largest_eigenvalue(chances)
    first = 1.0 + 3.0 * momentum + 2.0 * momentum**2 - (relaxation * (2.0 - relaxation) + relaxation * momentum) * low
    second = momentum + 2.0 * momentum**2 + relaxation * momentum * high
    return 0.5 * (first + math.sqrt(first**2 + 4.0 * second))


def _largest_eigenvalue(chances: Chances) -> float:
    if chances.graph.num_nodes <= 500:
        return float(np.linalg.eigvalsh(chances.laplacian.toarray())[-1])
    import scipy.sparse.linalg

    start = np.random.default_rng(0).standard_normal(chances.graph.num_nodes)
    found = scipy.sparse.linalg.eigsh(chances.laplacian, k=1, which="LA", return_eigenvectors=False, v0=start)
    return float(found[0])


@dataclass(frozen=True)
class Acceleration:
    """Parameters and factor of accelerated gossip.

    Attributes
    ----------
    mu
        λ₂ of E Z = ½ L_p: α/(2m) for equally likely edges.
    nu
        The largest generalized eigenvalue of (Σ p_e R_e b_e b_eᵀ, Σ p_e b_e b_eᵀ), R_e the effective resistance of e
        when edges conduct p_e. It is n − 1 on edge-transitive graphs and m on trees.
    factor
        1 − √(μ/ν), by which E[‖v − c̄‖²_{(EZ)⁺} + ‖x − c̄‖²/μ] shrinks per step.
    """

    mu: float
    nu: float

    @property
    def factor(self) -> float:
        """1 − √(μ/ν)."""
        return 1.0 - math.sqrt(self.mu / self.nu)


def acceleration(graph: Graph, *, edge_probabilities: npt.ArrayLike | None = None) -> Acceleration:
    """μ and ν of accelerated gossip, with dense linear algebra (n up to a few thousand).

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> found = acceleration(cycle(10))
    >>> round(found.nu, 9), round(found.factor, 5)
    (9.0, 0.95393)
    """
    import scipy.linalg

    chances = Chances(graph, edge_probabilities)
    ends = graph.edges
    laplacian = chances.laplacian.toarray()
    size = graph.num_nodes
    inverse = np.linalg.inv(laplacian + 1.0 / size) - 1.0 / size
    diagonal = inverse.diagonal()
    resistance: Floats = diagonal[ends[:, 0]] + diagonal[ends[:, 1]] - 2.0 * inverse[ends[:, 0], ends[:, 1]]
    weighted, load = np.zeros((size, size)), chances.edges * resistance
    np.add.at(weighted, (ends[:, 0], ends[:, 0]), load)
    np.add.at(weighted, (ends[:, 1], ends[:, 1]), load)
    np.subtract.at(weighted, (ends[:, 0], ends[:, 1]), load)
    np.subtract.at(weighted, (ends[:, 1], ends[:, 0]), load)
    # Both matrices vanish on the constant vector; adding the same multiple of it to the second leaves the rest alone.
    largest = scipy.linalg.eigh(weighted, laplacian + 1.0 / size, eigvals_only=True)[-1]
    return Acceleration(mu=chances.contraction_gap, nu=float(largest))


# -- push-sum -----------------------------------------------------------------------------------------


def push_sum_factor(num_nodes: int, *, including_self: bool = True) -> float:
    """Push-sum on a complete graph: E[Φ_{t+1} | Φ_t] = factor · Φ_t exactly, Φ = Σ_{ij} (v_ij − w_i/n)².

    v_ij is the share of j's value that i holds, w_i = Σ_j v_ij. With d_i = v_i − w_i/n we have Σ_i d_i = 0; a round
    halves every d_i and hands the other half to a random target. Targets uniform over all n nodes: ½ − 1/(4n)
    (the published lemma has 1/(2n); enumerating the targets of a small network decides). Uniform over the N = n − 1
    others: ½ − 3/(4N) + 1/(4N²).

    Examples
    --------
    >>> push_sum_factor(2), push_sum_factor(2, including_self=False)
    (0.375, 0.0)
    """
    if num_nodes < 2:
        raise InvalidParameter(f"num_nodes must be at least 2, got {num_nodes}")
    if including_self:
        return 0.5 - 0.25 / num_nodes
    others = num_nodes - 1
    return 0.5 - 0.75 / others + 0.25 / others**2
