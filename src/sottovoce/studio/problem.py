"""From what a page asks for to a graph, private values and methods: checked, limited, reproducible.

A *problem* travels as JSON and stands, in another spelling, in the page's address::

    {"graph": "cycle:10", "values": "uniform", "methods": ["standard"], "seed": 1, "num_steps": 1000}

``graph`` is a family with its arguments as on the command line (never a file of this machine), or
``{"edges": [[0, 1], …]}``; ``values`` a word of :data:`VALUES`, or one number per node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidGraph, InvalidParameter, InvalidValues
from ..experiments.paper import private_values as uniform_values
from ..graphs.graph import Graph
from ..methods import Method, NoiseInsertion
from ..methods.base import Array
from ..scenario.graphs import FAMILIES, parse_graph
from ..scenario.methods import parse_method
from .limits import Limits

__all__ = ["FREE", "RECORDS", "VALUES", "Problem", "record_steps"]

RECORDS = 400
"""The error is recorded at this many evenly spaced steps, as ``simulate(record=RECORDS)`` does."""

FREE = "free"
"""Instead of a number for ``noise_decay``: every node's largest free one."""


def _normal(num_nodes: int, seed: int) -> Array:
    return np.random.default_rng([seed, num_nodes]).standard_normal(num_nodes)


def _spike(num_nodes: int, seed: int) -> Array:
    values = np.zeros(num_nodes)
    values[seed % num_nodes] = 1.0
    return values


def _ramp(num_nodes: int, _seed: int) -> Array:
    return np.linspace(0.0, 1.0, num_nodes)


@dataclass(frozen=True)
class Values:
    """A way to make private values: for people, for the engine, and as a line of Python."""

    title: str
    make: Callable[[int, int], Array]
    python: str


VALUES: dict[str, Values] = {
    "uniform": Values("random, uniform on [0, 1]", uniform_values, "np.random.default_rng([{seed}, {n}]).random({n})"),
    "normal": Values(
        "random, normal with deviation 1", _normal, "np.random.default_rng([{seed}, {n}]).standard_normal({n})"
    ),
    "ramp": Values("evenly from 0 to 1", _ramp, "np.linspace(0.0, 1.0, {n})"),
    "spike": Values("one node holds 1, all others 0", _spike, "(np.arange({n}) == {seed} % {n}).astype(float)"),
}
"""Name in an address → how the private values are made."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What one page runs.

    Attributes
    ----------
    graph, private_values, methods, seed, num_steps
        As :func:`sottovoce.simulate` takes them.
    graph_spec, values_spec, method_specs
        As the page gave them; enough to write the problem down again.
    """

    graph: Graph
    private_values: Array
    methods: tuple[Method, ...]
    seed: int
    num_steps: int
    graph_spec: str | None
    values_spec: str | None
    method_specs: tuple[str, ...]

    @classmethod
    def read(cls, message: object, limits: Limits) -> Problem:
        """Check everything, in an order that refuses large requests before doing them.

        Raises
        ------
        InvalidInput
            With a sentence for the person at the page.
        """
        if not isinstance(message, Mapping):
            raise InvalidParameter("problem must be an object with graph, values, methods, seed and num_steps")
        seed = whole(message, "seed", default=1, low=0, high=2**53)
        num_steps = whole(message, "num_steps", default=1000, low=1, high=limits.steps)
        specs = message.get("methods", ["standard"])
        if not isinstance(specs, Sequence) or isinstance(specs, str) or not all(isinstance(s, str) for s in specs):
            raise InvalidParameter("methods must be a list of methods, each like standard or name:parameter=value,…")
        if not 1 <= len(specs) <= limits.methods:
            raise InvalidParameter(f"methods must be a list of 1 to {limits.methods}, got {len(specs)}")
        graph, graph_spec = _read_graph(message.get("graph", "cycle:10"), seed, limits)
        values, values_spec = _read_values(message.get("values", "uniform"), graph.num_nodes, seed)
        methods = tuple(read_method(spec, graph) for spec in specs)
        return cls(graph, values, methods, seed, num_steps, graph_spec, values_spec, tuple(specs))


def record_steps(num_steps: int) -> np.typing.NDArray[np.int64]:
    """The recorded steps of a run of this length: what ``simulate(record=RECORDS)`` chooses."""
    return np.unique(np.linspace(0, num_steps, min(RECORDS, num_steps) + 1).round().astype(np.int64))


def whole(message: Mapping[str, Any], name: str, *, default: int | None, low: int, high: int) -> int:
    """A whole number from a message."""
    value = message.get(name, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidParameter(f"{name} must be a whole number in [{low}, {high}], got {_shown(value)}")
    return value


def _shown(value: object) -> str:
    """At most a few characters of what was given."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


# -- graph ------------------------------------------------------------------------------------------


def _read_graph(given: object, seed: int, limits: Limits) -> tuple[Graph, str | None]:
    if isinstance(given, str):
        return _family_graph(given, seed, limits), given
    if not isinstance(given, Mapping) or not isinstance(given.get("edges"), list):
        raise InvalidGraph('graph must be like cycle:10, or an object {"edges": [[0, 1], …]}')
    edges = given["edges"]
    limits.check("edges", len(edges), limits.edges)
    flat = [end for edge in edges if isinstance(edge, list) and len(edge) == 2 for end in edge]
    if len(flat) != 2 * len(edges) or not all(isinstance(end, int) and not isinstance(end, bool) for end in flat):
        raise InvalidGraph("edges must be pairs of whole numbers")
    limits.check("nodes", max(flat, default=0) + 1, limits.nodes)
    name = given.get("name")
    graph = Graph.from_edges(edges, name=name[:40] if isinstance(name, str) and name else "graph")
    return graph, None


def _family_graph(spec: str, seed: int, limits: Limits) -> Graph:
    """By name only: the command line also reads files, a page must not."""
    family, _, rest = spec.partition(":")
    if family not in FAMILIES or len(spec) > 200:
        raise InvalidGraph(f"graph must be one of {', '.join(FAMILIES)} with sizes, like cycle:10; got {_shown(spec)}")
    nodes, edges = _expected_size(family, rest)
    limits.check("nodes", nodes, limits.nodes)
    limits.check("edges", edges, limits.edges)
    if family in _SPARSE and nodes > 300 and 2 * edges / nodes < 0.6 * math.log(nodes):
        raise InvalidGraph(f"{spec} has too few edges to be connected; ask for more or longer ones")
    graph = parse_graph(spec, seed=seed)
    limits.check("nodes", graph.num_nodes, limits.nodes)
    limits.check("edges", graph.num_edges, limits.edges)
    return graph


def _expected_size(family: str, rest: str) -> tuple[float, float]:
    """About how many nodes and edges a family would make, without making it; missing arguments count as 1."""
    sizes, named = [], {}
    for part in rest.replace("x", ":").split(":"):
        key, equals, text = part.rpartition("=")
        try:
            number = float(text)
        except ValueError:
            continue
        if math.isnan(number):
            raise InvalidParameter(f"graph {family}: sizes must be numbers")
        if equals:
            named[key] = number
        else:
            sizes.append(number)
    n = sizes[0] if sizes else named.get("n", 1.0)
    second = sizes[1] if len(sizes) > 1 else next((named[k] for k in _SECOND if k in named), 1.0)
    if family == "hypercube":
        n = min(sizes[0] if sizes else named.get("dimension", 1.0), 100.0)
        return 2.0**n, n * 2.0**n / 2
    if family in ("grid", "torus"):
        n *= second
        return n, 2 * n
    if family == "barbell":
        n = sizes[0] if sizes else named.get("clique", 1.0)
        return 2 * n + second, n * n + second
    if family in ("rgg", "random-geometric"):
        radius = sizes[1] if len(sizes) > 1 else named.get("radius", math.sqrt(math.log(max(n, 2.0)) / max(n, 2.0)))
        return n, min(n * n / 2, n * n * math.pi * radius * radius / 2)
    return n, {"complete": n * n / 2, "erdos-renyi": n * n * second / 2}.get(family, n * max(second, 1.0))


_SPARSE = ("rgg", "random-geometric", "erdos-renyi")
"""Families that are drawn again until connected: a hopeless one would be drawn for minutes."""

_SECOND = ("cols", "degree", "k", "p", "attach", "path_length")


# -- values and methods -----------------------------------------------------------------------------


def _read_values(given: object, num_nodes: int, seed: int) -> tuple[Array, str | None]:
    if isinstance(given, str):
        if given not in VALUES:
            raise InvalidValues(f"values must be one of {', '.join(VALUES)} or a list of numbers")
        return VALUES[given].make(num_nodes, seed), given
    if not isinstance(given, list) or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in given):
        raise InvalidValues(f"values must be one of {', '.join(VALUES)} or a list of numbers")
    if len(given) != num_nodes:
        raise InvalidValues(f"values must be one number per node: the graph has {num_nodes} nodes, got {len(given)}")
    try:
        values = np.array(given, dtype=np.float64)
    except OverflowError:
        raise InvalidValues("values must be at most 1e100 in size") from None
    if not np.isfinite(values).all() or (np.abs(values) > 1e100).any():
        raise InvalidValues(
            f"values must be finite and at most 1e100 in size; the one of node {_first_bad(values)} is not"
        )
    return values, None


def _first_bad(values: Array) -> int:
    return int(np.argmax(~(np.abs(values) <= 1e100)))


def read_method(spec: str, graph: Graph) -> Method:
    """Like :func:`~sottovoce.scenario.methods.parse_method`; a ``noise_decay`` of ``free`` is every node's largest."""
    if len(spec) > 200:
        raise InvalidParameter("method is too long: write name:parameter=value,…")
    name, _, rest = spec.partition(":")
    parts = dict(part.split("=", 1) for part in rest.split(",") if "=" in part)
    if name == NoiseInsertion.name and parts.get("noise_decay", "").strip() == FREE:
        plain = parse_method(f"{name}:noise_std={parts.get('noise_std', '')},noise_decay=0")
        assert isinstance(plain, NoiseInsertion)
        return NoiseInsertion.largest_free(graph, plain.noise_std)
    method = parse_method(spec)
    method.validate(graph)
    return method
