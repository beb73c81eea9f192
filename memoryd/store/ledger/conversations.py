"""Conversations in the ledger: answers below the threshold, stored for a week, and conversations to exclude.

Functions on rows, without a clock; and reading the exclusions of a damaged ledger, which a new one takes over
completely.
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
_DROP_OLDEST = """
DELETE FROM held_answers WHERE id IN (
    SELECT id FROM held_answers WHERE agent = ?1 ORDER BY held_at, id
    LIMIT max(0, (SELECT count(*) FROM held_answers WHERE agent = ?1) - ?2))
"""
_FILE_BYTES = """
SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
# the newest first: as long as all of them together fit, they stay
_DROP_OVER_LIMIT = """
DELETE FROM held_answers WHERE id IN (
    SELECT id FROM (
        SELECT id, sum(octet_length(answer)) OVER (ORDER BY held_at DESC, id DESC) AS total
        FROM held_answers WHERE agent = ?1
    ) WHERE total > ?2)
"""
_COUNT = "SELECT count(*), ifnull(sum(octet_length(answer)), 0) FROM held_answers WHERE agent = ? AND expires_at > ?"


class HoldingLimits(Struct, frozen=True):
    """Limits per agent; the oldest answers are deleted first.

    `answer_bytes` is the maximum size of one answer in UTF-8.
    """

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
    """Store the answer of a turn for a week from `since`, replacing an earlier one.

    Expired answers and those above the limits are deleted.
    """
    # first, so that neither expired answers nor those dated in the future by a wrong clock displace others
    expire_pending_answers(db, now)
    db.execute(_HOLD, (agent, session, seq, answer, since, since + PENDING_FOR.total_seconds()))
    db.execute(_DROP_OLDEST, (agent, limits.answers))
    # summing takes milliseconds, and a smaller file cannot exceed the limit
    if db.execute(_FILE_BYTES).get > limits.total_bytes:
        db.execute(_DROP_OVER_LIMIT, (agent, limits.total_bytes))


def expire_pending_answers(db: apsw.Connection, now: float) -> int:
    """Delete expired answers and return how many; limit the rest to a week, in case a clock was ahead."""
    db.execute("DELETE FROM held_answers WHERE expires_at <= ?", (now,))
    expired = db.changes()
    db.execute(
        "UPDATE held_answers SET held_at = min(held_at, ?1), expires_at = ?2 WHERE expires_at > ?2",
        (now, now + PENDING_FOR.total_seconds()),
    )
    return expired


def count_pending_answers(db: apsw.Connection, agent: str, now: float) -> tuple[int, int]:
    """Return the number of stored answers of an agent, and their size in UTF-8."""
    counted: tuple[int, int] = db.execute(_COUNT, (agent, now)).get
    return counted


MAX_KEYS = 10_000
"""Maximum number of session keys of one agent that its owner may exclude."""
MAX_AGENTS_KEYS = 100
"""Maximum number of session keys that the agent itself may exclude; they do not count toward the owner's limit."""


class WithheldKind(StrEnum):
    """What a row names."""

    TRANSCRIPT = "transcript"
    KEY = "key"
    """A session key, as a keyed hash."""
    AGENTS_KEY = "agents-key"
    """A session key excluded by the agent, not by its owner."""
    PENDING = "pending"
    """A conversation whose forgetting is not finished."""


class WithheldName(Struct, frozen=True):
    """A conversation that is not to be remembered; `since` is in seconds since 1970.

    `is_forgotten`: it was forgotten on request; otherwise it is only excluded. A renamed transcript is recognised by
    the keyed hash of its first `head_bytes` bytes.
    """

    kind: WithheldKind
    name: str
    since: float
    is_forgotten: bool = False
    head_bytes: int = 0
    head_hash: bytes = b""

    @property
    def is_hashed(self) -> bool:
        """True if it contains a hash, which depends on the key of its ledger."""
        return self.kind in _KEYS or self.head_bytes > 0


_PUT = """
INSERT INTO withheld (agent, kind, name, is_forgotten, head_bytes, head_hash, since) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (agent, kind, name) DO UPDATE SET
    is_forgotten = max(is_forgotten, excluded.is_forgotten), since = excluded.since,
    head_bytes = iif(excluded.head_bytes, excluded.head_bytes, head_bytes),
    head_hash = iif(excluded.head_bytes, excluded.head_hash, head_hash)
"""
_KEYS = (WithheldKind.KEY, WithheldKind.AGENTS_KEY)


def withhold(db: apsw.Connection, agent: str, conversation: WithheldName, key: bytes) -> bool:
    """Store a conversation, hashed with a key; return False if the limit of keys is reached.

    Raises StoreUnavailable if there are hashes with another key.
    """
    limit = {WithheldKind.KEY: MAX_KEYS, WithheldKind.AGENTS_KEY: MAX_AGENTS_KEYS}.get(conversation.kind)
    if (
        limit is not None
        and db.execute(
            "SELECT count(*) FROM withheld WHERE agent = ? AND kind = ? AND name <> ?",
            (agent, conversation.kind, conversation.name),
        ).get
        >= limit
    ):
        return False
    if hash_key(db) != key:
        # the file was deleted, or started anew, since the key was read from it
        if has_hashes(db):
            raise StoreUnavailable("the ledger was replaced by another one", hint="restart memoryd")
        set_hash_key(db, key)
    put_withheld(db, agent, conversation)
    return True


def put_withheld(db: apsw.Connection, agent: str, conversation: WithheldName) -> None:
    """Store a row; excluding a forgotten conversation keeps it forgotten."""
    values = (
        agent,
        conversation.kind,
        conversation.name,
        conversation.is_forgotten,
        conversation.head_bytes,
        conversation.head_hash,
        conversation.since,
    )
    db.execute(_PUT, values)


def release(db: apsw.Connection, agent: str, kind: WithheldKind, name: str) -> bool:
    """Delete a row, and return whether there was one."""
    db.execute("DELETE FROM withheld WHERE agent = ? AND kind = ? AND name = ?", (agent, kind, name))
    return db.changes() > 0


def all_withheld(db: apsw.Connection, agent: str) -> list[WithheldName]:
    """Return all rows of an agent."""
    return [
        struct_of(WithheldName, row)
        for row in db.execute(
            "SELECT kind, name, since, is_forgotten, head_bytes, head_hash FROM withheld WHERE agent = ?", (agent,)
        )
    ]


def hash_key(db: apsw.Connection) -> bytes:
    """Return the key of the hashes."""
    key: bytes = db.execute("SELECT bytes FROM hash_key").get
    return key


def set_hash_key(db: apsw.Connection, key: bytes) -> None:
    """Set the key of the hashes; only valid while there are none."""
    db.execute("UPDATE hash_key SET bytes = ?", (key,))


def has_hashes(db: apsw.Connection) -> bool:
    """Return whether any row of any agent contains a hash."""
    exists: int = db.execute("SELECT EXISTS (SELECT 1 FROM withheld WHERE kind IN (?, ?) OR head_bytes)", _KEYS).get
    return bool(exists)


_WORDING = Wording("a ledger that was set aside", "delete it, or move it away")
_FIRST_VERSION = 2
"""First version of the tables that has exclusions."""
_KEY_BYTES = _HASH_BYTES = 32


class Marks(Struct, frozen=True):
    """All rows of all agents, and the key of their hashes; empty if there is none yet."""

    key: bytes = b""
    rows: tuple[tuple[str, WithheldName], ...] = ()


def read_marks(path: Path) -> Marks:
    """Return the marks of a ledger that is not open, without writing. Blocks.

    Raises DamagedDatabase or StoreUnavailable if not all of them can be read.
    """
    with mapped_errors(_WORDING):
        try:
            return _read(path)
        except (apsw.Error, ValueError) as exc:
            if isinstance(exc, (apsw.BusyError, apsw.CantOpenError, apsw.FullError)):
                raise
            raise DamagedDatabase(str(exc)) from exc


def take_over(db: apsw.Connection, name: str, marks: Marks) -> None:
    """Add the marks of the ledger with this file name; raises StoreUnavailable if its hashes have another key."""
    if marks.key and hash_key(db) != marks.key:
        if not has_hashes(db):
            set_hash_key(db, marks.key)
        elif any(conversation.is_hashed for _, conversation in marks.rows):
            raise StoreUnavailable("other conversations were marked since, and hashed with another key")
    for agent, conversation in marks.rows:
        put_withheld(db, agent, conversation)
    db.execute("INSERT INTO taken_over VALUES (?) ON CONFLICT DO NOTHING", (name,))


def taken_over(db: apsw.Connection) -> frozenset[str]:
    """Return the file names of the ledgers whose marks were taken over."""
    return frozenset(str(row[0]) for row in db.execute("SELECT name FROM taken_over"))


def _read(path: Path) -> Marks:
    log = WriteAheadLog(path)
    log.inspect()
    if not path.stat().st_size:
        raise DamagedDatabase("it is empty")
    connection = _connect(path)
    try:
        log.check(connection)
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if version_of(connection.pragma("user_version")) < _FIRST_VERSION and "withheld" not in tables:
            return Marks()
        for table in ("withheld", "hash_key"):
            # checks its indexes, too, and that they match
            if problems := broken_parts(connection, f"integrity_check({table})"):
                raise DamagedDatabase("; ".join(problems[:3]))
        (key,) = (row[0] for row in connection.execute("SELECT bytes FROM hash_key"))
        if len(key) != _KEY_BYTES:
            raise DamagedDatabase("what its hashes are keyed with is damaged")
        return Marks(
            key,
            tuple(
                _mark(*row)
                for row in connection.execute(
                    "SELECT agent, kind, name, since, is_forgotten, head_bytes, head_hash FROM withheld ORDER BY id"
                )
            ),
        )
    finally:
        connection.close()


def _connect(path: Path) -> apsw.Connection:
    log = log_of(path)
    # without a log, `immutable` avoids creating files beside it; with one, the log must be read
    how = "" if log.exists() and log.stat().st_size else "&immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"file:{quote(str(path))}?mode=ro{how}", flags=flags)
    # needed to read the rest of a truncated file, or of one whose other tables are broken
    connection.execute("PRAGMA writable_schema = ON; PRAGMA trusted_schema = OFF; PRAGMA query_only = ON").fetchall()
    return connection


def _mark(agent: str, *row: object) -> tuple[str, WithheldName]:
    conversation = struct_of(WithheldName, row)
    is_sound = conversation.head_bytes >= 0 and len(conversation.head_hash) == (
        _HASH_BYTES if conversation.head_bytes else 0
    )
    if not (agent and conversation.name and is_sound):
        raise DamagedDatabase("a row of it is damaged")
    return agent, conversation
