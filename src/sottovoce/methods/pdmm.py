"""PDMM with random duals (Li, Heusdens, Christensen 2020; asynchronous: arXiv 2312.08144): noise in the dual variables.

The primal–dual method of multipliers solves min Σ ½(x_i − c_i)² under x_i = x_j. With A_ij = −A_ji = ±1 node i keeps a
dual z_{i|j} for each neighbour. It takes x_i = (c_i − Σ_j A_ij z_{i|j})/(1 + ρ d_i) and tells each neighbour
z_{j|i} = z_{i|j} + 2ρ A_ij x_i. The duals start at random, N(0, P²): however large P, x converges to c̄, because the
part of z that the iteration never touches has no influence on the limit. All nodes do this in a round, or one in a
step.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method, NeighbourMethod
from .registry import register
from .released import LinearRound, LinearSteps, LinearSystem, Released

__all__ = ["AsynchronousPdmm", "Pdmm"]

PRIVATE = 1
"""Column of a node's row: c."""
DUAL, SIGN, START = 2, 3, 4
"""Columns of a neighbour's row: z as far as it was heard, A_ij, and the standard normal with which z starts."""

STD, PENALTY = 0, 1


def speak(nodes: Array, i: int, first: int, last: int, draws: Array, step: int, parameters: Array) -> None:
    """Find x from the duals, and tell every neighbour its new dual."""
    rest = nodes[i, PRIVATE]
    for row in range(first, last):
        rest -= nodes[row, SIGN] * (nodes[row, DUAL] + parameters[STD] * nodes[row, START])
    nodes[i, VALUE] = rest / (1.0 + parameters[PENALTY] * (last - first))
    for row in range(first, last):
        dual = nodes[row, DUAL] + parameters[STD] * nodes[row, START]
        nodes[row, 0] = dual + 2.0 * parameters[PENALTY] * nodes[row, SIGN] * nodes[i, VALUE]


def hear(nodes: Array, i: int, row: int, step: int, parameters: Array) -> None:
    """The dual is what the neighbour said."""
    nodes[row, DUAL] = nodes[row, 1]
    nodes[row, START] = 0.0


class PdmmMethod(NeighbourMethod):
    """What the two have in common."""

    dual_noise_std: Any
    penalty: Any

    num_fields: ClassVar[int] = 5
    mass_field: ClassVar[int] = PRIVATE  # x is found from c and the duals each time: no mass moves
    start_noise_field: ClassVar[int | None] = START
    speak = staticmethod(speak)
    hear = staticmethod(hear)

    def __post_init__(self) -> None:
        self.check("dual_noise_std", low=0.0)
        self.check("penalty", low=0.0, low_open=True)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(dual_noise_std=10.0),)

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[: graph.num_nodes, PRIVATE] = private_values
        owners = np.repeat(np.arange(graph.num_nodes), graph.degrees)
        nodes[graph.num_nodes :, SIGN] = np.where(owners < graph.neighbours, 1.0, -1.0)
        return nodes

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.dual_noise_std, self.penalty])

    def messages_before(self, graph: Graph) -> int:
        """One each way on every edge: neighbours tell each other the duals that they start with."""
        return 2 * graph.num_edges

    def guarantee(self, graph: Graph) -> Guarantee:
        """The limit is exact; no rate is proved in closed form."""
        return Guarantee(remaining=0.0)

    @abstractmethod
    def label(self) -> str: ...


@register
@dataclass(frozen=True)
class Pdmm(PdmmMethod):
    """The primal–dual method of multipliers in rounds, with duals that start at random.

    Parameters
    ----------
    dual_noise_std
        P ≥ 0, standard deviation of the duals at the start. It has no default, because it decides what is hidden.
    penalty
        ρ > 0. It decides how fast the method converges, and not where to.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.cycle(4), [1.0, 2.0, 3.0, 6.0], Pdmm(1000.0), num_steps=200, seed=1)
    >>> run.values.round(9).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    dual_noise_std: float
    penalty: float = 0.4

    name: ClassVar[str] = "pdmm"
    noise_sizes: ClassVar[tuple[str, ...]] = ("dual_noise_std",)

    def releases(self, graph: Graph) -> Released:
        rows = _Rows(graph, self.penalty)
        always = LinearRound(said=rows.said, moved=rows.moved(np.arange(graph.num_nodes)))
        return LinearSystem(**rows.start(self.dual_noise_std), rounds=lambda _: always)

    def label(self) -> str:
        return f"PDMM, P = {self.dual_noise_std:g}, ρ = {self.penalty:g}"


@register
@dataclass(frozen=True)
class AsynchronousPdmm(PdmmMethod):
    """The same without a common clock: in a step one random node finds its x and tells its neighbours.

    Parameters
    ----------
    dual_noise_std, penalty
        As for :class:`Pdmm`.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.cycle(4), [1.0, 2.0, 3.0, 6.0], AsynchronousPdmm(1000.0), num_steps=800, seed=1)
    >>> run.values.round(9).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    dual_noise_std: float
    penalty: float = 0.4

    name: ClassVar[str] = "pdmm-asynchronous"
    noise_sizes: ClassVar[tuple[str, ...]] = ("dual_noise_std",)
    in_rounds: ClassVar[bool] = False

    def releases(self, graph: Graph) -> Released:
        rows = _Rows(graph, self.penalty)
        return LinearSteps(
            **rows.start(self.dual_noise_std),
            rounds=lambda node: LinearRound(said=rows.said, moved=rows.moved(np.array([node]))),
        )

    def label(self) -> str:
        return f"PDMM, asynchronous, P = {self.dual_noise_std:g}, ρ = {self.penalty:g}"


class _Rows:
    """What is released, for audits. Rows: c of every node, then z in the order of ``graph.neighbours``.

    Both ends of an edge know its two duals, from the start on, so all that a message tells is x.
    """

    def __init__(self, graph: Graph, penalty: float) -> None:
        import scipy.sparse

        n, arcs = graph.num_nodes, 2 * graph.num_edges
        self.graph, self.penalty = graph, penalty
        self.owners = np.repeat(np.arange(n), graph.degrees)
        self.sign = np.where(self.owners < graph.neighbours, 1.0, -1.0)
        found = 1.0 / (1.0 + penalty * graph.degrees)
        duals = scipy.sparse.csr_array(
            (-self.sign * found[self.owners], (self.owners, np.arange(arcs))), shape=(n, arcs)
        )
        self.said: Any = scipy.sparse.hstack([scipy.sparse.diags_array(found), duals], format="csr")
        both = np.argsort(graph.incident_edges, kind="stable").reshape(-1, 2)
        self.back = np.empty(arcs, dtype=np.int64)
        """For each entry of ``graph.neighbours`` where the same edge stands in the neighbour's list."""
        self.back[both] = both[:, ::-1]

    def start(self, dual_noise_std: float) -> dict[str, Any]:
        """All of a :class:`LinearSystem` but what happens in a round."""
        import scipy.sparse

        n, arcs = self.graph.num_nodes, len(self.owners)
        one, noise = scipy.sparse.eye_array(n), dual_noise_std * scipy.sparse.eye_array(arcs)
        return {
            "holders": np.concatenate([np.arange(n), self.owners]),
            "start": scipy.sparse.vstack([one, scipy.sparse.csr_array((arcs, n))], format="csr"),
            "start_noise": scipy.sparse.vstack([scipy.sparse.csr_array((n, arcs)), noise], format="csr"),
            "start_known": np.stack([self.owners, self.graph.neighbours], axis=1).astype(np.int64),
            "speakers": np.arange(n),
            "listeners": np.full(n, -1),
            "draws_known": np.arange(n),
        }

    def moved(self, acting: npt.NDArray[np.int64]) -> Any:
        """z_{j|i} becomes z_{i|j} + 2ρ A_ij x_i for all neighbours j of the nodes i that act; the rest stays."""
        import scipy.sparse

        n, arcs = self.graph.num_nodes, len(self.owners)
        out = np.flatnonzero(np.isin(self.owners, acting))
        rows = n + self.back[out]
        stays = np.ones(n + arcs)
        stays[rows] = 0.0
        taken = scipy.sparse.csr_array((np.ones(len(out)), (rows, n + out)), shape=(n + arcs, n + arcs))
        spread = 2.0 * self.penalty * self.sign[out]
        pushed = scipy.sparse.csr_array((spread, (rows, self.owners[out])), shape=(n + arcs, n))
        return scipy.sparse.csr_array(scipy.sparse.diags_array(stays) + taken + pushed @ self.said)
