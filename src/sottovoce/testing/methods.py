"""What every method must do, ours or a user's: :func:`check_method` tries it on a small graph, in seconds.

The rules are about running. Whether the method converges, what is proved of it and what it hides is another matter:
of what it says it releases only the size of withdrawn noise is tried, and the rest is believed.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..errors import SottovoceError
from ..foundation.interrupting import uninterrupted
from ..graphs.graph import Graph
from ..methods.base import Array, Method, PairMethod
from ..methods.registry import METHODS
from ..methods.released import FrozenNoise, SealedNoise, WithdrawnNoise
from ..simulation import Solution, simulate
from ..simulation.kinds import base_of, functions_of
from .reference import run_plainly

__all__ = ["check_method"]

KITES = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6), (6, 7)], name="two kites")
SEED, STEPS = 2, 130
STOPS = (1, 2, 3, 17, 64, 65, STEPS)
"""Steps at which tables are compared; the drivers prepare 64 at a time."""
OWN = ("i", "j", "ends", "target", "row")
"""Arguments of a method's functions that name rows which the function may change."""
MANY = 1000
"""Runs in which the size of noise is seen to three percent: a right statement is never a quarter off."""
TOLERANCE = 1e-10
"""Of what is equal but for rounding, relative to the largest number in the node table."""


def check_method(method: Method, *, graph: Graph | None = None) -> None:
    """Check that a method keeps all rules of its kind.

    It is a frozen value with a name, a label, equality and a hash; its functions have the right arguments, return what
    they should, write only to the rows they are given and only to ``num_fields`` columns, and read no others if
    ``own_rows_only`` says so; they compile, and the compiled form does the same as the interpreter, step by step; what
    it declares to be conserved is; if it says that it releases withdrawn noise, so much is in the values; the same seed
    gives the same bits whether a run is cut into pieces, saved in between (if the method is registered), or made
    together with other replicas, with other coordinates or on several threads.

    Parameters
    ----------
    method
        One setting. Check several, if the rule has several branches.
    graph
        Where to try it; ``None``: a graph of 8 nodes and 9 edges. Needed for parameters that are given per node.

    Raises
    ------
    AssertionError
        At the first rule that is broken; the message says which and how.

    Examples
    --------
    >>> import sottovoce as sv
    >>> check_method(sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9))
    """
    trial = _Trial(method, KITES if graph is None else graph)
    checks: tuple[Callable[[_Trial], None], ...] = (
        _is_a_value,
        _is_complete,
        _keeps_to_its_rows,
        _repeats_itself,
        _compiles_to_the_same,
        _conserves,
        _has_the_noise_it_states,
        _resumes,
        _shares_nothing_between_replicas,
        _shares_nothing_between_coordinates,
        _is_saved,
    )
    try:
        for check in checks:
            check(trial)
    except SottovoceError as error:
        raise AssertionError(str(error)) from error


@dataclass(frozen=True)
class _Trial:
    method: Method
    graph: Graph

    @property
    def data(self) -> Array:
        """``(n, 3)`` values of three coordinates."""
        return np.random.default_rng(5).normal(size=(self.graph.num_nodes, 3))

    def run(self, data: Array | None = None, *, num_steps: int = STEPS, **how: Any) -> Solution:
        settings: dict[str, Any] = {"seed": SEED, "record": [], "progress": False, "num_steps": num_steps, **how}
        return uninterrupted(simulate(self.graph, self.data if data is None else data, self.method, **settings))

    def require(self, condition: object, reason: str) -> None:
        if not condition:
            self.refuse(reason)

    def refuse(self, reason: str) -> NoReturn:
        raise AssertionError(f"method {type(self.method).__name__} {reason}")

    def same(self, one: npt.ArrayLike, other: npt.ArrayLike, reason: str) -> None:
        self.require(np.array_equal(one, other, equal_nan=True), reason)


def _is_a_value(trial: _Trial) -> None:
    method, cls = trial.method, type(trial.method)
    frozen = getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)
    trial.require(frozen, "is not a frozen dataclass")
    for field in dataclasses.fields(method):  # type: ignore[arg-type]
        given = getattr(method, field.name)
        fixed = not (isinstance(given, np.ndarray) and given.flags.writeable)
        trial.require(fixed, f"has an array that can be changed: make a read-only copy of {field.name}")
    named = re.fullmatch(r"[a-z][a-z0-9-]*", str(getattr(cls, "name", "")))
    trial.require(named, "has no name of lower-case letters, digits and hyphens")
    trial.require(isinstance(method.label(), str) and method.label(), "has an empty label")
    trial.require(cls.__name__ in repr(method), "does not name its class in its repr")
    with _reported(trial, "cannot be compared with its copy, or has no hash"):
        twin = dataclasses.replace(method)  # type: ignore[type-var]
        trial.require(twin == method and method != object(), "does not equal another one with the same parameters")
        trial.require(hash(twin) == hash(method), "equals another one that has another hash")


def _is_complete(trial: _Trial) -> None:
    method, graph = trial.method, trial.graph
    method.validate(graph)
    functions_of(method)
    table = method.initial(graph, trial.data[:, 0])
    shape = (method.num_rows(graph), method.num_fields)
    trial.require(np.shape(table) == shape, f"starts with a table of shape {np.shape(table)}, not {shape}")
    trial.require(np.ndim(method.parameters(graph)) == 1, "has parameters that are not a flat array")
    trial.require(method.messages_per_step(graph) > 0, "sends no messages")


def _keeps_to_its_rows(trial: _Trial) -> None:
    """In the interpreter, where a wrong index is an error and not somebody else's memory."""
    watched = _watched(trial)
    with np.errstate(all="ignore"):
        for _ in run_plainly(trial.graph, trial.data[:, 0], watched, STEPS, SEED):
            pass


def _watched(trial: _Trial) -> Method:
    """The same method; each of its functions looks at the table before and after."""
    cls = type(trial.method)
    functions = {name: staticmethod(_watch(trial, name, f)) for name, f in functions_of(trial.method).items()}
    method = copy(trial.method)
    object.__setattr__(method, "__class__", type(cls.__name__, (cls,), functions))
    return method


def _watch(trial: _Trial, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    method = trial.method
    places = inspect.signature(getattr(base_of(type(method)), name))

    @wraps(function)
    def watching(nodes: Array, *arguments: Any) -> Any:
        before = nodes.copy()
        with _reported(trial, f"fails in {name}", outside=f"has {name} reach beyond num_fields or beyond the nodes"):
            result = function(nodes, *arguments)
        given = places.bind(nodes, *arguments).arguments
        own = np.concatenate([np.ravel(given[k]) for k in OWN if k in given]).astype(int)
        own = np.append(own, np.arange(given.get("first", 0), given.get("last", 0)))
        others = np.delete((nodes != before) & ~(np.isnan(nodes) & np.isnan(before)), own, axis=0)
        trial.require(not others.any() or _may_reach_others(method), f"has {name} change rows that are not its own")
        if getattr(method, "own_rows_only", False):
            elsewhere = f"says own_rows_only, but {name} looks at other rows or at the numbers of its own"
            blind = before[own]
            with _reported(trial, elsewhere):
                function(blind, 0, 1, *arguments[2:])
            trial.same(blind, nodes[own], elsewhere)
        number = isinstance(result, float | int | np.number)
        if name == "send":
            trial.require(number, "has send return something that is not a number")
        else:
            trial.require(result is None, f"has {name} return something; it must change the node table only")
        return result

    return watching


def _may_reach_others(method: Method) -> bool:
    """A method that needs to know the whole network may keep what it knows anywhere."""
    return bool(method.needs()) and not method.in_rounds


def _repeats_itself(trial: _Trial) -> None:
    once, again = trial.run(num_steps=STEPS), trial.run(num_steps=STEPS)
    trial.same(once.tables, again.tables, "gives other values when it is run again with the same seed")


def _compiles_to_the_same(trial: _Trial) -> None:
    for replica, coordinate in ((0, 0), (1, 2)):
        address: dict[str, Any] = {"replica": replica, "coordinate": coordinate}
        plain = list(run_plainly(trial.graph, trial.data[:, coordinate], trial.method, STEPS, SEED, **address))
        for step in STOPS:
            compiled = trial.run(num_steps=step, replicas=2)._settled()[replica, coordinate]
            limit = TOLERANCE * max(1.0, float(np.abs(plain[step - 1]).max()))
            wrong = np.argwhere(~np.isclose(compiled, plain[step - 1], rtol=0.0, atol=limit, equal_nan=True))
            for node, field in wrong[:1]:
                where = f"at step {step} in column {field} of node {node}"
                trial.refuse(f"does something else when it is compiled, first {where}")


def _conserves(trial: _Trial) -> None:
    run = trial.run(num_steps=10 * STEPS, replicas=2, record=list(range(10 * STEPS + 1)))
    limit = TOLERANCE * trial.graph.num_nodes * max(1.0, float(np.abs(run.tables).max()))
    for step in run.steps[~(run.mass_error <= limit).all(axis=0)][:1]:
        fields = f"mass_field = {trial.method.mass_field}, outstanding_field = {trial.method.outstanding_field}"
        trial.refuse(f"does not conserve its mass ({fields}), first at step {step}")


def _has_the_noise_it_states(trial: _Trial) -> None:
    """Under withdrawn noise Σ x − Σ c is the last noise of every node: independent normal numbers of known size."""
    stated, values = trial.method.releases(trial.graph), trial.data[:, 0]
    if isinstance(stated, SealedNoise):  # seals cancel in the sum
        stated = stated.after
    if not isinstance(trial.method, PairMethod) or not isinstance(stated, WithdrawnNoise | FrozenNoise):
        return
    most = stated.draws if isinstance(stated, FrozenNoise) else np.inf
    for step in (1, 17):
        run = trial.run(values, num_steps=step, replicas=MANY)
        draws = np.minimum(run.activations, most)
        last = np.where(draws > 0, stated.noise_std * stated.noise_decay ** np.maximum(draws - 1, 0), 0.0)
        size, off = np.sqrt((last**2).sum(axis=1)), run.values.sum(axis=1) - values.sum()
        seen = size > 1e-6 * float(np.abs(run.tables).max())  # and not rounding
        if seen.sum() >= MANY / 2:
            share = float(np.sqrt(np.mean((off[seen] / size[seen]) ** 2)))
            told = f"says in releases how much noise it puts in, but at step {step} there is {share:.2f} times as much"
            trial.require(0.75 < share < 1.33, told)


def _resumes(trial: _Trial) -> None:
    whole, piece = trial.run(replicas=2), trial.run(num_steps=17, replicas=2)
    pieces = piece.resume(STEPS - 17, record=list(range(18, STEPS)), progress=False)
    trial.same(whole.tables, pieces.tables, "gives other values when a run is cut into pieces")


def _shares_nothing_between_replicas(trial: _Trial) -> None:
    many = trial.run(replicas=5, threads=1)
    trial.same(many.tables, trial.run(replicas=5, threads=3).tables, "gives other values on several threads")
    trial.same(many.tables[:2], trial.run(replicas=2).tables, "gives other values when more replicas are run")


def _shares_nothing_between_coordinates(trial: _Trial) -> None:
    data = trial.data
    together, alone = trial.run(data, threads=3), trial.run(data[:, 0])
    trial.same(together.tables[:, :1], alone.tables, "gives other values when vectors are run instead of numbers")
    data[:, 0] = 0.0
    trial.same(together.tables[:, 1:], trial.run(data).tables[:, 1:], "lets one coordinate change another")


def _is_saved(trial: _Trial) -> None:
    if METHODS.get(trial.method.name) is not type(trial.method):
        return
    run = trial.run(num_steps=17)
    with tempfile.TemporaryDirectory() as folder, _reported(trial, "cannot be saved and loaded"):
        run.save(Path(folder) / "run.npz")
        loaded = Solution.load(Path(folder) / "run.npz")
    trial.require(loaded.method == trial.method, "is another method when a run is saved and loaded")
    trial.same(loaded.resume(9).tables, run.resume(9).tables, "gives other values after a run is saved and loaded")


@contextmanager
def _reported(trial: _Trial, reason: str, *, outside: str = "") -> Iterator[None]:
    """Any error inside is a reason to refuse the method; ``outside`` is the reason for an index out of bounds."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        reason = outside if outside and isinstance(error, IndexError) else reason
        raise AssertionError(f"method {type(trial.method).__name__} {reason}: {error}") from error
