"""The attack: the optimal estimate of every private value, computed from what a view saw of a run.

It is the estimator whose error :mod:`.auditing` predicts: run on simulated transcripts its error has
exactly the posterior deviation. Gains do not depend on the numbers seen, so many transcripts of the same
fired edges cost little more than one. The attack on noise-free gossip by row space is :mod:`.row_space`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.numbers import NEGLIGIBLE
from ..graphs.graph import Graph
from ..methods.base import Array, Method
from .analysers.exchanges import Setting, noise_of, setting
from .auditing import checked_prior, flat_start, gaussian_start
from .view import View

if TYPE_CHECKING:
    from ..simulation import Solution

__all__ = ["Attack", "attack", "estimates", "transcript"]


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """What the observer believes after the run; returned by :func:`attack`.

    The estimates are as private as the values they estimate: they are kept, never printed.
    """

    view: View
    estimate: Array
    """``(n,)`` best estimate of every private value; several replicas add an axis in front, vector data one at
    the end. NaN where a flat prior leaves nothing to go by; the observer's own values are exact."""
    std: Array
    """``(n,)``, or ``(replicas, n)``: standard deviation of the estimate's error."""
    error: Array
    """Estimate minus private value, same shape as :attr:`estimate`: for the researcher who knows the truth."""

    @property
    def standard_score(self) -> Array:
        """Error over its predicted deviation: standard normal if the prediction is right (NaN where it is 0)."""
        std = self.std if self.std.ndim == self.error.ndim else self.std[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(std > 0.0, self.error / std, np.nan)

    def __repr__(self) -> str:
        return f"<Attack by {self.view.describe()}: estimates of {self.std.shape[-1]} values>"


def attack(
    run: Solution,
    view: View,
    prior_std: float | npt.ArrayLike | None = 1.0,
    *,
    prior_mean: float | npt.ArrayLike = 0.0,
) -> Attack:
    """Estimate every private value as well as ``view`` can, from what it saw of a simulated run.

    Parameters
    ----------
    run
        A run of :class:`~sottovoce.NoiseInsertion` or :class:`~sottovoce.StandardGossip`; its messages are
        recomputed from the seed.
    view
        Who watches.
    prior_std, prior_mean
        What the observer believes beforehand about each honest value; one number or one per node.
        ``prior_std=None`` means a flat prior.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.path(3), [1.0, 5.0, 3.0], sv.StandardGossip(), num_steps=20, seed=2)
    >>> sv.privacy.attack(run, sv.privacy.CuriousNodes([0]), prior_std=None).estimate.round(9).tolist()
    [1.0, 5.0, 3.0]
    """
    graph = run.graph
    prepared = setting(graph, run.method, view)
    prior = checked_prior(prior_std, graph)
    centre = _checked_mean(prior_mean, graph)
    columns = run.private_values.reshape(graph.num_nodes, -1)
    found, deviations = [], []
    for replica in range(run.replicas):
        edges = run.fired_edges(replica=replica)
        draws = [run.draws(replica=replica, coordinate=k) for k in range(columns.shape[1])]
        shown = transcript(graph, run.method, edges, np.stack(draws, axis=-1), columns)
        estimate, std = estimates(prepared, edges, shown, prior, centre)
        own = prepared.group_of < 0
        estimate[own] = columns[own]
        found.append(estimate if run.private_values.ndim == 2 else estimate[:, 0])
        deviations.append(std)
    estimate, std = (found[0], deviations[0]) if run.replicas == 1 else (np.array(found), np.array(deviations))
    return Attack(view=view, estimate=estimate, std=std, error=estimate - run.private_values)


def transcript(
    graph: Graph, method: Method, fired_edges: npt.NDArray[np.int64], draws: Array, private_values: Array
) -> Array:
    """Every message of a run: the two noisy values that the ends of each fired edge show each other.

    Parameters
    ----------
    graph, method, fired_edges
        The run.
    draws
        ``(num_steps, 2, batch)`` standard normals for the ends in the order of ``graph.edges``.
    private_values
        ``(n, batch)`` or ``(n, 1)``.

    Returns
    -------
    Array
        ``(num_steps, 2, batch)``.
    """
    noise_std, noise_decay = noise_of(method, graph)
    amplitude, decay = noise_std.tolist(), noise_decay.tolist()
    batch = max(draws.shape[-1], private_values.shape[-1])
    values = np.broadcast_to(private_values, (graph.num_nodes, batch)).astype(np.float64)
    outstanding = np.zeros((graph.num_nodes, batch))
    shown = np.empty((len(fired_edges), 2, batch))
    ends = graph.edges.tolist()
    for step, edge in enumerate(fired_edges.tolist()):
        for side, node in enumerate(ends[edge]):
            fresh = amplitude[node] * draws[step, side]
            shown[step, side] = values[node] + (fresh - outstanding[node])
            outstanding[node] = fresh
            following = amplitude[node] * decay[node]
            amplitude[node] = following if following >= NEGLIGIBLE else 0.0
        values[ends[edge]] = 0.5 * (shown[step, 0] + shown[step, 1])
    return shown


def estimates(
    prepared: Setting, fired_edges: npt.NDArray[np.int64], shown: Array, prior: Array | None, prior_mean: Array
) -> tuple[Array, Array]:
    """Estimates ``(n, batch)`` and their deviations ``(n,)`` from the messages that the view heard.

    Messages on edges that the view does not hear are never read.
    """
    groups = prepared.groups
    known = [flat_start(len(g)) if prior is None else gaussian_start(prior[g]) for g in groups]
    batch = shown.shape[-1]
    guess = [np.tile(np.concatenate([prior_mean[g], prior_mean[g]])[:, None], (1, batch)) for g in groups]
    first_end = prepared.graph.edges[fired_edges, 0]
    for event in prepared.events(fired_edges):
        rows, half = guess[event.group], len(groups[event.group])
        here, there = half + event.first, half + event.second
        seen = event.move(known[event.group], half)
        if seen is None:
            rows[here] = rows[there] = 0.5 * (rows[here] + rows[there])
            continue
        own, other = shown[event.step - 1] if event.node == first_end[event.step - 1] else shown[event.step - 1, ::-1]
        rows += np.outer(seen[0], own - rows[here])
        rows[here] += 0.5 * (other - own)
    estimate = np.full((prepared.graph.num_nodes, batch), np.nan)
    std = np.zeros(prepared.graph.num_nodes)
    for members, part, rows in zip(groups, known, guess, strict=True):
        std[members] = part.std(slice(0, len(members)))
        estimate[members] = rows[: len(members)]
    estimate[np.isinf(std)] = np.nan
    return estimate, std


def _checked_mean(prior_mean: float | npt.ArrayLike, graph: Graph) -> Array:
    mean = np.asarray(prior_mean, dtype=np.float64)
    if mean.ndim > 1 or (mean.ndim == 1 and mean.shape != (graph.num_nodes,)) or not np.isfinite(mean).all():
        raise InvalidParameter(f"prior_mean must be one finite number or one per node ({graph.num_nodes})")
    return np.broadcast_to(mean, (graph.num_nodes,)).copy()
