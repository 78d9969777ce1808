"""Results of a sweep on disk: a folder of Parquet files, one per run, each complete or absent.

Columns, in this order; pandas, Polars and DuckDB open the folder directly.

==================  ==========================================================================
column              meaning
==================  ==========================================================================
run                 digest of everything that determines the run; also the file's name
graph               specification, such as ``rgg:100:seed=3``
num_nodes,          size of the graph
num_edges
method              name of the method
*parameters*        one column per parameter that the sweep varies, of numbers, or of text if words such as
                    ``adaptive`` are among its settings; null where a method has none
values              how private values were drawn, such as ``uniform`` or ``spike``, or the file they were read from
seed                of the run
replica, step       which replica, at which recorded step
transmissions       messages sent until then
relative_error      ‖x − x*‖² / ‖x⁰ − x*‖²
mean_offset         mean of the final values minus the true mean (same on all rows of a replica)
posterior_std       posterior deviation, at the end, of the observer's best-known neighbour; null if no audit was asked
                    for or the method's is not of this kind
status              of the run, or ``failed``
error               why it failed; null otherwise
version, machine    provenance
==================  ==========================================================================

A failed run is one row with its error. Nothing here is ever unpickled.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidFile, MissingDependency, SottovoceError
from ..foundation.files import write_atomically

if TYPE_CHECKING:
    import pyarrow

__all__ = ["MANIFEST", "StoreBusy", "SweepStore"]

MANIFEST = "_sweep.json"
"""Readers of Parquet folders pass over names that begin with an underscore or a dot."""
FORMAT = "sottovoce-sweep-1"
FAILED = b"sottovoce.failed"
"""Mark in the footer of a failed run's file, so that a rerun finds it without reading rows."""
Row = dict[str, Any]


class StoreBusy(SottovoceError):
    """Another sweep is writing this folder."""


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependency("sweeps keep results as Parquet: pip install 'sottovoce[cluster]'") from None
    return pyarrow


class SweepStore:
    """A folder of finished runs.

    Parameters
    ----------
    folder
        Created if missing.
    parameters
        Columns for varied method parameters: name → ``"number"`` or ``"text"``. A folder holds one set of columns: a
        sweep with others is refused, one with more values of the same parameters continues it.
    settings
        What all runs share (steps, replicas, records, audit); likewise one set per folder.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        parameters: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder = Path(folder)
        manifest = self.folder / MANIFEST
        known, shared = self._read_manifest(manifest) if manifest.exists() else (None, None)
        if parameters is None:
            if known is None:
                raise InvalidFile(f"{self.folder} is not a sweep: it has no {MANIFEST}")
            parameters = known
        if shared is not None and settings is not None and shared != dict(settings):
            raise InvalidFile(
                f"{self.folder} holds runs with {shared}, not {dict(settings)}; choose another folder for this sweep"
            )
        if known is not None and dict(parameters) != known:
            raise InvalidFile(
                f"{self.folder} holds a sweep over {known}, not {dict(parameters)}; choose another folder for this one"
            )
        self.parameters = dict(parameters)
        if known is None:
            content = {"format": FORMAT, "parameters": self.parameters, "settings": dict(settings or {})}
            text = json.dumps(content, indent=1)
            write_atomically(manifest, lambda path: path.write_text(text, encoding="utf-8"))

    @staticmethod
    def _read_manifest(path: Path) -> tuple[dict[str, str], dict[str, Any]]:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise InvalidFile(f"{path} has format {content['format']!r}; this version reads {FORMAT!r}")
            return {str(name): str(kind) for name, kind in content["parameters"].items()}, dict(content["settings"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InvalidFile(f"{path} is damaged; move the folder away and start again") from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder for one writer; a second is refused at once.

        The lock belongs to the open file, so it goes with the process, however that ends.
        """
        with (self.folder / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreBusy(
                    f"another sweep is writing {self.folder}; wait for it or choose another folder"
                ) from None
            for leftover in self.folder.glob(".part-*"):
                leftover.unlink()
            yield

    def _path(self, run: str) -> Path:
        return self.folder / f"part-{run}.parquet"

    def finished(self) -> set[str]:
        """Digests of the runs that are here and succeeded.

        Failed ones are left to be done again, and so are files that cannot be read, which are removed.
        """
        parquet = _pyarrow().parquet
        done = set()
        for path in self.folder.glob("part-*.parquet"):
            try:
                footer = parquet.read_metadata(path).metadata or {}
            except (OSError, ValueError):
                path.unlink()
                continue
            if footer.get(FAILED) is None:
                done.add(path.stem.removeprefix("part-"))
        return done

    def schema(self) -> pyarrow.Schema:
        """The columns and their types."""
        pa = _pyarrow()
        text, whole, real = pa.string(), pa.int64(), pa.float64()
        return pa.schema(
            [("run", text), ("graph", text), ("num_nodes", whole), ("num_edges", whole), ("method", text)]
            + [(name, real if kind == "number" else text) for name, kind in self.parameters.items()]
            + [("values", text), ("seed", pa.uint64()), ("replica", whole), ("step", whole), ("transmissions", whole)]
            + [("relative_error", real), ("mean_offset", real), ("posterior_std", real)]
            + [("status", text), ("error", text), ("version", text), ("machine", text)]
        )

    def write(self, run: str, rows: Sequence[Row]) -> None:
        """Keep one run: written beside, then renamed into place."""
        pa = _pyarrow()
        text = [name for name, kind in self.parameters.items() if kind == "text"]
        plain = [row | {name: str(row[name]) for name in text if name in row} for row in rows]
        table = pa.Table.from_pylist(plain, schema=self.schema())
        if rows[0]["status"] == "failed":
            table = table.replace_schema_metadata({FAILED: b"yes"})
        write_atomically(self._path(run), lambda path: pa.parquet.write_table(table, path))

    def table(self) -> pyarrow.Table:
        """Everything, sorted by run, replica and step: the same table whoever computed it in whatever order."""
        pa = _pyarrow()
        paths = sorted(self.folder.glob("part-*.parquet"))
        if not paths:
            raise InvalidFile(f"{self.folder} holds no finished run")
        return pa.concat_tables([pa.parquet.read_table(path, schema=self.schema()) for path in paths])
