"""Standard pairwise gossip (Boyd, Ghosh, Prabhakar, Shah 2006): the paper's baseline, and how long it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import number
from ..graphs.chances import Chances
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method, PairMethod
from .registry import register
from .released import Released, WithdrawnNoise

__all__ = ["StandardGossip", "averaging_time", "high_probability_steps"]


def update(nodes: Array, i: int, j: int, draw_i: float, draw_j: float, step: int, parameters: Array) -> None:
    """Both ends take their average."""
    average = 0.5 * (nodes[i, VALUE] + nodes[j, VALUE])
    nodes[i, VALUE] = average
    nodes[j, VALUE] = average


@register
@dataclass(frozen=True)
class StandardGossip(PairMethod):
    """Both ends of the firing edge replace their values by the average of the two.

    It hides nothing: the first neighbour to call learns a node's private value exactly.
    """

    name: ClassVar[str] = "standard"
    num_fields: ClassVar[int] = 1
    follows: ClassVar[tuple[int, ...]] = (VALUE,)
    own_rows_only: ClassVar[bool] = True
    update = staticmethod(update)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(),)

    def releases(self, graph: Graph) -> Released:
        return WithdrawnNoise(np.zeros(graph.num_nodes), np.zeros(graph.num_nodes))

    def guarantee(self, graph: Graph) -> Guarantee:
        """ρ = 1 − α/(2m)."""
        return Guarantee(1.0 - Chances(graph).contraction_gap, 0.0)

    def label(self) -> str:
        return "standard gossip"


def averaging_time(
    graph: Graph, accuracy: float, *, edge_probabilities: npt.ArrayLike | None = None
) -> tuple[float, float]:
    """Boyd's ε-averaging time of standard gossip, from below and from above, in steps.

    It is the smallest t with P(‖x(t) − c̄‖ ≥ ε‖x(0)‖) ≤ ε for the worst x(0). With λ₂ = ρ the second
    eigenvalue of the mean averaging matrix it lies between ½ log(1/ε)/log(1/λ₂) and 3 log(1/ε)/log(1/λ₂). It is a
    whole number, and at least 1: some x(0) is far from its mean. So both limits are rounded up.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> low, high = averaging_time(cycle(10), 0.01)
    >>> round(low), round(high)
    (120, 717)
    >>> averaging_time(cycle(3), 0.9)
    (1.0, 1.0)
    """
    number("accuracy", accuracy, low=0.0, high=1.0, low_open=True, high_open=True)
    gap = _gap(graph, edge_probabilities)
    if gap >= 1.0:  # two nodes agree after one step
        return 1.0, 1.0
    unit = math.log(1.0 / accuracy) / -math.log1p(-gap)
    # Rounding may not lift a limit that is a whole number.
    return tuple(max(1.0, float(math.ceil(share * unit - 1e-9))) for share in (0.5, 3.0))  # type: ignore[return-value]


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
    number("relative_error", relative_error, low=0.0, low_open=True)
    number("probability", probability, low=0.0, high=1.0, low_open=True, high_open=True)
    gap = _gap(graph, edge_probabilities)
    target = relative_error * (1.0 - probability)
    if target >= 1.0:
        return 0
    return 1 if gap >= 1.0 else math.ceil(math.log(target) / math.log1p(-gap) - 1e-9)


def _gap(graph: Graph, edge_probabilities: npt.ArrayLike | None) -> float:
    gap = Chances.connecting(graph, edge_probabilities).contraction_gap
    if gap == 0.0:
        raise InvalidParameter("edge_probabilities must be above 0 on edges that connect all nodes, got too many zeros")
    return gap
