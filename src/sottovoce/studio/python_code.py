"""A problem as a Python program: run it and get the numbers that the page showed."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import numpy as np

from ..methods import Method, NoiseInsertion
from ..scenario.graphs import FAMILIES
from .problem import FREE, RECORDS, VALUES, Problem

__all__ = ["python_code"]

_INLINE = 12
"""Lists up to this long stand on one line."""


def python_code(problem: Problem) -> str:
    """A program that ends with ``runs``: one :class:`~sottovoce.Solution` per method.

    Examples
    --------
    >>> from sottovoce.studio.limits import Limits
    >>> print(python_code(Problem.read({"graph": "cycle:10", "methods": ["standard"], "num_steps": 50}, Limits())))
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
    methods = "\n".join(
        f"    {_method(method, spec)}," for method, spec in zip(problem.methods, problem.method_specs, strict=True)
    )
    values = _values(problem)
    numpy = "import numpy as np\n" if "np." in values else ""
    return (
        f"{numpy}import sottovoce as sv\n\n"
        f"graph = {_graph(problem)}\n"
        f"private_values = {values}\n"
        f"methods = [\n{methods}\n]\n"
        f"runs = [sv.simulate(graph, private_values, method, num_steps={problem.num_steps}, seed={problem.seed}, "
        f"record={RECORDS}) for method in methods]\n"
        "for run in runs:\n    print(run)\n"
    )


def _graph(problem: Problem) -> str:
    if problem.graph_spec is None:
        return f"sv.Graph.from_edges({_listed([tuple(e) for e in problem.graph.edges.tolist()])})"
    family, _, rest = problem.graph_spec.partition(":")
    generator = FAMILIES[family].__name__
    arguments = [part for part in rest.replace("x", ":").split(":") if part]
    if f"seed={problem.seed}" not in arguments and _seeded(problem, arguments):
        arguments.append(f"seed={problem.seed}")
    return f"sv.graphs.{generator}({', '.join(arguments)})"


def _seeded(problem: Problem, arguments: list[str]) -> bool:
    """Whether the seed of the run was used to draw the graph."""
    return "seed=" in problem.graph.name and not any(a.startswith("seed=") for a in arguments)


def _values(problem: Problem) -> str:
    if problem.values_spec is not None:
        return VALUES[problem.values_spec].python.format(seed=problem.seed, n=problem.graph.num_nodes)
    return _listed(problem.private_values.tolist())


def _method(method: Method, spec: str) -> str:
    if isinstance(method, NoiseInsertion) and isinstance(method.noise_decay, np.ndarray):
        assert FREE in spec
        return f"sv.NoiseInsertion.largest_free(graph, noise_std={method.noise_std!r})"
    fields = dataclasses.fields(cast("Any", method))
    parts = [f"{f.name}={getattr(method, f.name)!r}" for f in fields if f.init and getattr(method, f.name) is not None]
    return f"sv.{type(method).__name__}({', '.join(parts)})"


def _listed(items: list[Any]) -> str:
    if len(items) <= _INLINE:
        return repr(items)
    rows = [", ".join(map(repr, items[k : k + _INLINE])) for k in range(0, len(items), _INLINE)]
    return "[\n" + "".join(f"    {row},\n" for row in rows) + "]"
