"""One row of a comparison: what was measured of one method's runs, beside what is known beforehand.

The factor by which the error shrinks per step is exact where it is known: for linear rounds from the eigenvalues of
their weights, for pairwise exchanges from the second-moment map (:func:`sottovoce.theory.asymptotic_rate`). Elsewhere
it is fitted, and only where the curve has come to its asymptote.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..graphs.graph import Graph
from ..methods import Method
from ..methods.released import SealedNoise, WithdrawnNoise
from ..simulation import Solution
from ..theory import asymptotic_rate
from .calibration import Calibration
from .observers import Leak

__all__ = ["Row", "exact_factor", "fitted_factor", "row_of"]

ROUNDING = 1e-24
"""Relative errors below this are rounding: no rate can be read from them."""
SETTLED = 0.1
"""Two stretches of a curve whose rates differ by less than this share are taken to be past its beginning."""
EXACT_NODES = 500
"""Beyond this many nodes the second-moment map takes too long."""


@dataclass(frozen=True)
class Row:
    """One method of a comparison. ``None``: not known, not defined, or not computed."""

    method: str
    steps: int
    messages: int
    relative_error: float
    """Median over replicas of ‖x − c̄‖²/‖c − c̄‖² at the end."""
    relative_error_low: float
    relative_error_high: float
    """10 % and 90 % quantiles of the same."""
    accuracy: float
    """Root mean square of x_i − c̄ over nodes, coordinates and replicas at the end, in the unit of the values."""
    messages_needed: float | None
    """Messages after which a run stays at the wanted accuracy: the median over replicas, to a record; ``None``: more
    than were sent, or no accuracy was asked for."""
    messages_needed_low: float | None
    messages_needed_high: float | None
    """10 % and 90 % quantiles of the same."""
    factor: float | None
    """Per step, of the mean-square error in the long run."""
    factor_source: str
    """``"exact"``, ``"fitted"`` (to the median curve, past its beginning), or empty."""
    factor_guaranteed: float | None
    """Per step, for the mean-square error or a potential that bounds it."""
    limit_predicted: float | None
    """Relative error that is left in the end, in expectation (gap oracle: at most)."""
    messages_per_decade: float | None
    """Messages per tenfold smaller error, from the factor."""
    noise_factor: float | None
    """By how much the method's own noise was multiplied, in a comparison at equal privacy."""
    prior_left: float | None
    """Share of the prior deviation that a curious node is left with of a neighbour's value: the median over pairs, and
    over schedules; 0 disclosed, 1 nothing learned."""
    prior_left_low: float | None
    prior_left_high: float | None
    """Smallest and largest over schedules."""
    worst_left: float | None
    """The same of the pair in which most is known."""
    worst_left_low: float | None
    worst_left_high: float | None
    left_exact: bool
    """False: by the best linear estimate; an observer may know more."""
    epsilon: float | None
    """For Laplace noise: ε for values one prior deviation apart."""
    known_share: float | None
    """Share of neighbours' values that observers know exactly, over all schedules."""
    neighbour: str
    """In words, where nothing was computed: what is released, or why not."""
    status: str
    needs: str
    """What a node must know that it cannot learn from its neighbours; empty: nothing."""


def row_of(run: Solution, leak: Leak, calibration: Calibration | None, accuracy: float | None) -> Row:
    """What a table says of one run."""
    errors = np.atleast_2d(run.relative_error)
    final = errors[:, -1]
    scale = run.scale
    known = run.method.guarantee(run.graph)
    factor, source = _factor(run, errors)
    needed = _needed(run, errors * scale / run.private_values.size, accuracy)
    median, worst = leak.median, leak.worst
    return Row(
        method=run.method.label(),
        steps=run.num_steps,
        messages=int(run.transmissions[-1]),
        relative_error=float(np.median(final)),
        relative_error_low=float(np.quantile(final, 0.1)),
        relative_error_high=float(np.quantile(final, 0.9)),
        accuracy=float(np.sqrt(final.mean() * scale / run.private_values.size)),
        messages_needed=needed[1],
        messages_needed_low=needed[0],
        messages_needed_high=needed[2],
        factor=factor,
        factor_source=source,
        factor_guaranteed=known.factor,
        limit_predicted=None if known.remaining is None else run.num_coordinates * known.remaining / scale,
        messages_per_decade=_per_decade(run, factor),
        noise_factor=None if calibration is None else calibration.factor,
        prior_left=None if median is None else median.value,
        prior_left_low=None if median is None else median.low,
        prior_left_high=None if median is None else median.high,
        worst_left=None if worst is None else worst.value,
        worst_left_low=None if worst is None else worst.low,
        worst_left_high=None if worst is None else worst.high,
        left_exact=leak.exact,
        epsilon=leak.epsilon,
        known_share=leak.known,
        neighbour=leak.words,
        status=str(run.status),
        needs=run.method.needs(),
    )


def _factor(run: Solution, errors: npt.NDArray[np.float64]) -> tuple[float | None, str]:
    exact = exact_factor(run.graph, run.method)
    if exact is not None:
        return exact, "exact"
    fitted = fitted_factor(run.steps, np.median(errors, axis=0)) if np.isfinite(errors).all() else None
    return fitted, "" if fitted is None else "fitted"


def exact_factor(graph: Graph, method: Method) -> float | None:
    """The factor of the mean-square error per step in the long run, where it is known exactly; edges equally likely.

    Examples
    --------
    >>> import sottovoce as sv
    >>> round(exact_factor(sv.graphs.complete(4), sv.StandardGossip()), 9)
    0.666666667
    >>> exact_factor(sv.graphs.complete(4), sv.PushSum()) is None
    True
    """
    known = method.guarantee(graph)
    if known.attained and known.factor is not None and known.remaining == 0.0:
        return known.factor
    released = method.releases(graph)
    if isinstance(released, SealedNoise):
        released = released.after  # seals change where it starts, not how fast it goes
    if not isinstance(released, WithdrawnNoise) or graph.num_nodes > EXACT_NODES or method.lazy:
        return None
    from ..methods import NoiseInsertion

    return asymptotic_rate(graph, NoiseInsertion(released.noise_std, released.noise_decay)).rate


def fitted_factor(steps: npt.NDArray[np.int64], errors: npt.NDArray[np.float64]) -> float | None:
    """The factor per step of a curve that falls geometrically in the end; ``None`` before its asymptote.

    Least squares on the logarithm over the later half. That half must fall by a factor of ten at least, and its two
    quarters must have the same rate, to a tenth: otherwise the curve has not come to one rate yet, or has come to rest.
    What lies below :data:`ROUNDING` is not used.

    Examples
    --------
    >>> steps = np.arange(100)
    >>> round(fitted_factor(steps, 0.9**steps), 9)
    0.9
    >>> fitted_factor(steps, 0.5**steps + 1e-3 * 0.99**steps) is None
    True
    """
    below = np.flatnonzero(~(errors > ROUNDING))
    end = int(below[0]) if len(below) else len(errors)
    begin = end // 2
    if end - begin < 8:
        return None
    middle = (begin + end) // 2
    early, late, whole = (_slope(steps[a:b], errors[a:b]) for a, b in ((begin, middle), (middle, end), (begin, end)))
    falls = -whole * float(steps[end - 1] - steps[begin])
    if falls < np.log(10.0) or abs(late - early) > SETTLED * abs(whole):
        return None
    return float(np.exp(whole))


def _slope(steps: npt.NDArray[np.int64], errors: npt.NDArray[np.float64]) -> float:
    return float(np.polyfit(steps - steps[0], np.log(errors), 1)[0])


def _per_decade(run: Solution, factor: float | None) -> float | None:
    if factor is None or not 0.0 < factor < 1.0:
        return None
    return float(run.method.messages_per_step(run.graph) / -np.log10(factor))


def _needed(
    run: Solution, squares: npt.NDArray[np.float64], accuracy: float | None
) -> tuple[float | None, float | None, float | None]:
    """10 %, 50 % and 90 % quantiles of the messages after which runs stay accurate; ``None`` where they do not."""
    if accuracy is None:
        return None, None, None
    above = ~(squares <= accuracy**2)
    last = above.shape[1] - 1 - np.argmax(above[:, ::-1], axis=1)
    first = np.where(above.any(axis=1), last + 1, 0)
    sent = np.append(run.transmissions.astype(np.float64), np.inf)[first]
    # With these methods a quantile is one of the runs, so that an infinite one spoils no other.
    found = np.quantile(sent, (0.1, 0.5, 0.9), method="inverted_cdf").tolist()
    low, middle, high = (number if np.isfinite(number) else None for number in found)
    return low, middle, high
