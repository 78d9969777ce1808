"""Broadcasts in rounds, linear in private values and noise: what curious nodes learn round by round.

A curious node hears all messages of its neighbours. One rule covers every method that describes itself as
:class:`~sottovoce.methods.released.LinearRounds`: s = z + noise, z ← kept·z + moved·s; those who remember more are
followed by :mod:`.systems`. The arithmetic is that of
:mod:`..gaussian.knowledge`, exact for Gaussian noise. For other laws it gives the best *linear* estimate, which needs
variances only. Formulas for the long run are :mod:`..synchronous`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter
from ...foundation.arguments import per_node, whole
from ...foundation.progress import Progress
from ...graphs.graph import Graph
from ...methods.base import Array
from ...methods.released import LinearRounds, LinearSystem, Released
from ..gaussian.knowledge import Knowledge
from ..prior import given_own
from ..report import Question, RoundsReport
from ..view import CuriousNodes, EveryoneBut, View, honest_nodes
from .recheck import SLACK
from .systems import System

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["audit", "checked_run", "final_posterior", "started", "supports"]

AGREEMENT = 1e-5
"""Two ways through the same system may differ by this share of the prior deviation."""

# Blocks of rows: private values, values, messages, and what a node has added and not yet taken back.
PRIVATE, VALUE, MESSAGE, ADDED = range(4)


Rounds = LinearRounds | LinearSystem
Run = int | npt.NDArray[np.int64]
"""How many rounds, or which node acted in every step."""


def supports(released: Released, view: View) -> TypeGuard[Rounds]:
    """Linear rounds, and views that consist of nodes: what a tap hears of a broadcast is not modelled."""
    return isinstance(released, Rounds) and released.in_rounds and isinstance(view, CuriousNodes | EveryoneBut)


def checked_run(fired_edges: npt.ArrayLike, graph: Graph) -> int:  # noqa: ARG001  (one signature for all analysers)
    """How many rounds were heard."""
    return whole("fired_edges (for rounds their number, num_rounds)", fired_edges, low=0)


def audit(
    question: Question, released: Rounds, run: Run, progress: Progress, kind: type[RoundsReport] = RoundsReport
) -> RoundsReport:
    """The posterior after each recorded round (or step), under the Gaussian prior or the flat one."""
    state, history = _followed(question, released, run, question.belief, progress)
    undecided: npt.NDArray[np.bool_] = np.zeros(question.graph.num_nodes, dtype=np.bool_)
    scale = np.ones(question.graph.num_nodes) if question.prior_std is None else question.prior_std
    if question.prior_std is None:
        # A prior adds information: a flat-prior deviation below that is an error of rank or rounding.
        least = _followed(question, released, run, scale, progress)[1]
        undecided = np.asarray((history < least * (1.0 - SLACK) - 0.01 * question.tolerance).any(axis=0))
        history[:, undecided] = np.nan
    if isinstance(released, LinearSystem):
        again = _followed(question, released, run, question.belief, progress, turned=True)[1]
        undecided = undecided | _left_open(history, again, AGREEMENT * scale)
    return kind(
        **vars(question),
        history=history[:-1],
        posterior_std=history[-1],
        disclosed=history[-1] <= question.tolerance * scale,
        undecided=undecided,
        observers=state.watching,
        exact=released.gaussian,
    )


def _followed(
    question: Question,
    released: Rounds,
    run: Run,
    prior: Array | None,
    progress: Progress,
    *,
    turned: bool = False,
) -> tuple[_Broadcasts | System, Array]:
    """The state after the last round, and the deviations after each recorded one."""
    state = started(question.graph, released, question.view, prior)
    if turned and isinstance(state, System):
        state.turn()
    recorded = question.recorded
    history = [state.std() for _ in recorded[recorded == 0]]
    for done, move in enumerate(_moves(run), start=1):
        state.play(move)
        progress.at(done)
        history += [state.std() for _ in recorded[recorded == done]]
    return state, np.array(history).reshape(-1, question.graph.num_nodes)


def _left_open(history: Array, again: Array, agreement: Array) -> npt.NDArray[np.bool_]:
    """Whether two histories part that differ in rounding only; from there on the first becomes NaN.

    What is new in a message of a system without fresh noise shrinks geometrically. Once it is no larger than rounding,
    what seems to be learned from it is made up.
    """
    with np.errstate(invalid="ignore"):
        apart = ~((history == again) | (np.abs(history - again) <= agreement))
    history[np.logical_or.accumulate(apart, axis=0)] = np.nan
    return np.asarray(apart.any(axis=0))


def started(graph: Graph, released: Rounds, view: View, prior: Array | None) -> _Broadcasts | System:
    """What is known before the first round; ``prior=None``: nothing."""
    kind = System if isinstance(released, LinearSystem) else _Broadcasts
    return kind(graph, released, view, prior)  # type: ignore[arg-type]


def _moves(run: Run) -> list[int] | range:
    return range(run) if isinstance(run, int) else run.tolist()


def final_posterior(graph: Graph, released: Rounds, run: Run, view: View, prior: Array) -> Array:
    """``(n,)`` posterior deviations after the last round (or step)."""
    state = started(graph, released, view, prior)
    for move in _moves(run):
        state.play(move)
    return state.std()


class _Broadcasts:
    """Rows of the honest nodes, in blocks, and what broadcast reveals of them."""

    def __init__(self, graph: Graph, released: LinearRounds, view: View, prior: Array | None) -> None:
        self.released = released
        self.honest = honest_nodes(view, graph)
        self.watching = watching = view.observers(graph)
        place = np.cumsum(~watching) - 1
        near = np.unique(np.concatenate([graph.neighbours_of(int(node)) for node in np.flatnonzero(watching)]))
        self.heard = place[near[~watching[near]]]
        self.unheard_pairs = place[graph.edges[~watching[graph.edges].any(axis=1)]]
        self.size = len(self.honest)
        self.kept = self._of_honest("kept", released.kept)
        self.moved = _square("moved", released.moved, graph.num_nodes)[np.ix_(self.honest, self.honest)]
        back = released.taken_back
        self.taken_back = None if back is None else self._of_honest("taken_back", back)
        start = np.zeros((4 * self.size, self.size))
        start[: 2 * self.size] = np.vstack([np.eye(self.size)] * 2)
        if prior is None:
            self.known = Knowledge(factor=np.zeros((len(start), 0)), diffuse=start)
        elif prior.ndim == 1:
            self.known = Knowledge(factor=start * prior[self.honest])
        else:
            own = given_own(prior, watching)[np.ix_(self.honest, self.honest)]
            self.known = Knowledge(factor=start @ np.linalg.cholesky(own))

    def _of_honest(self, name: str, value: Array) -> Array:
        return np.asarray(per_node(name, value, len(self.watching))[self.honest])

    def play(self, k: int) -> None:
        """Round k: all nodes send, the curious hear, all nodes move."""
        one = np.ones(self.size)
        back = np.zeros(self.size) if self.taken_back is None else np.where(k == self.taken_back, -1.0, 0.0)
        self._combine(MESSAGE, {VALUE: one, ADDED: back})
        self._add_noise(k)
        if self.taken_back is not None:
            self._combine(ADDED, {ADDED: one, MESSAGE: one, VALUE: -one})
        for place in self.heard:
            self.known.observe(MESSAGE * self.size + int(place), 0.0)
        self._combine(VALUE, {VALUE: self.kept, MESSAGE: self.moved})

    def std(self) -> Array:
        """``(n,)`` deviations of the private values."""
        out = np.zeros(len(self.watching))
        out[self.honest] = self.known.std(slice(0, self.size))
        return out

    def speakers_heard(self) -> npt.NDArray[np.int64]:
        """Who is heard in a round, in the order in which messages are taken in."""
        return np.asarray(self.honest[self.heard])

    def _combine(self, block: int, parts: dict[int, Array]) -> None:
        """Make ``block`` the sum of matrices (or diagonals) times blocks."""
        matrix = np.zeros((self.size, 4 * self.size))
        for source, part in parts.items():
            matrix[:, source * self.size : (source + 1) * self.size] = part if part.ndim == 2 else np.diag(part)
        self.known.combine(slice(block * self.size, (block + 1) * self.size), matrix)

    def _add_noise(self, k: int) -> None:
        """Every node's own noise; in round 0 also what pairs agreed on, which a curious end of the pair knows."""
        first = MESSAGE * self.size
        for place, deviation in enumerate(self.released.noise.in_round(k)[self.honest].tolist()):
            self.known.add_noise({first + place: deviation})
        if k == 0:
            for i, j in self.unheard_pairs.tolist():
                self.known.add_noise({first + i: self.released.pair_std, first + j: -self.released.pair_std})


def _square(name: str, matrix: scipy.sparse.csr_array | Array, size: int) -> Array:
    import scipy.sparse

    dense = np.asarray(scipy.sparse.csr_array(matrix).toarray())
    if dense.shape != (size, size):
        raise InvalidParameter(f"{name} must be a matrix of {size} rows and columns, got shape {dense.shape}")
    return dense
