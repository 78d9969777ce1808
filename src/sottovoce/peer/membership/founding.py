"""Founding a network: a folder per party with its configuration and certificates, and one for the authority.

Everything is made in a temporary folder beside the wanted one and renamed into place, so a failure leaves nothing
behind and an existing network is never overwritten. Each party's key is written into its own folder, once.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ...graphs import Graph, diameter
from .config import PeerConfig, TlsFiles, check_label, split_address
from .files import config_text
from .identity import Authority, issue_identity

__all__ = ["edges_by_name", "found_member", "found_network", "members", "read_parties"]

_AUTHORITY = "authority"
_TLS = TlsFiles(Path("identity/peer.crt"), Path("identity/peer.key"), Path("identity/authority.crt"))
_LETTER = """\
Network {network!r}: {count} parties.

authority/   Whoever holds authority.key decides who is a member. Keep it offline; the peers do not need it.
{folders}
Hand each party its own folder over a channel you trust, then delete your copy of its peer.key.
Each party runs:   sottovoce peer start peer.toml --value-from FILE
"""


def read_parties(path: Path) -> dict[str, str]:
    """Read ``name host:port`` lines; ``#`` starts a comment."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(f"cannot read the list of parties {str(path)!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"the list of parties {str(path)!r} is not text") from None
    parties: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"line {number} of {str(path)!r}"
        if len(words) != 2:
            raise ConfigError(f"{where} must be 'name host:port'")
        name = check_label(words[0], f"{where}: the name")
        split_address(words[1], f"{where}: the address")
        if name == _AUTHORITY:
            raise ConfigError(f"{where}: the name {_AUTHORITY!r} is taken by the authority's folder")
        if name in parties or words[1] in parties.values():
            raise ConfigError(f"{where} repeats a name or an address")
        parties[name] = words[1]
    if len(parties) < 2:
        raise ConfigError(f"a network needs at least 2 parties, {str(path)!r} has {len(parties)}")
    return parties


def edges_by_name(path: Path, names: Sequence[str]) -> Graph:
    """Read a graph whose lines name two parties each, for example ``ada bob``."""
    number = {name: index for index, name in enumerate(names)}
    edges = []
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        unknown = [word for word in words if word not in number]
        if len(words) != 2 or unknown:
            what = f"a neighbour not in the network: {unknown[0]!r}" if unknown else "a line without two names"
            raise ConfigError(f"the graph file {str(path)!r} has {what}")
        edges.append((number[words[0]], number[words[1]]))
    return Graph.from_edges(edges, num_nodes=len(names))


def found_network(
    network: str, parties: Mapping[str, str], graph: Graph, folder: Path, *, days: int = 365, **settings: Any
) -> dict[str, Path]:
    """Write a new network into `folder`, which must not exist; return each party's configuration file.

    Parameters
    ----------
    network, parties, graph
        The name; each party's address by name; who is whose neighbour, in the order of `parties`.
    days
        How long the parties' certificates are valid.
    **settings
        Fields of :class:`PeerConfig`, the same for every party. A value may be a mapping by party name.
    """
    if graph.num_nodes != len(parties):
        raise ConfigError(f"the graph has {graph.num_nodes} nodes but there are {len(parties)} parties")
    if folder.exists():
        raise ConfigError(f"{str(folder)!r} exists; a network is never overwritten")
    if not folder.parent.is_dir():
        raise ConfigError(f"the folder {str(folder.parent)!r} does not exist")
    degrees = graph.degrees
    usual: dict[str, Any] = {"unit": "0.000001", "low": -1e6, "high": 1e6, "seal_std": 1.0}
    settings = usual | settings | {"members": graph.num_nodes, "max_degree": int(degrees.max())}
    settings.setdefault("diameter", diameter(graph))
    settings.setdefault("min_open_edges", {name: min(2, int(d)) for name, d in zip(parties, degrees, strict=True)})
    names = list(parties)
    configs = {
        name: PeerConfig(
            name=name,
            network=network,
            listen=parties[name],
            data_dir=Path("data"),
            neighbours={names[j]: parties[names[j]] for j in graph.neighbours_of(i).tolist()},
            tls=_TLS,
            **{key: value[name] if isinstance(value, Mapping) else value for key, value in settings.items()},
        )
        for i, name in enumerate(names)
    }
    try:
        _write_network(network, configs, folder, days)
    except OSError as error:
        raise ConfigError(f"cannot write the network {str(folder)!r}: {error.strerror}") from None
    return {name: folder / name / "peer.toml" for name in names}


def _write_network(network: str, configs: Mapping[str, PeerConfig], folder: Path, days: int) -> None:
    authority = Authority.create(network)
    with _whole(folder) as draft:
        authority.save(draft / _AUTHORITY)
        for name, config in configs.items():
            _write_member(authority, config, draft / name, days)
        folders = "".join(f"{name + '/':<12} for {name}, which listens on {configs[name].listen}\n" for name in configs)
        letter = _LETTER.format(network=network, count=len(configs), folders=folders)
        (draft / "README.txt").write_text(letter, encoding="utf-8")


def _write_member(authority: Authority, config: PeerConfig, folder: Path, days: int) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    issue_identity(authority, config.name, folder / "identity", days=days)
    (folder / "peer.toml").write_text(config_text(config), encoding="utf-8")


@contextlib.contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """A new folder beside ``folder`` that becomes it at the end, or leaves no trace."""
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield draft
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def found_member(
    folder: Path, name: str, address: str, neighbours: Sequence[str], *, days: int = 365, **noise: Any
) -> Path:
    """Make the folder of a party that joins a network founded earlier; returns its configuration file.

    What all members share (rate, tolerance, diameter, dimension) is taken from the first neighbour's configuration.
    The neighbours' own files are not touched: they add the new party when they are ready.
    """
    check_label(name, "name")
    split_address(address, "address")
    if (folder / name).exists():
        raise ConfigError(f"{str(folder / name)!r} exists; a member is never overwritten")
    for other in neighbours:
        if not (folder / other / "peer.toml").is_file():
            raise ConfigError(f"a neighbour not in the network: {other!r} has no folder in {str(folder)!r}")
    if not neighbours:
        raise ConfigError("neighbours must name at least one member")
    authority = Authority.load(folder / _AUTHORITY)
    addresses = {other: PeerConfig.load(folder / other / "peer.toml").listen for other in neighbours}
    template = PeerConfig.load(folder / neighbours[0] / "peer.toml")
    config = replace(
        template,
        name=name,
        listen=address,
        data_dir=Path("data"),
        neighbours=addresses,
        metrics_listen=None,
        min_open_edges=min(2, len(neighbours)),
        tls=_TLS,
        **noise,
    )
    with _whole(folder / name) as draft:
        _write_member(authority, config, draft, days)
    return folder / name / "peer.toml"


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
