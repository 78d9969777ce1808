"""``sottovoce network``: found a network from the parties' cards, change who is in it, or run one on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .kinds import FileName, Number, Whole
from .output import Group, json_option, print_json, say, terminal

if TYPE_CHECKING:
    from ..graphs import Graph
    from ..peer.membership.roster import Roster

__all__ = ["command", "tell_roster"]

FOLDER = click.argument("folder", type=FileName())
CARD = click.argument("card", type=FileName())
ACCEPT = click.option(
    "--accept", "accepted", multiple=True, metavar="NAME",
    help="NAME has said yes to a place where another member can know its value. Repeat for more.",
)  # fmt: skip


@click.group(cls=Group)
def command() -> None:
    """Found, change, run and watch a network of peers."""


@command.command()
@click.argument("cards", nargs=-1, required=True, type=FileName())
@click.option("--out", type=FileName(), required=True, help="Folder to make; must not exist.")
@click.option(
    "--graph",
    help="A family such as cycle, complete or rgg, or a file of lines 'ada bob' (default: one where every member keeps"
    " its privacy against every other).",
)
@click.option("--of", "kind", type=click.Choice(["money", "percent", "count"]), help="What the values are.")
@click.option("--step", help="The values are multiples of this, for example 0.01.")
@click.option("--low", type=Number(), help="Least private value that a member may have.")
@click.option("--high", type=Number(), help="Greatest private value that a member may have.")
@click.option("--noise-std", type=Number(), required=True, help="Standard deviation of the first noise draw.")
@click.option("--noise-decay", type=Number(), required=True, help="Share of noise amplitude kept per exchange.")
@click.option("--seal-std", type=Number(), help="Standard deviation of the seal on every edge; no default.")
@click.option("--unit", help="All numbers are multiples of this (default: from the step).")
@click.option("--tolerance", type=Number(), help="Agreement that counts as settled (default: from the step).")
@click.option("--dimension", type=Whole(1), default=1, show_default=True, help="Numbers per private value.")
@click.option("--rate", type=Number(), default=2.0, show_default=True, help="Exchanges per second and neighbour.")
@click.option("--seed", type=Whole(0, None), help="Of a random graph.")
@ACCEPT
@json_option
def create(
    cards: tuple[Path, ...], out: Path, graph: str | None, kind: str | None, seed: int | None, dimension: int,
    rate: float, noise_std: float, noise_decay: float, accepted: tuple[str, ...], as_json: bool, **terms: Any,
) -> None:  # fmt: skip
    """Found a network: sign a roster of the parties whose CARDS these are.

    Every party makes its card with `sottovoce peer init`; its key stays with it. The founder's key is made in the
    folder and signs every later roster.
    """
    from ..peer.membership.founding import found, private_graph
    from ..peer.membership.keys import Card
    from ..peer.membership.suggestions import suggest

    known = sorted((Card.load(path) for path in cards), key=lambda card: card.name)
    names = [card.name for card in known]
    shape = private_graph(len(names)) if graph is None else _graph(graph, names, seed)
    chosen = suggest(kind, len(names), int(shape.degrees.max()), **terms)
    chosen.pop("step", None)
    settings = chosen | {"noise_std": noise_std, "noise_decay": noise_decay, "rate": rate, "dimension": dimension}
    signed = found(known, shape, out, settings, accepted)
    tell_roster(signed.roster, as_json=as_json)
    if not as_json:
        click.echo()
        say(f"Send {out / 'roster.json'} to every member; keep {out / 'founder.key'} to yourself, and safe.")


@command.command()
@click.argument("roster", type=FileName())
@json_option
def show(roster: Path, as_json: bool) -> None:
    """Say what a ROSTER file says: members, terms, and who can learn what."""
    from ..peer.membership.roster import SignedRoster

    tell_roster(SignedRoster.load(roster).roster, as_json=as_json)


@command.command()
@FOLDER
@CARD
@click.option("--neighbours", required=True, help="Names of members next to it, separated by commas.")
@ACCEPT
@json_option
def add(folder: Path, card: Path, neighbours: str, accepted: tuple[str, ...], as_json: bool) -> None:
    """Make the next roster, with the party of CARD as a member; FOLDER is the founder's."""
    from ..peer.membership.changes import current, with_member
    from ..peer.membership.keys import Card

    names = [word.strip() for word in neighbours.split(",") if word.strip()]
    _publish(folder, with_member(current(folder), Card.load(card), names, accepted), as_json=as_json)


@command.command()
@FOLDER
@click.argument("name")
@click.option("--link", "links", nargs=2, multiple=True, metavar="NAME NAME", help="A new edge among those who stay.")
@ACCEPT
@json_option
def remove(
    folder: Path, name: str, links: tuple[tuple[str, str], ...], accepted: tuple[str, ...], as_json: bool
) -> None:
    """Make the next roster, from which NAME is gone for good."""
    from ..peer.membership.changes import current, without_member

    _publish(folder, without_member(current(folder), name, links, accepted), as_json=as_json)


@command.command()
@FOLDER
@CARD
@json_option
def rekey(folder: Path, card: Path, as_json: bool) -> None:
    """Make the next roster, with the key and address on CARD for a member that is in it already."""
    from ..peer.membership.changes import current, with_card
    from ..peer.membership.keys import Card

    _publish(folder, with_card(current(folder), Card.load(card)), as_json=as_json)


@command.command()
@click.argument("roster", type=FileName())
@click.option("--out", type=FileName(), required=True, help="Folder to make; must not exist.")
@json_option
def refound(roster: Path, out: Path, as_json: bool) -> None:
    """Make a new founder's key for the network of ROSTER: the old one is lost, stolen, or passes into other hands.

    Members, edges and terms stay. No member believes the new key before its own operator says so.
    """
    from ..peer.membership.changes import refound as again
    from ..peer.membership.roster import SignedRoster

    signed = again(SignedRoster.load(roster), out)
    tell_roster(signed.roster, as_json=as_json)
    if not as_json:
        fingerprint = signed.roster.founder_fingerprint
        say(
            f"\nSend {out / 'roster.json'} to every member and tell them the fingerprint yourself, by telephone say.\n"
            f"Each runs: sottovoce peer roster peer.toml roster.json --founder {fingerprint}"
        )


@command.command()
@FOLDER
@json_option
def status(folder: Path, as_json: bool) -> None:
    """Show the peers of FOLDER, or beside it, that run on this machine, and what they see of those on others.

    A peer on another machine answers its own operator only; it is named as one that cannot be asked.
    """
    from ._network_status import look_at

    found = look_at(folder)
    if as_json:
        print_json(found.to_dict())
        return
    from ._peer_view import network_table

    terminal().print(network_table(found.here))
    for sentence in found.sentences():
        say(sentence)


@command.command()
@click.option("--peers", type=Whole(2, 64), default=12, show_default=True, help="How many peers.")
@click.option("--graph", default="rgg", show_default=True, help="Family of the graph, or family:arguments.")
@click.option("--chaos", is_flag=True, help="Kill and restart peers, wipe a disk, lose one message in ten.")
@click.option("--seconds", type=Number(low=1.0), default=90.0, show_default=True, help="Longest wait to settle.")
@click.option(
    "--seed", type=Whole(0, None), default=1, show_default=True, help="Of the graph, the values and the chaos."
)
@click.option("--keep", type=FileName(), help="Found the network here and leave it (default: a temporary folder).")
@click.option("--stay", is_flag=True, help="Go on after settling, until Ctrl-C, so that the studio can be watched.")
@json_option
def up(
    peers: int, graph: str, chaos: bool, seconds: float, seed: int, keep: Path | None, stay: bool, as_json: bool
) -> None:
    """Run a whole network here: real processes, real TLS, real disks; then prove that the average is exact.

    A demonstration: this one machine makes all keys and sees all values.
    """
    from ._network_up import show as show_all

    show_all(
        _graph(graph, [str(i) for i in range(peers)], seed),
        chaos=chaos,
        seconds=seconds,
        seed=seed,
        keep=keep,
        stay=stay,
        as_json=as_json,
    )


def _publish(folder: Path, roster: Roster, *, as_json: bool) -> None:
    from ..peer.membership.changes import publish

    publish(folder, roster)
    tell_roster(roster, as_json=as_json)
    if not as_json:
        click.echo()
        say(f"Send {folder / 'roster.json'} to every member; each runs `sottovoce peer roster` with it.")


def tell_roster(roster: Roster, *, as_json: bool) -> None:
    """A roster, for a person or as JSON."""
    from ..peer.membership.exposure import what_others_learn

    if as_json:
        facts = {
            "network": roster.network, "number": roster.number, "digest": roster.digest.hex(),
            "founder": roster.founder_fingerprint, "members": list(roster.names), "settings": dict(roster.settings),
            "diameter": roster.diameter, "vertex_connectivity": roster.vertex_connectivity,
            "who_learns_what": what_others_learn(roster),
        }  # fmt: skip
        print_json(facts)
        return
    from ._peer_view import roster_view

    terminal().print(roster_view(roster))


def _graph(text: str, names: list[str], seed: int | None) -> Graph:
    """A graph on these parties: a family by name, a family with arguments, or a file that names both ends."""
    from ..peer.membership.founding import edges_by_name
    from ..scenario.graphs import FAMILIES, make_graph, parse_graph

    if text in FAMILIES:
        return make_graph(text, len(names), seed=seed)
    if Path(text).is_file():
        return edges_by_name(Path(text), names)
    return parse_graph(text, seed=seed)
