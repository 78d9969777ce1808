"""The problems of an ensemble: which graph, which private values, which schedules; each by its address below one seed.

The address of graph a is (graph, a), that of its b-th values (values, a, b), that of their schedules (schedule, a, b);
NumPy's ``SeedSequence`` turns seed and address into a seed of its own (its ``spawn_key``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, InvalidValues
from ..foundation.arguments import whole
from ..graphs.graph import Graph
from ..methods import Method
from ..scenario.graphs import describe_graph
from ..scenario.methods import MethodSpec
from ..scenario.values import ValuesSpec
from ..simulation import Solution, simulate

__all__ = ["SOURCES", "Problems", "address"]

SOURCES = ("graph", "values", "schedule")
RANDOM_VALUES = ("uniform", "normal")


def address(seed: int, source: str, *place: int) -> int:
    """A seed below ``seed``, of 63 bits.

    Examples
    --------
    >>> address(1, "graph", 0) == address(1, "graph", 0) != address(1, "values", 0, 0)
    True
    """
    key = (SOURCES.index(source), *place)
    return int(np.random.SeedSequence(seed, spawn_key=key).generate_state(1, np.uint64)[0] >> np.uint64(1))


@dataclass(frozen=True, eq=False, repr=False)
class Problems:
    """A declaration of graphs, values and schedules; nothing is kept, everything can be made again."""

    graph: Callable[[int], Graph]
    values: Callable[[int, int], npt.ArrayLike]
    method: Callable[[Graph], Method]
    described: Mapping[str, str]
    """Graph and values in words; a function is called by its name."""
    seed: int
    sizes: Mapping[str, int]
    """Source → how many draws."""
    varying: tuple[str, ...]
    """Sources that vary, the outermost first."""

    @classmethod
    def declared(
        cls, graph: Any, private_values: Any, method: Any, *, seed: int, sizes: Mapping[str, int | None],
        default: tuple[int, int],
    ) -> Problems:  # fmt: skip
        """Read what a caller may give; sizes that are ``None`` get the first default, and inside it the second."""
        make_graph, graph_words, graph_varies = _graphs(graph)
        make_values, values_words, values_vary = _values(private_values)
        varying = tuple(s for s, varies in zip(SOURCES, (graph_varies, values_vary, True), strict=True) if varies)
        counts = {s: _size(s, sizes[s], varying, default) for s in SOURCES}
        words = MappingProxyType({"graphs": graph_words, "private_values": values_words})
        made = MappingProxyType(counts)
        last = lru_cache(maxsize=1)  # several values in turn have the same graph, and so the same method
        return cls(last(make_graph), make_values, last(_methods(method)), words, seed, made, varying)

    def problem(self, graph: int, values: int) -> tuple[Graph, npt.ArrayLike]:
        """The graph and the private values at this place."""
        for source, place in (("graph", graph), ("values", values)):
            whole(source, place, low=0, high=self.sizes[source] - 1)
        made = self.graph(address(self.seed, "graph", graph))
        return made, self.values(made.num_nodes, address(self.seed, "values", graph, values))

    def run(self, graph: int, values: int, *, num_steps: int, record: int | Sequence[int] | Any) -> Solution:
        """Run the problem at this place, with its schedules as replicas."""
        made, private_values = self.problem(graph, values)
        return simulate(
            made, private_values, self.method(made), num_steps=num_steps, record=record, threads=1, progress=False,
            seed=address(self.seed, "schedule", graph, values), replicas=self.sizes["schedule"],
        )  # fmt: skip

    def words(self) -> dict[str, Any]:
        """What is drawn, for a file."""
        return {**self.described, "seed": self.seed, "draws": dict(self.sizes)}


def _graphs(given: object) -> tuple[Callable[[int], Graph], str, bool]:
    if isinstance(given, Graph):
        return (lambda _seed: given), f"{given.name}, digest {given.fingerprint}", False
    if isinstance(given, str):
        spec = describe_graph(given)
        varies = str(spec.with_seed(0)) != str(spec)
        return (lambda seed: spec.with_seed(seed).build()), str(spec), varies
    if callable(given):
        return given, getattr(given, "__qualname__", "a function"), True
    raise InvalidParameter(
        f"graph must be a Graph, words such as 'rgg:100', or a function of a seed; got {type(given).__name__}"
    )


def _values(given: object) -> tuple[Callable[[int, int], Any], str, bool]:
    if isinstance(given, str):
        spec = ValuesSpec.parse(given)
        words = "given numbers" if spec.numbers is not None else str(spec)
        return spec.build, words, given in RANDOM_VALUES
    if callable(given):
        return given, getattr(given, "__qualname__", "a function"), True
    if not isinstance(given, Mapping | Sequence) and np.ndim(given) == 0:  # type: ignore[arg-type]
        raise InvalidValues("private_values must be one number per node, words such as 'uniform', or a function")
    return (lambda _n, _seed: given), "given numbers", False


def _methods(given: object) -> Callable[[Graph], Method]:
    if isinstance(given, Method):
        return lambda _graph: given
    if isinstance(given, str):
        return MethodSpec.parse(given).build
    if callable(given):
        return given
    raise InvalidParameter(f"method must be a method, its words, or a function of a graph; got {type(given).__name__}")


_PLURAL = {"graph": "graphs", "values": "values", "schedule": "schedules"}


def _size(source: str, asked: int | None, varying: Sequence[str], default: tuple[int, int]) -> int:
    name = _PLURAL[source]
    if source not in varying:
        if asked not in (None, 1):
            raise InvalidParameter(f"{name} must be 1 where they do not vary, got {asked!r}")
        return 1
    if asked is None:
        return default[0] if source == varying[0] else default[1]
    return whole(name, asked, low=1, high=10**7)
