"""A window of coming steps: which edges fire, their noise, and the nodes at their ends."""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from ..random.kernels import WINDOW, fill_edges, fill_equal_edges, fill_normals, fill_words
from .ends import count_of, ends_of

__all__ = ["draw", "find_ends"]


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
    """The nodes of the edges that were drawn: ``ends`` is ``(2, WINDOW)``."""
    for k in range(WINDOW):
        ends[0, k], ends[1, k] = ends_of(edges, fired[k])
