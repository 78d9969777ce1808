"""The audit: exactly what a view reveals of every private value, step by step.

This is the one place that decides whether a method can be audited, and how. It asks the method what it releases
(:mod:`~sottovoce.methods.released`) and gives that description to the analyser that understands it, never looking
at the method's class. The attack that attains the posterior is :mod:`.attacks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, Unsupported
from ..foundation.arguments import number
from ..foundation.progress import Progress
from ..graphs.graph import Graph, check_graph
from ..methods.base import Array, Method
from ..methods.released import LinearRounds, LinearSystem, NotStated, Released
from .analysers import exchanges, rounds, steps_of_nodes
from .gaussian.guessing import checked_candidates
from .prior import checked_belief
from .report import Question, Report
from .view import CuriousNodes, EveryoneBut, View, honest_nodes

__all__ = ["audit", "audit_rounds", "find_analyser", "simulated_run"]


class Analyser(Protocol):
    """What every analyser of :data:`ANALYSERS` offers."""

    def supports(self, released: Released, view: View) -> bool: ...

    def checked_run(self, fired_edges: npt.ArrayLike, graph: Graph) -> Any: ...

    def audit(self, question: Question, released: Any, run: Any, progress: Progress) -> Report: ...

    def final_posterior(self, graph: Graph, released: Any, run: Any, view: View, prior: Array) -> Array: ...


ANALYSERS: tuple[Analyser, ...] = (exchanges, rounds, steps_of_nodes)


def audit(
    graph: Graph,
    method: Method,
    fired_edges: npt.ArrayLike,
    view: View,
    prior_std: float | npt.ArrayLike | Mapping[Any, Any] | None = 1.0,
    *,
    steps: Sequence[int] | npt.ArrayLike | None = None,
    tolerance: float = 1e-6,
    without_noise: bool = False,
    candidates: npt.ArrayLike | None = None,
    patience: float = 60.0,
    progress: Callable[[int, int], object] | bool | None = None,
) -> Report:
    """What ``view`` reveals of every private value in a run in which these edges fired.

    Given which edges fired, all that an observer sees is linear in the private values and independent draws, so for
    Gaussian draws its knowledge is exact linear-Gaussian inference. For Laplace draws the audit gives the best
    *linear* estimate, and the report says so.

    Parameters
    ----------
    graph, method
        The network, and any method that states messages under withdrawn noise (:class:`~sottovoce.NoiseInsertion`,
        :class:`~sottovoce.StandardGossip`), under seals or noise that stays (:class:`~sottovoce.SealedGossip`,
        :class:`~sottovoce.BudgetedNoiseInsertion`), or linear rounds (:class:`~sottovoce.MoMurray` and the other
        synchronous ones), one's own included.
    fired_edges
        ``(num_steps,)`` indices into ``graph.edges``, as ``run.fired_edges()`` gives them. For a method in rounds, in
        which no single edge fires: the number of rounds. For one in which one node acts in a step: the nodes.
    view
        Who watches: :class:`CuriousNodes`, :class:`WireTap`, :class:`EveryoneBut` or :class:`Pooled`. Rounds are
        audited for curious nodes and for everyone but one.
    prior_std
        τ > 0: what the observer believes beforehand is N(·, τ²) per honest value, independently. One
        number or one per node, also by name, as private values are given; or an ``(n, n)`` covariance matrix, if it
        believes that values go together. ``None`` means a flat prior: nothing is believed beforehand.
    steps
        Steps (or rounds) after which to record the history, in 0..num_steps. Default: every step of runs of up to
        500 steps, otherwise 251 evenly spaced ones.
    tolerance
        A value counts as disclosed when its flat-prior deviation (in rounds: its posterior deviation) is at most this
        share of its prior deviation. With a flat prior it is a share of the largest σ, or of 1 if that is zero (in
        rounds: always of 1).
    without_noise
        Audit the same messages with all noise left out, to see what the noise changes.
    candidates
        What a private value can be, if it is one of a few numbers (yes and no: ``[0, 1]``): the report then leads with
        how likely the best guess is right (:meth:`Report.guess_probability`).
    patience
        About how many seconds may go into more digits where those of doubles do not suffice. After them, as where no
        number of digits suffices, the report says *cannot decide* (``Report.undecided``).
    progress
        ``None``: a bar on standard error if it is a terminal and the audit takes longer than a second.
        ``False``: silence. A function is called with (steps done, steps in all).

    Returns
    -------
    Report

    Raises
    ------
    Unsupported
        If the method does not state what it releases, or no analyser understands it under this view.

    Examples
    --------
    Path 0–1–2, edges (0,1), (1,2), (0,1), seen by node 0:

    >>> import sottovoce as sv
    >>> graph, view = sv.graphs.path(3), sv.privacy.CuriousNodes([0])
    >>> method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5)
    >>> audit(graph, method, [0, 1, 0], view).posterior_std.round(6).tolist()
    [0.0, 0.645497, 0.816497]
    >>> audit(graph, method, [0, 1, 0], view, without_noise=True).posterior_std.tolist()
    [0.0, 0.0, 0.0]

    One round of a synchronous method, in which node 0 hears node 1 under noise of deviation 1:

    >>> audit(graph, sv.MoMurray(noise_std=1.0, noise_decay=0.5), 1, view).posterior_std.round(6).tolist()
    [0.0, 0.707107, 1.0]
    """
    check_graph(graph)
    analyser, released = find_analyser(graph, method, view)
    run = analyser.checked_run(fired_edges, graph)
    num_steps = run if isinstance(run, int) else len(run)
    if not 0.0 <= tolerance < 1.0:
        raise InvalidParameter(f"tolerance must be in [0, 1), got {tolerance:g}")
    prior, covariance = checked_belief(prior_std, graph)
    question = Question(
        graph=graph,
        method=method,
        view=view,
        num_steps=num_steps,
        prior_std=prior,
        steps=_checked_steps(steps, num_steps),
        tolerance=tolerance,
        patience=number("patience", patience, low=0.0),
        prior_covariance=covariance,
        candidates=None if candidates is None else checked_candidates(candidates)[0],
    )
    with Progress(num_steps, "auditing", report=progress) as bar:
        return analyser.audit(question, released.without_noise() if without_noise else released, run, bar)


def audit_rounds(
    graph: Graph,
    method: Method,
    view: CuriousNodes | EveryoneBut,
    prior_std: float | npt.ArrayLike | Mapping[Any, Any] | None = 1.0,
    *,
    num_rounds: int,
    tolerance: float = 1e-6,
) -> Report:
    """:func:`audit` of ``num_rounds`` rounds of a synchronous method, with every round recorded.

    Examples
    --------
    The triangle, where pairwise gossip keeps both values private for ever:

    >>> import sottovoce as sv
    >>> method = sv.MoMurray(noise_std=1.0, noise_decay=0.8)
    >>> report = audit_rounds(sv.graphs.complete(3), method, sv.privacy.CuriousNodes([0]), num_rounds=80)
    >>> report.history[[0, 1, 80]].round(3).tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.707, 0.707], [0.0, 0.0, 0.0]]
    >>> report.disclosed.tolist()
    [True, True, True]
    """
    check_graph(graph)
    if not method.releases(graph).in_rounds:
        raise Unsupported(f"audit_rounds covers methods in rounds, got {method.name}; use audit")
    return audit(graph, method, num_rounds, view, prior_std, steps=np.arange(num_rounds + 1), tolerance=tolerance)


def find_analyser(graph: Graph, method: Method, view: View) -> tuple[Analyser, Released]:
    """Who understands what the method releases, and that description.

    Raises
    ------
    Unsupported
        If nobody does; the sentence says why.
    """
    honest_nodes(view, graph)
    method.validate(graph)
    released = method.releases(graph)
    for analyser in ANALYSERS:
        if analyser.supports(released, view):
            return analyser, released
    if isinstance(released, NotStated):
        why = "is not analysed: it does not state what it releases (see sottovoce.methods.Method.releases)"
    elif isinstance(released, LinearRounds | LinearSystem):
        why = f"works in rounds or node by node, audited for CuriousNodes and EveryoneBut; got {type(view).__name__}"
    else:
        why = f"is not analysed: {released.words}"
    raise Unsupported(f"{method.name} {why}")


def simulated_run(graph: Graph, method: Method, *, num_steps: int, seed: int) -> npt.NDArray[np.int64] | int:
    """What :func:`audit` must know of a run of :func:`sottovoce.simulate`: the edges that fired, or how many rounds."""
    released = method.releases(graph)
    if released.in_rounds:
        return num_steps
    from ..simulation.replay import fired_edges

    return fired_edges(graph, num_steps=num_steps, seed=seed, method=method if released.by_nodes else None)


def _checked_steps(steps: Sequence[int] | npt.ArrayLike | None, num_steps: int) -> npt.NDArray[np.int64]:
    """The requested steps in increasing order."""
    if steps is None:
        wanted = np.arange(num_steps + 1) if num_steps <= 500 else np.linspace(0, num_steps, 251).round()
    else:
        wanted = np.atleast_1d(np.asarray(steps))
        whole = wanted.size == 0 or np.issubdtype(wanted.dtype, np.integer)
        if wanted.ndim != 1 or not whole or ((wanted < 0) | (wanted > num_steps)).any():
            raise InvalidParameter(f"steps must be whole numbers in 0..{num_steps}, got {steps!r}")
    return np.unique(wanted.astype(np.int64))
