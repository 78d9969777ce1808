"""Noise that stays: the exact expectation and a bound for budgeted noise insertion.

A node draws T_i times; all draws but the last are withdrawn at its next activation, and the last stays in its value.
So y, the values less the noise that will still be withdrawn, takes fresh noise in two ways (:mod:`.exact`):

    f before the last draw:  y⁺ = W_e y − ½ f b_e,                  E f² = σ_i² Σ_{c<T_i−1} φ_i^{2c} P(N_i = c),
    the last draw:           y⁺ = W_e y + ½ f (e_i + e_j),          E f² = a_i² P(N_i = T_i − 1),

with N_i ~ Bin(t, p_i) the activations before step t, a_i = σ_i φ_i^{T_i−1} what stays, and E‖x − c̄‖² = E‖y − c̄‖² as
before, because noise that stays is part of y. The second kind moves the mean: E[(n/2)(mean y − c̄)²] is
(1/2n) Σ a_i² P(N_i ≥ T_i) after k steps, in closed form. What is left is centred and follows the same map T as ever.

*Bound.* T shrinks centred second moments by ρ at the least, and a step adds ¼ Σ p_i v_i to half their trace for draws
of the first kind, and ¼ (1 − 2/n) Σ p_i w_i for the second (½‖½ Π(e_i + e_j)‖² = ¼ (1 − 2/n)). Unroll. ∎
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...foundation.arguments import Array
from ...graphs.chances import Chances, both_ends
from .setting import Noise
from .sums import power

__all__ = ["frozen_bound", "frozen_mean_error", "kept_injection", "withdrawn_and_kept"]

Steps = npt.NDArray[np.int64]

_BLOCK = 2_000_000
"""Numbers in flight at once."""


def frozen_mean_error(noise: Noise, columns: int, chances: Chances, steps: Steps) -> Array:
    """``(len(steps),)`` (1/2n) Σ a_i² P(N_i ≥ T_i): what noise that stays does to the mean."""
    import scipy.stats

    draws, last = _kinds(noise)
    kinds, counts = np.unique(np.stack([draws, last, chances.nodes]), axis=1, return_counts=True)
    reached = scipy.stats.binom.sf(kinds[0] - 1.0, steps[:, None], kinds[2])
    return np.asarray(columns / (2.0 * len(last)) * (reached @ (counts * kinds[1] ** 2)))


def withdrawn_and_kept(noise: Noise, chances: Chances, last: int) -> Iterator[tuple[Array, Array]]:
    """For t = 0..last−1 the ``(n,)`` variances of fresh noise that is withdrawn later, and of noise that stays."""
    width = max(1, _BLOCK // len(noise.std))
    for begin in range(0, last, width):
        block = _variances(noise, chances, np.arange(begin, min(begin + width, last)))
        yield from zip(*block, strict=True)


def _kinds(noise: Noise) -> tuple[Array, Array]:
    """T, and the deviation a of what stays."""
    assert noise.draws is not None
    return noise.draws, noise.std * noise.decay ** (noise.draws - 1.0)


def _variances(noise: Noise, chances: Chances, steps: Steps) -> tuple[Array, Array]:
    """``(len(steps), n)`` each. Σ_{c<T−1} φ^{2c} P(Bin(t, p) = c) is r^t P(Bin(t, pφ²/r) < T − 1)."""
    import scipy.stats

    draws, last = _kinds(noise)
    t, ratio = steps[:, None], 1.0 - noise.gap
    tilted = np.divide(chances.nodes * noise.decay**2, ratio, out=np.zeros_like(ratio), where=ratio > 0)
    before = noise.std**2 * power(noise.gap, t) * scipy.stats.binom.cdf(draws - 2.0, t, np.minimum(tilted, 1.0))
    return before, last**2 * scipy.stats.binom.pmf(draws - 1.0, t, chances.nodes)


def frozen_bound(start: float, noise: Noise, columns: int, chances: Chances, steps: Steps) -> Array:
    """The corrected bound with noise that stays, from ½ tr Y_0 = ``start``."""
    rho, shift = 1.0 - chances.contraction_gap, 1.0 - 2.0 / len(noise.std)
    last = int(steps.max(initial=0))
    every = np.empty(last + 1)
    every[0] = disagreement = start
    for t, (withdrawn, kept) in enumerate(withdrawn_and_kept(noise, chances, last)):
        disagreement = rho * disagreement + 0.25 * columns * float(chances.nodes @ (withdrawn + shift * kept))
        every[t + 1] = disagreement
    return every[steps] + frozen_mean_error(noise, columns, chances, steps)


def kept_injection(chances: Chances, kept: Array, ends: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]) -> Array:
    """Σ_e p_e ¼ (w_i + w_j) (e_i + e_j)(e_i + e_j)ᵀ."""
    i, j = ends
    size = len(kept)
    strength = 0.25 * chances.edges * (kept[i] + kept[j])
    result = np.zeros((size, size))
    result[i, j] = result[j, i] = strength
    result[np.diag_indices(size)] = both_ends(chances.graph, strength)
    return result
