"""Bounds on what an edge holds: never too small, and exact where a limit is near."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.errors import ProtocolViolation
from sottovoce.peer.protocol.bounds import bounds_of
from sottovoce.peer.protocol.messages import farthest
from sottovoce.peer.protocol.noise import rounded

from .pair import acquainted, answers, asks, exchange


def test_they_are_never_too_small() -> None:
    """Over 60 exchanges with noise, both ways and with replies that are lost, no number is larger than its bound."""
    rng = np.random.default_rng(0)
    a, b = acquainted(dimension=20)
    for one in (a, b):
        one._draw, one._coin = rounded(rng.standard_normal), lambda count: rng.integers(2, size=count)
    for step in range(60):
        first, second = (a, b) if rng.integers(2) else (b, a)
        second.tick(None)
        if step % 7 == 3:
            second.receive(asks(first, second))
            first.give_up()
        exchange(first, second)
        for one, other in ((a, "bob"), (b, "ada")):
            known, edge = one._links[other].bounds, one.state.edges[other]
            assert known is None or not known.of(edge) or known.flow >= farthest(edge.f - edge.g)
            assert known is None or not known.of(edge) or known.register >= farthest(edge.f)


def test_those_of_another_record_do_not_count() -> None:
    """A register that was exchanged for another one is looked at anew."""
    a, b = acquainted()
    exchange(a, b)
    edge = b.state.edges["ada"]
    known = b._links["ada"].bounds
    assert known is not None
    assert known.of(edge)
    assert not known.of(replace(edge, f=edge.f + 1))
    assert not known.of(replace(edge, g=edge.g.copy()))


def test_a_register_that_creeps_beyond_the_limit_is_refused_there() -> None:
    """A liar whose steps are small each gets as far as the limit, and not one step further (R42)."""
    a, b = acquainted()
    exchange(a, b)
    limit, step = 2 * a.settings.edge_limit("bob"), a.settings.edge_limit("bob") // 10
    reply = answers(b, asks(a, b))
    a.receive(reply)
    start = int(a.state.edges["bob"].flow[0])
    refused = 0
    for number in range(1, 60):
        assert reply.f is not None
        crept = replace(reply, s=reply.s + number, f=reply.f - number * step)
        if abs(start + number * step) <= limit:
            a.receive(crept)
            assert a.state.edges["bob"].r == reply.s + number
        else:
            refused += 1
            with pytest.raises(ProtocolViolation, match="flow of an edge"):
                a.receive(crept)
    assert refused
    assert bounds_of(a.state.edges["bob"]).flow <= limit
