"""What is run, in words: graph, private values, methods, seed and length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..foundation.arguments import Array
from ..foundation.text import listed
from ..graphs.graph import Graph
from ..graphs.naming import by_node
from ..methods import Method
from ..methods.registry import is_ours
from .graphs import GivenGraph, GraphFile, GraphSpec, describe_graph
from .methods import MethodSpec
from .values import ValuesSpec

__all__ = ["Scenario"]


@dataclass(frozen=True)
class Scenario:
    """Descriptions, and what they describe: made when first asked for, and then kept.

    A random graph that names no seed takes that of the run, so the words determine everything.

    Examples
    --------
    >>> scenario = Scenario.parse(graph="star:4", values="ramp", methods=["standard"], seed=1, num_steps=50)
    >>> scenario.graph, scenario.methods, scenario.private_values.round(2).tolist()
    (<Graph star(4): 4 nodes, 3 edges>, (StandardGossip(),), [0.0, 0.33, 0.67, 1.0])
    """

    graph_spec: GraphSpec | GraphFile | GivenGraph
    values_spec: ValuesSpec
    method_specs: tuple[MethodSpec, ...]
    seed: int
    num_steps: int
    chances: tuple[float, ...] | None = None
    """How likely each edge is to fire, in the order of the graph's edges; ``None``: all the same."""

    @classmethod
    def parse(cls, *, graph: str, values: str, methods: Sequence[str], seed: int, num_steps: int) -> Scenario:
        """Read the three grammars."""
        described = describe_graph(graph), ValuesSpec.parse(values)
        return cls(*described, tuple(MethodSpec.parse(text) for text in methods), seed, num_steps)

    @cached_property
    def graph(self) -> Graph:
        """The graph, built or read."""
        return self.graph_spec.with_seed(self.seed).build()

    @cached_property
    def methods(self) -> tuple[Method, ...]:
        """The methods, checked against the graph."""
        return tuple(spec.build(self.graph) for spec in self.method_specs)

    @cached_property
    def private_values(self) -> Array:
        """``(n,)`` or ``(n, d)`` values."""
        found = self.values_spec.build(self.graph.num_nodes, self.seed)
        return np.array(by_node(found, self.graph)) if isinstance(found, dict) else found

    @cached_property
    def edge_probabilities(self) -> Array | None:
        """``(m,)`` chances of sum 1, as :func:`sottovoce.simulate` takes them."""
        return None if self.chances is None else np.array(self.chances) / np.sum(self.chances)

    def built(self) -> Scenario:
        """Itself, with everything made: what cannot be made is said here."""
        _ = self.graph, self.private_values, self.methods
        return self

    def to_python(self, *, record: int) -> str:
        """A program that ends with ``runs``: one :class:`~sottovoce.Solution` per method.

        Examples
        --------
        >>> scenario = Scenario.parse(graph="cycle:10", values="uniform", methods=["standard"], seed=1, num_steps=50)
        >>> print(scenario.to_python(record=400))
        import numpy as np
        import sottovoce as sv
        <BLANKLINE>
        graph = sv.graphs.cycle(10)
        private_values = np.random.default_rng([1, 10]).random(10)
        methods = [
            sv.StandardGossip(),
        ]
        runs = [sv.simulate(graph, private_values, method, num_steps=50, seed=1, record=400) for method in methods]
        for run in runs:
            print(run)
        <BLANKLINE>
        """
        values = self.values_spec.to_python(self.graph.num_nodes, self.seed)
        methods = "".join(f"    {spec.to_python(self.graph)},\n" for spec in self.method_specs)
        return (
            f"{self._imports(values)}\n"
            f"graph = {self.graph_spec.with_seed(self.seed).to_python()}\n"
            f"private_values = {values}\n"
            f"methods = [\n{methods}]\n"
            f"{self._chances_in_python()}"
            f"runs = [sv.simulate(graph, private_values, method, num_steps={self.num_steps}, seed={self.seed}, "
            f"record={record}{self._with_chances()}) for method in methods]\n"
            "for run in runs:\n    print(run)\n"
        )

    def _chances_in_python(self) -> str:
        return "" if self.edge_probabilities is None else f"chances = {listed(self.edge_probabilities.tolist())}\n"

    def _with_chances(self) -> str:
        """Chances mean something where one edge fires per step."""
        if self.chances is None:
            return ""
        return ", edge_probabilities=chances if isinstance(method, sv.methods.PairMethod) else None"

    def _imports(self, values: str) -> str:
        lines = ["import numpy as np"] if "np." in values else []
        lines += ["import sottovoce as sv"]
        lines += ["from sottovoce.scenario.values import read_values"] if "read_values" in values else []
        foreign = {(cls.__module__, cls.__name__) for cls in map(type, self.methods) if not is_ours(cls)}
        lines += [f"from {module} import {name}" for module, name in sorted(foreign)]
        return "".join(f"{line}\n" for line in lines)
