"""Results of a sweep on disk: a folder of Parquet files, each with many runs, each complete or absent.

Columns, in this order; pandas, Polars and DuckDB open ``folder/*.parquet`` directly.

==================  ==========================================================================
column              meaning
==================  ==========================================================================
run                 digest of everything that determines the run, the version of this package included
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

A failed run is one row with its error; those rows have files of their own, so that a later success replaces them.
A file is named after the SHA-256 of its content, which is checked whenever it is read here: a changed bit anywhere in
it is noticed. Pages also have the checksums of the Parquet format, for readers that look at them. Nothing here is ever
unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..errors import InvalidFile, SottovoceError
from ..foundation.extras import missing
from ..foundation.files import write_atomically
from ..foundation.system import hold

if TYPE_CHECKING:
    import pyarrow

    from .runs import Outcome

__all__ = ["MANIFEST", "StoreBusy", "SweepStore"]

MANIFEST = "_sweep.json"
"""Readers of Parquet folders pass over names that begin with an underscore or a dot."""
FORMAT = "sottovoce-sweep-2"
FAILED = "part-failed-"


class StoreBusy(SottovoceError):
    """Another sweep is writing this folder."""


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise missing("pyarrow", by="a sweep's dataset") from None
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
        What all runs share (steps, replicas, records, audit); likewise one set per folder, and one version of this
        package. To read a folder, leave both out.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        parameters: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder = Path(folder)
        path = self.folder / MANIFEST
        known = _read_manifest(path) if path.exists() else None
        if parameters is None:
            if known is None:
                raise InvalidFile(f"{self.folder} is not a sweep: it has no {MANIFEST}")
            self.parameters: dict[str, str] = known["parameters"]
            return
        self.parameters = dict(parameters)
        wanted = {"version": __version__, "settings": dict(settings or {}), "parameters": self.parameters}
        if known is None:
            text = json.dumps(_signed({"format": FORMAT} | wanted), indent=1)
            write_atomically(path, lambda new: new.write_text(text, encoding="utf-8"))
            return
        for what, here in wanted.items():
            if known[what] != here:
                raise InvalidFile(
                    f"{self.folder} holds a sweep with {what} {known[what]}, not {here}; "
                    "choose another folder for this one"
                )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder for one writer; a second is refused at once.

        The lock belongs to the open file, so it goes with the process, however that ends.
        """
        with (self.folder / ".lock").open("w") as lock:
            try:
                hold(lock.fileno(), "a sweep's dataset")
            except BlockingIOError:
                raise StoreBusy(
                    f"another sweep is writing {self.folder}; wait for it or choose another folder"
                ) from None
            for leftover in self.folder.glob(".part-*"):
                leftover.unlink()
            yield

    # -- writing ----------------------------------------------------------------------------------

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Keep these runs: one file for those that succeeded, one for those that failed."""
        self._write("part-", [outcome for outcome in outcomes if outcome.error is None])
        self._write(FAILED, [outcome for outcome in outcomes if outcome.error is not None])

    def _write(self, prefix: str, outcomes: Sequence[Outcome]) -> None:
        if outcomes:
            self._write_table(prefix, self._rows(outcomes))

    def _write_table(self, prefix: str, table: pyarrow.Table) -> None:
        pa = _pyarrow()
        stream = pa.BufferOutputStream()
        pa.parquet.write_table(
            table, stream, compression="zstd", store_schema=False, write_page_checksum=True,
            use_dictionary=[name for name in table.column_names if name != "relative_error"],
        )  # fmt: skip
        content = memoryview(stream.getvalue())
        path = self.folder / f"{prefix}{_digest(content)}.parquet"
        write_atomically(path, lambda new: new.write_bytes(content))

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

    def _rows(self, outcomes: Sequence[Outcome]) -> pyarrow.Table:
        """One table of them all; what is the same on all rows of a run is kept once and pointed at."""
        pa = _pyarrow()
        which = np.repeat(np.arange(len(outcomes)), [outcome.num_rows for outcome in outcomes])
        columns = {}
        for field in self.schema():
            if field.name in outcomes[0].columns:
                columns[field.name] = pa.array(np.concatenate([o.columns[field.name] for o in outcomes]), field.type)
                continue
            shared = [outcome.shared.get(field.name) for outcome in outcomes]
            if field.type == pa.string():
                once = pa.array([s if s is None else str(s) for s in shared], field.type).dictionary_encode()
                columns[field.name] = once.take(pa.array(which))
            else:
                columns[field.name] = pa.array(shared, field.type).take(pa.array(which))
        return pa.table(columns)

    # -- reading ----------------------------------------------------------------------------------

    def finished(self) -> set[str]:
        """Digests of the runs that are here and succeeded; files that are damaged are removed, to be done again."""
        done: set[str] = set()
        for path in self._paths():
            try:
                runs = _column([self._open(path)], "run")
            except InvalidFile:
                path.unlink()
                continue
            if not path.name.startswith(FAILED):
                done.update(runs.dictionary.to_pylist())
        return done

    def forget_failures(self, runs: Iterable[str]) -> None:
        """Remove the rows of these failed runs: they are about to be done again."""
        pa = _pyarrow()
        again = pa.array(sorted(runs), pa.string())
        for path in self.folder.glob(f"{FAILED}*.parquet"):
            table = self._open(path).read()
            kept = table.filter(pa.compute.invert(pa.compute.is_in(table["run"].cast(pa.string()), again)))
            if kept.num_rows < table.num_rows:
                path.unlink()
                if kept.num_rows:
                    self._write_table(FAILED, kept)

    def table(self) -> pyarrow.Table:
        """Everything, sorted by run, replica and step: the same table whoever computed it in whatever order.

        Raises
        ------
        InvalidFile
            If there is no run, or a file is not as it was written.
        """
        paths = self._paths()
        if not paths:
            raise InvalidFile(f"{self.folder} holds no finished run")
        files = [self._open(path) for path in paths]
        order = _order_of_runs(_column(files, "run"))
        schema = self.schema()  # a column at a time: less than half the memory of sorting the table
        columns = [_column(files, field.name).take(order).cast(field.type) for field in schema]
        return _pyarrow().table(columns, schema=schema)

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))

    def _open(self, path: Path) -> Any:
        """The file, its content checked; text comes as dictionaries."""
        pa = _pyarrow()
        content = path.read_bytes()
        if _digest(content) != path.stem.rpartition("-")[2]:
            raise InvalidFile(
                f"{path} is damaged: its content is not what was written; run the sweep again, which replaces it"
            )
        text = [field.name for field in self.schema() if field.type == pa.string()]
        return pa.parquet.ParquetFile(pa.BufferReader(content), read_dictionary=text)


def _column(files: Sequence[Any], name: str) -> Any:
    """One column of all files, in one piece."""
    chunks = [chunk for file in files for chunk in file.read(columns=[name])[name].chunks]
    return _pyarrow().chunked_array(chunks).unify_dictionaries().combine_chunks()


def _order_of_runs(runs: Any) -> Any:
    """The rows sorted by run; those of a run are in order already."""
    rank = np.empty(len(runs.dictionary), dtype=np.int32)
    rank[np.argsort(runs.dictionary.to_numpy(zero_copy_only=False))] = np.arange(len(rank))
    return _pyarrow().array(np.argsort(rank[runs.indices.to_numpy()], kind="stable"))


def _digest(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _signed(content: Mapping[str, Any]) -> dict[str, Any]:
    return {**content, "digest": _digest(json.dumps(content, sort_keys=True).encode())}


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        known, given = content["format"], content.pop("digest", None)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidFile(f"{path} is damaged; move the folder away and start again") from None
    if known == "sottovoce-sweep-1":
        raise InvalidFile(
            f"{path.parent} is a sweep of an earlier version ({known}); pandas still opens its files, this version "
            f"reads and continues {FORMAT} only: choose another folder"
        )
    if known != FORMAT or _signed(content)["digest"] != given:
        raise InvalidFile(f"{path} is damaged, or not of format {FORMAT}; move the folder away and start again")
    return dict(content)
