"""What every store of a peer must do. Subclass in a test file and say how to open one.

>>> from sottovoce.peer.store import MemoryStore
>>> from sottovoce.testing import StoreConformance
>>> class TestMemoryStore(StoreConformance):
...     def open(self, place):
...         return place.setdefault("store", MemoryStore())
...     def close(self, store):
...         pass

Each method named ``test_…`` is one claim; pytest finds them by inheritance, and nothing here needs pytest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..peer.protocol import Edge, PeerState
from ..peer.protocol.closing import Certificate
from ..peer.protocol.parting import Parting
from ..peer.store.base import Store, TopicRecord
from ..privacy.gaussian.account import Account

__all__ = ["StoreConformance", "some_state"]


def some_state(dimension: int = 3) -> PeerState:
    """A state in which every field differs from its default."""
    rng = np.random.default_rng(0)
    f, g, value, noise = rng.integers(-(2**60), 2**60, size=(4, dimension))
    edges = {
        "ada": Edge(sid=2**61, psid=7, blank=False, s=3, f=f, r=2**40, g=g),
        "bob": Edge(sid=9),
        "eve": Edge(sid=11, parted=8),
    }
    account = Account(2.0, 0.9, budget=1e9, information=1 / 3, messages=4)
    return PeerState(
        value,
        account,
        noise,
        fresh=True,
        requests=12,
        last_sid=2**61,
        edges=edges,
        partings={"dan": Parting(sid=2**60, psid=5, since=1_700_000_000_000)},
        certificate=Certificate(2**200 + 1, 2 * value, 7, declared=True),
        refusals={"fay": ("bob", "fay")},
    )


def assert_same(found: PeerState | None, expected: PeerState) -> None:
    """Equal in everything durable, vectors bit for bit."""
    assert found is not None
    scalars = ("account", "fresh", "requests", "last_sid", "partings", "refusals")
    assert [getattr(found, name) for name in scalars] == [getattr(expected, name) for name in scalars]
    assert _bits(found.value) == _bits(expected.value)
    assert _bits(found.noise) == _bits(expected.noise)
    assert _certificate(found.certificate) == _certificate(expected.certificate)
    assert sorted(found.edges) == sorted(expected.edges)
    for name, edge in expected.edges.items():
        other = found.edges[name]
        fields = ("sid", "psid", "blank", "s", "r", "parted")
        assert [getattr(other, f) for f in fields] == [getattr(edge, f) for f in fields]
        assert (_bits(other.f), _bits(other.g)) == (_bits(edge.f), _bits(edge.g))


def _certificate(held: Certificate | None) -> tuple[object, ...] | None:
    return None if held is None else (held.contributors, _bits(held.twice), held.width, held.declared)


def _bits(vector: Any) -> bytes | None:
    return None if vector is None else np.asarray(vector).tobytes()


class StoreConformance:
    """Claims about a :class:`~sottovoce.peer.store.base.Store`."""

    def test_topics_are_kept_apart(self) -> None:
        """The states of two topics and of the standing average, of different dimensions, come back each as it was."""
        place: dict[str, Any] = {}
        store = self.open(place)
        records = {
            bytes([k]) * 16: TopicRecord(
                f"topic {k}",
                k,
                "drop",
                "salary",
                carried=0.5,
                information=1 / 3,
                shape=f"({k},)" if k > 1 else "",
                declared=k - 1,
            )
            for k in (1, 5)
        }
        for topic, record in records.items():
            store.note_topic(topic, record)
            store.topic(topic, record.dimension).save(some_state(record.dimension))
        store.save(some_state())
        self.close(store)
        store = self.open(place)
        assert store.topics() == records
        for topic, record in records.items():
            assert_same(store.topic(topic, record.dimension).load(), some_state(record.dimension))
        assert_same(store.load(), some_state())
        self.close(store)

    def test_of_a_topic_that_has_ended_only_the_record_is_kept(self) -> None:
        """Its ledgers, noise and value are gone, its answer is there; the standing average and others are untouched."""
        place: dict[str, Any] = {}
        store, topic, twice = self.open(place), bytes(range(16)), np.array([4, -(2**61), 7])
        store.save(some_state())
        store.note_topic(topic, TopicRecord("a", 3, "wait", "s"))
        store.topic(topic, 3).save(some_state())
        ended = TopicRecord("a", 3, "wait", "s", 0.0, 2.5, contributors=2**99 + 1, twice=twice, width=4, ended=17,
                            shape="weighted (2,)")  # fmt: skip
        store.note_topic(topic, ended)
        self.close(store)
        store = self.open(place)
        found = store.topics()[topic]
        assert _bits(found.twice) == _bits(twice)
        assert replace(found, twice=None) == replace(ended, twice=None)
        assert store.topic(topic, 3).load() is None
        assert_same(store.load(), some_state())
        self.close(store)

    def open(self, place: dict[str, Any]) -> Store:
        """Open the store that lives in ``place``, the same each time for the same dictionary."""
        raise NotImplementedError

    def close(self, store: Store) -> None:
        """End the holder's life."""
        store.close()

    def reopened(self, place: dict[str, Any], store: Store) -> Store:
        """Close and open again."""
        self.close(store)
        return self.open(place)

    def test_a_new_store_is_empty(self) -> None:
        """Nothing saved, nothing loaded."""
        store = self.open({})
        assert store.load() is None
        self.close(store)

    def test_what_was_saved_is_loaded(self) -> None:
        """Every durable field survives closing and opening, vectors bit for bit."""
        place: dict[str, Any] = {}
        store = self.open(place)
        store.save(some_state())
        store = self.reopened(place, store)
        assert_same(store.load(), some_state())
        self.close(store)

    def test_the_last_state_wins(self) -> None:
        """A sequence of small changes, each saved, ends as if the last state alone had been saved."""
        place: dict[str, Any] = {}
        store, state = self.open(place), some_state()
        store.save(state)
        for changed in self.small_changes(state):
            state = changed
            store.save(state)
        store = self.reopened(place, store)
        assert_same(store.load(), state)
        self.close(store)

    @staticmethod
    def small_changes(state: PeerState) -> list[PeerState]:
        """What an exchange, a draw, a BYE, a drop and a new value change."""
        ada = replace(state.edges["ada"], s=4, f=state.value * 2)
        states = [replace(state, edges={**state.edges, "ada": ada}, fresh=False)]
        states.append(replace(states[-1], noise=state.value * 3, account=replace(state.account, messages=5)))
        states.append(replace(states[-1], edges={**states[-1].edges, "ada": Edge(sid=99, parted=1)}))
        states.append(replace(states[-1], edges={"ada": states[-1].edges["ada"]}, partings={"bob": Parting(9, 4, 5)}))
        states.append(replace(states[-1], partings={"bob": Parting(9, 7, 5)}))
        states.append(replace(states[-1], refusals={}))
        states.append(replace(states[-1], value=state.value * 5, noise=None))
        return states

    def test_saving_goes_on_after_loading(self) -> None:
        """A reopened store writes changes relative to what it loaded."""
        place: dict[str, Any] = {}
        store = self.open(place)
        store.save(some_state())
        store = self.reopened(place, store)
        state = store.load()
        assert state is not None
        state = replace(state, requests=77, edges={"bob": state.edges["bob"]})
        store.save(state)
        store = self.reopened(place, store)
        assert_same(store.load(), state)
        self.close(store)

    def test_what_is_volatile_is_not_kept(self) -> None:
        """What the neighbour last acknowledged is unknown after a restart (R37 depends on it)."""
        place: dict[str, Any] = {}
        store, state = self.open(place), some_state()
        store.save(replace(state, edges={"ada": replace(state.edges["ada"], heard=3)}))
        store = self.reopened(place, store)
        found = store.load()
        assert found is not None
        assert found.edges["ada"].heard is None
        self.close(store)
