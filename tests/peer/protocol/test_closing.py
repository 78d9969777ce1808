"""How a topic ends: what binds a peer, what it follows, and what it still does for others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.peer.protocol.closing import Agreement, Certificate, followed, renewed
from sottovoce.peer.protocol.messages import Kind
from sottovoce.peer.protocol.openings import closed, topic_id
from sottovoce.peer.protocol.settings import TopicSettings
from sottovoce.peer.protocol.state import FIRST_OPENINGS
from sottovoce.testing import SimulatedNetwork

from .pair import Watched, peer, started, talk

NAMES = ["ada", "bob", "cyd", "dan"]


def ring(missing: str, seed: int = 1) -> SimulatedNetwork:
    pairs = list(zip(NAMES, NAMES[1:] + NAMES[:1], strict=True))
    values = {name: 1.0 * k for k, name in enumerate(NAMES)}
    return SimulatedNetwork(
        pairs, values, noise_std=1.0, noise_decay=0.6, seed=seed, members=4, max_degree=2, diameter=2, missing=missing
    )


def protocols(net: SimulatedNetwork) -> list:  # type: ignore[type-arg]
    return [peer.protocol for peer in net.peers.values() if peer.protocol is not None]


def test_who_is_bound_lets_nobody_in_or_out() -> None:
    """From its first certificate on a peer drops nobody and adds nobody."""
    net = ring("drop")
    assert net.run(300.0, until=lambda: any(protocol.bound for protocol in protocols(net)))
    bound = next(protocol for protocol in protocols(net) if protocol.bound)
    edges = dict(bound.state.edges)
    assert bound.drop(next(iter(edges))) is None
    assert bound.add("eve") is None
    assert bound.state.edges == edges
    assert bound.state.partings == {}


def test_a_restart_does_not_unbind() -> None:
    """The certificate is durable: whoever counted on it is not disappointed by a crash."""
    net = ring("drop")
    assert net.run(300.0, until=lambda: any(protocol.bound for protocol in protocols(net)))
    name = next(name for name, peer in net.peers.items() if peer.protocol is not None and peer.protocol.bound)
    peer = net.peers[name]
    peer.disk = peer.protocol.state  # type: ignore[union-attr]
    peer.crash()
    peer.start()
    assert peer.protocol is not None
    assert peer.protocol.bound


def test_who_is_bound_follows_a_neighbour_that_has_declared() -> None:
    """With the rounds at a standstill the same set is enough; another set, or no certificate, is not."""
    held = Certificate(0b0111, np.array([4]), 2)
    assert followed(held, 0b0111).declared  # type: ignore[union-attr]
    assert followed(held, 0b1111) is held
    assert followed(None, 0b0111) is None
    net = ring("drop")
    assert net.run(300.0, until=lambda: all(protocol.bound for protocol in protocols(net)))
    waiting = [protocol for protocol in protocols(net) if not protocol.declared]
    for protocol in waiting:
        protocol.declared_elsewhere = 0b1111
        protocol.follow()
        assert protocol.declared


def test_the_word_of_who_is_bound_to_another_set_does_not_count() -> None:
    """R91: it may have let somebody in or out since; for the same set it counts, and all of them make it final."""
    net = ring("drop")
    assert net.run(300.0, until=lambda: all(protocol.bound for protocol in protocols(net)))
    ada, bob = protocols(net)[:2]
    assert not ada.declared
    ada.holders = 0b0001
    word = bob.greet("ada")
    ada.receive(replace(word, held=0b0111, holders=0b1111))
    assert ada.holders == 0b0001
    ada.receive(replace(word, held=0b1111, holders=0b0110))
    ada.follow()
    assert not ada.declared
    ada.receive(replace(word, held=0b1111, holders=0b1110))
    ada.follow()
    assert ada.declared


@pytest.mark.parametrize("counted", [True, False])
def test_who_lost_its_disk_is_held_by_what_others_count_on(counted: bool) -> None:
    """R91: it gets its ledger back from one that is bound to a set with it, and drops nobody; of another set it may."""
    net = ring("drop")
    assert net.run(300.0, until=lambda: all(protocol.bound for protocol in protocols(net)))
    ada = net.peers["ada"]
    ada.crash(lose_disk=True)
    ada.start()
    bob = net.peers["bob"].protocol
    assert ada.protocol is not None
    assert bob is not None
    bob.receive(ada.protocol.greet("bob"))
    word = bob.greet("ada")
    assert word.held == 0b1111
    ada.protocol.receive(word if counted else replace(word, held=0b1110))
    assert not ada.protocol.state.edges["bob"].blank
    assert ada.protocol.bound == counted


@pytest.mark.parametrize(
    ("second", "believed"),
    [
        (Certificate(0b1111, np.array([8]), 2), True),
        (Certificate(0b1111, np.array([8_000_000]), 2), False),
        (Certificate(0b0111, np.array([8]), 2), False),
        (None, True),
    ],
)
def test_an_answer_is_taken_back_only_if_all_who_closed_tell_the_same(
    second: Certificate | None, believed: bool
) -> None:
    """R93: after a lost disk; a neighbour that tells another answer, or another set, keeps it from being believed."""
    net = ring("drop")
    ada = net.peers["ada"].protocol
    assert ada is not None
    first = Certificate(0b1111, np.array([8]), 2)
    for name, told in (("bob", first), ("dan", second)):
        members = 0b1111 if told is None else told.contributors
        word = closed(replace(ada.settings, name=name), "ada", members, topic=ada.topic, answer=told)
        ada.receive(word)
    assert ada.declared == believed
    assert ada.state.certificate is None or ada.state.certificate.twice.tolist() == [8]


def test_an_answer_is_taken_over_only_where_nothing_is_against_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """R92: one neighbour missing, all others with the answer, this peer in it, its own value there; not otherwise."""
    net = ring("wait")
    monkeypatch.setattr("sottovoce.peer.protocol.ending.renewed", lambda before, _found, **_how: before)
    net.run(120.0)
    one = protocols(net)[0]
    near, lost = (one._links[name] for name in one.state.active)
    right = Certificate(0b1111, 2 * one.state.shown, 2, declared=True)

    def takes(offer: Certificate | None) -> bool:
        one._offers = {} if offer is None else {one.state.active[0]: offer}
        one.follow()
        return one.declared

    assert not takes(right)
    lost.silent = True
    assert not takes(right)  # the other neighbour has not declared
    near.closed = 0b0111
    assert not takes(replace(right, contributors=0b0111))  # "wait" needs all
    near.closed = 0b1111
    assert not takes(replace(right, twice=right.twice + 4 * one.settings.tolerance_units))
    assert not takes(replace(right, contributors=0b0111))
    assert not takes(None)
    near.silent = True
    assert not takes(right)  # nobody is left who says so
    near.silent = False
    assert takes(right)
    assert one.state.certificate is right


def test_waiting_needs_everybody() -> None:
    """With "wait" agreement among some members is no answer and binds nobody; with "drop" it binds."""
    found = Agreement(np.array([3]), np.array([5]), contributors=0b011, ready=0b011)
    assert renewed(None, found, missing="wait", members=3) is None
    assert renewed(None, found, missing="wait", members=2).declared  # type: ignore[union-attr]
    some = found._replace(ready=0b001)
    assert not renewed(None, some, missing="drop", members=3).declared  # type: ignore[union-attr]
    assert renewed(None, found, missing="drop", members=3).declared  # type: ignore[union-attr]


def test_what_was_declared_stays() -> None:
    """No later agreement replaces an answer, whatever it finds."""
    answer = Certificate(0b011, np.array([4]), 2, declared=True)
    later = Agreement(np.array([9]), np.array([9]), contributors=0b111, ready=0b111)
    assert renewed(answer, later, missing="drop", members=3) is answer
    assert renewed(answer, later, missing="wait", members=3) is answer


@pytest.mark.parametrize("missing", ["wait", "drop"])
def test_with_the_answer_there_nothing_more_is_asked(missing: str) -> None:
    """A peer that has declared sends greetings, which show no value, and no requests."""
    net = ring(missing)
    assert net.run(300.0, until=lambda: all(protocol.declared for protocol in protocols(net)))
    assert {protocol.state.certificate.contributors for protocol in protocols(net)} == {0b1111}
    for protocol in protocols(net):
        protocol.pending = None
        said = protocol.tick(protocol.state.active[0])
        assert said.kind is Kind.HELLO
        assert said.closed == 0b1111


def test_a_topic_asks_for_no_exchange_that_would_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that agree are not shown again and again while the answer is waited for; the answer comes all the same."""
    net = ring("wait")
    with monkeypatch.context() as patch:
        patch.setattr("sottovoce.peer.protocol.ending.renewed", lambda before, _found, **_how: before)
        net.run(120.0)
        shown = [protocol._requests for protocol in protocols(net)]
        net.run(60.0)
        assert [protocol._requests for protocol in protocols(net)] == shown
    assert not any(protocol.declared for protocol in protocols(net))
    assert net.run(60.0, until=lambda: all(protocol.declared for protocol in protocols(net)))
    assert [protocol._requests for protocol in protocols(net)] == shown


def test_a_large_difference_is_followed_by_another_exchange() -> None:
    """Two peers without noise agree after one exchange, and do not know it: they find out, and have their answer."""
    net = SimulatedNetwork(
        [("ada", "bob")], {"ada": 0.0, "bob": 900.0}, noise_std=1e-9, noise_decay=0.5, seal_std=0.0, seed=1, members=2,
        max_degree=1, missing="wait",
    )  # fmt: skip
    assert net.run(60.0, until=lambda: all(protocol.declared for protocol in protocols(net)))
    assert abs(int(protocols(net)[0].state.certificate.twice[0]) - 900_000_000) <= 1000


def test_a_value_that_has_moved_is_shown_to_those_who_have_not_seen_it() -> None:
    """One edge far apart keeps all others going: the movement that it causes is passed on (R88)."""
    net = ring("wait")
    net.run(0.25)
    ada = net.peers["ada"].protocol
    assert ada is not None
    for link in ada._links.values():
        link.moved = link.disagreement = 0.0
    assert not ada.declared
    near = ada.settings.tolerance_units // (4 * ada.settings.diameter)
    ada.state = replace(ada.state, noise=np.zeros(1, dtype=np.int64), account=replace(ada.state.account, messages=99))
    assert ada._has_said_enough("bob")
    ada._exchanged("dan", 2 * near, near)
    assert ada._has_said_enough("bob")
    ada._exchanged("dan", 2, 1)
    assert not ada._has_said_enough("bob")
    assert ada._has_said_enough("dan")


def contributor(name: str) -> Watched:
    """One in a topic with "drop"."""
    found = peer(name, members=4, index=NAMES.index(name))
    found.topic = topic_id("t")
    found.settings = TopicSettings.of(found.settings, dimension=1, missing="drop", topic="t", order=tuple(NAMES))
    return found


def test_being_left_out_and_let_in_does_not_open_an_edge_more_often() -> None:
    """A liar that is silent, is left out, and greets as if its disk were lost: its bucket goes on (R53, R83)."""
    ada, openings = contributor("ada"), 0
    ada.add("bob")
    for _ in range(3 * int(FIRST_OPENINGS)):
        bob = contributor("bob")
        bob.add("ada")
        talk(bob, ada, bob.greet("ada"))
        openings += not ada.state.edges["bob"].blank
        ada.leave_out("bob")
        assert "bob" not in ada.state.edges
        ada.gone("bob")
    assert openings == FIRST_OPENINGS


@pytest.mark.parametrize("kind", [Kind.BYE, Kind.CLOSED])
@pytest.mark.parametrize("left_out", [False, True])
def test_who_is_refused_stays_refused_until_an_operator_drops_that_neighbour(kind: Kind, left_out: bool) -> None:
    """Over restarts, other rosters, and messages from before; also by one that was left out before it said so (R85)."""
    ada, bob = contributor("ada"), contributor("bob")
    ada.add("bob")
    bob.add("ada")
    early = bob.greet("ada")
    talk(bob, ada, early)
    if left_out:
        ada.leave_out("bob")
    ada.receive(replace(closed(bob.settings, "ada", 0b0110, topic=ada.topic), kind=kind, dst_sid=early.dst_sid))
    assert ada.refused_by(0b1001) == {"bob": ("bob", "cyd")}
    assert ada.refused_by(0b1011) == {}
    ada.receive(replace(early, src_sid=1, dst_sid=1))
    ada.reconfigure(replace(ada.settings, order=("abe", *NAMES), index=1, members=5, roster=1))
    again = started(ada.settings, ada.state)
    assert again.refused_by(0b10010) == {"bob": ("bob", "cyd")}
    again.forget_claims("bob")
    assert again.refused_by(0b10010) == {}
