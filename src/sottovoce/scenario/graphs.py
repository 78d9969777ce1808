"""Graphs by name, for command lines, sweep files and web addresses: ``cycle:10``, ``rgg:100:seed=3``."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from pathlib import Path

from ..errors import InvalidParameter
from ..graphs import generators
from ..graphs.graph import Graph
from ..graphs.validation import at_least

__all__ = ["FAMILIES", "make_graph", "parse_graph", "with_seed"]

FAMILIES: dict[str, Callable[..., Graph]] = {
    "cycle": generators.cycle,
    "path": generators.path,
    "complete": generators.complete,
    "star": generators.star,
    "grid": generators.grid,
    "torus": generators.torus,
    "hypercube": generators.hypercube,
    "barbell": generators.barbell,
    "rgg": generators.random_geometric,
    "random-geometric": generators.random_geometric,
    "random-regular": generators.random_regular,
    "erdos-renyi": generators.erdos_renyi,
    "watts-strogatz": generators.watts_strogatz,
    "barabasi-albert": generators.barabasi_albert,
}
"""Name on the command line → generator."""

_SQUARE = {"grid", "torus"}
_FIXED = {"cycle", "path", "complete", "star"}
_CUSTOMARY: dict[str, tuple[float, ...]] = {
    "random-regular": (4,),
    "watts-strogatz": (4, 0.1),
    "barabasi-albert": (2,),
}


def make_graph(family: str, num_nodes: int, *, seed: int | None = None) -> Graph:
    """A graph of this family with about ``num_nodes`` nodes and customary other parameters.

    Examples
    --------
    >>> make_graph("grid", 12)
    <Graph grid(3, 4): 12 nodes, 17 edges>
    >>> make_graph("random-regular", 10, seed=1).degrees.tolist()
    [4, 4, 4, 4, 4, 4, 4, 4, 4, 4]
    """
    if family not in FAMILIES:
        raise InvalidParameter(f"graph family must be one of {', '.join(FAMILIES)}, got {family!r}")
    num_nodes = at_least("num_nodes", num_nodes, 2)
    if family in _SQUARE:
        rows = max(d for d in range(1, math.isqrt(num_nodes) + 1) if num_nodes % d == 0)
        return FAMILIES[family](rows, num_nodes // rows)
    if family == "hypercube":
        return generators.hypercube(max(1, round(math.log2(num_nodes))))
    if family == "barbell":
        return generators.barbell(num_nodes // 2, num_nodes % 2)
    if family == "erdos-renyi":
        return generators.erdos_renyi(num_nodes, min(1.0, 2 * math.log(num_nodes) / num_nodes), seed=seed)
    if family in _FIXED:
        return FAMILIES[family](num_nodes)
    return FAMILIES[family](num_nodes, *_CUSTOMARY.get(family, ()), seed=seed)


def parse_graph(text: str, *, seed: int | None = None) -> Graph:
    """Read ``family:arguments`` or the path of an edge-list file.

    Arguments follow the generator's: numbers separated by ``:`` (or ``x`` for grids), then ``name=value``.

    Examples
    --------
    >>> parse_graph("cycle:10")
    <Graph cycle(10): 10 nodes, 10 edges>
    >>> parse_graph("grid:2x3")
    <Graph grid(2, 3): 6 nodes, 7 edges>
    >>> parse_graph("rgg:20:seed=1")
    <Graph random_geometric(20, seed=1): 20 nodes, 54 edges>
    """
    family, _, rest = text.partition(":")
    if family not in FAMILIES:
        if _is_file(text):
            return Graph.from_file(text)
        raise InvalidParameter(
            f"graph must be a file or one of {', '.join(FAMILIES)} with arguments such as cycle:10, got {text!r}"
        )
    positional, named = [], {}
    for part in rest.replace("x", ":").split(":") if rest else []:
        key, equals, value = part.rpartition("=")
        if equals:
            named[key] = _number(value, text)
        else:
            positional.append(_number(part, text))
    generator = FAMILIES[family]
    if seed is not None and "seed" in inspect.signature(generator).parameters:
        named.setdefault("seed", seed)
    try:
        inspect.signature(generator).bind(*positional, **named)
    except TypeError as error:
        parameters = inspect.signature(generator).parameters.values()
        usage = ":".join(f"{p.name}=…" if p.kind is p.KEYWORD_ONLY else p.name for p in parameters)
        raise InvalidParameter(f"graph {text!r}: {error}; write {family}:{usage}") from None
    return generator(*positional, **named)


def with_seed(text: str, seed: int) -> str:
    """The same specification with a seed, if it is of a random family and names none.

    Examples
    --------
    >>> with_seed("rgg:30", 7), with_seed("rgg:30:seed=1", 7), with_seed("cycle:10", 7)
    ('rgg:30:seed=7', 'rgg:30:seed=1', 'cycle:10')
    """
    family, _, rest = text.partition(":")
    if family not in FAMILIES or "seed" not in inspect.signature(FAMILIES[family]).parameters or "seed=" in rest:
        return text
    return f"{text}:seed={seed}"


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


def _number(text: str, spec: str) -> float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise InvalidParameter(f"graph {spec!r}: {text!r} is not a number") from None
