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
from ..errors import InvalidFile, InvalidInput
from ..foundation.files import write_atomically
from ..graphs.graph import Family, Graph
from ..methods import METHODS
from ..methods.base import Method
from .random.aliases import alias_table
from .solution import Solution, Status, _aligned

__all__ = ["load", "save"]

FORMAT = "sottovoce-solution-1"


def save(solution: Solution, path: str | PathLike[str]) -> None:
    """See :meth:`sottovoce.Solution.save`."""
    parameters = _plain({f.name: getattr(solution.method, f.name) for f in dataclasses.fields(solution.method)})  # type: ignore[arg-type]
    graph = solution.graph
    header = {
        "format": FORMAT,
        "version": __version__,
        "seed": solution.seed,
        "replicas": solution.replicas,
        "status": str(solution.status),
        "notes": list(solution.notes),
        "elapsed": solution.elapsed,
        "graph": {"name": graph.name, "num_nodes": graph.num_nodes, "family": _family(graph)},
        "method": {
            "name": solution.method.name,
            **{k: v for k, v in parameters.items() if not isinstance(v, np.ndarray)},
        },
    }
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "edges": graph.edges,
        "private_values": solution.private_values,
        "tables": solution.tables,
        "steps_done": solution.steps_done,
        "stopped": solution.stopped,
        "steps": solution.steps,
        "squared": np.array(solution._squared).reshape(-1, solution.replicas),
        "masses": np.array(solution._masses).reshape(-1, solution.replicas, solution.num_coordinates),
    }
    arrays |= {f"method.{k}": v for k, v in parameters.items() if isinstance(v, np.ndarray)}
    if solution.edge_probabilities is not None:
        arrays["edge_probabilities"] = solution.edge_probabilities
    if graph.positions is not None:
        arrays["positions"] = graph.positions

    def write(temporary: Path) -> None:
        with temporary.open("wb") as stream:
            np.savez(stream, **arrays)

    write_atomically(Path(path), write)


SPARSE = ("data", "indices", "indptr")


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Sparse matrices as the three arrays they are made of."""
    plain: dict[str, Any] = {}
    for name, value in parameters.items():
        if hasattr(value, "indptr"):
            plain |= {f"{name}.{part}": getattr(value, part) for part in SPARSE}
        else:
            plain[name] = value
    return plain


def _family(graph: Graph) -> list[Any] | None:
    return None if graph.family is None else [graph.family.name, list(graph.family.sizes)]


def load(path: str | PathLike[str]) -> Solution:
    """See :meth:`sottovoce.Solution.load`."""
    path = Path(path)
    if not path.is_file():
        raise InvalidFile(f"{path} does not exist or is not a file")
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays["header"].tobytes())
        if header.get("format") != FORMAT:
            raise InvalidFile(f"{path} has format {header.get('format')!r}; this version reads {FORMAT!r}")
        return _rebuild(header, arrays)
    except InvalidInput:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise InvalidFile(f"{path} is not a saved solution ({type(error).__name__})") from None


def _rebuild(header: dict[str, Any], arrays: dict[str, Any]) -> Solution:
    family = header["graph"]["family"]
    graph = Graph._trusted(
        header["graph"]["num_nodes"],
        arrays["edges"],
        name=header["graph"]["name"],
        family=None if family is None else Family(family[0], tuple(family[1])),
        positions=arrays.get("positions"),
    )
    tables = _aligned(arrays["tables"].shape)
    tables[...] = arrays["tables"]
    probabilities = arrays.get("edge_probabilities")
    return Solution(
        graph=graph,
        method=_method(header["method"], arrays),
        private_values=arrays["private_values"],
        seed=header["seed"],
        replicas=header["replicas"],
        edge_probabilities=probabilities,
        aliases=alias_table(probabilities, graph.num_edges),
        tables=tables,
        steps_done=arrays["steps_done"],
        stopped=arrays["stopped"],
        status=Status(header["status"]),
        elapsed=header["elapsed"],
        notes=tuple(header.get("notes", ())),
        _steps=arrays["steps"].tolist(),
        _squared=list(arrays["squared"]),
        _masses=list(arrays["masses"]),
    )


def _method(header: dict[str, Any], arrays: dict[str, Any]) -> Method:
    parameters = {k: v for k, v in header.items() if k != "name"}
    parameters |= {k.removeprefix("method."): v for k, v in arrays.items() if k.startswith("method.")}
    for name in {key.partition(".")[0] for key in parameters if "." in key}:
        import scipy.sparse

        data, indices, indptr = (parameters.pop(f"{name}.{part}") for part in SPARSE)
        parameters[name] = scipy.sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(indptr) - 1))
    return METHODS[header["name"]](**parameters)
