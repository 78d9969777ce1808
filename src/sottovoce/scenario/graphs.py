"""Graphs in words: ``cycle:10``, ``grid:5x8``, ``rgg:100:seed=3``, or the path of an edge-list file.

A description is read by :func:`describe_graph`, printed by ``str``, built, sized before it is built, and written as a
line of Python. Arguments are those of the generator: numbers in order, then ``name=value``, all separated by ``:``
(or ``x`` between the sides of a lattice).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from ..errors import InvalidParameter
from ..foundation.arguments import shown, whole
from ..foundation.files import is_file
from ..foundation.text import listed, number_in
from ..graphs import generators
from ..graphs.graph import Graph
from ..graphs.validation import check_fits

__all__ = ["FAMILIES", "GivenGraph", "GraphFile", "GraphSpec", "describe_graph", "make_graph", "parse_graph"]

Number = int | float


@dataclass(frozen=True)
class Recipe:
    """What is known of a family without making any of its graphs."""

    generator: Callable[..., Graph]
    size: Callable[..., tuple[float, float]]
    """Called like the generator, without a seed: nodes and edges, of a random family about how many."""
    customary: Callable[[int], tuple[Number, ...]] = lambda n: (n,)
    """Arguments that give about n nodes."""

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Of the generator, by name."""
        return dict(inspect.signature(self.generator).parameters)


def _sides(num_nodes: int) -> tuple[int, int]:
    rows = max(d for d in range(1, math.isqrt(num_nodes) + 1) if num_nodes % d == 0)
    return rows, num_nodes // rows


def _geometric_size(n: float, radius: float | None = None) -> tuple[float, float]:
    area = math.pi * (math.log(max(n, 2.0)) / max(n, 2.0) if radius is None else radius * radius)
    return n, n * (n - 1) / 2 * min(1.0, area)


GEOMETRIC = Recipe(generators.random_geometric, _geometric_size)
FAMILIES: dict[str, Recipe] = {
    "cycle": Recipe(generators.cycle, lambda n: (n, n)),
    "path": Recipe(generators.path, lambda n: (n, n - 1)),
    "complete": Recipe(generators.complete, lambda n: (n, n * (n - 1) / 2)),
    "star": Recipe(generators.star, lambda n: (n, n - 1)),
    "grid": Recipe(generators.grid, lambda rows, cols: (rows * cols, 2 * rows * cols - rows - cols), _sides),
    "torus": Recipe(generators.torus, lambda rows, cols: (rows * cols, 2 * rows * cols), _sides),
    "hypercube": Recipe(
        generators.hypercube,
        lambda dimension: (2.0 ** min(dimension, 999.0), dimension * 2.0 ** min(dimension - 1, 999.0)),
        lambda n: (max(1, round(math.log2(n))),),
    ),
    "barbell": Recipe(
        generators.barbell,
        lambda clique, path_length=0.0: (2 * clique + path_length, clique * (clique - 1) + path_length + 1),
        lambda n: (n // 2, n % 2),
    ),
    "rgg": GEOMETRIC,
    "random-geometric": GEOMETRIC,
    "random-regular": Recipe(generators.random_regular, lambda n, degree: (n, n * degree / 2), lambda n: (n, 4)),
    "erdos-renyi": Recipe(
        generators.erdos_renyi,
        lambda n, p: (n, n * (n - 1) / 2 * p),
        lambda n: (n, min(1.0, 2 * math.log(n) / n)),
    ),
    "watts-strogatz": Recipe(generators.watts_strogatz, lambda n, k, **_: (n, n * (k // 2)), lambda n: (n, 4, 0.1)),
    "barabasi-albert": Recipe(
        generators.barabasi_albert, lambda n, attach: (n, attach * (n - attach)), lambda n: (n, 2)
    ),
}
"""Name → what it makes. ``rgg`` is short for ``random-geometric``."""

_LATTICES = ("grid", "torus")


@dataclass(frozen=True)
class GraphSpec:
    """A family with its arguments, by name and in the generator's order.

    Examples
    --------
    >>> spec = describe_graph("grid:rows=2:cols=3")
    >>> str(spec), spec.size(), spec.to_python()
    ('grid:2x3', (6.0, 7.0), 'sv.graphs.grid(2, 3)')
    """

    family: str
    arguments: tuple[tuple[str, Number], ...]

    @classmethod
    def parse(cls, text: str) -> GraphSpec:
        """Read ``family:arguments`` of a family that there is; the error says how to write what it takes."""
        family, _, rest = text.partition(":")
        positional, named = [], {}
        for part in rest.replace("x", ":").split(":") if rest else []:
            key, equals, value = part.rpartition("=")
            number = number_in(value)
            if number is None:
                raise InvalidParameter(f"graph {shown(text)}: {shown(value)} is not a number")
            if equals:
                named[key] = number
            else:
                positional.append(number)
        signature = inspect.signature(FAMILIES[family].generator)
        try:
            bound = signature.bind(*positional, **named)
        except TypeError as error:
            usage = ":".join(
                f"{p.name}=…" if p.kind is p.KEYWORD_ONLY else p.name for p in signature.parameters.values()
            )
            raise InvalidParameter(f"graph {shown(text)}: {error}; write {family}:{usage}") from None
        return cls("rgg" if family == "random-geometric" else family, tuple(bound.arguments.items()))

    def _written(self) -> list[str]:
        """The arguments: in order as far as the generator allows it, the rest by name."""
        words: list[str] = []
        for (name, value), (expected, parameter) in zip(self.arguments, self._recipe.parameters.items(), strict=False):
            in_order = name == expected and parameter.kind is not parameter.KEYWORD_ONLY
            words.append(repr(value) if in_order else f"{name}={value!r}")
        return words

    def __str__(self) -> str:
        return ":".join([self.family, ("x" if self.family in _LATTICES else ":").join(self._written())])

    @property
    def _recipe(self) -> Recipe:
        return FAMILIES[self.family]

    def with_seed(self, seed: int | None) -> GraphSpec:
        """The same with a seed, if the family is random and none was named.

        Examples
        --------
        >>> [str(describe_graph(text).with_seed(7)) for text in ("rgg:30", "rgg:30:seed=1", "cycle:10")]
        ['rgg:30:seed=7', 'rgg:30:seed=1', 'cycle:10']
        """
        if seed is None or "seed" not in self._recipe.parameters or "seed" in dict(self.arguments):
            return self
        return GraphSpec(self.family, (*self.arguments, ("seed", seed)))

    def size(self) -> tuple[float, float]:
        """Nodes and edges of the graph, of a random family about how many; nothing is made."""
        return self._recipe.size(**{name: _real(value) for name, value in self.arguments if name != "seed"})

    def build(self) -> Graph:
        """Make the graph.

        Raises
        ------
        InvalidGraph
            If it would not fit into this machine's memory, or is not connected in many draws.
        """
        check_fits(f"graph {shown(str(self))}", *self.size())
        return self._recipe.generator(**dict(self.arguments))

    def to_python(self) -> str:
        """An expression that makes the same graph, after ``import sottovoce as sv``."""
        return f"sv.graphs.{self._recipe.generator.__name__}({', '.join(self._written())})"


class _Fixed:
    """A graph with nothing random in it."""

    def with_seed(self, seed: int | None) -> Self:
        """Itself."""
        return self


@dataclass(frozen=True)
class GraphFile(_Fixed):
    """An edge-list file of this machine."""

    path: str

    def __str__(self) -> str:
        return self.path

    def build(self) -> Graph:
        """Read the file."""
        return Graph.from_file(self.path)

    def to_python(self) -> str:
        """An expression that reads it."""
        return f"sv.Graph.from_file({self.path!r})"


@dataclass(frozen=True)
class GivenGraph(_Fixed):
    """A graph that no words describe; it can still be written as Python."""

    graph: Graph

    def build(self) -> Graph:
        """The graph."""
        return self.graph

    def to_python(self) -> str:
        """An expression with all its edges."""
        return f"sv.Graph.from_edges({listed([tuple(edge) for edge in self.graph.edges.tolist()])})"


def describe_graph(text: str, *, files: bool = True) -> GraphSpec | GraphFile:
    """Read ``family:arguments`` or, if ``files``, the path of an edge-list file; families come first.

    Raises
    ------
    InvalidParameter
        If it is neither, or the generator does not take these arguments.
    """
    if text.partition(":")[0] in FAMILIES:
        return GraphSpec.parse(text)
    if files and is_file(text):
        return GraphFile(text)
    allowed = f"{'a file or ' if files else ''}one of {', '.join(FAMILIES)}"
    raise InvalidParameter(f"graph must be {allowed} with arguments such as cycle:10, got {shown(text)}")


def parse_graph(text: str, *, seed: int | None = None) -> Graph:
    """The graph that ``text`` describes; a random one that names no seed takes ``seed``.

    Examples
    --------
    >>> parse_graph("grid:2x3")
    <Graph grid(2, 3): 6 nodes, 7 edges>
    >>> parse_graph("rgg:20", seed=1)
    <Graph random_geometric(20, seed=1): 20 nodes, 54 edges>
    """
    return describe_graph(text).with_seed(seed).build()


def make_graph(family: str, num_nodes: int, *, seed: int | None = None) -> Graph:
    """A graph of this family with about ``num_nodes`` nodes and customary other parameters.

    Examples
    --------
    >>> make_graph("grid", 12)
    <Graph grid(3, 4): 12 nodes, 17 edges>
    >>> make_graph("random-regular", 10, seed=1).degrees.tolist()
    [4, 4, 4, 4, 4, 4, 4, 4, 4, 4]
    """
    if family not in FAMILIES:
        raise InvalidParameter(f"graph family must be one of {', '.join(FAMILIES)}, got {family!r}")
    numbers = FAMILIES[family].customary(whole("num_nodes", num_nodes, low=2))
    return parse_graph(":".join([family, *map(repr, numbers)]), seed=seed)


def _real(number: Number) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf
