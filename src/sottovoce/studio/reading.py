"""From what a page asks for to a :class:`~sottovoce.scenario.scenario.Scenario`: checked and limited.

It travels as JSON and stands, in another spelling, in the page's address::

    {"graph": "cycle:10", "values": "uniform", "methods": ["standard"], "seed": 1, "num_steps": 1000}

``graph`` is a family with its arguments as on the command line, or ``{"edges": [[0, 1], …]}``, perhaps with ``name``,
``labels`` (a name per node) and ``weights`` (a number per edge: how likely it is to fire, beside the others).
``values`` is a name, one number per node, or ``{"ada": 1.5, …}``. A page never names a file of this machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import InvalidGraph, InvalidInput, InvalidParameter, InvalidValues
from ..foundation.arguments import whole
from ..graphs.graph import Graph
from ..graphs.naming import by_node, checked_labels
from ..scenario.graphs import GivenGraph, GraphSpec, describe_graph
from ..scenario.methods import MethodSpec
from ..scenario.scenario import Scenario
from ..scenario.values import WAYS, ValuesSpec
from .limits import Limits

__all__ = ["RECORDS", "is_small", "read_scenario", "record_steps"]

RECORDS = 400
"""The error is recorded at this many evenly spaced steps, as ``simulate(record=RECORDS)`` does."""

LONGEST_SPEC = 200

LARGEST_WEIGHT = 1e12

SMALL_NODES = 2_000
SMALL_EDGES = 30_000
"""A graph up to these sizes is small."""

_SPARSE = ("rgg", "erdos-renyi")
"""Families that are drawn again until connected: with far too few edges that would take minutes."""


def read_scenario(message: object, limits: Limits) -> Scenario:
    """Check everything, in an order that refuses large requests before doing them, and build it.

    Raises
    ------
    InvalidInput
        With a sentence for the person at the page.
    """
    if not isinstance(message, Mapping):
        raise InvalidParameter("problem must be an object with graph, values, methods, seed and num_steps")
    seed = whole("seed", message.get("seed", 1), low=0, high=2**53)
    num_steps = whole("num_steps", message.get("num_steps", 1000), low=1, high=limits.steps)
    methods = _read_methods(message.get("methods", ["standard"]), limits)
    given = message.get("graph", "cycle:10")
    graph = _read_graph(given, limits)
    values = _read_values(message.get("values", "uniform"), graph)
    asked = Scenario(graph, values, methods, seed, num_steps, _read_weights(given, graph))
    limits.check("edges", asked.graph.num_edges, limits.edges)
    return asked.built()


def is_small(message: object) -> bool:
    """Whether a scenario is built in a moment (or refused): then no process of its own is worth its start."""
    graph = message.get("graph", "") if isinstance(message, Mapping) else ""
    if isinstance(graph, Mapping):
        edges = graph.get("edges")
        return not isinstance(edges, list) or len(edges) <= SMALL_EDGES
    try:
        spec = describe_graph(str(graph)[:LONGEST_SPEC], files=False)
        nodes, edges = spec.size() if isinstance(spec, GraphSpec) else (0, 0)
    except InvalidInput:
        return True
    return nodes <= SMALL_NODES and edges <= SMALL_EDGES


def record_steps(num_steps: int) -> np.typing.NDArray[np.int64]:
    """The recorded steps of a run of this length: what ``simulate(record=RECORDS)`` chooses."""
    return np.unique(np.linspace(0, num_steps, min(RECORDS, num_steps) + 1).round().astype(np.int64))


def _read_methods(given: object, limits: Limits) -> tuple[MethodSpec, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or not all(isinstance(text, str) for text in given):
        raise InvalidParameter("methods must be a list of methods, each like standard or name:parameter=value,…")
    if not 1 <= len(given) <= limits.methods:
        raise InvalidParameter(f"methods must be a list of 1 to {limits.methods}, got {len(given)}")
    if any(len(text) > LONGEST_SPEC for text in given):
        raise InvalidParameter("method is too long: write name:parameter=value,…")
    return tuple(MethodSpec.parse(text) for text in given)


def _read_graph(given: object, limits: Limits) -> GraphSpec | GivenGraph:
    if isinstance(given, str):
        return _read_family(given, limits)
    if not isinstance(given, Mapping) or not isinstance(given.get("edges"), list):
        raise InvalidGraph('graph must be like cycle:10, or an object {"edges": [[0, 1], …]}')
    edges = given["edges"]
    limits.check("edges", len(edges), limits.edges)
    flat = [end for edge in edges if isinstance(edge, list) and len(edge) == 2 for end in edge]
    if len(flat) != 2 * len(edges) or not all(isinstance(end, int) and not isinstance(end, bool) for end in flat):
        raise InvalidGraph("edges must be pairs of whole numbers")
    limits.check("nodes", max(flat, default=0) + 1, limits.nodes)
    name, labels = given.get("name"), given.get("labels")
    graph = Graph.from_edges(edges, name=name[:40] if isinstance(name, str) and name else "graph")
    if labels is None:
        return GivenGraph(graph)
    if not isinstance(labels, list) or not all(
        isinstance(label, str) and len(label) <= LONGEST_SPEC for label in labels
    ):
        raise InvalidGraph("labels must be one name per node")
    return GivenGraph(replace(graph, labels=checked_labels(labels, graph.num_nodes)))


def _read_weights(given: object, spec: GraphSpec | GivenGraph) -> tuple[float, ...] | None:
    """Weights in the order of the graph's edges, which need not be that in which they were given."""
    if not isinstance(given, Mapping) or given.get("weights") is None:
        return None
    weights, edges = given["weights"], given["edges"]
    if not isinstance(weights, list) or len(weights) != len(edges) or not all(map(_is_weight, weights)):
        raise InvalidGraph("weights must be one number above 0 for each edge")
    found = {(min(edge), max(edge)): float(weight) for edge, weight in zip(edges, weights, strict=True)}
    return tuple(found[int(i), int(j)] for i, j in spec.build().edges.tolist())


def _is_weight(weight: object) -> bool:
    return isinstance(weight, int | float) and not isinstance(weight, bool) and 0.0 < weight <= LARGEST_WEIGHT


def _read_family(text: str, limits: Limits) -> GraphSpec:
    """Refused before it is made, if it is too large or will hardly ever be connected."""
    if len(text) > LONGEST_SPEC:
        raise InvalidParameter("graph is too long: write family:sizes, like cycle:10")
    spec = describe_graph(text, files=False)
    assert isinstance(spec, GraphSpec)
    nodes, edges = spec.size()
    limits.check("nodes", nodes, limits.nodes)
    limits.check("edges", edges, limits.edges)
    if spec.family in _SPARSE and nodes > 300 and 2 * edges / nodes < 0.6 * math.log(nodes):
        raise InvalidGraph(f"{spec} has too few edges to be connected; ask for more or longer ones")
    return spec


def _read_values(given: object, graph: GraphSpec | GivenGraph) -> ValuesSpec:
    if isinstance(given, str) and given in WAYS:
        return ValuesSpec(given)
    if isinstance(given, Mapping) and isinstance(graph, GivenGraph):
        given = by_node(given, graph.graph)
    if not isinstance(given, list) or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in given):
        raise InvalidValues(f"values must be one of {', '.join(WAYS)} or a list of numbers")
    return ValuesSpec.of(given)
