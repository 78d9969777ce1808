"""What a curious neighbour learns from one run, as one cell of a comparison.

Where an audit covers what the method releases, it is the posterior standard deviation, as a share of the prior one, of
the neighbour that the observer knows best. Methods with proved differential privacy have an ε instead. The rest are
told in the words of their description: *values in the clear* is said only of a method that states so itself, and one
that states nothing is *not analysed*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import Unsupported
from ..graphs.naming import NodeNumber
from ..simulation import Solution

__all__ = ["Neighbour", "curious_neighbour"]


class Neighbour(NamedTuple):
    """``left``: posterior over prior deviation of the best-known neighbour (0 disclosed, 1 nothing learned)."""

    left: float | None
    epsilon: float | None
    words: str


PATIENCE = 5.0
"""Seconds, roughly, for more digits: a comparison audits once for every method."""


def curious_neighbour(run: Solution, observer: int, prior_std: float, num_steps: int) -> Neighbour:
    """What node ``observer`` learns from the first ``num_steps`` steps of replica 0 of ``run``."""
    from ..privacy import CuriousNodes, audit

    released, listened = run.method.releases(run.graph), min(num_steps, run.num_steps)
    if released.epsilon is not None:
        epsilon = released.epsilon * prior_std
        return Neighbour(None, epsilon, f"ε = {epsilon:.3g} from all messages")
    try:
        fired = listened if released.in_rounds else run.fired_edges(0, listened)
        report = audit(run.graph, run.method, fired, CuriousNodes([NodeNumber(observer)]), prior_std, patience=PATIENCE)
    except Unsupported:
        return Neighbour(None, None, released.words)
    left = np.where(report.disclosed, 0.0, report.posterior_std) / prior_std
    others = np.delete(left, observer)
    near = left[run.graph.neighbours_of(observer)]
    if np.isnan(near).any():
        return Neighbour(None, None, "digits did not suffice")
    known = int((others < report.tolerance).sum())
    words = f"{known} of {len(others)} values exactly" if known else "no value exactly"
    return Neighbour(float(near.min()), None, words)
