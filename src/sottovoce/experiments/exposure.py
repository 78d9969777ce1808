"""What a curious neighbour learns from one run of a method, as one line of a comparison.

Exact where messages are linear in private values and Gaussian noise: then it is the posterior standard deviation, as a
share of the prior one, of the neighbour that the observer knows best. Laplace methods have an ε instead. Methods
that send plain values hide nothing, and what an oracle's yes and no reveal is not analysed: both say so in words.
"""

# ruff: noqa: ARG001  (one signature for all methods, and some need less)

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np

from ..methods import (
    BinaryOracle,
    GapOracle,
    Huang,
    ManitaraHadjicostis,
    Method,
    MoMurray,
    NoiseInsertion,
    Nozari,
    PairwiseCancelling,
    RoundMethod,
    SealedGossip,
    StandardGossip,
    SynchronousAveraging,
)
from ..methods.base import Array
from ..simulation import Solution
from ..theory import huang_epsilon, nozari_epsilon

__all__ = ["Exposure", "exposure"]


class Exposure(NamedTuple):
    """``left``: posterior over prior deviation of the best-known neighbour (0 disclosed, 1 nothing learned)."""

    left: float | None
    epsilon: float | None
    words: str


@singledispatch
def exposure(method: Method, run: Solution, observer: int, prior_std: float, rounds: int) -> Exposure:
    """What node ``observer`` learns from the first ``rounds`` steps of replica 0 of ``run``."""
    return Exposure(None, None, "values in the clear")


def _of_neighbours(run: Solution, observer: int, prior_std: float, deviations: Array) -> Exposure:
    left = deviations / prior_std
    near = run.graph.neighbours_of(observer)
    others = np.delete(left, observer)
    disclosed = int((others < 1e-6).sum())
    words = f"{disclosed} of {len(others)} values exactly" if disclosed else "no value exactly"
    return Exposure(float(left[near].min()), None, words)


@exposure.register(StandardGossip)
@exposure.register(NoiseInsertion)
def _(method: Method, run: Solution, observer: int, prior_std: float, rounds: int) -> Exposure:
    from ..privacy import CuriousNodes, audit

    fired = run.fired_edges(0, min(rounds, run.num_steps))
    report = audit(run.graph, method, fired, CuriousNodes([observer]), prior_std=prior_std)
    return _of_neighbours(run, observer, prior_std, np.where(report.disclosed, 0.0, report.posterior_std))


@exposure.register(SealedGossip)
def _(method: Method, run: Solution, observer: int, prior_std: float, rounds: int) -> Exposure:
    return Exposure(None, None, "not analysed")


@exposure.register(BinaryOracle)
@exposure.register(GapOracle)
def _(method: Method, run: Solution, observer: int, prior_std: float, rounds: int) -> Exposure:
    return Exposure(None, None, "comparisons only")


@exposure.register(SynchronousAveraging)
@exposure.register(MoMurray)
@exposure.register(ManitaraHadjicostis)
@exposure.register(PairwiseCancelling)
def _(method: RoundMethod, run: Solution, observer: int, prior_std: float, rounds: int) -> Exposure:
    from ..privacy import CuriousNodes
    from ..privacy.analysers.rounds import audit_rounds

    listened = min(rounds, run.num_steps)
    report = audit_rounds(run.graph, method, CuriousNodes([observer]), prior_std, num_rounds=listened)
    return _of_neighbours(run, observer, prior_std, np.where(report.disclosed, 0.0, report.posterior_std))


@exposure.register
def _(method: Nozari, run: Solution, observer: int, prior_std: float, rounds: int) -> Exposure:
    return _laplace(nozari_epsilon(method.noise_scale, method.noise_decay, method.noise_share, sensitivity=prior_std))


@exposure.register
def _(method: Huang, run: Solution, observer: int, prior_std: float, rounds: int) -> Exposure:
    return _laplace(huang_epsilon(method.noise_scale, method.noise_decay, method.mixing_share, sensitivity=prior_std))


def _laplace(epsilon: float) -> Exposure:
    return Exposure(None, epsilon, f"ε = {epsilon:.3g} from all messages")
