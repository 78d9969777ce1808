"""Graphs in and out: networkx, scipy sparse, edge-list files (text and Parquet)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidFile, InvalidGraph, MissingDependency
from .graph import Graph

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

__all__ = ["from_networkx", "from_scipy", "parse_pairs", "read_edges", "to_networkx", "to_scipy", "write_atomically", "write_edges"]


def from_networkx(graph: networkx.Graph[Any]) -> Graph:
    """Nodes are numbered in the order networkx iterates them.

    Raises
    ------
    InvalidGraph
        For directed graphs and multigraphs, and for everything :meth:`Graph.from_edges` refuses.
    """
    if graph.is_directed() or graph.is_multigraph():
        raise InvalidGraph("graph must be undirected with single edges; got a directed graph or a multigraph")
    number = {node: index for index, node in enumerate(graph.nodes)}
    pairs = [(number[a], number[b]) for a, b in graph.edges]
    name = graph.name if isinstance(graph.name, str) and graph.name else "graph"
    return Graph.from_edges(pairs, num_nodes=max(len(number), 2), name=name)


def to_networkx(graph: Graph) -> networkx.Graph[int]:
    """Nodes 0..n−1, edges in our order."""
    import networkx as nx

    out: networkx.Graph[int] = nx.Graph(name=graph.name)
    out.add_nodes_from(range(graph.num_nodes))
    out.add_edges_from(graph.edges.tolist())
    return out


def from_scipy(matrix: scipy.sparse.sparray | scipy.sparse.spmatrix | npt.ArrayLike) -> Graph:
    """Any non-zero off-diagonal entry of a symmetric matrix is an edge; the diagonal must be zero."""
    import scipy.sparse

    sparse = scipy.sparse.coo_array(matrix)
    if sparse.ndim != 2 or sparse.shape[0] != sparse.shape[1]:
        raise InvalidGraph(f"matrix must be square, got shape {sparse.shape}")
    present = scipy.sparse.csr_array(sparse.astype(bool))
    if (present != present.T).nnz:
        raise InvalidGraph("matrix must be symmetric: entry (i, j) and entry (j, i) both zero or both non-zero")
    if present.diagonal().any():
        raise InvalidGraph(f"matrix has a self-loop at node {int(np.argmax(present.diagonal()))}")
    upper = scipy.sparse.triu(present, k=1).tocoo()
    return Graph.from_edges(np.stack([upper.row, upper.col], axis=1), num_nodes=present.shape[0])


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """Symmetric 0/1 adjacency in CSR form."""
    import scipy.sparse

    ones = np.ones(2 * graph.num_edges)
    return scipy.sparse.csr_array((ones, graph.neighbours, graph.indptr), shape=(graph.num_nodes, graph.num_nodes))


def read_edges(path: str | os.PathLike[str]) -> Graph:
    """Two whole numbers a line (spaces, tabs or commas; ``#`` starts a comment), or Parquet.

    A Parquet file has columns ``source`` and ``target``. Node numbers are 0..n−1.
    """
    path = Path(path)
    if not path.is_file():
        raise InvalidFile(f"{path} does not exist or is not a file")
    pairs = _read_parquet(path) if path.suffix == ".parquet" else _read_text(path)
    return Graph.from_edges(pairs, name=path.stem)


def _read_text(path: Path) -> npt.NDArray[np.int64]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidFile(f"{path} is not a text file of node pairs") from None
    return parse_pairs(text, str(path))


def parse_pairs(text: str, source: str) -> npt.NDArray[np.int64]:
    """``(m, 2)`` node pairs from the text of an edge list; errors name ``source`` and the line."""
    pairs = []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split("#", 1)[0].replace(",", " ").split()
        if not fields:
            continue
        try:
            first, second = (int(f) for f in fields)
        except ValueError:
            raise InvalidFile(f"{source}, line {number}: expected two whole numbers, got {line.strip()[:60]!r}") from None
        pairs.append((first, second))
    if not pairs:
        raise InvalidFile(f"{source} contains no edges")
    try:
        return np.array(pairs, dtype=np.int64)
    except OverflowError:
        raise InvalidFile(f"{source} has node numbers of more than 18 digits") from None


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingDependency("Parquet files need pyarrow: pip install 'sottovoce[cluster]'") from None
    return pyarrow.parquet


def _read_parquet(path: Path) -> npt.NDArray[np.int64]:
    parquet = _parquet()
    try:
        table = parquet.read_table(path, columns=["source", "target"])
    except Exception as error:  # pyarrow raises several unrelated types for a broken file
        raise InvalidFile(f"{path} is not a Parquet edge list with columns source and target: {error}") from None
    return np.stack([table["source"].to_numpy(), table["target"].to_numpy()], axis=1).astype(np.int64)


def write_edges(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write the edge list; the previous file stays until the new one is complete."""
    path = Path(path)
    if path.suffix == ".parquet":
        parquet = _parquet()
        import pyarrow

        table = pyarrow.table({"source": graph.edges[:, 0], "target": graph.edges[:, 1]})
        write_atomically(path, lambda temporary: parquet.write_table(table, temporary))
    else:
        write_atomically(path, lambda temporary: np.savetxt(temporary, graph.edges, fmt="%d", header=graph.name))


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside ``path``, flush to disk, then rename into place: never half a file.

    If ``write`` fails or is interrupted, what was at ``path`` before is untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
