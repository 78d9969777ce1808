"""The audit: exactly what a view reveals of every private value, step by step.

Given which edges fired, all that an observer sees is linear in the private values and independent
Gaussian draws, so its knowledge is exact linear-Gaussian inference; :mod:`.exchanges` has the model,
:mod:`.knowledge` the arithmetic. Three questions are answered on one pass through the run: the posterior
under a Gaussian prior, the best unbiased estimate (flat prior), and the Fisher information when every
other private value is known. The attack that attains the posterior is :mod:`.attacks`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.progress import Progress
from ..graphs.graph import Graph
from ..methods.base import Array, Method
from .analysers.exchanges import Setting, checked_edges, setting
from .gaussian.knowledge import FLOOR, RANK_TOLERANCE, Knowledge
from .report import Report
from .view import View

__all__ = ["audit", "checked_prior", "flat_start", "gaussian_start"]

SENSITIVITY_TOLERANCE = 1e-12
"""A message that depends on a private value by less than this weight is taken not to depend on it."""


def audit(
    graph: Graph,
    method: Method,
    fired_edges: npt.ArrayLike,
    view: View,
    prior_std: float | npt.ArrayLike | None = 1.0,
    *,
    steps: Sequence[int] | npt.ArrayLike | None = None,
    tolerance: float = 1e-6,
    progress: Callable[[int, int], object] | bool | None = None,
) -> Report:
    """What ``view`` reveals of every private value in a run in which these edges fired.

    Parameters
    ----------
    graph, method
        The network, and :class:`~sottovoce.NoiseInsertion` or :class:`~sottovoce.StandardGossip`.
    fired_edges
        ``(num_steps,)`` indices into ``graph.edges``, as ``run.fired_edges()`` gives them.
    view
        Who watches: :class:`CuriousNodes`, :class:`WireTap`, :class:`EveryoneBut` or :class:`Pooled`.
    prior_std
        τ > 0: what the observer believes beforehand is N(·, τ²) per honest value, independently. One
        number or one per node. ``None`` means a flat prior: nothing is believed beforehand.
    steps
        Steps after which to record the history, in 0..num_steps. Default: every step of runs of up to
        500 steps, otherwise 251 evenly spaced ones.
    tolerance
        A value counts as disclosed when its flat-prior deviation is at most this share of its prior
        deviation (of the largest σ if the prior is flat; of 1 if that is zero too).
    progress
        ``None``: a bar on standard error if it is a terminal and the audit takes longer than a second.
        ``False``: silence. A function is called with (steps done, steps in all).

    Returns
    -------
    Report

    Examples
    --------
    Path 0–1–2, edges (0,1), (1,2), (0,1), seen by node 0:

    >>> import sottovoce as sv
    >>> graph = sv.graphs.path(3)
    >>> method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5)
    >>> report = audit(graph, method, [0, 1, 0], sv.privacy.CuriousNodes([0]))
    >>> report.posterior_std.round(6).tolist()
    [0.0, 0.645497, 0.816497]
    >>> audit(graph, sv.StandardGossip(), [0, 1, 0], sv.privacy.CuriousNodes([0])).posterior_std.tolist()
    [0.0, 0.0, 0.0]
    """
    edges = checked_edges(fired_edges, graph)
    prepared = setting(graph, method, view)
    prior = checked_prior(prior_std, graph)
    if not 0.0 <= tolerance < 1.0:
        raise InvalidParameter(f"tolerance must be in [0, 1), got {tolerance:g}")
    recorded = _checked_steps(steps, len(edges))
    passes = _Passes(prepared, prior)
    with Progress(len(edges), "auditing", report=progress) as bar:
        flat, information, posterior = passes.run(edges, recorded, bar)
    scale = prior if prior is not None else np.full(graph.num_nodes, float(prepared.noise_std.max()) or 1.0)
    return Report(
        graph=graph,
        method=method,
        view=view,
        num_steps=len(edges),
        prior_std=prior,
        steps=recorded[:-1],
        history=posterior[:-1],
        flat_history=flat[:-1],
        information_history=information[:-1],
        posterior_std=posterior[-1],
        flat_std=flat[-1],
        fisher_information=information[-1],
        disclosed=flat[-1] <= tolerance * scale,
        observers=prepared.group_of < 0,
        tolerance=tolerance,
        rank_tolerance=RANK_TOLERANCE,
        numerical_floor=FLOOR,
    )


def gaussian_start(prior: Array) -> Knowledge:
    """Private values and noise-free values of one group under independent Gaussian priors."""
    return Knowledge(factor=np.vstack([np.diag(prior), np.diag(prior)]))


def flat_start(size: int) -> Knowledge:
    """The same under a flat prior."""
    return Knowledge(factor=np.zeros((2 * size, 0)), diffuse=np.vstack([np.eye(size), np.eye(size)]))


class _Fisher:
    """Information about each value of a group when all other values are known.

    Given the private values the noise-free values are T·c plus noise; a heard message adds h hᵀ/s, where h
    is what the surprise owes to c and s its variance. Only the diagonal is wanted: sums of squares.
    """

    def __init__(self, size: int) -> None:
        self.noise = Knowledge(factor=np.zeros((size, 0)))
        self.weights = np.eye(size)
        self.information = np.zeros(size)

    def mix(self, p: int, q: int, noise: float) -> None:
        self.noise.mix(p, q, noise)
        self.weights[p] = self.weights[q] = 0.5 * (self.weights[p] + self.weights[q])

    def observe(self, p: int, noise: float) -> tuple[Array, float]:
        row = self.weights[p].copy()
        gain, deviation = self.noise.observe(p, noise)
        felt = np.abs(row) > SENSITIVITY_TOLERANCE
        if deviation == 0.0:
            self.information[felt] = math.inf
            return gain, deviation
        with np.errstate(over="ignore"):
            self.information[felt] += (row[felt] / deviation) ** 2
        self.weights -= np.outer(gain, row)
        if gain[p] != 0.0:
            self.weights[p] = row * (noise / deviation) ** 2
        return gain, deviation


class _Passes:
    """The three filters of every group, moved together through one run."""

    def __init__(self, prepared: Setting, prior: Array | None) -> None:
        self.setting = prepared
        self.prior = prior
        self.flat = [flat_start(len(members)) for members in prepared.groups]
        self.fisher = [_Fisher(len(members)) for members in prepared.groups]
        self.bayes = None if prior is None else [gaussian_start(prior[members]) for members in prepared.groups]

    def run(
        self, edges: npt.NDArray[np.int64], recorded: npt.NDArray[np.int64], progress: Progress
    ) -> tuple[Array, Array, Array]:
        """Flat-prior deviation, information and posterior deviation at each recorded step: (records, n)."""
        num_nodes = self.setting.graph.num_nodes
        flat = np.zeros((len(recorded), num_nodes))
        information = np.full((len(recorded), num_nodes), math.inf)
        posterior = np.zeros((len(recorded), num_nodes))
        row = 0
        dirty = set(range(len(self.setting.groups)))
        for event in self.setting.events(edges):
            if event.step % 64 == 0:
                progress.at(event.step)
            while row < len(recorded) and recorded[row] < event.step:
                self._record(row, dirty, flat, information, posterior)
                row += 1
            if event.second < 0:
                dirty.add(event.group)
            for part in self._parts(event.group):
                event.move(part, _offset(part))
        while row < len(recorded):
            self._record(row, dirty, flat, information, posterior)
            row += 1
        return flat, information, posterior

    def _parts(self, group: int) -> list[Knowledge | _Fisher]:
        parts: list[Knowledge | _Fisher] = [self.flat[group], self.fisher[group]]
        if self.bayes is not None:
            parts.append(self.bayes[group])
        return parts

    def _record(self, row: int, dirty: set[int], flat: Array, information: Array, posterior: Array) -> None:
        if row > 0:
            flat[row], information[row], posterior[row] = flat[row - 1], information[row - 1], posterior[row - 1]
        for group in dirty:
            members = self.setting.groups[group]
            private = slice(0, len(members))
            flat[row, members] = self.flat[group].std(private)
            information[row, members] = self.fisher[group].information
            posterior[row, members] = flat[row, members] if self.bayes is None else self.bayes[group].std(private)
        dirty.clear()


def _offset(part: Knowledge | _Fisher) -> int:
    """Where the noise-free values start among the rows."""
    return 0 if isinstance(part, _Fisher) else part.num_rows // 2


def checked_prior(prior_std: float | npt.ArrayLike | None, graph: Graph) -> Array | None:
    """``(n,)`` prior deviations, or ``None`` for a flat prior."""
    if prior_std is None:
        return None
    try:
        prior = np.asarray(prior_std, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"prior_std must be numbers above 0 (or None: a flat prior), got {prior_std!r}"
        ) from None
    if prior.ndim > 1 or (prior.ndim == 1 and prior.shape != (graph.num_nodes,)):
        raise InvalidParameter(
            f"prior_std must be one number or one per node ({graph.num_nodes}), got shape {prior.shape}"
        )
    if not (np.isfinite(prior) & (prior > 0.0)).all():
        raise InvalidParameter(
            f"prior_std must be finite and above 0, got {prior.min():g} (a flat prior is None, or --flat)"
        )
    return np.broadcast_to(prior, (graph.num_nodes,)).copy()


def _checked_steps(steps: Sequence[int] | npt.ArrayLike | None, num_steps: int) -> npt.NDArray[np.int64]:
    """The requested steps in increasing order, and the last step once more for the final state."""
    if steps is None:
        wanted = np.arange(num_steps + 1) if num_steps <= 500 else np.linspace(0, num_steps, 251).round()
    else:
        wanted = np.atleast_1d(np.asarray(steps))
        whole = wanted.size == 0 or np.issubdtype(wanted.dtype, np.integer)
        if wanted.ndim != 1 or not whole or ((wanted < 0) | (wanted > num_steps)).any():
            raise InvalidParameter(f"steps must be whole numbers in 0..{num_steps}, got {steps!r}")
    return np.append(np.unique(wanted.astype(np.int64)), num_steps)
