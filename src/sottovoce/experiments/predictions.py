"""What is known beforehand about a method on a graph: the guaranteed factor per step, and where it ends.

The *factor* is that by which a step shrinks the mean-square error, or the potential that bounds it, at least; the
*limit* is the relative error E‖x − c̄‖²/‖c − c̄‖² that stays for ever. ``None`` where nothing of that kind is known.
The formulas are those of :mod:`sottovoce.theory` and of the methods' own pages; here they are looked up by method.
"""

# ruff: noqa: ARG001  (one signature for all methods, and some need less)

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np

from ..foundation.arguments import per_node
from ..graphs.graph import Graph
from ..graphs.spectrum import algebraic_connectivity
from ..methods import (
    AcceleratedGossip,
    BinaryOracle,
    BlockGossip,
    GapOracle,
    HeavyBallGossip,
    Huang,
    ManitaraHadjicostis,
    Method,
    MoMurray,
    NoiseInsertion,
    Nozari,
    PairwiseCancelling,
    PushSum,
    RoundMethod,
    StandardGossip,
    SynchronousAveraging,
)
from ..methods.weights import second_modulus
from ..theory import adaptive_binary_factor, contraction_factor, heavy_ball_factor, huang_variance, nozari_variance

__all__ = ["Prediction", "predict"]


class Prediction(NamedTuple):
    """Factor per step and limit, each ``None`` if unknown; the limit is relative to ``scale`` = ‖c − c̄‖²."""

    factor: float | None
    limit: float | None


@singledispatch
def predict(method: Method, graph: Graph, scale: float) -> Prediction:
    """What is known about ``method`` on ``graph`` for private values with ‖c − c̄‖² = ``scale``.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> round(predict(StandardGossip(), cycle(10), 1.0).factor, 5)
    0.9809
    """
    return Prediction(None, None)


def _mixing_factor(method: RoundMethod, graph: Graph) -> float:
    return second_modulus(method.mixing(graph)) ** 2


@predict.register(StandardGossip)
@predict.register(BlockGossip)
def _(method: Method, graph: Graph, scale: float) -> Prediction:
    """A set of edges contracts at least as much as any one edge of it."""
    return Prediction(contraction_factor(graph), 0.0)


@predict.register
def _(method: NoiseInsertion, graph: Graph, scale: float) -> Prediction:
    decay = per_node("noise_decay", method.noise_decay, graph.num_nodes)
    std = per_node("noise_std", method.noise_std, graph.num_nodes)
    noise = 1.0 - graph.degrees / graph.num_edges * (1.0 - decay**2)
    return Prediction(max(contraction_factor(graph), float(noise[std > 0].max(initial=0.0))), 0.0)


@predict.register
def _(method: BinaryOracle, graph: Graph, scale: float) -> Prediction:
    if not method.adaptive:
        return Prediction(None, None)
    return Prediction(adaptive_binary_factor(graph, method.adaptive_share), 0.0)


@predict.register
def _(method: GapOracle, graph: Graph, scale: float) -> Prediction:
    """At rest every edge differs by less than ε, so ‖x − c̄‖² ≤ Σ_e (x_i − x_j)²/α < mε²/α."""
    return Prediction(None, graph.num_edges * method.gap**2 / algebraic_connectivity(graph) / scale)


@predict.register
def _(method: HeavyBallGossip, graph: Graph, scale: float) -> Prediction:
    if method.caveats(graph):
        return Prediction(None, None)
    return Prediction(heavy_ball_factor(graph, method.momentum, method.relaxation), 0.0)


@predict.register
def _(method: AcceleratedGossip, graph: Graph, scale: float) -> Prediction:
    return Prediction(None if method.caveats(graph) else method.factor(graph), 0.0)


@predict.register
def _(method: PushSum, graph: Graph, scale: float) -> Prediction:
    complete = graph.num_edges == graph.num_nodes * (graph.num_nodes - 1) // 2
    return Prediction(0.5 - 0.25 / graph.num_nodes if complete else None, 0.0)


@predict.register(SynchronousAveraging)
@predict.register(ManitaraHadjicostis)
def _(method: RoundMethod, graph: Graph, scale: float) -> Prediction:
    return Prediction(_mixing_factor(method, graph), 0.0)


@predict.register
def _(method: MoMurray, graph: Graph, scale: float) -> Prediction:
    noise = method.noise_decay**2 if method.noise_std > 0 else 0.0
    return Prediction(max(noise, _mixing_factor(method, graph)), 0.0)


@predict.register
def _(method: Nozari, graph: Graph, scale: float) -> Prediction:
    variance = nozari_variance(method.noise_scale, method.noise_decay, method.noise_share, graph.num_nodes)
    return Prediction(None, graph.num_nodes * variance / scale)


@predict.register
def _(method: Huang, graph: Graph, scale: float) -> Prediction:
    variance = huang_variance(method.noise_scale, method.noise_decay, method.mixing_share, graph.num_nodes)
    return Prediction(None, graph.num_nodes * variance / scale)


@predict.register
def _(method: PairwiseCancelling, graph: Graph, scale: float) -> Prediction:
    """All noise is in before the first round: its mean stays, the rest contracts with W."""
    return Prediction(_mixing_factor(method, graph), method.own_noise_std**2 / scale)


def fitted_factor(
    steps: np.ndarray[tuple[int], np.dtype[np.int64]], errors: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> float | None:
    """The factor per step of a curve that falls geometrically: least squares on its logarithm over its later half.

    What lies below 10⁻²⁴ is rounding and left out; a curve that has come to rest gives 1.

    Examples
    --------
    >>> steps = np.arange(100)
    >>> round(fitted_factor(steps, 0.9**steps), 9)
    0.9
    """
    below = np.flatnonzero(~(errors > ROUNDING))
    end = int(below[0]) if len(below) else len(errors)
    part = slice(end // 2, end)
    if end - end // 2 < 3:
        return None
    return float(np.exp(np.polyfit(steps[part] - steps[part][0], np.log(errors[part]), 1)[0]))


ROUNDING = 1e-24
