"""How a peer's state, and what it knows of its topics, stand in the rows of one SQLite table."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...errors import UnusableStore
from ...privacy.gaussian.account import Account
from ..protocol.closing import Certificate
from ..protocol.ledger import Edge
from ..protocol.messages import Vector
from ..protocol.packing import pack_tightly, unpack
from ..protocol.parting import Parting
from ..protocol.state import PeerState
from .base import AS_AFTER_A_LOST_DISK, TopicRecord, changed_edges
from .places import Places

__all__ = ["Rows", "topic_records"]


_VECTORS = ("value", "noise", "f ", "g ")
"""What names of rows begin with that hold a vector, or say where it is."""


class Rows:
    """The rows of one topic's state.

    Parameters
    ----------
    db, topic
        Where, and whose.
    places
        Where its vectors are, if they are long; ``None``: in the rows.
    """

    def __init__(self, db: sqlite3.Connection, topic: bytes, places: Places | None = None) -> None:
        self._db, self._topic, self._places = db, topic, places

    def write(self, old: PeerState | None, new: PeerState) -> None:
        """What differs."""
        if old is None or old.value is not new.value:
            self._put_vector("value", new.value)
        if old is None or old.noise is not new.noise:
            self._put_vector("noise", new.noise)
        account = new.account
        counts = (account.noise_std, account.noise_decay, account.budget, account.information, account.messages)
        self._put_numbers("peer", (*counts, new.fresh, new.requests, new.last_sid))
        written, deleted = changed_edges(old, new)
        for name in written:
            self._put_edge(name, None if old is None else old.edges.get(name), new.edges[name])
        for name in deleted:
            self._delete(f"edge {name}")
            for kind in "fg":
                self._put_vector(f"{kind} {name}", None)
        self._put_partings({} if old is None else old.partings, new.partings)
        if self._places is not None:
            self._places.sync()
        if new.certificate is not None and (old is None or old.certificate is not new.certificate):
            held = new.certificate
            self._put(
                "certificate",
                json.dumps((held.contributors, held.width, held.declared, held.roll)),
                pack_tightly(held.twice),
            )

    def note(self, record: TopicRecord) -> None:
        """What is kept about the topic itself; once it has ended, that is all."""
        if record.ended:
            self._db.execute("DELETE FROM state WHERE topic = ?", (self._topic,))
        facts = (record.name, record.dimension, record.missing, record.secret, record.carried, record.information,
                 record.contributors, record.width, record.ended, record.roll)  # fmt: skip
        self._put("topic", json.dumps(facts), None if record.twice is None else pack_tightly(record.twice))
        if record.shape:  # in a row of its own: programs that do not know of it read the others as before
            self._put("shape", json.dumps(record.shape), None)

    def _put_edge(self, name: str, old: Edge | None, new: Edge) -> None:
        self._put_numbers(f"edge {name}", (new.sid, new.psid, new.blank, new.parted, new.s, new.r))
        if old is None or old.f is not new.f:
            self._put_vector(f"f {name}", new.f)
        if old is None or old.g is not new.g:
            self._put_vector(f"g {name}", new.g)

    def _put_partings(self, old: Mapping[str, Parting], new: Mapping[str, Parting]) -> None:
        for name in old.keys() - new.keys():
            self._delete(f"parting {name}")
        for name, parting in new.items():
            if old.get(name) != parting:
                self._put_numbers(f"parting {name}", (parting.sid, parting.psid, parting.since))

    def _put_numbers(self, what: str, numbers: tuple[float, ...]) -> None:
        # As JSON: Python writes floats so that they are read back bit for bit, and whole numbers without a limit.
        self._put(what, json.dumps(numbers), None)

    def _put_vector(self, what: str, vector: Vector | None) -> None:
        if vector is None:
            self._delete(what)
            if self._places is not None:
                self._places.drop(what)
        elif self._places is not None:
            self._put_numbers(what, self._places.write(what, vector))
        else:
            self._put(what, None, pack_tightly(vector))  # nobody sees a length who does not see the numbers

    def _put(self, what: str, numbers: str | None, data: bytes | None) -> None:
        changed = "UPDATE state SET numbers = ?, data = ?, checksum = ? WHERE topic = ? AND what = ?"
        content = (numbers, data, _checksum(self._topic, what, numbers, data))
        if self._db.execute(changed, (*content, self._topic, what)).rowcount == 0:
            self._db.execute("INSERT INTO state VALUES (?, ?, ?, ?, ?)", (self._topic, what, *content))

    def _delete(self, what: str) -> None:
        self._db.execute("DELETE FROM state WHERE topic = ? AND what = ?", (self._topic, what))

    def load(self, dimension: int) -> PeerState | None:
        """The whole state, or ``None`` if there is none.

        All rows are checked, those of other topics too: in a damaged file a row may stand under a wrong name.
        """
        numbers: dict[str, Any] = {}
        vectors: dict[str, Vector] = {}
        if self._places is not None:
            self._places.forget()
        for topic, what, text, data in _checked(self._db):
            if topic != self._topic or what in ("topic", "shape"):
                continue
            if text is not None:
                numbers[what] = json.loads(text)
            if data is not None:
                vectors[what] = _vector(what, data, dimension)
            elif self._places is not None and what.startswith(_VECTORS):
                vectors[what] = _vector(what, self._places.read(what, numbers[what]), dimension)
        if "peer" not in numbers:
            return None
        std, decay, budget, information, draws, fresh, requests, last_sid = numbers["peer"]
        if "value" not in vectors:
            raise UnusableStore(f"the store holds no private value; {AS_AFTER_A_LOST_DISK}")
        return PeerState(
            vectors["value"],
            Account(std, decay, budget=budget, information=information, messages=draws),
            vectors.get("noise"),
            fresh,
            requests,
            last_sid,
            {name: _edge(name, row, vectors) for name, row in _named("edge ", numbers)},
            {name: Parting(*row) for name, row in _named("parting ", numbers)},
            _certificate(numbers.get("certificate"), vectors),
        )


def topic_records(db: sqlite3.Connection) -> dict[bytes, TopicRecord]:
    """What is kept about each topic, by its id."""
    found, shapes = {}, {}
    for topic, what, text, data in _checked(db):
        if what == "shape":
            shapes[topic] = json.loads(text)
        if what == "topic":
            facts = json.loads(text)
            name, dimension, missing, secret, carried, information, contributors, width, ended, *later = facts
            twice = None if data is None else _vector(what, data, dimension)
            found[topic] = TopicRecord(
                name, dimension, missing, secret, carried, information, contributors, twice, width, ended,
                roll=tuple(later[0]) if later else (),
            )  # fmt: skip
    return {topic: replace(record, shape=shapes.get(topic, "")) for topic, record in found.items()}


def _checked(db: sqlite3.Connection) -> Iterator[tuple[bytes, str, Any, Any]]:
    for topic, what, text, data, checksum in db.execute("SELECT * FROM state"):
        if checksum != _checksum(topic, what, text, data):
            raise UnusableStore(f"a row in the store is damaged: its checksum does not fit; {AS_AFTER_A_LOST_DISK}")
        yield topic, what, text, data


def _certificate(numbers: Any, vectors: Mapping[str, Vector]) -> Certificate | None:
    if numbers is None:
        return None
    contributors, width, declared, *later = numbers
    return Certificate(contributors, vectors["certificate"], width, declared, *map(tuple, later))


def _named(kind: str, rows: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted((what.removeprefix(kind), row) for what, row in rows.items() if what.startswith(kind))


def _edge(name: str, numbers: Any, vectors: Mapping[str, Vector]) -> Edge:
    sid, psid, blank, parted, s, r = numbers
    f, g = vectors.get(f"f {name}"), vectors.get(f"g {name}")
    if not blank and (f is None or g is None):
        raise UnusableStore(f"the ledger for neighbour {name!r} is incomplete; {AS_AFTER_A_LOST_DISK}")
    return Edge(sid, psid, blank, s, f, r, g, parted)


def _vector(what: str, data: bytes, dimension: int) -> Vector:
    vector = unpack(data)
    if vector is None or len(vector) != dimension:
        raise UnusableStore(f"vector {what!r} is not one of {dimension} numbers; {AS_AFTER_A_LOST_DISK}")
    return vector


def _checksum(topic: bytes, what: str, numbers: str | None, data: bytes | None) -> str:
    """Of one row. It notices bit rot; it is no protection against whoever can write the file."""
    seen = hashlib.sha256(repr((topic, what, numbers)).encode())
    seen.update(b"" if data is None else data)
    return seen.hexdigest()
