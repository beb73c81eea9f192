"""Operations on a ledger file without an open ledger: copy, count rows, rename a workspace, carry marks over.

All functions block, and raise StoreError. A file must not be open elsewhere while it is changed.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw

from memoryd.errors import DamagedDatabase, ForeignDatabase
from memoryd.files.writing import sync_file
from memoryd.store.connection import Connector, Wording, broken_parts, make_private_file, mapped_errors, transaction
from memoryd.store.ledger.conversations import read_marks, take_over
from memoryd.store.ledger.database import LEDGER, SUFFIXES, refuse_foreign
from memoryd.store.migrations import migrate, require_known, require_own_objects
from memoryd.store.opening import seal_of, version_of, with_seal

LEDGER_ENDING = "ledger.sqlite"
"""The end of every ledger's file name."""
LOGS = SUFFIXES[1:]
"""Suffixes of the files that SQLite stores beside a ledger."""
_WORDING = Wording("the ledger", "memoryctl doctor says what to do")
_TABLES = "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = ?"
_PUT_TOMBSTONE = "INSERT INTO tombstones (workspace, hash, at, is_pending) VALUES (?, ?, ?, 1) ON CONFLICT DO NOTHING"


def copy_ledger(source: Path, target: Path) -> None:
    """Copy a snapshot of a ledger into a new private file, durably, without its log.

    Other processes can still write. Raises ForeignDatabase, DamagedDatabase, StoreUnavailable.
    """
    refuse_foreign(source, LEDGER, is_private=False)
    make_private_file(target)
    with _reading(source) as reader, closing(apsw.Connection(str(target))) as copy:
        with copy.backup("main", reader, "main") as backup:
            backup.step(-1)
        _close_log(copy)
    sync_file(target)


def figures(path: Path, *, is_strict: bool = False) -> dict[str, int]:
    """Return the number of rows of each workspace in a ledger that is not open; the complete file is checked.

    Raises ForeignDatabase for a file that is no ledger, or of a newer version, and with `is_strict` for one with
    foreign objects; DamagedDatabase for a broken one.
    """
    refuse_foreign(path, LEDGER, is_private=False)
    with _reading(path) as reader:
        if is_strict:
            require_own_objects(reader, LEDGER)
        if problems := broken_parts(reader):
            raise DamagedDatabase(f"{path.name} is damaged: {'; '.join(problems)}", hint=_WORDING.when_damaged)
        return _rows(reader)


def rows_of(path: Path) -> dict[str, int]:
    """Return the number of rows of each workspace in a ledger, which may be in use; raises StoreError."""
    refuse_foreign(path, LEDGER, is_private=False)
    with _reading(path) as reader:
        return _rows(reader)


def rename_workspace(path: Path, old: str, new: str) -> int:
    """Move all rows of a workspace to another name, in one transaction, and return how many.

    The ledger must not be open.

    A repeated call finds no rows. Raises StoreError, ForeignDatabase if the new name has rows of its own.
    """
    refuse_foreign(path, LEDGER, is_private=False)
    with _writing(path) as db:
        counted = _rows(db)
        if counted.get(old) and counted.get(new):
            raise ForeignDatabase(f"{path} has rows of both {old} and {new}", hint="nothing was changed")
        for table in _with_workspaces(db):
            db.execute(f"UPDATE {table} SET workspace = ? WHERE workspace = ?", (new, old))
        return counted.get(old, 0)


def carry_marks(known: Path, restored: Path, *, has_same_key: bool) -> int:
    """Copy into a ledger which memories another ledger has as forgotten or excluded; return how many are new.

    Forgotten memories are marked pending, so that the daemon removes reappeared lines. With a different key, hashes of
    memories have no meaning and are skipped. Raises StoreError.
    """
    marks = read_marks(known)
    stones: Sequence[tuple[apsw.SQLiteValue, ...]] = ()
    if has_same_key:
        with _reading(known) as reader:
            stones = reader.execute("SELECT workspace, hash, at FROM tombstones").fetchall()
    # an older version has no columns for all marks
    with mapped_errors(_WORDING), closing(Connector(restored, is_history=True).writer()) as db:
        require_ours(db, restored)
        # no copy is needed: the old file still exists where it was copied from
        migrate(db, LEDGER, lambda _version: None)
        _close_log(db)
    with _writing(restored) as db:
        before = db.total_changes()
        db.executemany(_PUT_TOMBSTONE, stones)
        carried = db.total_changes() - before
        if marks.rows:
            take_over(db, known.name, marks)
        return carried


def is_ledger_name(name: str) -> bool:
    """Return whether a file with this name may be a ledger of memoryd."""
    return name == LEDGER_ENDING or name.endswith(f"-{LEDGER_ENDING}")


def require_ours(connection: apsw.Connection, path: Path) -> None:
    """Raise ForeignDatabase for another database, or a newer ledger, judged with its log."""
    if connection.pragma("application_id") != LEDGER.application:
        raise ForeignDatabase(f"{path} is another database than a ledger of memoryd")
    require_known(LEDGER, version_of(connection.pragma("user_version")), path.name)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[apsw.Connection]:
    """Yield a read-only connection to a ledger of memoryd, including its log."""
    with mapped_errors(_WORDING), closing(Connector(path, is_history=True).reader()) as db:
        # the first read loads an existing log
        require_ours(db, path)
        yield db


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[apsw.Connection]:
    """Yield a connection in a transaction, which is committed if the block succeeds; the log is removed then."""
    with mapped_errors(_WORDING), closing(Connector(path, is_history=True).writer()) as db:
        with transaction(db):
            require_ours(db, path)
            yield db
        _close_log(db)


def _close_log(db: apsw.Connection) -> None:
    """Make the file complete by itself: give it an even seal and remove the log."""
    number = db.pragma("user_version")
    if seal_of(number) % 2:
        db.pragma("user_version", with_seal(number, seal_of(number) + 1))
    db.pragma("journal_mode", "delete")


def _with_workspaces(db: apsw.Connection) -> list[str]:
    return [str(row[0]) for row in db.execute(_TABLES, ("workspace",))]


def _rows(db: apsw.Connection) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for table in _with_workspaces(db):
        counted.update(dict(db.execute(f"SELECT workspace, count(*) FROM {table} GROUP BY workspace")))
    return counted
