"""How many members have to be taken out before a network falls apart, and what one of them cuts off."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from ...graphs import Graph

__all__ = ["component_without", "vertex_connectivity"]


def component_without(graph: Graph, node: int, removed: Iterable[int]) -> set[int]:
    """The nodes that ``node`` still reaches when ``removed`` are taken out.

    Examples
    --------
    >>> from sottovoce.graphs import path
    >>> component_without(path(4), 0, [2])
    {0, 1}
    """
    gone, found, queue = set(removed), {node}, deque([node])
    while queue:
        for other in graph.neighbours_of(queue.popleft()).tolist():
            if other not in gone and other not in found:
                found.add(other)
                queue.append(other)
    return found


def vertex_connectivity(graph: Graph) -> int:
    """The least number of nodes whose removal leaves the graph disconnected; n − 1 for the complete graph.

    Disjoint paths between pairs (Menger), for as few pairs as suffice (Even): one end is among the first κ + 1 nodes.

    Examples
    --------
    >>> from sottovoce.graphs import complete, cycle, path
    >>> vertex_connectivity(path(5)), vertex_connectivity(cycle(5)), vertex_connectivity(complete(5))
    (1, 2, 4)
    """
    around = [set(graph.neighbours_of(i).tolist()) for i in range(graph.num_nodes)]
    least, first = min(map(len, around)), 0
    while first <= least and first < graph.num_nodes:
        for other in range(first + 1, graph.num_nodes):
            if other not in around[first]:
                least = min(least, _disjoint_paths(around, first, other, least))
        first += 1
    return least


def _disjoint_paths(around: Sequence[set[int]], start: int, end: int, enough: int) -> int:
    """Paths from ``start`` to ``end`` without a common inner node, counted up to ``enough``.

    Each node v is split into (v, in) = 2v and (v, out) = 2v + 1 with one unit between them; flows of one unit are
    pushed along shortest augmenting paths.
    """
    used: set[tuple[int, int]] = set()  # arcs that carry one unit

    def arcs(place: int) -> list[int]:
        node, out = divmod(place, 2)
        forward = [2 * other for other in around[node]] if out else [place + 1]
        back = [place - 1] if out else [2 * other + 1 for other in around[node]]
        return [to for to in forward if (place, to) not in used] + [to for to in back if (to, place) in used]

    for found in range(enough):
        came, queue = {2 * start + 1: -1}, deque([2 * start + 1])
        while queue and 2 * end not in came:
            place = queue.popleft()
            for to in arcs(place):
                if to not in came:
                    came[to] = place
                    queue.append(to)
        if 2 * end not in came:
            return found
        place = 2 * end
        while came[place] >= 0:
            before = came[place]
            if (place, before) in used:
                used.remove((place, before))
            else:
                used.add((before, place))
            place = before
    return enough
