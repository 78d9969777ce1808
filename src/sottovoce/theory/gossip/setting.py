"""What every statement of the theory starts from: how much noise, which seals, which values, at which steps.

Which edges fire how often is :class:`sottovoce.graphs.chances.Chances`. As there, rates are kept as *gaps*, 1 − r_i.
Bounds are in :mod:`.bounds`, the exact expectation in :mod:`.exact`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, Unsupported
from ...foundation.arguments import Array
from ...foundation.numbers import common_or
from ...graphs.chances import Chances
from ...graphs.graph import Graph
from ...graphs.values import checked_values
from ...methods import Method
from ...methods.released import FrozenNoise, Released, SealedNoise, WithdrawnNoise

__all__ = ["Noise", "as_steps", "centred"]


@dataclass(frozen=True, eq=False)
class Noise:
    """σ and φ of every node and the gap 1 − r_i = p_i (1 − φ_i²) of its squared amplitude."""

    std: Array
    decay: Array
    gap: Array
    seal_std: float = 0.0
    """s: every edge starts with a number of this deviation that cancels between its ends; 0 without seals."""
    draws: Array | None = None
    """``(n,)`` after how many draws the last noise of a node stays; ``None``: it is always withdrawn."""

    @classmethod
    def of(cls, method: Method, chances: Chances, *, frozen: bool = False) -> Noise:
        """Ask a method what it releases; standard gossip is noise insertion with σ = 0.

        Raises
        ------
        Unsupported
            For methods whose second moments do not follow this theory; where ``frozen`` is false, also for those
            that leave noise in place.
        """
        shown: Released = method.releases(chances.graph)
        seal = 0.0
        if isinstance(shown, SealedNoise):
            seal, shown = shown.seal_std, shown.after
        if not isinstance(shown, WithdrawnNoise | FrozenNoise):
            raise Unsupported(
                "method must average pairs under withdrawn noise for this theory, as StandardGossip and NoiseInsertion "
                f"do, got {method.name}"
            )
        draws = shown.draws if isinstance(shown, FrozenNoise) else None
        if draws is not None and not frozen:
            raise Unsupported(
                f"method must withdraw all its noise for this statement, got {method.name}, which leaves some in "
                "place; expected_error and the corrected error_bound cover it"
            )
        std, decay = shown.noise_std, shown.noise_decay
        return cls(std, decay, chances.nodes * ((1.0 - decay) * (1.0 + decay)), seal, draws)

    @property
    def variance(self) -> Array:
        """``(n,)`` σ_i²."""
        return self.std**2


def centred(graph: Graph, private_values: npt.ArrayLike | Mapping[Any, Any]) -> Array:
    """``(n, d)`` private values, given as :func:`sottovoce.simulate` takes them, minus their mean; numbers have d = 1.

    Raises
    ------
    InvalidValues
        If they do not fit the graph or an entry is not finite. The message contains no value.
    """
    values = checked_values(private_values, graph).reshape(graph.num_nodes, -1)
    result: Array = values - common_or(values.mean(axis=0), values)
    return result


def as_steps(num_steps: int | None, at: npt.ArrayLike | None) -> npt.NDArray[np.int64]:
    """The values of k to evaluate: 0..num_steps, or ``at`` where given.

    Raises
    ------
    InvalidParameter
        If neither is given, or a number is negative or not whole.
    """
    if at is None:
        if num_steps is None or int(num_steps) != num_steps or num_steps < 0:
            raise InvalidParameter(f"num_steps must be a whole number ≥ 0, got {num_steps}")
        return np.arange(int(num_steps) + 1)
    asked = np.atleast_1d(np.asarray(at))
    steps = asked.astype(np.int64)
    if asked.ndim != 1 or (asked != steps).any() or (steps < 0).any():
        raise InvalidParameter("at must be a list of whole numbers ≥ 0")
    return steps
