"""How a peer's state, and what it knows of its topics, stand in rows: of one SQLite table, or of a sheet."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from ...errors import UnusableStore
from ...privacy.gaussian.account import Account
from ..protocol.closing import Certificate
from ..protocol.ledger import Edge
from ..protocol.messages import Vector
from ..protocol.packing import tightly, unpack
from ..protocol.parting import Parting
from ..protocol.state import PeerState
from .base import AS_AFTER_A_LOST_DISK, TopicRecord, changed_edges

__all__ = ["Parts", "Row", "Rows", "SqlTable", "Table", "check_rows", "note_topic", "topic_records"]


_VECTORS = ("value", "noise", "f ", "g ")
"""What names of rows begin with that hold a vector."""

Parts = tuple[bytes | memoryview, ...]
"""Data in pieces that stand one behind the other."""

Row = tuple[str, str | None, bytes | None]
"""What it is, its numbers as text, its data."""


class Table(Protocol):
    """Where the rows of one topic's state are kept."""

    def put(self, what: str, numbers: str | None, data: Parts | None) -> None:
        """Write a row, in place of the one of this name if there is one."""

    def delete(self, what: str) -> None:
        """Remove a row, if there is one."""

    def rows(self) -> Iterable[Row]:
        """All of them."""


class SqlTable:
    """The rows of one topic in the database.

    Parameters
    ----------
    db, topic
        Where, and whose.
    elsewhere
        Reads the data of a row whose numbers say where it is (schema 3); ``None``: there is no such row.
    """

    def __init__(
        self, db: sqlite3.Connection, topic: bytes, elsewhere: Callable[[str, list[int]], bytes] | None = None
    ) -> None:
        self._db, self._topic, self._elsewhere = db, topic, elsewhere

    def put(self, what: str, numbers: str | None, data: Parts | None) -> None:
        """Write a row."""
        changed = "UPDATE state SET numbers = ?, data = ?, checksum = ? WHERE topic = ? AND what = ?"
        whole = None if data is None else b"".join(data)
        content = (numbers, whole, _checksum(self._topic, what, numbers, whole))
        if self._db.execute(changed, (*content, self._topic, what)).rowcount == 0:
            self._db.execute("INSERT INTO state VALUES (?, ?, ?, ?, ?)", (self._topic, what, *content))

    def delete(self, what: str) -> None:
        """Remove a row."""
        self._db.execute("DELETE FROM state WHERE topic = ? AND what = ?", (self._topic, what))

    def rows(self) -> Iterator[Row]:
        """Those of this topic."""
        for _, what, text, data in _checked(self._db, "topic = ?", self._topic):
            if what not in _ABOUT:
                if self._elsewhere is not None and data is None and what.startswith(_VECTORS):
                    yield what, None, self._elsewhere(what, json.loads(text))
                else:
                    yield what, text, data

    def moved(self) -> None:
        """All rows of the state are in a sheet from now on."""
        self._db.execute(
            "DELETE FROM state WHERE topic = ? AND what NOT IN (?, ?)", (self._topic, *sorted(_ABOUT - {"sheet"}))
        )
        self.put("sheet", "[]", None)

    def has_moved(self) -> bool:
        """Whether they are."""
        return any(_checked(self._db, "topic = ? AND what = 'sheet'", self._topic))


_ABOUT = {"topic", "shape", "sheet"}
"""Rows about a topic, which are not of its state."""


class Rows:
    """The rows of one topic's state, wherever they are kept."""

    def __init__(self, table: Table) -> None:
        self._table = table

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
            self._table.delete(f"edge {name}")
            for kind in "fg":
                self._put_vector(f"{kind} {name}", None)
        self._put_partings({} if old is None else old.partings, new.partings)
        if new.certificate is not None and (old is None or old.certificate is not new.certificate):
            held = new.certificate
            facts = (held.contributors, held.width, held.declared, held.roll)
            self._table.put("certificate", json.dumps(facts), tightly(held.twice))
        if (old.refusals if old is not None else {}) != new.refusals:
            self._table.put("refusals", json.dumps(new.refusals), None)

    def _put_edge(self, name: str, old: Edge | None, new: Edge) -> None:
        self._put_numbers(f"edge {name}", (new.sid, new.psid, new.blank, new.parted, new.s, new.r))
        if old is None or old.f is not new.f:
            self._put_vector(f"f {name}", new.f)
        if old is None or old.g is not new.g:
            self._put_vector(f"g {name}", new.g)

    def _put_partings(self, old: Mapping[str, Parting], new: Mapping[str, Parting]) -> None:
        for name in old.keys() - new.keys():
            self._table.delete(f"parting {name}")
        for name, parting in new.items():
            if old.get(name) != parting:
                self._put_numbers(f"parting {name}", (parting.sid, parting.psid, parting.since))

    def _put_numbers(self, what: str, numbers: tuple[float, ...]) -> None:
        # As JSON: Python writes floats so that they are read back bit for bit, and whole numbers without a limit.
        self._table.put(what, json.dumps(numbers), None)

    def _put_vector(self, what: str, vector: Vector | None) -> None:
        if vector is None:
            self._table.delete(what)
        else:
            self._table.put(what, None, tightly(vector))  # nobody sees a length who does not see the numbers

    def load(self, dimension: int) -> PeerState | None:
        """The whole state, or ``None`` if there is none."""
        numbers: dict[str, Any] = {}
        vectors: dict[str, Vector] = {}
        for what, text, data in self._table.rows():
            if text is not None:
                numbers[what] = json.loads(text)
            if data is not None:
                vectors[what] = _vector(what, data, dimension)
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
            {name: tuple(told) for name, told in numbers.get("refusals", {}).items()},
        )


def note_topic(db: sqlite3.Connection, topic: bytes, record: TopicRecord) -> None:
    """What is kept about the topic itself; once it has ended, that is all."""
    if record.ended:
        db.execute("DELETE FROM state WHERE topic = ?", (topic,))
    facts = (record.name, record.dimension, record.missing, record.secret, record.carried, record.information,
             record.contributors, record.width, record.ended, record.roll, record.declared)  # fmt: skip
    table = SqlTable(db, topic)
    table.put("topic", json.dumps(facts), None if record.twice is None else tightly(record.twice))
    if record.shape:  # in a row of its own: programs that do not know of it read the others as before
        table.put("shape", json.dumps(record.shape), None)


def topic_records(db: sqlite3.Connection) -> dict[bytes, TopicRecord]:
    """What is kept about each topic, by its id."""
    found, shapes = {}, {}
    for topic, what, text, data in _checked(db, "what IN ('topic', 'shape')"):
        if what == "shape":
            shapes[topic] = json.loads(text)
        if what == "topic":
            facts = json.loads(text)
            name, dimension, missing, secret, carried, information, contributors, width, ended, *later = facts
            twice = None if data is None else _vector(what, data, dimension)
            found[topic] = TopicRecord(
                name, dimension, missing, secret, carried, information, contributors, twice, width, ended,
                roll=tuple(later[0]) if later else (), declared=later[1] if len(later) > 1 else 0,
            )  # fmt: skip
    return {topic: replace(record, shape=shapes.get(topic, "")) for topic, record in found.items()}


def check_rows(db: sqlite3.Connection) -> None:
    """Look at all rows, once when a store is opened: in a damaged file one may stand under the name of another topic.

    Those of one topic are checked again when they are read; all of them each time, and topics would become the slower
    the more there were before.
    """
    for _ in _checked(db, "TRUE"):
        pass


def _checked(db: sqlite3.Connection, which: str, *values: bytes) -> Iterator[tuple[bytes, str, Any, Any]]:
    for topic, what, text, data, checksum in db.execute(f"SELECT * FROM state WHERE {which}", values):  # noqa: S608
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
