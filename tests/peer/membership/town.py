"""Three parties on one machine for the tests of membership."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sottovoce import graphs
from sottovoce.graphs import Graph
from sottovoce.peer.membership.founding import first_roster, found_network
from sottovoce.peer.membership.keys import Card, new_key, public_pem, self_signed
from sottovoce.peer.membership.roster import Roster

NOISE = {"noise_std": 1.0, "noise_decay": 0.9, "smallest_std": 0.1}
PARTIES = {"ada": "127.0.0.1:7001", "bob": "127.0.0.1:7002", "cleo": "127.0.0.1:7003"}
TERMS: dict[str, Any] = {
    "unit": "0.001", "dimension": 1, "low": 0.0, "high": 100.0, "noise_std": 30.0, "noise_decay": 0.9,
    "seal_std": 300.0, "tolerance": 0.1, "rate": 2.0,
}  # fmt: skip
FOUNDER = new_key()


def card(name: str, network: str = "net", address: str | None = None) -> Card:
    return Card(name, network, self_signed(new_key(), f"{name}.{network}"), address)


def cards(count: int) -> list[Card]:
    return [card(f"p{i}", address=f"127.0.0.1:{7000 + i}") for i in range(count)]


def roster(graph: Graph, **terms: Any) -> Roster:
    """Roster 0 of p0, p1, … on this graph."""
    return first_roster(cards(graph.num_nodes), graph, public_pem(FOUNDER), TERMS | terms)


def party(folder: Path, name: str = "ada", **settings: Any) -> Path:
    """The configuration file of one of three parties on a triangle."""
    return found_network("net", PARTIES, graphs.complete(3), folder / "net", **(NOISE | settings))[name]
