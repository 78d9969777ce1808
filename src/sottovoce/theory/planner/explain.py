"""The sentences of a plan. No numbers are computed here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...foundation.arguments import Array

if TYPE_CHECKING:
    from .planning import ErrorFrom, Plan
    from .question import Question
    from .response import Response
    from .search import DecayCost

__all__ = [
    "in_runs",
    "in_words",
    "why_accuracy",
    "why_basis",
    "why_costs",
    "why_decay",
    "why_neighbours",
    "why_privacy",
    "why_rounding",
]

NEVER_REACHED = "The wanted error is not reached within any number of steps."
NEVER_LIMITS = "The wish of ± {hidden:g} never limits the number of steps."
LIMITS = (
    "Up to {allowed:,.0f} steps every value stays hidden by ± {hidden:g} from all others together, {runs}; beyond, "
    "that cannot be promised while noise is withdrawn."
)
FREEZES = (
    "{steps:,} steps are needed or given. So nodes withdraw only as long as their budget allows and then leave the "
    "last noise in place: the promise holds in every run, for ever, and the error stays above 0."
)
TOO_FEW = "{steps:,} steps are too few even without noise: they leave {left:.2g}."
TOO_LOUD = "{steps:,} steps are too few for this σ: even noise that is withdrawn at once leaves {left:.2g}."
LARGEST = "σ = {std:.4g} with this φ leaves most hidden of all noise with which {steps:,} steps reach the wanted error."
LOUDEST = (
    "{steps:,} steps withdraw noise of almost any size; σ = {std:.4g} is the largest that rounding leaves room for."
)
ONE_DRAW = (
    "If only everyone else together mattered, one draw of about ± {hidden:.3g} that is never withdrawn would hide more "
    "at the same error (ask with hidden_std)."
)
SLOWEST = "φ = {decay} is the largest with which {steps:,} steps reach the wanted error: larger φ hide more."
STAYS = (
    "All others together keep missing every value by ± {hidden:g}, in every run and for ever, because each node draws "
    "noise {often} and leaves the last in place. One draw costs least; withdrawing and drawing again buys "
    "nothing against everyone else, it hides more from single neighbours."
)
PRICE = (
    "Not both: no noise, φ or number of steps that keeps ± {hidden:g} of every value from all others together can have "
    "an expected relative error below {least:.3g} once all have spoken; here {reached:.3g} is reached."
)
NEIGHBOURS = (
    "σ = {std:.4g} is the smallest, to one percent, for which it is proved that neighbours are left with "
    "± {neighbour:g} of every value in {probability:.4g} of runs. The proof adds up chances over nodes, so more runs "
    "keep it."
)


def in_runs(probability: float | None) -> str:
    """Which probability is meant."""
    return "in every run" if probability is None else f"at all nodes at once in {probability:.4g} of runs"


def why_basis(response: Response) -> str:
    """Where steps and error come from."""
    guaranteed = response.chances.contraction_gap
    if response.basis == "bound":
        return (
            "Steps and error come from the corrected bound of Theorem 1 (the exact expectation would take long here): "
            f"proved rate 1 − {guaranteed:.4g} a step. The truth is no worse."
        )
    return (
        "Steps and error come from the exact expectation: in the end gossip alone shrinks it by "
        f"1 − {response.gossip_gap:.4g} a step (proved by Theorem 1: 1 − {guaranteed:.4g})."
    )


def why_decay(decay: Array, free: Array, truly_free: Array) -> str:
    """How φ compares with what is free."""
    what = f"the largest φ_i that leave the proved rate alone are {in_words(free)}"
    real = f"a run really slows from φ_i = {in_words(truly_free)} on"
    if np.array_equal(decay, free):
        return f"φ_i = {in_words(decay)}: {what}, and these are taken; {real}."
    slow = int(np.sum(decay > free * (1.0 + 1e-12)))
    verdict = f"{slow} of {len(decay)} nodes are above" if slow else "no node is above"
    return f"φ_i = {in_words(decay)}: {what}, {verdict}; {real}."


def why_accuracy(question: Question, plan: Plan) -> str:
    """What the plan reaches in accuracy, and what stands behind a probability."""
    said = (
        f"{plan.num_steps:,} steps leave an expected relative error of {plan.relative_error:.3g} for values that "
        f"spread by ± {question.value_std:g}"
    )
    if question.relative_error is None:
        return f"{said}."
    said += f"; wanted {question.relative_error:.3g}"
    return f"{said}." if question.probability is None else f"{said}, {_chance(question, plan.error_from)}."


def why_rounding(plan: Plan) -> str:
    """Why a wish is not met that exact arithmetic would meet."""
    return (
        "Rounding is in the way: in double precision such runs end at a relative error of up to "
        f"{plan.rounding_error:.1g} whatever the steps, and higher if the values have an offset in common that is "
        "large against their spread."
    )


def _chance(question: Question, error_from: ErrorFrom) -> str:
    often = f"in {question.probability:.4g} of runs with normally distributed values"
    if error_from == "ensemble":
        return f"{often}: an ensemble of simulated runs meets it that often, with 99 % confidence"
    return f"{often}: by Markov's inequality, which is cautious, so that more runs meet it"


def why_privacy(plan: Plan) -> str:
    """What everyone else together then knows."""
    if plan.hidden_std == math.inf:
        return "Nobody has said anything yet."
    if plan.hidden_probability is None:
        return (
            "No promise is made about what everyone else together knows, because no probability was given: if every "
            f"node speaks as often as expected, the most exposed value is known to ± {plan.hidden_std:.3g}, and in "
            "many runs some node speaks more often."
        )
    how = "in every run" if plan.hidden_probability == 1.0 else in_runs(plan.hidden_probability)
    if plan.hidden_std == 0.0:
        return "Everyone else together then knows some value exactly."
    return f"Everyone else together then knows no value better than ± {plan.hidden_std:.3g}, {how}."


def why_neighbours(plan: Plan, size: int) -> str:
    """What curious neighbours then know."""
    who = "a single curious neighbour" if size == 1 else f"{size} curious neighbours together"
    if plan.neighbour_std is None or plan.neighbour_probability is None:
        return f"What {who} will know was not worked out on so large a graph; audit a run."
    said = (
        f"Whoever {who} may be: at least ± {plan.neighbour_std:.3g} of every value is left to them, at all nodes at "
        f"once in {plan.neighbour_probability:.4g} of runs, for values known beforehand to ± {plan.value_std:g}. This "
        "is proved, and cautious"
    )
    if plan.neighbour_sampled is not None:
        low, high = plan.neighbour_sampled
        return f"{said}; audits of random schedules put it between {low:.3g} and {high:.3g} (95 % confidence)."
    return f"{said}; a node with one neighbour hides no more from it than from everyone."


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
