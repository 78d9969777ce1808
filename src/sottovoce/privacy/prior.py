"""What an observer believes of the private values before it sees anything, checked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..graphs.graph import Graph
from ..methods.base import Array

__all__ = ["checked_mean", "checked_prior"]


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


def checked_mean(prior_mean: float | npt.ArrayLike, graph: Graph) -> Array:
    """``(n,)`` prior means."""
    mean = np.asarray(prior_mean, dtype=np.float64)
    if mean.ndim > 1 or (mean.ndim == 1 and mean.shape != (graph.num_nodes,)) or not np.isfinite(mean).all():
        raise InvalidParameter(f"prior_mean must be one finite number or one per node ({graph.num_nodes})")
    return np.broadcast_to(mean, (graph.num_nodes,)).copy()
