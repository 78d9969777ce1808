"""Theorem 1 and its corollary: as printed, as they should read, and sharpened.

All bounds are on E G_k, G_k = ½‖x^k − c̄‖². ρ is the contraction factor of standard gossip, r_i the
factor by which node i's squared noise amplitude shrinks per step in expectation, ψ^t the noise envelope.
The first three forms differ in one place each:

printed
    ψ^t where ψ^{t−1} belongs. False already after one step; kept to be compared with.
corrected
    E G_k ≤ ρ^k G_0 + N Σ_{t=1}^{k} ρ^{k−t} ψ^{t−1}. An equality on complete graphs with equally likely edges.
sharpened
    corrected minus ¼ Σ_i (p_i/(n−1) − α_p/n) Σ_{t<k} ρ^{k−1−t} E u_i²(t), which is never negative.
resolvent
    another statement, with nearly the true rate in place of ρ: :mod:`.resolvent`.

Seals of deviation s add s² m to G_0 in all of them. Noise that stays in place is in :mod:`.frozen`.

The expectation itself is in :mod:`.exact`. The proof is in the documentation (explanation/theorem).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter
from ...foundation.arguments import Array, checked, per_node
from ...graphs.chances import Chances
from ...graphs.graph import Graph
from ...methods import Method
from ...methods.noise_insertion import free_decay
from .frozen import frozen_bound
from .many import noise_sums, noise_sums_from_start, weighted_sums
from .resolvent import proved_free_decay, resolvent_bound
from .setting import Noise, as_steps, centred
from .sums import geometric_sum, power

__all__ = [
    "Form",
    "contraction_factor",
    "corollary_bound",
    "error_bound",
    "noise_envelope",
    "outstanding_variance",
    "slowest_nodes",
    "threshold_decay",
]

Form = Literal["printed", "corrected", "sharpened", "resolvent"]

FORMS: tuple[Form, ...] = get_args(Form)


def contraction_factor(graph: Graph, *, edge_probabilities: npt.ArrayLike | None = None) -> float:
    """ρ = 1 − α/(2m): the factor by which standard gossip shrinks E G per step, at the least.

    With edge probabilities p_e it is 1 − λ₂(Σ p_e b_e b_eᵀ)/2.

    Examples
    --------
    >>> from sottovoce.graphs import complete, cycle
    >>> round(contraction_factor(cycle(10)), 7)
    0.9809017
    >>> contraction_factor(complete(3))
    0.5
    """
    return 1.0 - Chances.connecting(graph, edge_probabilities).contraction_gap


def threshold_decay(
    graph: Graph,
    *,
    form: Literal["corollary", "resolvent"] = "corollary",
    edge_probabilities: npt.ArrayLike | None = None,
) -> Array:
    """``(n,)`` the largest φ_i that leaves a rate alone: the guaranteed one, or the one that runs really have.

    Parameters
    ----------
    graph
        Who can talk to whom.
    form
        ``"corollary"``: √(1 − α/(2 d_i)), or √(1 − α_p/(2 p_i)) with edge probabilities. Node i slows the *proved*
        rate ρ exactly when its φ is above this (r_i > ρ); a run already slows at a smaller φ, except on complete
        graphs, where ρ is the true rate. By Fiedler's α ≤ n d_min/(n − 1) the root is real.
        ``"resolvent"``: the largest φ_i that is proved to leave the true rate of a run alone, from the lower bound on
        that rate (:func:`~sottovoce.theory.rate_bounds`).
    edge_probabilities
        ``(m,)`` chance of each edge, or ``None`` for equal ones.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> float(threshold_decay(cycle(10))[0].round(7))
    0.9510565
    >>> float(threshold_decay(cycle(10), form="resolvent")[0].round(4))
    0.904
    """
    if form not in ("corollary", "resolvent"):
        raise InvalidParameter(f"form must be corollary or resolvent, got {form!r}")
    if form == "resolvent":
        return proved_free_decay(graph, edge_probabilities=edge_probabilities)[0]
    chances = Chances.connecting(graph, edge_probabilities)
    return free_decay(chances.contraction_gap, chances.nodes)


def noise_envelope(
    graph: Graph,
    method: Method,
    num_steps: int | None = None,
    *,
    at: npt.ArrayLike | None = None,
    edge_probabilities: npt.ArrayLike | None = None,
) -> Array:
    """ψ^t = Σ d_i σ_i² r_i^t / Σ d_i σ_i² for t = 0..num_steps (or at the steps ``at``).

    It starts at one and falls; without any noise it is zero throughout.

    Examples
    --------
    >>> from sottovoce import NoiseInsertion
    >>> from sottovoce.graphs import complete
    >>> noise_envelope(complete(2), NoiseInsertion(noise_std=1.0, noise_decay=0.5), 3).round(9).tolist()
    [1.0, 0.25, 0.0625, 0.015625]
    """
    chances = Chances.connecting(graph, edge_probabilities)
    noise = Noise.of(method, chances)
    steps = as_steps(num_steps, at)
    weights = chances.nodes * noise.variance
    total = float(weights.sum())
    if total == 0.0:
        return np.zeros(len(steps))
    return weighted_sums(lambda k, gap: power(gap, k), steps, noise.gap, weights / total)


def slowest_nodes(
    graph: Graph, method: Method, *, edge_probabilities: npt.ArrayLike | None = None
) -> npt.NDArray[np.int64]:
    """The paper's set M: the noisy nodes whose factor r_i is the largest (up to rounding).

    Raising φ of any other node a little does not change the rate. Nodes with σ_i = 0 never count.

    Examples
    --------
    >>> from sottovoce import NoiseInsertion
    >>> from sottovoce.graphs import star
    >>> slowest_nodes(star(4), NoiseInsertion(noise_std=1.0, noise_decay=0.5)).tolist()
    [1, 2, 3]
    """
    chances = Chances.connecting(graph, edge_probabilities)
    noise = Noise.of(method, chances)
    noisy = np.flatnonzero((noise.std > 0) & (chances.nodes > 0))
    gaps = noise.gap[noisy]
    return np.asarray(noisy[gaps <= gaps.min(initial=1.0) * (1.0 + 1e-12)], dtype=np.int64)


def outstanding_variance(
    graph: Graph,
    method: Method,
    at: npt.ArrayLike,
    *,
    edge_probabilities: npt.ArrayLike | None = None,
) -> Array:
    """``(len(at), n)`` E u_i², the variance of the noise node i has put in and not yet withdrawn.

    It is σ_i² φ_i^{−2} (r_i^t − (1 − p_i)^t), evaluated as σ_i² p_i Σ_{s=1}^{t} r_i^{t−s} (1 − p_i)^{s−1},
    which has no cancellation and is right at φ_i = 0 (exactly one activation so far).

    Examples
    --------
    >>> from sottovoce import NoiseInsertion
    >>> from sottovoce.graphs import complete
    >>> outstanding_variance(complete(2), NoiseInsertion(noise_std=2.0, noise_decay=0.5), [0, 1, 2]).tolist()
    [[0.0, 0.0], [4.0, 4.0], [1.0, 1.0]]
    """
    chances = Chances.connecting(graph, edge_probabilities)
    noise = Noise.of(method, chances)
    steps = as_steps(None, at)[:, None]
    return noise.variance * chances.nodes * geometric_sum(steps, noise.gap, chances.nodes)


def error_bound(
    graph: Graph,
    private_values: npt.ArrayLike | Mapping[Any, Any],
    method: Method,
    num_steps: int | None = None,
    form: Form = "corrected",
    *,
    at: npt.ArrayLike | None = None,
    edge_probabilities: npt.ArrayLike | None = None,
    connectivity: float | None = None,
) -> Array:
    """The bound of Theorem 1 on E[½‖x^k − c̄‖²], for k = 0..num_steps, or the resolvent bound.

    Parameters
    ----------
    graph, private_values, method
        As for :func:`sottovoce.simulate`; the method is standard gossip, noise insertion or sealed gossip, and for the
        corrected form also budgeted noise insertion. Values may have several columns: the bounds of the columns add up.
    num_steps
        The last k. May be left out if ``at`` is given.
    form
        ``"corrected"``, ``"sharpened"``, ``"resolvent"`` (nearly the true rate), or ``"printed"`` (the published one,
        which is false).
    at
        Evaluate at these k only, in any order; k up to 10⁷ and beyond costs the same as k = 1.
    edge_probabilities
        ``(m,)`` chance of each edge, or ``None`` for equal ones.
    connectivity
        α(G) of the equally likely edges, or λ₂(Σ p_e b_e b_eᵀ) of the given ones, if it is already known:
        the eigenvalue costs far more than the bound.

    Returns
    -------
    ndarray
        ``(num_steps + 1,)`` or ``(len(at),)``.

    Examples
    --------
    On two nodes with equal values the truth is (σ²/2) φ^{2(k−1)}. The corrected bound meets it; the
    printed one is smaller than the truth.

    >>> from sottovoce import NoiseInsertion
    >>> from sottovoce.graphs import complete
    >>> method = NoiseInsertion(noise_std=1.0, noise_decay=0.7)
    >>> error_bound(complete(2), [3.0, 3.0], method, 3).round(5).tolist()
    [0.0, 0.5, 0.245, 0.12005]
    >>> error_bound(complete(2), [3.0, 3.0], method, 3, form="printed").round(5).tolist()
    [0.0, 0.245, 0.12005, 0.05882]
    """
    if form not in FORMS:
        raise InvalidParameter(f"form must be one of {', '.join(FORMS)}, got {form!r}")
    if form == "resolvent":
        return resolvent_bound(graph, private_values, method, num_steps, at=at, edge_probabilities=edge_probabilities)
    if connectivity is not None and edge_probabilities is None:
        connectivity = connectivity / graph.num_edges
    chances = Chances.connecting(graph, edge_probabilities, connectivity)
    noise = Noise.of(method, chances, frozen=form == "corrected")
    values = centred(graph, private_values)
    steps = as_steps(num_steps, at)
    start = 0.5 * float(np.sum(values**2)) + values.shape[1] * noise.seal_std**2 * graph.num_edges
    if noise.draws is not None:
        return frozen_bound(start, noise, values.shape[1], chances, steps)
    rho_gap = chances.contraction_gap
    weights = 0.25 * values.shape[1] * chances.nodes * noise.variance
    if form == "printed":
        weights = weights * (1.0 - noise.gap)
    noisy = (noise.std > 0) & (chances.nodes > 0)
    bound: Array = start * power(rho_gap, steps)
    if not noisy.any():
        return bound
    chance, saved = chances.nodes[noisy], None
    if form == "sharpened":
        bracket = np.maximum(chance / (graph.num_nodes - 1) - chances.alpha / graph.num_nodes, 0.0)
        saved = 0.25 * values.shape[1] * bracket * noise.variance[noisy] * chance
    terms = rho_gap, noise.gap[noisy], chance, weights[noisy], saved
    every = noise_sums_from_start(int(num_steps or 0), *terms) if at is None else None
    return bound + (noise_sums(steps, *terms) if every is None else every)


def corollary_bound(
    graph: Graph,
    private_values: npt.ArrayLike | Mapping[Any, Any],
    noise_std: float | npt.ArrayLike,
    gamma: float,
    num_steps: int | None = None,
    *,
    form: Literal["printed", "corrected"] = "corrected",
    at: npt.ArrayLike | None = None,
    edge_probabilities: npt.ArrayLike | None = None,
) -> Array:
    """The corollary: with φ_i = √(1 − γ/d_i), E G_k ≤ R^k G_0 + N k R^{k−1}, R = max(ρ, 1 − γ/m).

    The printed corollary has N k R^k and is false with the theorem. γ = α/2 gives the largest φ_i that do not
    slow the guaranteed rate. With edge probabilities φ_i = √(1 − γ/(m p_i)).

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> corollary_bound(complete(2), [0.0, 0.0], 1.0, 0.51, 3).round(5).tolist()
    [0.0, 0.5, 0.49, 0.36015]
    """
    chances = Chances.connecting(graph, edge_probabilities)
    std = per_node("noise_std", checked("noise_std", noise_std, low=0.0), graph.num_nodes)
    most = graph.num_edges * float(chances.nodes.min())
    if not 0.0 < gamma <= most * (1 + 1e-12):
        raise InvalidParameter(f"gamma must be in (0, {most:g}] (the smallest degree), got {gamma:g}")
    if form not in ("printed", "corrected"):
        raise InvalidParameter(f"form must be printed or corrected, got {form!r}")
    values, steps = centred(graph, private_values), as_steps(num_steps, at)
    gap = min(chances.contraction_gap, gamma / graph.num_edges)
    level = 0.25 * values.shape[1] * float(np.sum(chances.nodes * std**2))
    lag = steps if form == "printed" else np.maximum(steps - 1, 0)
    return np.asarray(0.5 * float(np.sum(values**2)) * power(gap, steps) + level * steps * power(gap, lag))
