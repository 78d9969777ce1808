"""Pairwise exchanges under noise and seals: the exact audit.

The model is :mod:`.model`. Three answers are found in one pass through a run, in doubles: with a prior, with a flat
prior, and with all other values known. Where doubles do not suffice, :mod:`.recheck` finds the first two again with
more digits; messages without any noise are a question of rank, which :mod:`.elimination` decides exactly.
"""

from __future__ import annotations

import math
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter
from ...foundation.progress import Progress
from ...graphs.graph import Graph
from ...methods.base import Array
from ...methods.released import Released, SealedNoise
from ..gaussian.fisher import FisherInformation
from ..gaussian.knowledge import NOTHING
from ..gaussian.seals import sealed_std
from ..report import Question, Report
from ..view import View
from .elimination import recovered_after
from .model import ExchangeModel, Exchanges, Filter, Nodes, exchange_model
from .recheck import recheck

__all__ = ["audit", "checked_run", "final_posterior", "supports"]


def supports(released: Released, view: View) -> TypeGuard[Exchanges]:
    """Withdrawn noise, σ = 0 included, noise that is left in place, seals, and every view."""
    return isinstance(released, Exchanges) and isinstance(view, View)


def checked_run(fired_edges: npt.ArrayLike, graph: Graph) -> Nodes:
    """``(num_steps,)`` edge indices, validated."""
    edges = np.asarray(fired_edges)
    if edges.size == 0:
        return np.zeros(0, dtype=np.int64)
    if edges.ndim != 1 or not np.issubdtype(edges.dtype, np.integer):
        raise InvalidParameter(
            f"fired_edges must be a sequence of edge indices, got shape {edges.shape} of {edges.dtype}"
        )
    if edges.min() < 0 or edges.max() >= graph.num_edges:
        raise InvalidParameter(
            f"fired_edges must be edge indices in 0..{graph.num_edges - 1}, got {int(edges.min())}..{int(edges.max())}"
        )
    return edges.astype(np.int64)


def audit(question: Question, released: Exchanges, edges: Nodes, progress: Progress) -> Report:
    """Three answers on one pass through the run: Gaussian prior, flat prior, and all other private values known."""
    prior = question.belief
    model = exchange_model(question.graph, released, question.view, prior)
    scale = question.prior_std
    if scale is None:
        scale = np.full(question.graph.num_nodes, float(model.noise_std.max()) or 1.0)
    passes = Passes(model, prior)
    tables = passes.run(edges, question.recorded, progress)
    undecided = np.zeros(question.graph.num_nodes, dtype=np.bool_)
    if model.in_the_clear:
        _in_the_clear(question, edges, tables)
    else:
        undecided = recheck(
            model, edges, question.recorded, prior, passes, tables, question.tolerance * scale, question.patience
        )
    flat, information, posterior = tables
    return Report(
        **vars(question),
        history=posterior[:-1],
        posterior_std=posterior[-1],
        disclosed=flat[-1] <= question.tolerance * scale,
        undecided=undecided,
        observers=model.group_of < 0,
        kept_std=_kept(model, released, edges, question),
        flat_history=flat[:-1],
        flat_std=flat[-1],
        information_history=information[:-1],
        fisher_information=information[-1],
    )


def _kept(model: ExchangeModel, released: Exchanges, edges: Nodes, question: Question) -> Array | None:
    """``(n,)`` what the theorems on unheard exchanges (:mod:`..firewall`) and on seals leave, now and ever after."""
    if model.in_the_clear or question.prior_covariance is not None:
        return None
    size, own = model.graph.num_nodes, model.group_of < 0
    prior = np.zeros(size) if question.prior_std is None else question.prior_std**-2.0
    shown = prior.tolist()
    kept = np.zeros(size)
    ends, heard = model.graph.edges.tolist(), model.heard.tolist()
    for edge, amplitudes in zip(edges.tolist(), model.amplitudes(edges), strict=True):
        pair = ends[edge]
        if not heard[edge]:
            total = shown[pair[0]] + shown[pair[1]]
            kept[pair] = np.maximum(kept[pair], total**-0.5 if total > 0.0 else math.inf)
        for node, amplitude in zip(pair, amplitudes, strict=True):
            if amplitude is not None:
                shown[node] += amplitude**-2.0 if amplitude > NOTHING else math.inf
    if isinstance(released, SealedNoise) and released.seal_std > 0.0:
        sealed = sealed_std(
            model.graph.edges, size, np.flatnonzero(own), seal_std=released.seal_std, prior_std=question.prior_std
        )
        kept = np.maximum(kept, sealed)
    kept[own] = 0.0
    return kept


def _in_the_clear(question: Question, edges: Nodes, tables: tuple[Array, Array, Array]) -> None:
    """Without noise a value is known exactly, or not at all beyond a prior: which, arithmetic modulo primes decides."""
    known = question.recorded[:, None] >= recovered_after(question.graph, edges, question.view)
    flat, _, posterior = tables
    flat[:] = np.where(known, 0.0, math.inf)
    posterior[:] = flat if question.prior_std is None else np.where(known, 0.0, posterior)


def final_posterior(graph: Graph, released: Exchanges, edges: Nodes, view: View, prior: Array) -> Array:
    """``(n,)`` posterior deviations at the end and nothing else: a third of the work of an audit."""
    model = exchange_model(graph, released, view, prior)
    known = [model.start(group, prior) for group in range(len(model.groups))]
    for event in model.events(edges):
        event.move(known[event.group], len(model.groups[event.group]))
    out = np.zeros(graph.num_nodes)
    for members, part in zip(model.groups, known, strict=True):
        out[members] = part.std(slice(0, len(members)))
    return out


# -- the passes of an audit --------------------------------------------------------------------------------


class Passes:
    """The three filters of every group, moved together through one run."""

    def __init__(self, model: ExchangeModel, prior: Array | None) -> None:
        self.model = model
        self.rounding = np.zeros(model.graph.num_nodes)
        """``(n,)`` the largest rounding error that a flat-prior deviation may have had at a recorded step."""
        groups = range(len(model.groups))
        self.flat = [model.start(group, None) for group in groups]
        self.fisher = [FisherInformation(factor) for factor in model.seals]
        self.bayes = self.flat if prior is None else [model.start(group, prior) for group in groups]
        self.moved: list[list[tuple[Filter, int]]] = []
        for flat, fisher, bayes, members in zip(self.flat, self.fisher, self.bayes, model.groups, strict=True):
            parts: list[tuple[Filter, int]] = [(flat, len(members)), (fisher, 0), (bayes, len(members))]
            self.moved.append(parts if prior is not None else parts[:2])

    def run(self, edges: Nodes, recorded: Nodes, progress: Progress) -> tuple[Array, Array, Array]:
        """Flat-prior deviation, information and posterior deviation at each recorded step: (records, n)."""
        shape = (len(recorded), self.model.graph.num_nodes)
        tables = np.zeros(shape), np.full(shape, math.inf), np.zeros(shape)
        row = 0
        dirty = set(range(len(self.model.groups)))
        for event in self.model.events(edges):
            if event.step % 64 == 0:
                progress.at(event.step)
            while row < len(recorded) and recorded[row] < event.step:
                self._record(row, dirty, *tables)
                row += 1
            if event.second < 0:
                dirty.add(event.group)
            for part, offset in self.moved[event.group]:
                event.move(part, offset)
        while row < len(recorded):
            self._record(row, dirty, *tables)
            row += 1
        return tables

    def _record(self, row: int, dirty: set[int], flat: Array, information: Array, posterior: Array) -> None:
        if row > 0:
            flat[row], information[row], posterior[row] = flat[row - 1], information[row - 1], posterior[row - 1]
        for group in dirty:
            members = self.model.groups[group]
            private = slice(0, len(members))
            flat[row, members] = self.flat[group].std(private)
            information[row, members] = self.fisher[group].information
            posterior[row, members] = self.bayes[group].std(private)
            off = self.flat[group].rounding(private, flat[row, members])
            self.rounding[members] = np.maximum(self.rounding[members], off)
        dirty.clear()
