"""``sottovoce sweep``: many runs, on this machine or a cluster, kept as a Parquet dataset."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InvalidParameter, MissingDependency
from .output import json_option, load_option, print_json

if TYPE_CHECKING:
    from concurrent.futures import Executor


@click.command()
@click.argument("spec_file", metavar="FILE.toml", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), required=True,
    help="Folder of the dataset; an earlier sweep there goes on.",
)  # fmt: skip
@load_option
@click.option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster, or 'local' to start one here.")
@json_option
def command(spec_file: Path, out: Path, dask: str | None, as_json: bool) -> None:
    """Run a grid, a list or a random sample of settings.

    Finished runs are skipped, so an interrupted sweep goes on where it stopped.

    \b
    sottovoce sweep decay.toml --out results
    sottovoce sweep decay.toml --out results --dask tcp://scheduler:8786
    """
    from ..experiments.spec import read_spec
    from ..experiments.sweep import sweep

    spec = read_spec(spec_file)
    with ExitStack() as stack:
        result = sweep(
            spec, store=out, executor=None if dask is None else _dask(dask, stack), progress=False if as_json else None
        )
    if as_json:
        print_json({"store": out, "finished": result.finished, "skipped": result.skipped, "failed": result.failures})
        return
    click.echo(f"{result.finished} runs done, {result.skipped} were there already, {result.failures} failed.")
    click.echo(f"The dataset: {out} (pandas.read_parquet, polars.read_parquet, duckdb 'FROM ...' open it).")


def _dask(address: str, stack: ExitStack) -> Executor:
    """The executor of a cluster; both end with the stack."""
    try:
        import distributed
    except ImportError:
        raise MissingDependency("--dask needs distributed: pip install 'sottovoce[cluster]'") from None
    library: Any = distributed  # its classes are not typed
    if address == "local":
        cluster = stack.enter_context(library.LocalCluster(threads_per_worker=1, dashboard_address=None))
        client = stack.enter_context(library.Client(cluster))
    else:
        try:
            client = stack.enter_context(library.Client(address, timeout="10s"))
        except (OSError, ValueError) as error:
            raise InvalidParameter(f"--dask: no scheduler answers at {address} ({type(error).__name__})") from None
    executor: Executor = client.get_executor(retries=3)
    return executor
