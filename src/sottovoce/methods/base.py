"""What every method is: a frozen value that knows its parameters, its update, what it shows and what is proved of it.

A method states its rule once, as plain functions on a *node table* (see :class:`Method`). The
plain-Python runner and the compiled driver call those same functions; neither knows which method it
runs. No driver and no randomness is here: draws arrive as arguments.

Five kinds differ in what happens in one step:

======================== ==========================================================================
:class:`PairMethod`      one edge fires, its two ends act
:class:`BlockMethod`     a set of edges fires at once
:class:`RoundMethod`     a round: every node sends one number to all its neighbours
:class:`PushMethod`      a round: every node sends something to one node chosen at random
:class:`NeighbourMethod` every node, or one chosen at random, tells each neighbour something else
======================== ==========================================================================
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import Array, per_node
from ..graphs.graph import Graph
from .released import NotStated, Released
from .value import Value

if TYPE_CHECKING:
    import scipy.sparse

__all__ = [
    "VALUE",
    "Array",
    "BlockMethod",
    "Guarantee",
    "Method",
    "NeighbourMethod",
    "PairMethod",
    "PushMethod",
    "RoundMethod",
    "check_complete",
]

VALUE = 0
"""The column of a node table that holds the node's current value x."""


@dataclass(frozen=True)
class Guarantee:
    """What is known beforehand of a method on a graph; ``None``: nothing of that kind is."""

    factor: float | None = None
    """In the long run a step shrinks the mean-square error, or a potential that bounds it, at least by this factor."""
    remaining: float | None = None
    """E‖x − c̄‖² that is left in the end, or a bound on it, summed over nodes, for one number per node; 0: exact."""
    attained: bool = False
    """Whether the factor is no bound but, for almost all private values, exactly that of the mean-square error."""


class Method(Value, ABC):
    """Base of all methods. Subclasses are either abstract or final, and final ones are frozen dataclasses.

    The state is a *node table*: an ``(n, num_fields)`` array of floats, one row per node so that all
    a node owns lies together in memory; column :data:`VALUE` is its current value.

    Methods are compared by value, vectors and matrices among the parameters included.
    """

    name: ClassVar[str]
    """Short lower-case name used on the command line, in tables and in data files."""

    num_fields: ClassVar[int]
    """Width of the node table."""

    mass_field: ClassVar[int] = VALUE
    """Column whose sum, less the outstanding noise, never changes."""

    outstanding_field: ClassVar[int | None] = None
    """Column of the node table that holds the outstanding noise, if the method inserts any."""

    edge_noise_field: ClassVar[int | None] = None
    """Column to which every edge adds one normal number before the first step: + at its first end, − at its second.
    Its deviation is :meth:`edge_noise_std`."""

    start_noise_field: ClassVar[int | None] = None
    """Column to which a standard normal number is added in every row before the first step, independently."""

    follows: ClassVar[tuple[int, ...]] = ()
    """Columns to which a change of a node's private value is added. Empty: the method does not say how values change
    during a run."""

    noise_sizes: ClassVar[tuple[str, ...]] = ()
    """Parameters that are sizes of noise. Multiplied by one factor they hide more, or less, in the same way."""

    lazy: ClassVar[bool] = False
    """Whether a node's row may be behind: the method changes every node in every step, and lets those that are
    not touched catch up later. Whoever reads values calls :meth:`settle` first, on a copy."""

    in_rounds: ClassVar[bool] = False
    """Whether all nodes act in every step."""

    assumes_equal_edges: ClassVar[bool] = False
    """Whether the guarantee is for edges that are equally likely only."""

    def __new__(cls, *_: Any, **given: Any) -> Self:
        check_complete(cls)
        _check_names(cls, given)
        return super().__new__(cls)

    # -- what a method says of itself ---------------------------------------------------------------

    def label(self) -> str:
        """For legends and tables: the name with its parameters, or with those that matter."""
        return ", ".join([self.name, *self.parameters_in_words()])

    def caveats(self, graph: Graph) -> tuple[str, ...]:
        """Why this is allowed but outside the method's guarantee on ``graph``, one sentence each; usually none."""
        return ()

    def needs(self) -> str:
        """What a node must know that it cannot learn from its neighbours, as in "needs a common clock"; often nothing.

        Such a method is a standard to compare with, or needs an agreement before the first step.
        """
        return ""

    def releases(self, graph: Graph) -> Released:
        """What the messages are made of. A method that does not say so is reported as *not analysed*.

        What it says is believed: audits, bounds and plans follow from it, and nothing looks into the rule itself.
        :func:`sottovoce.testing.check_method` tries only whether withdrawn noise is as large as is said.
        """
        return NotStated()

    def guarantee(self, graph: Graph) -> Guarantee:
        """What is proved of the error, for edges that are equally likely."""
        return Guarantee()

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        """Settings that a comparison shows when nobody chose any."""
        return ()

    def with_noise(self, factor: float) -> Self:
        """The same method with all its noise larger or smaller by ``factor`` > 0.

        Raises
        ------
        InvalidParameter
            If the method has no noise to set.
        """
        if not self.noise_sizes:
            raise InvalidParameter(f"{self.name} has no noise to set")
        sizes = {name: getattr(self, name) * factor for name in self.noise_sizes}
        return cast("Self", replace(cast("Any", self), **sizes))

    # -- what a run needs ---------------------------------------------------------------------------

    def validate(self, graph: Graph) -> None:
        """Raise :class:`~sottovoce.errors.InvalidParameter` if the parameters do not fit ``graph``.

        A vector among them must have one entry per node.
        """
        for name, value in self._given().items():
            if isinstance(value, np.ndarray) and value.ndim == 1:
                per_node(name, value, graph.num_nodes)

    def initial(self, graph: Graph, private_values: Array) -> Array:
        """``(n, num_fields)`` node table before the first step, for one coordinate of the values."""
        nodes = np.zeros((graph.num_nodes, self.num_fields))
        nodes[:, VALUE] = private_values
        return nodes

    def num_rows(self, graph: Graph) -> int:
        """Rows of the node table: one per node, and in some kinds further ones after them."""
        return graph.num_nodes

    def parameters(self, graph: Graph) -> Array:
        """Numbers common to all nodes that the update needs, as a flat array."""
        return np.zeros(1)

    @staticmethod
    def settle(nodes: Array, step: int, parameters: Array) -> None:
        """Bring every node up to ``step``, in place; lazy methods must define it."""

    def edge_noise_std(self, graph: Graph) -> float:
        """Standard deviation of what goes into :attr:`edge_noise_field`."""
        return 1.0

    @abstractmethod
    def messages_per_step(self, graph: Graph) -> int:
        """Messages from one node to one neighbour that a step takes."""

    def messages_before(self, graph: Graph) -> int:
        """Messages that are sent once, before the first step."""
        return 0


class PairMethod(Method):
    """A method in which one edge fires per step and only its two ends act."""

    uses_noise: ClassVar[bool] = False
    """Whether :attr:`update` reads its two draws; the driver generates none otherwise."""

    own_rows_only: ClassVar[bool] = False
    """Whether :attr:`update` reads and writes rows i and j alone, whatever their numbers are. Then vectors are kept
    with their coordinates side by side, and edges need not be stored."""

    common_fields: ClassVar[int] = 0
    """How many columns, the last ones, are the same for every coordinate of a vector, at every step: amplitudes and
    counts, say. They are stored once for each node; of the other columns :meth:`initial` fills none but ``VALUE``.
    Needs :attr:`own_rows_only`."""

    @staticmethod
    @abstractmethod
    def update(nodes: Array, i: int, j: int, draw_i: float, draw_j: float, step: int, parameters: Array) -> None:
        """One firing of edge (i, j), in place.

        A plain module-level function written in the subset of Python that Numba compiles. ``draw_i`` and
        ``draw_j`` are independent standard normals; ``parameters`` is what :meth:`parameters` returned.
        """

    def messages_per_step(self, graph: Graph) -> int:
        """One each way."""
        return 2


class BlockMethod(Method):
    """A method in which a set of distinct edges, all sets of that size equally likely, fires per step."""

    block_size: int
    """Edges per step."""

    @staticmethod
    @abstractmethod
    def update(nodes: Array, ends: npt.NDArray[np.int64], step: int, parameters: Array) -> None:
        """The edges with ``(block_size, 2)`` ``ends`` fire, in place."""

    def messages_per_step(self, graph: Graph) -> int:
        """One each way on every edge of the set: up and down a tree, and more than needed if it has cycles."""
        return 2 * self.block_size


class RoundMethod(Method):
    """A synchronous method: in a round every node sends one number to all neighbours and combines what it receives."""

    in_rounds: ClassVar[bool] = True

    noise: ClassVar[str] = ""
    """What :attr:`send`'s draw is: ``""`` (always zero), ``"normal"`` or ``"laplace"``, of unit scale."""

    @staticmethod
    @abstractmethod
    def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
        """What node i tells all its neighbours; may change row i."""

    @staticmethod
    @abstractmethod
    def receive(nodes: Array, i: int, sent: float, combined: float, step: int, parameters: Array) -> None:
        """Row i after the round: ``sent`` is what i said, ``combined`` Σ_j W_ij × (what j said), j = i included."""

    @abstractmethod
    def mixing(self, graph: Graph) -> scipy.sparse.csr_array:
        """The doubly stochastic W, ``(n, n)``."""

    def noisy_rounds(self, graph: Graph) -> int:
        """Rounds that need draws, counted from the first; the rest are run without making any."""
        return 2**62 if self.noise else 0

    def needs(self) -> str:
        return "a common clock for the rounds"

    def messages_per_step(self, graph: Graph) -> int:
        """One to each neighbour from every node: 2m."""
        return 2 * graph.num_edges


class PushMethod(Method):
    """In a round every node sends to one target, uniform over its neighbours and itself."""

    in_rounds: ClassVar[bool] = True

    @staticmethod
    @abstractmethod
    def push(nodes: Array, i: int, target: int) -> None:
        """What i sends is added to the target's inbox in the node table."""

    @staticmethod
    @abstractmethod
    def collect(nodes: Array, i: int) -> None:
        """After all have sent, i reads its inbox and empties it."""

    def needs(self) -> str:
        return "a common clock for the rounds"

    def messages_per_step(self, graph: Graph) -> int:
        """One from every node (those who draw themselves are counted too)."""
        return graph.num_nodes


class NeighbourMethod(Method):
    """A method whose nodes keep numbers for each neighbour, and tell each something else.

    After the rows of the nodes the table has one row for every neighbour of every node, in the order of
    :attr:`sottovoce.Graph.neighbours`; it belongs to the node whose neighbour it is. Its first
    :attr:`num_said` columns hold what the node tells this neighbour, the next as many what it heard last from it.
    Further columns are the method's own.
    """

    in_rounds: ClassVar[bool] = True
    """Whether all nodes act in every step; otherwise one does, all of them equally likely."""

    num_said: ClassVar[int] = 1
    """How many numbers one message has."""

    noise: ClassVar[str] = ""
    """What the draws are: ``""`` (always zero) or ``"normal"``, of unit scale; only for methods in rounds."""

    @staticmethod
    @abstractmethod
    def speak(nodes: Array, i: int, first: int, last: int, draws: Array, step: int, parameters: Array) -> None:
        """Node i acts: it may change its row and those of its neighbours, ``first`` to ``last`` − 1, and fills in there
        what it tells each. ``draws`` has one entry per row.
        """

    @staticmethod
    @abstractmethod
    def hear(nodes: Array, i: int, row: int, step: int, parameters: Array) -> None:
        """Node i has heard the neighbour of ``row``; may change that row and its own."""

    def part(self, nodes: Array, i: int, row: int) -> None:
        """The neighbour of ``row`` is gone: node i drops what it keeps for it. To be defined, together with
        :meth:`meet`, by methods whose neighbours may come and go.
        """

    def meet(self, nodes: Array, i: int, row: int) -> None:
        """A neighbour has come: fill ``row``, which is all zeros."""

    def num_rows(self, graph: Graph) -> int:
        return graph.num_nodes + 2 * graph.num_edges

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = np.zeros((self.num_rows(graph), self.num_fields))
        nodes[: graph.num_nodes, VALUE] = private_values
        return nodes

    def needs(self) -> str:
        return "a common clock for the rounds" if self.in_rounds else ""

    def messages_per_step(self, graph: Graph) -> int:
        """One to each neighbour: 2m in a round; of one node that acts, the mean number of neighbours, rounded."""
        every = 2 * graph.num_edges
        return every if self.in_rounds else max(1, round(every / graph.num_nodes))


@cache
def check_complete(cls: type[Method]) -> None:
    """Check that a class defines all that a run calls, with the parameters it is called with.

    Raises
    ------
    InvalidParameter
        If something is missing or takes other parameters; the message says which.
    """
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    missing += [attribute for attribute in ("name", "num_fields") if not hasattr(cls, attribute)]
    if cls.lazy and cls.settle is Method.settle:
        missing.append("settle")
    if missing:
        raise InvalidParameter(f"method {cls.__qualname__} must define {', '.join(missing)}")
    for base in cls.__mro__:
        for name, declared in vars(base).items():
            if isinstance(declared, staticmethod) and getattr(declared.__func__, "__isabstractmethod__", False):
                _check_signature(cls, name, inspect.signature(declared.__func__))


def _check_names(cls: type[Method], given: dict[str, Any]) -> None:
    """Say what the parameters are called where somebody used other names, as the paper's letters."""
    if not given or "__init__" not in vars(cls):
        return
    takes = dict(list(inspect.signature(cls.__init__).parameters.items())[1:])  # without self
    unknown = [name for name in given if name not in takes]
    if unknown and all(each.kind is not each.VAR_KEYWORD for each in takes.values()):
        raise InvalidParameter(
            f"{cls.__name__} has no parameter {' and '.join(unknown)}; it takes {', '.join(takes) or 'none'}"
        )


def _check_signature(cls: type[Method], name: str, declared: inspect.Signature) -> None:
    got = inspect.signature(getattr(cls, name))
    try:
        got.bind(*declared.parameters)
    except TypeError:
        asked = f"{name}({', '.join(declared.parameters)})"
        raise InvalidParameter(
            f"method {cls.__qualname__} must define {asked} as a static method, got {name}({', '.join(got.parameters)})"
        ) from None
