"""A store in one SQLite file: write-ahead log, a synchronous transaction per state, only what changed.

Private values and noise lie in this file as they are; the folder is readable by its owner only. One
process holds it at a time, by a lock that the operating system releases when the process dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import StoreError
from ...privacy.gaussian.account import Account
from ..protocol.ledger import Edge
from ..protocol.messages import Vector
from ..protocol.state import PeerState
from .base import Identity, changed_edges, unchanged

__all__ = ["SCHEMA_VERSION", "SqliteStore", "read_state"]

# Each entry brings the schema from its number to the next; the last number is SCHEMA_VERSION. Never change one
# that was released: add another.
MIGRATIONS: list[str] = [
    """
    CREATE TABLE identity (network TEXT NOT NULL, name TEXT NOT NULL, dimension INTEGER NOT NULL);
    -- One table for everything: with few coordinates the whole state lies on one page, and a transaction writes just
    -- that. What is large stands in rows of its own, so that writing one register does not rewrite another.
    --   peer        numbers: account, counters
    --   edge NAME   numbers: lives, flags, counters
    --   value, noise, f NAME, g NAME    data: little-endian doubles
    CREATE TABLE state (what TEXT PRIMARY KEY, numbers TEXT, data BLOB) WITHOUT ROWID;
    """,
]
SCHEMA_VERSION = len(MIGRATIONS)

_APPLICATION_ID = 0x736F7474  # "sott"
_SMALL_DISK = "the disk is full or its quota is used up: make room and start again; nothing was lost"


class SqliteStore:
    """The durable state of one peer in ``folder/peer.sqlite``.

    Parameters
    ----------
    folder
        Made if missing, for its owner only.
    identity
        Whose state it is.

    Raises
    ------
    StoreError
        The store is held by another process, damaged, of another peer, from a later version, or not writable.
    """

    def __init__(self, folder: Path, identity: Identity) -> None:
        self.path = Path(folder) / "peer.sqlite"
        self._identity = identity
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
            raise StoreError(f"{str(self.path)!r} is damaged ({answer}); move it away to start as after a lost disk")
        migrate(db, self.path)
        row = db.execute("SELECT network, name, dimension FROM identity").fetchone()
        if row is None:
            db.execute("INSERT INTO identity VALUES (?, ?, ?)", tuple(vars(self._identity).values()))
        elif Identity(*row) != self._identity:
            raise StoreError(f"{str(self.path)!r} belongs to {Identity(*row)}, not to {self._identity}")

    def _translated(self, verb: str) -> _Translated:
        return _Translated(f"cannot {verb} {str(self.path)!r}")

    # -- the state ------------------------------------------------------------------------------

    def load(self) -> PeerState | None:
        """The last state saved, or ``None``."""
        db = self._connection()
        with self._translated("read"):
            self._saved = _load(db, self._identity.dimension)
        return self._saved

    def save(self, state: PeerState) -> None:
        """Write what differs from the last state saved, in one transaction, and wait for the disk."""
        db = self._connection()
        if unchanged(self._saved, state):
            return
        with self._translated("write"):
            db.execute("BEGIN IMMEDIATE")
            try:
                _write(db, self._saved, state)
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
            full = getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
            raise StoreError(f"{self._what}: {_SMALL_DISK if full else error}") from None
        if isinstance(error, OSError):
            raise StoreError(f"{self._what}: {error.strerror}") from None


def migrate(db: sqlite3.Connection, path: Path, migrations: list[str] | None = None) -> None:
    """Bring the schema up to date, one version at a time, each in a transaction.

    ``user_version`` of the file counts the migrations it has had.
    """
    steps = MIGRATIONS if migrations is None else migrations
    version = db.execute("PRAGMA user_version").fetchone()[0]
    application = db.execute("PRAGMA application_id").fetchone()[0]
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and application != _APPLICATION_ID:
        raise StoreError(f"{str(path)!r} is a database of something else")
    if version > len(steps):
        raise StoreError(f"{str(path)!r} was written by a later version (schema {version}, this knows {len(steps)})")
    for number in range(version, len(steps)):
        stamps = f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {number + 1};"
        db.executescript(f"BEGIN IMMEDIATE; {steps[number]} {stamps} COMMIT;")


def read_state(folder: Path) -> PeerState:
    """The state in a store that nobody holds, without writing to it. For demonstrations and tests."""
    path = Path(folder) / "peer.sqlite"
    if not path.exists():
        raise StoreError(f"there is no {str(path)!r}")
    address = f"{path.absolute().as_uri()}?mode=ro"
    with _Translated(f"cannot read {str(path)!r}"), contextlib.closing(_connect(address)) as db:
        (dimension,) = db.execute("SELECT dimension FROM identity").fetchone()
        state = _load(db, dimension)
    if state is None:
        raise StoreError(f"{str(path)!r} holds no state yet")
    return state


def _connect(path: str) -> sqlite3.Connection:
    # The event loop and a worker thread take turns, never at once.
    return sqlite3.connect(
        path, uri=path.startswith("file:"), isolation_level=None, timeout=1.0, check_same_thread=False
    )


# -- rows -----------------------------------------------------------------------------------------


def _write(db: sqlite3.Connection, old: PeerState | None, new: PeerState) -> None:
    if old is None or old.value is not new.value:
        _put_vector(db, "value", new.value)
    if old is None or old.noise is not new.noise:
        _put_vector(db, "noise", new.noise)
    account = new.account
    counts = (account.noise_std, account.noise_decay, account.budget, account.information, account.messages)
    _put_numbers(db, "peer", (*counts, new.fresh, new.requests, new.last_sid))
    written, deleted = changed_edges(old, new)
    for name in written:
        _put_edge(db, name, None if old is None else old.edges.get(name), new.edges[name])
    for name in deleted:
        for kind in ("edge", "f", "g"):
            _delete(db, f"{kind} {name}")


def _put_edge(db: sqlite3.Connection, name: str, old: Edge | None, new: Edge) -> None:
    _put_numbers(db, f"edge {name}", (new.sid, new.psid, new.blank, new.parted, new.s, new.r))
    if old is None or old.f is not new.f:
        _put_vector(db, f"f {name}", new.f)
    if old is None or old.g is not new.g:
        _put_vector(db, f"g {name}", new.g)


def _put_numbers(db: sqlite3.Connection, what: str, numbers: tuple[float, ...]) -> None:
    # As JSON: Python writes floats so that they are read back bit for bit, and whole numbers without a limit.
    text = json.dumps(numbers)
    if db.execute("UPDATE state SET numbers = ? WHERE what = ?", (text, what)).rowcount == 0:
        db.execute("INSERT INTO state VALUES (?, ?, NULL)", (what, text))


def _put_vector(db: sqlite3.Connection, what: str, vector: Vector | None) -> None:
    if vector is None:
        _delete(db, what)
        return
    data = np.ascontiguousarray(vector, dtype="<f8").data
    if db.execute("UPDATE state SET data = ? WHERE what = ?", (data, what)).rowcount == 0:
        db.execute("INSERT INTO state VALUES (?, NULL, ?)", (what, data))


def _delete(db: sqlite3.Connection, what: str) -> None:
    db.execute("DELETE FROM state WHERE what = ?", (what,))


def _load(db: sqlite3.Connection, dimension: int) -> PeerState | None:
    rows = dict(db.execute("SELECT what, numbers FROM state WHERE numbers IS NOT NULL ORDER BY what").fetchall())
    if "peer" not in rows:
        return None
    vector = _vector_reader(db, dimension)
    value = vector("value")
    if value is None:
        raise StoreError("the store holds no private value")
    std, decay, budget, information, draws, fresh, requests, last_sid = json.loads(rows.pop("peer"))
    edges = {}
    for what, numbers in rows.items():
        name = what.removeprefix("edge ")
        sid, psid, blank, parted, s, r = json.loads(numbers)
        edges[name] = edge = Edge(sid, psid, blank, s, vector(f"f {name}"), r, vector(f"g {name}"), parted)
        if not edge.blank and (edge.f is None or edge.g is None):
            raise StoreError(f"the ledger for neighbour {name!r} is incomplete")
    account = Account(std, decay, budget=budget, information=information, messages=draws)
    return PeerState(value, account, vector("noise"), fresh, requests, last_sid, edges)


def _vector_reader(db: sqlite3.Connection, dimension: int) -> Callable[[str], Any]:
    def read(what: str) -> Vector | None:
        row = db.execute("SELECT data FROM state WHERE what = ?", (what,)).fetchone()
        if row is None:
            return None
        if len(row[0]) != 8 * dimension:
            raise StoreError(f"vector {what!r} has {len(row[0])} bytes, not {8 * dimension}")
        return np.frombuffer(row[0], dtype="<f8").astype(np.float64, copy=False)

    return read
