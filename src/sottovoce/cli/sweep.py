"""``sottovoce sweep``: many runs, on this machine or a cluster, kept as a Parquet dataset."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError, InvalidStateError
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InvalidParameter
from ..foundation.extras import missing, require
from .kinds import FileName
from .output import json_option, load_option, print_json, say

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..experiments.sweep import SweepResult

MOST_REASONS = 5
"""Different errors that are shown."""

_TALKATIVE = ("tornado.application", "distributed.client", "distributed.core", "distributed.scheduler")
"""Those of Dask's loggers that write tracebacks when a cluster ends."""


@click.command()
@click.argument("spec_file", metavar="FILE.toml", type=FileName())
@click.option(
    "--out", type=FileName(), required=True,
    help="Folder of the dataset; an earlier sweep there goes on.",
)  # fmt: skip
@load_option
@click.option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster, or 'local' to start one here.")
@json_option
def command(spec_file: Path, out: Path, dask: str | None, as_json: bool) -> None:
    """Run a grid, a list or a random sample of settings.

    Finished runs are skipped, so an interrupted sweep goes on where it stopped. The exit code is 1 if runs failed,
    130 after Ctrl-C and 143 after SIGTERM.

    \b
    sottovoce sweep decay.toml --out results
    sottovoce sweep decay.toml --out results --dask tcp://scheduler:8786
    """
    require("pyarrow", by="a sweep")
    from ..experiments.spec import read_spec
    from ..experiments.sweep import SweepInterrupted, sweep

    spec = read_spec(spec_file)
    try:
        with ExitStack() as stack:
            executor = None if dask is None else _dask(dask, stack)
            result = sweep(spec, store=out, executor=executor, progress=False if as_json else None)
    except SweepInterrupted as stopped:
        click.echo(f"error: {stopped}", err=True)
        sys.exit(1 if stopped.signal is None else 128 + stopped.signal)
    _say(result, out, as_json=as_json)
    if result.failures:
        sys.exit(1)


def _say(result: SweepResult, out: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "store": out,
                "finished": result.finished,
                "skipped": result.skipped,
                "failed": result.failures,
                "reasons": dict(result.reasons),
            }
        )
        return
    say(f"{result.finished} runs done, {result.skipped} were there already, {result.failures} failed.")
    for reason, count in list(result.reasons.items())[:MOST_REASONS]:
        click.echo(f"  {count} × {reason}", err=True)
    if len(result.reasons) > MOST_REASONS:
        click.echo(f"  and {len(result.reasons) - MOST_REASONS} other reasons: column 'error' of the dataset", err=True)
    files = str(out / "*.parquet")
    click.echo("The dataset opens in other tools:")
    click.echo(f"  pandas.read_parquet({str(out)!r})")
    click.echo(f"  polars.read_parquet({files!r})")
    click.echo(f"  duckdb.sql({f'FROM {files!r}'!r})")


def _dask(address: str, stack: ExitStack) -> Executor:
    """The executor of a cluster; both end with the stack."""
    try:
        import distributed
    except ImportError:
        raise missing("distributed", by="--dask") from None
    library: Any = distributed  # its classes are not typed
    for name in _TALKATIVE:
        logging.getLogger(name).addFilter(_is_news)
    if address == "local":
        cluster = stack.enter_context(_closing(library.LocalCluster(threads_per_worker=1, dashboard_address=None)))
        client = stack.enter_context(_closing(library.Client(cluster)))
    else:
        try:
            client = stack.enter_context(_closing(library.Client(address, timeout="10s")))
        except (OSError, ValueError, AssertionError) as error:  # Dask asserts that an address has a port
            raise InvalidParameter(f"--dask: no scheduler answers at {address} ({type(error).__name__})") from None
    executor: Executor = client.get_executor(retries=3)
    return executor


@contextmanager
def _closing(part: Any) -> Iterator[Any]:
    """A part of Dask. If it does not close in time nothing is lost, and what the sweep has to say is said."""
    try:
        yield part
    finally:
        with suppress(OSError, RuntimeError):
            part.close()


def _is_news(record: logging.LogRecord) -> bool:
    """Not what Dask logs with a traceback for each when a sweep stops: batches cancelled, connections closed.

    Where a connection is lost and nobody has stopped the sweep, the sweep itself says so.
    """
    kind = None if not record.exc_info else record.exc_info[0]
    if kind is None:
        return True
    cancelled = issubclass(kind, InvalidStateError | CancelledError | asyncio.CancelledError)
    return not cancelled and kind.__name__ != "CommClosedError"
