"""``simulate``: what is asked for is checked here, then run by :mod:`.running` or on a GPU."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy.typing as npt

from ..errors import InvalidGraph, InvalidParameter, Unsupported
from ..foundation.arguments import number, whole
from ..foundation.interrupting import hand_back, stop_if_interrupted
from ..foundation.progress import Report
from ..graphs.chances import connecting_probabilities
from ..graphs.circulant import Circulant
from ..graphs.graph import Graph, check_graph
from ..methods.base import Array, Method
from .changing.stages import Stage, as_stages
from .changing.timetable import with_all_values
from .keeping import Statistic, check_room, keep_statistic, keep_values
from .kinds import kind_of
from .random.aliases import alias_table
from .random.streams import MAX_REPLICAS, check_seed
from .records import Plan, Record, planned
from .running import advance
from .setup import Setup
from .solution import Solution
from .state import State
from .values import checked_values

__all__ = ["resume", "simulate"]


def simulate(
    graph: Graph | Circulant,
    private_values: npt.ArrayLike | Mapping[Any, Any],
    method: Method,
    *,
    num_steps: int,
    seed: int | None = None,
    replicas: int = 1,
    record: Record = None,
    edge_probabilities: npt.ArrayLike | None = None,
    stages: Stage | Iterable[Stage] | None = None,
    record_values: Record = None,
    statistic: Statistic | None = None,
    stop_at: float | None = None,
    threads: int | None = None,
    device: str = "cpu",
    progress: Report | bool | None = None,
) -> Solution:
    """Run ``method`` on ``graph`` from ``private_values``.

    Parameters
    ----------
    graph
        Who can talk to whom. A :class:`~sottovoce.graphs.circulant.Circulant` needs no memory for its edges; it is run
        for pairwise methods whose nodes need to know nothing of the network.
    private_values
        ``(n,)`` numbers, or ``(n, d)`` vectors: every coordinate sees the same edges fire and has
        noise of its own. Or one entry per node by its name or number: a mapping, or a pandas Series with such an index.
    method
        What the two ends of a firing edge do, or all nodes in a round.
    num_steps
        How many steps, ≥ 1: edges that fire, sets of edges for block gossip, rounds for synchronous methods
        and push-sum. :attr:`Solution.transmissions` puts all of them on one axis.
    seed
        A whole number in [0, 2⁶⁴). ``None`` draws one from the operating system; the result says which.
    replicas
        Independent runs of the same problem, ≥ 1. Replica r is the same run whatever the others are.
    record
        Steps at which to record the error: a list of steps, or how many evenly spaced ones.
        ``None`` chooses enough for a smooth curve.
    edge_probabilities
        ``(m,)`` probability of each edge to fire; ``None``: all equal, as in the paper. Only for methods
        in which one edge fires at a time. Edges that can fire must connect the graph.
    stages
        How the network changes during the run: one :class:`~sottovoce.Stage` or several, in order. Messages that are
        lost, nodes that fail, links, clocks and values that change. Then errors and masses are those of the nodes that
        are there, against the average of the values they have at the time. Not for sets of edges; on the CPU.
    record_values
        Steps at which to keep the values of all nodes, given as ``record`` is: :attr:`Solution.recorded_values`. They
        take 8 bytes for each step, replica, coordinate and node. ``None``: none.
    statistic
        A function of the node table of one replica (and coordinate), an ``(n, num_fields)`` array whose column
        ``methods.VALUE`` holds the values, that returns one number. It is compiled by Numba, and called at the recorded
        steps: :attr:`Solution.statistic`.
    stop_at
        Stop a replica at the first step, recorded or not, at which its relative error is at most this. Where
        watching every step would cost more than the steps themselves, the error is looked at every n/2 steps
        (heavy ball, accelerated gossip: every node moves in every step) or every n/2 exchanges (sets of edges); the
        replica then stops at the first of these looks. Recorded steps make no difference. On a GPU an ensemble stops
        at the step, one huge run looks every n/2 steps.
    threads
        Cores to use; ``None``: all. Replicas are shared out between them, or coordinates; the steps of a long single
        run of pairs with 10⁵ nodes or more between two of them, unless one is faster alone at the moment. The numbers
        are the same.
    device
        ``"cpu"``, or ``"gpu"`` for a CUDA device (extra ``gpu``): many replicas of a small graph, or one
        run of a huge one. Both give the same numbers.
    progress
        ``None``: a bar when it takes more than a second and somebody watches; ``False``: silence;
        a function is called with (done, total).

    Returns
    -------
    Solution
        Values, recorded errors, status, seed. Ctrl-C returns what was done so far, with the status
        saying so; if the code that made this call calls again, that Ctrl-C stops it.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.complete(4), [1.0, 2.0, 3.0, 6.0], sv.StandardGossip(), num_steps=200, seed=1)
    >>> run.values.round(9).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    stop_if_interrupted()
    check_graph(graph)
    graph = cast("Graph", graph)  # a Circulant has all of it that a run needs
    values = checked_values(private_values, graph)
    _check_method(method, graph, one_by_one=edge_probabilities is None and (device == "cpu" or replicas == 1))
    num_steps = whole("num_steps", num_steps, low=1, high=2**62)
    _check_how(stop_at, threads, device)
    probabilities = _check_probabilities(edge_probabilities, method, graph)
    changes = as_stages(stages)
    if changes and isinstance(graph, Graph):
        changes = with_all_values(changes, graph, values)
    setup = Setup(
        graph=graph,
        method=method,
        private_values=values,
        seed=secrets.randbits(63) if seed is None else check_seed(seed),
        replicas=whole("replicas", replicas, low=1, high=MAX_REPLICAS),
        edge_probabilities=probabilities,
        aliases=alias_table(probabilities, graph),
        notes=_notes(graph, method, equal_edges=probabilities is None, changes=changes),
        stages=changes,
    )
    if changes:
        _check_changes(setup, device)
    plan = planned(record, 0, num_steps, graph.num_nodes)
    if device == "gpu":
        if record_values is not None or statistic is not None:
            raise Unsupported("record_values and statistic are for the CPU; a GPU records errors and masses")
        return hand_back(_advance_on_gpu(setup, num_steps, plan, stop_at=stop_at, report=progress))
    state = State.at_start(setup, plan)
    _keep(state, 0, num_steps, record_values, statistic)
    return hand_back(advance(state, num_steps, stop_at=stop_at, threads=threads, report=progress))


def resume(
    solution: Solution,
    *,
    num_steps: int,
    record: Record = None,
    record_values: Record = None,
    statistic: Statistic | None = None,
    stop_at: float | None = None,
    threads: int | None = None,
    progress: Report | bool | None = None,
) -> Solution:
    """Run ``num_steps`` more steps from where ``solution`` ended, on the CPU; the same as one longer run.

    Replicas that had stopped early stay where they stopped, unless ``stop_at`` is given: then those whose error is
    above it go on, each from its own step, to the same last step as the others. The GPU gives the same bits, so a run
    that was made there goes on here as it would have there. Values and statistics are kept if they are asked for
    again, after those that were kept before.
    """
    _check_how(stop_at, threads, "cpu")
    _check_code(solution)
    begin = solution.num_steps
    end = begin + whole("num_steps", num_steps, low=1, high=2**62)
    state = State.after(solution, planned(record, begin, end, solution.graph.num_nodes).after(begin))
    _keep(state, begin, end, record_values, statistic)
    return hand_back(advance(state, end, stop_at=stop_at, threads=threads, report=progress))


def _check_code(solution: Solution) -> None:
    """A run that was saved does not go on with another rule than it began with."""
    if not solution.code:
        return
    from .fingerprints import code_of, same_python  # with the compiler

    here = code_of(type(solution.method))
    if same_python(here, solution.code) and here != solution.code:
        raise InvalidParameter(
            f"method {solution.method.name!r} has changed since this run was saved: "
            "a run cannot go on with another rule"
        )


def _keep(state: State, begin: int, end: int, values: Record, statistic: Statistic | None) -> None:
    """Have values and a statistic kept, if they are wanted."""
    if values is not None:
        if isinstance(values, int):
            check_room(
                "record_values", min(values, end - begin), (*state.tables.shape[:2], state.setup.graph.num_nodes)
            )
        plan = planned(values, begin, end, state.setup.graph.num_nodes, name="record_values")
        state.values = keep_values(state, plan.after(begin) if begin else plan)
    if statistic is not None:
        state.statistic = keep_statistic(state, state.recorder.plan, statistic)


def _advance_on_gpu(
    setup: Setup,
    end: int,
    plan: Plan,
    *,
    stop_at: float | None,
    report: Report | bool | None,
) -> Solution:
    """The same on a CUDA device: a thread per replica, or one run in passes when there is only one."""
    state = State.empty(setup, plan)
    if state.tables.shape[:2] == (1, 1):
        from .gpu.huge import advance as advance_one

        return advance_one(state, end, plan, stop_at=stop_at, report=report)
    from .gpu.ensemble import advance as advance_many

    return advance_many(state, end, plan, stop_at=stop_at, report=report)


# -- input ------------------------------------------------------------------------------------------


def _check_circulant(graph: Circulant, method: Method, *, one_by_one: bool) -> None:
    """What needs a list of the edges is refused."""
    own = getattr(method, "own_rows_only", False) and method.edge_noise_field is None and not method.lazy
    if not own or not one_by_one:
        raise Unsupported(
            f"a Circulant has no list of edges, which {method.name} or this way to run it needs; use its to_graph()"
        )
    if graph.num_edges >= 2**32:
        raise InvalidGraph(f"graph must have fewer than 2^32 edges, got {graph.num_edges}")


def _check_method(method: Method, graph: Graph | Circulant, *, one_by_one: bool) -> None:
    if not isinstance(method, Method):
        raise InvalidParameter(f"method must be one of sottovoce's methods, got {type(method).__name__}")
    if isinstance(graph, Circulant):
        _check_circulant(graph, method, one_by_one=one_by_one)
    method.validate(cast("Graph", graph))


def _check_probabilities(edge_probabilities: npt.ArrayLike | None, method: Method, graph: Graph) -> Array | None:
    if edge_probabilities is None:
        return None
    if not kind_of(method).weighted:
        raise InvalidParameter(
            f"edge_probabilities must be None for {method.name}: it does not fire one edge at a time"
        )
    return connecting_probabilities(edge_probabilities, graph)


def _check_changes(setup: Setup, device: str) -> None:
    from .changing.running import check_stages

    if device != "cpu" or isinstance(setup.graph, Circulant):
        raise Unsupported("stages are run on the CPU, on a Graph with a list of edges")
    check_stages(setup)


def _notes(graph: Graph, method: Method, *, equal_edges: bool, changes: tuple[Stage, ...]) -> tuple[str, ...]:
    """Why the setting is outside the method's guarantee."""
    notes = method.caveats(graph)
    if not equal_edges and method.assumes_equal_edges:
        notes += (f"the guarantee of {method.name} is for edges that are equally likely, and these are not",)
    if any(not stage.unchanged for stage in changes):
        notes += (f"the guarantee of {method.name} is for a network that does not change, and this one does",)
    return notes


def _check_how(stop_at: object, threads: int | None, device: str) -> None:
    if stop_at is not None:
        number("stop_at", stop_at, low=0.0, low_open=True)
    if threads is not None:
        whole("threads", threads, low=1, high=4096)
    if device not in {"cpu", "gpu"}:
        raise InvalidParameter(f"device must be 'cpu' or 'gpu', got {device!r}")
