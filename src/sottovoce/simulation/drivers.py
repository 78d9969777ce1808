"""Which compiled driver runs which kind of method, with all its arguments but the span of steps bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import Unsupported
from ..methods.base import BlockMethod, PairMethod, PushMethod, RoundMethod

if TYPE_CHECKING:
    from .solution import Solution

__all__ = ["Span", "driver_of", "work_per_step"]

Active = npt.NDArray[np.int64]
Span = Callable[[Active, tuple[int, int], int, int], None]
"""(active replicas, coordinates from–to, first step, last step) → those steps are made."""


def driver_of(solution: Solution) -> Span:
    """The driver for a solution's method, compiled."""
    from .compiling import announce_compilation

    kernel, arguments = _bound(solution)
    seed = np.uint64(solution.seed)

    def span(active: Active, coordinates: tuple[int, int], first: int, last: int) -> None:
        kernel(solution.tables, active, coordinates[0], coordinates[1], first, last, seed, *arguments)

    done = announce_compilation(solution.method.name)
    span(np.empty(0, dtype=np.int64), (0, 0), 0, 0)
    done()
    return span


def _bound(solution: Solution) -> tuple[Callable[..., None], tuple[Any, ...]]:
    method, graph, parameters = solution.method, solution.graph, solution.parameters
    if isinstance(method, PairMethod):
        from .random.kernels import pair_driver

        kernel = pair_driver(type(method).update, uses_noise=type(method).uses_noise)
        return kernel, (graph.edges, solution.aliases.accept, solution.aliases.alias, parameters)
    if isinstance(method, BlockMethod):
        from .kinds.block import block_driver

        return block_driver(type(method).update), (graph.edges, method.block_size, parameters)
    if isinstance(method, RoundMethod):
        from .kinds.round import KINDS, round_driver

        kernel = round_driver(type(method).send, type(method).receive, kind=KINDS[type(method).noise])
        mixing = method.mixing(graph)
        indptr, indices = mixing.indptr.astype(np.int64), mixing.indices.astype(np.int64)
        return kernel, (method.noisy_rounds(graph), indptr, indices, mixing.data, parameters)
    if isinstance(method, PushMethod):
        from .kinds.round import push_driver

        return push_driver(type(method).push, type(method).collect), (graph.indptr, graph.neighbours)
    raise Unsupported(f"simulate cannot run {type(method).__name__}")


def work_per_step(solution: Solution) -> int:
    """Nodes and edges a step touches, in units of one pair."""
    method, graph = solution.method, solution.graph
    if isinstance(method, RoundMethod | PushMethod):
        return graph.num_nodes + graph.num_edges
    return method.block_size if isinstance(method, BlockMethod) else 1
