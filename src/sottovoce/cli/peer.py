"""``sottovoce peer``: start, inspect, change and stop one peer."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

__all__ = ["command"]

CONFIG = click.argument("config", type=click.Path(path_type=Path))
VALUE_FROM = click.option(
    "--value-from",
    type=click.Path(path_type=Path, allow_dash=True),
    help="File with the private value: a number, a list, .npy, or .csv; - reads standard input.",
)
COLUMN = click.option("--column", help="Column of a .csv file, by title or position from 1.")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object for machines.")


@click.group()
def command() -> None:
    """Start, inspect and stop one peer."""


@command.command()
@CONFIG
@VALUE_FROM
@COLUMN
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info")
def start(config: Path, value_from: Path | None, column: str | None, log_level: str) -> None:
    """Run the peer described by CONFIG until it is stopped (Ctrl-C, SIGTERM) or leaves.

    The private value is read from a file, never from the command line. It may be left out when the peer has run
    before: it then goes on with the value it had. Logs are JSON lines on standard error.
    """
    from ..peer.process.service import start_peer
    from ..peer.process.values import read_value

    start_peer(config, None if value_from is None else read_value(value_from, column=column), log_level=log_level)


@command.command()
@CONFIG
@click.option("--watch", is_flag=True, help="Keep the table on screen, refreshed every half second.")
@click.option("--estimate-to", type=click.Path(path_type=Path), help="Also write the whole estimate to this .npy file.")
@JSON
def status(config: Path, watch: bool, estimate_to: Path | None, as_json: bool) -> None:
    """Show estimate, error, settledness, noise left, budget and neighbours of a running peer."""
    answer = _ask(config, "status", full=as_json or estimate_to is not None)
    if estimate_to is not None:
        _write_estimate(answer["status"], estimate_to)
    if as_json:
        click.echo(json.dumps(answer))
        return
    from rich.console import Console
    from rich.live import Live

    from ._peer_view import one_peer

    if not watch:
        Console().print(one_peer(answer))
        return
    import time

    with Live(one_peer(answer), refresh_per_second=4) as live:
        while True:
            time.sleep(0.5)
            live.update(one_peer(_ask(config, "status")))


@command.command()
@CONFIG
@JSON
def leave(config: Path, as_json: bool) -> None:
    """Leave the network: neighbours take this peer out of the average, and it stops."""
    untold = _ask(config, "leave")["untold"]
    if as_json:
        click.echo(json.dumps({"done": True, "untold": untold}))
    elif untold:
        click.echo(f"the peer is stopping, but could not tell {', '.join(untold)}: they must drop it")
    else:
        click.echo("the peer has told its neighbours and is stopping")


@command.command()
@CONFIG
@JSON
def stop(config: Path, as_json: bool) -> None:
    """Stop the process; the peer stays a member and can be started again."""
    _ask(config, "stop")
    _done("the peer is stopping; it is still a member", as_json=as_json)


@command.command()
@CONFIG
@click.argument("neighbour")
@JSON
def drop(config: Path, neighbour: str, as_json: bool) -> None:
    """Remove NEIGHBOUR, for good: what it had contributed through this edge is taken back."""
    _ask(config, "drop", neighbour=neighbour)
    _done(f"{neighbour} is no longer a neighbour; the configuration file says so too", as_json=as_json)


@command.command()
@CONFIG
@click.argument("neighbour")
@click.argument("address")
@JSON
def add(config: Path, neighbour: str, address: str, as_json: bool) -> None:
    """Accept NEIGHBOUR, which listens on ADDRESS (host:port); it must add this peer too."""
    _ask(config, "add", neighbour=neighbour, address=address)
    _done(f"{neighbour} is a neighbour; the configuration file says so too", as_json=as_json)


@command.command("set-value")
@CONFIG
@VALUE_FROM
@COLUMN
@click.option("--new-secret", is_flag=True, help="The new value tells nothing about the old: the budget starts afresh.")
@JSON
def set_value(config: Path, value_from: Path | None, column: str | None, new_secret: bool, as_json: bool) -> None:
    """Give a running peer a new private value; its noise starts afresh."""
    from ..errors import InvalidParameter
    from ..peer.process.control import encode_value
    from ..peer.process.values import read_value
    from ..peer.protocol.state import check_value

    if value_from is None:
        raise InvalidParameter("--value-from is missing: the file with the new private value")
    settings = _load(config)
    given = read_value(value_from, column=column)
    value = check_value(given, dimension=settings.dimension, low=settings.low, high=settings.high)
    _ask(config, "set-value", value=encode_value(value), new_secret=new_secret)
    _done("the peer has a new private value", as_json=as_json)


@command.command()
@CONFIG
@click.option("--install", type=click.Path(path_type=Path), help="The signed certificate that came back.")
@JSON
def renew(config: Path, install: Path | None, as_json: bool) -> None:
    """Change this peer's key without it leaving this machine.

    Without --install: make a new key and a request (identity/peer.csr) for the authority to sign with `sottovoce
    network sign`. With --install: check the signed certificate, put both in place; restart the peer to use them.
    """
    from ..peer.membership import renewal

    settings = _load(config)
    if install is None:
        request = renewal.prepare(settings)
        _done(f"have the authority sign {request}, then: sottovoce peer renew {config} --install FILE", as_json=as_json)
    else:
        renewal.install(settings, install)
        _done("the new certificate is in place; restart the peer to use it", as_json=as_json)


def _write_estimate(status: dict[str, Any], path: Path) -> None:
    import numpy as np

    from ..errors import InvalidParameter

    if status["estimate"] is None:
        raise InvalidParameter("there is no estimate yet: no exchange has taken place")
    if path.suffix != ".npy":
        raise InvalidParameter(f"--estimate-to must end in .npy, got {path.name!r}")
    np.save(path, np.array(status["estimate"], dtype=np.float64))


def _load(config: Path) -> Any:
    from ..peer.membership.config import PeerConfig

    return PeerConfig.load(config)


def _ask(config: Path, what: str, **fields: Any) -> dict[str, Any]:
    from ..peer.process.control import ask

    return ask(_load(config).data_dir, what, **fields)


def _done(sentence: str, *, as_json: bool) -> None:
    click.echo(json.dumps({"done": True}) if as_json else sentence, file=sys.stdout)
