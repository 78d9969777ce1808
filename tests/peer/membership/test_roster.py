from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.errors import ConfigError
from sottovoce.graphs import Graph
from sottovoce.peer.membership.changes import with_card, with_member, without_member
from sottovoce.peer.membership.cuts import vertex_connectivity
from sottovoce.peer.membership.exposure import check_accepted, exposed, promise, what_others_learn
from sottovoce.peer.membership.founding import private_graph
from sottovoce.peer.membership.keys import new_key, public_pem
from sottovoce.peer.membership.roster import Member, Roster, SignedRoster

from .town import FOUNDER, card, roster


def test_a_signed_roster_reads_back(tmp_path: Path) -> None:
    """Written and read, it is the same roster with the same digest, and its form does not depend on any order."""
    made = roster(graphs.complete(4))
    made.sign(FOUNDER).save(tmp_path / "roster.json")
    read = SignedRoster.load(tmp_path / "roster.json").roster
    assert read == made
    assert read.digest == made.digest
    turned = replace(
        made, edges=[(b, a) for a, b in reversed(made.edges)], members=dict(reversed(made.members.items()))
    )
    assert turned.canonical == made.canonical


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.update(number=1),
        lambda r: r["settings"].update(seal_std=0.0),
        lambda r: r["members"]["p0"].update(address="192.0.2.1:1"),
        lambda r: r["edges"].pop(),
        lambda r: r.update(accepted=["p1"]),
        lambda r: r.update(founder=public_pem(new_key())),
    ],
)
def test_a_changed_roster_is_refused(change: Any) -> None:
    """Whatever is changed after signing, by anybody: the signature no longer holds."""
    whole = json.loads(roster(graphs.complete(4)).sign(FOUNDER).to_bytes())
    change(whole["roster"])
    with pytest.raises(ConfigError, match="signature"):
        SignedRoster.from_object(whole, "test")


@pytest.mark.parametrize("whole", [[], {}, {"roster": 3, "signature": ""}, {"roster": {}, "signature": "x"}, None, "x"])
def test_what_is_no_roster_is_refused(whole: object) -> None:
    """One sentence, whatever JSON it is."""
    with pytest.raises(ConfigError):
        SignedRoster.from_object(whole, "test")


def test_another_version_says_so() -> None:
    """A roster of another wire is refused by its version, not by what else is wrong with it."""
    whole = json.loads(roster(graphs.complete(3)).sign(FOUNDER).to_bytes())
    whole["roster"]["wire"] = 3
    with pytest.raises(ConfigError, match="another version"):
        SignedRoster.from_object(whole, "test")


def test_only_the_founders_key_signs() -> None:
    """Another key is refused at once; a signature made with it by hand is refused when it is read."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    made, other = roster(graphs.complete(3)), new_key()
    with pytest.raises(ConfigError, match="founder"):
        made.sign(other)
    forged = base64.b64encode(other.sign(made.canonical, ec.ECDSA(hashes.SHA256()))).decode()
    with pytest.raises(ConfigError, match="signature"):
        SignedRoster(made, forged)


def test_a_later_number_of_the_same_founder_replaces() -> None:
    """Adding, removing and a new key make later rosters that replace the first, and never the other way round."""
    first = roster(graphs.complete(4))
    more = with_member(first, card("p9", address="127.0.0.1:7999"), ["p0", "p1"])
    fewer = without_member(more, "p2")
    other = with_card(fewer, card("p1", address="127.0.0.1:7001"))
    for earlier, later in ((first, more), (more, fewer), (fewer, other), (first, other)):
        later.check_replaces(earlier)
        with pytest.raises(ConfigError, match="not later"):
            earlier.check_replaces(later)
    assert fewer.tombstones == {"p2": 2}
    assert other.members["p1"] != fewer.members["p1"]


def test_rosters_that_do_not_replace() -> None:
    """Another network, another founder, a forgotten tombstone, a member that vanished without one."""
    first = roster(graphs.complete(4))
    gone = without_member(first, "p3")
    foreign = [
        replace(first, number=1, founder=public_pem(new_key())),
        replace(roster(graphs.complete(4)), number=1, founder=public_pem(new_key())),
        replace(gone, tombstones={}, number=1),
    ]
    for later in foreign:
        with pytest.raises(ConfigError):
            later.check_replaces(first)
    with pytest.raises(ConfigError, match="forgets"):
        replace(gone, number=2, tombstones={"p3": 2}).check_replaces(gone)


def test_the_dead_do_not_return() -> None:
    """A name with a tombstone is never a member again, under whatever key."""
    gone = without_member(roster(graphs.complete(4)), "p3")
    with pytest.raises(ConfigError, match="left"):
        with_member(gone, card("p3", address="127.0.0.1:7998"), ["p0", "p1"])


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"edges": [("p0", "p1")]}, "connect"),
        ({"edges": [("p0", "p1"), ("p1", "p2"), ("p2", "zoe")]}, "zoe"),
        ({"edges": [("p0", "p0"), ("p0", "p1"), ("p1", "p2")]}, "own neighbour"),
        ({"number": -1}, "number"),
        ({"number": True}, "number"),
        ({"tombstones": {"p0": 1}}, "left"),
        ({"network": "Not A Name"}, "network"),
    ],
)
def test_a_roster_is_checked_as_a_whole(fields: dict[str, Any], sentence: str) -> None:
    """What could not work is refused when it is made, in one sentence."""
    with pytest.raises(ConfigError, match=sentence):
        replace(roster(graphs.complete(3)), **fields)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("unit", 0.01), ("unit", "0"), ("unit", "x"), ("low", 100.0), ("high", float("inf")), ("noise_std", 0),
     ("noise_decay", 1.0), ("seal_std", -1.0), ("tolerance", 0.0), ("rate", True), ("dimension", 1.5), ("diet", 1)],
)  # fmt: skip
def test_shared_settings_are_checked(name: str, bad: object) -> None:
    """Each is named when it is out of range or unknown."""
    with pytest.raises(ConfigError, match=name):
        roster(graphs.complete(3), **{name: bad})


def test_two_members_with_one_key_are_refused() -> None:
    """And two at one address; and a certificate that carries another name."""
    made = roster(graphs.complete(3))
    one, two = made.members["p0"], made.members["p1"]
    for members in (
        made.members | {"p1": Member(two.certificate, one.address)},
        made.members | {"p1": Member(one.certificate, two.address)},
    ):
        with pytest.raises(ConfigError):
            replace(made, members=members)


def test_an_edge_needs_one_end_that_can_be_called() -> None:
    """One of two may have no address; not both."""
    made = roster(graphs.path(3))

    def silent(*names: str) -> dict[str, Member]:
        return {n: Member(m.certificate, None if n in names else m.address) for n, m in made.members.items()}

    assert replace(made, members=silent("p0", "p2")).members["p0"].address is None
    with pytest.raises(ConfigError, match="neither"):
        replace(made, members=silent("p0", "p1"))


def random_graph(generator: np.random.Generator) -> Graph:
    count = int(generator.integers(3, 11))
    tree = [(i, int(generator.integers(0, i))) for i in range(1, count)]
    more = [(i, j) for i in range(count) for j in range(i) if generator.random() < generator.random()]
    return Graph.from_edges(sorted({(max(e), min(e)) for e in tree + more}), num_nodes=count)


def test_vertex_connectivity_agrees_with_networkx() -> None:
    """On two hundred random connected graphs."""
    generator = np.random.default_rng(5)
    for _ in range(200):
        graph = random_graph(generator)
        assert vertex_connectivity(graph) == networkx.node_connectivity(networkx.Graph(graph.edges.tolist()))


@pytest.mark.parametrize(("count", "holds"), [(3, 2), (4, 3), (5, 4), (6, 4), (9, 4), (12, 4)])
def test_the_default_graph_exposes_nobody(count: int, holds: int) -> None:
    """Triangle, K₄, and from five members a graph of degree four: nobody is cut off by one other, and κ says so."""
    made = roster(private_graph(count))
    assert exposed(made) == []
    assert made.vertex_connectivity == holds
    who = "no single member" if holds == 2 else f"no {holds - 1} members"
    assert who in promise(made)


def test_exposed_members_are_named_and_must_say_yes() -> None:
    """A leaf is exposed to its neighbour; a pair behind one member by its sum; each is named with what is at stake."""
    star = roster(graphs.star(4))
    found = exposed(star)
    assert [(one.member, one.observer, one.partner) for one in found] == [(f"p{i}", "p0", None) for i in (1, 2, 3)]
    with pytest.raises(ConfigError, match=r"p0 will know p1's value.*--accept p1 --accept p2 --accept p3"):
        check_accepted(star)
    check_accepted(replace(star, accepted=["p1", "p2", "p3"]))
    bow_tie = roster(Graph.from_edges([(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)], num_nodes=5))
    assert str(exposed(bow_tie)[0]) == "p2 will know the sum of p0's and p1's values"
    assert [one.member for one in exposed(bow_tie)] == ["p0", "p1", "p3", "p4"]


def test_the_table_says_what_the_theorem_says() -> None:
    """Triangle, range 100 and a seal of 300: one other member is left with ± 20.4 of ± 28.9, two know it exactly."""
    rows = what_others_learn(roster(graphs.complete(3)))
    assert rows[0] == ("p0", "± 28.9", "± 20.4 (p1)", "exactly (p1, p2)", "exactly")
    assert what_others_learn(roster(graphs.path(3)))[0][2] == "exactly (p1)"
    assert what_others_learn(roster(graphs.path(2)))[0][2:4] == ("exactly (p1)", "-")


def test_a_large_roster_says_what_was_not_tried() -> None:
    """Of forty members everything that follows is there, and single ones are in the table; pairs are too many."""
    made: Roster = roster(private_graph(40))
    assert (made.diameter, made.vertex_connectivity, max(made.degrees.values())) == (10, 4, 4)
    assert what_others_learn(made)[0][2].startswith("± 28.")
    assert what_others_learn(made)[0][3] == "not tried"
