"""What a user says of a network that changes: one :class:`Stage` after the other, each whole in itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, InvalidValues
from ...foundation.arguments import check_unmasked, entries_of, keys_of, number, unnamed, whole

__all__ = ["Stage", "as_stages"]


@dataclass(frozen=True, eq=False, repr=False)
class Stage:
    """How the network is from one step on, until the next stage begins.

    A stage says everything anew: what it does not say is as in a network that does not change. Only private values
    stay as they were until a stage gives others. A stage begins just before step ``start`` is made (the first step of
    a run is step 0), so what is recorded at ``start`` is still what the stage before it left.

    Parameters
    ----------
    start
        The step from which on it holds, ≥ 0. The first stage of a run starts at 0.
    loss
        Probability in [0, 1) that a message does not arrive, each independently.
    down
        Nodes, by number or name, that neither act nor answer, and keep what they have: they are counted.
    gone
        Nodes that are not there. They are not counted: the average is that of the others. A node that was gone and
        is not any more begins anew with its private value.
    edges
        ``(k, 2)`` the links that there are, by numbers or names of their ends, among those of the graph that is run.
        They need not connect it. ``None``: all.
    edge_probabilities
        ``(k,)`` probability of each of them to fire; ``None``: all equal, or as in the call if ``edges`` is not given.
    node_rates
        ``(n,)`` rate of each node's own clock, ≥ 0. When it ticks, the node calls a neighbour, all equally likely.
        Not together with ``edge_probabilities``.
    values
        Private values from now on: ``(n,)`` or ``(n, d)``, or those that change, by node. ``None``: as before. The
        first stage has none: a run begins with the values that it is given.

    Examples
    --------
    >>> Stage(500, loss=0.1, down=[3])
    Stage(start=500, loss=0.1, down=1 node)
    """

    start: int = 0
    loss: float = field(default=0.0, kw_only=True)
    down: tuple[int | str, ...] = field(default=(), kw_only=True)
    gone: tuple[int | str, ...] = field(default=(), kw_only=True)
    edges: Any = field(default=None, kw_only=True)
    edge_probabilities: Any = field(default=None, kw_only=True)
    node_rates: Any = field(default=None, kw_only=True)
    values: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "start", whole("start", self.start, low=0, high=2**62))
        put(self, "loss", number("loss", self.loss, low=0.0, high=1.0, high_open=True))
        for name in ("down", "gone"):
            put(self, name, _nodes(name, getattr(self, name)))
        if self.edges is not None:
            check_unmasked("edges", self.edges)
            put(self, "edges", _frozen(self.edges))
        for name, of in (("edge_probabilities", "edges"), ("node_rates", "nodes")):
            if getattr(self, name) is not None:
                put(self, name, _frozen(unnamed(name, getattr(self, name), of=of)))
        if self.edge_probabilities is not None and self.node_rates is not None:
            raise InvalidParameter("edge_probabilities must be None where node_rates is given: both say what fires")
        if self.values is not None:
            put(self, "values", _frozen_values(self.values))

    @property
    def unchanged(self) -> bool:
        """Whether it says nothing beside when it starts: all is as in a network that does not change."""
        said = (self.edges, self.edge_probabilities, self.node_rates, self.values)
        return not (self.loss or self.down or self.gone) and all(each is None for each in said)

    def __repr__(self) -> str:
        """Private values are not shown."""
        said = [f"start={self.start}"]
        if self.loss:
            said.append(f"loss={self.loss:g}")
        counts = {name: len(getattr(self, name)) for name in ("down", "gone")}
        said += [f"{name}={count} node{'s' if count > 1 else ''}" for name, count in counts.items() if count]
        said += [
            f"{name}=…" for name in ("edges", "edge_probabilities", "node_rates") if getattr(self, name) is not None
        ]
        return f"Stage({', '.join(said)}{', values=…' if self.values is not None else ''})"


def as_stages(given: Stage | Iterable[Stage] | None) -> tuple[Stage, ...]:
    """One stage, or several in order; none is a network that does not change.

    Raises
    ------
    InvalidParameter
        If the first does not start at 0 or one does not start after the one before it.
    """
    if given is None:
        return ()
    stages = (given,) if isinstance(given, Stage) else _listed(given)
    for stage in stages:
        if not isinstance(stage, Stage):
            raise InvalidParameter(f"stages must be Stage objects, got {type(stage).__name__}")
    if stages and stages[0].start != 0:
        raise InvalidParameter(f"stages must begin at step 0, got {stages[0].start} as the first start")
    if stages and stages[0].values is not None:
        raise InvalidParameter(
            "values of the first stage must be None: a run begins with the private_values of the call"
        )
    for before, after in pairwise(stages):
        if after.start <= before.start:
            raise InvalidParameter(f"stages must start one after the other, got {before.start}, then {after.start}")
    return stages


def _listed(given: object) -> tuple[Stage, ...]:
    try:
        return tuple(given)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidParameter(f"stages must be Stage objects, got {type(given).__name__}") from None


def _nodes(name: str, given: object) -> tuple[int | str, ...]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidParameter(f"{name} must be a list of nodes, got {type(given).__name__}")
    return tuple(node.item() if isinstance(node, np.generic) else node for node in given)


def _frozen_values(given: Any) -> Any:
    """A copy that cannot be changed: by node for a mapping or a pandas Series, in the order of the nodes otherwise."""
    keys = keys_of(given)
    if keys is not None:
        if len({*keys}) < len(keys):
            raise InvalidValues("values of a stage must have one entry per node, got two for one of them")
        return MappingProxyType(dict(zip(keys, entries_of(given), strict=True)))
    check_unmasked("values of a stage", given, InvalidValues)
    return _frozen(given)


def _frozen(given: npt.ArrayLike) -> npt.NDArray[Any]:
    array = np.array(given)
    array.flags.writeable = False
    return array
