"""The sentences of a plan. No numbers are computed here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...graphs.chances import Chances
from ..gossip.setting import Floats

if TYPE_CHECKING:
    from .response import Basis, Response
    from .search import DecayCost, Wish

__all__ = ["in_words", "why_basis", "why_costs", "why_decay", "why_result"]


def why_basis(basis: Basis, response: Response, chances: Chances) -> str:
    """Where steps and error come from."""
    if basis == "bound":
        return (
            "Steps and error come from the corrected bound of Theorem 1 (the exact expectation would take long here): "
            f"guaranteed rate 1 − {chances.contraction_gap:.4g} a step. The truth is better."
        )
    return (
        "Steps and error come from the exact expectation: in the end gossip alone shrinks it by "
        f"1 − {response.gossip_gap:.4g} a step (guaranteed: 1 − {chances.contraction_gap:.4g})."
    )


def why_decay(decay: Floats, free: Floats, truly_free: Floats | None) -> str:
    """How φ compares with what is free."""
    what = f"the largest φ_i that leave the guaranteed rate alone, {in_words(free)}"
    real = "" if truly_free is None else f"; up to {in_words(truly_free)} not even the real rate changes"
    if np.array_equal(decay, free):
        return f"φ_i = {in_words(decay)}: {what}{real}."
    slow = int(np.sum(decay > free * (1.0 + 1e-12)))
    verdict = f"{slow} of {len(decay)} nodes are above and slow the guaranteed rate" if slow else "no node is above"
    return f"φ_i = {in_words(decay)} against {what}: {verdict}{real}."


def why_result(wish: Wish, reached: float, hidden: float, steps: int, value_std: float) -> list[str]:
    """What the plan reaches in accuracy and in privacy."""
    accuracy = (
        f"{steps:,} steps leave an expected relative error of {reached:.3g} for values that spread by ± {value_std:g}"
    )
    if wish.target is not None:
        accuracy += f"; wanted {wish.target:.3g}"
    if wish.target is not None and wish.probability is not None:
        accuracy += f", which by Markov means at most {wish.relative_error:.3g} in {wish.probability:.4g} of runs"
    if hidden == math.inf:
        return [f"{accuracy}.", "Nobody has said anything yet."]
    if hidden == 0:
        return [
            f"{accuracy}.",
            "Everyone else together then knows the most exposed value exactly; a single neighbour may not.",
        ]
    count = "the expected number of messages"
    if wish.probability is not None:
        count = f"as many messages as {wish.probability:.4g} of runs stay within"
    privacy = (
        f"Everyone else together then knows the most exposed value to ± {hidden:.3g} (counting {count}); "
        "a single curious neighbour knows less, an audit says how much."
    )
    return [f"{accuracy}.", privacy]


def why_costs(costs: tuple[DecayCost, ...]) -> str:
    """What longer-lived noise costs; the first entry is the plan's own."""
    told = [
        f"{cost.slower:g} times as long (φ = {in_words(np.array([cost.smallest_decay, cost.largest_decay]))}): "
        f"{_steps(cost.num_steps)}"
        for cost in costs[1:]
    ]
    return f"The wanted error takes {_steps(costs[0].num_steps)}; with noise that lives {', '.join(told)}."


def in_words(values: Floats) -> str:
    """One number, or a range."""
    low, high = _brief(float(values.min())), _brief(float(values.max()))
    return low if low == high else f"{low}…{high}"


def _steps(count: int | None) -> str:
    return "for ever" if count is None else f"{count:,} steps"


def _brief(value: float) -> str:
    return f"(1 − {1.0 - value:.2g})" if 0.999 < value < 1.0 else f"{value:.4g}"
