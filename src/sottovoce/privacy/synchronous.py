"""Privacy of the synchronous and the differentially private methods, where the literature has formulas.

Mo and Murray's covariance by their Riccati recursion; ε of Nozari, Tallapragada, Cortés and of Huang, Mitra, Dullerud;
μ of pairwise-cancelling noise: these are functions of :mod:`sottovoce.theory`, gathered here under the same names.
Exact information of one noisy start followed by averaging is added. Inference round by round is :mod:`.rounds`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..theory import cancelling_mu, huang_epsilon, mo_murray_disclosure, nozari_epsilon, seen_share

__all__ = ["cancelling_mu", "huang_epsilon", "mo_murray_disclosure", "nozari_epsilon", "one_draw_information"]

Array = npt.NDArray[np.float64]


def one_draw_information(weights: npt.ArrayLike, observer: int, *, noise_std: float, num_rounds: int) -> Array:
    """Fisher information about every value when each node adds one Gaussian draw and then averages by W.

    That is Muffliato's setting (Cyffers et al. 2022). The messages a node hears in rounds 0 … ``num_rounds`` − 1
    are B(c + draws), so the information about c_u is e_uᵀB⁺B e_u/σ²; the observer knows its own value and
    draw. Adding up the messages one by one understates it, because they share the draws.

    Returns
    -------
    Array
        ``(n,)``; infinite for the observer.

    Examples
    --------
    Path 0–1–2 with W = I − L/3: after two rounds node 0 has all of node 2's noisy value.

    >>> L = np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]])
    >>> one_draw_information(np.eye(3) - L / 3, 0, noise_std=1.0, num_rounds=2).round(9).tolist()
    [inf, 1.0, 1.0]
    """
    if not noise_std > 0.0:
        raise InvalidParameter(f"noise_std must be above 0, got {noise_std:g}")
    information: Array = seen_share(weights, [observer], num_rounds) / noise_std**2
    information[observer] = np.inf
    return information
