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

from ...errors import InvalidParameter
from ...foundation.arguments import checked, per_node
from ...graphs.chances import Chances
from ...graphs.graph import Graph
from ...methods import NoiseInsertion
from ..gossip.setting import Floats
from .explain import in_words, why_basis, why_costs, why_decay, why_result
from .response import Basis, Groups, Response, affordable
from .search import DecayCost, Wish, best_decay, check_positive, decay_costs, hidden_std_left, solve

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
    noise_std: Floats
    noise_decay: Floats
    relative_error: float
    probability: float | None
    hidden_std: float
    basis: Basis
    free_decay: Floats
    truly_free_decay: Floats | None
    costs: tuple[DecayCost, ...]
    reasons: tuple[str, ...] = field(default=())

    @property
    def method(self) -> NoiseInsertion:
        """The method to hand to :func:`sottovoce.simulate`."""
        return NoiseInsertion(noise_std=self.noise_std, noise_decay=self.noise_decay)

    def __repr__(self) -> str:
        noise = f"σ = {in_words(self.noise_std)}, φ = {in_words(self.noise_decay)}"
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
    wish = Wish(relative_error, probability, num_steps, hidden_std)
    chances = Chances(graph, edge_probabilities)
    check_positive("value_std", value_std)
    if basis not in (None, "exact", "bound"):
        raise InvalidParameter(f"basis must be 'exact' or 'bound' (or None, to choose), got {basis!r}")
    if chances.contraction_gap <= 0.0:
        raise InvalidParameter("edge_probabilities must leave the graph connected, or its values never agree")
    free = np.sqrt(np.maximum(1.0 - chances.contraction_gap / np.maximum(chances.nodes, 1e-300), 0.0))
    decay = free if noise_decay is None else _per_node("noise_decay", noise_decay, graph, high=1.0)
    std = None if noise_std is None else _per_node("noise_std", noise_std, graph)
    wish.check(std)
    basis = basis or ("exact" if affordable(chances) else "bound")
    groups = Groups.of(chances, decay, np.ones(graph.num_nodes) if std is None else std)
    response = Response(chances, groups, value_std, basis)
    reasons: list[str] = [why_basis(basis, response, chances)]
    truly_free = None
    if basis == "exact":
        truly_free = np.sqrt(np.maximum(1.0 - response.gossip_gap / chances.nodes, 0.0))
    if noise_decay is None and std is None and wish.hidden_std is not None:
        response = best_decay(wish, response, decay)
        groups = response.groups
        decay = groups.decay[groups.of_node]
    reasons.append(why_decay(decay, free, truly_free))
    steps, variance, feasible = solve(wish, response, reasons, std_given=std is not None)
    reached = response.relative(steps, variance)
    hidden = hidden_std_left(groups, variance, steps, wish.probability)
    reasons += why_result(wish, reached, hidden, steps, value_std)
    costs: tuple[DecayCost, ...] = ()
    if std is not None and std.any() and wish.target is not None:
        costs = decay_costs(wish, response, decay, std)
        reasons.append(why_costs(costs))
    return Plan(
        graph=graph,
        feasible=feasible,
        num_steps=steps,
        noise_std=np.sqrt(variance)[groups.of_node],
        noise_decay=decay,
        relative_error=reached,
        probability=probability,
        hidden_std=hidden,
        basis=basis,
        free_decay=free,
        truly_free_decay=truly_free,
        costs=costs,
        reasons=tuple(reasons),
    )


def _per_node(name: str, value: float | npt.ArrayLike, graph: Graph, high: float = np.inf) -> Floats:
    return per_node(name, checked(name, value, low=0.0, high=high, high_open=True), graph.num_nodes)
