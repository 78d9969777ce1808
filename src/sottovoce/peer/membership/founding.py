"""Founding a network: a folder per party with its configuration and certificates, and one for the authority.

Everything is made in a temporary folder beside the wanted one and renamed into place, so a failure leaves nothing
behind and an existing network is never overwritten. Each party's key is written into its own folder, once.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
import textwrap
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ...graphs import Graph
from .config import PeerConfig, TlsFiles, check_label, split_address
from .explanations import EXPLANATIONS
from .identity import Authority, issue_identity

__all__ = ["config_text", "diameter", "edges_by_name", "found_member", "found_network", "read_parties"]

_WIDTH = 100
_AUTHORITY = "authority"
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


def diameter(graph: Graph) -> int:
    """Largest number of hops between two nodes, by breadth-first search from every node.

    Examples
    --------
    >>> from sottovoce import graphs
    >>> diameter(graphs.path(4)), diameter(graphs.cycle(5))
    (3, 2)
    """
    return max(max(_distances(graph, node)) for node in range(graph.num_nodes))


def _distances(graph: Graph, start: int) -> list[int]:
    distance = [-1] * graph.num_nodes
    distance[start] = 0
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in graph.neighbours_of(node).tolist():
            if distance[other] < 0:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


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
    settings.setdefault("diameter", diameter(graph))
    names = list(parties)
    configs = {
        name: PeerConfig(
            name=name,
            network=network,
            listen=parties[name],
            data_dir=Path("data"),
            neighbours={names[j]: parties[names[j]] for j in graph.neighbours_of(i).tolist()},
            tls=TlsFiles(Path("identity/peer.crt"), Path("identity/peer.key"), Path("identity/authority.crt")),
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
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        authority.save(draft / _AUTHORITY)
        for name, config in configs.items():
            (draft / name).mkdir(mode=0o700)
            issue_identity(authority, name, draft / name / "identity", days=days)
            (draft / name / "peer.toml").write_text(config_text(config), encoding="utf-8")
        folders = "".join(f"{name + '/':<12} for {name}, which listens on {configs[name].listen}\n" for name in configs)
        letter = _LETTER.format(network=network, count=len(configs), folders=folders)
        (draft / "README.txt").write_text(letter, encoding="utf-8")
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def config_text(config: PeerConfig) -> str:
    """The TOML text of a configuration, every field with its explanation.

    The result reads back as the same configuration.
    """
    parts = [f"# sottovoce: peer {config.name!r} of network {config.network!r}.\n"]
    tables = []
    for item in fields(config):
        value = getattr(config, item.name)
        comment = _comment(item.name)
        if item.name == "neighbours":
            lines = "".join(f"{name} = {json.dumps(address)}\n" for name, address in value.items())
            tables.append(f"{comment}[neighbours]\n{lines}")
        elif item.name == "tls":
            if value is not None:
                lines = "".join(f"{f.name} = {json.dumps(str(getattr(value, f.name)))}\n" for f in fields(value))
                tables.append(f"{comment}[tls]\n{lines}")
        elif value is None and item.name == "metrics_listen":
            parts.append(f'{comment}# metrics_listen = "127.0.0.1:9464"\n')
        else:
            parts.append(f"{comment}{item.name} = {_toml_value(value)}\n")
    return "\n".join(parts + tables)


def _comment(name: str) -> str:
    told = EXPLANATIONS[name]
    text = f"{told.meaning}\nFormula: {told.formula}.\nCost: {told.cost}"
    wrapped = [line for paragraph in text.splitlines() for line in textwrap.wrap(paragraph, _WIDTH)]
    return "".join(f"# {line}\n" for line in wrapped)


def _toml_value(value: object) -> str:
    if value is None:
        return "0.0"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    return str(value) if isinstance(value, int) else json.dumps(str(value))


def edit_neighbours(path: Path, name: str, address: str | None) -> None:
    """Add a neighbour to a configuration file, or take it out (`address` None), leaving every other line alone."""
    try:
        _edit_neighbours(path, name, address)
    except OSError as error:
        raise ConfigError(f"cannot change the configuration {str(path)!r}: {error.strerror}") from None


def _edit_neighbours(path: Path, name: str, address: str | None) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    heads = [i for i, line in enumerate(lines) if line.strip() == "[neighbours]"]
    if len(heads) != 1:
        raise ConfigError(f"{str(path)!r} has no [neighbours] table of its own; edit it by hand")
    kept = [line for i, line in enumerate(lines) if i <= heads[0] or line.partition("=")[0].strip().strip('"') != name]
    if address is not None:
        kept.insert(heads[0] + 1, f"{name} = {json.dumps(address)}\n")
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text("".join(kept), encoding="utf-8")
    try:
        PeerConfig.load(draft)
    except ConfigError:
        draft.unlink()
        raise
    draft.replace(path)


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
        tls=TlsFiles(Path("identity/peer.crt"), Path("identity/peer.key"), Path("identity/authority.crt")),
        **noise,
    )
    draft = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=folder))
    try:
        issue_identity(authority, name, draft / "identity", days=days)
        (draft / "peer.toml").write_text(config_text(config), encoding="utf-8")
        draft.rename(folder / name)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return folder / name / "peer.toml"
