"""``plan``: choose steps, decay and noise for a wanted accuracy and a wanted privacy, with reasons.

Accuracy is the expected relative error E‖x^k − c̄‖²/E‖c − c̄‖² of independent private values of a given spread; with a
probability it is made to hold that often, by Markov's inequality. Privacy is what the worst observer is left with:
everyone but one node pooling all they know still misses that node's value by ``hidden_std``. The
two pull against each other, and the plan says by how much.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...foundation.arguments import Array, checked, per_node
from ...graphs.chances import Chances
from ...graphs.graph import Graph
from ...methods import NoiseInsertion
from . import explain
from .messages import hidden_std_left
from .question import Basis, Question
from .response import Groups, Response
from .search import DecayCost, decay_costs, solve

__all__ = ["DecayCost", "Plan", "plan"]


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
    relative_error
        The expected one after ``num_steps``.
    probability
        With which ``relative_error / (1 − probability)`` is met at the least, if it was asked for.
    hidden_std
        The standard deviation with which everyone else together knows the value of the most exposed node.
    basis
        ``"exact"`` or ``"bound"``: where steps and error come from.
    free_decay
        ``(n,)`` the largest φ_i that leave the guaranteed rate alone.
    truly_free_decay
        ``(n,)`` the largest φ_i that leave the real rate alone (smaller); ``None`` if the basis is the bound.
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
    relative_error: float
    probability: float | None
    hidden_std: float
    basis: Basis
    free_decay: Array
    truly_free_decay: Array | None
    costs: tuple[DecayCost, ...]
    reasons: tuple[str, ...] = field(default=())

    @property
    def method(self) -> NoiseInsertion:
        """The method to hand to :func:`sottovoce.simulate`."""
        return NoiseInsertion(noise_std=self.noise_std, noise_decay=self.noise_decay)

    def __repr__(self) -> str:
        noise = f"σ = {explain.in_words(self.noise_std)}, φ = {explain.in_words(self.noise_decay)}"
        head = f"Plan for {self.graph.name}: {self.num_steps:,} steps, {noise}"
        return "\n".join([head, *(f"  - {reason}" for reason in self.reasons)])


def plan(
    graph: Graph,
    *,
    relative_error: float | None = None,
    probability: float | None = None,
    noise_std: float | npt.ArrayLike | None = None,
    noise_decay: float | npt.ArrayLike | None = None,
    num_steps: int | None = None,
    hidden_std: float | None = None,
    value_std: float = 1.0,
    edge_probabilities: npt.ArrayLike | None = None,
    basis: Basis | None = None,
) -> Plan:
    """Fill in what was left open.

    Give any of the following that you know or want. Enough is: σ, a privacy wish, or accuracy together with
    steps (then σ is the largest that fits); and steps, accuracy, or σ together with a privacy wish
    (then the steps are as many as privacy allows).

    Parameters
    ----------
    graph
        Who can talk to whom.
    relative_error
        Wanted ‖x − c̄‖²/‖c − c̄‖², in expectation, or with ``probability`` if given.
    probability
        In (0, 1). How often the wanted error must be met. Also the confidence of the number of messages a node sends.
    noise_std, noise_decay
        σ and φ, one number or one per node. φ defaults to the largest free one of each node; when σ has to follow from
        a privacy wish, also faster and slower ones are tried and the best is kept.
    num_steps
        How many edges may fire.
    hidden_std
        Privacy wish: the standard deviation with which all other nodes together, knowing everything but node i's
        value and draws, may know that value at the end, at the least. In the unit of the values.
    value_std
        How far private values lie apart: their standard deviation, in the unit of ``noise_std``.
    edge_probabilities
        ``(m,)`` chance of each edge, or ``None`` for equal ones.
    basis
        ``"exact"`` or ``"bound"``; by default exact where that takes seconds.

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
        noise_std=_per_node("noise_std", noise_std, graph),
        noise_decay=_per_node("noise_decay", noise_decay, graph, high=1.0),
        value_std=value_std,
        basis=basis,
    )
    return _answer(graph, question)


def _answer(graph: Graph, question: Question) -> Plan:
    first = _first_response(question)
    found = solve(question, first)
    groups = found.response.groups
    decay, std = groups.decay[groups.of_node], np.sqrt(found.variance)[groups.of_node]
    hidden = hidden_std_left(groups, found.variance, found.num_steps, question.probability)
    costs: tuple[DecayCost, ...] = ()
    if question.noise_std is not None and question.noise_std.any() and question.target is not None:
        costs = decay_costs(question.target, found.response, decay, question.noise_std)
    reasons = [
        explain.why_basis(first),
        explain.why_decay(decay, question.free_decay, first.truly_free_decay),
        *found.reasons,
        *explain.why_result(question, found, hidden),
    ]
    return Plan(
        graph=graph,
        feasible=found.feasible,
        num_steps=found.num_steps,
        noise_std=std,
        noise_decay=decay,
        relative_error=found.relative_error,
        probability=question.probability,
        hidden_std=hidden,
        basis=first.basis,
        free_decay=question.free_decay,
        truly_free_decay=first.truly_free_decay,
        costs=costs,
        reasons=(*reasons, explain.why_costs(costs)) if costs else tuple(reasons),
    )


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
