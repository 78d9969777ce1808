"""The attack: the optimal estimate of every private value, computed from what a view saw of a run.

It is the estimator whose error :mod:`.auditing` predicts: run on simulated transcripts its error has
exactly the posterior deviation. The computation is :mod:`.analysers.transcripts`. The attack on noise-free gossip
by row space is :mod:`.analysers.row_space`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import Unsupported
from ..graphs.graph import Graph
from ..methods.base import Array, Method
from ..methods.released import NotStated, Released
from .analysers import round_transcripts
from .analysers.exchanges import supports
from .analysers.model import exchange_model
from .analysers.transcripts import at_both_ends, estimates, transcript
from .prior import checked_belief, checked_mean
from .view import View, honest_nodes

if TYPE_CHECKING:
    from ..simulation import Solution

__all__ = ["Attack", "attack"]


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """What the observer believes after the run; returned by :func:`attack`.

    The estimates are as private as the values they estimate: they are kept, never printed.
    """

    view: View
    estimate: Array
    """``(n,)`` best estimate of every private value; several replicas add an axis in front, vector data one at
    the end. NaN where, under a flat prior, nothing is known; the observer's own values are exact."""
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
    prior_std: float | npt.ArrayLike | Mapping[Any, Any] | None = 1.0,
    *,
    prior_mean: float | npt.ArrayLike | Mapping[Any, Any] = 0.0,
) -> Attack:
    """Estimate every private value as well as ``view`` can, from what it saw of a simulated run.

    Parameters
    ----------
    run
        A run of a method that states exchanges under noise or seals, such as :class:`~sottovoce.NoiseInsertion`,
        :class:`~sottovoce.SealedGossip` or :class:`~sottovoce.StandardGossip`, or broadcasts in rounds under Gaussian
        noise, such as :class:`~sottovoce.MoMurray`, :class:`~sottovoce.IncrementalAveraging` or one's own; its messages
        are recomputed from the seed.
    view
        Who watches.
    prior_std, prior_mean
        What the observer believes beforehand about each honest value; one number or one per node, also by name.
        ``prior_std`` may also be a covariance matrix. ``prior_std=None`` means a flat prior.

    Raises
    ------
    Unsupported
        If the method states something else, or nothing.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.path(3), [1.0, 5.0, 3.0], sv.StandardGossip(), num_steps=20, seed=2)
    >>> sv.privacy.attack(run, sv.privacy.CuriousNodes([0]), prior_std=None).estimate.round(9).tolist()
    [1.0, 5.0, 3.0]
    """
    graph, released = run.graph, run.method.releases(run.graph)
    honest_nodes(view, graph)
    how = _way(run.method, released, view, graph)
    deviations, covariance = checked_belief(prior_std, graph)
    prior = deviations if covariance is None else covariance
    centre = checked_mean(prior_mean, graph)
    columns = run.private_values.reshape(graph.num_nodes, -1)
    own = view.observers(graph)
    believed = np.tile(centre[:, None], (1, columns.shape[1]))
    if covariance is not None and own.any():
        surprise = np.linalg.solve(covariance[np.ix_(own, own)], columns[own] - believed[own])
        believed = believed + covariance[:, own] @ surprise
    found, spreads = [], []
    for replica in range(run.replicas):
        estimate, std = how(run, view, replica, prior, believed)
        estimate[own] = columns[own]
        found.append(estimate if run.private_values.ndim == 2 else estimate[:, 0])
        spreads.append(std)
    estimate, std = (found[0], spreads[0]) if run.replicas == 1 else (np.array(found), np.array(spreads))
    return Attack(view=view, estimate=estimate, std=std, error=estimate - run.private_values)


Way = Callable[["Solution", View, int, "Array | None", Array], tuple[Array, Array]]


def _way(method: Method, released: Released, view: View, graph: Graph) -> Way:
    """How a run is attacked: as exchanges, or as broadcasts in rounds.

    Raises
    ------
    Unsupported
        If it is not; one sentence says why.
    """
    if supports(released, view):
        return _exchanges
    if round_transcripts.supports(method, released, view):
        if round_transcripts.says_its_messages(method, released, graph):
            return _broadcasts
        raise Unsupported(
            f"the attack does not analyse {method.name}: it states what its messages tell, not the messages; audit it"
        )
    if isinstance(released, NotStated):
        raise Unsupported(f"the attack does not analyse {method.name}: it does not state what it releases")
    raise Unsupported(
        f"the attack does not analyse {method.name}, seen by {view.describe()}: {released.words}; it covers exchanges "
        "under noise or seals, and broadcasts in rounds under Gaussian noise that curious nodes hear"
    )


def _broadcasts(run: Solution, view: View, replica: int, prior: Array | None, believed: Array) -> tuple[Array, Array]:
    graph = run.graph
    heard = round_transcripts.messages(run, view.observers(graph), replica)
    released = run.method.releases(graph)
    return round_transcripts.estimates(graph, released, view, heard, prior=prior, believed=believed)


def _exchanges(run: Solution, view: View, replica: int, prior: Array | None, believed: Array) -> tuple[Array, Array]:
    from ..simulation.edge_noise import edge_numbers
    from ..simulation.random.streams import Stream

    graph, released = run.graph, run.method.releases(run.graph)
    model = exchange_model(graph, released, view, prior)  # type: ignore[arg-type]
    columns = run.private_values.reshape(graph.num_nodes, -1)
    own = model.group_of < 0
    own_edges = own[graph.edges[:, 0]] | own[graph.edges[:, 1]]
    edges = run.fired_edges(replica=replica)
    draws = [run.draws(replica=replica, coordinate=k) for k in range(columns.shape[1])]
    streams = [Stream(run.seed, replica, k) for k in range(columns.shape[1])]
    seals = np.stack([edge_numbers(run.method, graph, stream) for stream in streams], axis=-1)
    shown = transcript(graph, released, edges, np.stack(draws, axis=-1), columns + at_both_ends(graph, seals))  # type: ignore[arg-type]
    known = at_both_ends(graph, np.where(own_edges[:, None], seals, 0.0))
    return estimates(model, edges, shown, prior, believed, known)
