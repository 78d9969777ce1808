"""``plan``: choose steps, decay and noise for a wanted accuracy and a wanted privacy, with reasons.

Accuracy is the relative error ‖x^k − c̄‖²/‖c − c̄‖² of independent normal private values of a given spread: in
expectation, or met in a given share of runs. Privacy is what an observer is left with: everyone but one node pooling
all they know (``hidden_std``), or single neighbours and small coalitions of them (``neighbour_std``). A promise holds
at all nodes at once. Accuracy and privacy pull against each other, and the plan says by how much.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...errors import Unsupported
from ...foundation.arguments import Array, checked, per_node, whole
from ...graphs.chances import Chances
from ...graphs.graph import Graph
from ...methods import NoiseInsertion
from ...methods.budgeted import BudgetedNoiseInsertion
from ...methods.noise_insertion import information
from . import explain
from .ahead import Neighbours, Planned, met_share, sampled_neighbours
from .counting import hidden_left
from .question import Basis, Question
from .response import Groups, Response
from .search import DecayCost, Found, decay_costs, solve

__all__ = ["DecayCost", "Plan", "plan"]

ErrorFrom = Literal["expectation", "markov", "ensemble"]

_USUAL = 0.95
"""The share of runs for which neighbours are reported when none was given."""
_MOST_WORK = 1.5e8
"""Updates of values that one ensemble may take: about a second."""
_MOST_NEIGHBOURS = 2_000
"""Directed edges up to which neighbours are worked out unasked."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What :func:`plan` found. Printing it shows the numbers and the reasons.

    Attributes
    ----------
    feasible
        Whether every wish is met. If not, the numbers are the nearest found, and ``reasons`` says what is in the way.
    num_steps
        k.
    noise_std, noise_decay
        σ and φ of every node.
    budget
        If not ``None``: nodes leave their last noise in place when all others together could know a value to ± this.
    relative_error
        The expected one after ``num_steps``, in exact arithmetic: :attr:`rounding_error` comes on top.
    probability
        In which share of runs the wanted error is met, if it was asked for.
    error_from
        What stands behind it: ``"ensemble"`` (simulated runs, 99 % confidence) or ``"markov"`` (proved, cautious).
    hidden_std
        The standard deviation of which everyone else together knows no value better.
    hidden_probability
        In which share of runs that holds at all nodes at once; ``None``: it is for expected counts and no promise.
    neighbour_std, neighbour_probability
        The same against neighbours (proved, cautious); ``None`` where it was not worked out.
    neighbour_sampled
        Between which numbers audits of random schedules put it, if some were asked for.
    value_std
        The spread of values that was planned for.
    basis
        ``"exact"`` or ``"bound"``: where steps and error come from.
    free_decay
        ``(n,)`` the largest φ_i that leave the proved rate alone.
    truly_free_decay
        ``(n,)`` the largest φ_i that leave the real rate alone (no larger); surely do, if the basis is the bound.
    costs
        What longer-lived noise would cost in steps; empty if no accuracy was asked for.
    reasons
        Sentences.
    """

    graph: Graph
    feasible: bool
    num_steps: int
    noise_std: Array
    noise_decay: Array
    budget: float | None
    relative_error: float
    probability: float | None
    error_from: ErrorFrom
    hidden_std: float
    hidden_probability: float | None
    neighbour_std: float | None
    neighbour_probability: float | None
    neighbour_sampled: tuple[float, float] | None
    value_std: float
    basis: Basis
    free_decay: Array
    truly_free_decay: Array
    costs: tuple[DecayCost, ...]
    reasons: tuple[str, ...] = field(default=())

    @property
    def method(self) -> Planned:
        """The method to hand to :func:`sottovoce.simulate`."""
        if self.budget is not None:
            return BudgetedNoiseInsertion(self.noise_std, self.noise_decay, self.budget)
        return NoiseInsertion(noise_std=self.noise_std, noise_decay=self.noise_decay)

    @property
    def rounding_error(self) -> float:
        """About the relative error that double precision leaves in such runs, at most; no wish below it is met.

        A step rounds the two values by about u = 2⁻⁵² of their size, which is that of value and noise: s² + σ² in
        the square. Over k steps that adds up like a random walk, to √k u of the sum, and stays: a relative error of
        u² (1 + σ²/s²) (1 + k/n²). Simulated runs end between a thousandth of it and once it. It is for values around
        zero; an offset of b that all have in common makes it larger by b²/s².

        Examples
        --------
        >>> from sottovoce.graphs import cycle
        >>> f"{plan(cycle(10), relative_error=1e-6, noise_std=1.0).rounding_error:.0e}"
        '8e-31'
        """
        loud = 1.0 + (float(self.noise_std.max()) / self.value_std) ** 2
        return 2.0**-104 * loud * (1.0 + self.num_steps / self.graph.num_nodes**2)

    def __repr__(self) -> str:
        noise = f"σ = {explain.in_words(self.noise_std)}, φ = {explain.in_words(self.noise_decay)}"
        stays = "" if self.budget is None else f", noise stays once ± {self.budget:g} is reached"
        head = f"Plan for {self.graph.name}: {self.num_steps:,} steps, {noise}{stays}"
        return "\n".join([head, *(f"  - {reason}" for reason in self.reasons)])


def plan(
    graph: Graph,
    *,
    relative_error: float | None = None,
    probability: float | None = None,
    num_steps: int | None = None,
    noise_std: float | npt.ArrayLike | None = None,
    noise_decay: float | npt.ArrayLike | None = None,
    hidden_std: float | None = None,
    neighbour_std: float | None = None,
    coalition_size: int = 1,
    value_std: float = 1.0,
    edge_probabilities: npt.ArrayLike | None = None,
    basis: Basis | None = None,
    runs: int = 2000,
    schedules: int = 0,
    seed: int = 0,
) -> Plan:
    """Fill in what was left open.

    Give any of the following that you know or want. Enough is: σ, a privacy wish, or accuracy together with
    steps; and steps, accuracy, or σ together with ``hidden_std`` (then the steps are as many as privacy allows).

    Parameters
    ----------
    graph
        Who can talk to whom.
    relative_error
        Wanted ‖x − c̄‖²/‖c − c̄‖², in expectation, or with ``probability`` if given. Not met below what rounding
        leaves, about 1e-30 (:attr:`Plan.rounding_error`).
    probability
        In (0, 1): the share of runs in which each promise is kept, for all nodes at once: the wanted error (over
        schedules, noise and normally distributed values), ``hidden_std`` and ``neighbour_std`` (over schedules).
    num_steps
        How many edges may fire.
    noise_std, noise_decay
        σ and φ, one number or one per node. Open φ: with σ, accuracy and steps, the largest that fits; with accuracy
        and steps, that which hides most; against neighbours, the best of several; otherwise the largest that leaves
        the proved rate alone.
    hidden_std
        Privacy wish: the standard deviation with which all other nodes together, knowing everything but node i's
        value and draws, may know that value at the end, at the least, for every i. In the unit of the values. Where
        withdrawing contradicts it, the plan leaves noise in place, which promises it in every run.
    neighbour_std
        Privacy wish: the same against neighbours that pool what they hear; needs ``probability``.
    coalition_size
        How many neighbours of a node pool what they hear.
    value_std
        How far private values lie apart: their standard deviation, in the unit of ``noise_std``. It is also what
        neighbours are taken to know beforehand.
    edge_probabilities
        ``(m,)`` chance of each edge, or ``None`` for equal ones.
    basis
        ``"exact"`` or ``"bound"``; by default exact where that takes seconds.
    runs, schedules, seed
        Simulated runs from which a probability of the error is found where that takes seconds (0: Markov's inequality
        instead); random schedules that are audited for what neighbours know (0: the proved bound only).

    Returns
    -------
    Plan
        Also when the wishes contradict each other: then ``feasible`` is false and ``reasons`` explains.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> found = plan(cycle(10), relative_error=1e-6, noise_std=1.0)
    >>> found.num_steps, found.basis, round(float(found.noise_decay[0]), 4)
    (736, 'exact', 0.9511)
    """
    question = Question(
        chances=Chances(graph, edge_probabilities),
        relative_error=relative_error,
        probability=probability,
        num_steps=num_steps,
        hidden_std=hidden_std,
        neighbour_std=neighbour_std,
        coalition_size=coalition_size,
        noise_std=_per_node("noise_std", noise_std, graph),
        noise_decay=_per_node("noise_decay", noise_decay, graph, high=1.0),
        value_std=value_std,
        basis=basis,
    )
    runs = whole("runs", runs, low=0, high=10**7)
    return _answer(question, runs=runs, schedules=whole("schedules", schedules, low=0, high=10**6), seed=seed)


def _answer(question: Question, *, runs: int, schedules: int, seed: int) -> Plan:
    first = _first_response(question)
    found = solve(question, first)
    error_from: ErrorFrom = "expectation"
    if question.probability is not None and question.relative_error is not None:
        found, error_from = _with_probability(question, first, found, runs=runs, seed=seed)
    graph, method = question.chances.graph, found.method
    decay, std = method.each("noise_decay", graph), method.each("noise_std", graph)
    result = Plan(
        graph=graph,
        feasible=found.feasible,
        num_steps=found.num_steps,
        noise_std=std,
        noise_decay=decay,
        budget=method.hidden_std if isinstance(method, BudgetedNoiseInsertion) else None,
        relative_error=found.relative_error,
        probability=question.probability,
        error_from=error_from,
        **_hidden(question, found),  # type: ignore[arg-type]
        **_neighbours(question, found, schedules=schedules, seed=seed),  # type: ignore[arg-type]
        value_std=question.value_std,
        basis=first.basis,
        free_decay=question.free_decay,
        truly_free_decay=first.truly_free_decay,
        costs=_costs(question, found, decay),
    )
    result = replace(
        result, feasible=result.feasible and _private_enough(question, result) and _above_rounding(question, result)
    )
    return replace(result, reasons=_reasons(question, first, found, result))


def _with_probability(
    question: Question, first: Response, safe: Found, *, runs: int, seed: int
) -> tuple[Found, ErrorFrom]:
    """Aim at the largest expected error with which an ensemble still meets the wish often enough.

    ``safe`` aims at Markov's and is kept where an ensemble would take long, or confirms nothing better.
    """
    assert question.probability is not None
    work = safe.num_steps * runs * min(question.chances.graph.num_nodes, 16)
    if runs < 100 or safe.num_steps == 0 or work > _MOST_WORK:
        return safe, "markov"

    def often(found: Found, seed: int, confidence: float) -> bool:
        assert question.relative_error is not None
        assert question.probability is not None
        share = met_share(
            question.chances, found.method, num_steps=found.num_steps, relative_error=question.relative_error,
            value_std=question.value_std, runs=runs, seed=seed, confidence=confidence,
        )  # fmt: skip
        return found.num_steps > 0 and share >= question.probability

    low, high, best = question.safe_share, 4.0, None
    for _ in range(6):
        share = (low * high) ** 0.5
        found = solve(replace(question, share=share), first)
        if not found.feasible:
            low = share
        elif often(found, seed, 0.9999):
            low, best = share, found
        else:
            high = share
    # What was chosen among several for a good outcome is confirmed by other runs.
    if best is not None and often(best, seed + 1, 0.99):
        return best, "ensemble"
    careful = solve(replace(question, share=max(0.7 * low, question.safe_share)), first)
    return (careful, "ensemble") if careful.feasible and often(careful, seed + 2, 0.99) else (safe, "markov")


def _hidden(question: Question, found: Found) -> dict[str, float | None]:
    graph, method = question.chances.graph, found.method
    std, decay = method.each("noise_std", graph), method.each("noise_decay", graph)
    if isinstance(method, BudgetedNoiseInsertion):
        left = float(np.min(information(std, decay, method.draws(graph)) ** -0.5))
        return {"hidden_std": left, "hidden_probability": 1.0}
    probability = question.probability
    if probability is None and question.hidden_std is not None:  # nobody speaks more often than once a step
        with np.errstate(divide="ignore"):
            left = float(np.min(information(std, decay, found.num_steps) ** -0.5))
        return {"hidden_std": left, "hidden_probability": 1.0}
    left = hidden_left(question.chances, std, decay, found.num_steps, probability)
    return {"hidden_std": left, "hidden_probability": probability}


def _neighbours(question: Question, found: Found, *, schedules: int, seed: int) -> dict[str, object]:
    graph, probability = question.chances.graph, question.probability or _USUAL
    nothing = {"neighbour_std": None, "neighbour_probability": None, "neighbour_sampled": None}
    if question.neighbour_std is None and 2 * graph.num_edges > _MOST_NEIGHBOURS:
        return dict(nothing)
    ahead = Neighbours(question.chances, found.method, found.num_steps, question.value_std, question.coalition_size)
    try:
        left = ahead.left(probability)
    except Unsupported:
        return dict(nothing)
    sampled = sampled_neighbours(ahead, probability, schedules, seed) if schedules else None
    return {"neighbour_std": left, "neighbour_probability": probability, "neighbour_sampled": sampled}


def _private_enough(question: Question, result: Plan) -> bool:
    rounding = 1.0 - 1e-6
    hidden = question.hidden_std is None or result.hidden_std >= question.hidden_std * rounding
    if question.neighbour_std is None:
        return hidden
    return hidden and (result.neighbour_std or 0.0) >= question.neighbour_std * 0.995


def _above_rounding(question: Question, result: Plan) -> bool:
    """Whether doubles can have the wanted error; runs of an ensemble were rounded like any others."""
    wanted = question.target if result.error_from == "markov" else question.relative_error
    return wanted is None or wanted >= result.rounding_error


def _costs(question: Question, found: Found, decay: Array) -> tuple[DecayCost, ...]:
    if question.noise_std is None or not question.noise_std.any() or question.target is None:
        return ()
    if isinstance(found.method, BudgetedNoiseInsertion) or question.num_steps is not None:
        return ()
    return decay_costs(max(question.target, found.relative_error), found.response, decay, question.noise_std)


def _reasons(question: Question, first: Response, found: Found, result: Plan) -> tuple[str, ...]:
    fades = result.budget is None or bool(result.noise_decay.any())
    reasons = [
        explain.why_basis(first),
        *([explain.why_decay(result.noise_decay, question.free_decay, first.truly_free_decay)] if fades else []),
        *found.reasons,
        explain.why_accuracy(question, result),
        *([] if _above_rounding(question, result) else [explain.why_rounding(result)]),
        explain.why_privacy(result),
    ]
    if result.num_steps > 0 and np.any(result.noise_std > 0.0):
        reasons.append(explain.why_neighbours(result, question.coalition_size))
    return (*reasons, explain.why_costs(result.costs)) if result.costs else tuple(reasons)


def _first_response(question: Question) -> Response:
    """With the given φ, or the free ones."""
    chances = question.chances
    std = np.ones(chances.graph.num_nodes) if question.noise_std is None else question.noise_std
    decay = question.free_decay if question.noise_decay is None else question.noise_decay
    groups = Groups.of(chances, decay, std)
    return Response.of(chances, groups, value_std=question.value_std, basis=question.basis)


def _per_node(name: str, value: float | npt.ArrayLike | None, graph: Graph, high: float = np.inf) -> Array | None:
    if value is None:
        return None
    return per_node(name, checked(name, value, low=0.0, high=high, high_open=True), graph.num_nodes)
