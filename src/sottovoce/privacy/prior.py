"""What an observer believes of the private values before it sees anything, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import check_unmasked, checked, keys_of
from ..graphs.graph import Graph
from ..graphs.naming import by_node
from ..methods.base import Array

__all__ = ["checked_belief", "checked_mean", "checked_prior", "given_own"]


def checked_prior(prior_std: float | npt.ArrayLike | Mapping[Any, Any] | None, graph: Graph) -> Array | None:
    """``(n,)`` prior deviations, or ``None`` for a flat prior."""
    if prior_std is None:
        return None
    prior_std = _ordered("prior_std", prior_std, graph)
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
    checked("prior_std", prior, low=0.0, low_open=True, why="a flat prior is None, or --flat")
    return np.broadcast_to(prior, (graph.num_nodes,)).copy()


def checked_mean(prior_mean: float | npt.ArrayLike | Mapping[Any, Any], graph: Graph) -> Array:
    """``(n,)`` prior means."""
    mean = np.asarray(_ordered("prior_mean", prior_mean, graph), dtype=np.float64)
    if mean.ndim > 1 or (mean.ndim == 1 and mean.shape != (graph.num_nodes,)) or not np.isfinite(mean).all():
        raise InvalidParameter(f"prior_mean must be one finite number or one per node ({graph.num_nodes})")
    return np.broadcast_to(mean, (graph.num_nodes,)).copy()


def checked_belief(
    prior_std: float | npt.ArrayLike | Mapping[Any, Any] | None, graph: Graph
) -> tuple[Array | None, Array | None]:
    """Prior deviations as :func:`checked_prior` has them, and the covariance if one was given.

    Examples
    --------
    >>> import sottovoce as sv
    >>> deviations, covariance = checked_belief([[4.0, 1.0], [1.0, 1.0]], sv.graphs.path(2))
    >>> deviations.tolist()
    [2.0, 1.0]
    """
    given = _ordered("prior_std", prior_std, graph)
    if given is None or np.ndim(given) != 2:
        return checked_prior(given, graph), None
    covariance = np.array(given, dtype=np.float64)
    size = graph.num_nodes
    if covariance.shape != (size, size) or not np.isfinite(covariance).all():
        raise InvalidParameter(
            f"prior_std as a covariance must be a finite matrix of {size} rows and columns, "
            f"got shape {covariance.shape}"
        )
    scale = np.abs(covariance).max()
    if not np.allclose(covariance, covariance.T, rtol=0.0, atol=1e-12 * scale):
        raise InvalidParameter("prior_std as a covariance must be symmetric")
    if not np.linalg.eigvalsh(covariance)[0] > 1e-12 * scale:
        raise InvalidParameter("prior_std as a covariance must be positive definite: no value may follow from others")
    return np.sqrt(np.diag(covariance)), 0.5 * (covariance + covariance.T)


def given_own(covariance: Array, own: npt.NDArray[np.bool_]) -> Array:
    """The covariance that is left once the observer's own values are known; zero in their rows."""
    if not own.any():
        return covariance
    gain = np.linalg.solve(covariance[np.ix_(own, own)], covariance[own])
    left: Array = covariance - covariance[:, own] @ gain
    left[own] = left[:, own] = 0.0
    return left


def _ordered(name: str, given: Any, graph: Graph) -> Any:
    """Beliefs in the order of the nodes. By name they are given as private values are; a table of pandas is a
    covariance, whose rows and columns have the names.
    """
    check_unmasked(name, given)
    if keys_of(given) is None:
        return given
    rows = by_node(given, graph, name=name, error=InvalidParameter)
    columns = getattr(given, "columns", None)
    if columns is None or len(columns) != graph.num_nodes:
        return rows
    turned = dict(zip(columns, np.array(rows).T, strict=True))
    return np.array(by_node(turned, graph, name=name, error=InvalidParameter)).T
