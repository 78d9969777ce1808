"""A harmful message is refused before any of it is believed (R31)."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.errors import ProtocolViolation
from sottovoce.peer.protocol.absences import LONGEST_AGE, Absence
from sottovoce.peer.protocol.messages import COUNTER_LIMIT, Kind, Stop, Told

from .pair import acquainted, asks, exchange

GOOD = {"f": np.array([500_000]), "s": 2}
BAD: dict[str, dict[str, Any]] = {
    "floating-point register": {"f": np.array([0.5]), "s": 2},
    "oversized register": {"f": np.array([2**60 + 1]), "s": 2},
    "least 64-bit number": {"f": np.array([-(2**63)]), "s": 2},
    "flow beyond the limit": {"f": np.array([10**12]), "s": 3},
    "wrong dimension": {"f": np.array([1, 1]), "s": 2},
    "two axes": {"f": np.array([[1]]), "s": 2},
    "negative counter": {**GOOD, "r": -1},
    "counter too large": {**GOOD, "s": COUNTER_LIMIT},
    "counter jumps": {**GOOD, "s": 2**33},
    "life too large": {**GOOD, "dst_sid": COUNTER_LIMIT},
    "value in a HELLO": {**GOOD, "x": np.array([1])},
    "for somebody else": {**GOOD, "dst": "eve"},
    "short topic": {**GOOD, "topic": b"x"},
    "roster too large": {**GOOD, "roster": COUNTER_LIMIT},
    "half an interval": {**GOOD, "stop": Stop(0, low=np.array([0]))},
    "empty interval": {**GOOD, "stop": Stop(0, np.array([1]), np.array([0]))},
    "floating-point interval": {**GOOD, "stop": Stop(0, np.array([0.0]), np.array([1.0]))},
    "interval of wrong dimension": {**GOOD, "stop": Stop(0, np.array([0, 0]), np.array([1, 1]))},
    "interval beyond 2**60": {**GOOD, "stop": Stop(0, np.array([0]), np.array([2**62]))},
    "negative round": {**GOOD, "stop": Stop(-1)},
    "reference of three bytes": {**GOOD, "stop": Stop(0, reference=b"abc")},
    "reference of nobody": {**GOOD, "stop": Stop(0, owner=64)},
    "reference of wrong dimension": {**GOOD, "stop": Stop(0, centre=np.array([0, 0]))},
    "reference beyond 2**60": {**GOOD, "stop": Stop(0, centre=np.array([2**62]))},
    "interval around nothing": {**GOOD, "stop": Stop(0, around=Told(b"", 1, 1))},
    "interval that ends before it begins": {**GOOD, "stop": Stop(0, around=Told(bytes(32), -1, 1))},
    "interval around beyond 2**60": {**GOOD, "stop": Stop(0, previous_around=Told(bytes(32), 1, 2**61))},
    "two intervals": {**GOOD, "stop": Stop(0, np.array([0]), np.array([0]), around=Told(bytes(32), 1, 1))},
    "unknown contributor": {**GOOD, "stop": Stop(0, contributors=1 << 64)},
    "unknown member is there": {**GOOD, "present": 1 << 64},
    "unknown member is missing": {**GOOD, "absences": (Absence(64, 0, True, 1, 1),)},
    "missing, says nobody": {**GOOD, "absences": (Absence(0, 64, True, 1, 1),)},
    "missing, says the one": {**GOOD, "absences": (Absence(2, 2, True, 1, 1),)},
    "missing twice": {**GOOD, "absences": (Absence(2, 1, True, 1, 1), Absence(2, 3, True, 1, 1))},
    "missing for centuries": {**GOOD, "absences": (Absence(2, 1, True, LONGEST_AGE, 1),)},
    "claim from the future": {**GOOD, "absences": (Absence(2, 1, True, 1, -1),)},
}


@pytest.mark.parametrize("what", BAD)
def test_a_harmful_message_is_refused_without_a_trace(what: str) -> None:
    """Refused with an error that shows no value; durable state and pending request are the same objects as before."""
    a, b = acquainted()
    exchange(a, b)
    pending, state = asks(a, b), a.state
    with pytest.raises(ProtocolViolation) as refusal:
        a.receive(replace(b.greet("ada"), **BAD[what]))
    assert a.state is state
    assert a.pending is not None
    assert a.pending.message is pending
    assert "500000" not in str(refusal.value)


@pytest.mark.parametrize("what", BAD)
def test_what_was_checked_for_other_members_is_checked_again(what: str) -> None:
    """R31: a message that was decoded for another number of members, as before a change of the roster, is refused."""
    a, b = acquainted()
    with pytest.raises(ProtocolViolation):
        a.receive(replace(b.greet("ada"), **BAD[what], checked=a.settings.members + 1))


@pytest.mark.parametrize("field", ["f", "g", "x", "low", "previous_low", "centre"])
def test_the_length_of_a_vector_is_asked_for_also_if_the_rest_was_checked(field: str) -> None:
    """R31: only the topic's own protocol knows how long a vector must be, and its name is in the refusal."""
    wrong, right = np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64)
    if field in ("f", "g", "x"):
        bad = {field: wrong}
    elif field == "centre":
        bad = {"stop": Stop(0, centre=wrong)}
    else:
        bad = {"stop": Stop(0, **{"low": right, "high": right, field: wrong, field.replace("low", "high"): wrong})}
    a, b = acquainted()
    with pytest.raises(ProtocolViolation, match=f"{field} must have 1 coordinates, got 2"):
        a.receive(replace(b.greet("ada"), **bad, checked=a.settings.members))


@settings(max_examples=150)
@given(st.data())
def test_mutated_messages_never_break_the_ledger(data: st.DataObject) -> None:
    """Whatever one field is changed to, the peer refuses or goes on, within its limits; nothing else is raised."""
    a, b = acquainted()
    for _ in range(data.draw(st.integers(0, 2))):
        exchange(a, b)
    message: Any = data.draw(st.sampled_from([b.greet("ada"), b.tick("ada"), exchange(a, b)[0]]))
    field = data.draw(st.sampled_from(["src_sid", "dst_sid", "s", "r", "xid", "blank", "kind", "x", "f", "g", "stop"]))
    numbers = st.integers(-(2**64), 2**64) | st.integers(0, 4) | st.sampled_from([a.state.edges["bob"].sid])
    whole = st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**8), 10**8)
    vectors = st.none() | st.lists(whole, min_size=0, max_size=2).map(lambda n: np.array(n, dtype=np.int64))
    changes = {
        "blank": st.booleans(),
        "kind": st.sampled_from(Kind),
        "stop": st.builds(Stop, st.integers(-1, 10), vectors, vectors, vectors, vectors),
    }
    value = data.draw(changes.get(field, vectors if field in "fgx" else numbers))
    with contextlib.suppress(ProtocolViolation):
        a.receive(replace(message, src="bob", dst="ada", **{field: value}))
    assert (abs(a.state.shown) <= a.settings.limits.value).all()
    assert all(edge.blank or abs(edge.flow) <= 2 * a.settings.edge_limit("bob") for edge in a.state.edges.values())
