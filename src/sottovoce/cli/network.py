"""``sottovoce network``: found a network of peers, sign and renew its certificates, or run one on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..graphs import Graph

__all__ = ["command"]

FOLDER = click.argument("folder", type=click.Path(path_type=Path))
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object for machines.")


@click.group()
def command() -> None:
    """Create, run and watch a network of peers."""


@command.command()
@click.argument("parties", type=click.Path(path_type=Path))
@click.option("--graph", required=True, help="A family such as cycle, complete or rgg, or a file of lines 'ada bob'.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to make; must not exist.")
@click.option("--network", help="Name of the network (default: the name of the folder).")
@click.option("--noise-std", type=float, required=True, help="Standard deviation of the first noise draw.")
@click.option("--noise-decay", type=float, required=True, help="Share of noise amplitude kept per exchange.")
@click.option(
    "--smallest-std", type=float, required=True,
    help="Nobody may ever estimate a private value more precisely than this standard deviation; 0: no limit.",
)  # fmt: skip
@click.option("--tolerance", type=float, default=1e-3, show_default=True, help="Agreement that counts as settled.")
@click.option("--dimension", type=int, default=1, show_default=True, help="Numbers per private value.")
@click.option("--rate", type=float, default=2.0, show_default=True, help="Exchanges per second and neighbour.")
@click.option("--diameter", type=int, help="Most hops between two peers (default: of this graph).")
@click.option("--days", type=click.IntRange(1), default=365, show_default=True, help="Term of the certificates.")
@click.option("--seed", type=int, help="Of a random graph.")
@JSON
def create(
    parties: Path, graph: str, out: Path, network: str | None, days: int, seed: int | None, diameter: int | None,
    as_json: bool, **settings: Any,
) -> None:  # fmt: skip
    """Make a folder per party with its configuration and certificates.

    PARTIES is a text file with one 'name host:port' per line.
    """
    from ..peer.membership.founding import found_network, read_parties

    addresses = read_parties(parties)
    if diameter is not None:
        settings["diameter"] = diameter
    made = found_network(
        network or out.resolve().name, addresses, _graph(graph, list(addresses), seed), out, days=days, **settings
    )
    if as_json:
        click.echo(json.dumps({"folder": str(out), "configurations": {name: str(path) for name, path in made.items()}}))
        return
    click.echo(f"{len(made)} parties in {out}; {out / 'README.txt'} says which folder goes to whom.")
    click.echo(f"Keep {out / 'authority'} offline: whoever has it decides who is a member.")


@command.command()
@FOLDER
@click.argument("request", type=click.Path(path_type=Path))
@click.option("--days", type=click.IntRange(1), default=365, show_default=True, help="Term of the certificate.")
@JSON
def sign(folder: Path, request: Path, days: int, as_json: bool) -> None:
    """Sign a peer's REQUEST with the authority of the network in FOLDER."""
    from ..peer.membership.renewal import sign_request

    certificate = sign_request(folder / "authority", request, days=days)
    click.echo(json.dumps({"certificate": str(certificate)}) if as_json else f"send back {certificate}")


@command.command()
@FOLDER
@click.argument("name")
@click.argument("address")
@click.option("--neighbours", required=True, help="Names of members that will talk to it, separated by commas.")
@click.option("--noise-std", type=float, required=True)
@click.option("--noise-decay", type=float, required=True)
@click.option("--smallest-std", type=float, required=True)
@click.option("--days", type=click.IntRange(1), default=365, show_default=True)
@JSON
def join(folder: Path, name: str, address: str, neighbours: str, days: int, as_json: bool, **noise: float) -> None:
    """Make the folder of a party that joins later, and say what its neighbours have to do."""
    from ..peer.membership.founding import found_member

    names = [word.strip() for word in neighbours.split(",") if word.strip()]
    path = found_member(folder, name, address, names, days=days, **noise)
    if as_json:
        click.echo(json.dumps({"configuration": str(path)}))
        return
    click.echo(f"{path.parent} is for {name}. Each of its neighbours now runs:")
    for other in names:
        click.echo(f"  sottovoce peer add {folder / other / 'peer.toml'} {name} {address}")


@command.command()
@FOLDER
@JSON
def status(folder: Path, as_json: bool) -> None:
    """Show the peers of FOLDER that run on this machine."""
    from ..peer.membership.founding import members
    from ..peer.process.control import peek

    found = {name: peek(config.data_dir) for name, config in members(folder).items()}
    if as_json:
        click.echo(json.dumps(found))
        return
    from rich.console import Console

    from ._peer_view import network_table

    Console().print(network_table(found))


@command.command()
@click.option("--peers", type=click.IntRange(2, 64), default=12, show_default=True, help="How many peers.")
@click.option("--graph", default="rgg", show_default=True, help="Family of the graph, or family:arguments.")
@click.option("--chaos", is_flag=True, help="Kill and restart peers, wipe a disk, lose one message in ten.")
@click.option("--seconds", type=click.FloatRange(1), default=90.0, show_default=True, help="Longest wait to settle.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the graph, the values and the chaos.")
@click.option(
    "--keep", type=click.Path(path_type=Path), help="Found the network here and leave it (default: a temporary folder)."
)
@JSON
def up(peers: int, graph: str, chaos: bool, seconds: float, seed: int, keep: Path | None, as_json: bool) -> None:
    """Run a whole network here: real processes, real TLS, real disks; then prove that the average is exact."""
    from ._network_up import show

    show(
        _graph(graph, [str(i) for i in range(peers)], seed),
        chaos=chaos,
        seconds=seconds,
        seed=seed,
        keep=keep,
        as_json=as_json,
    )


def _graph(text: str, names: list[str], seed: int | None) -> Graph:
    """A graph on these parties: a family by name, a family with arguments, or a file that names both ends."""
    from ..peer.membership.founding import edges_by_name
    from ..scenario.graphs import FAMILIES, make_graph, parse_graph

    if text in FAMILIES:
        return make_graph(text, len(names), seed=seed)
    if Path(text).is_file():
        return edges_by_name(Path(text), names)
    return parse_graph(text, seed=seed)
