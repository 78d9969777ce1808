"""The audit of synchronous methods whose noise is Gaussian: what curious nodes learn round by round.

In a round every node broadcasts to its neighbours, so a curious node hears all messages of its neighbours.
With s for the messages, the methods are linear: s = x + noise, x ← W s. The arithmetic is that of
:mod:`.knowledge`; formulas for the long run are :mod:`.synchronous`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeGuard

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, Unsupported
from ...foundation.arguments import per_node
from ...graphs.graph import Graph
from ...methods.base import Array, Method
from ...methods.huang import Huang
from ...methods.manitara_hadjicostis import ManitaraHadjicostis
from ...methods.mo_murray import MoMurray
from ...methods.nozari import Nozari
from ...methods.pairwise_cancelling import PairwiseCancelling
from ...methods.synchronous import SynchronousAveraging, WeightedMethod
from ..auditing import checked_prior
from ..gaussian.knowledge import Knowledge
from ..report import Findings
from ..view import CuriousNodes, EveryoneBut, View

__all__ = ["RoundsReport", "audit_rounds", "covers", "linear_posterior"]

# Blocks of rows: private values, values, messages, and what a node has added and not yet taken back.
PRIVATE, VALUE, MESSAGE, ADDED = range(4)


@dataclass(frozen=True, eq=False, repr=False)
class RoundsReport(Findings):
    """What curious nodes learn of every value in a synchronous method; returned by :func:`audit_rounds`.

    Histories have one row per round, the start included. A value is disclosed when its final deviation is at most
    ``tolerance`` of the prior's (of 1 for a flat prior).
    """

    unit: ClassVar[str] = "round"
    source: ClassVar[str] = "rounds"

    def _known(self) -> tuple[str, ...]:
        return (
            *self.view.assumptions("knows the graph, the weights, and the size of everybody's noise in every round"),
            "messages are broadcast: curious nodes hear all messages of their neighbours",
        )


def covers(method: Method) -> TypeGuard[WeightedMethod]:
    """Whether :func:`audit_rounds` covers the method."""
    return isinstance(method, MoMurray | ManitaraHadjicostis | PairwiseCancelling | SynchronousAveraging)


def audit_rounds(
    graph: Graph,
    method: Method,
    view: CuriousNodes | EveryoneBut,
    prior_std: float | npt.ArrayLike | None = 1.0,
    *,
    num_rounds: int,
    tolerance: float = 1e-6,
) -> RoundsReport:
    """What curious nodes learn in ``num_rounds`` rounds of a synchronous method.

    Parameters
    ----------
    graph, method
        The network, and :class:`~sottovoce.MoMurray`, :class:`~sottovoce.ManitaraHadjicostis`,
        :class:`~sottovoce.PairwiseCancelling` or :class:`~sottovoce.SynchronousAveraging`.
    view
        The curious nodes, which pool what they hear; :class:`EveryoneBut` makes all but one curious.
    prior_std
        What they believe beforehand; ``None`` for a flat prior.
    num_rounds
        How many rounds they listen.
    tolerance
        Share of the prior deviation (or of 1) below which a value counts as disclosed.

    Examples
    --------
    The triangle, where pairwise gossip keeps both values private for ever:

    >>> import sottovoce as sv
    >>> method = sv.MoMurray(noise_std=1.0, noise_decay=0.8)
    >>> report = audit_rounds(sv.graphs.complete(3), method, sv.privacy.CuriousNodes([0]), num_rounds=80)
    >>> report.history[[0, 1, 80]].round(3).tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.707, 0.707], [0.0, 0.0, 0.0]]
    >>> report.disclosed.tolist()
    [True, True, True]
    """
    if not isinstance(view, CuriousNodes | EveryoneBut):
        raise Unsupported(f"audit_rounds covers CuriousNodes and EveryoneBut, got {type(view).__name__}")
    if not covers(method):
        raise Unsupported(f"audit_rounds covers synchronous methods with Gaussian noise or none, got {method.name}")
    if num_rounds < 0:
        raise InvalidParameter(f"num_rounds must be at least 0, got {num_rounds}")
    method.validate(graph)
    prior = checked_prior(prior_std, graph)
    state = _Rounds(graph, method, view, prior)
    history = [state.std()]
    for k in range(num_rounds):
        _round(state, method, k)
        history.append(state.std())
    scale = np.ones(graph.num_nodes) if prior is None else prior
    return RoundsReport(
        graph=graph,
        method=method,
        view=view,
        num_steps=num_rounds,
        prior_std=prior,
        steps=np.arange(num_rounds + 1),
        history=np.array(history),
        posterior_std=history[-1],
        disclosed=history[-1] <= tolerance * scale,
        observers=state.watching,
        tolerance=tolerance,
    )


def linear_posterior(graph: Graph, method: Nozari | Huang, observer: int, prior: Array, num_rounds: int) -> Array:
    """``(n,)`` deviations of the best linear estimates that one node can make under Laplace noise.

    The best linear estimate needs variances only, so it is that of Gaussian noise of the same variance, 2b²q^{2k}.
    """
    state = _Rounds(graph, method, CuriousNodes([observer]), prior)
    for k in range(num_rounds):
        _laplace(state, method, k)
    return state.std()


class _Rounds:
    """Rows of the honest nodes, in blocks, and what broadcast reveals of them."""

    def __init__(self, graph: Graph, method: WeightedMethod, view: View, prior: Array | None) -> None:
        watching = view.observers(graph)
        if watching.all():
            raise InvalidParameter("view must leave at least one honest node, got all nodes as observers")
        self.graph = graph
        self.honest = np.flatnonzero(~watching)
        self.place = np.cumsum(~watching) - 1
        self.watching = watching
        near = np.unique(np.concatenate([graph.neighbours_of(int(node)) for node in np.flatnonzero(watching)]))
        self.heard = self.place[near[~watching[near]]]
        self.size = len(self.honest)
        self.weights = np.asarray(method.mixing(graph).toarray())[np.ix_(self.honest, self.honest)]
        start = np.zeros((4 * self.size, self.size))
        start[: 2 * self.size] = np.vstack([np.eye(self.size)] * 2)
        if prior is None:
            self.known = Knowledge(factor=np.zeros((len(start), 0)), diffuse=start)
        else:
            self.known = Knowledge(factor=start * prior[self.honest])

    def per_honest(self, name: str, value: float | Array) -> Array:
        return np.asarray(per_node(name, value, self.graph.num_nodes)[self.honest])

    def combine(self, block: int, parts: dict[int, Array]) -> None:
        """Make ``block`` the sum of matrices (or diagonals) times blocks."""
        matrix = np.zeros((self.size, 4 * self.size))
        for source, part in parts.items():
            matrix[:, source * self.size : (source + 1) * self.size] = part if part.ndim == 2 else np.diag(part)
        self.known.combine(slice(block * self.size, (block + 1) * self.size), matrix)

    def add_noise(self, block: int, deviations: Array) -> None:
        for place, deviation in enumerate(deviations.tolist()):
            self.known.add_noise({block * self.size + place: deviation})

    def hear(self) -> None:
        for place in self.heard:
            self.known.observe(MESSAGE * self.size + int(place), 0.0)

    def std(self) -> Array:
        out = np.zeros(self.graph.num_nodes)
        out[self.honest] = self.known.std(slice(0, self.size))
        return out


def _round(state: _Rounds, method: Method, k: int) -> None:
    """Round k: all nodes send, the curious hear, all nodes take the weighted average."""
    if isinstance(method, MoMurray):
        _mo_murray(state, method, k)
    elif isinstance(method, ManitaraHadjicostis):
        _manitara_hadjicostis(state, method, k)
    elif isinstance(method, PairwiseCancelling) and k == 0:
        _pairwise_cancelling(state, method)
    else:
        state.combine(MESSAGE, {VALUE: np.ones(state.size)})
        state.hear()
        state.combine(VALUE, {MESSAGE: state.weights})


def _mo_murray(state: _Rounds, method: MoMurray, k: int) -> None:
    """With g for the value less the outstanding noise: s = g + fresh, g ← W s − fresh = g + (W − I)s."""
    one = np.ones(state.size)
    state.combine(MESSAGE, {VALUE: one})
    state.add_noise(MESSAGE, np.full(state.size, method.noise_std * method.noise_decay**k))
    state.hear()
    state.combine(VALUE, {VALUE: np.eye(state.size), MESSAGE: state.weights - np.eye(state.size)})


def _laplace(state: _Rounds, method: Nozari | Huang, k: int) -> None:
    """Nozari: x ← x + (W − I)s + share·(s − x); Huang: x ← (1 − share)x + share·W s."""
    one = np.eye(state.size)
    scale, decay = (state.per_honest(name, getattr(method, name)) for name in ("noise_scale", "noise_decay"))
    state.combine(MESSAGE, {VALUE: one})
    state.add_noise(MESSAGE, math.sqrt(2.0) * scale * decay**k)
    state.hear()
    if isinstance(method, Nozari):
        kept = np.diag(state.per_honest("noise_share", method.noise_share))
        state.combine(VALUE, {VALUE: one - kept, MESSAGE: state.weights - one + kept})
    else:
        share = method.mixing_share
        state.combine(VALUE, {VALUE: (1.0 - share) * one, MESSAGE: share * state.weights})


def _manitara_hadjicostis(state: _Rounds, method: ManitaraHadjicostis, k: int) -> None:
    rounds = state.per_honest("num_rounds", method.num_rounds)
    one = np.ones(state.size)
    state.combine(MESSAGE, {VALUE: one, ADDED: np.where(k == rounds, -1.0, 0.0)})
    state.add_noise(MESSAGE, np.where(k < rounds, state.per_honest("noise_std", method.noise_std), 0.0))
    state.combine(ADDED, {ADDED: one, MESSAGE: one, VALUE: -one})
    state.hear()
    state.combine(VALUE, {MESSAGE: state.weights})


def _pairwise_cancelling(state: _Rounds, method: PairwiseCancelling) -> None:
    """The first round; a curious neighbour knows the number it agreed on."""
    state.combine(MESSAGE, {VALUE: np.ones(state.size)})
    state.add_noise(MESSAGE, np.full(state.size, method.own_noise_std))
    for i, j in state.graph.edges[~state.watching[state.graph.edges].any(axis=1)]:
        first, second = (MESSAGE * state.size + int(state.place[node]) for node in (i, j))
        state.known.add_noise({first: method.pair_noise_std, second: -method.pair_noise_std})
    state.hear()
    state.combine(VALUE, {MESSAGE: state.weights})
