"""What is disclosed in the long run: graph conditions that need no audit.

Pairwise gossip: an exchange between two others is heard by nobody else, so in the end an observer knows the
sum over every group of honest nodes that unheard edges connect, and a single value only if it is alone in
its group. Synchronous broadcast: every neighbour hears every message, and containment of closed
neighbourhoods is enough (Mo and Murray 2017). The triangle shows the difference.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..graphs.graph import Graph
from .analysers.exchanges import hidden_groups
from .view import CuriousNodes, View

__all__ = ["disclosed_by_broadcast", "disclosed_eventually", "groups"]

Mask = npt.NDArray[np.bool_]


def groups(graph: Graph, view: View) -> list[list[int]]:
    """Honest nodes in groups connected by edges that the view does not hear.

    With noise that is withdrawn, what a view learns for certain is the sum over each group.

    Examples
    --------
    >>> import sottovoce as sv
    >>> groups(sv.graphs.cycle(6), CuriousNodes([0, 2]))
    [[1], [3, 4, 5]]
    """
    return sorted(members.tolist() for members in hidden_groups(graph, view)[1])


def disclosed_eventually(graph: Graph, view: View) -> Mask:
    """``(n,)`` whose value pairwise gossip under withdrawn noise discloses to ``view`` in the long run.

    True for a node all of whose edges are heard, in particular when all its neighbours observe. For every
    other node the answer is no, whatever σ > 0 and φ, provided that it has met an honest neighbour over an
    unheard edge; how well it is then protected depends on the noise it had left at that moment, and that
    is what an audit tells. The observer's own nodes count as disclosed.

    Examples
    --------
    >>> import sottovoce as sv
    >>> disclosed_eventually(sv.graphs.complete(3), CuriousNodes([0])).tolist()
    [True, False, False]
    >>> disclosed_eventually(sv.graphs.star(4), CuriousNodes([0])).tolist()
    [True, True, True, True]
    """
    mask = view.observers(graph)
    for members in groups(graph, view):
        if len(members) == 1:
            mask[members[0]] = True
    return mask


def disclosed_by_broadcast(graph: Graph, view: CuriousNodes) -> Mask:
    """``(n,)`` whose value synchronous broadcast under withdrawn noise discloses to curious nodes.

    Node i is disclosed exactly when it and all its neighbours are heard: N[i] ⊆ N[observers]. It does not
    depend on φ.

    Examples
    --------
    >>> import sottovoce as sv
    >>> disclosed_by_broadcast(sv.graphs.complete(3), CuriousNodes([0])).tolist()
    [True, True, True]
    """
    mask = view.observers(graph)
    heard = mask.copy()
    for node in view.nodes:
        heard[graph.neighbours_of(node)] = True
    for node in range(graph.num_nodes):
        mask[node] |= heard[node] and bool(heard[graph.neighbours_of(node)].all())
    return mask
