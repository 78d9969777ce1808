"""The durable state: what is carried on from one to the next is what would be computed anew."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from sottovoce.peer.protocol.ledger import Edge, step
from sottovoce.peer.protocol.messages import Vector
from sottovoce.peer.protocol.state import PeerState
from sottovoce.privacy.gaussian.account import Account


def summed(state: PeerState) -> Vector:
    """x, from everything that it is made of."""
    flows = sum((edge.f - edge.g for edge in state.edges.values() if not edge.blank), np.zeros(3, dtype=np.int64))
    return np.asarray(state.value + flows + (0 if state.noise is None else state.noise))


def open_edge(f: Vector, g: Vector) -> Edge:
    return Edge(sid=1, psid=1, blank=False, s=1, f=f, r=1, g=g)


def changed(state: PeerState, what: str, name: str, some: Vector) -> PeerState:
    """One of all the ways in which a state is followed by another."""
    edge = state.edges.get(name, Edge(sid=1))
    match what:
        case "step" if not edge.blank:
            return state.with_edge(name, step(edge, some), some)
        case "copy" if not edge.blank:
            return state.with_edge(name, replace(edge, r=edge.r + 1, g=some), edge.g - some)
        case "heard":
            return state.with_edge(name, replace(edge, heard=7))
        case "open":
            return state.with_edge(name, open_edge(some, some >> 1))
        case "drop":
            return replace(state, edges={other: kept for other, kept in state.edges.items() if other != name})
        case "parted":
            return state.with_edge(name, Edge(sid=2, parted=1))
        case "noise":
            return replace(state, noise=some)
        case "value":
            return replace(state, value=some)
    return replace(state, requests=state.requests + 1)


CHANGES = ["step", "copy", "heard", "open", "drop", "parted", "noise", "value", "request"]


def test_the_value_shown_is_the_sum_of_its_parts() -> None:
    """After any four changes in a row, asked after each or only at the end: x = c + u + Σ flows, to the unit."""
    rng, start = np.random.default_rng(0), PeerState(np.array([5, -6, 7]), Account(1.0, 0.5))
    for name in ("ada", "bob"):
        start = changed(start, "open", name, rng.integers(-(2**50), 2**50, size=3))
    for history in itertools.product(CHANGES, repeat=4):
        state, asks = start, bool(rng.integers(2))
        for what in history:
            state = changed(state, what, "ada", rng.integers(-(2**50), 2**50, size=3))
            assert not asks or np.array_equal(state.shown, summed(state)), history
        assert np.array_equal(state.shown, summed(state)), history


def test_an_exchange_sums_nothing_anew() -> None:
    """With its sum known, a state does not look at the registers of the other edges again, however many there are."""
    zero = np.zeros(3, dtype=np.int64)
    state = PeerState(zero, Account(1.0, 0.5), edges={name: open_edge(zero, zero) for name in "abc"})
    known = state.without_noise
    moved = state.with_edge("a", step(state.edges["a"], zero + 4), zero + 4)
    assert moved.known_sum is not None
    assert moved.with_edge("b", replace(moved.edges["b"], heard=1)).without_noise is moved.without_noise
    assert (moved.without_noise - known).tolist() == [4, 4, 4]
