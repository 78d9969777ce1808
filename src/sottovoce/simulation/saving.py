"""Solutions on disk: one ``.npz`` of plain arrays and a JSON header; loading executes nothing."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..errors import InvalidFile, InvalidInput, InvalidParameter
from ..foundation.files import write_atomically
from ..graphs.circulant import Circulant
from ..graphs.graph import Family, Graph
from ..methods.base import Method
from ..methods.registry import METHODS, is_ours
from .changing.stages import Stage
from .keeping import Kept
from .random.aliases import alias_table
from .records import Records
from .solution import Solution, Status
from .values import sums_of

__all__ = ["load", "save"]

FORMAT = "sottovoce-solution-2"
FIRST = "sottovoce-solution-1"
"""Of the first release: with the mass of every coordinate where there is now one number for all of them."""

DAMAGED = (OSError, ValueError, KeyError, TypeError, EOFError, AttributeError, NotImplementedError, zipfile.BadZipFile)
"""What reading a file may end in that somebody has changed."""


def save(solution: Solution, path: str | PathLike[str]) -> None:
    """See :meth:`sottovoce.Solution.save`."""
    parameters = _parameters(solution.method)
    graph: Graph | Circulant = solution.graph
    header = {
        "format": FORMAT,
        "version": __version__,
        "seed": solution.seed,
        "replicas": solution.replicas,
        "status": str(solution.status),
        "notes": list(solution.notes),
        "code": solution.code or _code(solution.method),
        "elapsed": solution.elapsed,
        "graph": {"name": graph.name, "num_nodes": graph.num_nodes, **_about(graph)},
        "method": {
            "name": solution.method.name,
            **{k: v for k, v in parameters.items() if not isinstance(v, np.ndarray)},
        },
    }
    arrays: dict[str, Any] = {
        "private_values": solution.private_values,
        "tables": solution.tables,
        "steps_done": solution.steps_done,
        "stopped": solution.stopped,
        "steps": solution.records.steps,
        "squared": solution.records.squared,
        "drifts": solution.records.drifts,
    }
    arrays |= {f"method.{k}": v for k, v in parameters.items() if isinstance(v, np.ndarray)}
    if solution.common is not None:
        arrays["common"] = solution.common
    if solution.edge_probabilities is not None:
        arrays["edge_probabilities"] = solution.edge_probabilities
    for name in KEPT:
        if (kept := getattr(solution, name)) is not None:
            arrays |= {f"{name}.steps": kept.steps, f"{name}.numbers": kept.numbers}
    if solution.stages:
        from .changing.saving import packed

        header["stages"], numbers = packed(solution.stages)
        arrays |= numbers
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    if isinstance(graph, Graph):
        arrays["edges"] = graph.edges
        if graph.positions is not None:
            arrays["positions"] = graph.positions

    def write(temporary: Path) -> None:
        with temporary.open("wb") as stream:
            np.savez(stream, **arrays)

    write_atomically(Path(path), write)


KEPT = ("kept_values", "kept_statistic")
SPARSE = ("data", "indices", "indptr")


def _parameters(method: Method) -> dict[str, Any]:
    """What the method is made from, as numbers, words and arrays; sparse matrices are three arrays each."""
    if METHODS.get(method.name) is not type(method):
        raise InvalidParameter(
            f"method {method.name!r} must be registered before its runs are saved: put "
            f"@sottovoce.methods.register above class {type(method).__name__}"
        )
    plain: dict[str, Any] = {}
    for name in _fields(type(method)):
        value = getattr(method, name)
        if hasattr(value, "indptr"):
            plain |= {f"{name}.{part}": getattr(value, part) for part in SPARSE}
        elif isinstance(value, int | float | str | np.ndarray | np.generic | None):
            plain[name] = value.item() if isinstance(value, np.generic) else value
        else:
            raise InvalidParameter(
                f"{name} of method {method.name!r} must be a number, a word or an array to be saved, got "
                f"{type(value).__name__}"
            )
    return plain


def _code(method: Method) -> str:
    """Digest of a method's code, if it is one of the user's."""
    if is_ours(type(method)):
        return ""
    from .fingerprints import code_of  # with the compiler

    return code_of(type(method))


def _fields(cls: type[Method]) -> list[str]:
    return [field.name for field in dataclasses.fields(cls) if field.init]  # type: ignore[arg-type]


def _about(graph: Graph | Circulant) -> dict[str, Any]:
    """What is to be kept of a graph beside its name, nodes and edges."""
    if isinstance(graph, Circulant):
        return {"offsets": list(graph.offsets)}
    family = None if graph.family is None else [graph.family.name, list(graph.family.sizes)]
    return {"family": family, "labels": graph.labels}


def _graph(header: dict[str, Any], arrays: dict[str, Any]) -> Any:
    if "offsets" in header:
        return Circulant(header["num_nodes"], tuple(header["offsets"]))
    family = header["family"]
    return Graph._trusted(
        header["num_nodes"],
        arrays["edges"],
        name=header["name"],
        family=None if family is None else Family(family[0], tuple(family[1])),
        positions=arrays.get("positions"),
        labels=None if header.get("labels") is None else tuple(header["labels"]),
    )


def load(path: str | PathLike[str]) -> Solution:
    """See :meth:`sottovoce.Solution.load`."""
    path = Path(path)
    if not path.is_file():
        raise InvalidFile(f"{path} does not exist or is not a file")
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays["header"].tobytes())
        if header.get("format") not in {FORMAT, FIRST}:
            raise InvalidFile(f"{path} has format {header.get('format')!r}; this version reads {FORMAT!r}")
        return _rebuild(header, arrays)
    except InvalidInput:
        raise
    except DAMAGED as error:
        raise InvalidFile(f"{path} is not a saved solution ({type(error).__name__})") from None


def _rebuild(header: dict[str, Any], arrays: dict[str, Any]) -> Solution:
    graph = _graph(header["graph"], arrays)
    return Solution(
        graph=graph,
        method=_method(header["method"], arrays),
        private_values=arrays["private_values"],
        seed=header["seed"],
        replicas=header["replicas"],
        edge_probabilities=arrays.get("edge_probabilities"),
        aliases=alias_table(arrays.get("edge_probabilities"), graph),
        notes=tuple(header.get("notes", ())),
        stages=_stages(header, arrays),
        tables=arrays["tables"],
        common=arrays.get("common"),
        steps_done=arrays["steps_done"],
        stopped=arrays["stopped"],
        status=Status(header["status"]),
        elapsed=header["elapsed"],
        code=header.get("code", ""),
        records=Records(arrays["steps"], arrays["squared"], _drifts(header, arrays)),
        **{
            name: Kept(arrays[f"{name}.steps"], arrays[f"{name}.numbers"]) for name in KEPT if f"{name}.steps" in arrays
        },
    )


def _drifts(header: dict[str, Any], arrays: dict[str, Any]) -> Any:
    if header["format"] == FORMAT:
        return arrays["drifts"]
    return np.abs(arrays["masses"] - sums_of(arrays["private_values"])).max(axis=-1)


def _stages(header: dict[str, Any], arrays: dict[str, Any]) -> tuple[Stage, ...]:
    if "stages" not in header:
        return ()
    from .changing.saving import unpacked

    return unpacked(header["stages"], arrays)


def _method(header: dict[str, Any], arrays: dict[str, Any]) -> Method:
    name = header["name"]
    if name not in METHODS:
        raise InvalidFile(f"this is a run of method {name!r}, which is not known: import the module that registers it")
    parameters = {k: v for k, v in header.items() if k != "name"}
    parameters |= {k.removeprefix("method."): v for k, v in arrays.items() if k.startswith("method.")}
    for matrix in {key.partition(".")[0] for key in parameters if "." in key}:
        import scipy.sparse

        data, indices, indptr = (parameters.pop(f"{matrix}.{part}") for part in SPARSE)
        parameters[matrix] = scipy.sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(indptr) - 1))
    cls = METHODS[name]
    if not parameters.keys() <= set(_fields(cls)):
        takes, has = ", ".join(_fields(cls)) or "no parameter", ", ".join(parameters)
        raise InvalidFile(f"method {name!r} takes {takes}, and this run of it was saved with {has}")
    return cls(**parameters)
