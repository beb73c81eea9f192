"""A ledger file without a connection to it: recognise it, copy it, count its rows, rename its workspace, set it aside.

All of it blocks, and raises StoreError. A change needs a file that is not open elsewhere. Unlike an index a ledger
cannot be made anew, so nothing here deletes one; only copies of it are deleted.
"""

import contextlib
import glob
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw
from msgspec import Struct

from memoryd.errors import DamagedDatabase, ForeignDatabase, StoreUnavailable
from memoryd.files.writing import FileChangedError, make_private_folder, replace_file
from memoryd.store.connection import (
    PAGE_BYTES,
    PRIVATE,
    Connector,
    Wording,
    broken_parts,
    make_private,
    make_private_file,
    mapped_errors,
    transaction,
)
from memoryd.store.ledger.conversations import read_marks, take_over
from memoryd.store.migrations import (
    History,
    migrate,
    new_database,
    read_migrations,
    require_known,
    require_own_objects,
)
from memoryd.store.opening import read_header, seal_of, sealed, version_of

LEDGER = History("the ledger", 0x6D656D6C, read_migrations("ledger"))
"""`meml`, in the SQLite header of every ledger."""
SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Of the files that SQLite keeps for one database."""
MAX_SET_ASIDE = 5
"""So many damaged ledgers may lie beside each other before no new one is begun."""


def is_there(path: Path) -> bool:
    """Tell whether there is something where the ledger belongs."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        # a file where its folder should be: making a ledger says so
        return False
    return True


def make_way(path: Path, history: History, *, is_private: bool) -> None:
    """See to it that what lies there is a ledger for its owner alone. Before a connection is open.

    Raises ForeignDatabase for what is not ours, or is of a newer version: it stays as it is. `is_private` says that
    nobody but us writes into the folder, so that what is no database there is a damaged ledger.
    """
    make_private_folder(path.parent)
    refuse_foreign(path, history, is_private=is_private)
    if is_there(path) and not path.stat().st_size:
        # a ledger is whole from its first moment on: this one has lost all that it held
        set_aside(path)
    if not is_there(path):
        _make(path, history)
    for suffix in SUFFIXES:
        make_private(path.with_name(path.name + suffix))


def _make(path: Path, history: History) -> None:
    for suffix in SUFFIXES:
        # SQLite would take a log for the new file's that belongs to one that is gone
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    # whole from the first moment on: half a database would be nobody's, and could not be told from a stranger's
    with contextlib.suppress(FileChangedError):
        replace_file(path, new_database(history, page_bytes=PAGE_BYTES), expected="absent", is_durable=True)
        # an umask may have taken what the owner needs
        path.chmod(PRIVATE)


def require_no_log(path: Path) -> None:
    """Raise StoreUnavailable for a ledger that was not closed in order: SQLite must write before it can read that."""
    beside = [path.with_name(path.name + suffix) for suffix in ("-wal", "-journal")]
    if any(one.stat().st_size for one in beside if is_there(one)):
        raise StoreUnavailable(
            f"{path} was not closed in order, and nothing may be written to read it",
            hint="start memoryd once without memory.readOnly",
        )


def refuse_foreign(path: Path, history: History, *, is_private: bool) -> None:
    """Raise ForeignDatabase for what is no ledger, or a newer one; if `is_private`, set aside what is no database."""
    hint = "move it away, or set agents.defaults.memorySearch.store.path to another folder"
    if path.is_symlink():
        raise ForeignDatabase(f"{path} is a symlink, which the ledger must not be", hint=hint)
    try:
        header = read_header(path)
    except FileNotFoundError:
        return
    except ValueError as exc:
        if not is_private:
            raise ForeignDatabase(f"{path} is not a ledger of memoryd", hint=hint) from exc
        set_aside(path)
        return
    if header is not None:
        if header.application != history.application:
            raise ForeignDatabase(f"{path} is another database than a ledger of memoryd", hint=hint)
        # what only the log knows yet is seen when it is open
        require_known(history, header.version)


def keep_copy(connection: apsw.Connection, path: Path, version: int) -> None:
    """Copy an open ledger of a version beside itself, for its owner alone; raises the driver's errors and OSError."""
    copy = path.with_name(f"{path.name}.before-{version + 1}")
    # one that a kill left half made
    copy.unlink(missing_ok=True)
    make_private_file(copy)
    try:
        connection.execute("VACUUM INTO ?", (str(copy),)).fetchall()
        with copy.open("rb+") as file:
            os.fsync(file.fileno())
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


def copies(path: Path) -> list[Path]:
    """Return the copies that were made before migrations, the newest last."""
    found = path.parent.glob(f"{glob.escape(path.name)}.before-*")
    numbered = ((one.name.rpartition("-")[2], one) for one in found)
    return [one for _, one in sorted((int(number), one) for number, one in numbered if number.isdigit())]


def delete_copies(path: Path, *, but_last: bool = False, older_than: float = float("inf")) -> None:
    """Delete copies made before a time (seconds since 1970), on demand all but the last; raises OSError."""
    for copy in copies(path)[: -1 if but_last else None]:
        if copy.stat().st_mtime < older_than:
            copy.unlink()


def set_aside(path: Path) -> Path:
    """Rename a damaged ledger, with its log, to `NAME.damaged-…` and return that.

    Raises StoreUnavailable when too many lie there already, OSError.
    """
    if len(aside(path)) >= MAX_SET_ASIDE:
        raise StoreUnavailable(
            f"{MAX_SET_ASIDE} damaged ledgers lie in {path.parent} already", hint="move them away, or delete them"
        )
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number = next(n for n in range(1, MAX_SET_ASIDE + 2) if not os.path.lexists(_aside_name(path, stamp, n)))
    target = _aside_name(path, stamp, number)
    # the log first: after a kill in between, the log of a file that is gone would be deleted as one without a file
    for suffix in reversed(SUFFIXES):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(target.with_name(target.name + suffix))
            make_private(target.with_name(target.name + suffix))
    return target


def aside(path: Path) -> list[Path]:
    """Return the damaged ledgers that were set aside and are still there."""
    found = path.parent.glob(f"{glob.escape(path.name)}.damaged-*")
    return sorted(one for one in found if not one.name.endswith(SUFFIXES[1:]))


def _aside_name(path: Path, stamp: str, number: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{stamp}" + (f".{number}" if number > 1 else ""))


LEDGER_ENDING = "ledger.sqlite"
"""How the name of every ledger ends."""
LOGS = SUFFIXES[1:]
"""Of the files that SQLite keeps beside a ledger: they belong to it alone."""
_WORDING = Wording("the ledger", "memoryctl doctor says what to do")
_TABLES = "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = ?"
_TOMBSTONES = "SELECT workspace, hash, at FROM tombstones"
_PUT_TOMBSTONE = "INSERT INTO tombstones (workspace, hash, at, is_pending) VALUES (?, ?, ?, 1) ON CONFLICT DO NOTHING"


class LedgerStats(Struct, frozen=True):
    """What a ledger is: the version of its tables, and how many rows each workspace has in it, by its real path."""

    version: int
    rows: dict[str, int]


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
    with target.open("rb") as file:
        os.fsync(file.fileno())


def empty_ledger() -> bytes:
    """Return the file of a ledger with nothing in it."""
    return new_database(LEDGER, page_bytes=PAGE_BYTES)


def figures(path: Path, *, is_strict: bool = False) -> LedgerStats:
    """Look at a ledger that nobody has open, all of it, and write nothing into it.

    Raises ForeignDatabase for what is none, or is of a newer version, and if `is_strict` for one that has anything
    that we do not make, DamagedDatabase for a broken one.
    """
    refuse_foreign(path, LEDGER, is_private=False)
    with _reading(path) as reader:
        if is_strict:
            require_own_objects(reader, LEDGER)
        if found := broken_parts(reader):
            raise DamagedDatabase(f"{path.name} is damaged: {'; '.join(found)}", hint=_WORDING.when_damaged)
        return LedgerStats(version_of(reader.pragma("user_version")), _rows(reader))


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
