"""A store in one SQLite file: write-ahead log, a synchronous transaction per state, only what changed.

The state of a topic with long vectors lies in a file beside it, as long as the topic is open (:mod:`.sheets`).

Private values and noise lie in this file as they are; the folder is readable by its owner only. One
process holds it at a time, by a lock that the operating system releases when the process dies. A child of a fork holds
nothing of it.

Files of the first wire, with floating-point ledgers, are refused: there is no exact way from those to whole numbers.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import sqlite3
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from ...errors import StoreError, UnusableStore
from ...foundation.system import hold, require_private_files
from ..protocol.messages import DEFAULT_TOPIC
from ..protocol.state import PeerState
from ..protocol.units import LONG
from .base import AS_AFTER_A_LOST_DISK, Identity, TopicRecord, unchanged
from .rows import Rows, SqlTable, check_rows, note_topic, topic_records
from .sheets import FORMER, SHEET, Sheet, read_former, remove_others

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
    --   value, noise, f NAME, g NAME    data: whole numbers, packed; or, in 3, numbers: their place in a file
    --   certificate, topic    both: what a topic's last agreement found; what is kept about the topic itself
    --   refusals      numbers: who has closed the topic without this peer, and with whom; missing where nobody has
    --   sheet         since 4: all but the next ones are in a file (sheets.py)
    --   shape         numbers: what the topic's numbers are, as text; missing where a program did not tell it
    -- Each row has a checksum over all of it, so that bit rot is noticed, wherever it is.
    CREATE TABLE state (
        topic BLOB NOT NULL, what TEXT NOT NULL, numbers TEXT, data BLOB, checksum TEXT NOT NULL,
        PRIMARY KEY (topic, what)
    ) WITHOUT ROWID;
    """,
    "/* Long vectors have places in files of their own: programs that do not know of them must not open the store. */",
    "/* And so has all else of a state with long vectors: likewise. */",
]
SCHEMA_VERSION = _FIRST_WIRE + len(MIGRATIONS)

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
        The store is held by another process, damaged, of another peer, from another version, or not writable.
    """

    shown, went_back = 0.0, False

    def __init__(self, folder: Path, identity: Identity) -> None:
        self.path = Path(folder) / "peer.sqlite"
        self._identity = identity
        self._sheets: dict[bytes, Sheet] = {}
        self._standing = self.topic(DEFAULT_TOPIC, identity.dimension)
        self._lock = -1
        self._db: sqlite3.Connection | None = None
        _OPENED.add(self)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    # -- opening --------------------------------------------------------------------------------

    def _open(self) -> None:
        require_private_files()
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"cannot use the data folder {str(self.path.parent)!r}: {error.strerror}") from None
        try:
            hold(self._lock, "a peer's store")
        except OSError:
            raise StoreError(f"{str(self.path)!r} is held by another process: is this peer already running?") from None
        with self.translated("open"):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._db = _connect(str(self.path))
            self._prepare(self._db)

    def _prepare(self, db: sqlite3.Connection) -> None:
        for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL"):
            db.execute(f"PRAGMA {pragma}")
        db.execute("PRAGMA journal_size_limit = 67108864")
        answer = db.execute("PRAGMA integrity_check").fetchone()[0]
        if answer != "ok":
            raise UnusableStore(f"{str(self.path)!r} is damaged ({answer}); {AS_AFTER_A_LOST_DISK}")
        migrate(db, self.path)
        check_rows(db)
        row = db.execute("SELECT network, name, dimension, unit FROM identity").fetchone()
        if row is None:
            db.execute("INSERT INTO identity VALUES (?, ?, ?, ?)", tuple(vars(self._identity).values()))
        elif Identity(*row) != self._identity:
            raise UnusableStore(f"{str(self.path)!r} belongs to {Identity(*row)}, not to {self._identity}")

    def translated(self, verb: str) -> _Translated:
        """While it lasts, failures become one sentence for the operator."""
        return _Translated(f"cannot {verb} {str(self.path)!r}")

    # -- the state ------------------------------------------------------------------------------

    def load(self) -> PeerState | None:
        """The last state saved, or ``None``."""
        return self._standing.load()

    def save(self, state: PeerState) -> None:
        """Write what differs from the last state saved, in one transaction, and wait for the disk."""
        self._standing.save(state)

    def topics(self) -> dict[bytes, TopicRecord]:
        """What is kept about each topic; files that a crash has left of those that have ended are removed."""
        with self.translated("read"):
            records = topic_records(self.connection())
            for ending, what in ((SHEET, "sheet"), (FORMER, "peer")):
                kept = self.connection().execute("SELECT topic FROM state WHERE what = ?", (what,))
                remove_others(self.path.parent, ending, {topic for (topic,) in kept})
            return records

    def unrecorded(self, secret: str) -> float:
        """Nothing: the records are all that is known."""
        return 0.0

    def lost(self, secret: str) -> bool | None:
        """Who knows: nothing else is known."""
        return None

    def topic(self, topic: bytes, dimension: int) -> TopicState:
        """Where the state of one topic is kept."""
        return (LongTopicState if dimension >= LONG else TopicState)(self, topic, dimension)

    def note_topic(self, topic: bytes, record: TopicRecord) -> None:
        """Keep what is known about a topic; of one that has ended nothing else is kept."""
        self.write(lambda db: note_topic(db, topic, record))
        if record.ended:
            with self.translated("write"):
                self.sheet(topic, record.dimension).remove()
            del self._sheets[topic]

    def sheet(self, topic: bytes, dimension: int) -> Sheet:
        """The file of a topic with long vectors."""
        found = self._sheets.get(topic)
        if found is None or found.dimension != dimension:  # another one, where nothing was ever stored before
            found = self._sheets[topic] = Sheet(self.path.parent, topic, dimension)
        return found

    def write(self, change: Callable[[sqlite3.Connection], None]) -> None:
        """One transaction, on disk when this returns."""
        db = self.connection()
        with self.translated("write"):
            db.execute("BEGIN IMMEDIATE")
            try:
                change(db)
                db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file and release the lock."""
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._db = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def leave_to_the_parent(self) -> None:
        """In a child of a fork: hold neither the lock nor the file.

        To close the database here would copy the log into it and remove that, while the parent goes on writing to it:
        all that the parent stores from then on would be lost. So it is never closed, nor freed as garbage.
        """
        if self._db is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._db))
            self._db = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def connection(self) -> sqlite3.Connection:
        """The open database."""
        if self._db is None:
            raise StoreError("the store is closed")
        return self._db


_OPENED: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
"""Those of this process."""


def _leave_all_to_the_parent() -> None:
    for store in _OPENED:
        store.leave_to_the_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all_to_the_parent)


class TopicState:
    """The state of one topic in a store that holds several; the standing average is one of them (R50)."""

    shown, went_back = 0.0, False

    def __init__(self, store: SqliteStore, topic: bytes, dimension: int) -> None:
        self._store, self._topic, self._dimension = store, topic, dimension
        self._saved: PeerState | None = None
        self._known = False
        """Whether that is what is on disk: not before it was read, nor after a transaction that failed."""

    def load(self) -> PeerState | None:
        """The last state saved, or ``None``."""
        with self._store.translated("read"):
            self._saved = self._read(self._store.connection())
        self._known = True
        return self._saved

    def save(self, state: PeerState) -> None:
        """Write what differs from the last state saved."""
        self._store.connection()
        if not self._known:
            self.load()
        if not unchanged(self._saved, state):
            self._known = False
            self._write(state)
            self._saved, self._known = state, True

    def _read(self, db: sqlite3.Connection) -> PeerState | None:
        return Rows(SqlTable(db, self._topic)).load(self._dimension)

    def _write(self, state: PeerState) -> None:
        self._store.write(lambda db: Rows(SqlTable(db, self._topic)).write(self._saved, state))

    def close(self) -> None:
        """The store itself is closed by whoever opened it."""


class LongTopicState(TopicState):
    """As :class:`TopicState`, in a sheet. The database says whether there is one: before that, nothing was said."""

    _in_sheet = False

    def _read(self, db: sqlite3.Connection) -> PeerState | None:
        self._in_sheet, sheet = SqlTable(db, self._topic).has_moved(), self._store.sheet(self._topic, self._dimension)
        state = read_long(db, self._store.path.parent, self._topic, sheet)
        if self._in_sheet:
            sheet.settle()
        return state

    def _write(self, state: PeerState) -> None:
        sheet, saved = self._store.sheet(self._topic, self._dimension), self._saved
        with self._store.translated("write"):
            if not self._in_sheet:
                sheet.start_over()
                saved = None  # of it nothing is there yet
            with sheet.transaction():
                Rows(sheet).write(saved, state)
        if not self._in_sheet:
            self._store.write(lambda db: SqlTable(db, self._topic).moved())
            self._in_sheet = True
            with self._store.translated("write"):
                self._store.path.with_name(f"{self._topic.hex()}{FORMER}").unlink(missing_ok=True)


def read_long(db: sqlite3.Connection, folder: Path, topic: bytes, sheet: Sheet) -> PeerState | None:
    """The state of a topic with long vectors: from its sheet or, if it has none yet, as it was kept before."""
    if SqlTable(db, topic).has_moved():
        return Rows(sheet).load(sheet.dimension)
    former = partial(read_former, folder, topic, sheet.dimension)
    return Rows(SqlTable(db, topic, former)).load(sheet.dimension)


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
                raise UnusableStore(f"{self._what}: it is damaged ({error}); {AS_AFTER_A_LOST_DISK}") from None
            full = code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
            raise StoreError(f"{self._what}: {_SMALL_DISK if full else error}") from None
        if isinstance(error, OSError):
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise StoreError(f"{self._what}: {_SMALL_DISK if full else error.strerror}") from None
        if isinstance(error, ValueError | TypeError) and not isinstance(error, StoreError):  # a row that makes no sense
            raise UnusableStore(f"{self._what}: it is damaged; {AS_AFTER_A_LOST_DISK}") from None


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
        if dimension < LONG:
            state = Rows(SqlTable(db, DEFAULT_TOPIC)).load(dimension)
        else:
            state = read_long(db, Path(folder), DEFAULT_TOPIC, Sheet(Path(folder), DEFAULT_TOPIC, dimension))
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
