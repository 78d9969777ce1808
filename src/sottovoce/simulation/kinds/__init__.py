"""The kinds of method, one module each: the compiled driver, the plain runner, the replay.

What the modules offer is one :class:`Kind`; which of them runs a method, :func:`kind_of` says. They are imported
when they are needed, because Numba is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...errors import Unsupported
from ...graphs.graph import Graph
from ...methods.base import Array, BlockMethod, Method, NeighbourMethod, PairMethod, PushMethod, RoundMethod
from ..random.aliases import AliasTable
from ..random.streams import Stream

if TYPE_CHECKING:
    from ..compiling import Kernel

__all__ = ["Kind", "base_of", "functions_of", "kind_of", "parameters_of", "parts_of"]

MODULES: dict[type[Any], str] = {
    PairMethod: "pair",
    BlockMethod: "block",
    RoundMethod: "round",
    PushMethod: "push",
    NeighbourMethod: "neighbour",
}


class Kind(ABC):
    """What is particular to a kind of method; what is said here already is so for rounds."""

    weighted: ClassVar[bool] = False
    """Whether edges need not be equally likely."""
    notes_first: ClassVar[bool] = False
    """Whether the driver also records the step at which it begins, if that is the first one on the sheet."""

    @abstractmethod
    def driver(self, method: Any, graph: Graph, aliases: AliasTable) -> tuple[Kernel, tuple[Any, ...]]:
        """The driver compiled for a method's functions, and its last arguments.

        All drivers begin with: tables, active replicas, coordinates from–to, steps from–to, seed, parameters, and
        the :class:`~sottovoce.simulation.recording.Sheet` on which they record.
        """

    def together(self, method: Any, graph: Graph, aliases: AliasTable) -> tuple[Kernel, Kernel, tuple[Any, ...]] | None:
        """What makes the steps of one replica with the help of others, what these do, and the last arguments of both;
        ``None``: they cannot for such a method.
        """
        return None

    def beside(self, method: Any, num_coordinates: int) -> bool:
        """Whether vectors of that length have their coordinates side by side in memory, for :meth:`vectors`."""
        return False

    def vectors(self, method: Any, graph: Graph, aliases: AliasTable) -> tuple[Kernel, tuple[Any, ...]]:
        """The driver for such vectors, and its last arguments."""
        raise NotImplementedError

    @abstractmethod
    def plain(self, method: Any, graph: Graph, nodes: Array, parameters: Array, stream: Stream) -> Iterator[None]:
        """One step after the other by the interpreter, in ``nodes``, each when the next item is asked for."""

    def work(self, method: Any, graph: Graph) -> int:
        """Nodes and edges that a step touches, in units of one pair."""
        return graph.num_nodes + graph.num_edges

    def record_work(self, method: Any, graph: Graph) -> int:
        """What a recorded step costs more, in the same units."""
        return graph.num_nodes

    def look_every(self, method: Any, graph: Graph) -> int:
        """Steps from one look at the error to the next in a run that is to stop at a wanted one."""
        return 1

    def fired(
        self, method: Any, graph: Graph, aliases: AliasTable, stream: Stream, steps: range
    ) -> npt.NDArray[np.int64]:
        """The edges that fire: ``(steps,)``, or ``(steps, block_size)``; the nodes, if one node acts in a step."""
        raise Unsupported(f"{method.name} has no firing edges: all nodes act in every round")

    def taking_part(self, graph: Graph, fired: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The nodes that act where these edges fire, each as often as it does."""
        return graph.edges[fired].reshape(-1).astype(np.int64)

    def draws(self, method: Any, graph: Graph, stream: Stream, steps: range) -> Array:
        """The draws behind the noise: ``(steps, 2)`` for the ends of an edge, or ``(steps, n)``."""
        raise Unsupported(f"{method.name} draws no noise")


def kind_of(method: Method) -> Kind:
    """What runs ``method``."""
    return _kind_of(type(method))


@lru_cache
def _kind_of(cls: type[Method]) -> Kind:
    kind: Kind = import_module(f".{MODULES[base_of(cls)]}", __name__).KIND
    return kind


@lru_cache
def base_of(cls: type[Method]) -> type[Any]:
    """The abstract class that declares a method's functions."""
    for base in MODULES:
        if issubclass(cls, base):
            return base
    raise Unsupported(f"simulate cannot run {cls.__name__}: it is none of {', '.join(b.__name__ for b in MODULES)}")


def functions_of(method: Method) -> dict[str, Callable[..., Any]]:
    """The functions that a method of its kind consists of, by name. A method without them cannot be made."""
    cls = type(method)
    return {name: getattr(cls, name) for name in _declared(cls)}


@lru_cache
def _declared(cls: type[Method]) -> tuple[str, ...]:
    """The names of the functions that a method's kind asks for."""
    declared = vars(base_of(cls)).items()
    return tuple(name for name, attribute in declared if isinstance(attribute, staticmethod))


def parts_of(method: Method) -> dict[str, Any]:
    """What of a method takes its place in the driver of its kind: its functions, and which rows are to be read."""
    from ..recording import shown_by

    return {**functions_of(method), "shown": shown_by(method)}


def parameters_of(method: Method, graph: Graph) -> Array:
    """The parameters that all calls of a method's functions share: read-only, so that none can pass on a state."""
    parameters = np.array(method.parameters(graph), dtype=np.float64)
    parameters.flags.writeable = False
    return parameters
