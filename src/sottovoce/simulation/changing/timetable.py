"""Stages made definite for one run: who is there, what can fire, and which average is meant, from step to step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, InvalidValues
from ...foundation.numbers import common_or
from ...graphs.chances import checked_probabilities, node_clocks
from ...graphs.graph import Graph
from ...graphs.naming import check_distinct, node_number, node_numbers
from ...methods.base import Array
from ..random.aliases import AliasTable, alias_table
from ..values import checked_values, sums_of
from .stages import Stage

__all__ = ["Period", "Timetable", "with_all_values"]

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Period:
    """One stage of one run."""

    graph: Graph
    """The graph that is run: all links that ever are."""
    start: int
    end: int
    loss: float
    counted: Mask
    """``(n,)`` nodes that are there."""
    able: Mask
    """``(n,)`` those of them that act and answer."""
    links: Mask
    """``(m,)`` edges that are there."""
    aliases: AliasTable
    """Which edge fires."""
    first_calls: Array
    """``(m,)`` chance that the first end of an edge that fires is the one that calls; empty: ½."""
    values: Array
    """Private values, in the shape in which they were given."""

    @cached_property
    def plain(self) -> bool:
        """Whether all that fires is done."""
        return self.loss == 0.0 and bool(self.able.all() and self.links.all())

    @cached_property
    def mean(self) -> Array:
        """``(d,)`` the average that is meant: that of the nodes that are there."""
        return np.atleast_1d(common_or(self._there.mean(axis=0), self._there))

    @cached_property
    def total(self) -> Array:
        """``(d,)`` the mass that is meant."""
        return sums_of(self._there)

    @property
    def _there(self) -> Array:
        return self.values if self.counted.all() else self.values[self.counted]

    @cached_property
    def live(self) -> Mask:
        """``(m,)`` edges between nodes that are there."""
        return np.asarray(self.links & self.counted[self.graph.edges].all(axis=1))

    @cached_property
    def live_graph(self) -> Graph:
        """The graph of these edges, which need not be connected."""
        if self.live.all():
            return self.graph
        return Graph._trusted(self.graph.num_nodes, self.graph.edges[self.live], name=self.graph.name)


@dataclass(frozen=True, eq=False)
class Timetable:
    """The periods of a run, in order, without gaps."""

    periods: tuple[Period, ...]

    @classmethod
    def of(
        cls, stages: Sequence[Stage], graph: Graph, private_values: Array, edge_probabilities: Array | None
    ) -> Timetable:
        """What these stages mean on ``graph``, with these values and probabilities in the call.

        Raises
        ------
        InvalidParameter, InvalidValues
            If a stage does not fit the graph, or leaves no node or no edge.
        """
        ends = [*(stage.start for stage in stages[1:]), 2**62]
        periods: list[Period] = []
        values = private_values
        for number, (stage, end) in enumerate(zip(stages, ends, strict=True)):
            values = _values(stage, graph, values)
            if number and _same_network(stages[number - 1], stage):  # thousands of stages may differ in values alone
                periods.append(replace(periods[-1], start=stage.start, end=end, values=values))
            else:
                periods.append(_period(stage, end, graph, values, edge_probabilities))
        return cls(tuple(periods))

    @cached_property
    def _starts(self) -> list[int]:
        return [period.start for period in self.periods]

    def making(self, step: int) -> int:
        """The number of the period in which ``step`` is made."""
        return bisect_right(self._starts, step) - 1

    def seen_at(self, num_steps: int) -> Period:
        """The period that a record after ``num_steps`` steps belongs to: that of the last step made."""
        return self.periods[self.making(max(0, num_steps - 1))]

    def between(self, first: int, last: int) -> list[tuple[Period, int, int]]:
        """The periods that make steps ``first`` to ``last`` − 1, each with the part that it makes."""
        parts = ((p, max(p.start, first), min(p.end, last)) for p in self.periods)
        return [(period, low, high) for period, low, high in parts if low < high]


def with_all_values(stages: Sequence[Stage], graph: Graph, private_values: Array) -> tuple[Stage, ...]:
    """The same stages with one value for every node, where they say only which ones change."""
    found, values = [], private_values
    for stage in stages:
        values = _values(stage, graph, values)
        found.append(stage if stage.values is None else replace(stage, values=values))
    return tuple(found)


def _same_network(one: Stage, other: Stage) -> bool:
    """Whether two stages say the same of everything but values; arrays are not compared."""
    same = (one.loss, one.down, one.gone) == (other.loss, other.down, other.gone)
    arrays = ((stage.edges, stage.edge_probabilities, stage.node_rates) for stage in (one, other))
    return same and all(array is None for each in arrays for array in each)


def _period(stage: Stage, end: int, graph: Graph, values: Array, in_call: Array | None) -> Period:
    down, gone = (_mask(name, getattr(stage, name), graph) for name in ("down", "gone"))
    if gone.all():
        raise InvalidParameter(f"gone must leave a node, got all {graph.num_nodes} of the graph")
    chosen = np.arange(graph.num_edges) if stage.edges is None else _chosen(stage.edges, graph)
    links = np.zeros(graph.num_edges, dtype=bool)
    links[chosen] = True
    chances, first_calls = _clocks(stage, graph, chosen, in_call)
    return Period(
        graph=graph,
        start=stage.start,
        end=end,
        loss=stage.loss,
        counted=~gone,
        able=~(gone | down),
        links=links,
        aliases=alias_table(chances, graph),
        first_calls=first_calls,
        values=values,
    )


def _clocks(
    stage: Stage, graph: Graph, chosen: npt.NDArray[np.int64], in_call: Array | None
) -> tuple[Array | None, Array]:
    """Probability of every edge of the graph (``None``: all equal), and who calls."""
    half = np.empty(0)
    if stage.node_rates is not None:
        here = (
            graph if len(chosen) == graph.num_edges else Graph._trusted(graph.num_nodes, graph.edges[np.sort(chosen)])
        )
        by_end = node_clocks(here, stage.node_rates, by_end=True)
        chances, first = np.zeros((2, graph.num_edges))
        chances[np.sort(chosen)], first[np.sort(chosen)] = by_end.sum(axis=1), by_end[:, 0]
        return chances, np.divide(first, chances, out=np.full(graph.num_edges, 0.5), where=chances > 0)
    if stage.edge_probabilities is not None:
        chances = np.zeros(graph.num_edges)
        chances[chosen] = checked_probabilities(stage.edge_probabilities, len(chosen))
        return chances, half
    if stage.edges is not None:
        chances = np.zeros(graph.num_edges)
        chances[chosen] = 1.0 / len(chosen)
        return chances, half
    return in_call, half


def _mask(name: str, nodes: Sequence[int | str], graph: Graph) -> Mask:
    mask = np.zeros(graph.num_nodes, dtype=bool)
    mask[[node_number(graph, node, name) for node in nodes]] = True
    return mask


def _chosen(edges: npt.NDArray[Any], graph: Graph) -> npt.NDArray[np.int64]:
    """The numbers of these edges, in the order in which they were given."""
    if edges.ndim != 2 or edges.shape[1:] != (2,) or not len(edges):
        raise InvalidParameter(f"edges of a stage must be at least one pair of nodes, got shape {edges.shape}")
    pairs = np.array([[node_number(graph, end, "edges of a stage") for end in pair] for pair in edges.tolist()])
    keys = pairs.min(axis=1) * graph.num_nodes + pairs.max(axis=1)
    known = graph.edges[:, 0].astype(np.int64) * graph.num_nodes + graph.edges[:, 1]
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known, keys, sorter=order), len(known) - 1)
    found = order[place]
    for wrong in np.flatnonzero(known[found] != keys)[:1]:
        ends = " and ".join(graph.label(node) for node in pairs[wrong].tolist())
        raise InvalidParameter(f"edges of a stage must be among those of the graph, got one between {ends}")
    if len(np.unique(found)) < len(found):
        raise InvalidParameter("edges of a stage must be there once each, got one twice")
    return np.asarray(found)


def _values(stage: Stage, graph: Graph, before: Array) -> Array:
    given = stage.values
    if given is None:
        return before
    if isinstance(given, Mapping):
        values = before.copy()
        places = node_numbers([_key(node, graph) for node in given], graph, "values of a stage")
        check_distinct(places, graph, "values of a stage")
        for place, value in zip(places, given.values(), strict=True):
            try:
                values[place] = value
            except (TypeError, ValueError):
                raise InvalidValues("values of a stage must be numbers, one or one vector per node") from None
        given = values
    found = checked_values(given, graph)
    if found.shape != before.shape:
        raise InvalidValues(f"values of a stage must have the shape they had before, {before.shape}, got {found.shape}")
    return found


def _key(node: object, graph: Graph) -> object:
    """The node that a key of a TOML table means: those of nodes without names are numbers in quotes."""
    return int(node) if isinstance(node, str) and graph.labels is None and node.isdecimal() else node
