"""The passes of ``huge.cu`` for the CPU: the same rule, so that it can be tested and timed without a device.

It is not an executor: claims of a whole batch cost more memory traffic than two cores would save.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..simulation.compiling import compiled

__all__ = ["claim_pass", "passes"]


@compiled
def claim_pass(pending: Any, ends: Any, claims: Any, ready: Any) -> None:
    """Claim both ends of every pending step, then mark the steps whose claim stands at both.

    ``pending`` holds steps of a batch in any order, ``ends`` is ``(batch, 2)``, ``claims`` is ``(n,)`` and larger than
    any step on entry; it is restored on return. ``ready`` is ``(pending,)``.
    """
    for step in pending:
        for node in ends[step]:
            claims[node] = min(claims[node], step)
    for k in range(len(pending)):
        step = pending[k]
        ready[k] = claims[ends[step, 0]] == step and claims[ends[step, 1]] == step
    for step in pending:
        for node in ends[step]:
            claims[node] = np.iinfo(np.int64).max


def passes(ends: np.ndarray[Any, Any], num_nodes: int) -> list[np.ndarray[Any, Any]]:
    """Cut a batch of steps into passes.

    Steps of one pass touch no node twice, and whatever happened earlier at a step's nodes is in an
    earlier pass: applying the passes one after the other, each in any order, is the sequential run.

    Examples
    --------
    Steps 0 and 1 share a node, step 2 shares none, step 3 waits for both:

    >>> [p.tolist() for p in passes(np.array([[0, 1], [1, 2], [3, 4], [2, 3]]), 5)]
    [[0, 2], [1], [3]]
    """
    claims = np.full(num_nodes, np.iinfo(np.int64).max)
    pending, out = np.arange(len(ends)), []
    while len(pending):
        ready = np.empty(len(pending), dtype=np.bool_)
        claim_pass(pending, ends, claims, ready)
        out.append(pending[ready])
        pending = pending[~ready]
    return out
