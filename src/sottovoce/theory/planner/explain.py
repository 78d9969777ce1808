"""The sentences of a plan. No numbers are computed here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...foundation.arguments import Array

if TYPE_CHECKING:
    from .question import Question
    from .response import Response
    from .search import DecayCost, Found

__all__ = ["in_words", "why_basis", "why_costs", "why_decay", "why_result"]

NEVER_REACHED = "The wanted error is not reached within any number of steps."
NEVER_LIMITS = "The wish of ± {hidden:g} never limits the number of steps."
LIMITS = "Beyond {allowed:,.0f} steps all others together would know some value better than ± {hidden:g}."
CONTRADICTION = (
    "Accuracy and privacy contradict each other: {steps:,} steps are needed or given, {allowed:,.0f} allowed."
)
TOO_FEW = "{steps:,} steps are too few even without noise: they leave {left:.2g}."
TOO_LONG = "No σ hides a value that long: {steps:,} steps are too many for this φ."
LARGEST = "σ = {std:.4g} is the largest noise with which {steps:,} steps reach the wanted error."
JUST_ENOUGH = (
    "σ is chosen so that the last message of every node still carries enough noise for the privacy wish; "
    "what is not withdrawn is also what is left of the error."
)
NOT_BOTH = (
    "Not both: with ± {hidden:g} left hidden from all others together the expected relative error cannot go below "
    "about {smallest:.2g} here: noise that hides a value to the end is noise still in the values, and nodes "
    "that happened to speak less often carry more of it."
)


def why_basis(response: Response) -> str:
    """Where steps and error come from."""
    guaranteed = response.chances.contraction_gap
    if response.basis == "bound":
        return (
            "Steps and error come from the corrected bound of Theorem 1 (the exact expectation would take long here): "
            f"guaranteed rate 1 − {guaranteed:.4g} a step. The truth is better."
        )
    return (
        "Steps and error come from the exact expectation: in the end gossip alone shrinks it by "
        f"1 − {response.gossip_gap:.4g} a step (guaranteed: 1 − {guaranteed:.4g})."
    )


def why_decay(decay: Array, free: Array, truly_free: Array | None) -> str:
    """How φ compares with what is free."""
    what = f"the largest φ_i that leave the guaranteed rate alone, {in_words(free)}"
    real = "" if truly_free is None else f"; up to {in_words(truly_free)} not even the real rate changes"
    if np.array_equal(decay, free):
        return f"φ_i = {in_words(decay)}: {what}{real}."
    slow = int(np.sum(decay > free * (1.0 + 1e-12)))
    verdict = f"{slow} of {len(decay)} nodes are above and slow the guaranteed rate" if slow else "no node is above"
    return f"φ_i = {in_words(decay)} against {what}: {verdict}{real}."


def why_result(question: Question, found: Found, hidden: float) -> list[str]:
    """What the plan reaches in accuracy and in privacy."""
    return [_accuracy(question, found), _privacy(question.probability, hidden)]


def _accuracy(question: Question, found: Found) -> str:
    said = (
        f"{found.num_steps:,} steps leave an expected relative error of {found.relative_error:.3g} for values that "
        f"spread by ± {question.value_std:g}"
    )
    if question.target is not None:
        said += f"; wanted {question.target:.3g}"
        if question.probability is not None:
            said += (
                f", which by Markov means at most {question.relative_error:.3g} in {question.probability:.4g} of runs"
            )
    return f"{said}."


def _privacy(probability: float | None, hidden: float) -> str:
    if hidden == math.inf:
        return "Nobody has said anything yet."
    if hidden == 0:
        return "Everyone else together then knows the most exposed value exactly; a single neighbour may not."
    count = "the expected number of messages"
    if probability is not None:
        count = f"as many messages as {probability:.4g} of runs stay within"
    return (
        f"Everyone else together then knows the most exposed value to ± {hidden:.3g} (counting {count}); "
        "a single curious neighbour knows less, an audit says how much."
    )


def why_costs(costs: tuple[DecayCost, ...]) -> str:
    """What longer-lived noise costs; the first entry is the plan's own."""
    told = [
        f"{cost.slower:g} times as long (φ = {in_words(np.array([cost.smallest_decay, cost.largest_decay]))}): "
        f"{_steps(cost.num_steps)}"
        for cost in costs[1:]
    ]
    return f"The wanted error takes {_steps(costs[0].num_steps)}; with noise that lives {', '.join(told)}."


def in_words(values: Array) -> str:
    """One number, or a range."""
    low, high = _brief(float(values.min())), _brief(float(values.max()))
    return low if low == high else f"{low}…{high}"


def _steps(count: int | None) -> str:
    return "more than 10¹⁵ steps" if count is None else f"{count:,} steps"


def _brief(value: float) -> str:
    return f"(1 − {1.0 - value:.2g})" if 0.999 < value < 1.0 else f"{value:.4g}"
