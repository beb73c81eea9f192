"""Conversations in the ledger: answers below the bar, kept for a week, and conversations that are not to be remembered.

All rows, and no clock; and what a damaged ledger still says of such conversations, which a new one takes over whole.
"""

from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

import apsw
from msgspec import Struct

from memoryd.errors import DamagedDatabase, StoreUnavailable
from memoryd.store.connection import Wording, broken_parts, mapped_errors
from memoryd.store.database_file import struct_of
from memoryd.store.opening import WriteAheadLog, log_of, version_of

PENDING_FOR = timedelta(days=7)

_HOLD = """
INSERT INTO held_answers (agent, session, seq, answer, held_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (agent, session, seq)
DO UPDATE SET answer = excluded.answer, held_at = excluded.held_at, expires_at = excluded.expires_at
"""
_EXPIRE = "DELETE FROM held_answers WHERE expires_at <= ?"
_CUT = "UPDATE held_answers SET held_at = min(held_at, ?1), expires_at = ?2 WHERE expires_at > ?2"
_DROP_OLDEST = """
DELETE FROM held_answers WHERE id IN (
    SELECT id FROM held_answers WHERE agent = ?1 ORDER BY held_at, id
    LIMIT max(0, (SELECT count(*) FROM held_answers WHERE agent = ?1) - ?2))
"""
_FILE_BYTES = """
SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
# the newest first: as long as all of them together fit, they stay
_DROP_BEYOND = """
DELETE FROM held_answers WHERE id IN (
    SELECT id FROM (
        SELECT id, sum(octet_length(answer)) OVER (ORDER BY held_at DESC, id DESC) AS total
        FROM held_answers WHERE agent = ?1
    ) WHERE total > ?2)
"""
_COUNT = "SELECT count(*), ifnull(sum(octet_length(answer)), 0) FROM held_answers WHERE agent = ? AND expires_at > ?"


class HoldingLimits(Struct, frozen=True):
    """How much may be held for one agent, the oldest going first; `answer_bytes` is the longest answer, in UTF-8."""

    answers: int = 5_000
    total_bytes: int = 16 * 2**20
    answer_bytes: int = 256 * 2**10


def hold(
    db: apsw.Connection,
    agent: str,
    session: str,
    seq: int,
    answer: str,
    since: float,
    now: float,
    limits: HoldingLimits,
) -> None:
    """Hold the answer of a turn for a week from `since` on, in the stead of one that is held for it.

    What has expired or is too much is dropped.
    """
    # first: what expired takes nobody's place, nor does what a clock that was ahead has made the newest
    expire_pending_answers(db, now)
    db.execute(_HOLD, (agent, session, seq, answer, since, since + PENDING_FOR.total_seconds()))
    db.execute(_DROP_OLDEST, (agent, limits.answers))
    # to add them up takes some milliseconds, and a file that is smaller holds no more
    if db.execute(_FILE_BYTES).get > limits.total_bytes:
        db.execute(_DROP_BEYOND, (agent, limits.total_bytes))


def expire_pending_answers(db: apsw.Connection, now: float) -> int:
    """Delete what has expired and return how many; no clock that was ahead makes the rest stay for more than a week."""
    db.execute(_EXPIRE, (now,))
    expired = db.changes()
    db.execute(_CUT, (now, now + PENDING_FOR.total_seconds()))
    return expired


def count_pending_answers(db: apsw.Connection, agent: str, now: float) -> tuple[int, int]:
    """Return how many answers are held for an agent, and their bytes in UTF-8."""
    counted: tuple[int, int] = db.execute(_COUNT, (agent, now)).get
    return counted


MAX_KEYS = 10_000
"""Session keys of one agent that its owner may have marked at once."""
MAX_AGENTS_KEYS = 100
"""Session keys that the agent itself may have marked; they take no room of the owner's."""


class WithheldKind(StrEnum):
    """What a row names."""

    TRANSCRIPT = "transcript"
    KEY = "key"
    """A session key, by its keyed hash."""
    AGENTS_KEY = "agents-key"
    """A session key that the agent marked, and not its owner."""
    PENDING = "pending"
    """A conversation whose forgetting is not finished."""


class WithheldName(Struct, frozen=True):
    """A conversation that is not to be remembered; `since` is in seconds since 1970.

    `is_forgotten`: somebody wanted it forgotten; else it is marked. A transcript is known under another name by the
    keyed hash of its first `head_bytes` bytes.
    """

    kind: WithheldKind
    name: str
    since: float
    is_forgotten: bool = False
    head_bytes: int = 0
    head_hash: bytes = b""

    @property
    def is_hashed(self) -> bool:
        """Whether it holds a hash, which the key of its ledger belongs to."""
        return self.kind in _KEYS or self.head_bytes > 0


_PUT = """
INSERT INTO withheld (agent, kind, name, is_forgotten, head_bytes, head_hash, since) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (agent, kind, name) DO UPDATE SET
    is_forgotten = max(is_forgotten, excluded.is_forgotten), since = excluded.since,
    head_bytes = iif(excluded.head_bytes, excluded.head_bytes, head_bytes),
    head_hash = iif(excluded.head_bytes, excluded.head_hash, head_hash)
"""
_ALL = "SELECT kind, name, since, is_forgotten, head_bytes, head_hash FROM withheld WHERE agent = ?"
_KEYS = (WithheldKind.KEY, WithheldKind.AGENTS_KEY)
_COUNT_OTHERS = "SELECT count(*) FROM withheld WHERE agent = ? AND kind = ? AND name <> ?"
_DROP_EXCLUSION = "DELETE FROM withheld WHERE agent = ? AND kind = ? AND name = ?"


def withhold(db: apsw.Connection, agent: str, one: WithheldName, key: bytes) -> bool:
    """Note a conversation, hashed with a key; return False where as many keys are marked as may be.

    Raises StoreUnavailable where there are hashes that are keyed otherwise.
    """
    most = {WithheldKind.KEY: MAX_KEYS, WithheldKind.AGENTS_KEY: MAX_AGENTS_KEYS}.get(one.kind)
    if most is not None and db.execute(_COUNT_OTHERS, (agent, one.kind, one.name)).get >= most:
        return False
    if hash_key(db) != key:
        # the file was deleted, or begun anew, since the key was read from it
        if has_hashes(db):
            raise StoreUnavailable("the ledger was replaced by another one", hint="restart memoryd")
        set_hash_key(db, key)
    put_withheld(db, agent, one)
    return True


def put_withheld(db: apsw.Connection, agent: str, one: WithheldName) -> None:
    """Put a row; a mark does not make what was forgotten a mere mark."""
    given = (agent, one.kind, one.name, one.is_forgotten, one.head_bytes, one.head_hash, one.since)
    db.execute(_PUT, given)


def release(db: apsw.Connection, agent: str, kind: WithheldKind, name: str) -> bool:
    """Drop a row, and return whether there was one."""
    db.execute(_DROP_EXCLUSION, (agent, kind, name))
    return db.changes() > 0


def all_withheld(db: apsw.Connection, agent: str) -> list[WithheldName]:
    """Return all of an agent."""
    return [struct_of(WithheldName, row) for row in db.execute(_ALL, (agent,))]


def hash_key(db: apsw.Connection) -> bytes:
    """Return what the hashes are keyed with."""
    key: bytes = db.execute("SELECT bytes FROM hash_key").get
    return key


def set_hash_key(db: apsw.Connection, key: bytes) -> None:
    """Have the hashes be keyed with this; only where there are none."""
    db.execute("UPDATE hash_key SET bytes = ?", (key,))


def has_hashes(db: apsw.Connection) -> bool:
    """Tell whether there is a row of any agent with a hash in it."""
    found: int = db.execute("SELECT EXISTS (SELECT 1 FROM withheld WHERE kind IN (?, ?) OR head_bytes)", _KEYS).get
    return bool(found)


_WORDING = Wording("a ledger that was set aside", "delete it, or move it away")
_FIRST_VERSION = 2
"""Of the tables, with marks."""
_KEY_BYTES = _HASH_BYTES = 32
_ROWS = "SELECT agent, kind, name, since, is_forgotten, head_bytes, head_hash FROM withheld ORDER BY id"


class Marks(Struct, frozen=True):
    """All rows of all agents, and what their hashes are keyed with: no bytes where there is none yet."""

    key: bytes = b""
    rows: tuple[tuple[str, WithheldName], ...] = ()


def read_marks(path: Path) -> Marks:
    """Return the marks of a ledger that nobody has open, and write nothing. Blocks.

    Raises DamagedDatabase or StoreUnavailable when they cannot all be read.
    """
    with mapped_errors(_WORDING):
        try:
            return _read(path)
        except (apsw.Error, ValueError) as exc:
            if isinstance(exc, (apsw.BusyError, apsw.CantOpenError, apsw.FullError)):
                raise
            raise DamagedDatabase(str(exc)) from exc


def take_over(db: apsw.Connection, name: str, marks: Marks) -> None:
    """Add the marks of a ledger of that file name, and note that; raises StoreUnavailable if their hashes cannot be."""
    if marks.key and hash_key(db) != marks.key:
        if not has_hashes(db):
            set_hash_key(db, marks.key)
        elif any(one.is_hashed for _, one in marks.rows):
            raise StoreUnavailable("other conversations were marked since, and hashed with another key")
    for agent, one in marks.rows:
        put_withheld(db, agent, one)
    db.execute("INSERT INTO taken_over VALUES (?) ON CONFLICT DO NOTHING", (name,))


def taken_over(db: apsw.Connection) -> frozenset[str]:
    """Return the file names of the ledgers whose marks are here."""
    return frozenset(str(row[0]) for row in db.execute("SELECT name FROM taken_over"))


def _read(path: Path) -> Marks:
    log = WriteAheadLog(path)
    log.look()
    if not path.stat().st_size:
        raise DamagedDatabase("it is empty")
    connection = _connected(path)
    try:
        log.check(connection)
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if version_of(connection.pragma("user_version")) < _FIRST_VERSION and "withheld" not in tables:
            return Marks()
        for table in ("withheld", "hash_key"):
            # each index of it, too, and that they agree
            if found := broken_parts(connection, f"integrity_check({table})"):
                raise DamagedDatabase("; ".join(found[:3]))
        (key,) = (row[0] for row in connection.execute("SELECT bytes FROM hash_key"))
        if len(key) != _KEY_BYTES:
            raise DamagedDatabase("what its hashes are keyed with is damaged")
        return Marks(key, tuple(_mark(*row) for row in connection.execute(_ROWS)))
    finally:
        connection.close()


def _connected(path: Path) -> apsw.Connection:
    log = log_of(path)
    # without a log no file is made beside it; with one, what stands in it counts
    how = "" if log.exists() and log.stat().st_size else "&immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"file:{quote(str(path))}?mode=ro{how}", flags=flags)
    # of a file that lost its end, or whose other tables are broken, what is left can be read only so
    connection.execute("PRAGMA writable_schema = ON; PRAGMA trusted_schema = OFF; PRAGMA query_only = ON").fetchall()
    return connection


def _mark(agent: str, *row: object) -> tuple[str, WithheldName]:
    one = struct_of(WithheldName, row)
    is_sound = one.head_bytes >= 0 and len(one.head_hash) == (_HASH_BYTES if one.head_bytes else 0)
    if not (agent and one.name and is_sound):
        raise DamagedDatabase("a row of it is damaged")
    return agent, one
