"""Founding a network: a signed roster from the parties' cards; and whole networks on one machine, for demonstrations.

A founder holds its own key and nobody else's: :func:`found` takes cards. :func:`join` is what a party does with the
roster that comes back. :func:`found_network` plays all parties at once and is for demonstrations and tests only.
Folders are made beside the wanted one and renamed into place, so a failure leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ConfigError
from ...foundation.files import write_atomically
from ...graphs import Graph, complete
from .config import IdentityFiles, PeerConfig
from .exposure import check_accepted
from .files import config_text, from_roster
from .keys import Card, key_pem, make_identity, new_key, public_pem, write_private
from .names import is_loopback, split_address
from .roster import SHARED, Member, Roster, SignedRoster

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

__all__ = [
    "FOUNDER_KEY",
    "ROSTER",
    "check_terms",
    "edges_by_name",
    "found",
    "found_network",
    "join",
    "members",
    "private_graph",
    "put_down",
]

ROSTER, FOUNDER_KEY = "roster.json", "founder.key"
_DEMONSTRATION: dict[str, Any] = {
    "unit": "0.000001", "dimension": 1, "low": -1e6, "high": 1e6, "seal_std": 1.0, "tolerance": 0.001, "rate": 2.0,
}  # fmt: skip


def private_graph(count: int) -> Graph:
    """The graph that a founder gets by default: every member keeps its privacy against every single other member.

    Everybody with everybody up to five members, beyond that a ring in which everybody also knows the second next. From
    four members on any two, and from five on any three may put their heads together and learn no more than the average
    and their own numbers tell them.

    Examples
    --------
    >>> [private_graph(n).num_edges for n in (2, 3, 4, 5, 10)]
    [1, 3, 6, 10, 20]
    """
    if count <= 5:
        return complete(count)
    ring = [(i, (i + step) % count) for step in (1, 2) for i in range(count)]
    return Graph.from_edges(ring, num_nodes=count)


def edges_by_name(path: Path, names: Sequence[str]) -> Graph:
    """Read a graph whose lines name two parties each, for example ``ada bob``."""
    number = {name: index for index, name in enumerate(names)}
    edges = []
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"the graph file {str(path)!r} is not text in UTF-8") from None
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        unknown = [word for word in words if word not in number]
        if len(words) != 2 or unknown:
            what = f"a neighbour not in the network: {unknown[0]!r}" if unknown else "a line without two names"
            raise ConfigError(f"the graph file {str(path)!r} has {what}")
        edges.append((number[words[0]], number[words[1]]))
    return Graph.from_edges(edges, num_nodes=len(names))


def first_roster(
    cards: Sequence[Card], graph: Graph, founder: str, settings: Mapping[str, Any], accepted: Iterable[str] = ()
) -> Roster:
    """Roster 0 from the parties' cards, which must all name the same network.

    Parameters
    ----------
    cards, graph
        The parties, and who is whose neighbour, in the order of the cards.
    founder
        The public key that will sign, PEM text.
    settings
        What all members share, see :data:`.roster.SHARED`.
    accepted
        Members who said yes to a place where another member can know their value.
    """
    names = [card.name for card in cards]
    if len(set(names)) < len(names):
        raise ConfigError("two cards have the same name")
    if graph.num_nodes != len(cards):
        raise ConfigError(f"the graph has {graph.num_nodes} nodes but there are {len(cards)} parties")
    networks = sorted({card.network for card in cards})
    if len(networks) != 1:
        raise ConfigError(f"the cards are for different networks: {', '.join(networks)}")
    return Roster(
        network=networks[0],
        number=0,
        founder=founder,
        members={card.name: Member(card.certificate, card.address) for card in cards},
        edges=[(names[i], names[j]) for i, j in graph.edges.tolist()],
        settings=settings,
        accepted=tuple(accepted),
    )


def found(
    cards: Sequence[Card],
    graph: Graph,
    folder: Path,
    settings: Mapping[str, Any],
    accepted: Iterable[str] = (),
) -> SignedRoster:
    """Make a founder's key in ``folder``, which must not exist, and sign the first roster with it.

    Raises
    ------
    ConfigError
        Some member could not start on these terms, or is exposed and did not say yes. Nothing is written.
    """
    key = new_key()
    roster = first_roster(cards, graph, public_pem(key), settings, accepted)
    check_terms(roster)
    return put_down(folder, key, roster)


def put_down(folder: Path, key: EllipticCurvePrivateKey, roster: Roster) -> SignedRoster:
    """Sign a roster and write it with its founder's key into ``folder``, which must not exist."""
    signed = roster.sign(key)
    with _whole(folder) as draft:
        write_private(draft / FOUNDER_KEY, key_pem(key))
        signed.save(draft / ROSTER)
    return signed


def check_terms(roster: Roster) -> None:
    """Refuse a roster on whose terms a member could not start, or in which one is exposed and did not say yes."""
    for name in roster.names:
        PeerConfig(name=name, listen=None, data_dir=None, smallest_std=None, **from_roster(roster, name))
    check_accepted(roster)


def join(folder: Path, card: Card, signed: SignedRoster, *, listen: str | None = None, **own: Any) -> Path:
    """Write a party's ``peer.toml`` and its copy of the roster beside its key; returns the configuration file.

    Parameters
    ----------
    folder
        Where ``peer.key`` lies.
    card, signed
        The party's own card; the roster, which must hold exactly this card's certificate.
    listen
        Where to listen; by default every address of this machine at the port of the card's address, or the address
        itself if it is a loopback address.
    **own
        Further fields of the party's own file; ``smallest_std`` is required.
    """
    roster = signed.roster
    member = roster.members.get(card.name)
    if card.network != roster.network or member is None:
        raise ConfigError(f"the roster of {roster.network!r} does not name {card.name!r} of {card.network!r}")
    if member.certificate != card.certificate:
        raise ConfigError(f"the roster has another certificate for {card.name!r} than its own card: do not join")
    files = IdentityFiles(Path("peer.key"), Path(ROSTER), roster.founder_fingerprint)
    own.setdefault("min_open_edges", min(2, roster.degrees[card.name]))
    config = PeerConfig(
        **(
            from_roster(roster, card.name)
            | {
                "name": card.name,
                "listen": listen or listening(member.address),
                "data_dir": Path("data"),
                "identity": files,
            }
            | own
        )
    )
    path = folder / "peer.toml"
    signed.save(folder / ROSTER)
    write_atomically(path, lambda draft: draft.write_text(config_text(config), encoding="utf-8"))
    return path


def listening(address: str | None) -> str | None:
    """Where a peer listens that others reach at ``address``: a name may stand for another machine's own address.

    Examples
    --------
    >>> listening("ada.example.org:7001"), listening("127.0.0.1:7001"), listening(None)
    ('0.0.0.0:7001', '127.0.0.1:7001', None)
    """
    if address is None:
        return None
    host, port = split_address(address, "address")
    if is_loopback(host):
        return address
    return f"[::]:{port}" if ":" in host else f"0.0.0.0:{port}"


def found_network(
    network: str,
    parties: Mapping[str, str | None],
    graph: Graph,
    folder: Path,
    *,
    days: float = 365,
    **settings: Any,
) -> dict[str, Path]:
    """A whole network in ``folder``, which must not exist, all keys made here: for demonstrations and tests only.

    Parameters
    ----------
    network, parties, graph
        The name; each party's address by name, ``None`` for one that does not listen; who is whose neighbour.
    days
        How long the certificates are valid.
    **settings
        Shared settings (those of :data:`.roster.SHARED` that decide privacy have to be given, except the seal), and
        fields of the parties' own files. A value may be a mapping by party name.

    Returns
    -------
    dict
        Each party's configuration file.
    """
    shared = _DEMONSTRATION | {name: value for name, value in settings.items() if name in SHARED}
    own = {name: value for name, value in settings.items() if name not in SHARED}
    key = new_key()
    with _whole(folder) as draft:
        cards = [make_identity(name, network, draft / name, address=at, days=days)[1] for name, at in parties.items()]
        signed = first_roster(cards, graph, public_pem(key), shared, parties).sign(key)
        for card in cards:
            chosen = {name: v[card.name] if isinstance(v, Mapping) else v for name, v in own.items()}
            join(draft / card.name, card, signed, **chosen)
        write_private(draft / FOUNDER_KEY, key_pem(key))
        signed.save(draft / ROSTER)
    return {name: folder / name / "peer.toml" for name in parties}


@contextlib.contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """A new folder beside ``folder`` that becomes it at the end, or leaves no trace."""
    if folder.exists():
        raise ConfigError(f"{str(folder)!r} exists; a network is never overwritten")
    if not folder.absolute().parent.is_dir():
        raise ConfigError(f"the folder {str(folder.parent)!r} does not exist")
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise ConfigError(f"cannot write the network {str(folder)!r}: {error.strerror}") from None
    try:
        yield draft
        draft.rename(folder)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise ConfigError(f"cannot write the network {str(folder)!r}: {error.strerror}") from None
        raise


def members(folder: Path) -> dict[str, PeerConfig]:
    """The configurations of the network in ``folder``, by name.

    Raises
    ------
    ConfigError
        There is none, or one is not valid.
    """
    configs = [PeerConfig.load(path) for path in sorted(folder.glob("*/peer.toml"))]
    if not configs:
        raise ConfigError(f"{str(folder)!r} holds no network: no folder in it has a peer.toml")
    return {config.name: config for config in configs}
