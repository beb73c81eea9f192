"""What a damaged ledger still says of conversations that are not to be remembered, and how a new one takes it over.

All or nothing: a mark that is lost would have a conversation that was forgotten be read again. Whatever SQLite
cannot read, or finds to disagree with itself, counts as lost.
"""

from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw
from msgspec import Struct

from memoryd.errors import DamagedDatabase, StoreUnavailable
from memoryd.store.connection import Wording, broken_parts, mapped_errors
from memoryd.store.ledger.conversations import (
    ExcludedKind,
    Exclusion,
    has_hashes,
    hash_key,
    put_exclusion,
    set_hash_key,
)
from memoryd.store.opening import WriteAheadLog, log_of, version_of

_WORDING: Final = Wording("a ledger that was set aside", "delete it, or move it away")
_FIRST_VERSION: Final = 2
"""Of the tables, with marks."""
_KEY_BYTES = _HASH_BYTES = 32
_ROWS: Final = "SELECT agent, kind, name, since, is_forgotten, head_bytes, head_hash FROM withheld ORDER BY id"


class Marks(Struct, frozen=True):
    """All rows of all agents, and what their hashes are keyed with: no bytes where there is none yet."""

    key: bytes = b""
    rows: tuple[tuple[str, Exclusion], ...] = ()


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
        put_exclusion(db, agent, one)
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


def _mark(
    agent: str, kind: str, name: str, since: float, is_forgotten: int, head_bytes: int, head_hash: bytes
) -> tuple[str, Exclusion]:
    is_sound = is_forgotten in (0, 1) and head_bytes >= 0 and len(head_hash) == (_HASH_BYTES if head_bytes else 0)
    if not (agent and name and is_sound):
        raise DamagedDatabase("a row of it is damaged")
    return agent, Exclusion(ExcludedKind(kind), name, since, bool(is_forgotten), head_bytes, head_hash)
