"""``sottovoce peer``: make a key and a card, join a network, start, inspect, change and stop one peer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .kinds import FileName, Number, Whole
from .output import Group, json_option, near, print_json, say, terminal

if TYPE_CHECKING:
    from ..peer.membership.roster import Roster

__all__ = ["command"]

CONFIG = click.argument("config", type=FileName())
FOLDER = click.argument("folder", type=FileName())
FILE = click.argument("file", type=FileName())
VALUE_FROM = click.option(
    "--value-from",
    type=FileName(allow_dash=True),
    help="File with the private value: a number, a list, .npy, or .csv; - reads standard input.",
)
COLUMN = click.option("--column", help="Column of a .csv file, by title or position from 1.")


@click.group(cls=Group)
def command() -> None:
    """Make, start, inspect and stop one peer."""


@command.command()
@click.argument("name")
@click.option("--network", required=True, help="The network that this party wants to belong to.")
@click.option("--address", help="host:port at which others reach it; leave it out if it makes all calls itself.")
@click.option("--out", type=FileName(), help="Folder for key and card (default: the name).")
@click.option("--days", type=Whole(1), default=3650, show_default=True, help="Term of the certificate.")
@json_option
def init(name: str, network: str, address: str | None, out: Path | None, days: int, as_json: bool) -> None:
    """Make a private key for the party NAME, which stays in its folder, and a card to hand out.

    The card holds name, address and certificate; nothing in it is secret. Send it to the founder of the network.
    """
    from ..peer.membership.keys import make_identity

    folder = out or Path(name)
    key, card = make_identity(name, network, folder, address=address, days=days)
    path = folder / f"{name}.card"
    if as_json:
        print_json({"key": str(key), "card": str(path), "fingerprint": card.fingerprint})
        return
    say(f"{key} is {name}'s private key: it never leaves this folder.")
    say(f"Send {path} to the founder. Fingerprint: {card.fingerprint}")


@command.command()
@FOLDER
@click.argument("roster", type=FileName())
@click.option(
    "--smallest-std", type=Number(), required=True,
    help="All neighbours together may never know the private value more closely than this; 0: no limit.",
)  # fmt: skip
@click.option("--listen", help="Where to listen, if not on every address of this machine at the card's port.")
@click.option("--founder", help="The founder's fingerprint as you were told it; another founder's roster is refused.")
@json_option
def join(
    folder: Path, roster: Path, smallest_std: float, listen: str | None, founder: str | None, as_json: bool
) -> None:
    """Join the network of ROSTER: check it, and write peer.toml into FOLDER, where this party's key and card lie."""
    from ..errors import ConfigError
    from ..peer.membership.founding import join as write
    from ..peer.membership.keys import Card
    from ..peer.membership.roster import SignedRoster

    cards = sorted(folder.glob("*.card"))
    if len(cards) != 1 or not (folder / "peer.key").exists():
        raise ConfigError(f"{str(folder)!r} must hold peer.key and one card; `sottovoce peer init` makes them")
    if (folder / "peer.toml").exists():
        raise ConfigError(
            f"{str(folder)!r} has joined already; a later roster is installed with `sottovoce peer roster`"
        )
    signed = SignedRoster.load(roster)
    if founder is not None and founder != signed.roster.founder_fingerprint:
        raise ConfigError(f"the roster is signed by {signed.roster.founder_fingerprint}, not by --founder {founder}")
    path = write(folder, Card.load(cards[0]), signed, listen=listen, smallest_std=smallest_std)
    _show_roster(signed.roster, as_json=as_json)
    if not as_json:
        click.echo()
        say(f"Written: {path}. Ask the others whether they see the same digest.")


@command.command()
@CONFIG
@VALUE_FROM
@COLUMN
@click.option("--replace-value", is_flag=True, help="Let the file's value take the place of a different stored one.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info")
def start(config: Path, value_from: Path | None, column: str | None, replace_value: bool, log_level: str) -> None:
    """Run the peer described by CONFIG until it is stopped (Ctrl-C, SIGTERM) or leaves.

    The private value is read from a file, never from the command line, and kept in the peer's store: from then on the
    stored one counts. A start with another value goes on with the stored one and says so in the log, unless
    --replace-value is given; `sottovoce peer set-value` changes it while the peer runs. Logs are JSON lines on standard
    error.
    """
    from ..peer.process.service import start_peer
    from ..peer.process.values import read_value

    value = None if value_from is None else read_value(value_from, column=column)
    start_peer(config, value, replace_value=replace_value, log_level=log_level)


@command.command()
@CONFIG
@click.option("--watch", is_flag=True, help="Keep the table on screen, refreshed every half second.")
@click.option("--estimate-to", type=FileName(), help="Also write the whole estimate to this .npy file.")
@json_option
def status(config: Path, watch: bool, estimate_to: Path | None, as_json: bool) -> None:
    """Show estimate, error, settledness, noise left, budget and neighbours of a running peer."""
    answer = _ask(config, "status", full=as_json or estimate_to is not None)
    if estimate_to is not None:
        _write_estimate(answer["status"], estimate_to)
    if as_json:
        print_json(answer)
        return
    from rich.live import Live

    from ._peer_view import one_peer

    if not watch:
        terminal().print(one_peer(answer))
        return
    import time

    with Live(one_peer(answer), refresh_per_second=4) as live:
        while True:
            time.sleep(0.5)
            live.update(one_peer(_ask(config, "status")))


@command.command()
@CONFIG
@json_option
def leave(config: Path, as_json: bool) -> None:
    """Leave the network: neighbours take this peer out of the average, and it stops."""
    untold = _ask(config, "leave")["untold"]
    if as_json:
        print_json({"done": True, "untold": untold})
    elif untold:
        say(f"the peer is stopping, but could not tell {', '.join(untold)}: they must drop it")
    else:
        say("the peer has told its neighbours and is stopping")


@command.command()
@CONFIG
@json_option
def stop(config: Path, as_json: bool) -> None:
    """Stop the process; the peer stays a member and can be started again."""
    _ask(config, "stop")
    _done("the peer is stopping; it is still a member", as_json=as_json)


@command.command()
@CONFIG
@click.argument("neighbour")
@json_option
def drop(config: Path, neighbour: str, as_json: bool) -> None:
    """Remove NEIGHBOUR, for good: what it had contributed through this edge is taken back, here and there.

    A neighbour that is down is told when it is back; until then `peer status` shows it as parting.
    """
    told = _ask(config, "drop", neighbour=neighbour)["told"]
    if as_json:
        print_json({"done": True, "told": told})
        return
    heard = "and has heard it" if told else "and has not heard it yet: this peer goes on telling it"
    say(f"{neighbour} is no longer a neighbour, {heard}; the configuration file says so too")


@command.command()
@CONFIG
@click.argument("neighbour")
@json_option
def add(config: Path, neighbour: str, as_json: bool) -> None:
    """Take back NEIGHBOUR, which was dropped or had left; the roster must name it, and it must add this peer too."""
    _ask(config, "add", neighbour=neighbour)
    _done(f"{neighbour} is a neighbour again; the configuration file says so too", as_json=as_json)


@command.command()
@CONFIG
@FILE
@json_option
def backup(config: Path, file: Path, as_json: bool) -> None:
    """Write the private value and the privacy account into FILE, which must not exist. The peer may be running.

    The file is as secret as the value. Key, roster and configuration are files of their own: copy them too.
    """
    from ..errors import NotRunning
    from ..peer.process.backup import write_backup
    from ..peer.process.control import ask
    from ..peer.store.sqlite import read_state

    settings = _load(config)
    try:
        ask(settings.data_dir, "backup", path=str(file.absolute()))
    except NotRunning:
        write_backup(file, settings, read_state(settings.data_dir))
    _done(f"{file} holds the private value: keep it as safe as the value itself", as_json=as_json)


@command.command()
@CONFIG
@FILE
@click.option("--nothing-since", is_flag=True, help="The peer has not run since: the privacy account goes on.")
@json_option
def restore(config: Path, file: Path, nothing_since: bool, as_json: bool) -> None:
    """Make a peer's store anew from the backup in FILE; its neighbours give the ledgers back when it starts.

    What was shown of the value since the backup was taken cannot be known. With a budget (smallest_std above 0) all of
    it is assumed spent, unless --nothing-since says that the peer has not run meanwhile.
    """
    from ..peer.process.backup import restore as write

    taken = write(_load(config), file, nothing_since=nothing_since)
    _done(f"the private value is that of {taken}; start the peer, and its neighbours do the rest", as_json=as_json)


@command.command("set-value")
@CONFIG
@VALUE_FROM
@COLUMN
@click.option("--new-secret", is_flag=True, help="The new value tells nothing about the old: the budget starts afresh.")
@json_option
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
@click.argument("roster", required=False, type=FileName())
@click.option("--founder", help="Believe another founder from now on: the fingerprint, as you were told it.")
@json_option
def roster(config: Path, roster: Path | None, founder: str | None, as_json: bool) -> None:
    """Install a later ROSTER from the founder; without one, show the roster in place and who can learn what.

    Installed is only what the founder of this network signed, with a later number, and with this peer's own key in it.
    A running peer takes it up at once, and its neighbours get it from there.
    """
    from ..peer.membership.changes import install
    from ..peer.membership.credentials import trusted_roster
    from ..peer.membership.files import edit_founder
    from ..peer.membership.roster import SignedRoster

    settings = _load(config)
    if roster is None:
        _show_roster(trusted_roster(settings.identity, settings.network), as_json=as_json)
        return
    signed = SignedRoster.load(roster)
    install(settings, signed, founder=founder)
    if founder is None:
        use = _take_up(settings)
    else:  # whom a peer believes it reads when it starts
        edit_founder(config, founder)
        use = "restart the peer to use it"
    number, digest = signed.roster.number, signed.roster.digest.hex()
    if as_json:
        print_json({"number": number, "digest": digest, "use": use})
    else:
        say(f"roster {number} is in place, digest {digest[:32]}; {use}")


@command.command()
@CONFIG
@json_option
def rekey(config: Path, as_json: bool) -> None:
    """Make a new key for this peer, and the card with which the founder puts it into the next roster.

    The key in use stays until that roster is installed with `sottovoce peer roster`.
    """
    from ..peer.membership.changes import new_card

    card = new_card(_load(config))
    if as_json:
        print_json({"card": str(card)})
    else:
        say(f"send {near(card)} to the founder, who runs:")
        click.echo(f"  sottovoce network rekey FOLDER {card.name}")


def _take_up(settings: Any) -> str:
    """Tell the peer, if it runs, that a later roster is in place; what came of it."""
    from ..errors import NotRunning
    from ..peer.process.control import ask

    try:
        return str(ask(settings.data_dir, "roster")["notice"]) or "the running peer uses it"
    except NotRunning:
        return "the peer uses it from its next start on"


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


def _show_roster(roster: Roster, *, as_json: bool) -> None:
    from .network import tell_roster

    tell_roster(roster, as_json=as_json)


def _done(sentence: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"done": True})
    else:
        say(sentence)
