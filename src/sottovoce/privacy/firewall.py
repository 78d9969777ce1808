"""Two facts that decide what noise insertion is worth: what one unheard exchange protects, and what hiding costs.

**Firewall.** Let honest nodes i and j meet over an edge that nobody else hears, after i has shown T_i messages and j
has shown T_j. From then on, for ever, a coalition without i and j knows c_i no better than

    (τ_i⁻² + τ_j⁻² + I_i(T_i) + I_j(T_j))^{−1/2},

with I(T) the information in T messages (:func:`~sottovoce.methods.noise_insertion.information`) and τ the prior
deviations. *Proof.* Let all others pool what they know. Until the meeting they have T_i messages of c_i and T_j of c_j
under independent noise. The meeting replaces both noise-free values by half their sum, plus and minus half the
difference of two fresh draws; nothing later depends on c_i and c_j but through their sum. So the most that can still
be learned is the sum, and given the sum the precisions of c_i and c_j add up. ∎ Before the meeting i has shown fewer
messages, so the bound holds all the time. Everybody but {i, j} attains it in the end.

So what counts is what was shown *before* the first unheard exchange. If a share s of a node's exchanges is heard,
the number of messages before it is geometric, P(T = t) = (1 − s) s^t, and the bound has a law of its own, without any
run: :func:`firewall_law`. A sealed edge (:mod:`.gaussian.seals`) is the same idea at time zero, T = 0.

**Price.** If every node has spoken and keeps a deviation of at least h_i against all others together, then
E[½‖x − c̄‖²] ≥ Σ h_i²/(2n), on every graph, for every σ, φ and length of Algorithm 1. *Proof.* The last message alone
carries 1/a² of information, a its noise deviation, so a_i ≥ h_i. That noise is outstanding, independently at all
nodes, and the mean of the values is off by its mean: E[½‖x − c̄‖²] ≥ (n/2) Σ a_i²/n². ∎ One draw of deviation h_i that
is never withdrawn attains it (:meth:`sottovoce.BudgetedNoiseInsertion.with_draws`). So against everybody else
withdrawal buys nothing; what it buys is the firewall.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, Unsupported
from ..foundation.arguments import checked, number, per_node, whole
from ..graphs.chances import Chances
from ..graphs.graph import Graph, check_graph
from ..methods.base import Array, Method
from ..methods.noise_insertion import information
from ..methods.released import WithdrawnNoise
from .prior import checked_prior

__all__ = ["FirewallLaw", "expected_information", "firewall_law", "firewall_std", "price_of_hiding"]

MOST_MESSAGES = 2000
"""Longer waits for an unheard exchange count as if nothing were left."""
_TAIL = 1e-12


def firewall_std(
    noise_std: npt.ArrayLike,
    noise_decay: npt.ArrayLike,
    messages: npt.ArrayLike,
    *,
    prior_std: npt.ArrayLike | None = None,
) -> float:
    """What two honest nodes keep for ever, once they have met unheard: (τ_i⁻² + τ_j⁻² + I_i(T_i) + I_j(T_j))^{−1/2}.

    Parameters
    ----------
    noise_std, noise_decay
        σ ≥ 0 and φ in [0, 1): of both nodes, or a pair.
    messages
        T_i, T_j: messages shown before the meeting; a pair.
    prior_std
        τ > 0, of both or a pair; ``None``: a flat prior.

    Returns
    -------
    float
        It is the same for both: of c_i and c_j only the sum can become known. Infinite for a flat prior and no
        message.

    Examples
    --------
    Neighbours that meet first of all keep 0.707 of their prior deviation. If each has shown one message at σ = 1
    before, ± 0.704 is left of either value.

    >>> round(firewall_std(1.0, 0.8, (0, 0), prior_std=10.0), 3)
    7.071
    >>> round(firewall_std(1.0, 0.8, (1, 1), prior_std=10.0), 3)
    0.704
    """
    shown = np.broadcast_to(np.asarray(messages, dtype=np.float64), (2,))
    if not (shown >= 0.0).all():
        raise InvalidParameter(f"messages must be two numbers ≥ 0, got {shown.min():g}")
    std, decay = _pair("noise_std", noise_std, low=0.0), _pair("noise_decay", noise_decay, low=0.0, high=1.0)
    precision = 0.0 if prior_std is None else float((_pair("prior_std", prior_std, low=0.0) ** -2.0).sum())
    total = precision + float(information(std, decay, shown).sum())
    return math.inf if total == 0.0 else total**-0.5


def expected_information(noise_std: npt.ArrayLike, noise_decay: npt.ArrayLike, heard_share: npt.ArrayLike) -> Array:
    """E I(T) for the messages that a node shows before its first unheard exchange: s/(σ² (1 − s/φ²)).

    T is geometric, P(T = t) = (1 − s) s^t. By Jensen's inequality the expected *variance* that the firewall leaves is
    at least 1/(τ_i⁻² + τ_j⁻² + E I_i + E I_j).

    Parameters
    ----------
    noise_std, noise_decay
        σ ≥ 0 and φ in [0, 1).
    heard_share
        s in [0, 1]: the share of the node's exchanges that are heard. All three broadcast.

    Returns
    -------
    ndarray
        Infinite where s ≥ φ² (and s > 0, if one message may carry all there is): noise falls faster than chances do.

    Examples
    --------
    >>> expected_information(1.0, 0.5, [0.0, 0.125, 0.25]).tolist()
    [0.0, 0.25, inf]
    """
    std, decay, share = (np.asarray(p, dtype=np.float64) for p in (noise_std, noise_decay, heard_share))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = share / decay**2
        total = share / std**2 / np.where(ratio < 1.0, 1.0 - ratio, 0.0)
    return np.where(share == 0.0, 0.0, total)


@dataclass(frozen=True, eq=False)
class FirewallLaw:
    """The law of what the firewall leaves of one value over random schedules; returned by :func:`firewall_law`."""

    std: Array
    """``(k,)`` possible deviations, increasing."""
    chances: Array
    """``(k,)`` how likely each is."""

    @property
    def mean(self) -> float:
        """The expected deviation."""
        return float(self.chances @ self.std)

    def quantile(self, probability: float) -> float:
        """The deviation that is left, for ever, in at least this share of runs."""
        number("probability", probability, low=0.0, high=1.0, low_open=True, high_open=True)
        below = np.concatenate([[0.0], np.cumsum(self.chances)[:-1]])
        return float(self.std[np.flatnonzero(below <= 1.0 - probability)[-1]])

    def kept(self, std: float) -> float:
        """In which share of runs at least this deviation is left, for ever."""
        return float(self.chances[self.std >= std].sum())


def firewall_law(
    graph: Graph,
    method: Method,
    node: int,
    coalition: Iterable[int],
    *,
    prior_std: float | npt.ArrayLike | Mapping[Any, Any] | None = 1.0,
    edge_probabilities: npt.ArrayLike | None = None,
) -> FirewallLaw:
    """What the first unheard exchange of a node leaves of its value, over random schedules, before anything runs.

    In each run the true deviation is at least the one drawn from this law, at all times and for runs of any length:
    quantiles of the law are promises. With h the chance of the node's heard edges, g that of its unheard ones and o
    that of its partner's other edges, P(T_i = a, T_j = b) = C(a + b, a) h^a o^b g/(h + o + g)^{a + b + 1}.

    Parameters
    ----------
    graph, method
        The network, and a method with withdrawn noise, such as :class:`~sottovoce.NoiseInsertion`.
    node
        i, whose value is protected.
    coalition
        Who pools what they know. The bound for partner j counts everything that j shows to anybody.
    prior_std
        τ > 0; ``None``: a flat prior.
    edge_probabilities
        ``(m,)`` chance of each edge, or ``None`` for equal ones.

    Examples
    --------
    On a triangle with node 0 curious, nodes 1 and 2 meet before either has met node 0 in one run of three.

    >>> import sottovoce as sv
    >>> noisy = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8)
    >>> law = firewall_law(sv.graphs.complete(3), noisy, 1, [0], prior_std=10.0)
    >>> round(law.kept(7.0), 6), round(law.quantile(0.5), 3)
    (0.333333, 0.99)
    """
    check_graph(graph)
    node = whole("node", node, low=0, high=graph.num_nodes - 1)
    curious = {whole("coalition", member, low=0, high=graph.num_nodes - 1) for member in coalition}
    if node in curious:
        raise InvalidParameter(f"node must not be in the coalition, got {node}")
    released = method.releases(graph)
    if not isinstance(released, WithdrawnNoise):
        raise Unsupported(f"the firewall is proved for withdrawn noise, got {method.name}: {released.words}")
    prior = checked_prior(prior_std, graph)
    outcomes = [
        _Meeting(partner, *rates).outcomes(node, released, prior)
        for partner, *rates in _meetings(Chances(graph, edge_probabilities), node, curious)
    ]
    std = np.concatenate([[0.0], *(found for found, _ in outcomes)])
    chances = np.concatenate([[0.0], *(chance for _, chance in outcomes)])
    chances[0] = max(0.0, 1.0 - float(chances.sum()))  # no unheard exchange, or after too many messages
    order = np.argsort(std, kind="stable")
    return FirewallLaw(std[order], chances[order])


def price_of_hiding(hidden_std: float | npt.ArrayLike, num_nodes: int) -> float:
    """The least E[½‖x − c̄‖²] if every node keeps ``hidden_std`` against all others together: Σ h_i²/(2n).

    It holds on every graph and for every σ, φ and number of steps of Algorithm 1, whether noise is withdrawn, left in
    place or both, once every node has spoken. For equal h it is h²/2, whatever n.

    Parameters
    ----------
    hidden_std
        h ≥ 0, one number or one per node.
    num_nodes
        n.

    Examples
    --------
    >>> price_of_hiding(0.5, 10)
    0.125
    >>> price_of_hiding([0.0, 1.5, 1.5], 3)
    0.75
    """
    size = whole("num_nodes", num_nodes, low=1, high=2**31)
    hidden = per_node("hidden_std", checked("hidden_std", hidden_std, low=0.0), size)
    return float((hidden**2).sum()) / (2.0 * size)


@dataclass(frozen=True)
class _Meeting:
    """A partner and the chances per step: heard edges of the node, its unheard ones, this one, the partner's others."""

    partner: int
    heard: float
    unheard: float
    meeting: float
    others: float

    def outcomes(self, node: int, released: WithdrawnNoise, prior: Array | None) -> tuple[Array, Array]:
        """Deviations and their chances, over the messages that both have shown before they meet."""
        from scipy.special import gammaln, xlogy

        own = np.arange(_enough(self.heard, self.unheard))[:, None]
        other = np.arange(_enough(self.others, self.unheard))
        total = self.heard + self.unheard + self.others
        log = xlogy(own, self.heard / total) + xlogy(other, self.others / total) + math.log(self.meeting / total)
        chance = np.exp(log + gammaln(own + other + 1.0) - gammaln(own + 1.0) - gammaln(other + 1.0))
        std, decay = released.noise_std, released.noise_decay
        known = information(std[node], decay[node], own) + information(std[self.partner], decay[self.partner], other)
        if prior is not None:
            known = known + prior[node] ** -2.0 + prior[self.partner] ** -2.0
        with np.errstate(divide="ignore"):
            return (known**-0.5).reshape(-1), chance.reshape(-1)


def _meetings(chances: Chances, node: int, curious: set[int]) -> list[tuple[int, float, float, float, float]]:
    """Partner and chances for every honest neighbour that the node can meet."""
    graph, edges = chances.graph, chances.edges
    mine = np.flatnonzero((graph.edges == node).any(axis=1))
    near = {int(graph.edges[e].sum()) - node: float(edges[e]) for e in mine}
    heard = math.fsum(chance for other, chance in near.items() if other in curious)
    honest = {other: chance for other, chance in near.items() if other not in curious and chance > 0.0}
    unheard = math.fsum(honest.values())
    return [
        (other, heard, unheard, chance, max(0.0, float(chances.nodes[other]) - chance))
        for other, chance in honest.items()
    ]


def _enough(before: float, end: float) -> int:
    """How many messages to count: all but a share of 10⁻¹² of the waits, and not more than can be listed."""
    share = before / (before + end)
    return 1 if share == 0.0 else min(MOST_MESSAGES, math.ceil(math.log(_TAIL) / math.log(share)) + 1)


def _pair(name: str, value: npt.ArrayLike, *, low: float, high: float = math.inf) -> Array:
    given = checked(name, value, low=low, high=high, low_open=name == "prior_std", high_open=high < math.inf)
    return np.broadcast_to(np.asarray(given), (2,))
