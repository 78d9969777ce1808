"""What is disclosed in the long run, and what is protected for ever: conditions that need no audit.

Pairwise gossip: an exchange between two others is heard by nobody else, so in the end an observer knows the
sum over every group of honest nodes that unheard edges connect. If noise is withdrawn little by little (0 < φ < 1), it
knows a single value only if it is alone in its group: the graph decides. If noise is withdrawn at once (φ = 0), the
order of exchanges decides (:func:`firewalled`). Synchronous broadcast: every neighbour hears every message, and
containment of closed neighbourhoods is enough (Mo and Murray 2017). The triangle shows the difference.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import Unsupported
from ..graphs.graph import Graph, check_graph
from ..methods.base import Array, Method
from ..methods.released import WithdrawnNoise
from .analysers.exchanges import checked_run
from .analysers.model import hidden_groups, stated_noise
from .view import CuriousNodes, View

__all__ = ["disclosed_by_broadcast", "disclosed_eventually", "firewalled", "groups"]

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
    check_graph(graph)
    return sorted(members.tolist() for members in hidden_groups(graph, view)[1])


def disclosed_eventually(graph: Graph, view: View, method: Method | None = None) -> Mask:
    """``(n,)`` whose value pairwise gossip under withdrawn noise discloses to ``view`` in the long run, for 0 < φ < 1.

    True for a node all of whose edges are heard, in particular when all its neighbours observe. For every other node
    the answer is no, for every σ > 0 and 0 < φ < 1, once it has met an honest neighbour over an unheard edge; how well
    it is then protected depends on the noise it had left at that moment, and that is what an audit tells. The
    observer's own nodes count as disclosed.

    Parameters
    ----------
    graph, view
        The network and who watches.
    method
        If given, it is checked that the rule holds for it.

    Raises
    ------
    Unsupported
        If the method states no withdrawn noise, or σ = 0 or φ = 0 at some honest node: there the order of exchanges
        decides and not the graph; see :func:`firewalled`, or audit the run.

    Notes
    -----
    *Proof.* If all edges of i are heard, every message of i is c_i plus what the observer knows plus noise of deviation
    σφ^t, which vanishes. Otherwise let i meet j unheard, after i has shown T_i messages and j T_j. By the theorem of
    :mod:`.firewall` nobody knows c_i better than (I_i(T_i) + I_j(T_j))^{−1/2} then or ever after, and
    I(T) = σ⁻² Σ_{t<T} φ^{−2t} is finite if σ and φ are above 0. ∎ At φ = 0 it is infinite from the second message on:
    on a cycle a neighbour who is called twice before it meets anybody else has told its value.

    Examples
    --------
    >>> import sottovoce as sv
    >>> disclosed_eventually(sv.graphs.complete(3), CuriousNodes([0])).tolist()
    [True, False, False]
    >>> disclosed_eventually(sv.graphs.star(4), CuriousNodes([0])).tolist()
    [True, True, True, True]
    """
    check_graph(graph)
    mask = view.observers(graph)
    if method is not None:
        std, decay = _withdrawn(graph, method)
        if not ((std > 0.0) & (decay > 0.0))[~mask].all():
            raise Unsupported(
                "disclosed_eventually is for noise_std and noise_decay above 0; otherwise the order of exchanges "
                "decides: use firewalled, or audit the run"
            )
    for members in groups(graph, view):
        if len(members) == 1:
            mask[members[0]] = True
    return mask


def firewalled(graph: Graph, method: Method, fired_edges: npt.ArrayLike, view: View) -> Mask:
    """``(n,)`` whose value stays protected for ever, by an exchange that ``view`` did not hear, whatever comes later.

    Honest i and j that met unheard, after having shown T_i and T_j messages to anybody, keep at least
    (I_i(T_i) + I_j(T_j))^{−1/2} (:mod:`.firewall`). That is above zero for every T if σ and φ are, and for T_i, T_j ≤ 1
    if φ = 0: then no value may have been shown twice. The condition is sufficient. Without it a value may be
    disclosed or not, and an audit tells.

    Examples
    --------
    A triangle with φ = 0 seen by node 0: its two neighbours meet first of all, or after one of them was called twice.

    >>> import sottovoce as sv
    >>> graph, at_once = sv.graphs.complete(3), sv.NoiseInsertion(noise_std=1.0, noise_decay=0.0)
    >>> graph.edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    >>> firewalled(graph, at_once, [2, 0, 0, 1, 1], CuriousNodes([0])).tolist()
    [False, True, True]
    >>> firewalled(graph, at_once, [0, 0, 2], CuriousNodes([0])).tolist()
    [False, False, False]
    """
    check_graph(graph)
    std, decay = _withdrawn(graph, method)
    with np.errstate(divide="ignore"):
        allowed = np.where(std > 0.0, np.where(decay > 0.0, np.inf, 1.0), 0.0)
    heard, observers = view.heard_edges(graph), view.observers(graph)
    shown = np.zeros(graph.num_nodes)
    mask = np.zeros(graph.num_nodes, dtype=np.bool_)
    for edge in checked_run(fired_edges, graph).tolist():
        pair = graph.edges[edge]
        if not heard[edge] and (shown[pair] <= allowed[pair]).all():
            mask[pair] = True
        shown[pair] += 1
    return mask & ~observers


def _withdrawn(graph: Graph, method: Method) -> tuple[Array, Array]:
    released = method.releases(graph)
    if not isinstance(released, WithdrawnNoise):
        raise Unsupported(f"the rule covers exchanges under withdrawn noise, got {method.name}: {released.words}")
    return stated_noise(graph, released)[:2]


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
    check_graph(graph)
    mask = view.observers(graph)
    heard = mask.copy()
    for node in np.flatnonzero(mask).tolist():
        heard[graph.neighbours_of(node)] = True
    for node in range(graph.num_nodes):
        mask[node] |= heard[node] and bool(heard[graph.neighbours_of(node)].all())
    return mask
