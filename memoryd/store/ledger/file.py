"""A ledger file without a connection to it: copy it, count its rows, rename its workspace, carry marks into it.

All of it blocks, and raises StoreError. A change needs a file that is not open elsewhere.
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
from memoryd.store.opening import seal_of, sealed, version_of

LEDGER_ENDING = "ledger.sqlite"
"""How the name of every ledger ends."""
LOGS = SUFFIXES[1:]
"""Of the files that SQLite keeps beside a ledger: they belong to it alone."""
_WORDING = Wording("the ledger", "memoryctl doctor says what to do")
_TABLES = "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = ?"
_TOMBSTONES = "SELECT workspace, hash, at FROM tombstones"
_PUT_TOMBSTONE = "INSERT INTO tombstones (workspace, hash, at, is_pending) VALUES (?, ?, ?, 1) ON CONFLICT DO NOTHING"


def copy_ledger(source: Path, target: Path) -> None:
    """Copy a ledger as it is at one moment into a new file for its owner alone, durably, without its log.

    Who writes meanwhile goes on. Raises ForeignDatabase, DamagedDatabase, StoreUnavailable.
    """
    refuse_foreign(source, LEDGER, is_private=False)
    make_private_file(target)
    with _reading(source) as reader, closing(apsw.Connection(str(target))) as copy:
        with copy.backup("main", reader, "main") as backup:
            backup.step(-1)
        _close_log(copy)
    sync_file(target)


def figures(path: Path, *, is_strict: bool = False) -> dict[str, int]:
    """Return how many rows each workspace has in a ledger that nobody has open; all of it is looked at.

    Raises ForeignDatabase for what is none, or is of a newer version, and if `is_strict` for one that has anything
    that we do not make, DamagedDatabase for a broken one.
    """
    refuse_foreign(path, LEDGER, is_private=False)
    with _reading(path) as reader:
        if is_strict:
            require_own_objects(reader, LEDGER)
        if found := broken_parts(reader):
            raise DamagedDatabase(f"{path.name} is damaged: {'; '.join(found)}", hint=_WORDING.when_damaged)
        return _rows(reader)


def rows_of(path: Path) -> dict[str, int]:
    """Return how many rows each workspace has in a ledger, also while it is used; raises StoreError."""
    refuse_foreign(path, LEDGER, is_private=False)
    with _reading(path) as reader:
        return _rows(reader)


def rename_workspace(path: Path, old: str, new: str) -> int:
    """Give all rows of a workspace another one, in one transaction, and return how many; nobody has the ledger open.

    A second time there are none. Raises StoreError, ForeignDatabase where the new one has rows of its own.
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
    """Bring into a ledger what another one knows to be forgotten, or not to be remembered; return how many are new.

    What was forgotten is noted as to be finished, so that the daemon takes out what came back of it. Without the same
    key the hashes of memories mean nothing. Raises StoreError.
    """
    marks = read_marks(known)
    stones: Sequence[tuple[apsw.SQLiteValue, ...]] = ()
    if has_same_key:
        with _reading(known) as reader:
            stones = reader.execute(_TOMBSTONES).fetchall()
    # an older one has no place for all marks
    with mapped_errors(_WORDING), closing(Connector(restored, is_history=True).writer()) as db:
        require_ours(db, restored)
        # what it was before lies where it was copied from
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
    """Tell whether a file of this name may be a ledger of ours."""
    return name == LEDGER_ENDING or name.endswith(f"-{LEDGER_ENDING}")


def require_ours(connection: apsw.Connection, path: Path) -> None:
    """Raise ForeignDatabase for what is another database, or a newer ledger, as its log has it."""
    if connection.pragma("application_id") != LEDGER.application:
        raise ForeignDatabase(f"{path} is another database than a ledger of memoryd")
    require_known(LEDGER, version_of(connection.pragma("user_version")), path.name)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[apsw.Connection]:
    """Give a connection that reads a ledger of ours, as its log has it."""
    with mapped_errors(_WORDING), closing(Connector(path, is_history=True).reader()) as db:
        # the first read finds a log that is there
        require_ours(db, path)
        yield db


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[apsw.Connection]:
    """Give a connection with a transaction, which is kept if the block ends well; the log is gone then."""
    with mapped_errors(_WORDING), closing(Connector(path, is_history=True).writer()) as db:
        with transaction(db):
            require_ours(db, path)
            yield db
        _close_log(db)


def _close_log(db: apsw.Connection) -> None:
    """Have the file be whole by itself: an even seal says so, and no log lies beside it."""
    number = db.pragma("user_version")
    if seal_of(number) % 2:
        db.pragma("user_version", sealed(number, seal_of(number) + 1))
    db.pragma("journal_mode", "delete")


def _with_workspaces(db: apsw.Connection) -> list[str]:
    return [str(row[0]) for row in db.execute(_TABLES, ("workspace",))]


def _rows(db: apsw.Connection) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for table in _with_workspaces(db):
        counted.update(dict(db.execute(f"SELECT workspace, count(*) FROM {table} GROUP BY workspace")))
    return counted
