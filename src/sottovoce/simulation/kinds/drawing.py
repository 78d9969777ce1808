"""A window of coming steps: which edges fire, their noise, and the nodes at their ends."""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from ..atomics import bring
from ..random.kernels import WINDOW, fill_edges, fill_equal_edges, fill_normals, fill_words
from .ends import bring_edge, count_of, ends_of

__all__ = ["bring_ahead", "bring_nodes", "draw", "draw_in_turn", "find_ends"]


@register_jitable(forceinline=True)
def draw(
    fired: Any,
    draws: Any,
    words: Any,
    start: Any,
    replica: Any,
    coordinate: Any,
    seed: Any,
    edges: Any,
    accept: Any,
    alias: Any,
    uses_noise: Any,
) -> None:
    """Draw the edges of the window that begins with step ``start``, and its noise if there is any.

    ``fired`` is ``(WINDOW,)``, ``draws`` is ``(2, WINDOW)``, and ``words``, which is only written to, ``(4, WINDOW)``.
    """
    if not uses_noise and len(accept) == 0:
        fill_equal_edges(fired, start, replica, seed, count_of(edges))
    else:
        fill_words(words, start, replica, 0, seed)
        fill_edges(words, fired, count_of(edges), accept, alias)
    if uses_noise:
        if coordinate > 0:
            fill_words(words, start, replica, coordinate, seed)
        fill_normals(words, draws)


@register_jitable(forceinline=True)
def find_ends(ends: Any, fired: Any, edges: Any) -> None:
    """The nodes of the edges that were drawn: ``ends`` is ``(WINDOW, 2)``."""
    for k in range(WINDOW):
        ends[k, 0], ends[k, 1] = ends_of(edges, fired[k])


@register_jitable(forceinline=True)
def bring_nodes(nodes: Any, ends: Any, k: Any) -> None:
    """Have the two nodes of place ``k`` of a window brought near."""
    bring(nodes, (ends[k, 0], 0))
    bring(nodes, (ends[k, 1], 0))


@register_jitable(forceinline=True)
def bring_ahead(nodes: Any, edges: Any, ends: Any, fired: Any, k: Any) -> None:
    """Have the nodes of place ``k`` of the next window brought near, and the edge of that of the one after."""
    bring_nodes(nodes, ends, k)
    bring_edge(edges, fired[k])


@register_jitable(forceinline=True)
def draw_in_turn(
    ends: Any,
    draws: Any,
    fired: Any,
    words: Any,
    start: Any,
    low: Any,
    high: Any,
    replica: Any,
    seed: Any,
    edges: Any,
    accept: Any,
    alias: Any,
    uses_noise: Any,
) -> None:
    """Draw the windows ``low`` to ``high``, the latter not included, of those that begin with step ``start``.

    ``ends`` and ``draws`` hold all of them; ``fired`` is ``(2, WINDOW)``: the nodes of a window are looked up while the
    edges of the next one are brought near.
    """
    for w in range(low, high):
        now, before = fired[w % 2], fired[(w + 1) % 2]
        draw(now, draws[w], words, start + w * WINDOW, replica, 0, seed, edges, accept, alias, uses_noise)
        if w == low:
            for k in range(WINDOW):
                bring_edge(edges, now[k])
        else:
            there = ends[w - 1]
            for k in range(WINDOW):
                bring_edge(edges, now[k])
                there[k, 0], there[k, 1] = ends_of(edges, before[k])
    if high > low:
        find_ends(ends[high - 1], fired[(high - 1) % 2], edges)
