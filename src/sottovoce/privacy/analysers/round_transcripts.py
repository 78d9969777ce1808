"""What curious nodes heard of a run in rounds of broadcasts, and the optimal estimates from it.

The messages are those of the run: the method's own functions say them again, with the draws of the run. They are played
a second time in which the curious say the same, and the others begin with nothing that the curious do not know. What
the others say there is what the curious cause, and can work out by themselves. Everything is linear, so the difference
of the two depends on the unknown alone, and the description that :mod:`.rounds` audits says how. Gains do not depend on
the numbers heard, so all coordinates of a vector go together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import numpy.typing as npt

from ...graphs.graph import Graph
from ...methods.base import Array, Method, RoundMethod
from ...methods.released import LinearRounds, LinearSystem, Released
from ..gaussian.knowledge import Knowledge
from ..view import View
from . import rounds

if TYPE_CHECKING:
    from ...simulation import Solution

__all__ = ["estimates", "messages", "says_its_messages", "supports"]

Mask = npt.NDArray[np.bool_]
COMPARED = 12
"""Rounds in which the description is compared with what the method says."""


def supports(method: Method, released: Released, view: View) -> TypeGuard[RoundMethod]:
    """Rounds in which every node says one number to all its neighbours, under Gaussian noise."""
    if not isinstance(method, RoundMethod) or not rounds.supports(released, view) or not released.gaussian:
        return False
    return not isinstance(released, LinearSystem) or bool((released.listeners < 0).all())


def says_its_messages(method: RoundMethod, released: Released, graph: Graph) -> bool:
    """Whether the description is of the messages themselves, and not of something that tells as much.

    Looked at without noise: then a description follows from the private values, and so do the messages.
    """
    values = np.cos(np.arange(1.0, 1.0 + graph.num_nodes))
    said = _said(method, graph, values, np.zeros((COMPARED, graph.num_nodes)), [])
    return bool(np.allclose(said, _described(released.without_noise(), values), rtol=1e-9, atol=1e-9))


def _described(released: Released, values: Array) -> Array:
    """``(rounds, n)`` messages that follow from a description without noise."""
    out = []
    if isinstance(released, LinearRounds):
        row = values
        for _ in range(COMPARED):
            out.append(row)
            row = released.kept * row + released.moved @ row
        return np.array(out)
    assert isinstance(released, LinearSystem)
    row = released.start @ values
    for k in range(COMPARED):
        played = released.rounds(k)
        out.append(played.said @ row)
        row = played.moved @ row
    return np.array(out)


def messages(run: Solution, watching: Mask, replica: int) -> Array:
    """``(rounds, n, d)`` what all nodes said, less what the watching nodes cause and can work out by themselves."""
    from ...simulation.random.streams import Stream

    method: Any = run.method
    graph, length = run.graph, int(run.steps_done[replica])
    columns = run.private_values.reshape(graph.num_nodes, -1).T
    out = []
    for coordinate, values in enumerate(columns):
        shape = (length, graph.num_nodes)
        draws = run.draws(replica=replica, coordinate=coordinate) if method.noise else np.zeros(shape)
        stream = Stream(run.seed, replica, coordinate)
        said = _said(method, graph, values, draws, _before(method, graph, stream, None))
        shared = _before(method, graph, stream, watching)
        caused = _said(method, graph, np.zeros_like(values), np.zeros(shape), shared, said=said, by=watching)
        out.append(said - caused)
    return np.stack(out, axis=-1)


def _before(method: RoundMethod, graph: Graph, stream: Any, known: Mask | None) -> list[tuple[int, Array]]:
    """Columns of the node table and what is drawn into them before the first round; or what ``known`` nodes know."""
    from ...simulation.edge_noise import edge_numbers, own_draw
    from .transcripts import at_both_ends

    everyone, found = range(graph.num_nodes), []
    if method.edge_noise_field is not None:
        numbers = edge_numbers(method, graph, stream)
        if known is not None:
            numbers = np.where(known[graph.edges].any(axis=1), numbers, 0.0)
        found.append((method.edge_noise_field, at_both_ends(graph, numbers[:, None])[:, 0]))
    if method.start_noise_field is not None:
        own = np.array([own_draw(stream, node) for node in everyone])
        found.append((method.start_noise_field, own if known is None else np.where(known, own, 0.0)))
    return found


def _said(
    method: RoundMethod, graph: Graph, values: Array, draws: Array, before: list[tuple[int, Array]], *,
    said: Array | None = None, by: Mask | None = None,
) -> Array:  # fmt: skip
    """``(rounds, n)`` the method's own functions, run by the interpreter; or what was ``said``, for nodes in ``by``."""
    from ...simulation.kinds import parameters_of

    nodes, parameters = method.initial(graph, values), parameters_of(method, graph)
    for field, drawn in before:
        nodes[:, field] += drawn
    cls, mixing, out = type(method), method.mixing(graph), np.empty(draws.shape)
    for k, row in enumerate(draws):
        out[k] = [cls.send(nodes, i, float(draw), k, parameters) for i, draw in enumerate(row)]
        if said is not None:
            out[k, by] = said[k, by]
        for i, combined in enumerate(mixing @ out[k]):
            cls.receive(nodes, i, out[k, i], combined, k, parameters)
    return out


class _Following(Knowledge):
    """Uncertainty, and with it the estimate of every row, ``(rows, d)``."""

    guess: Array
    told: Any
    """The numbers that will be heard, in order, ``(d,)`` each."""

    @classmethod
    def of(cls, known: Knowledge, guess: Array, told: Any) -> _Following:
        """From here on."""
        following = cls.__new__(cls)
        following.__dict__.update(vars(known))
        following.guess, following.told = guess, told
        return following

    def combine(self, rows: Any, matrix: Any) -> None:
        after = matrix @ self.guess
        super().combine(rows, matrix)
        self.guess[rows] = after

    def observe(self, p: int, noise: float) -> tuple[Array, float]:
        gain, deviation = super().observe(p, noise)
        self.guess += np.outer(gain, next(self.told) - self.guess[p])
        return gain, deviation


def estimates(
    graph: Graph, released: Any, view: View, heard: Array, *, prior: Array | None, believed: Array
) -> tuple[Array, Array]:
    """Estimates ``(n, d)`` and their deviations ``(n,)`` from ``(rounds, n, d)`` messages; ``(n, d)`` are believed."""
    state = rounds.started(graph, released, view, prior)
    flat = rounds.started(graph, released, view, None).known
    nodes = state.speakers_heard()
    told = (row[node] for row in heard for node in nodes)
    state.known = following = _Following.of(state.known, flat.start_weights() @ believed[state.honest], told)
    for k in range(len(heard)):
        state.play(k)
    std = state.std()
    estimate = np.full((graph.num_nodes, heard.shape[-1]), np.nan)
    estimate[state.honest] = following.guess[: len(state.honest)]
    estimate[np.isinf(std)] = np.nan
    return estimate, std
