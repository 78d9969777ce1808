"""What a sweep runs: a grid, a list or a random sample of settings, checked before anything is started.

A sweep is a list of :class:`Task`, each a plain description whose digest names it. Running them is the business of
:mod:`.sweep`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import itertools
import json
import os
import tomllib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..errors import InvalidFile, InvalidParameter
from ..foundation.arguments import number, whole
from ..methods import METHODS, Method
from ..methods.registry import find_method, is_ours
from ..scenario.graphs import GraphFile, GraphSpec, describe_graph
from ..scenario.loading import Origin, load_methods, origin_of
from ..scenario.methods import MethodSpec, split_method
from ..scenario.values import WAYS, ValuesSpec

__all__ = ["Audit", "SweepSpec", "Task", "content_digest", "read_spec", "spec_from"]

OWN_AXES = ("graph", "method", "values", "seed")
Setting = float | int | str


@dataclass(frozen=True)
class Audit:
    """Ask of every run what an observer could infer: see :func:`sottovoce.privacy.audit`."""

    observer: int | str = 0
    """Number or name of the curious node; a run on a graph without it fails, and says so."""
    prior_std: float = 1.0
    num_steps: int = 1000

    def __post_init__(self) -> None:
        if not isinstance(self.observer, str) or not self.observer.strip():
            whole("audit.observer", self.observer, low=0)
        whole("audit.num_steps", self.num_steps, low=1)
        number("audit.prior_std", self.prior_std, low=0.0, low_open=True)


@dataclass(frozen=True)
class Task:
    """Everything that determines one run."""

    graph: str
    method: str
    parameters: tuple[tuple[str, Setting], ...]
    values: str
    seed: int
    num_steps: int
    replicas: int
    record: int
    audit: Audit | None = None
    origin: Origin | None = None
    """Where a worker finds the method, if it is not one of this package."""
    code: str = ""
    """Digest of such a method's code; empty if it has none that lasts."""
    files: tuple[tuple[str, str], ...] = ()
    """Files that the graph or the values are read from, each with the digest of its content."""

    @cached_property
    def digest(self) -> str:
        """Name of the run: equal settings, version, content of files and, for a method of one's own, code."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        fields["audit"] = None if self.audit is None else dataclasses.asdict(self.audit)
        fields["origin"] = None if self.origin is None else self.origin.digest
        text = json.dumps(fields | {"version": __version__}, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class SweepSpec:
    """What to run.

    Parameters
    ----------
    axes
        Name → settings. Names are ``graph``, ``method``, ``values``, ``seed``, and any parameter of a method; a method
        ignores parameters it does not have. Graphs, methods and values are written as on the command line, values as
        a name or a file. A random graph without a seed of its own takes the run's.
    runs
        Explicit settings, a mapping each, instead of or besides the grid.
    sample
        ``None``: the whole grid; a number: that many points drawn at random. An axis may then also be
        ``{"low": a, "high": b, "log": true}``.
    num_steps, replicas, record
        As in :func:`sottovoce.simulate`; ``record`` is a number of evenly spaced steps.
    audit
        What to ask about privacy, if anything.
    """

    axes: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[Mapping[str, Setting]] = ()
    sample: int | None = None
    sample_seed: int = 0
    num_steps: int = 1000
    replicas: int = 1
    record: int = 50
    audit: Audit | None = None

    def __post_init__(self) -> None:
        for name in ("num_steps", "replicas", "record"):
            whole(name, getattr(self, name), low=1)
        whole("sample_seed", self.sample_seed, low=0)
        if self.sample is not None:
            whole("sample", self.sample, low=1)
        audit: object = self.audit
        if isinstance(audit, Mapping):
            object.__setattr__(self, "audit", _audit(audit))
        tables: list[object] = [self.axes, *self.runs]  # what a file gave need not have the declared types
        if not all(isinstance(table, Mapping) for table in tables):
            raise InvalidParameter("axes must be a table of lists, and runs a list of tables")
        known = {*OWN_AXES, *(p for cls in METHODS.values() for p in inspect.signature(cls).parameters)}
        for name in {*self.axes, *(key for run in self.runs for key in run)}:
            if name not in known:
                raise InvalidParameter(f"axes may be {', '.join(sorted(known))}; got {name!r}")
        if not self.axes and not self.runs:
            raise InvalidParameter("a sweep needs axes or runs; both are empty")
        for name, settings in self.axes.items():
            if isinstance(settings, Mapping):
                _check_range(name, settings, self.sample)
            elif not isinstance(settings, Sequence) or isinstance(settings, str) or not settings:
                raise InvalidParameter(f"axis {name} must be a list of settings, got {settings!r}")

    @property
    def parameters(self) -> dict[str, str]:
        """Varied method parameters, each a column of the results: name → ``"number"`` or ``"text"``."""
        settings: dict[str, list[Any]] = {}
        for name, axis in self.axes.items():
            settings.setdefault(name, []).extend([0.0] if isinstance(axis, Mapping) else axis)
        for run in self.runs:
            for name, setting in run.items():
                settings.setdefault(name, []).append(setting)
        for text in settings.get("method", []):
            for name, setting in split_method(str(text))[1].items():
                settings.setdefault(name, []).append(setting)
        return {
            name: "number" if all(isinstance(s, int | float) for s in settings[name]) else "text"
            for name in sorted(settings)
            if name not in OWN_AXES
        }

    @property
    def settings(self) -> dict[str, Any]:
        """What all runs of the sweep share; a folder holds one set of it."""
        audit = None if self.audit is None else dataclasses.asdict(self.audit)
        return {"num_steps": self.num_steps, "replicas": self.replicas, "record": self.record, "audit": audit}

    def tasks(self) -> list[Task]:
        """All runs, each once, in a fixed order."""
        own: dict[type[Method], dict[str, Any]] = {}
        return list(dict.fromkeys(self._task(point, own) for point in self._points()))

    def _points(self) -> Iterator[dict[str, Setting]]:
        yield from (dict(run) for run in self.runs)
        if not self.axes:
            return
        if self.sample is None:
            for settings in itertools.product(*self.axes.values()):
                yield dict(zip(self.axes, settings, strict=True))
            return
        rng = np.random.default_rng(self.sample_seed)
        for _ in range(self.sample):
            yield {name: _draw(rng, settings) for name, settings in self.axes.items()}

    def _task(self, point: Mapping[str, Setting], own: dict[type[Method], dict[str, Any]]) -> Task:
        seed = whole("seed", point.get("seed", 1), low=0)
        name, parameters = split_method(str(point.get("method", "noise-insertion")))
        cls = find_method(name)
        if cls not in own:
            own[cls] = {} if is_ours(cls) else _own(cls)
        accepted = _accepted(cls)
        parameters |= {k: v for k, v in point.items() if k not in OWN_AXES and k in accepted}
        MethodSpec(name, tuple(parameters.items()))
        graph = describe_graph(str(point.get("graph", "cycle:10"))).with_seed(seed)
        values = _values(point.get("values", "uniform"))
        return Task(
            graph=str(graph),
            method=name,
            parameters=tuple(sorted(parameters.items())),
            values=values,
            seed=seed,
            num_steps=self.num_steps,
            replicas=self.replicas,
            record=self.record,
            audit=self.audit,
            **own[cls],
            files=tuple((path, content_digest(path)) for path in _paths(graph, values)),
        )


def _own(cls: type[Method]) -> dict[str, Any]:
    """What tells a method of the user's from what it was before an edit: its files, and its code as it is now."""
    from ..simulation.fingerprints import code_of  # with the compiler

    origin, code = origin_of(cls), code_of(cls)
    if origin is None and not code:
        code = uuid.uuid4().hex  # nothing tells whether it is the same as another time: its runs are done again
    return {"origin": origin, "code": code}


def _values(text: object) -> str:
    """A name or a file, never numbers, which are not shown either."""
    if not isinstance(text, str) or ValuesSpec.parse(text).numbers is not None:
        raise InvalidParameter(
            "values of a sweep must be a name or a file: its dataset says how values were drawn, and would hold these"
        )
    return text


@cache
def _accepted(cls: type[Any]) -> frozenset[str]:
    return frozenset(inspect.signature(cls).parameters)


def _paths(graph: GraphSpec | GraphFile, values: str) -> list[str]:
    """The files that a run reads."""
    return [str(graph)] * isinstance(graph, GraphFile) + [values] * (values not in WAYS)


def content_digest(path: str) -> str:
    """SHA-256 of the file's content; read again only if the file's time or size changed."""
    seen = Path(path).stat()
    return _content_digest(path, seen.st_mtime_ns, seen.st_size)


@lru_cache
def _content_digest(path: str, _time: int, _size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _check_range(name: str, settings: Mapping[str, Any], sample: int | None) -> None:
    """A range has two ends in order, positive ones if it is logarithmic."""
    if sample is None:
        raise InvalidParameter(f"axis {name} is a range, which needs sample = N")
    low, high = settings.get("low"), settings.get("high")
    if not isinstance(low, int | float) or not isinstance(high, int | float) or not low < high:
        raise InvalidParameter(f"axis {name} must have numbers low < high, got {low!r} and {high!r}")
    if settings.get("log") and low <= 0:
        raise InvalidParameter(f"axis {name} is logarithmic, so low must be > 0, got {low!r}")


def _audit(fields: Mapping[str, Any]) -> Audit:
    try:
        return Audit(**fields)
    except TypeError:
        known = ", ".join(f.name for f in dataclasses.fields(Audit))
        raise InvalidParameter(f"audit has {known}; got {', '.join(map(str, fields))}") from None


def _draw(rng: np.random.Generator, settings: Any) -> Setting:
    if isinstance(settings, Mapping):
        low, high = float(settings["low"]), float(settings["high"])
        return (
            float(np.exp(rng.uniform(np.log(low), np.log(high))))
            if settings.get("log")
            else float(rng.uniform(low, high))
        )
    chosen: Setting = settings[int(rng.integers(len(settings)))]
    return chosen


def read_spec(path: str | os.PathLike[str]) -> SweepSpec:
    """Read a TOML file: what :func:`spec_from` takes, with ``[axes]``, ``[[runs]]`` and ``[audit]`` tables."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidFile(f"{path} does not exist") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidFile(f"{path} is not a TOML file: {error}") from None
    return spec_from(content)


def spec_from(content: Mapping[str, Any]) -> SweepSpec:
    """A specification from a mapping with its fields, as a file or a caller gives it.

    It may also have ``load``, a list of files or modules with methods of one's own, which are imported first.
    """
    fields = {f.name for f in dataclasses.fields(SweepSpec)}
    unknown = set(content) - fields - {"load"}
    if unknown:
        raise InvalidParameter(f"unknown key {min(unknown)!r}; a sweep has {', '.join(sorted(fields | {'load'}))}")
    sources = content.get("load", [])
    if not isinstance(sources, Sequence) or isinstance(sources, str) or not all(isinstance(s, str) for s in sources):
        raise InvalidParameter(f"load must be a list of files or modules, got {sources!r}")
    for source in sources:
        load_methods(source)
    return SweepSpec(**{name: value for name, value in content.items() if name != "load"})
