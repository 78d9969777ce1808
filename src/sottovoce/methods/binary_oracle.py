"""Private gossip via a binary oracle: the two ends learn only whose value is larger.

From the full version of the paper (Hanzely, Konečný, Loizou, Richtárik, Grishchenko, arXiv 1706.07636).
Who is larger moves down by the step size λ_t, who is smaller moves up by it; on a tie the second end
moves up. L^t = (1/m) Σ_e |x_i − x_j| is what converges, and what the adaptive step needs to know.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import number
from ..graphs.graph import Graph
from ..graphs.spectrum import algebraic_connectivity
from .base import VALUE, Array, Guarantee, Method, PairMethod
from .registry import register
from .released import Comparisons, Released

__all__ = [
    "BinaryOracle",
    "adaptive_binary_factor",
    "best_binary_step",
    "binary_oracle_bound",
    "inverse_root_binary_bound",
]

SPREAD = 1
"""Row 0 of this column holds Σ_e |x_i − x_j|; the other rows are unused. Only adaptive steps keep it."""

CONSTANT, HARMONIC, ROOT, ADAPTIVE = 0.0, 1.0, 2.0, 3.0
RULE, SCALE, NUM_EDGES, INDPTR = 0, 1, 2, 3  # then n + 1 row pointers and 2m neighbours
MIN_REFRESH = 64
"""Σ|x_i − x_j| is computed afresh every max(m, this many) steps: rounding never piles up, and it costs O(1) a step."""


def update(nodes: Array, i: int, j: int, draw_i: float, draw_j: float, step: int, parameters: Array) -> None:
    """One comparison and one move; adaptive steps also keep Σ|x_i − x_j| over the edges of i and of j."""
    rule = parameters[RULE]
    size = parameters[SCALE]
    if rule == HARMONIC:
        size /= step + 1.0
    elif rule == ROOT:
        size /= np.sqrt(step + 1.0)
    elif rule == ADAPTIVE:
        n = nodes.shape[0]
        m = int(parameters[NUM_EDGES])
        if step % max(m, MIN_REFRESH) == 0:
            total = 0.0
            for a in range(n):
                for k in range(int(parameters[INDPTR + a]), int(parameters[INDPTR + a + 1])):
                    total += abs(nodes[a, VALUE] - nodes[int(parameters[INDPTR + n + 1 + k]), VALUE])
            nodes[0, SPREAD] = 0.5 * total
        size *= max(nodes[0, SPREAD], 0.0) / m
    move = size if nodes[i, VALUE] < nodes[j, VALUE] else -size
    if rule == ADAPTIVE:
        n = nodes.shape[0]
        change = 0.0
        for end in range(2):
            own = np.int64(i) if end == 0 else np.int64(j)
            other = np.int64(j) if end == 0 else np.int64(i)
            before = nodes[own, VALUE]
            after = before + (move if end == 0 else -move)
            for k in range(int(parameters[INDPTR + own]), int(parameters[INDPTR + own + 1])):
                neighbour = int(parameters[INDPTR + n + 1 + k])
                if neighbour != other:
                    change += abs(after - nodes[neighbour, VALUE]) - abs(before - nodes[neighbour, VALUE])
        gap = nodes[i, VALUE] - nodes[j, VALUE]
        nodes[0, SPREAD] += change + abs(gap + 2.0 * move) - abs(gap)
    nodes[i, VALUE] += move
    nodes[j, VALUE] -= move


@register
@dataclass(frozen=True)
class BinaryOracle(PairMethod):
    """The ends of the firing edge learn only which value is larger; the larger moves down by λ_t, the smaller up.

    Parameters
    ----------
    step_size
        λ_t: a number > 0 (constant), ``"a/t"`` or ``"a/sqrt(t)"`` with t = 1, 2, … (a is a number, 1 in
        ``"1/t"``), the same as ``"a/sqrt(t+1)"`` with t = 0, 1, …; or ``"adaptive"``, which is L^t/2.
        ``"L/4"`` is the adaptive step of the published experiments, and other divisors > 1 work the same way.
        Adaptive steps need L^t, which no node knows: they are a standard to compare with, not a protocol.

    Notes
    -----
    min over t ≤ k of E L^t ≤ (G₀ + Σ λ_t²)/Σ λ_t with G₀ = ½‖c − c̄‖²; with the adaptive step
    E‖x^k − c̄‖² ≤ (1 − α/(2m²))^k ‖c − c̄‖². A constant step never settles closer than about its own size.

    Examples
    --------
    >>> BinaryOracle(step_size="1/sqrt(t)").step_at(3)
    0.5
    >>> BinaryOracle.for_horizon(initial_error=4.0, num_steps=100)
    BinaryOracle(step_size=0.2)
    """

    step_size: float | str

    name: ClassVar[str] = "binary-oracle"
    num_fields: ClassVar[int] = 2
    assumes_equal_edges: ClassVar[bool] = True
    update = staticmethod(update)

    def __post_init__(self) -> None:
        if isinstance(self.step_size, str):
            _parse(self.step_size)
        else:
            self.check("step_size", low=0.0, low_open=True, why="a step of zero never moves")

    @classmethod
    def for_horizon(cls, *, initial_error: float, num_steps: int) -> BinaryOracle:
        """The constant step with the best guarantee over ``num_steps`` = k steps: λ = √(R/k).

        ``initial_error`` is any R ≥ G₀ = ½‖c − c̄‖²; the guarantee is then min_t E L^t ≤ 2√(R/k). (The paper
        counts steps 0..k, so its k + 1 is ours.)
        """
        return cls(step_size=_best_step("initial_error", initial_error, num_steps))

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return cls(step_size="1/sqrt(t)"), cls(step_size="adaptive")

    @property
    def adaptive(self) -> bool:
        """Whether the step follows L^t."""
        return self._rule[0] == ADAPTIVE

    @property
    def adaptive_share(self) -> float:
        """Of an adaptive step: λ_t/L^t; 0 for other steps."""
        return self._rule[1] if self.adaptive else 0.0

    @property
    def _rule(self) -> tuple[float, float]:
        return _parse(self.step_size) if isinstance(self.step_size, str) else (CONSTANT, self.step_size)

    def step_at(self, step: int) -> float:
        """λ at step 0, 1, …, of a rule that does not look at the values."""
        rule, scale = self._rule
        if rule == ADAPTIVE:
            raise InvalidParameter("step_at needs a step size that does not depend on the values, got an adaptive one")
        return scale / {CONSTANT: 1.0, HARMONIC: step + 1.0, ROOT: math.sqrt(step + 1.0)}[rule]

    def parameters(self, graph: Graph) -> Array:
        head = np.array([*self._rule, graph.num_edges], dtype=np.float64)
        return np.concatenate([head, graph.indptr, graph.neighbours]) if self.adaptive else head

    def releases(self, graph: Graph) -> Released:
        return Comparisons()

    def guarantee(self, graph: Graph) -> Guarantee:
        """The factor of adaptive steps; for steps that do not look at the values neither rate nor limit is known."""
        return Guarantee(adaptive_binary_factor(graph, self.adaptive_share), 0.0) if self.adaptive else Guarantee()

    def needs(self) -> str:
        if self.adaptive:
            return "the mean difference over all edges of the network, at every step"
        return "" if self._rule[0] == CONSTANT else "the number of steps made in the network"

    def label(self) -> str:
        if not isinstance(self.step_size, str):
            return f"binary oracle, λ = {self.step_size:g}"
        return f"binary oracle, {'λ = ' if not self.adaptive or '/' in self.step_size else ''}{self.step_size}"


def _parse(text: str) -> tuple[float, float]:
    """(rule, scale) of a named step size."""
    allowed = 'a number > 0, "a/t", "a/sqrt(t)", "a/sqrt(t+1)", "adaptive" or "L/b" with b > 1'
    squeezed = text.replace(" ", "").replace("√t", "sqrt(t)").replace("√(", "sqrt(")
    if squeezed == "adaptive":
        return ADAPTIVE, 0.5
    top, slash, bottom = squeezed.partition("/")
    rules = {"t": HARMONIC, "sqrt(t)": ROOT, "sqrt(t+1)": ROOT}
    plain = re.compile(r"(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
    scale = bottom if top == "L" else top
    if (
        not slash
        or (top != "L" and bottom not in rules)
        or not plain.fullmatch(scale)
        or not 0 < float(scale) < math.inf
    ):
        raise InvalidParameter(f"step_size must be {allowed}, got {text!r}")
    if top != "L":
        return rules[bottom], float(scale)
    if not float(scale) > 1.0:
        raise InvalidParameter(f"step_size must be {allowed} (steps of L or more do not contract), got {text!r}")
    return ADAPTIVE, 1.0 / float(scale)


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
    step = _best_step("error_limit", error_limit, num_steps)
    return step, 2.0 * step


def _best_step(name: str, error_limit: float, num_steps: int) -> float:
    limit = number(name, error_limit, low=0.0, low_open=True)
    return math.sqrt(limit / number("num_steps", num_steps, low=1.0))


def inverse_root_binary_bound(initial_error: float, scale: float, last_step: int) -> float:
    """Binary oracle with λ_t = a/√(t+1), t = 0..k: [G_0 + a²(log(k + 3/2) + log 2)]/[2a(√(k + 2) − 1)].

    Examples
    --------
    >>> round(inverse_root_binary_bound(1.0, 0.5, 998), 4)
    0.0947
    """
    number("scale", scale, low=0.0, low_open=True)
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
    number("share", share, low=0.0, high=1.0, low_open=True, high_open=True)
    return 1.0 - 2.0 * share * (1.0 - share) * algebraic_connectivity(graph) / graph.num_edges**2
