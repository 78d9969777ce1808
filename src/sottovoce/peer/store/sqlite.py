"""A store in one SQLite file: write-ahead log, a synchronous transaction per state, only what changed.

Private values and noise lie in this file as they are; the folder is readable by its owner only. One
process holds it at a time, by a lock that the operating system releases when the process dies.

Files of the first wire, with floating-point ledgers, are refused: there is no exact way from those to whole numbers.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import StoreError, UnusableStore
from ...privacy.gaussian.account import Account
from ..protocol.ledger import Edge
from ..protocol.messages import DEFAULT_TOPIC, Vector
from ..protocol.parting import Parting
from ..protocol.state import PeerState
from .base import Identity, changed_edges, unchanged

__all__ = ["SCHEMA_VERSION", "SqliteStore", "read_identity", "read_state"]

_FIRST_WIRE = 1
"""The schema of the first wire, whose ledgers cannot be continued."""

# Each entry brings the schema from its number to the next, the first from nothing to 2; the last number is
# SCHEMA_VERSION. Never change one that was released: add another.
MIGRATIONS: list[str] = [
    """
    CREATE TABLE identity (
        network TEXT NOT NULL, name TEXT NOT NULL, dimension INTEGER NOT NULL, unit TEXT NOT NULL
    );
    -- One table for everything: with few coordinates the whole state lies on one page, and a transaction writes just
    -- that. What is large stands in rows of its own, so that writing one register does not rewrite another.
    --   peer          numbers: account, counters
    --   edge NAME     numbers: lives, flags, counters
    --   parting NAME  numbers: lives, time
    --   value, noise, f NAME, g NAME    data: little-endian 64-bit whole numbers
    -- Each row has a checksum over all of it, so that bit rot is noticed, wherever it is.
    CREATE TABLE state (
        topic BLOB NOT NULL, what TEXT NOT NULL, numbers TEXT, data BLOB, checksum TEXT NOT NULL,
        PRIMARY KEY (topic, what)
    ) WITHOUT ROWID;
    """,
]
SCHEMA_VERSION = _FIRST_WIRE + len(MIGRATIONS)

_APPLICATION_ID = 0x736F7474  # "sott"
_AS_AFTER_A_LOST_DISK = (
    "move the data folder away and start with the private value, as after a lost disk: neighbours give the ledger back"
)
_SMALL_DISK = "the disk is full or its quota is used up: make room and start again; nothing was lost"


class SqliteStore:
    """The durable state of one peer in ``folder/peer.sqlite``.

    Parameters
    ----------
    folder
        Made if missing, for its owner only.
    identity
        Whose state it is.
    topic
        Which average's state it is (R50).

    Raises
    ------
    StoreError
        The store is held by another process, damaged, of another peer, from another version, or not writable.
    """

    shown, went_back = 0.0, False

    def __init__(self, folder: Path, identity: Identity, *, topic: bytes = DEFAULT_TOPIC) -> None:
        self.path = Path(folder) / "peer.sqlite"
        self._identity, self._topic = identity, topic
        self._saved: PeerState | None = None
        self._lock = -1
        self._db: sqlite3.Connection | None = None
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    # -- opening --------------------------------------------------------------------------------

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"cannot use the data folder {str(self.path.parent)!r}: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(f"{str(self.path)!r} is held by another process: is this peer already running?") from None
        with self._translated("open"):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._db = _connect(str(self.path))
            self._prepare(self._db)

    def _prepare(self, db: sqlite3.Connection) -> None:
        for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL"):
            db.execute(f"PRAGMA {pragma}")
        db.execute("PRAGMA journal_size_limit = 67108864")
        answer = db.execute("PRAGMA integrity_check").fetchone()[0]
        if answer != "ok":
            raise UnusableStore(f"{str(self.path)!r} is damaged ({answer}); {_AS_AFTER_A_LOST_DISK}")
        migrate(db, self.path)
        row = db.execute("SELECT network, name, dimension, unit FROM identity").fetchone()
        if row is None:
            db.execute("INSERT INTO identity VALUES (?, ?, ?, ?)", tuple(vars(self._identity).values()))
        elif Identity(*row) != self._identity:
            raise UnusableStore(f"{str(self.path)!r} belongs to {Identity(*row)}, not to {self._identity}")

    def _translated(self, verb: str) -> _Translated:
        return _Translated(f"cannot {verb} {str(self.path)!r}")

    # -- the state ------------------------------------------------------------------------------

    def load(self) -> PeerState | None:
        """The last state saved, or ``None``."""
        db = self._connection()
        with self._translated("read"):
            self._saved = _Rows(db, self._topic).load(self._identity.dimension)
        return self._saved

    def save(self, state: PeerState) -> None:
        """Write what differs from the last state saved, in one transaction, and wait for the disk."""
        db = self._connection()
        if unchanged(self._saved, state):
            return
        with self._translated("write"):
            db.execute("BEGIN IMMEDIATE")
            try:
                _Rows(db, self._topic).write(self._saved, state)
                db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                raise
        self._saved = state

    def close(self) -> None:
        """Close the file and release the lock."""
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._db = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            raise StoreError("the store is closed")
        return self._db


class _Translated:
    """Turns what SQLite and the system say into one sentence for the operator."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.DatabaseError):
            code = getattr(error, "sqlite_errorcode", None)
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise UnusableStore(f"{self._what}: it is damaged ({error}); {_AS_AFTER_A_LOST_DISK}") from None
            full = code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
            raise StoreError(f"{self._what}: {_SMALL_DISK if full else error}") from None
        if isinstance(error, OSError):
            raise StoreError(f"{self._what}: {error.strerror}") from None
        if isinstance(error, ValueError | TypeError) and not isinstance(error, StoreError):  # a row that makes no sense
            raise UnusableStore(f"{self._what}: it is damaged; {_AS_AFTER_A_LOST_DISK}") from None


def migrate(db: sqlite3.Connection, path: Path, migrations: list[str] | None = None) -> None:
    """Bring the schema up to date, one version at a time, each in a transaction.

    ``user_version`` of the file counts the migrations it has had.
    """
    steps = MIGRATIONS if migrations is None else migrations
    version = db.execute("PRAGMA user_version").fetchone()[0]
    application = db.execute("PRAGMA application_id").fetchone()[0]
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and application != _APPLICATION_ID:
        raise UnusableStore(f"{str(path)!r} is a database of something else")
    known = _FIRST_WIRE + len(steps)
    if version > known:
        raise UnusableStore(f"{str(path)!r} was written by a later version (schema {version}, this knows {known})")
    if version == _FIRST_WIRE:
        raise UnusableStore(
            f"{str(path)!r} was written by version 1, whose numbers are not whole: its network cannot be continued; "
            "found a new one, and let each party give its private value again to a peer with a new data folder"
        )
    for number in range(max(version, _FIRST_WIRE), known):
        stamps = f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {number + 1};"
        db.executescript(f"BEGIN IMMEDIATE; {steps[number - _FIRST_WIRE]} {stamps} COMMIT;")


def read_identity(folder: Path) -> Identity:
    """Whose store it is, without writing to it."""
    with _reading(folder) as db:
        return Identity(*db.execute("SELECT network, name, dimension, unit FROM identity").fetchone())


def read_state(folder: Path) -> PeerState:
    """The state in a store that nobody holds, without writing to it. For demonstrations and tests."""
    dimension = read_identity(folder).dimension
    with _reading(folder) as db:
        state = _Rows(db, DEFAULT_TOPIC).load(dimension)
    if state is None:
        raise StoreError(f"{str(folder)!r} holds no state yet")
    return state


@contextlib.contextmanager
def _reading(folder: Path) -> Iterator[sqlite3.Connection]:
    path = Path(folder) / "peer.sqlite"
    if not path.exists():
        raise StoreError(f"there is no {str(path)!r}")
    address = f"{path.absolute().as_uri()}?mode=ro"
    with _Translated(f"cannot read {str(path)!r}"), contextlib.closing(_connect(address)) as db:
        yield db


def _connect(path: str) -> sqlite3.Connection:
    # The event loop and a worker thread take turns, never at once.
    return sqlite3.connect(
        path, uri=path.startswith("file:"), isolation_level=None, timeout=1.0, check_same_thread=False
    )


# -- rows -----------------------------------------------------------------------------------------


class _Rows:
    """The rows of one topic's state."""

    def __init__(self, db: sqlite3.Connection, topic: bytes) -> None:
        self._db, self._topic = db, topic

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
            for kind in ("edge", "f", "g"):
                self._delete(f"{kind} {name}")
        self._put_partings({} if old is None else old.partings, new.partings)

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
        self._put(what, numbers=json.dumps(numbers))

    def _put_vector(self, what: str, vector: Vector | None) -> None:
        if vector is None:
            self._delete(what)
        else:
            self._put(what, data=_bytes(vector))

    def _put(self, what: str, *, numbers: str | None = None, data: memoryview | None = None) -> None:
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
        numbers, vectors = {}, {}
        for topic, what, text, data, checksum in self._db.execute("SELECT * FROM state"):
            if checksum != _checksum(topic, what, text, data):
                raise UnusableStore(
                    f"a row in the store is damaged: its checksum does not fit; {_AS_AFTER_A_LOST_DISK}"
                )
            if topic == self._topic and text is not None:
                numbers[what] = json.loads(text)
            elif topic == self._topic:
                vectors[what] = _vector(what, data, dimension)
        if "peer" not in numbers:
            return None
        std, decay, budget, information, draws, fresh, requests, last_sid = numbers["peer"]
        if "value" not in vectors:
            raise UnusableStore(f"the store holds no private value; {_AS_AFTER_A_LOST_DISK}")
        return PeerState(
            vectors["value"],
            Account(std, decay, budget=budget, information=information, messages=draws),
            vectors.get("noise"),
            fresh,
            requests,
            last_sid,
            {name: _edge(name, row, vectors) for name, row in _named("edge ", numbers)},
            {name: Parting(*row) for name, row in _named("parting ", numbers)},
        )


def _named(kind: str, rows: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted((what.removeprefix(kind), row) for what, row in rows.items() if what.startswith(kind))


def _edge(name: str, numbers: Any, vectors: Mapping[str, Vector]) -> Edge:
    sid, psid, blank, parted, s, r = numbers
    f, g = vectors.get(f"f {name}"), vectors.get(f"g {name}")
    if not blank and (f is None or g is None):
        raise UnusableStore(f"the ledger for neighbour {name!r} is incomplete; {_AS_AFTER_A_LOST_DISK}")
    return Edge(sid, psid, blank, s, f, r, g, parted)


def _vector(what: str, data: bytes, dimension: int) -> Vector:
    if len(data) != 8 * dimension:
        raise UnusableStore(f"vector {what!r} has {len(data)} bytes, not {8 * dimension}; {_AS_AFTER_A_LOST_DISK}")
    return np.frombuffer(data, dtype="<i8").astype(np.int64, copy=False)


def _bytes(vector: Vector) -> memoryview:
    return np.ascontiguousarray(vector, dtype="<i8").data


def _checksum(topic: bytes, what: str, numbers: str | None, data: bytes | memoryview | None) -> str:
    """Of one row. It notices bit rot; it is no protection against whoever can write the file."""
    seen = hashlib.sha256(repr((topic, what, numbers)).encode())
    seen.update(b"" if data is None else data)
    return seen.hexdigest()
