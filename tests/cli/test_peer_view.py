"""How a status looks to a person: what it says, not how it is drawn."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType

from sottovoce import graphs
from sottovoce.cli._peer_view import network_table, one_peer
from sottovoce.peer.membership.exposure import what_others_know

from ..peer.membership.town import roster


def printed(what: RenderableType) -> str:
    text = io.StringIO()
    Console(file=text, width=120).print(what)
    return text.getvalue()


def test_the_status_says_who_knows_what() -> None:
    """One line for each neighbour, the worst member and pair, and the number of all neighbours as what it is."""
    known = what_others_know(roster(graphs.complete(4)), "p0", ["p1", "p2"]).to_dict()
    neighbours = {
        name: {"state": "open", "last_heard": 0.1, "sealed": name != "p3", "roster": 2} for name in ("p1", "p2", "p3")
    }
    status = {
        "name": "p0", "network": "net", "known": known, "known_to": 0.00017, "noise_std": 1.0, "neighbours": neighbours,
        "notices": ["roster 3 waits for your yes"],
        "missing": [{"name": "p9", "contributed": True, "seconds": 41.0, "witness": "p8", "said": 2.0}],
        "topics": {"2026-11": {"statement": "waiting for p3"}},
    }  # fmt: skip
    text = printed(one_peer({"status": status, "refusals": {}}))
    for words in (
        "known beforehand to        ± 28.9",
        f"one other knows it to      {known['one']}",
        f"two others know it to      {known['two']}",
        "all neighbours know it to  ± 0.00017, if all of them put their heads together",
        "notice                     roster 3 waits for your yes",
        "missing                    p9 (not answering for 41 s, p8 said 2 s ago)",
        "topic 2026-11              waiting for p3",
    ):
        assert words in text
    [third] = [line.split() for line in text.splitlines() if line.strip().startswith("p3")]
    assert third[:3] == ["p3", "open", "none"]
    assert third[-4:] == ["2", "0.1", "s", "ago"]


def test_a_network_shows_who_is_behind() -> None:
    """The number of the roster that each peer works with stands in its row; a peer that is down has none."""
    statuses = {
        "ada": {"roster": {"number": 3, "digest": "00"}, "exchanges": 17, "neighbours": {}},
        "bob": {"roster": {"number": 2, "digest": "11"}, "exchanges": 18, "neighbours": {}},
        "cleo": None,
    }
    rows = {line.split()[0]: line.split() for line in printed(network_table(statuses)).splitlines() if line.strip()}
    assert rows["ada"][-2:] == ["17", "3"]
    assert rows["bob"][-2:] == ["18", "2"]
    assert rows["cleo"] == ["cleo", "down"]
