"""How often all nodes are activated in k steps, jointly: what a promise to every node at once has to count with.

One edge fires per step, so the edges' counts are multinomial and node i's count N_i, the sum over its edges, is
binomial with chance p_i = Σ_{e∋i} p_e. Counts of different nodes depend on each other. P(N_i ≤ T_i for all i) is found

- exactly on complete bipartite graphs whose two ends are drawn independently (every star): each side is multinomial;
- exactly on complete graphs with equally likely edges, by taking out one node after the other;
- exactly on any graph whose limits leave few states, step by step;
- on all others between two proved bounds. From below, 1 − Σ P(N_i > T_i) (union bound). From above,
  Π P(N_i ≤ T_i) over nodes no two of which are neighbours: their counts add up disjoint sets of multinomial counts,
  so they are negatively associated (Joag-Dev and Proschan 1983). Neighbours share an edge and are not, but given the
  count of that edge they are, so that P(N_i > T_i, N_j > T_j) ≤ Σ_c P(N_e = c) P(N_i > T_i | c) P(N_j > T_j | c), and
  Bonferroni's second inequality gives another bound from above. Where the failure is rare, the bounds nearly meet.

What a message shows is :func:`sottovoce.methods.noise_insertion.information`; the planner puts the two together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter
from ...foundation.arguments import Array, number, unnamed, whole
from ...graphs.chances import Chances
from ...graphs.graph import Graph, check_graph

__all__ = ["CountProbability", "count_limits", "count_probability", "largest_count", "most_steps"]

_MOST_STATES = 200_000
_MOST_WORK = 2e9
"""Multiplications that one exact probability may take: some seconds."""
_NOTHING = 1e-30
"""Masses below this share are dropped."""
_LONGEST = 2**53


class CountProbability(NamedTuple):
    """The chance that no node is activated more often than its limit: ``low`` ≤ chance ≤ ``high``, both proved."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether the two are one number."""
        return self.low == self.high


def count_probability(
    graph: Graph,
    num_steps: int,
    limits: float | npt.ArrayLike,
    *,
    edge_probabilities: npt.ArrayLike | None = None,
) -> CountProbability:
    """P(N_i ≤ T_i for all nodes i) after k steps, exactly or between two proved bounds.

    Parameters
    ----------
    graph
        Who can talk to whom.
    num_steps
        k ≥ 0.
    limits
        T ≥ 0: one number, or one per node; may be infinite.
    edge_probabilities
        ``(m,)`` chance of each edge, or ``None`` for equal ones.

    Examples
    --------
    A star of three: the centre acts in each of two steps, the leaves once each in half of the runs.

    >>> from sottovoce.graphs import complete, star
    >>> half = count_probability(star(3), 2, [2, 1, 1])
    >>> round(half.low, 12), round(half.high, 12)
    (0.5, 0.5)

    On a complete graph of ten nodes, 26 steps activate a node 5.2 times on average; that no node acts more than six
    times is rare.

    >>> round(count_probability(complete(10), 26, 6).low, 6)
    0.005669
    """
    check_graph(graph)
    chances, steps = Chances.connecting(graph, edge_probabilities), _checked_steps(num_steps)
    most = _checked_limits(limits, graph)
    exact = _exactly(chances, steps, most)
    return _between(chances, steps, most) if exact is None else CountProbability(exact, exact)


def largest_count(
    graph: Graph, num_steps: int, probability: float, *, edge_probabilities: npt.ArrayLike | None = None
) -> int:
    """The smallest T with P(N_i ≤ T for all i) ≥ ``probability``; where only bounds are known, the smallest proved one.

    Examples
    --------
    A node of a cycle of ten acts at most 27 times in 100 steps in 95 % of runs; all of them together at most 31 times.

    >>> from sottovoce.graphs import cycle
    >>> largest_count(cycle(10), 100, 0.95)
    31
    """
    chances, steps, chance = _checked(graph, edge_probabilities, num_steps, probability)
    return _smallest(lambda limit: _holds(chances, steps, np.full(graph.num_nodes, float(limit)), chance), -1, steps)


def count_limits(
    graph: Graph, num_steps: int, probability: float, *, edge_probabilities: npt.ArrayLike | None = None
) -> Array:
    """``(n,)`` limits T_i that all nodes keep together in at least this share of runs, shared out fairly.

    Each T_i is a quantile of node i's own count, all at one level, and the level is as low as it may be: nodes with
    many neighbours get larger limits, and every node is about equally likely to be the one that exceeds its own.

    Examples
    --------
    >>> from sottovoce.graphs import star
    >>> count_limits(star(5), 40, 0.95).tolist()
    [40.0, 16.0, 16.0, 16.0, 16.0]
    """
    import scipy.stats

    chances, steps, chance = _checked(graph, edge_probabilities, num_steps, probability)

    def at_level(halvings: float) -> Array:
        """Each node exceeds its limit in at most (1 − probability)·2^−halvings of runs."""
        return np.asarray(scipy.stats.binom.isf((1.0 - chance) * 2.0**-halvings, steps, chances.nodes))

    fine = 64  # the level is found to one part in a hundred
    enough = math.ceil(fine * math.log2(graph.num_nodes))  # there the union bound holds
    found = _smallest(lambda k: _holds(chances, steps, at_level(k / fine), chance), -1, enough)
    return at_level(found / fine)


def most_steps(
    graph: Graph,
    limits: float | npt.ArrayLike,
    probability: float,
    *,
    edge_probabilities: npt.ArrayLike | None = None,
) -> float:
    """The largest number of steps after which P(N_i ≤ T_i for all i) ≥ ``probability`` is proved; may be infinite.

    Examples
    --------
    A step on a cycle of four activates one of two opposite nodes, and independently one of the other two. So the chance
    that nobody has acted more than five times is (31/32)² = 0.94 after six steps, and 0.77 after seven.

    >>> from sottovoce.graphs import cycle
    >>> most_steps(cycle(4), 5, 0.9)
    6.0
    """
    check_graph(graph)
    chances, most = Chances.connecting(graph, edge_probabilities), _checked_limits(limits, graph)
    chance = number("probability", probability, low=0.0, high=1.0, low_open=True, high_open=True)
    if np.isinf(most[chances.nodes > 0.0]).all():
        return math.inf
    high = 1
    while _holds(chances, high, most, chance):
        high *= 2
        if high > _LONGEST:
            return math.inf
    return float(_smallest(lambda k: not _holds(chances, k, most, chance), high // 2 if high > 1 else 0, high) - 1)


def _holds(chances: Chances, steps: int, limits: Array, probability: float) -> bool:
    """Whether the joint chance is at least this: cheap bounds first, and only what they leave open exactly."""
    tails = _tail(steps, chances.nodes, limits)
    if 1.0 - float(tails.sum()) >= probability:
        return True
    if _unconnected_product(chances.graph, tails) < probability:
        return False
    if _second_order(chances, steps, limits, tails) < probability:
        return False
    exact = _exactly(chances, steps, limits)
    return exact is not None and exact >= probability


# -- exactly ------------------------------------------------------------------------------------------


def _exactly(chances: Chances, steps: int, limits: Array) -> float | None:
    """The probability, or ``None`` where no exact way is cheap enough."""
    limits = np.minimum(limits, steps)
    sides = _independent_sides(chances)
    if sides is not None:
        return math.prod(_multinomial(steps, chances.nodes[side], limits[side]) for side in sides)
    if _few_states(chances, steps, limits):
        return _step_by_step(chances, steps, limits)
    if _is_uniform_complete(chances) and float((limits**2).sum()) * steps**2 <= 2.0 * _MOST_WORK:
        return _complete(steps, limits)
    return None


def _independent_sides(chances: Chances) -> tuple[npt.NDArray[np.intp], ...] | None:
    """The two sides of a complete bipartite graph with p_ij = p_i p_j, so that the two ends are independent."""
    graph = chances.graph
    left = np.ones(graph.num_nodes, dtype=np.bool_)
    left[graph.neighbours_of(0)] = False
    ends = graph.edges
    if graph.num_edges != left.sum() * (~left).sum() or (left[ends[:, 0]] == left[ends[:, 1]]).any():
        return None
    product = chances.nodes[ends[:, 0]] * chances.nodes[ends[:, 1]]
    if not np.allclose(product, chances.edges, rtol=1e-12, atol=0.0):
        return None
    return np.flatnonzero(left), np.flatnonzero(~left)


def _multinomial(steps: int, chances: Array, limits: Array) -> float:
    """P(all counts ≤ their limits): independent Poisson counts, given that they add up to k (Levin 1981)."""
    import scipy.stats

    total, start = np.ones(1), 0
    for chance, limit in zip(chances.tolist(), limits.tolist(), strict=True):
        mean = steps * chance
        reach = 12.0 * math.sqrt(mean) + 60.0
        first = max(0, math.floor(mean - reach))
        counts = np.arange(first, min(limit, math.ceil(mean + reach)) + 1)
        if not counts.size:
            return 0.0
        total = np.convolve(total, scipy.stats.poisson.pmf(counts, mean))
        start += first
        kept = np.flatnonzero(total > _NOTHING * total.max())
        if not kept.size:
            return 0.0
        start, total = start + int(kept[0]), total[kept[0] : kept[-1] + 1]
    inside = 0 <= steps - start < len(total)
    return min(float(total[steps - start] / scipy.stats.poisson.pmf(steps, steps)), 1.0) if inside else 0.0


def _few_states(chances: Chances, steps: int, limits: Array) -> bool:
    states = math.exp(min(float(np.log(limits[limits < steps] + 1.0).sum()), 100.0))
    return states <= _MOST_STATES and states * steps * chances.graph.num_edges <= _MOST_WORK


def _step_by_step(chances: Chances, steps: int, limits: Array) -> float:
    """Walk through the counts of the nodes that can exceed their limit; walks that exceed one are dropped."""
    limited = np.flatnonzero(limits < steps)
    axis = {int(node): place for place, node in enumerate(limited)}
    state = np.zeros(tuple(int(limit) + 1 for limit in limits[limited]))
    state[(0,) * state.ndim] = 1.0
    moves = []
    for (i, j), chance in zip(chances.graph.edges.tolist(), chances.edges.tolist(), strict=True):
        moved = {axis[node] for node in (i, j) if node in axis}
        source = tuple(slice(0, -1) if place in moved else slice(None) for place in range(state.ndim))
        target = tuple(slice(1, None) if place in moved else slice(None) for place in range(state.ndim))
        moves.append((target, source, chance))
    for _ in range(steps):
        following = np.zeros_like(state)
        for target, source, chance in moves:
            following[target] += chance * state[source]
        state = following
    return min(float(state.sum()), 1.0)


def _is_uniform_complete(chances: Chances) -> bool:
    size = chances.graph.num_nodes
    return chances.graph.num_edges == size * (size - 1) // 2 and bool(np.ptp(chances.edges) <= 1e-12 / size**2)


def _complete(steps: int, limits: Array) -> float:
    """A complete graph, equally likely edges: take out one node after the other.

    The state is how many edges are left among the remaining nodes, and how many edges are open: one end is taken out,
    and the other is uniform over those that remain. So the next node has Bin(open, 1/left) of the open edges, which
    closes them, and Bin(edges, 2/left) of the others, which opens them.
    """
    state = np.zeros((steps + 1, steps + 1))  # [open, edges]; open + edges ≤ steps
    state[0, steps] = 1.0
    for left, limit in zip(range(len(limits), 0, -1), limits.astype(int).tolist(), strict=True):
        counts, among = np.arange(limit + 1)[:, None], np.arange(steps + 1)
        closing = _mass(counts, among, 1.0 / left)
        opening = _mass(counts, among, min(2.0 / left, 1.0))
        following = np.zeros_like(state)
        for opened in range(limit + 1):
            part = state[:, opened:] * opening[opened, opened:]
            for closed in range(limit - opened + 1):
                end = steps + 1 - max(opened - closed, 0)
                moved = part[closed:end] * closing[closed, closed:end, None]
                following[opened : opened + len(moved), : steps + 1 - opened] += moved
        state = following
    return min(float(state.sum()), 1.0)


# -- bounds -------------------------------------------------------------------------------------------


def _between(chances: Chances, steps: int, limits: Array) -> CountProbability:
    tails = _tail(steps, chances.nodes, limits)
    low = max(0.0, 1.0 - float(tails.sum()))
    high = min(_unconnected_product(chances.graph, tails), _second_order(chances, steps, limits, tails))
    return CountProbability(low, max(low, min(high, 1.0)))


def _tail(steps: int, chances: Array, limits: Array | float) -> Array:
    """P(Bin(steps, chance) > limit)."""
    import scipy.stats

    return np.asarray(scipy.stats.binom.sf(limits, steps, chances), dtype=np.float64)


def _mass(counts: npt.NDArray[np.int64] | int, steps: npt.NDArray[np.int64] | int, chances: Array | float) -> Array:
    """P(Bin(steps, chance) = count)."""
    import scipy.stats

    return np.asarray(scipy.stats.binom.pmf(counts, steps, chances), dtype=np.float64)


def _unconnected_product(graph: Graph, tails: Array) -> float:
    """Π (1 − tail) over nodes no two of which are neighbours, those most likely to exceed first."""
    free = np.ones(graph.num_nodes, dtype=np.bool_)
    total = 0.0
    for node in np.argsort(-tails, kind="stable").tolist():
        if tails[node] <= 0.0:
            break
        if free[node]:
            total += math.log1p(-tails[node]) if tails[node] < 1.0 else -math.inf
            free[graph.neighbours_of(node)] = False
    return math.exp(total)


def _second_order(chances: Chances, steps: int, limits: Array, tails: Array) -> float:
    """1 − Σ P(A_i) + Σ_{i<j} (bound on P(A_i ∩ A_j)), A_i: node i exceeds its limit."""
    i, j = chances.graph.edges.T
    kinds, of_edge = np.unique(
        np.stack([chances.edges, chances.nodes[i], limits[i], chances.nodes[j], limits[j]]), axis=1, return_inverse=True
    )
    mean = steps * float(chances.edges.max())
    reach = min(steps, math.ceil(mean + 10.0 * math.sqrt(mean) + 30.0))
    if kinds.shape[1] * reach > _MOST_WORK / 200:
        return 1.0
    both = _both_exceed(steps, kinds, reach)[of_edge.reshape(-1)]
    pairs = 0.5 * (float(tails.sum()) ** 2 - float((tails**2).sum()))
    return 1.0 - float(tails.sum()) + pairs + float((both - tails[i] * tails[j]).sum())


def _both_exceed(steps: int, kinds: Array, reach: int) -> Array:
    """Bound on P(both ends of an edge exceed), summed over the count of that edge; above ``reach`` it is taken as 1.

    The rows of ``kinds``: the edge's chance, then chance and limit of each end.
    """
    edge, *ends = kinds
    total = _tail(steps, edge, reach)
    shares = [np.clip((chance - edge) / np.maximum(1.0 - edge, 1e-300), 0.0, 1.0) for chance in ends[::2]]
    for count in range(reach + 1):
        one, other = (
            _tail(steps - count, share, limit - count) for share, limit in zip(shares, ends[1::2], strict=True)
        )
        total += _mass(count, steps, edge) * one * other
    return total


# -- input --------------------------------------------------------------------------------------------


def _smallest(good: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number in (low, high] that is good; high is taken to be."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def _checked(
    graph: Graph, edge_probabilities: npt.ArrayLike | None, num_steps: int, probability: float
) -> tuple[Chances, int, float]:
    chance = number("probability", probability, low=0.0, high=1.0, low_open=True, high_open=True)
    return Chances.connecting(graph, edge_probabilities), _checked_steps(num_steps), chance


def _checked_steps(num_steps: int) -> int:
    return whole("num_steps", num_steps, low=0, high=_LONGEST)


def _checked_limits(limits: float | npt.ArrayLike, graph: Graph) -> Array:
    most = np.broadcast_to(np.floor(np.asarray(unnamed("limits", limits), dtype=np.float64)), (graph.num_nodes,))
    if not (most >= 0.0).all():  # also refuses NaN
        raise InvalidParameter(f"limits must be numbers ≥ 0, one or one per node, got {most.min():g}")
    return most
