"""Synchronous averaging x ← W x (DeGroot 1974; Xiao and Boyd 2004), and what all methods on weights share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..graphs.graph import Graph
from .base import VALUE, Array, RoundMethod
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .weights import Weights, check_weights, mixing_matrix, weight_caveats

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["SynchronousAveraging", "WeightedMethod", "take_combined"]


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """Every node tells its value."""
    return float(nodes[i, VALUE])


def take_combined(nodes: Array, i: int, sent: float, combined: float, step: int, parameters: Array) -> None:
    """The new value is the weighted average of all that was said."""
    nodes[i, VALUE] = combined


class WeightedMethod(RoundMethod):
    """A round method with a field ``weights``; compared by value, matrices included."""

    weights: Any

    def validate(self, graph: Graph) -> None:
        self.mixing(graph)

    def caveats(self, graph: Graph) -> tuple[str, ...]:
        return weight_caveats(self.weights, graph)

    def mixing(self, graph: Graph) -> scipy.sparse.csr_array:
        return mixing_matrix(self.weights, graph)

    def _key(self) -> tuple[object, ...]:
        values = (getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]
        return tuple(_comparable(value) for value in values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.name, self._key()))

    def __repr__(self) -> str:
        given = ", ".join(f"{f.name}={_shown(getattr(self, f.name))}" for f in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({given})"


def _comparable(value: Any) -> object:
    if hasattr(value, "toarray"):
        return ("sparse", value.shape, value.data.tobytes(), value.indices.tobytes(), value.indptr.tobytes())
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _shown(value: Any) -> str:
    if hasattr(value, "shape"):
        return f"<{' × '.join(map(str, value.shape))} numbers>"
    return f"{value:g}" if isinstance(value, float) else repr(value)


@register
@dataclass(frozen=True, eq=False, repr=False)
class SynchronousAveraging(WeightedMethod):
    """Plain synchronous averaging: x ← W x, all nodes at once. It hides nothing.

    Parameters
    ----------
    weights
        ``"metropolis"``, ``"max-degree"`` or a doubly stochastic ``(n, n)`` matrix that is zero between
        nodes that are not neighbours.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.complete(4), [1.0, 2.0, 3.0, 6.0], SynchronousAveraging(), num_steps=1, seed=1)
    >>> run.values.tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    weights: Weights = "metropolis"

    name: ClassVar[str] = "synchronous"
    num_fields: ClassVar[int] = 1
    send = staticmethod(send)
    receive = staticmethod(take_combined)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", check_weights(self.weights))

    def releases(self, graph: Graph) -> Released:
        return LinearRounds(np.zeros(graph.num_nodes), self.mixing(graph), FadingNoise.none(graph.num_nodes))

    def label(self) -> str:
        return "synchronous averaging"
