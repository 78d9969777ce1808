"""``sottovoce study``: check a study and one's own rows, take part in it, show its report again; an example."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .kinds import FileName, Number
from .output import Group, json_option, print_json, say, seed_option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..peer import Peer
    from ..statistics import Study, StudyReport, Table

__all__ = ["command"]

STUDY = click.argument("study", type=FileName())
FILES = click.argument("files", nargs=-1, type=FileName())
HTML = click.option("--html", "page", type=FileName(dir_okay=False), help="Also write a page with bars here.")

LINGER = 60.0
"""Seconds to stay for neighbours that do not have the last answer yet."""

NEWS = 20.0
"""Seconds between two looks at who is missing."""


@click.group(cls=Group)
def command() -> None:
    """Statistics of tables whose rows stay with their owners."""


@command.command()
@STUDY
@FILES
@json_option
def check(study: Path, files: tuple[Path, ...], as_json: bool) -> None:
    """Check STUDY, and whether the CSV FILES fit it. All parties must see the same digest."""
    from ..statistics import Study
    from ..statistics.running import expected_noise

    declared = Study.load(study)
    tables = {str(path): declared.read(path) for path in files}
    noise = expected_noise(declared)
    seen = {path: {"rows": table.num_rows, "clipped": dict(table.clipped)} for path, table in tables.items()}
    if as_json:
        print_json({"study": declared.name, "digest": declared.digest, "noise": noise, "files": seen})
        return
    say(f"Study {declared.name}: {len(declared.columns)} columns, {len(declared.statistics)} statistics.")
    say(f"Digest {declared.digest[:12]}: the same at all parties, or the study is refused.")
    if noise:
        sums = "".join(f", the sum of {name} by {noise[name]:.3g}" for name in noise if name != "rows")
        say(f"Noise will move a count by about {noise['rows']:.2g} rows{sums}.")
    for path, table in tables.items():
        moved = ", ".join(f"{count} of {name}" for name, count in table.clipped.items() if count)
        click.echo(f"{path} fits: {table.num_rows} rows" + (f"; moved to a bound: {moved}" if moved else ""))


@command.command()
@STUDY
@FILES
@click.option("--peer", "config", type=FileName(), help="This party's peer.toml.")
@click.option("--topic", help="What the parties call this run of the study; a name is used once.")
@click.option("--timeout", type=Number(low=0.0, low_open=True), help="Seconds to wait for each sum.")
@click.option("--trial", is_flag=True, help="All parties' FILES here, without a network and without privacy.")
@click.option("--out", type=FileName(dir_okay=False), help="Also write the report as JSON here.")
@HTML
@json_option
def run(
    study: Path,
    files: tuple[Path, ...],
    config: Path | None,
    topic: str | None,
    timeout: float | None,
    trial: bool,
    out: Path | None,
    page: Path | None,
    as_json: bool,
) -> None:
    """Take part in STUDY with the rows of one CSV file, and print what all parties find.

    With --trial, run it over made-up or public files of all parties on this machine.
    """
    from ..errors import InvalidParameter
    from ..statistics import Study, run_together

    declared = Study.load(study)
    if not trial and (config is None or topic is None or len(files) != 1):
        raise InvalidParameter("study run needs --peer, --topic and one file; or --trial and the files of all parties")
    if trial and (config, topic, timeout) != (None, None, None):
        raise InvalidParameter("--trial is without a network: it goes with none of --peer, --topic and --timeout")
    if trial and (len(files) < 2 or len({path.stem for path in files}) != len(files)):
        raise InvalidParameter("--trial needs at least two files, with different names")
    _check_written({"--out": out, "--html": page}, [study, *files, *([] if config is None else [config])])
    tables = {path.stem: declared.read(path) for path in files}

    def show(report: StudyReport) -> None:
        _write(report, out, page)
        if as_json:
            print_json(report.as_dict())
        else:
            click.echo(report.to_text(), nl=False)
        sys.stdout.flush()

    if trial:
        show(run_together(declared, tables))
    else:
        assert config is not None
        assert topic is not None
        asyncio.run(_with_peer(declared, next(iter(tables.values())), config, topic, timeout, show))


@command.command()
@click.argument("files", nargs=-1, required=True, type=FileName())
@HTML
@json_option
def report(files: tuple[Path, ...], page: Path | None, as_json: bool) -> None:
    """Show the report in FILES, as `study run --out` wrote it; of several, what they tell together."""
    from ..errors import InvalidParameter
    from ..foundation.files import write_atomically
    from ..statistics.showing import page_of, text_of, together_of

    _check_written({"--html": page}, files)
    contents = [_read(file) for file in files]
    if len(files) > 1:
        if page is not None:
            raise InvalidParameter(f"--html shows one report, got {len(files)} files")
        told = together_of(contents)
        if as_json:
            print_json({"reports": len(files), "together": told})
        else:
            click.echo(told)
        return
    text = text_of(contents[0])
    if page is not None:
        write_atomically(page, lambda temporary: temporary.write_text(page_of(contents[0]), encoding="utf-8"))
    if as_json:
        print_json(contents[0])
    else:
        click.echo(text, nl=False)


def _check_written(written: Mapping[str, Path | None], read: Sequence[Path]) -> None:
    """See that no file is written over one that is read, or over another one that is written."""
    from ..errors import InvalidParameter

    taken = {os.path.realpath(path) for path in read}
    for option, path in written.items():
        if path is None or (path.exists() and not path.is_file()):  # a pipe, a device
            continue
        if os.path.realpath(path) in taken:
            raise InvalidParameter(f"{option} must be a file of its own, got {str(path)!r}")
        taken.add(os.path.realpath(path))


def _read(file: Path) -> Any:
    from ..errors import InvalidFile

    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        deep = _deeper(found, 10)
        if not deep:
            json.dumps(found, ensure_ascii=False).encode("utf-8")  # what is shown later can be written
    except (OSError, ValueError) as error:
        raise InvalidFile(f"{file} cannot be read as a report ({type(error).__name__})") from None
    except RecursionError:
        deep = True
    if deep:
        raise InvalidFile(f"{file} is not a report of a study: it is nested too deeply")
    return found


def _deeper(given: Any, levels: int) -> bool:
    """Whether lists and tables lie in each other more than so many levels deep."""
    parts = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
    return levels == 0 or any(_deeper(each, levels - 1) for each in parts)


@command.command()
@click.argument("folder", type=FileName(file_okay=False))
@seed_option
@json_option
def example(folder: Path, seed: int, as_json: bool) -> None:
    """Write a study of salaries and the files of twelve made-up companies into FOLDER."""
    from ..statistics import write_example

    study, *companies = write_example(folder, seed=seed)
    if as_json:
        print_json({"study": str(study), "files": [str(path) for path in companies]})
        return
    click.echo(f"Wrote {study} and the files of {len(companies)} companies. Try:")
    click.echo(f"  sottovoce study run {study} {folder}/*.csv --trial")


async def _with_peer(
    study: Study,
    table: Table,
    path: Path,
    topic: str,
    timeout: float | None,  # noqa: ASYNC109
    show: Callable[[StudyReport], None],
) -> None:
    """Show the report of the network to which a peer belongs, and stay for neighbours that do not have it yet."""
    from ..errors import InvalidFile
    from ..peer import Peer, PeerConfig
    from ..statistics import run_study

    async with Peer(PeerConfig.load(path), standing=False) as peer:
        watching = asyncio.create_task(_say_who_is_missing(peer))
        try:
            found = await run_study(study, table, peer, topic=topic, timeout=timeout)
        except InvalidFile:  # the answers say so, and a neighbour may not have them yet
            await _linger(peer)
            raise
        finally:
            watching.cancel()
        show(found)
        await _linger(peer)


async def _say_who_is_missing(peer: Peer) -> None:
    """On standard error, whenever these are others than before: a study may wait for hours."""
    said: set[str] = set()
    while True:
        await asyncio.sleep(NEWS)
        waiting = [topic for topic in peer.status().topics.values() if topic.missing]
        names = {one.name for topic in waiting for one in topic.missing}
        if names and names != said:
            click.echo(waiting[0].statement, err=True)
        said = names


async def _linger(peer: Peer) -> None:
    with contextlib.suppress(TimeoutError):
        await peer.quiet(LINGER)


def _write(report: StudyReport, out: Path | None, page: Path | None) -> None:
    from ..foundation.files import write_atomically

    for target, text in ((out, report.to_json()), (page, report.to_html())):
        if target is not None:
            write_atomically(target, lambda temporary, text=text: temporary.write_text(text, encoding="utf-8"))  # type: ignore[misc]
